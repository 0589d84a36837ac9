package cli_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestScheduleRepeats(t *testing.T) {
	r := newRig(t)
	r.Blocks(100)
	r.Node.BlockTime = 2500 * time.Millisecond
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := []string{"--msgs", path, "--gas-limit", "100000", "--generate-only"}

	msg, notes := r.scheduleTx(append(line, "--every", "1h")...)
	require.Equal(t, types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3600}}}, msg.Spec.Trigger)
	require.Contains(t, notes, ", every hour, until it expires\n")
	require.Contains(t, notes, "pre-charges at most 800stake at each fire")
	require.Nil(t, msg.Spec.Retry)
	require.Zero(t, msg.Spec.OnUnfunded)

	msg, notes = r.scheduleTx(append(line, "--every", "20", "--first", "500", "--count", "3", "--on-failure", "stop",
		"--retries", "4", "--retry-after", "7", "--on-unfunded", "suspend")...)
	require.Equal(t, types.Trigger{Interval: &types.IntervalTrigger{Every: 20, First: 500}}, msg.Spec.Trigger)
	require.Equal(t, &types.Repeat{Remaining: 3, OnFailure: types.OnFailureStop}, msg.Spec.Repeat)
	require.Equal(t, &types.Retry{Max: 4, After: 7}, msg.Spec.Retry)
	require.Equal(t, types.OnUnfundedSuspend, msg.Spec.OnUnfunded)
	require.NotContains(t, notes, "--every", "blocks are blocks")

	for flag, text := range map[string]string{"--in": "30", "--after": "75s", "--at": "140"} {
		msg, _ = r.scheduleTx(append(line, "--every", "20", flag, text, "--on-failure", "roll", "--on-unfunded", "destroy")...)
		require.Equal(t, uint64(140), msg.Spec.Trigger.Interval.First, flag)
		require.Zero(t, msg.Spec.Trigger.Height)
	}
}

// TestRetryAfter_IsInTheClockOfTheTrigger: a time where time makes it due, else blocks.
func TestRetryAfter_IsInTheClockOfTheTrigger(t *testing.T) {
	r := newRig(t)
	line := []string{"--msgs", r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]"), "--generate-only", "--retries", "2", "--retry-after"}
	for _, by := range []struct {
		when        []string
		after, says string
		want        uint64
	}{
		{[]string{"--in", "30"}, "10", "10 blocks", 10},
		{[]string{"--every", "20"}, "1", "1 block", 1},
		{[]string{"--after-blocks", "20"}, "7", "7 blocks", 7},
		{[]string{"--after", "1h"}, "10m", "10m0s", 600},
		{[]string{"--every", "1h"}, "90s", "1m30s", 90},
		{[]string{"--every", "1h"}, "1500ms", "2s", 2},
	} {
		msg, notes := r.scheduleTx(append(append(line, by.after), by.when...)...)
		require.Equal(t, &types.Retry{Max: 2, After: by.want}, msg.Spec.Retry)
		require.Contains(t, notes, "; if it fails, again after "+by.says+", up to 2 times\n")
	}
	for _, refused := range []struct {
		when        []string
		after, want string
	}{
		{[]string{"--in", "30"}, "1m", `--retry-after: "1m" is a time, and the timer counts blocks: want a number of blocks such as 10`},
		{[]string{"--every", "20"}, "soon", `--retry-after: "soon" is no number of blocks`},
		{[]string{"--every", "1h"}, "5", `--retry-after: "5" has no unit, and the timer is due by time: want a time such as 10m`},
		{[]string{"--after", "1h"}, "soon", "--retry-after: "},
	} {
		require.ErrorContains(t, r.Refused(append(append([]string{"schedule"}, append(line, refused.after)...), refused.when...)...), refused.want)
	}
}

