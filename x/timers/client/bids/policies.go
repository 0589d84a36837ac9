package bids

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxFee says what the max fee of stated prices has to cover.
type MaxFee int

// What a max fee has to cover in the next block.
const (
	// MaxFeeUnused: the policy uses neither prices nor tiers.
	MaxFeeUnused MaxFee = iota
	// MaxFeeCoversLane: the fee of the lane.
	MaxFeeCoversLane
	// MaxFeeCoversChain: the chain's basefee, since the lane charges nothing.
	MaxFeeCoversChain
)

// Rule says which kinds of bid a policy takes, and what the commands tell of them. In a note, %s is the policy's name.
type Rule struct {
	MaxFee MaxFee
	// Locks: a sum (--bid) is locked when it is stated, and an estimate names the least that wins a place.
	Locks bool
	// Unfunded is what becomes of a timer whose payer lacks the funds for a fire.
	Unfunded string

	// gasCap is the largest gas limit that may fire, where that is another than the one of every policy; starts reports
	// whether the policy is in force at a height, where it begins later than its config.
	gasCap func(*types.TimerConfig) uint64
	starts func(config *types.TimerConfig, height uint64) bool
	// check is how the policy refuses a config that selects it; nil if it accepts every valid one.
	check func(*types.TimerConfig) error

	// pricesUnused is the note on prices and tiers that the policy does not use, sumUnused that on such a sum. A note is
	// empty where the policy uses the bid.
	pricesUnused, sumUnused string
	// sumPaid is when a sum is paid; empty where the policy takes none.
	sumPaid string
}

// What several policies make of bids.
const (
	lost = "the fire is lost for lack of funds"

	sumIgnored   = "--" + FlagBid + " has no use under policy %s: the chain ignores it"
	sumRefused   = sumIgnored + ", or refuses it once the time for that is over; want --" + FlagMaxFee + " and --" + FlagMaxPriority + ", or --" + FlagTier
	sumsDecide   = "the chain gives places by --" + FlagBid + " (policy %s): prices and tiers are kept, and not used as long as that is so"
	heightDecide = "the chain fires in order of height (policy %s): the bid is kept, and not used as long as that is so"
)

// rules is the one table of the clients that tells policies apart. A further policy adds a row; without one it has the
// rule unknown.
var rules = map[types.Policy]Rule{
	types.PolicyFIFO: {Unfunded: lost, pricesUnused: heightDecide, sumUnused: sumIgnored},
	types.PolicyEIP1559: {
		Unfunded: lost, MaxFee: MaxFeeCoversLane, sumUnused: sumRefused, check: CheckHeadroom,
		gasCap: func(c *types.TimerConfig) uint64 { return c.Eip1559.MaxCyclesPerFireAuction },
		starts: func(c *types.TimerConfig, height uint64) bool { return height > c.Eip1559.AuctionActivationHeight },
	},
	types.PolicyAuction: {Unfunded: lost, Locks: true, pricesUnused: sumsDecide, sumPaid: "locked when stated"},
	types.PolicyScore:   {Unfunded: lost, pricesUnused: sumsDecide, sumPaid: "paid at each fire"},
	types.PolicyTip: {
		Unfunded: "the timer waits for it until it expires", MaxFee: MaxFeeCoversChain, sumUnused: sumIgnored,
	},
}

// unknown is the rule of a policy that this client does not know.
var unknown = Rule{Unfunded: lost, sumUnused: sumIgnored}

// RuleOf is what a policy makes of bids.
func RuleOf(policy types.Policy) Rule {
	if rule, known := rules[policy]; known {
		return rule
	}
	return unknown
}

// Note says what the policy in force makes of a bid that it does not use; it is empty for a bid that it uses.
func Note(policy types.Policy, bid *types.Bid) string {
	rule, note := RuleOf(policy), ""
	switch {
	case bid.Static != nil || bid.Tier != types.TierUnspecified:
		note = rule.pricesUnused
	case bid.Price != "":
		note = rule.sumUnused
	}
	if note == "" {
		return ""
	}
	return fmt.Sprintf(note, plain.PolicyName(policy))
}

// takeSums are the policies under which a sum is paid, in the order of the enum.
func takeSums() []types.Policy {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(rules)), func(policy types.Policy) bool { return rules[policy].sumPaid == "" })
}

// sumHelp is when a sum is paid under the policies that take one, for the help of --bid.
func sumHelp() string {
	var parts []string
	for i, policy := range takeSums() {
		under := " under "
		if i == 0 {
			under = " under policy "
		}
		parts = append(parts, rules[policy].sumPaid+under+plain.PolicyName(policy))
	}
	return strings.Join(parts, ", ")
}

// SumPolicies names the policies under which a sum is paid: "auction and score".
func SumPolicies() string {
	var names []string
	for _, policy := range takeSums() {
		names = append(names, plain.PolicyName(policy))
	}
	return strings.Join(names, " and ")
}

// GasCap is the largest gas limit that may fire at a height under a config.
func GasCap(c *types.TimerConfig, height uint64) uint64 {
	rule := RuleOf(c.Policy)
	if rule.gasCap == nil || rule.starts != nil && !rule.starts(c, height) {
		return c.MaxCyclesPerFire
	}
	return rule.gasCap(c)
}

// LeastBasefee is the least that the lane basefee can be, in fee denom per cycle.
func LeastBasefee(c *types.TimerConfig) math.LegacyDec { return c.Eip1559.MinLaneBasefee.LegacyDec }

// LaneFee is what a fire pays the lane per cycle at a lane basefee.
func LaneFee(c *types.TimerConfig, basefee math.LegacyDec) math.LegacyDec {
	return basefee.MulTruncate(c.Eip1559.LaneFeeMultiplier.LegacyDec)
}

// CheckHeadroom returns an error that says what would do, unless the lane has room for a fire of the largest size while it is
// used to the target, as eip1559 demands.
func CheckHeadroom(c *types.TimerConfig) error {
	return market.Headroom{
		Capacity: c.LaneCapacity(), Target: c.Eip1559.Target.LegacyDec, Reserved: c.ReservedShare.LegacyDec,
		Cycles: c.Eip1559.MaxCyclesPerFireAuction, Cells: c.MaxCellsPerFire, Least: c.MinGasLimit,
	}.Check()
}

// CheckConfig returns the error with which the policy of a config refuses it.
func CheckConfig(c *types.TimerConfig) error {
	if check := RuleOf(c.Policy).check; check != nil {
		return check(c)
	}
	return nil
}
