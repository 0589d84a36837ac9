package cli_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// sending is a line that schedules a transfer, and prints it.
func sending(more ...string) []string {
	return append([]string{"send", "bob", "5stake", "--gas-limit", "100000", "--generate-only"}, more...)
}

// What people say of recurring times is what the chain is told, in the zone that they name. The chain of the rig is at
// 2023-11-14 22:13:30 UTC.
// Rule: 9.1-by-clock, 9.1-preview
func TestSchedule_CompilesRulesOfLocalTime(t *testing.T) {
	r := newRig(t)
	msg, notes := r.scheduleTx(sending("--every", "month@1 09:00", "--zone", "Europe/Berlin", "--for", "1y")...)
	require.Equal(t, types.Trigger{Calendar: &types.CalendarTrigger{
		Cron:          &types.CronRule{Minutes: 1, Hours: 1 << 9, Days: 1 << 1, Months: uint32(schedule.AllMonths), Weekdays: uint32(schedule.AllWeekdays)},
		OffsetMinutes: 60,
		// The changes of 31 March and 27 October 2024, the last ones of its life.
		Transitions: []types.OffsetTransition{{From: 1711846800, OffsetMinutes: 120}, {From: 1729990800, OffsetMinutes: 60}},
	}}, msg.Spec.Trigger)
	require.Equal(t, time.Date(2024, 11, 14, 22, 13, 30, 0, time.UTC).Unix(), msg.Spec.ExpiresTime)
	require.Zero(t, msg.Spec.ExpiresAt)
	require.Contains(t, notes, ", on the first of each month at 09:00 Europe/Berlin, until it expires\nnext at\n"+
		"  2023-12-01 08:00:00 +00:00 (Fri 09:00 Europe/Berlin)\n  2024-01-01 08:00:00 +00:00 (Mon 09:00 Europe/Berlin)\n"+
		"  2024-02-01 08:00:00 +00:00 (Thu 09:00 Europe/Berlin)\n  2024-03-01 08:00:00 +00:00 (Fri 09:00 Europe/Berlin)\n"+
		"  2024-04-01 07:00:00 +00:00 (Mon 09:00 Europe/Berlin)\n"+
		"fires 12 times, the last at 2024-11-01 08:00:00 +00:00: its life ends before the next\n"+
		"ends at 2024-11-14 22:13:30 +00:00 at the latest (as stated)\n"+
		"knows the changes of the clocks of Europe/Berlin until 2025-03-30 01:00:00 +00:00: instead of extending it beyond that, schedule it again\n")

	// The zone is that of the machine, and then the clocks are the same.
	r.TZ = "Europe/Berlin"
	same, notes := r.scheduleTx(sending("--every", "month@1 09:00", "--for", "1y")...)
	require.Equal(t, msg.Spec.Trigger, same.Spec.Trigger)
	require.Contains(t, notes, "next at\n  2023-12-01 09:00:00 +01:00\n  2024-01-01 09:00:00 +01:00\n")
	// It does not end by itself: its clocks are known until the end of the longest life, 396 days.
	msg, notes = r.scheduleTx(sending("--every", "weekday@09:00", "--count", "3")...)
	require.EqualValues(t, 3, msg.Spec.Repeat.Remaining)
	require.Zero(t, msg.Spec.ExpiresTime)
	require.Len(t, msg.Spec.Trigger.Calendar.Transitions, 2)
	require.Contains(t, notes, "fires 3 times, the last at 2023-11-17 09:00:00 +01:00: then it has made all\nends at 2024-12-14 23:13:30 +01:00 at the latest (the longest life of a timer)\n")
	// An offset that the rule states is its zone.
	msg, notes = r.scheduleTx(sending("--every", "mon,thu@09:00-05:00", "--count", "1")...)
	require.EqualValues(t, -300, msg.Spec.Trigger.Calendar.OffsetMinutes)
	require.Empty(t, msg.Spec.Trigger.Calendar.Transitions)
	require.Contains(t, notes, "on Mondays and Thursdays at 09:00 -05:00, once\nnext at\n  2023-11-16 15:00:00 +01:00 (Thu 09:00 -05:00)\n")
	require.NotContains(t, notes, "knows the changes")
	for _, sunday := range []string{"0", "7"} {
		msg, _ = r.scheduleTx(sending("--every", "0 9 * * "+sunday)...)
		require.EqualValues(t, 1, msg.Spec.Trigger.Calendar.Cron.Weekdays)
	}
}

