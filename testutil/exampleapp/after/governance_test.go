package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/exampleapp/chain"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// proposal reads one of the documented proposals, with what governance.md says to insert.
func proposal(t *testing.T, c *example, name string, insert ...string) sdk.Msg {
	t.Helper()
	text := read(t, "..", "..", "..", "x", "timers", "docs", "operate", "proposals", name)
	var file struct {
		Messages []map[string]json.RawMessage `json:"messages"`
	}
	require.NoError(t, json.Unmarshal([]byte(strings.NewReplacer(append(insert, "utmr", chain.Denom)...).Replace(text)), &file))
	require.Len(t, file.Messages, 1)
	file.Messages[0]["authority"] = json.RawMessage(`"` + gov + `"`)
	raw, err := json.Marshal(file.Messages[0])
	require.NoError(t, err)
	var msg sdk.Msg
	require.NoError(t, c.App.AppCodec().UnmarshalInterfaceJSON(raw, &msg))
	return msg
}

// TestTheDocumentedProposalsWorkHere: governance.md is written for timerd; its proposals pass on this chain.
func TestTheDocumentedProposalsWorkHere(t *testing.T) {
	c := start(t)
	schedule := func(height uint64) string {
		events := chain.Events(c.Deliver("alice", timer(t, types.Trigger{Height: height}, 5)), "timers.v1.TimerScheduled")
		require.Len(t, events, 1)
		return events[0]["id"]
	}
	actor := chain.Address("alice").String()
	info := func(id string) (types.TimerInfo, error) {
		response, err := keeper.NewQueryServer(c.App.Timers.Keeper).Timer(c.Ctx(), &types.QueryTimerRequest{Actor: actor, Id: id})
		if err != nil {
			return types.TimerInfo{}, err
		}
		return response.Timer, nil
	}
	extended, cancelled := schedule(1000), schedule(1000)
	c.Pass("alice", 1, proposal(t, c, "config.json"))
	c.Block()
	config, err := c.App.Timers.Keeper.Config(c.Ctx())
	require.NoError(t, err)
	require.EqualValues(t, 4_000_000, config.LaneTimerCycles)

	c.Pass("alice", 2, proposal(t, c, "extend.json", "ACTOR", actor, "ID", extended))
	one, err := info(extended)
	require.NoError(t, err)
	require.EqualValues(t, 250_000, one.Status.ExpiresAt)

	c.Pass("alice", 3, proposal(t, c, "cancel.json", "ACTOR", actor, "ID", cancelled))
	_, err = info(cancelled)
	require.Error(t, err)
	_, err = info(extended)
	require.NoError(t, err)
}
