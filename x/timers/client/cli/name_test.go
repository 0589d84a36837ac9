package cli_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// named schedules a transfer of alice's with a name and returns the timer's id.
func (r *rig) named(name string, height uint64, amount int64) string {
	r.T.Helper()
	require.NoError(r.T, r.Chain.BeginBlock())
	results, _, err := r.Chain.Tx(&types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: height}, Name: name, Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, amount))}},
	})
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
	response, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	require.True(r.T, ok)
	return response.Id
}

// TestName_StandsWhereverAnIDDoes: a message of the owner's then states both, so that it reaches no other timer.
//
// Rule: 9.1-names
func TestName_StandsWhereverAnIDDoes(t *testing.T) {
	r := newRig(t)
	rent, other := r.named("rent", 500, 5), r.named("pay rent: now", 600, 7)
	for text, want := range map[string]*types.MsgCancelTimer{
		"rent":                     {Sender: r.Alice, Id: rent, Name: "rent"},
		"alice/rent":               {Sender: r.Alice, Id: rent, Name: "rent"},
		rent[:8]:                   {Sender: r.Alice, Id: rent, Name: "rent"},
		"pay rent: now":            {Sender: r.Alice, Id: other, Name: "pay rent: now"},
		r.Alice + "/pay rent: now": {Sender: r.Alice, Id: other, Name: "pay rent: now"},
	} {
		msg, notes := r.Printed("cancel", text)
		require.Equal(t, want, msg, text)
		require.Contains(t, notes, "timer "+r.Alice+"/"+want.Id+": ", "what a name stands for is shown before it is signed")
	}
	_, notes := r.Printed("cancel", "rent")
	require.Contains(t, notes, rent+": rent: send 5stake to bob, due at height 500\n")
	for _, line := range [][]string{
		{"extend", "rent", "--until", "900", "--shorten"},
		{"update", "rent", "--tier", "fast"},
		{"pause", "rent"},
		{"sys-cancel-timer", "alice", "rent", "--no-proposal"},
		{"sys-extend-timer", "alice", "rent", "900", "--no-proposal"},
	} {
		msg, _ := r.Printed(line...)
		require.Equal(t, rent, msg.(interface{ GetId() string }).GetId(), line)
	}
	_, _, err := r.Run("tx", "timers", "pause", "rent", "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	msg, notes := r.Printed("resume", "rent")
	require.Equal(t, &types.MsgResumeTimer{Sender: r.Alice, Id: rent, Name: "rent"}, msg)
	require.Contains(t, notes, "rent: send 5stake to bob, on hold: paused\n")
	out, _, err := r.Run("query", "timers", "timer", "alice/rent", "-o", "json")
	require.NoError(t, err)
	require.Contains(t, out, rent)
	out, notes, err = r.Run("query", "timers", "history", "alice/rent")
	require.NoError(t, err)
	require.Contains(t, out, "scheduled")
	require.NotContains(t, out, other[:12])
	require.Contains(t, notes, rent)

	require.EqualError(t, r.Refused("resume", "xyz"), "no live timer of yours has the name xyz")
	_, _, err = r.Run("query", "timers", "timer", "alice/xyz")
	require.EqualError(t, err, "alice has no live timer with the name xyz; what happened to those that are gone: chaind query timers history alice")
	require.ErrorContains(t, r.Refused("cancel", "bob/rent"), "bob has no live timer with the name rent")
	require.ErrorContains(t, r.Refused("cancel", ""), "has neither an id nor a name")
	require.ErrorContains(t, r.Refused("sys-cancel-timer", "alice", ""), "has neither an id nor a name")
}

// TestName_IsStatedOffline: the chain finds the timer by it, and no node is asked.
//
// Rule: 9.1-names
func TestName_IsStatedOffline(t *testing.T) {
	r := newRig(t)
	r.Node.Down = true
	for text, want := range map[string]*types.MsgCancelTimer{
		"rent":               {Sender: r.Alice, Name: "rent"},
		r.Alice + "/my rent": {Sender: r.Alice, Name: "my rent"},
		r.Bob + "/rent":      {Sender: r.Alice, Actor: r.Bob, Name: "rent"},
	} {
		msg, err := r.offline("cancel", text)
		require.NoError(t, err)
		require.Equal(t, want, msg)
	}
	_, err := r.offline("cancel", "beef")
	require.ErrorContains(t, err, "a short id needs a node: with --offline, state its name or all 64 digits of the id")
	_, _, err = r.Run("tx", "timers", "cancel", "rent", "rent", "--from", r.Alice, "--offline", "--generate-only", "--account-number", "1", "--sequence", "1")
	require.ErrorContains(t, err, "timer rent is named twice")
}

// TestName_OfALiveTimerIsRefused: who repeats a command has scheduled once, and reads what to do instead.
//
// Rule: 9.1-name-taken
func TestName_OfALiveTimerIsRefused(t *testing.T) {
	r := newRig(t)
	line := []string{"schedule", "send", "bob", "5stake", "--at", "500", "--name", "rent", "--gas-limit", "100000"}
	_, _, err := r.Run(append([]string{"tx", "timers"}, append(line, "--from", "alice", "-y", "--wait")...)...)
	require.NoError(t, err)
	err = r.Refused(line...)
	require.ErrorIs(t, err, types.ErrNameTaken)
	require.ErrorContains(t, err, "name is taken: you have\n  ")
	require.ErrorContains(t, err, "  rent: send 5stake to bob, due at height 500\nchange that one with chaind tx timers update 'rent', or state another --name")
	line[7] = "Rent"
	r.Printed(line...)
	line[7] = "beef"
	require.ErrorContains(t, r.Refused(line...), `--name: "beef" could be the beginning of an id`)
}

// Rule: 9.1-rename
func TestName_IsChangedByAnUpdate(t *testing.T) {
	r := newRig(t)
	rent := r.named("rent", 500, 5)
	for _, to := range []string{"salary", ""} {
		msg, _ := r.Printed("update", "rent", "--name", to)
		require.Equal(t, &types.MsgUpdateTimer{Sender: r.Alice, Id: rent, Name: "rent", Spec: types.TimerSpec{Name: to}, Fields: []string{"name"}}, msg)
	}
	_, _, err := r.Run("tx", "timers", "update", "rent", "--name", "salary", "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	msg, _ := r.Printed("cancel", "salary")
	require.Equal(t, &types.MsgCancelTimer{Sender: r.Alice, Id: rent, Name: "salary"}, msg)
	require.ErrorContains(t, r.Refused("cancel", "rent"), "no live timer of yours has the name rent")
	require.ErrorContains(t, r.Refused("update", "salary", "--name", "a/b"), "is a slash")
}

// selected runs a command and returns its messages.
func (r *rig) selected(line ...string) ([]sdk.Msg, string) {
	r.T.Helper()
	out, notes, err := r.Run(append([]string{"tx", "timers"}, append(line, "--from", r.Alice, "--generate-only")...)...)
	require.NoError(r.T, err)
	return r.Tx(out), notes
}

// Rule: 9.1-all
func TestAll_AreTheLiveTimersOfTheSigner(t *testing.T) {
	r := newRig(t)
	ids := []string{r.named("rent", 500, 5), r.named("", 600, 7)}
	rows := func(notes string) {
		t.Helper()
		require.Contains(t, notes, "\n  "+ids[0][:8]+"  rent: send 5stake to bob, ")
		require.Contains(t, notes, "\n  "+ids[1][:8]+"  send 7stake to bob, ")
	}
	msgs, notes := r.selected("cancel", "--all")
	require.ElementsMatch(t, []sdk.Msg{&types.MsgCancelTimer{Sender: r.Alice, Id: ids[0], Name: "rent"}, &types.MsgCancelTimer{Sender: r.Alice, Id: ids[1]}}, msgs)
	require.Contains(t, notes, "cancels all your timers: 2\n")
	rows(notes)
	msgs, notes = r.selected("extend", "--all", "--until", "900", "--shorten")
	require.ElementsMatch(t, []sdk.Msg{
		&types.MsgExtendTimer{Sender: r.Alice, Id: ids[0], Name: "rent", ExpiresAt: 900}, &types.MsgExtendTimer{Sender: r.Alice, Id: ids[1], ExpiresAt: 900},
	}, msgs)
	rows(notes)
	require.ErrorContains(t, r.Refused("extend", "--all", "--until", "550", "--shorten"), "when timer "+ids[1]+" is due: it would never fire", "all or none")
	require.ErrorContains(t, r.Refused("resume", "--all"), "there is nothing to resume: timer ")

	_, _, err := r.Run("tx", "timers", "pause", ids[0], "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	msgs, notes = r.selected("pause", "--all")
	require.Equal(t, []sdk.Msg{&types.MsgPauseTimer{Sender: r.Alice, Id: ids[1]}}, msgs)
	require.Contains(t, notes, "leaves out 1 timer:\n  "+ids[0][:8]+"  rent: send 5stake to bob, on hold: paused\n")
	_, _, err = r.Run("tx", "timers", "pause", "--all", "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	require.ErrorContains(t, r.Refused("pause", "--all"), "there is nothing to pause: timer ")
	msgs, notes = r.selected("resume", "--all")
	require.ElementsMatch(t, []sdk.Msg{&types.MsgResumeTimer{Sender: r.Alice, Id: ids[0], Name: "rent"}, &types.MsgResumeTimer{Sender: r.Alice, Id: ids[1]}}, msgs)
	rows(notes)
	r.Sends(r.Alice, r.Bob, 9_999_500)
	for _, id := range ids {
		require.ErrorContains(t, r.Refused("resume", "--all"), "timer "+id+": alice can spend 500stake now")
	}

	for want, line := range map[string][]string{
		`"rent" is stated beside --all`:                          {"resume", "rent", "--all"},
		"the timer to pause is missing: want its id or its name": {"pause"},
		"--actor goes with --all":                                {"pause", "rent", "--actor", "bob"},
	} {
		require.ErrorContains(t, r.Refused(line...), want)
	}
	_, err = r.offline("pause", "--all")
	require.ErrorContains(t, err, "--all needs a node")
	_, _, err = r.Run("tx", "timers", "cancel", "--all", "--from", r.Bob, "--generate-only")
	require.ErrorContains(t, err, "you have no live timers: there is nothing to cancel")
}

// One transaction takes 100. What repeating the command would not reach is refused.
func TestAll_AreNoMoreThanATransactionHolds(t *testing.T) {
	r := newRig(t)
	for range 101 {
		r.named("", 900, 5)
	}
	for _, verb := range []string{"cancel", "pause"} {
		msgs, notes := r.selected(verb, "--all")
		require.Len(t, msgs, 100)
		require.Contains(t, notes, fmt.Sprintf("%ss 100 of your 101 timers: repeat the command for the others\n", verb))
	}
	require.ErrorContains(t, r.Refused("extend", "--all", "--by", "5"), "you have 101 timers, and one transaction takes 100: name those to extend by their ids")
}