// What counts time begins when it is said to, and else when it is scheduled.
func TestSchedule_CountsTimeFromItsFirst(t *testing.T) {
	r := newRig(t)
	for flag, text := range map[string]string{"--at": "22:20", "--first": "2023-11-14 22:20", "--after": "6m30s"} {
		msg, notes := r.scheduleTx(sending("--every", "1h30m", flag, text)...)
		require.Equal(t, &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 5400, Anchor: 1_700_000_400}}, msg.Spec.Trigger.Calendar, flag)
		require.Contains(t, notes, ", every 90 minutes, first at 2023-11-14 22:20:00 +00:00, until it expires\nnext at\n"+
			"  2023-11-14 22:20:00 +00:00\n  2023-11-14 23:50:00 +00:00\n", flag)
	}
	msg, notes := r.scheduleTx(sending("--every", "1d", "--on-failure", "stop", "--count", "2")...)
	require.Equal(t, &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 86_400}}, msg.Spec.Trigger.Calendar)
	require.Equal(t, &types.Repeat{Remaining: 2, OnFailure: types.OnFailureStop}, msg.Spec.Repeat)
	require.Contains(t, notes, ", every 24 hours, 2 times\nnext at\n  2023-11-15 22:13:30 +00:00\n  2023-11-16 22:13:30 +00:00\nfires 2 times")
}

// Which of several fires may be made is said of those that are known in advance, in their unit.
func TestSchedule_ReadsTermsOfOccurrences(t *testing.T) {
	r := newRig(t)
	msg, notes := r.scheduleTx(sending("--every", "day@09:00", "--missed", "each", "--window", "90m", "--jitter", "1500ms")...)
	require.Equal(t, &types.Repeat{Missed: types.MissedEach, Window: 5400, Jitter: 2}, msg.Spec.Repeat)
	require.Contains(t, notes, ", each up to 2s later, left out if 1h30m0s late, all that were missed, oldest first, until it expires\n")
	msg, notes = r.scheduleTx(sending("--every", "20", "--every-from", "schedule", "--missed", "latest", "--window", "5", "--jitter", "3")...)
	require.Equal(t, &types.IntervalTrigger{Every: 20, From: types.FromSchedule}, msg.Spec.Trigger.Interval)
	require.Equal(t, &types.Repeat{Missed: types.MissedLatest, Window: 5, Jitter: 3}, msg.Spec.Repeat)
	require.Contains(t, notes, ", every 20 blocks, counted from its schedule, each up to 3 blocks later, left out if 5 blocks late, until it expires\n")
	msg, _ = r.scheduleTx(sending("--every", "20", "--every-from", "fire")...)
	require.Equal(t, &types.IntervalTrigger{Every: 20, From: types.FromFire}, msg.Spec.Trigger.Interval)

	for want, line := range map[string][]string{
		`--every "30s" is too short: want 1m at least, or a number of blocks`:                             {"--every", "30s"},
		`"90.5s" is no distance that a timer can have: want whole seconds`:                                {"--every", "90.5s"},
		`--every-from is for a number of blocks: --every 1h always counts from its schedule`:              {"--every", "1h", "--every-from", "fire"},
		`--every-from "start" is unknown: want fire or schedule`:                                          {"--every", "20", "--every-from", "start"},
		`--missed "each": an interval that counts from its fires has none that could be late`:             {"--every", "20", "--missed", "each"},
		`--window "5": an interval that counts from its fires`:                                            {"--every", "20", "--window", "5", "--every-from", "fire"},
		`--missed "all" is unknown: want latest or each`:                                                  {"--every", "1h", "--missed", "all"},
		`--jitter "1m" is stated without --every: it is for a timer that repeats`:                         {"--at", "500", "--jitter", "1m"},
		`--window: "5" has no unit: --every counts time here, want a duration such as 10m`:                {"--every", "1h", "--window", "5"},
		`--jitter 25h is too long: want at most 24h`:                                                      {"--every", "48h", "--jitter", "25h"},
		`--jitter 86401 is too long: want at most 86400 blocks`:                                           {"--every", "100000", "--every-from", "schedule", "--jitter", "86401"},
		`--at 500 counts blocks, and --every 1h time: want a date and a time, or --after`:                 {"--every", "1h", "--at", "500"},
		`--for: "5" has no unit: want a time such as 30d, 6mo or 1y; --expires-in takes a number of`:      {"--every", "1h", "--for", "5"},
		`--expires-in "2d" and --for "1y" both state until when the timer may fire`:                       {"--every", "1h", "--for", "1y", "--expires-in", "2d"},
		`--zone: "Europe/Berln" is no time zone: want a name such as Europe/Berlin, or UTC; did you mean`: {"--every", "day@09:00", "--zone", "Europe/Berln"},
		`--zone "Asia/Tokyo" is stated, and no date and no time of day`:                                   {"--every", "1h", "--zone", "Asia/Tokyo"},
		`ends at 2023-11-14 23:13:30 +00:00, before it is due at 2023-11-15 22:13:30 +00:00: it would ne`: {"--after", "1d", "--for", "1h"},
		`it would never fire: it ends at 2023-12-14 22:13:30 +00:00, as stated`:                           {"--every", "0 9 29 2 *", "--for", "30d"},
		`13 fit of 20 fires: it ends at 2024-12-14 22:13:30 +00:00, the longest that a timer lives; exte`: {"--every", "month@1 09:00", "--count", "20"},
		`11 fit of 12 fires: it ends at 2024-10-14 22:13:30 +00:00, as stated`:                            {"--every", "month@1 09:00", "--count", "12", "--for", "11mo"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"schedule", "send", "bob", "5stake", "--gas-limit", "100000"}, line...)...), want)
	}
	_, notes = r.scheduleTx(sending("--every", "month@1 09:00", "--count", "20", "--force")...)
	require.Contains(t, notes, "warning: 13 fit of 20 fires")
}

