package evmapp

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// changes are calls of each function that changes a timer, given how that is named, by its id or by its name.
func changes(t *testing.T, c *Chain, timer any, suffix string) map[string][]byte {
	t.Helper()
	at := func(name string, args ...any) []byte { return pack(t, name+suffix, append([]any{timer}, args...)...) }
	return map[string][]byte{
		"update": at("update", spec(300_000, nil), []string{"gas_limit"}, uint64(0)),
		"extend": at("extend", c.Height()+8_000, uint64(0)),
		"pause":  at("pause"), "resume": at("resume"), "skip": at("skip", uint32(2)), "run": at("run"), "cancel": at("cancel"),
	}
}

// idOf asks the precompile.
func idOf(c *Chain, owner common.Address, name string) [32]byte {
	c.tb.Helper()
	return view(c, "idOf", owner, name)[0].([32]byte)
}

// TestNames_DoWhatIdsDo: each function by a name answers, logs and leaves what it does by the id, of the caller's own timer and no
// other's of that name.
func TestNames_DoWhatIdsDo(t *testing.T) {
	c := chain(t)
	p, other := puppet(c), puppet(c)
	daily := pack(t, "schedule", spec(200_000, nil, func(s *Spec) { s.Name, s.Trigger.Interval.Every = "the one", 900 }))
	for _, owner := range []*Deployed{p, other} {
		owner.Call(alice, "run", []Step{step(evmbinding.Address, daily, must)})
	}
	id := [32]byte(c.TimersOf(p.Address)[0].Id)
	require.Equal(t, id, idOf(c, p.Address, "the one"))
	require.Equal(t, [32]byte(c.TimersOf(other.Address)[0].Id), idOf(c, other.Address, "the one"))
	for _, none := range []string{"", "The one", "the one ", "the on", strings.Repeat("the one", 10_000)} {
		require.Zero(t, idOf(c, p.Address, none))
	}
	require.Zero(t, idOf(c, alice.Address, "the one"))

	byID, byName := changes(t, c, id, ""), changes(t, c, "the one", "Named")
	left := func(data []byte, paused bool) (string, []timerstypes.Timer, uint64) {
		ctx := c.dropped()
		if paused {
			require.NoError(t, c.Timers.Keeper.Pause(ctx, p.Address.Bytes(), id[:]))
		}
		asked := price{to: evmbinding.Address, data: data}
		response := asked.call(t, ctx, c, p.Address)
		require.Empty(t, response.VmError, Reason(response.Ret))
		timers, err := c.Timers.Keeper.TimersOf(ctx, p.Address.Bytes())
		require.NoError(t, err)
		require.NotEmpty(t, response.Logs)
		return toText(response.Ret) + toText(response.Logs), timers, response.MaxUsedGas
	}
	for name := range byID {
		answer, timers, gas := left(byID[name], name == "resume")
		answerByName, timersByName, gasByName := left(byName[name], name == "resume")
		require.Equal(t, answer, answerByName, name)
		require.Equal(t, timers, timersByName, name)
		require.Greater(t, gasByName, gas+8_000, name)
		t.Logf("%s: %d gas by the id, %d by the name", name, gas, gasByName)
	}

	// Another name, another timer of the first, and none.
	rename := pack(t, "updateNamed", "the one", spec(0, nil, func(s *Spec) { s.Name = "another" }), []string{"name"}, uint64(0))
	p.Call(alice, "run", []Step{step(evmbinding.Address, rename, must), step(evmbinding.Address, daily, must)})
	require.Equal(t, id, idOf(c, p.Address, "another"))
	require.NotEqual(t, id, idOf(c, p.Address, "the one"))
	cancel := step(evmbinding.Address, pack(t, "cancelNamed", "the one"))
	result, _ := p.Try(alice, "run", []Step{cancel, cancel, step(evmbinding.Address, daily, must), step(evmbinding.Address, daily)})
	did := p.outcomes(result)
	require.True(t, did[0].Ok)
	require.Contains(t, string(did[1].Answer), "has no live timer with the name \"the one\"")
	require.Contains(t, string(did[3].Answer), "has the name \"the one\"")
	require.Len(t, c.TimersOf(other.Address), 1)
	cancelAll(c, p, other)
	require.Zero(t, idOf(c, p.Address, "another"))
}

// TestAttack_NamesThatLookLikeIds: a hub lets its users change timers by names that are theirs, and anybody takes any text as a name.
// No text that is an id, whole or its beginning, in any form, or another's name in other letters, leads to another user's timer.
func TestAttack_NamesThatLookLikeIds(t *testing.T) {
	c := chain(t)
	hub := c.Deploy(alice, "Hub", nil)
	fund(c, hub, 10)
	hub.Call(alice, "every", "rent of alice", uint64(700))
	hub.Call(alice, "every", "", uint64(800))
	victims := c.TimersOf(hub.Address)
	require.Len(t, victims, 2)
	// call has bob make a call of the hub.
	call := func(method string, args ...any) string {
		result, _ := hub.Try(bob, method, args...)
		if result.VmError == "" {
			return ""
		}
		return Reason(result.Ret)
	}
	notYours := hub.ABI.Errors["NotYours"].ID.Hex()[:10]
	end := c.Height() + 8_000
	all := func(name string) map[string]string {
		return map[string]string{
			"update": call("update", name, spec(100_000, nil), []string{"gas_limit"}), "extend": call("extend", name, end),
			"pause": call("pause", name), "resume": call("resume", name), "skip": call("skip", name, uint32(1)),
			"run": call("run", name), "cancel": call("cancel", name),
		}
	}
	for _, victim := range victims {
		id := hex.EncodeToString(victim.Id)
		for _, name := range []string{
			id, strings.ToUpper(id), "0x" + id, id[:8], id[:16], id[:63], string(victim.Id), string(victim.Id[:8]),
			"rent of Alice", "rent of alice ", " rent of alice", "rent of alice\x00", c.Timers.Keeper.Engine().Addresses.Text(hub.Address.Bytes()) + "/" + id,
		} {
			require.Empty(t, call("take", name), "%q", name)
			for function, reason := range all(name) {
				require.Contains(t, reason, "timer not found", "%s by %q", function, name)
			}
		}
	}
	// No timer gets such a name either: what could be the beginning of an id is none.
	id := hex.EncodeToString(victims[0].Id)
	require.Contains(t, call("every", id[:8], uint64(9)), "could be the beginning of an id")
	for function, reason := range all("rent of alice") {
		require.Contains(t, reason, notYours, function)
	}
	require.Contains(t, call("take", "rent of alice"), notYours)
	require.Contains(t, call("cancel", ""), notYours, "the timer without a name")
	require.Equal(t, victims, c.TimersOf(hub.Address))

	// Who has the name does all of it.
	require.Empty(t, call("every", "rent of bob", uint64(900)))
	for _, step := range [][]any{{"pause"}, {"resume"}, {"skip", uint32(1)}, {"run"}} {
		require.Empty(t, call(step[0].(string), append([]any{"rent of bob"}, step[1:]...)...))
	}
	require.True(t, fired(c).Success)
	require.Equal(t, uint64(1), hub.number("rings"))
	require.Empty(t, call("update", "rent of bob", spec(100_000, nil), []string{"gas_limit"}))
	require.Empty(t, call("extend", "rent of bob", end))
	require.Empty(t, call("cancel", "rent of bob"))
	require.Equal(t, victims, c.TimersOf(hub.Address))
	cancelAll(c, hub)
}
