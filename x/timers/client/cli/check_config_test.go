package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/x/timers/client/impact"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What check-config foretells is what the chain does: the same config is put in force, and the timers become due.
func TestCheckConfig_ForetellsWhatIsOnHold(t *testing.T) {
	r := newRig(t)
	for i, gas := range []uint64{100_000, 200_000, 250_000, 150_000} {
		id := r.Schedule(60, int64(i+1))
		require.NoError(t, r.Chain.BeginBlock())
		_, _, err := r.Chain.Tx(&types.MsgUpdateTimer{Sender: r.Alice, Id: id, Spec: types.TimerSpec{GasLimit: gas}, Fields: []string{"gas_limit"}})
		require.NoError(t, err)
		require.NoError(t, r.End())
	}
	check := func(line ...string) impact.Impact {
		t.Helper()
		out, _, err := r.Run(append([]string{"query", "timers", "check-config", "-o", "json"}, line...)...)
		require.NoError(t, err)
		var found impact.Impact
		require.NoError(t, json.Unmarshal([]byte(out), &found), out)
		return found
	}
	found := check("--set", "eip1559.max_cycles_per_fire_auction=160000")
	require.Len(t, found.OnHold, 2)
	require.Equal(t, []uint64{4, 0}, []uint64{found.Examined, uint64(len(found.Returned))})
	require.True(t, found.Complete)
	require.Equal(t, "its gas limit is 200,000, want at most 160,000", found.OnHold[0].Reason)
	require.False(t, check("--set", "eip1559.max_cycles_per_fire_auction=160000", "--limit", "3").Complete)
	require.Empty(t, check("--set", "lane_timer_cycles=3000000").OnHold)

	_, notes, err := r.Run("tx", "timers", "update-timer-config", "--set", "eip1559.max_cycles_per_fire_auction=160000",
		"--title", "t", "--summary", "s", "--from", r.Alice, "--generate-only")
	require.NoError(t, err)
	require.Contains(t, notes, "it would put on hold 2 of 4 waiting timers\nwhich ones: query timers check-config\n")

	// The chain does it.
	r.Configure(func(c *types.TimerConfig) { c.Eip1559.MaxCyclesPerFireAuction = 160_000 })
	r.Blocks(60)
	out, _, err := r.Run("query", "timers", "on-hold", "-o", "json")
	require.NoError(t, err)
	for _, verdict := range found.OnHold {
		require.Contains(t, out, verdict.ID)
	}
	back := check("--set", "eip1559.max_cycles_per_fire_auction=210000")
	require.Equal(t, []int{0, 1}, []int{len(back.OnHold), len(back.Returned)})
	text, notes, err := r.Run("query", "timers", "check-config", "--set", "eip1559.max_cycles_per_fire_auction=210000", "--limit", "1")
	require.NoError(t, err)
	require.Contains(t, notes, "there are more timers than were looked at")
	require.Contains(t, text, "would put on hold 0 of the first 1 waiting timer")
	for reason, line := range map[string][]string{
		"the config is missing": {}, "--limit: want a whole number": {"--limit", "0"}, "there is no parameter": {"--set", "x=1"},
	} {
		_, _, err := r.Run(append([]string{"query", "timers", "check-config"}, line...)...)
		require.ErrorContains(t, err, reason, fmt.Sprint(line))
	}
}

// Who checks or votes on a lane without room for large timers is told so, and what would do. Under eip1559 it can't be
// proposed.
//
// Rule: 7.2-headroom-told
func TestALaneWithoutHeadroomIsTold(t *testing.T) {
	r := newRig(t)
	const told = "the chain refuses it under eip1559, since a crowd could keep large timers out of the lane"
	for setting, would := range map[string]string{
		"lane_timer_cycles=600000":  "eip1559.target at most 0.483333333333333333 would do; eip1559.max_cycles_per_fire_auction at most 240000 with max_cells_per_fire at most 800000 would do",
		"lane_timer_cycles=3000000": "", "eip1559.target=0.9": "eip1559.target at most 0.625 would do",
		"reserved_share=0.3": "eip1559.target at most 0.425 would do; eip1559.max_cycles_per_fire_auction at most 400000 with max_cells_per_fire at most 400000 would do",
	} {
		_, notes, err := r.Run("query", "timers", "check-config", "--set", setting)
		require.NoError(t, err)
		require.Equal(t, would != "", strings.Contains(notes, told), "%s: %s", setting, notes)
		require.Contains(t, notes, would)
		propose := []string{"tx", "timers", "update-timer-config", "--title", "t", "--summary", "s", "--from", r.Alice, "--generate-only", "--set", setting}
		_, _, err = r.Run(propose...)
		if would == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "the chain would refuse it: ")
		require.ErrorContains(t, err, would)
		// Another policy has no target.
		_, notes, err = r.Run(append(propose, "--set", "policy=POLICY_FIFO")...)
		require.NoError(t, err)
		require.Contains(t, notes, told)
	}
	narrow, wide := types.DefaultTimerConfig(r.Chain.FeeDenom), types.DefaultTimerConfig(r.Chain.FeeDenom)
	narrow.LaneTimerCycles, wide.LaneTimerCycles = 600_000, 3_000_000
	r.Queries(func(router *baseapp.GRPCQueryRouter) {
		govv1.RegisterQueryServer(router, &government{proposals: map[uint64]sdk.Msg{
			1: replacing(t, r, narrow), 2: replacing(t, r, wide),
		}})
	})
	for id, want := range map[string]bool{"1": true, "2": false} {
		_, notes, err := r.Run("query", "timers", "config-diff", id)
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(notes, told), "proposal %s: %s", id, notes)
	}
}

// replacing is a message that replaces the default config.
func replacing(t *testing.T, r *rig, config types.TimerConfig) *types.MsgUpdateTimerConfig {
	t.Helper()
	msg, err := r.Chain.Timers.ReplaceConfig(r.Chain.Ctx(), config)
	require.NoError(t, err)
	return msg
}

// A timer that waits for a time is looked at like one of the queue.
func TestCheckConfig_LooksAtTimersThatWaitForATime(t *testing.T) {
	r := newRig(t)
	id := r.atTime("2023-11-14 23:00")
	out, _, err := r.Run("query", "timers", "check-config", "-o", "json", "--set", "eip1559.max_cycles_per_fire_auction=160000")
	require.NoError(t, err)
	var found impact.Impact
	require.NoError(t, json.Unmarshal([]byte(out), &found), out)
	require.Len(t, found.OnHold, 1)
	require.Equal(t, id, found.OnHold[0].ID)
}