// What comes later than a timer lives is refused, whatever makes it due.
func TestSchedule_RefusesTimesBeyondALife(t *testing.T) {
	r := newRig(t)
	r.Configure(func(c *types.TimerConfig) { c.MaxTtlSeconds = 30 * 86_400 })
	for want, line := range map[string][]string{
		"--every feb@1 09:00: 2024-02-01 09:00:00 +00:00 is too far: a timer lives 30d0h at most, from here until 2023-12-14": {"--every", "feb@1 09:00"},
		"--after 2mo: 2024-01-14 22:13:32 +00:00 is too far":                                                                  {"--after", "2mo"},
		"--first 2024-01-01 09:00: 2024-01-01 09:00:00 +00:00 is too far":                                                     {"--every", "1h", "--first", "2024-01-01 09:00"},
		"--expires-at 2024-01-01 09:00: 2024-01-01 09:00:00 +00:00 is too far":                                                {"--at", "2023-11-20 09:00", "--expires-at", "2024-01-01 09:00"},
		"--expires-at 2024-01-01 09:00: height 4099600 (2024-01-01 09:00:00 +00:00) is too far":                               {"--at", "500", "--expires-at", "2024-01-01 09:00"},
		"--expires-at 5000 is a height, and the timer is due by time, in which it ends too: state a date, or --for 1y":        {"--every", "1d", "--expires-at", "5000"},
		"--every 31d is too long: a timer lives at most 30d0h":                                                                {"--every", "31d"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"schedule", "send", "bob", "5stake", "--gas-limit", "100000"}, line...)...), want)
	}
}

