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
	} {
		costs, err := Count(Configs[0], types.PolicyEIP1559, m)
		require.NoError(t, err)
		require.Greater(t, costs, least+50, name)
	}
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
