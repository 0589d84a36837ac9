package types

import (
	"regexp"
	"slices"
	"strings"

	"cosmossdk.io/errors"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
)

var typeURL = regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$`)

// DefaultTimerConfig returns the defaults of x/timers/README.md, "7. Parameters", for a chain that charges fires in feeDenom.
// Where a number needs a reason, the comment gives it.
func DefaultTimerConfig(feeDenom string) TimerConfig {
	config := TimerConfig{
		Policy:   PolicyEIP1559,
		FeeDenom: feeDenom,

		MaxTtlBlocks:      2_592_000,
		MaxTimersPerActor: 1_024,
		MaxPayloadBytes:   MaxPayloadBytes,
		ScheduleCycles:    1_000,
		CancelCycles:      500,

		MinGasLimit:      40_000,
		MaxCyclesPerFire: 550_000,
		MaxCellsPerFire:  550_000,
		// A hundred times what a send writes. A timer that writes more states it, and reserves it.
		DefaultCellLimit: 20_000,
		AllowedMessages:  []string{"*"},
		// Long enough for a relayer or a contract to look back, short enough to weigh nothing; history beyond it is the
		// business of the node's event index.
		ReceiptRetentionBlocks: 1_000,

		LaneTimerCycles: 2_000_000,
		LaneTimerCells:  2_000_000,
		// A hundred removals a block: as many as the default lane can fire.
		GcCyclesPerBlock: 300_000,
		// With the lane, the end of a block takes at most as long as three blocks of bank sends.
		OverheadCyclesPerBlock: 3_000_000,
		// The lane's cycles bound a block already: at most 100 fires by default.
		MaxFiresPerBlock: 0,
		MaxFiresPerActor: 0,

		// As the last timer may exceed the share, one of any size fires in each block, or several that use 200,000 together.
		ReservedShare: decimal.Of(math.LegacyNewDecWithPrec(1, 1)),

		CycleBasefee: decimal.Of(math.LegacyNewDecWithPrec(1, 3)),
		CellBasefee:  decimal.Of(math.LegacyNewDecWithPrec(3, 2)),

		RingSize:     256,
		EpochBlocks:  3_600,
		EpochHorizon: 720,
	}
	config.setTimeDefaults()
	config.setBidDefaults()
	config.Eip1559 = DefaultEip1559Params()
	return config
}

// setTimeDefaults sets the parameters of triggers by time, and of occurrences.
func (c *TimerConfig) setTimeDefaults() {
	c.TimeTriggers = true
	// A year and a month: what is done once a year is done twice.
	c.MaxTtlSeconds = 34_214_400
	// What has lapsed eight times in a row has a price or a window with which it can't fire.
	c.MaxUnfundedSkips = 8
}

// setBidDefaults sets the parameters that several policies share.
func (c *TimerConfig) setBidDefaults() {
	// More than twice what the default lane can fire.
	c.CandidateWindow = 256
	c.PriorityTiers = PriorityTiers{
		Economy: decimal.Of(math.LegacyNewDecWithPrec(8, 1)), Standard: decimal.Of(math.LegacyOneDec()),
		Fast: decimal.Of(math.LegacyNewDecWithPrec(15, 1)), Urgent: decimal.Of(math.LegacyNewDecWithPrec(25, 1)),
	}
	// Tips buy a place in a full lane; ten basefees is far beyond what places cost when anybody bids for themselves.
	c.TierTipCap = decimal.Of(math.LegacyNewDec(10))
	c.FairnessWindowBlocks = 1_000
	c.FairnessUnit = UnitActor
	c.WeightMin = decimal.Of(math.LegacyOneDec())
	c.WeightMax = decimal.Of(math.LegacyNewDec(2))
	c.MedianSmoothing = decimal.Of(math.LegacyOneDec())
}

// Validate checks every bound, and that no parameter contradicts another.
func (c *TimerConfig) Validate() error {
	for _, validate := range []func() error{c.validateFields, c.validateShared, c.validateParams, c.validateCross} {
		if err := validate(); err != nil {
			return err
		}
	}
	return nil
}

// validateFields checks what can be known of a parameter by itself.
func (c *TimerConfig) validateFields() error {
	for _, validate := range []func() error{
		c.validatePolicy, c.validateBounds, c.validateDecimals, c.validateMessages, c.validateReserved,
	} {
		if err := validate(); err != nil {
			return err
		}
	}
	return nil
}

// Overhead is the meter of a block, for the work at its end that no one is billed for (x/timers/README.md, "1.6 Lane").
func (c *TimerConfig) Overhead() *market.Overhead {
	return market.NewOverhead(c.OverheadCyclesPerBlock, c.GcCyclesPerBlock)
}

// ValidateChange checks what may follow c in a running chain: FEE_DENOM stays, since no one is charged in a denom that
// they did not agree to.
func (c *TimerConfig) ValidateChange(next *TimerConfig) error {
	if err := next.Validate(); err != nil {
		return err
	}
	if c.FeeDenom != next.FeeDenom {
		return ErrInvalidConfig.Wrapf("fee_denom is fixed at genesis: it is %q and can't become %.130q", c.FeeDenom, next.FeeDenom)
	}
	return nil
}

func (c *TimerConfig) validatePolicy() error {
	number := int32(c.Policy)
	if _, known := Policy_name[number]; number == 0 || !known && number < FirstCustomPolicy {
		var names []string
		for known := range Policy(len(Policy_name)) {
			if known != PolicyUnspecified {
				names = append(names, known.String())
			}
		}
		return ErrInvalidConfig.Wrapf("policy %d is unknown; available: %s, or from %d on one that the chain brings along",
			number, strings.Join(names, ", "), FirstCustomPolicy)
	}
	if err := sdk.ValidateDenom(c.FeeDenom); err != nil {
		return ErrInvalidConfig.Wrapf("fee_denom %.80q is no denom", c.FeeDenom)
	}
	return nil
}

func (c *TimerConfig) validateBounds() error {
	check := CheckFor(ErrInvalidConfig)
	check.Uint("max_ttl_blocks", c.MaxTtlBlocks, 1, MaxBlocks)
	check.Uint("max_ttl_seconds", c.MaxTtlSeconds, 60, MaxTtlSeconds)
	check.Uint("max_unfunded_skips", uint64(c.MaxUnfundedSkips), 0, uint64(maxUnfundedSkips))
	check.Uint("max_timers_per_actor", uint64(c.MaxTimersPerActor), 1, uint64(maxTimersPerActor))
	check.Uint("max_payload_bytes", c.MaxPayloadBytes, 1, MaxPayloadBytes)
	check.Uint("schedule_cycles", c.ScheduleCycles, 0, MaxUnits)
	check.Uint("cancel_cycles", c.CancelCycles, 0, MaxUnits)
	check.Uint("min_gas_limit", c.MinGasLimit, market.FireBaseCycles+1, MaxUnits)
	check.Uint("max_cycles_per_fire", c.MaxCyclesPerFire, 1, MaxUnits)
	check.Uint("max_cells_per_fire", c.MaxCellsPerFire, 1, MaxUnits)
	check.Uint("default_cell_limit", c.DefaultCellLimit, 1, MaxUnits)
	check.Uint("receipt_retention_blocks", c.ReceiptRetentionBlocks, 0, MaxBlocks)
	check.Uint("lane_timer_cycles", c.LaneTimerCycles, 1, MaxUnits)
	check.Uint("lane_timer_cells", c.LaneTimerCells, 1, MaxUnits)
	check.Uint("gc_cycles_per_block", c.GcCyclesPerBlock, market.RemovalCycles, MaxUnits)
	check.Uint("overhead_cycles_per_block", c.OverheadCyclesPerBlock, market.RemovalCycles, MaxUnits)
	check.Uint("candidate_window", uint64(c.CandidateWindow), 1, uint64(maxWindow))
	check.Uint("fairness_window_blocks", c.FairnessWindowBlocks, 1, maxFairnessWindow)
	check.Uint("ring_size", c.RingSize, 1, maxDistance)
	check.Uint("epoch_blocks", c.EpochBlocks, 1, maxDistance)
	check.Uint("epoch_horizon", c.EpochHorizon, 1, maxDistance)
	return check.Err()
}

// validateDecimals checks the prices, multipliers and shares by themselves.
func (c *TimerConfig) validateDecimals() error {
	if err := ValidatePrice(ErrInvalidConfig, "cycle_basefee", c.CycleBasefee.LegacyDec); err != nil {
		return err
	}
	if err := ValidatePrice(ErrInvalidConfig, "cell_basefee", c.CellBasefee.LegacyDec); err != nil {
		return err
	}
	check := CheckFor(ErrInvalidConfig)
	zero, mostOfTier, tiers := math.LegacyZeroDec(), math.LegacyNewDec(maxTierMultiplier), &c.PriorityTiers
	leastWeight := math.LegacyOneDec().QuoInt64(market.OneWeight)
	check.Dec("priority_tiers.economy", tiers.Economy.LegacyDec, zero, mostOfTier)
	check.Dec("priority_tiers.standard", tiers.Standard.LegacyDec, zero, mostOfTier)
	check.Dec("priority_tiers.fast", tiers.Fast.LegacyDec, zero, mostOfTier)
	check.Dec("priority_tiers.urgent", tiers.Urgent.LegacyDec, zero, mostOfTier)
	check.Dec("tier_tip_cap", c.TierTipCap.LegacyDec, zero, mostOfTier)
	check.Dec("reserved_share", c.ReservedShare.LegacyDec, zero, math.LegacyNewDecWithPrec(5, 1))
	check.Dec("weight_min", c.WeightMin.LegacyDec, leastWeight, math.LegacyNewDec(MaxWeight))
	check.Dec("weight_max", c.WeightMax.LegacyDec, leastWeight, math.LegacyNewDec(MaxWeight))
	check.Dec("median_smoothing", c.MedianSmoothing.LegacyDec, smallFraction, math.LegacyOneDec())
	return check.Err()
}

// validateShared checks what several policies share beyond its bounds.
func (c *TimerConfig) validateShared() error {
	if c.WeightMin.GT(c.WeightMax.LegacyDec) {
		return ErrInvalidConfig.Wrapf("weight_min (%s) must not exceed weight_max (%s)", c.WeightMin, c.WeightMax)
	}
	tiers := &c.PriorityTiers
	if tiers.Economy.GT(tiers.Standard.LegacyDec) || tiers.Standard.GT(tiers.Fast.LegacyDec) || tiers.Fast.GT(tiers.Urgent.LegacyDec) {
		return ErrInvalidConfig.Wrap("priority_tiers must not fall from economy over standard and fast to urgent")
	}
	if c.FairnessUnit != UnitActor && c.FairnessUnit != UnitDeployer {
		return ErrInvalidConfig.Wrapf("fairness_unit %d is unknown; want %s or %s", int32(c.FairnessUnit), UnitActor, UnitDeployer)
	}
	return nil
}

func (c *TimerConfig) validateParams() error {
	if err := c.Eip1559.Validate(); err != nil {
		return err
	}
	return c.validatePolicyParams()
}

// validateCross checks parameters against each other: otherwise timers would be accepted that no block can run.
func (c *TimerConfig) validateCross() error {
	check := CheckFor(ErrInvalidConfig)
	check.Ascend("min_gas_limit", "max_cycles_per_fire", c.MinGasLimit, c.MaxCyclesPerFire)
	check.Ascend("max_cycles_per_fire", "lane_timer_cycles", c.MaxCyclesPerFire, c.LaneTimerCycles)
	check.Ascend("max_cells_per_fire", "lane_timer_cells", c.MaxCellsPerFire, c.LaneTimerCells)
	check.Ascend("gc_cycles_per_block", "overhead_cycles_per_block", c.GcCyclesPerBlock, c.OverheadCyclesPerBlock)
	if err := check.Err(); err != nil {
		return err
	}
	if check, found := checksOfSelected[c.Policy]; found {
		return check(c)
	}
	return nil
}

func (c *TimerConfig) validateMessages() error {
	for _, list := range []struct {
		name string
		urls []string
	}{{"allowed_messages", c.AllowedMessages}, {"denied_messages", c.DeniedMessages}} {
		if len(list.urls) > maxMessageRules {
			return ErrInvalidConfig.Wrapf("%s has %d entries, want at most %d", list.name, len(list.urls), maxMessageRules)
		}
		for _, url := range list.urls {
			if url != "*" && (len(url) > maxTypeURLBytes || !typeURL.MatchString(url)) {
				return ErrInvalidConfig.Wrapf("%s: %.80q is neither \"*\" nor a type URL such as /cosmos.bank.v1beta1.MsgSend", list.name, url)
			}
		}
	}
	return nil
}

// LaneCapacity is what the lane of a block holds.
func (c *TimerConfig) LaneCapacity() market.Capacity {
	return market.Capacity{Cycles: c.LaneTimerCycles, Cells: c.LaneTimerCells}
}

// CellLimit is the cell limit of a timer that states none.
func (c *TimerConfig) CellLimit() uint64 { return min(c.DefaultCellLimit, c.MaxCellsPerFire) }

// CheckCellLimit refuses a cell limit with which no timer could fire.
func (c *TimerConfig) CheckCellLimit(limit uint64) error {
	if limit > c.MaxCellsPerFire {
		return ErrCellLimitOutOfBounds.Wrapf("%d cells, want at most %d", limit, c.MaxCellsPerFire)
	}
	return nil
}

// validateReserved checks the form of the reserved actors. Whether they are addresses of the chain is checked where the
// config is accepted.
func (c *TimerConfig) validateReserved() error {
	if len(c.ReservedActors) > maxReservedActors {
		return ErrInvalidConfig.Wrapf("reserved_actors has %d entries, want at most %d", len(c.ReservedActors), maxReservedActors)
	}
	for i, actor := range c.ReservedActors {
		if actor == "" || len(actor) > MaxTextBytes || slices.Contains(c.ReservedActors[:i], actor) {
			return ErrInvalidConfig.Wrapf("reserved_actors: %.120q is empty, too long or listed twice", actor)
		}
	}
	return nil
}

// MessageAllowed reports whether an account's timer may run messages of this type.
func (c *TimerConfig) MessageAllowed(url string) bool {
	names := func(urls []string) bool { return slices.Contains(urls, "*") || slices.Contains(urls, url) }
	return names(c.AllowedMessages) && !names(c.DeniedMessages)
}

// WeightBounds are weight_min and weight_max in sixteenths.
func (c *TimerConfig) WeightBounds() market.WeightBounds {
	return market.WeightBounds{Min: market.WeightInSixteenths(c.WeightMin.LegacyDec), Max: market.WeightInSixteenths(c.WeightMax.LegacyDec)}
}

// Tiers are the multiples of the usual tip that priority_tiers name.
func (c *TimerConfig) Tiers() market.Tiers {
	tiers := &c.PriorityTiers
	return market.Tiers{
		Economy: tiers.Economy.LegacyDec, Standard: tiers.Standard.LegacyDec, Fast: tiers.Fast.LegacyDec, Urgent: tiers.Urgent.LegacyDec, TipCap: c.TierTipCap.LegacyDec,
	}
}

// Bounds of the config itself. They are generous: they keep sums within 64 bits and work within a block, and leave the
// rest to the chain.
const (
	// MaxBlocks bounds every distance in blocks, so that height + distance can't overflow.
	MaxBlocks = uint64(1) << 40
	// MaxTtlSeconds bounds every distance in seconds: a century.
	MaxTtlSeconds = uint64(100 * 366 * 86_400)
	// maxUnfundedSkips bounds max_unfunded_skips.
	maxUnfundedSkips = uint32(1) << 16
	// maxDistance bounds the sizes of the tiers, so that products of two can't overflow.
	maxDistance = uint64(1) << 30
	// MaxUnits bounds every number of cycles and cells, so that the sum of a block's fires can't overflow.
	MaxUnits = uint64(1) << 50
	// maxWindow bounds what a block reads.
	maxWindow = uint32(1) << 16
	// maxTimersPerActor bounds what listing an actor's timers reads.
	maxTimersPerActor = uint32(2048)
	// MaxPayloadBytes bounds what scheduling stores and a fire reads.
	MaxPayloadBytes = uint64(1) << 20
	// maxReservedActors bounds the list of reserved actors, which is read with the config in every block.
	maxReservedActors = 64
	// maxMessageRules bounds the lists of message types, which are read with the config in every block.
	maxMessageRules = 256
	// maxTypeURLBytes bounds one message type.
	maxTypeURLBytes = 256
	// maxBackoff, maxRetryErrors and maxCodespaceBytes bound what a retry states.
	maxBackoff        = 4
	maxRetryErrors    = 8
	maxCodespaceBytes = 64
	// MaxOnlyIf bounds the conditions of a timer's only_if.
	MaxOnlyIf = 2
	// MaxSkipped bounds what one message skips.
	MaxSkipped = uint32(1_000)
	// maxTierMultiplier bounds a tier's multiple of the usual tip.
	maxTierMultiplier = 1_000
	// MaxWeight bounds the fairness weight.
	MaxWeight = 8
	// maxFairnessWindow bounds the fairness window, which is kept in state block by block.
	maxFairnessWindow = uint64(1) << 20
	// MaxBidBits bounds an integer bid: far more than a chain has of its fee denom. Waiting can pass it, and a score of it
	// fits in 24 bytes.
	MaxBidBits = 96
)

var (
	// maxPrice bounds every price, so that price × units stays far below the range of a decimal.
	maxPrice = math.LegacyNewDec(1_000_000_000_000_000_000)
	// smallFraction is the lower bound of fractions that must not be zero.
	smallFraction = math.LegacyNewDecWithPrec(1, 6)
	// integer is a non-negative one in decimal, of at most 78 digits: what 256 bits hold.
	integer = regexp.MustCompile(`^[0-9]{1,78}$`)
)

// MaxPrice is the largest price.
func MaxPrice() math.LegacyDec { return maxPrice }

// ValidatePrice checks a price in fee denom per cycle or per cell: present, not negative, and small enough that price ×
// units can't leave the range of a decimal.
func ValidatePrice(kind *errors.Error, name string, price math.LegacyDec) error {
	if price.IsNil() {
		return kind.Wrapf("%s is missing", name)
	}
	if price.IsNegative() || price.GT(maxPrice) {
		return kind.Wrapf("%s is %s, want 0 to %s", name, price, maxPrice)
	}
	return nil
}