// A date may be of another zone than the machine's, and needs no node.
func TestSchedule_ReadsDatesInTheZoneThatIsNamed(t *testing.T) {
	r := newRig(t)
	msg, _ := r.scheduleTx(sending("--at", "2024-01-31 09:00", "--zone", "Asia/Tokyo", "--expires-at", "2024-02-01 09:00")...)
	require.Equal(t, "2024-01-31T00:00:00Z", msg.Spec.Trigger.Time.Format(time.RFC3339))
	require.Equal(t, time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC).Unix(), msg.Spec.ExpiresTime)
	r.Node.Down = true
	same, notes := r.scheduleTx(append([]string{
		"send", "bob", "5stake", "--gas-limit", "100000", "--at", "2024-01-31 09:00", "--zone", "Asia/Tokyo", "--expires-at", "2024-02-01 09:00",
	}, offline...)...)
	require.Equal(t, "8000", msg.Spec.MaxCharge)
	msg.Spec.MaxCharge = ""
	require.Equal(t, msg, same)
	require.Equal(t, noPriceKnown, notes)
}

// Where the chain takes no triggers by time, times become blocks, which is said, and rules of local time are refused.
// Rule: 9.1-times-off
func TestSchedule_WithoutTriggersByTime(t *testing.T) {
	r := newRig(t)
	r.Configure(func(c *types.TimerConfig) { c.TimeTriggers = false })
	height := r.Chain.Height()
	msg, notes := r.scheduleTx(sending("--after", "10m")...)
	require.Equal(t, types.Trigger{Height: height + 600}, msg.Spec.Trigger)
	require.Contains(t, notes, "--after 10m: this chain takes no triggers by time: it is converted to blocks, and moves if they become slower or faster\ndue at height ")
	msg, _ = r.scheduleTx(sending("--at", time.Unix(1_700_000_500, 0).UTC().Format(time.RFC3339))...)
	require.Equal(t, types.Trigger{Height: 500}, msg.Spec.Trigger)
	msg, notes = r.scheduleTx(sending("--every", "1h", "--after", "2h", "--for", "30d")...)
	require.Equal(t, types.Trigger{Interval: &types.IntervalTrigger{Every: 3600, First: height + 7200}}, msg.Spec.Trigger)
	require.Zero(t, msg.Spec.ExpiresTime)
	require.Equal(t, height+30*86_400, msg.Spec.ExpiresAt, "what counts heights ends at one")
	require.Contains(t, notes, "--for 30d: the timer counts heights, so it ends at one: height ")
	require.Contains(t, notes, "--every 1h: 3600 blocks, about 1h0m0s at 1s a block\n")
	require.ErrorContains(t, r.Refused("schedule", "send", "bob", "5stake", "--gas-limit", "100000", "--every", "day@09:00"),
		"--every day@09:00: this chain takes no triggers by time (time_triggers is off): want a number of blocks, with --first for the first")
}

// What one fire and a month cost, and until when it can be paid.
// Rule: 9.1-lasts
func TestSchedule_SaysHowLongTheFundsLast(t *testing.T) {
	r := newRig(t)
	_, notes := r.scheduleTx(sending("--every", "month@1 09:00")...)
	require.Contains(t, notes, "pre-charges at most 800stake at each fire")
	require.Contains(t, notes, "30 days cost at most 800stake for 1 fire at today's prices, and move 5stake\n"+
		"alice's balance lasts for all 13 fires at today's prices, until 2024-12-01 09:00:00 +00:00\n")
	_, notes = r.scheduleTx(sending("--every", "5m")...)
	require.Contains(t, notes, "30 days cost at most 6912000stake for 8,640 fires at today's prices, and move 43200stake\n"+
		"alice's balance lasts for more than 10,000 fires at today's prices, until after ")
	r.Sends(r.Alice, r.Bob, 9_996_500)
	_, notes = r.scheduleTx(sending("--every", "day@09:00")...)
	require.Contains(t, notes, "30 days cost at most 24000stake for 30 fires at today's prices, and move 150stake\n"+
		"alice's balance lasts for 4 fires at today's prices, until 2023-11-18 09:00:00 +00:00: the next, at 2023-11-19 09:00:00 +00:00, is not covered\n")
	_, notes = r.scheduleTx(sending("--every", "100", "--count", "3")...)
	require.Contains(t, notes, "30 days cost at most 2400stake for 3 fires at today's prices, and move 15stake\nalice's balance lasts for all 3 fires")
	_, notes = r.scheduleTx(sending("--every", "day@09:00", "--count", "1")...)
	require.Contains(t, notes, "alice's balance lasts for its one fire at today's prices\n")
	_, notes = r.scheduleTx(sending("--at", "500", "--retries", "2", "--retry-after", "5")...)
	require.NotContains(t, notes, "30 days")

	// An allowance ends it sooner: by its sum, or by its end.
	for want, allowance := range map[string]feegrant.BasicAllowance{
		"for 2 fires at today's prices, until 2023-11-16 09:00:00 +00:00: the next, at 2023-11-17 09:00:00": {
			SpendLimit: sdk.NewCoins(sdk.NewInt64Coin("stake", 2_000)),
		},
		"for 3 fires at today's prices, until 2023-11-17 09:00:00 +00:00: the next, at 2023-11-18 09:00:00": {Expiration: date(2023, 11, 17, 12)},
	} {
		r := newRig(t)
		r.allow(limited(t, &allowance))
		_, notes = r.scheduleTx(sending("--every", "day@09:00", "--fee-payer", "bob")...)
		require.Contains(t, notes, "bob's balance and the allowance last "+want)
	}
}

