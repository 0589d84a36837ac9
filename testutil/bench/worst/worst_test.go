package worst

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var all = flag.Bool("worst.all", false, "count the worst mix of every policy, not of one")

// A dozen mixes of each config and policy are kept, the worst of them first.
func TestMixesAreKept(t *testing.T) {
	found, err := Kept()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(found), 12*len(Configs)*len(workload.Policies))
	require.Equal(t, kept, Text(found), "the worst of each config and policy comes first")
	for _, config := range Configs {
		for _, policy := range workload.Policies {
			_, err := worstOf(found, config, policy)
			require.NoError(t, err)
		}
	}
}

// mostOfABlock is what the worst block may cost, in blocks of sends.
const mostOfABlock = 3.0

// What was found to be the worst block costs what it cost then, and no more than the lane and the overhead promise. Whoever
// makes it pricier has to search again, and to say so in the module's page on attacks.
func TestTheWorstBlocksCostWhatTheyDid(t *testing.T) {
	found, err := Kept()
	require.NoError(t, err)
	floor, err := floorWeight()
	require.NoError(t, err)
	policies := []types.Policy{types.PolicyEIP1559}
	if *all {
		policies = workload.Policies
	}
	for _, config := range Configs {
		for _, policy := range policies {
			t.Run(config.Name+", "+plain.PolicyName(policy), func(t *testing.T) {
				worst, err := worstOf(found, config, policy)
				require.NoError(t, err)
				weight, err := Count(config, policy, worst.Mix)
				require.NoError(t, err)
				require.InDelta(t, worst.Ratio, weight/floor, worst.Ratio/10)
				require.LessOrEqual(t, weight/floor, mostOfABlock)
			})
		}
	}
}

func TestAMixIsReadAsItIsWritten(t *testing.T) {
	again, err := ParseMix(most.String())
	require.NoError(t, err)
	require.Equal(t, most, again)
	for _, bad := range []string{"", "1 2 3", most.String() + " 1", "x" + most.String(), "9" + most.String()} {
		_, err := ParseMix(bad)
		require.Error(t, err, bad)
	}
}

// Each kind of timer that a mix can have costs its blocks something: the search would not notice one that does nothing.
func TestMix_EachKindOfTimerCostsSomething(t *testing.T) {
	least, err := Count(Configs[0], types.PolicyEIP1559, Mix{})
	require.NoError(t, err)
	for name, m := range map[string]Mix{
		"ready": {ready: 100}, "unfunded": {unfunded: 100}, "expired": {expired: 100}, "onHold": {onHold: 100}, "watchers": {watchers: 100, keys: 1},
		"hollow": {hollow: 10}, "lapsed": {lapsed: 100, keys: 1}, "timed": {timed: 100}, "passing": {passing: 100},
		"changed": {changed: 100}, "conditional": {changed: 100, conditional: 1}, "admins": {admins: 100},
		"meddling": {ready: 10, meddling: 100},
	} {
		costs, err := Count(Configs[0], types.PolicyEIP1559, m)
		require.NoError(t, err)
		require.Greater(t, costs, least+50, name)
	}
	// Those asleep are of a class that a block has not reached: it reads none.
	asleep, err := Count(Configs[0], types.PolicyEIP1559, Mix{paused: 1_000})
	require.NoError(t, err)
	require.Equal(t, least, asleep)
	unguarded, err := Count(Configs[0], types.PolicyEIP1559, Mix{ready: 5})
	require.NoError(t, err)
	guarded, err := Count(Configs[0], types.PolicyEIP1559, Mix{ready: 5, guards: 2})
	require.NoError(t, err)
	require.NotEqual(t, unguarded, guarded)
	leaves, err := Count(Configs[0], types.PolicyEIP1559, Mix{unfunded: 100})
	require.NoError(t, err)
	skips, err := Count(Configs[0], types.PolicyEIP1559, Mix{unfunded: 100, skipping: 1})
	require.NoError(t, err)
	require.Greater(t, skips, leaves)
}

// grown are inputs of which a block looks at most of this many, and not at all of ten times as many.
var grown = map[int]int{
	ready: 600, unfunded: 400, expired: 400, onHold: 400, watchers: 400, lapsed: 400, timed: 400, passing: 400, changed: 800, admins: 600,
	paused: 2_000,
}

// TestBlockEnd_DoesNotGrowWithItsInputs: each input is ten times as large, alone, or with -worst.all beside each other too, and a
// block's end costs no more store operations than the bound.
func TestBlockEnd_DoesNotGrowWithItsInputs(t *testing.T) {
	floor, err := floorWeight()
	require.NoError(t, err)
	policies := []types.Policy{types.PolicyEIP1559}
	if *all {
		policies = workload.Policies
	}
	for _, policy := range policies {
		for first := range genes {
			for second := range genes {
				if grown[first] == 0 || grown[second] == 0 || second < first || second > first && !*all {
					continue
				}
				for _, variant := range []Mix{{ofEach: 1, keys: 1}, {ofEach: 100, keys: 8, conditional: 1, skipping: 1, every: 1}} {
					few, many := variant, variant
					few[first], few[second] = grown[first], grown[second]
					many[first], many[second] = 10*grown[first], 10*grown[second]
					least, err := Count(Configs[0], policy, few)
					require.NoError(t, err)
					most, err := Count(Configs[0], policy, many)
					require.NoError(t, err)
					t.Logf("%s, genes %d and %d: %.2f, tenfold %.2f", plain.PolicyName(policy), first, second, least/floor, most/floor)
					require.LessOrEqual(t, most/floor, mostOfABlock)
				}
			}
		}
	}
}
