package timers_test

import (
	"net/url"
	"testing"

	gwruntime "github.com/grpc-ecosystem/grpc-gateway/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/utilities"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 9.2-enums
func TestRESTTakesTiersByName(t *testing.T) {
	ask := func(tier string) (types.PriorityTier, error) {
		var req types.QueryEstimateRequest
		err := gwruntime.PopulateQueryParameters(&req, url.Values{"tier": {tier}}, utilities.NewDoubleArray(nil))
		return req.Tier, err
	}
	for name, number := range types.PriorityTier_value {
		got, err := ask(name)
		require.NoError(t, err)
		require.Equal(t, types.PriorityTier(number), got)
	}
	for text, want := range map[string]types.PriorityTier{
		"economy": types.TierEconomy, "standard": types.TierStandard, "fast": types.TierFast, "urgent": types.TierUrgent, "3": types.TierFast,
	} {
		got, err := ask(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"quick", "FAST ", "", "9"} {
		_, err := ask(text)
		require.Error(t, err, text)
	}
}

// x/gov calls ValidateBasic of a proposal's messages when it is submitted.
//
// Rule: 3.7-whole-id
func TestAuthorityNamesWholeIDs(t *testing.T) {
	whole := "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff"
	for id, want := range map[string]error{
		whole: nil, "": types.ErrInvalidTimerID, "00ff": types.ErrInvalidTimerID, whole[1:]: types.ErrInvalidTimerID,
		whole + "00": types.ErrInvalidTimerID, "zz" + whole[2:]: types.ErrInvalidTimerID,
	} {
		require.ErrorIs(t, (&types.MsgSysCancelTimer{Id: id}).ValidateBasic(), want, id)
		require.ErrorIs(t, (&types.MsgSysExtendTimer{Id: id}).ValidateBasic(), want, id)
		require.ErrorIs(t, (&types.MsgSysReleaseTimer{Id: id}).ValidateBasic(), want, id)
	}
}

// A config that contradicts itself is refused when its proposal is submitted. Whether the chain can take it is known later.
//
// Rule: 3.7-config-checked
func TestAConfigIsCheckedWhenItIsProposed(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*types.TimerConfig)
		want   error
	}{
		"the default":     {func(*types.TimerConfig) {}, nil},
		"out of bounds":   {func(c *types.TimerConfig) { c.MaxTtlBlocks = 0 }, types.ErrInvalidConfig},
		"contradictory":   {func(c *types.TimerConfig) { c.LaneTimerCycles = c.MaxCyclesPerFire - 1 }, types.ErrInvalidConfig},
		"a policy's part": {func(c *types.TimerConfig) { c.Eip1559.BasefeeResponse = 0 }, types.ErrInvalidConfig},
		"no denom":        {func(c *types.TimerConfig) { c.FeeDenom = "" }, types.ErrInvalidConfig},
	} {
		config := types.DefaultTimerConfig("stake")
		tc.change(&config)
		require.ErrorIs(t, (&types.MsgUpdateTimerConfig{Config: config, Expected: make([]byte, 32)}).ValidateBasic(), tc.want, name)
	}
}