func date(year int, month time.Month, day, hour int) *time.Time {
	at := time.Date(year, month, day, hour, 0, 0, 0, time.UTC)
	return &at
}

// scheduleSent schedules a timer of alice's on the chain and returns its id.
func (r *rig) scheduleSent(line ...string) string {
	r.T.Helper()
	out, _, err := r.Run(append([]string{"tx", "timers", "schedule", "send", "bob", "5stake", "--gas-limit", "100000", "--from", "alice", "-y", "--wait", "-o", "text"}, line...)...)
	require.NoError(r.T, err)
	found := regexp.MustCompile(`/(\w{64}) is scheduled, due (.*): transaction`).FindStringSubmatch(out)
	require.NotNil(r.T, found, out)
	r.Node.Polls = 0
	return found[1]
}

// The end of a timer by time is a time, to which a time is added by the calendar.
// Rule: 9.1-extend
func TestExtend_MovesAnEndByTime(t *testing.T) {
	r := newRig(t)
	id := r.scheduleSent("--every", "month@1 09:00", "--zone", "Europe/Berlin", "--for", "6mo", "--count", "6")
	extend := func(line ...string) (*types.MsgExtendTimer, string) {
		msg, notes := r.Printed(append([]string{"extend", id[:8]}, line...)...)
		extend, ok := msg.(*types.MsgExtendTimer)
		require.True(t, ok)
		return extend, notes
	}
	end := time.Date(2024, 5, 14, 21, 13, 30, 0, time.UTC)
	msg, notes := extend("--by", "1mo")
	require.Equal(t, &types.MsgExtendTimer{Sender: r.Alice, Id: id, ExpiresTime: end.AddDate(0, 1, 0).Unix()}, msg)
	require.Contains(t, notes, "may fire until 2024-06-14 21:13:30 +00:00, not 2024-05-14 21:13:30 +00:00\n")
	require.Contains(t, notes, "it knows no change of its zone's clocks after 2024-03-31 01:00:00 +00:00: schedule it again to follow later ones\n")
	msg, _ = extend("--until", "2024-07-01 12:00")
	require.Equal(t, date(2024, 7, 1, 12).Unix(), msg.ExpiresTime)
	msg, notes = extend("--until", "2024-03-01 12:00", "--shorten")
	require.Equal(t, date(2024, 3, 1, 12).Unix(), msg.ExpiresTime)
	require.Contains(t, notes, "4 fires of the 6 that it is to make fit\n")
	_, notes = extend("--by", "2y")
	require.Contains(t, notes, "a timer lives at most 396d0h: the chain takes 2024-12-14 22:13:31 +00:00 for 2026-05-14 21:13:30 +00:00\n")
	require.ErrorContains(t, r.Refused("extend", id[:8], "--until", "3000"), "--until 3000 is a height, and timer "+id+" is due by time, in which it ends too: state a date")
	for want, line := range map[string][]string{
		"may fire until 2024-05-14 21:13:30 +00:00 already, which is later than 2024-03-01 12:00:00 +00:00: --shorten lets":  {"--until", "2024-03-01 12:00"},
		"2023-11-30 12:00:00 +00:00 is before 2023-12-01 08:00:00 +00:00, when timer " + id + " is due: it would never fire": {"--until", "2023-11-30 12:00", "--shorten"},
		"may fire until 2024-05-14 21:13:30 +00:00 already: nothing would change":                                            {"--until", "2024-05-14T21:13:30Z"},
		"--by 500: timer " + id + " has no last height, it may fire until 2024-05-14 21:13:30 +00:00: want a time such as":   {"--by", "500"},
		`--by: "long" is no time`: {"--by", "long"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"extend", id}, line...)...), want)
	}
	// The chain takes what is printed.
	_, _, err := r.Run("tx", "timers", "extend", id, "--by", "1mo", "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	out, _, err := r.Run("query", "timers", "list", "alice", "-o", "wide")
	require.NoError(t, err)
	require.Contains(t, out, "2024-06-14 21:13:30 +00:00")

	msgOffline, err := r.offline("extend", id, "--until", "2024-07-01 12:00")
	require.NoError(t, err)
	require.Equal(t, &types.MsgExtendTimer{Sender: r.Alice, Id: id, ExpiresTime: date(2024, 7, 1, 12).Unix()}, msgOffline)
	// One that ends at a height alone continues doing so.
	byHeight := r.Schedule(500, 5)
	other, _ := r.Printed("extend", byHeight, "--until", "2023-11-15 22:13:31", "--shorten")
	require.Equal(t, &types.MsgExtendTimer{Sender: r.Alice, Id: byHeight, ExpiresAt: 86_411}, other)
}

