package cli_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestTimer_AsYAMLIsScheduledAgain: what is printed of a timer as YAML is its spec, which schedule --file takes unchanged.
func TestTimer_AsYAMLIsScheduledAgain(t *testing.T) {
	r := newRig(t)
	id := r.place(5, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600}}}
		m.Spec.Name, m.Spec.Repeat, m.Spec.Retry = "rent: monthly", &types.Repeat{Remaining: 12, Missed: types.MissedEach}, &types.Retry{Max: 2, After: 60}
	})
	printed, _, err := r.Run("query", "timers", "timer", r.Alice+"/"+id, "--output", "yaml")
	require.NoError(t, err)
	require.NotContains(t, printed, "status")
	require.Contains(t, printed, "name: 'rent: monthly'\n")
	file := r.File("rent.yaml", printed)
	require.ErrorIs(t, r.Refused("schedule", "--file", file), types.ErrNameTaken)
	answer, err := types.NewQueryClient(r.Ctx).Timer(context.Background(), &types.QueryTimerRequest{Actor: r.Alice, Id: id})
	require.NoError(t, err)
	_, _, err = r.Run("tx", "timers", "cancel", id, "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	msg, _ := r.scheduleTx("--file", file, "--generate-only")
	require.Equal(t, r.JSON(&types.MsgScheduleTimer{Spec: answer.Timer.Spec}), r.JSON(&types.MsgScheduleTimer{Spec: msg.Spec}))
	for want, line := range map[string][]string{
		"--count is stated beside --file":     {"--count", "3"},
		"--msgs is stated beside --file":      {"--msgs", "send.json"},
		"--fee-payer is stated beside --file": {"--fee-payer", "bob"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"schedule", "--file", file, "--from", r.Alice}, line...)...), want)
	}
	state := r.File("state.yaml", printed+"status: {seq: 4}\n")
	require.ErrorContains(t, r.Refused("schedule", "--file", state, "--from", r.Alice), "it states a status, which is the chain's")
	foreign := r.File("foreign.yaml", "trigger: {after: 5}\ncall: {messages: ["+r.JSON(r.Send(r.Bob, r.Alice, 5))+"]}\n")
	require.ErrorContains(t, r.Refused("schedule", "--file", foreign, "--from", r.Alice), "its only signer must be --from")
}

// TestUpdate_TakesACommandAfterTheName: what follows the name of a timer is what it does from now on, as with schedule.
func TestUpdate_TakesACommandAfterTheName(t *testing.T) {
	r := newRig(t)
	id := r.place(5, func(m *types.MsgScheduleTimer) { m.Spec.Name, m.Spec.Trigger = "rent", types.Trigger{After: 50} })
	printed, notes := r.Printed("update", "rent", "send", "bob", "11stake")
	msg, ok := printed.(*types.MsgUpdateTimer)
	require.True(t, ok)
	require.Equal(t, &types.MsgUpdateTimer{
		Sender: r.Alice, Id: id, Name: "rent", Spec: types.TimerSpec{Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, 11))}}, Fields: []string{"call"},
	}, msg)
	require.NotContains(t, notes, "warning")
	printed, _ = r.Printed("update", "rent", "send", "bob", "11stake", "--gas-limit", "90000")
	require.Equal(t, []string{"gas_limit", "call"}, printed.(*types.MsgUpdateTimer).Fields)
	for want, line := range map[string][]string{
		`"sned" says nothing that a timer can do: did you mean send?`:        {"sned", "bob", "5stake"},
		"send has 1 words after it: want send [recipient] [amount]":          {"send", "bob"},
		`--msgs "x.json" is stated beside "send"`:                            {"send", "bob", "5stake", "--msgs", "x.json"},
		`--amount "5stake" is what a call of a contract sends along`:         {"--amount", "5stake"},
		`"5stake" is an amount, and the recipient comes first: did you mean`: {"send", "5stake", "bob"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"update", "rent", "--from", r.Alice}, line...)...), want)
	}
}
