package simconfig_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/simconfig"
	"github.com/cosmos-timers/timers/lab/sim/spec"
	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestOf_KnowsEveryPolicy that a config can select by name.
func TestOf_KnowsEveryPolicy(t *testing.T) {
	for number := range types.Policy_name {
		config := types.DefaultTimerConfig("utmr")
		if config.Policy = types.Policy(number); config.Policy != types.PolicyUnspecified {
			require.Contains(t, market.Policies, simconfig.Of(&config).Policy, config.Policy)
		}
	}
	require.Equal(t, contest.MaxPassedOver, market.MaxPassedOver)
}

// TestRead_LaterChangesReplaceEarlierOnes, and the error names the path of the one that is wrong.
func TestRead_LaterChangesReplaceEarlierOnes(t *testing.T) {
	change := func(path, fields string) spec.Change { return spec.Change{Path: path, Fields: json.RawMessage(fields)} }
	config, err := simconfig.Read([]spec.Change{
		change("config", `{"policy": "tip", "max_change": "0.25"}`), change("variants[0].config", `{"policy": "score"}`),
	})
	require.NoError(t, err)
	require.Equal(t, market.Score, config.Policy)
	require.Equal(t, "0.250000000000000000", config.Eip1559.Basefee.MaxChange.String())
	_, err = simconfig.Read([]spec.Change{change("variants[3].config", `{"max_change": "2"}`)})
	require.ErrorContains(t, err, "variants[3].config")
}