func TestScheduleRepeatsOffline(t *testing.T) {
	r := newRig(t)
	r.Node.Down = true
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	msg, notes := r.scheduleTx(append([]string{"--msgs", path, "--every", "20", "--retries", "1", "--retry-after", "3"}, offline...)...)
	require.Equal(t, types.Trigger{Interval: &types.IntervalTrigger{Every: 20}}, msg.Spec.Trigger)
	require.Equal(t, noPriceKnown, notes)
	msg, _ = r.scheduleTx(append([]string{"--msgs", path, "--every", "1h"}, offline...)...)
	require.Equal(t, types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3600}}}, msg.Spec.Trigger)
	_, _, err := r.Run(append([]string{"tx", "timers", "schedule", "--from", r.Alice, "--msgs", path, "--every", "20", "--in", "5"}, offline...)...)
	require.ErrorContains(t, err, "--in 5: distances from now need a node")
}

func TestScheduleRefusesLivesThatCouldNotBe(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	for name, tc := range map[string]struct {
		line []string
		want string
	}{
		"first alone":      {[]string{"--at", "50", "--first", "60"}, `--first "60" is stated without --every`},
		"count alone":      {[]string{"--at", "50", "--count", "6"}, `--count "6" is stated without --every`},
		"on-failure alone": {[]string{"--at", "50", "--on-failure", "stop"}, `--on-failure "stop" is stated without --every`},
		"two firsts":       {[]string{"--every", "5", "--first", "60", "--at", "50"}, `--at "50" and --first "60" both state when the timer is due`},
		"every 0":          {[]string{"--every", "0"}, `--every: "0" is no number of blocks`},
		"every soon":       {[]string{"--every", "soon"}, `--every: "soon" is no recurring time`},
		"every too far":    {[]string{"--every", "2592001"}, "every is 2592001, want at most 2592000"},
		"first too soon":   {[]string{"--every", "5", "--first", "11"}, "due height 11 is too soon"},
		"first a time":     {[]string{"--every", "5", "--first", "10m"}, `--first: "10m" is no date, no time of day and no height`},
		"never":            {[]string{"--every", "50", "--expires-at", "40"}, "and is due at height 61 "},
		"count 0":          {[]string{"--every", "5", "--count", "0"}, `--count: "0" is no number of fires`},
		"on-failure":       {[]string{"--every", "5", "--on-failure", "retry"}, `--on-failure "retry" is unknown: want roll, stop or suspend`},
		"nothing as such":  {[]string{"--every", "5", "--on-failure", "unspecified"}, "want roll, stop or suspend"},
		"half a retry":     {[]string{"--every", "5", "--retries", "3"}, "--retries and --retry-after go together"},
		"other half":       {[]string{"--every", "5", "--retry-after", "3"}, "--retries and --retry-after go together"},
		"retries 0":        {[]string{"--every", "5", "--retries", "0", "--retry-after", "3"}, `--retries: "0" is no number of retries`},
		"too many retries": {[]string{"--every", "5", "--retries", "11", "--retry-after", "3"}, "--retries 11 is out of bounds: want 1 to 10"},
		"absurd retries":   {[]string{"--every", "5", "--retries", "4294967296", "--retry-after", "3"}, `"4294967296" is too many`},
		"retry never":      {[]string{"--every", "5", "--retries", "1", "--retry-after", "2592001"}, "after is 2592001 blocks, want at most"},
		"on-unfunded":      {[]string{"--every", "5", "--on-unfunded", "wait"}, `--on-unfunded "wait" is unknown: want destroy, suspend or skip`},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := r.Run(append([]string{"tx", "timers", "schedule", "--from", r.Alice, "--generate-only", "--msgs", path}, tc.line...)...)
			require.ErrorContains(t, err, tc.want)
			require.Empty(t, out)
		})
	}
}

