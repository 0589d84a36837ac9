package types

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/fairness"
	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/eip1559"
)

// This file turns the config, and what a timer's owner asked for, into what the pure packages reckon with.

// EIP1559 is the policy of that name with the parameters of c.
func (c *TimerConfig) EIP1559() eip1559.Rules {
	response := lane.Clip
	if c.BasefeeResponse == ResponseLinear {
		response = lane.Linear
	}
	return eip1559.Rules{
		Basefee: lane.Basefee{
			Capacity: c.LaneTimerCycles, Target: c.Target, MaxChange: c.MaxChange,
			Min: c.MinLaneBasefee, Max: maxPrice, Response: response,
		},
		Multiplier: c.LaneFeeMultiplier,
		Tiers:      c.tiers(),
	}
}

func (c *TimerConfig) tiers() policy.Tiers {
	tiers := c.PriorityTiers
	return policy.Tiers{Economy: tiers.Economy, Standard: tiers.Standard, Fast: tiers.Fast, Urgent: tiers.Urgent}
}

// WeightBounds are WEIGHT_MIN and WEIGHT_MAX in sixteenths.
func (c *TimerConfig) WeightBounds() fairness.Bounds {
	return fairness.Bounds{Min: fairness.Sixteenths(c.WeightMin), Max: fairness.Sixteenths(c.WeightMax)}
}

// Ask is what the bid asks of the lane; none asks for the default estimator.
func (b *Bid) Ask() policy.Ask {
	switch {
	case b == nil:
		return policy.Ask{}
	case b.Price != "":
		return b.priceAsk()
	case b.Static != nil:
		return policy.StatedAsk(b.Static.MaxFeePerCycle, b.Static.MaxPriorityFeePerCycle)
	}
	switch b.Tier {
	case TierEconomy:
		return policy.Ask{Kind: policy.Economy}
	case TierStandard:
		return policy.Ask{Kind: policy.Standard}
	case TierFast:
		return policy.Ask{Kind: policy.Fast}
	case TierUrgent:
		return policy.Ask{Kind: policy.Urgent}
	default:
		return policy.Ask{}
	}
}

// decimalBounds are the bounds of a fraction or a factor among the parameters.
type decimalBounds struct {
	name            string
	value, min, max math.LegacyDec
}

func (b *decimalBounds) validate() error {
	if b.value.IsNil() {
		return ErrInvalidConfig.Wrapf("%s is missing", b.name)
	}
	if b.value.LT(b.min) || b.value.GT(b.max) {
		return ErrInvalidConfig.Wrapf("%s is %s, want %s to %s", b.name, b.value, b.min, b.max)
	}
	return nil
}

// validateMarket checks what is not an integer among the parameters of eip1559.
func (c *TimerConfig) validateMarket() error {
	zero, one := math.LegacyZeroDec(), math.LegacyOneDec()
	small, percent := math.LegacyNewDecWithPrec(1, 6), math.LegacyNewDecWithPrec(1, 2)
	tiers := c.PriorityTiers
	for _, b := range []decimalBounds{
		{"target", c.Target, percent, one.Sub(percent)},
		{"max_change", c.MaxChange, small, one},
		{"min_lane_basefee", c.MinLaneBasefee, zero, maxPrice},
		// The default estimator offers twice the lane basefee: with a larger factor it would price itself out.
		{"lane_fee_multiplier", c.LaneFeeMultiplier, zero, math.LegacyNewDec(2)},
		{"priority_tiers.economy", tiers.Economy, zero, math.LegacyNewDec(maxTierMultiplier)},
		{"priority_tiers.standard", tiers.Standard, zero, math.LegacyNewDec(maxTierMultiplier)},
		{"priority_tiers.fast", tiers.Fast, zero, math.LegacyNewDec(maxTierMultiplier)},
		{"priority_tiers.urgent", tiers.Urgent, zero, math.LegacyNewDec(maxTierMultiplier)},
		{"weight_min", c.WeightMin, one.QuoInt64(fairness.One), math.LegacyNewDec(maxWeight)},
		{"weight_max", c.WeightMax, one.QuoInt64(fairness.One), math.LegacyNewDec(maxWeight)},
		{"median_smoothing", c.MedianSmoothing, small, one},
	} {
		if err := b.validate(); err != nil {
			return err
		}
	}
	if c.WeightMin.GT(c.WeightMax) {
		return ErrInvalidConfig.Wrapf("weight_min (%s) must not exceed weight_max (%s)", c.WeightMin, c.WeightMax)
	}
	if tiers.Economy.GT(tiers.Standard) || tiers.Standard.GT(tiers.Fast) || tiers.Fast.GT(tiers.Urgent) {
		return ErrInvalidConfig.Wrap("priority_tiers must not fall from economy over standard and fast to urgent")
	}
	if c.BasefeeResponse != ResponseClip && c.BasefeeResponse != ResponseLinear {
		return ErrInvalidConfig.Wrapf("basefee_response %d is unknown; want %s or %s", int32(c.BasefeeResponse), ResponseClip, ResponseLinear)
	}
	if c.FairnessUnit != UnitActor && c.FairnessUnit != UnitDeployer {
		return ErrInvalidConfig.Wrapf("fairness_unit %d is unknown; want %s or %s", int32(c.FairnessUnit), UnitActor, UnitDeployer)
	}
	return nil
}

// validateEIP1559 checks what must hold where the policy is selected: timers would be accepted that no block can run.
func (c *TimerConfig) validateEIP1559(selected bool) error {
	if !selected {
		return nil
	}
	return holdPairs([]pair{
		{"min_gas_limit", "max_cycles_per_fire_auction", c.MinGasLimit, c.MaxCyclesPerFireAuction},
		{"max_cycles_per_fire_auction", "lane_timer_cycles", c.MaxCyclesPerFireAuction, c.LaneTimerCycles},
	})
}