// One that waits for a time is pending, and shown with its time and its rule.
func TestTimersByTime_AreShownWithTheirTimes(t *testing.T) {
	r := newRig(t)
	late := r.Schedule(9_000, 5)
	id := r.scheduleSent("--every", "day@23:00", "--zone", "Europe/Berlin", "--count", "3", "--name", "rent")
	soon := r.scheduleSent("--after", "1h")
	out, _, err := r.Run("query", "timers", "list", "alice")
	require.NoError(t, err)
	require.Regexp(t, `(?s)`+soon[:8]+`  -     2023-11-14 23:13:\d\d \+00:00, in 59m\d\ds +- .*`+late[:8]+`.*`+
		id[:8]+`  rent  2023-11-15 22:00:00 \+00:00, in 23h46m\d\ds  day at 23:00 as in Europe/Berlin, 3 left  send 5stake to bob  default  pending`, out)
	require.NotContains(t, out, "on hold")
	out, _, err = r.Run("query", "timers", "list", "alice", "--status", "pending", "-o", "wide")
	require.NoError(t, err)
	require.Contains(t, out, "  2024-12-14 22:13:3", "the end of the longest life")
	out, _, err = r.Run("query", "timers", "timer", "alice/rent", "-o", "json")
	require.NoError(t, err)
	for _, want := range []string{`"rule":"every day at 23:00 as in Europe/Berlin"`, `"due_time":"1700085600"`, `"does":"send 5stake to bob"`} {
		require.Contains(t, out, want)
	}
	require.ErrorContains(t, r.Refused("resume", "rent"), "is not on hold: it is due at 2023-11-15 22:00:00 +00:00")
	_, notes := r.Printed("pause", "rent")
	require.Contains(t, notes, "rent: send 5stake to bob, due at 2023-11-15 22:00:00 +00:00\n")
	// What a change of it costs is told as at scheduling.
	_, notes = r.Printed("update", "rent", "--gas-limit", "120000")
	require.Contains(t, notes, "alice's balance lasts for all 3 fires at today's prices, until 2023-11-17 22:00:00 +00:00\n")
}