func TestPauseAndResume(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	msg, notes := r.Printed("pause", id[:6])
	require.Equal(t, &types.MsgPauseTimer{Sender: r.Alice, Id: id}, msg)
	require.Contains(t, notes, "timer "+r.Alice+"/"+id)
	require.NoError(t, r.Chain.BeginBlock())
	_, _, err := r.Chain.Tx(msg)
	require.NoError(t, err)
	_, err = r.Chain.EndBlock()
	require.NoError(t, err)

	out, _, err := r.Run("query", "timers", "on-hold")
	require.NoError(t, err)
	require.Contains(t, out, "on hold: paused")
	require.Contains(t, out, id[:8])
	require.ErrorContains(t, r.Refused("resume", "bob/"+id[:6]), "belongs to "+r.Bob)
	msg, _ = r.Printed("resume", "alice/"+id[:6])
	require.Equal(t, &types.MsgResumeTimer{Sender: r.Alice, Id: id}, msg)
}

// What a timer missed while it was on hold is caught up, and paid: that is said before it is signed, and how to leave it.
func TestResume_SaysThatItCatchesUp(t *testing.T) {
	r := newRig(t)
	id := r.place(5, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 20}}
	})
	due := r.Chain.Height() + 20
	paused, _ := r.Printed("pause", id[:8])
	require.NoError(t, r.Chain.BeginBlock())
	_, _, err := r.Chain.Tx(paused)
	require.NoError(t, err)
	_, err = r.Chain.EndBlock()
	require.NoError(t, err)
	const catches = "it catches up by a fire in the next block, and is charged for that; --next waits for its next repetition instead"
	_, notes := r.Printed("resume", id[:8])
	require.NotContains(t, notes, "catches up")
	r.Blocks(30)
	_, notes = r.Printed("resume", id[:8])
	require.Contains(t, notes, fmt.Sprintf("timer %s was due at height %d, while it was on hold: %s", id, due, catches))
	_, notes = r.Printed("resume", id[:8], "--next")
	require.NotContains(t, notes, "catches up")
}

// TestUpdate_ToAnotherClockRestatesRetries: as many blocks are not as many seconds.
func TestUpdate_ToAnotherClockRestatesRetries(t *testing.T) {
	r := newRig(t)
	id := r.place(7, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger, m.Spec.Retry = types.Trigger{After: 500}, &types.Retry{Max: 1, After: 60}
	})
	require.ErrorContains(t, r.Refused("update", id[:8], "--after", "1h"), "its retries are 60 blocks apart, and would be as many seconds")
	require.ErrorContains(t, r.Refused("update", id[:8], "--after", "1h", "--on-unfunded", "suspend"), "state --retries and --retry-after anew")
	require.ErrorContains(t, r.Refused("update", id[:8], "--after", "1h", "--retries", "1", "--retry-after", "5"), `"5" has no unit`)
	msg, _ := r.Printed("update", id[:8], "--after", "1h", "--retries", "1", "--retry-after", "2m")
	require.Equal(t, &types.Retry{Max: 1, After: 120}, msg.(*types.MsgUpdateTimer).Spec.Retry)
	require.Equal(t, []string{"trigger", "retry"}, msg.(*types.MsgUpdateTimer).Fields)
	msg, _ = r.Printed("update", id[:8], "--in", "900")
	require.Equal(t, []string{"trigger"}, msg.(*types.MsgUpdateTimer).Fields)
}

// Before it is signed, skip says what passes and what is next.
func TestSkip_SaysWhatPasses(t *testing.T) {
	r := newRig(t)
	id := r.place(5, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 20}}
	})
	due := r.Chain.Height() + 20
	msg, notes := r.Printed("skip", id[:8])
	require.Equal(t, due, msg.(*types.MsgSkipTimer).From)
	require.Regexp(t, fmt.Sprintf(`timer %s: 1 occurrence passes: height %d .*; next is height %d `, id, due, due+20), notes)
	_, notes = r.Printed("skip", id[:8], "--count", "2")
	require.Regexp(t, fmt.Sprintf(`2 occurrences pass: height %d .* to height %d .*; next is height %d `, due, due+20, due+40), notes)

	id = r.place(6, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600, Anchor: 1_700_003_600}}}
	})
	msg, _ = r.Printed("skip", id[:8])
	require.EqualValues(t, 1_700_003_600, msg.(*types.MsgSkipTimer).From)
}
