package bids_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	chainpolicies "github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// policies are all that a chain can have.
func policies() []types.Policy {
	var all []types.Policy
	for value := range types.Policy_name {
		if value != 0 {
			all = append(all, types.Policy(value))
		}
	}
	return all
}

// What is told of a bid, word for word, for each kind of bid under each policy.
func TestNotesOfEachKindOfBidUnderEachPolicy(t *testing.T) {
	const byHeight = "the chain fires in order of height (policy fifo): the bid is kept, and not used as long as that is so"
	want := map[string]struct{ prices, sum string }{
		"fifo": {byHeight, "--bid has no use under policy fifo: the chain ignores it"},
		"eip1559": {"", "--bid has no use under policy eip1559: the chain ignores it, or refuses it once the time for that is over; " +
			"want --max-fee and --max-priority, or --tier"},
		"auction": {"the chain gives places by --bid (policy auction): prices and tiers are kept, and not used as long as that is so", ""},
		"score":   {"the chain gives places by --bid (policy score): prices and tiers are kept, and not used as long as that is so", ""},
		"tip":     {"", "--bid has no use under policy tip: the chain ignores it"},
	}
	require.Len(t, policies(), len(want), "each policy has a row")
	static := &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyOneDec()), MaxPriorityFeePerCycle: decimal.Of(math.LegacyZeroDec())}
	for _, policy := range policies() {
		name := plain.PolicyName(policy)
		require.Contains(t, want, name)
		require.Equal(t, want[name].prices, bids.Note(policy, &types.Bid{Static: static}), name)
		require.Equal(t, want[name].prices, bids.Note(policy, &types.Bid{Tier: types.TierFast}), name)
		require.Equal(t, want[name].sum, bids.Note(policy, &types.Bid{Price: "5"}), name)
		require.Empty(t, bids.Note(policy, &types.Bid{}), name)
		require.Empty(t, bids.Note(policy, &types.Bid{Agent: "a"}), name)
	}
}

func TestWhatPoliciesMakeOfPricesAndFunds(t *testing.T) {
	covers := map[string]bids.MaxFee{"eip1559": bids.MaxFeeCoversLane, "tip": bids.MaxFeeCoversChain}
	for _, policy := range policies() {
		name, rule := plain.PolicyName(policy), bids.RuleOf(policy)
		require.Equal(t, covers[name], rule.MaxFee, name)
		require.Equal(t, name == "auction", rule.Locks, name)
		unfunded := "the fire is lost for lack of funds"
		if name == "tip" {
			unfunded = "the timer waits for it until it expires"
		}
		require.Equal(t, unfunded, rule.Unfunded, name)
	}
}

// A chain may have a policy that this client does not know: nothing is promised of it.
func TestUnknownPolicy(t *testing.T) {
	rule := bids.RuleOf(99)
	require.Equal(t, bids.MaxFeeUnused, rule.MaxFee)
	require.False(t, rule.Locks)
	require.Equal(t, "the fire is lost for lack of funds", rule.Unfunded)
	require.Equal(t, "--bid has no use under policy 99: the chain ignores it", bids.Note(99, &types.Bid{Price: "5"}))
	require.Empty(t, bids.Note(99, &types.Bid{Tier: types.TierFast}))
}

func TestHelpNamesThePoliciesThatTakeSums(t *testing.T) {
	require.Equal(t, "auction and score", bids.SumPolicies())
	f := pflag.NewFlagSet("any", pflag.ContinueOnError)
	bids.AddFlags(f)
	require.Equal(t, "bid for one fire, a whole amount in the fee denom: locked when stated under policy auction, paid at each fire under score",
		f.Lookup("bid").Usage)
	require.Contains(t, f.Lookup("tier").Usage, "economy, standard, fast, urgent")
}

// TestGasCapIsThatOfTheRegistry compares with what the chain decides by.
func TestGasCapIsThatOfTheRegistry(t *testing.T) {
	known := chainpolicies.NewRegistry(&chainpolicies.Parts{
		Schema: collections.NewSchemaBuilderFromAccessor(nil), Records: &state.Records{}, Index: &state.Index{},
		Codec: codec.NewProtoCodec(codectypes.NewInterfaceRegistry()), Agents: chainpolicies.NoAgents{},
	})
	for _, policy := range policies() {
		config := types.DefaultTimerConfig("utmr")
		config.Policy, config.MaxCyclesPerFire, config.Eip1559.MaxCyclesPerFireAuction = policy, 700_000, 300_000
		config.Eip1559.AuctionActivationHeight = 50
		for _, height := range []uint64{1, 50, 51, 9_999} {
			require.Equal(t, known.GasCap(&config, height), bids.GasCap(&config, height), "%s at %d", policy, height)
		}
	}
}

