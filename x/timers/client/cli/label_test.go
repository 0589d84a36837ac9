package cli_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// labelled schedules a transfer of alice's with a label and returns the timer's id.
func (r *rig) labelled(label string, height uint64, amount int64) string {
	r.T.Helper()
	require.NoError(r.T, r.Chain.BeginBlock())
	results, _, err := r.Chain.Tx(&types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: height}, Name: label, Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, amount))}},
	})
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
	response, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	require.True(r.T, ok)
	return response.Id
}

// Rule: 9.1-label-names
func TestLabelsNameTimers(t *testing.T) {
	r := newRig(t)
	rent, other := r.labelled("rent", 500, 5), r.labelled("pay/rent now", 600, 7)
	for name, id := range map[string]string{"rent": rent, "alice/rent": rent, "pay/rent now": other, r.Alice + "/pay/rent now": other} {
		msg, notes := r.Printed("cancel", name)
		require.Equal(t, &types.MsgCancelTimer{Sender: r.Alice, Id: id}, msg, name)
		require.Contains(t, notes, "timer "+r.Alice+"/"+id+": ", "what a label stands for is shown before it is signed")
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
	require.Equal(t, &types.MsgResumeTimer{Sender: r.Alice, Id: rent}, msg)
	require.Contains(t, notes, "rent: send 5stake to bob, on hold: paused\n")
	out, _, err := r.Run("query", "timers", "timer", "alice/rent", "-o", "json")
	require.NoError(t, err)
	require.Contains(t, out, rent)
	out, notes, err = r.Run("query", "timers", "history", "alice/rent")
	require.NoError(t, err)
	require.Contains(t, out, "scheduled")
	require.NotContains(t, out, other[:12])
	require.Contains(t, notes, rent)

	require.EqualError(t, r.Refused("resume", "xyz"), "no timer of yours has the label or id xyz")
	_, _, err = r.Run("query", "timers", "timer", "alice/xyz")
	require.EqualError(t, err, "alice has no live timer with the label or id xyz; what happened to those that are gone: chaind query timers history alice")
	require.ErrorContains(t, r.Refused("cancel", "bob/rent"), "bob has no live timer with the label or id rent")
	require.ErrorContains(t, r.Refused("cancel", ""), "has neither an id nor a label")
	require.ErrorContains(t, r.Refused("sys-cancel-timer", "alice", ""), "has neither an id nor a label")
	_, err = r.offline("cancel", "rent")
	require.ErrorContains(t, err, "a short id and a label need a node")
}

// Rule: 9.1-label-twice
func TestALabelOfTwoTimersNamesNone(t *testing.T) {
	r := newRig(t)
	first, second := r.labelled("rent", 500, 5), r.labelled("rent", 600, 7)
	for _, err := range []error{r.Refused("cancel", "rent"), r.Refused("sys-cancel-timer", "alice", "rent")} {
		require.ErrorContains(t, err, "2 timers have the label \"rent\": want the id of one\n")
		require.ErrorContains(t, err, "\n  "+first[:8]+"  rent: send 5stake to bob, due at height 500")
		require.ErrorContains(t, err, "\n  "+second[:8]+"  rent: send 7stake to bob, due at height 600")
	}
	for range 10 {
		r.labelled("rent", 700, 9)
	}
	require.ErrorContains(t, r.Refused("cancel", "rent"), "\n  and 2 more")
}

// Rule: 9.1-label-names
func TestAnIDComesBeforeALabel(t *testing.T) {
	r := newRig(t)
	first := r.Schedule(500, 5)
	label := first[:4]
	second := r.labelled(label, 600, 7)
	msg, notes := r.Printed("cancel", label)
	require.Equal(t, &types.MsgCancelTimer{Sender: r.Alice, Id: first}, msg)
	require.Contains(t, notes, label+" counts as the beginning of an id; it is also the label of\n  "+second[:8]+"  "+label+": send 7stake to bob")
	_, notes, err := r.Run("query", "timers", "history", "alice/"+label)
	require.NoError(t, err)
	require.Contains(t, notes, "it is also the label of\n  "+second[:8])

	// What looks like an id and begins none is a label.
	hex := "beef"
	third := r.labelled(hex, 600, 9)
	msg, _ = r.Printed("cancel", hex)
	require.Equal(t, &types.MsgCancelTimer{Sender: r.Alice, Id: third}, msg)
	out, _, err := r.Run("query", "timers", "history", "alice/"+hex)
	require.NoError(t, err)
	require.Contains(t, out, third[:12])
}

// selected runs a command and returns its messages.
func (r *rig) selected(line ...string) ([]sdk.Msg, string) {
	r.T.Helper()
	out, notes, err := r.Run(append([]string{"tx", "timers"}, append(line, "--from", r.Alice, "--generate-only")...)...)
	require.NoError(r.T, err)
	return r.Tx(out), notes
}

// Rule: 9.1-selector
func TestASelectorTakesAllWithALabel(t *testing.T) {
	r := newRig(t)
	ids := []string{r.labelled("rent", 500, 5), r.labelled("rent", 600, 7)}
	r.labelled("gift", 700, 9)
	const rent = "--selector=label=rent"
	rows := func(notes string) {
		t.Helper()
		require.Contains(t, notes, "\n  "+ids[0][:8]+"  rent: send 5stake to bob, ")
		require.Contains(t, notes, "\n  "+ids[1][:8]+"  rent: send 7stake to bob, ")
	}
	msgs, notes := r.selected("cancel", rent)
	require.ElementsMatch(t, []sdk.Msg{&types.MsgCancelTimer{Sender: r.Alice, Id: ids[0]}, &types.MsgCancelTimer{Sender: r.Alice, Id: ids[1]}}, msgs)
	require.Contains(t, notes, "cancels all your timers with the label \"rent\": 2\n")
	rows(notes)
	msgs, notes = r.selected("extend", rent, "--until", "900", "--shorten")
	require.ElementsMatch(t, []sdk.Msg{&types.MsgExtendTimer{Sender: r.Alice, Id: ids[0], ExpiresAt: 900}, &types.MsgExtendTimer{Sender: r.Alice, Id: ids[1], ExpiresAt: 900}}, msgs)
	rows(notes)
	require.ErrorContains(t, r.Refused("extend", rent, "--until", "550", "--shorten"), "when timer "+ids[1]+" is due: it would never fire", "all or none")
	require.ErrorContains(t, r.Refused("resume", rent), "there is nothing to resume: timer ")

	_, _, err := r.Run("tx", "timers", "pause", ids[0], "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	msgs, notes = r.selected("pause", rent)
	require.Equal(t, []sdk.Msg{&types.MsgPauseTimer{Sender: r.Alice, Id: ids[1]}}, msgs)
	require.Contains(t, notes, "leaves out 1 timer:\n  "+ids[0][:8]+"  rent: send 5stake to bob, on hold: paused\n")
	_, _, err = r.Run("tx", "timers", "pause", rent, "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	require.ErrorContains(t, r.Refused("pause", rent), "there is nothing to pause: timer ")
	msgs, notes = r.selected("resume", rent)
	require.ElementsMatch(t, []sdk.Msg{&types.MsgResumeTimer{Sender: r.Alice, Id: ids[0]}, &types.MsgResumeTimer{Sender: r.Alice, Id: ids[1]}}, msgs)
	rows(notes)
	r.Sends(r.Alice, r.Bob, 9_999_500)
	for _, id := range ids {
		require.ErrorContains(t, r.Refused("resume", rent), "timer "+id+": alice can spend 500stake now")
	}

	for want, line := range map[string][]string{
		`you have no live timers with the label "none"`:             {"cancel", "--selector", "label=none"},
		`--selector "name=rent": want label=TEXT`:                   {"cancel", "--selector", "name=rent"},
		`--selector "label=": want label=TEXT`:                      {"pause", "--selector", "label="},
		`"rent" is stated beside --selector`:                        {"resume", "rent", rent},
		`--all "true" and --selector "label=rent" both state which`: {"cancel", "--all", rent},
		"the timer to pause is missing: want its id or its label":   {"pause"},
		"--actor goes with --selector":                              {"pause", "rent", "--actor", "bob"},
	} {
		require.ErrorContains(t, r.Refused(line...), want)
	}
	_, err = r.offline("pause", rent)
	require.ErrorContains(t, err, "--selector needs a node")
}

// One transaction takes 100. What repeating the command would not reach is refused.
func TestASelectorTakesNoMoreThanATransactionHolds(t *testing.T) {
	r := newRig(t)
	for range 101 {
		r.labelled("many", 900, 5)
	}
	const many = "--selector=label=many"
	for _, verb := range []string{"cancel", "pause"} {
		msgs, notes := r.selected(verb, many)
		require.Len(t, msgs, 100)
		require.Contains(t, notes, fmt.Sprintf("%ss 100 of your 101 timers with the label \"many\": repeat the command for the others\n", verb))
	}
	require.ErrorContains(t, r.Refused("extend", many, "--by", "5"), "you have 101 timers with the label \"many\", and one transaction takes 100: name those to extend by their ids")
}
