package types

import (
	"regexp"
	"slices"
	"strings"

	"cosmossdk.io/errors"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// Bounds of the config itself. They are generous: they keep sums within 64 bits and work within a block, and leave the
// rest to the chain.
const (
	// maxBlocks bounds every distance in blocks, so that height + distance can't overflow.
	maxBlocks = uint64(1) << 40
	// maxUnits bounds every number of cycles and cells, so that the sum of a block's fires can't overflow.
	maxUnits = uint64(1) << 50
	// maxWindow bounds what a block reads.
	maxWindow = uint32(1) << 16
	// maxTimersPerActor is what the pages of an actor's record hold without crowding.
	maxTimersPerActor = uint32(2048)
	// maxPayloadBytes bounds what scheduling stores and a fire reads.
	maxPayloadBytes = uint64(1) << 20
	// maxMessageRules bounds the lists of message types, which are read with the config in every block.
	maxMessageRules = 256
	// maxRetries bounds MAX_RETRIES.
	maxRetries = uint32(1) << 16
	// maxAddressText bounds an address in bech32, far above any that exists.
	maxAddressText = 1_024
	// maxTypeURLBytes bounds one of them.
	maxTypeURLBytes = 256
	// maxTierMultiplier bounds a tier's multiple of the usual tip.
	maxTierMultiplier = 1_000
	// maxWeight bounds the fairness weight.
	maxWeight = 8
	// maxFairnessWindow bounds the fairness window, which is kept in state block by block.
	maxFairnessWindow = uint64(1) << 20
	// maxWatchKeys bounds what scheduling and cancelling a watch timer write.
	maxWatchKeys = uint32(256)
	// maxMatchedKeys bounds what a hit and its receipt hold.
	maxMatchedKeys = uint32(256)
)

// maxPrice bounds every price, so that price × units stays far below the range of a decimal.
var maxPrice = math.LegacyNewDec(1_000_000_000_000_000_000)

// integer is a non-negative one in decimal, of at most 78 digits: what 256 bits hold.
var integer = regexp.MustCompile(`^[0-9]{1,78}$`)

var typeURL = regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$`)

// DefaultTimerConfig returns the defaults of SPEC §12 for a chain that charges fires in feeDenom. Where the spec leaves
// a number open, the comment gives the reason for the one chosen.
func DefaultTimerConfig(feeDenom string) TimerConfig {
	config := TimerConfig{
		Policy:            PolicyEIP1559,
		FeeDenom:          feeDenom,
		MaxTtlBlocks:      2_592_000,
		MinGasLimit:       40_000,
		FireBaseCycles:    20_000,
		MaxCyclesPerFire:  550_000,
		MaxCellsPerFire:   550_000,
		MaxTimersPerActor: 1_024,
		MaxPayloadBytes:   maxPayloadBytes,
		LaneTimerCycles:   2_000_000,
		LaneTimerCells:    2_000_000,
		GcCyclesPerBlock:  5_000_000,
		// 500 removals a block: about what 5 million cycles of other work cost in wall time.
		GcCyclesPerRemoval: 10_000,
		// The lane's cycles bound a block already: at most 100 fires by default.
		MaxFiresPerBlock: 0,
		MaxFiresPerActor: 0,
		CandidateWindow:  2_048,
		// Background reads cost a few microseconds each; twice the default lane's largest number of fires keeps the
		// pruning of receipts ahead of their writing.
		SweepPerBlock:   256,
		CycleBasefee:    math.LegacyNewDecWithPrec(1, 3),
		CellBasefee:     math.LegacyNewDecWithPrec(3, 2),
		ScheduleCycles:  1_000,
		CancelCycles:    500,
		AllowedMessages: []string{"*"},
		// Long enough for a relayer or a contract to look back, short enough to weigh nothing; history beyond it is the
		// business of the node's event index.
		ReceiptRetentionBlocks: 1_000,
		// A retry is paid like any fire, so that the bound is not the chain's protection but the payer's: what has failed
		// ten times in a row was not a bad moment.
		MaxRetries: 10,
		// A watch is an entry in state that every write of its store is looked up against; who needs more schedules a
		// second timer.
		MaxWatchKeys: 8,
		// Twice what a timer watches: most watches are of single keys. A receipt keeps them, at some 40 bytes each.
		MaxMatchedKeys: 16,
		// More than twice what the default lane can fire, so that watches wait for the lane and not for this; moving so
		// many records costs a few milliseconds.
		MaxWatchHitsPerBlock: 256,

		AuctionActivationHeight: 0,
		MaxCyclesPerFireAuction: 250_000,
		Target:                  math.LegacyNewDecWithPrec(5, 1),
		MaxChange:               math.LegacyNewDecWithPrec(125, 3),
		MinLaneBasefee:          math.LegacyNewDecWithPrec(1, 3),
		BasefeeResponse:         ResponseClip,
		LaneFeeMultiplier:       math.LegacyOneDec(),
		PriorityTiers:           defaultPriorityTiers(),
		FairnessWindowBlocks:    1_000,
		FairnessUnit:            UnitActor,
		WeightMin:               math.LegacyOneDec(),
		WeightMax:               math.LegacyNewDec(2),
		MedianSmoothing:         math.LegacyOneDec(),
		// Two weeks of blocks of a second: the time of one release, for those who still state it to hear of it.
		BidDeprecationBlocks: 1_209_600,
		AdmissionsPerBlock:   2_048,
	}
	config.defaultAgents()
	for _, p := range policyParams {
		p.defaults(&config)
	}
	return config
}

func defaultPriorityTiers() PriorityTiers {
	return PriorityTiers{
		Economy: math.LegacyNewDecWithPrec(8, 1), Standard: math.LegacyOneDec(),
		Fast: math.LegacyNewDecWithPrec(15, 1), Urgent: math.LegacyNewDecWithPrec(25, 1),
	}
}

// Validate checks every bound, and that no parameter contradicts another.
func (c *TimerConfig) Validate() error {
	if err := c.validatePolicy(); err != nil {
		return err
	}
	if err := c.validateBounds(); err != nil {
		return err
	}
	if err := c.validateMarket(); err != nil {
		return err
	}
	for _, p := range policyParams {
		if err := p.validate(c, c.Policy == p.policy); err != nil {
			return err
		}
	}
	if err := c.validateCross(); err != nil {
		return err
	}
	return c.validateMessages()
}

// ValidateChange checks what may follow c in a running chain: FEE_DENOM stays, since nobody is charged in a denom that
// they did not agree to.
func (c *TimerConfig) ValidateChange(next *TimerConfig) error {
	if err := next.Validate(); err != nil {
		return err
	}
	if c.FeeDenom != next.FeeDenom {
		return ErrInvalidConfig.Wrapf("fee_denom is fixed at genesis: it is %q and can't become %q", c.FeeDenom, next.FeeDenom)
	}
	return nil
}

func (c *TimerConfig) validatePolicy() error {
	if _, known := Policy_name[int32(c.Policy)]; c.Policy == 0 || !known && c.Policy < FirstCustomPolicy {
		names := make([]string, len(policyParams))
		for i, p := range policyParams {
			names[i] = p.policy.String()
		}
		return ErrInvalidConfig.Wrapf("policy %d is unknown; available: %s, or from %d on one that the chain brings along",
			int32(c.Policy), strings.Join(names, ", "), int32(FirstCustomPolicy))
	}
	if err := sdk.ValidateDenom(c.FeeDenom); err != nil {
		return ErrInvalidConfig.Wrapf("fee_denom: %v", err)
	}
	return nil
}

func (c *TimerConfig) validateBounds() error {
	bounds := []struct {
		name            string
		value, min, max uint64
	}{
		{"max_ttl_blocks", c.MaxTtlBlocks, 1, maxBlocks},
		{"min_gas_limit", c.MinGasLimit, 1, maxUnits},
		{"fire_base_cycles", c.FireBaseCycles, 1, maxUnits},
		{"max_cycles_per_fire", c.MaxCyclesPerFire, 1, maxUnits},
		{"max_cells_per_fire", c.MaxCellsPerFire, 1, maxUnits},
		{"max_timers_per_actor", uint64(c.MaxTimersPerActor), 1, uint64(maxTimersPerActor)},
		{"max_payload_bytes", c.MaxPayloadBytes, 1, maxPayloadBytes},
		{"lane_timer_cycles", c.LaneTimerCycles, 1, maxUnits},
		{"lane_timer_cells", c.LaneTimerCells, 1, maxUnits},
		{"gc_cycles_per_block", c.GcCyclesPerBlock, 1, maxUnits},
		{"gc_cycles_per_removal", c.GcCyclesPerRemoval, 1, maxUnits},
		{"candidate_window", uint64(c.CandidateWindow), 1, uint64(maxWindow)},
		{"sweep_per_block", uint64(c.SweepPerBlock), 1, uint64(maxWindow)},
		{"schedule_cycles", c.ScheduleCycles, 0, maxUnits},
		{"cancel_cycles", c.CancelCycles, 0, maxUnits},
		{"receipt_retention_blocks", c.ReceiptRetentionBlocks, 0, maxBlocks},
		{"max_retries", uint64(c.MaxRetries), 0, uint64(maxRetries)},
		{"auction_activation_height", c.AuctionActivationHeight, 0, maxBlocks},
		{"max_cycles_per_fire_auction", c.MaxCyclesPerFireAuction, 1, maxUnits},
		{"fairness_window_blocks", c.FairnessWindowBlocks, 1, maxFairnessWindow},
		{"bid_deprecation_blocks", c.BidDeprecationBlocks, 0, maxBlocks},
		{"admissions_per_block", uint64(c.AdmissionsPerBlock), 1, uint64(maxWindow)},
		{"agent_cycles_per_call", c.AgentCyclesPerCall, 2 * AgentBaseCycles, maxUnits},
		{"agent_cycles_per_block", c.AgentCyclesPerBlock, 0, maxUnits},
		{"auction_window_blocks", c.AuctionWindowBlocks, 1, maxBlocks},
		{"max_watch_keys", uint64(c.MaxWatchKeys), 0, uint64(maxWatchKeys)},
		{"max_matched_keys", uint64(c.MaxMatchedKeys), 1, uint64(maxMatchedKeys)},
		{"max_watch_hits_per_block", uint64(c.MaxWatchHitsPerBlock), 1, uint64(maxWindow)},
	}
	for _, b := range bounds {
		if b.value < b.min || b.value > b.max {
			return ErrInvalidConfig.Wrapf("%s is %d, want %d to %d", b.name, b.value, b.min, b.max)
		}
	}
	if err := validatePrice(ErrInvalidConfig, "cycle_basefee", c.CycleBasefee); err != nil {
		return err
	}
	return validatePrice(ErrInvalidConfig, "cell_basefee", c.CellBasefee)
}

// validateCross holds what one parameter promises another. Were a pair of these not to hold, timers would be accepted
// that no block can run.
func (c *TimerConfig) validateCross() error {
	pairs := []pair{
		{"fire_base_cycles + 1", "min_gas_limit", c.FireBaseCycles + 1, c.MinGasLimit},
		{"min_gas_limit", "max_cycles_per_fire", c.MinGasLimit, c.MaxCyclesPerFire},
		{"max_cycles_per_fire", "lane_timer_cycles", c.MaxCyclesPerFire, c.LaneTimerCycles},
		{"max_cells_per_fire", "lane_timer_cells", c.MaxCellsPerFire, c.LaneTimerCells},
		{"gc_cycles_per_removal", "gc_cycles_per_block", c.GcCyclesPerRemoval, c.GcCyclesPerBlock},
	}
	if c.AgentCyclesPerBlock > 0 {
		pairs = append(pairs, pair{"agent_cycles_per_call", "agent_cycles_per_block", c.AgentCyclesPerCall, c.AgentCyclesPerBlock})
	}
	return holdPairs(pairs)
}

// pair is what one parameter promises another: less ≤ more.
type pair struct {
	small, large string
	less, more   uint64
}

func holdPairs(pairs []pair) error {
	for _, p := range pairs {
		if p.less > p.more {
			return ErrInvalidConfig.Wrapf("%s (%d) must not exceed %s (%d)", p.small, p.less, p.large, p.more)
		}
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
				return ErrInvalidConfig.Wrapf("%s: %.300q is neither \"*\" nor a type URL such as /cosmos.bank.v1beta1.MsgSend", list.name, url)
			}
		}
	}
	return nil
}

// MessageAllowed tells whether an account's timer may run messages of this type (SPEC §9).
func (c *TimerConfig) MessageAllowed(url string) bool {
	names := func(urls []string) bool { return slices.Contains(urls, "*") || slices.Contains(urls, url) }
	return names(c.AllowedMessages) && !names(c.DeniedMessages)
}

// ClampPrice brings a price from outside the module into its bounds: a fee market that answers nonsense must not
// make arithmetic overflow.
func ClampPrice(price math.LegacyDec) math.LegacyDec {
	switch {
	case price.IsNil() || price.IsNegative():
		return math.LegacyZeroDec()
	case price.GT(maxPrice):
		return maxPrice
	default:
		return price
	}
}

// validatePrice checks a price in fee denom per cycle or per cell: present, not negative, and small enough that price ×
// units can't leave the range of a decimal.
func validatePrice(kind *errors.Error, name string, price math.LegacyDec) error {
	if price.IsNil() {
		return kind.Wrapf("%s is missing", name)
	}
	if price.IsNegative() || price.GT(maxPrice) {
		return kind.Wrapf("%s is %s, want 0 to %s", name, price, maxPrice)
	}
	return nil
}

// Validate checks the form of a bid (SPEC §7).
func (b *Bid) Validate() error {
	if b == nil {
		return nil
	}
	stated := 0
	for _, set := range []bool{b.Static != nil, b.Tier != TierUnspecified, b.Agent != "", b.Price != ""} {
		if set {
			stated++
		}
	}
	if stated > 1 {
		return ErrInvalidBid.Wrap("state one of static, tier, agent and price")
	}
	switch {
	case b.Static != nil:
		return b.Static.validate()
	case b.Agent != "":
		if len(b.Agent) > maxAddressText {
			return ErrInvalidBid.Wrapf("agent is %d bytes long, want at most %d", len(b.Agent), maxAddressText)
		}
		return nil
	case b.Price != "":
		if !integer.MatchString(b.Price) {
			return ErrInvalidBid.Wrapf("price %.80q is not a non-negative integer", b.Price)
		}
		return nil
	}
	if _, known := PriorityTier_name[int32(b.Tier)]; !known {
		return ErrInvalidBid.Wrapf("tier %d is unknown", int32(b.Tier))
	}
	return nil
}

func (b *StaticBid) validate() error {
	if err := validatePrice(ErrInvalidBid, "max_fee_per_cycle", b.MaxFeePerCycle); err != nil {
		return err
	}
	return validatePrice(ErrInvalidBid, "max_priority_fee_per_cycle", b.MaxPriorityFeePerCycle)
}
