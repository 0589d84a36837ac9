package types

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
)

// DefaultEip1559Params returns the defaults of policy eip1559.
func DefaultEip1559Params() Eip1559Params {
	return Eip1559Params{
		AuctionActivationHeight: 0,
		MaxCyclesPerFireAuction: 250_000,
		Target:                  decimal.Of(math.LegacyNewDecWithPrec(5, 1)),
		MaxChange:               decimal.Of(math.LegacyNewDecWithPrec(125, 3)),
		MinLaneBasefee:          decimal.Of(math.LegacyNewDecWithPrec(1, 3)),
		BasefeeResponse:         ResponseClip,
		LaneFeeMultiplier:       decimal.Of(math.LegacyOneDec()),
		// Two weeks of one-second blocks: the time of one release, for clients that still state an integer bid.
		BidDeprecationBlocks: 1_209_600,
	}
}

// Validate checks every bound.
func (p *Eip1559Params) Validate() error {
	check := CheckFor(ErrInvalidConfig)
	check.Uint("eip1559.auction_activation_height", p.AuctionActivationHeight, 0, MaxBlocks)
	check.Uint("eip1559.max_cycles_per_fire_auction", p.MaxCyclesPerFireAuction, 1, MaxUnits)
	check.Uint("eip1559.bid_deprecation_blocks", p.BidDeprecationBlocks, 0, MaxBlocks)
	one, percent := math.LegacyOneDec(), math.LegacyNewDecWithPrec(1, 2)
	check.Dec("eip1559.target", p.Target.LegacyDec, percent, one.Sub(percent))
	check.Dec("eip1559.max_change", p.MaxChange.LegacyDec, smallFraction, one)
	check.Dec("eip1559.min_lane_basefee", p.MinLaneBasefee.LegacyDec, math.LegacyZeroDec(), maxPrice)
	// The default estimator offers twice the lane basefee: with a larger factor it would price itself out.
	check.Dec("eip1559.lane_fee_multiplier", p.LaneFeeMultiplier.LegacyDec, math.LegacyZeroDec(), math.LegacyNewDec(2))
	if err := check.Err(); err != nil {
		return err
	}
	if p.BasefeeResponse != ResponseClip && p.BasefeeResponse != ResponseLinear {
		return ErrInvalidConfig.Wrapf("eip1559.basefee_response %d is unknown; want %s or %s",
			int32(p.BasefeeResponse), ResponseClip, ResponseLinear)
	}
	return nil
}

func (p *Eip1559Params) validateSelected(c *TimerConfig) error {
	check := CheckFor(ErrInvalidConfig)
	check.Ascend("min_gas_limit", "eip1559.max_cycles_per_fire_auction", c.MinGasLimit, p.MaxCyclesPerFireAuction)
	check.Ascend("eip1559.max_cycles_per_fire_auction", "lane_timer_cycles", p.MaxCyclesPerFireAuction, c.LaneTimerCycles)
	return check.Err()
}

// Rules returns the policy with these parameters and the shared ones of c.
func (p *Eip1559Params) Rules(c *TimerConfig) market.EIP1559 {
	response := market.Clip
	if p.BasefeeResponse == ResponseLinear {
		response = market.Linear
	}
	return market.EIP1559{
		Basefee: market.Basefee{
			Capacity: c.LaneTimerCycles, MaxFires: c.MaxFiresPerBlock, Target: p.Target.LegacyDec, MaxChange: p.MaxChange.LegacyDec,
			Min: p.MinLaneBasefee.LegacyDec, Max: maxPrice, Response: response,
		},
		Multiplier: p.LaneFeeMultiplier.LegacyDec,
		Tiers:      c.Tiers(),
	}
}

// MoveBack moves the one parameter that is a height, for a chain that goes back as many blocks.
func (c *TimerConfig) MoveBack(blocks uint64) {
	c.Eip1559.AuctionActivationHeight -= min(blocks, c.Eip1559.AuctionActivationHeight)
}

// checksOfSelected check what must hold of a config that selects a policy: otherwise timers would be accepted that no block can run.
var checksOfSelected = map[Policy]func(*TimerConfig) error{
	PolicyEIP1559: func(c *TimerConfig) error { return c.Eip1559.validateSelected(c) },
}