// TestParameters_WithoutEffectAreThoseOfTheReference: its table says which policy reads what.
func TestParameters_WithoutEffectAreThoseOfTheReference(t *testing.T) {
	reference, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(reference), "| parameters | `fifo` | `eip1559` | `auction` | `score` | `tip` |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	columns := []types.Policy{types.PolicyFIFO, types.PolicyEIP1559, types.PolicyAuction, types.PolicyScore, types.PolicyTip}
	checked := 0
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		for _, name := range regexp.MustCompile("`([a-z0-9_.]+)`").FindAllStringSubmatch(cells[1], -1) {
			for i, policy := range columns {
				config := types.DefaultTimerConfig("stake")
				config.Policy = policy
				note := bids.NoEffect(&config, name[1], 9)
				require.Equal(t, strings.TrimSpace(cells[2+i]) == "yes", note == "", "%s under %s: %s", name[1], policy, note)
				checked++
			}
		}
	}
	require.Equal(t, 55, checked)
}

func TestParameters_InForceInsteadAreNamed(t *testing.T) {
	config := types.DefaultTimerConfig("stake")
	for name, want := range map[string]string{
		"max_cycles_per_fire": "max_cycles_per_fire has no effect under policy eip1559: eip1559.max_cycles_per_fire_auction is in force instead",
		"tip.weight_min":      "tip.weight_min has no effect under policy eip1559: weight_min is in force instead",
		"score.w_age":         "score.w_age has no effect under policy eip1559",
		"priority_tiers.fast": "", "eip1559.target": "", "lane_timer_cycles": "", "agent.cycles_per_call": "", "other.name": "",
	} {
		require.Equal(t, want, bids.NoEffect(&config, name, 9), name)
	}
	config.Eip1559.AuctionActivationHeight = 10
	require.Empty(t, bids.NoEffect(&config, "max_cycles_per_fire", 9))
	require.Equal(t, "eip1559.max_cycles_per_fire_auction has no effect under policy fifo, which is in force until eip1559 starts: max_cycles_per_fire is in force instead",
		bids.NoEffect(&config, "eip1559.max_cycles_per_fire_auction", 9))
	config.Policy = 99
	require.Empty(t, bids.NoEffect(&config, "max_cycles_per_fire", 9), "nothing is known of other policies")
}

// TestTheDefaultLaneHasRoom: a default lane without room for a waiting timer is used above the target, so that its price rises.
//
// Rule: 7.2-headroom-enforced
func TestTheDefaultLaneHasRoom(t *testing.T) {
	c := types.DefaultTimerConfig("stake")
	require.NoError(t, bids.CheckHeadroom(&c))
	c.Eip1559.MaxCyclesPerFireAuction = c.MaxCyclesPerFire
	require.NoError(t, bids.CheckHeadroom(&c))
}

// TestHeadroomIsExact: a lane of 1,000,000 cycles, half of it the target and a tenth reserved, has room for fires of 400,000.
//
// Rule: 7.2-largest-size
func TestHeadroomIsExact(t *testing.T) {
	for name, tt := range map[string]struct {
		cycles, cells uint64
		problem       string
	}{
		"by cycles":          {400_000, 1, ""},
		"too many cycles":    {400_001, 1, "largest size of a fire (400001 cycles) is 900001, want at most (1 - reserved_share) × lane_timer_cycles, which is 900000: eip1559.target at most 0.499999 would do; eip1559.max_cycles_per_fire_auction at most 400000 with max_cells_per_fire at most 200000 would do"},
		"by cells":           {1, 200_000, ""},
		"too many cells":     {1, 200_001, "largest size of a fire (400002 cycles) is 900002"},
		"larger than a lane": {2_000_000, 1, "largest size of a fire (2000000 cycles) is 2500000, want at most (1 - reserved_share) × lane_timer_cycles, which is 900000: eip1559.max_cycles_per_fire_auction at most 400000 with max_cells_per_fire at most 200000 would do"},
	} {
		t.Run(name, func(t *testing.T) {
			c := types.DefaultTimerConfig("stake")
			c.LaneTimerCycles, c.LaneTimerCells = 1_000_000, 500_000
			c.Eip1559.MaxCyclesPerFireAuction, c.MaxCellsPerFire = tt.cycles, tt.cells
			c.Policy = types.PolicyEIP1559
			require.Equal(t, bids.CheckConfig(&c) == nil, (&chainpolicies.EIP1559{}).CheckConfig(&c) == nil, "what the chain says")
			if err := bids.CheckHeadroom(&c); tt.problem == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.problem)
			}
		})
	}
}
