package histories

import (
	"time"

	"github.com/cosmos-timers/timers/x/timers/testutil/twin"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// SpecOf is the twin's spec as a message states it, but for its call; only_if are the conditions that it may have.
func SpecOf(s twin.Spec, onlyIf ...types.WatchKey) types.TimerSpec {
	spec := types.TimerSpec{
		Repeat: &types.Repeat{
			Remaining: s.Remaining, Window: s.Window, Jitter: s.Jitter, MaxFailures: s.MaxFailures, Renew: s.Renew,
			OnFailure: map[twin.OnFailure]types.OnFailure{twin.Roll: types.OnFailureRoll, twin.Stop: types.OnFailureStop, twin.Suspend: types.OnFailureSuspend}[s.OnFailure],
		},
		OnUnfunded: map[twin.OnUnfunded]types.OnUnfunded{
			twin.UnfundedDestroy: types.OnUnfundedDestroy, twin.UnfundedSuspend: types.OnUnfundedSuspend, twin.UnfundedSkip: types.OnUnfundedSkip,
		}[s.OnUnfunded],
	}
	if s.Missed == twin.Each {
		spec.Repeat.Missed = types.MissedEach
	}
	if s.Retry != nil {
		spec.Retry = &types.Retry{Max: s.Retry.Max, After: s.Retry.After, Backoff: s.Retry.Backoff}
	}
	if s.OnlyIf {
		spec.OnlyIf = onlyIf
	}
	if s.ByTime() {
		spec.ExpiresTime = int64(s.End)
	} else {
		spec.ExpiresAt = s.End
	}
	switch s.Kind {
	case twin.Height:
		spec.Trigger.Height = s.At
	case twin.AfterBlocks:
		spec.Trigger.After = s.At
	case twin.Time:
		at := time.Unix(int64(s.At), 0).UTC()
		spec.Trigger.Time = &at
	case twin.Every:
		spec.Trigger.Calendar = &types.CalendarTrigger{Every: &types.EveryRule{Seconds: s.Every, Anchor: int64(s.First)}}
	case twin.Listed:
		spec.Trigger.Calendar = &types.CalendarTrigger{Cron: cronOf(s.Listed)}
	default:
		spec.Trigger.Interval = &types.IntervalTrigger{Every: s.Every, First: s.First}
		if s.Kind == twin.IntervalSchedule {
			spec.Trigger.Interval.From = types.FromSchedule
		}
	}
	return spec.Canonical()
}

// cronOf is the rule of every hour that has these seconds.
func cronOf(seconds []uint64) *types.CronRule {
	rule := &types.CronRule{Hours: 1<<24 - 1, Days: 1<<32 - 2, Months: 1<<13 - 2, Weekdays: 1<<7 - 1}
	for _, at := range seconds {
		rule.Minutes |= 1 << (at / 60 % 60)
	}
	return rule
}

// FieldsOf are the fields of an update as a message names them.
func FieldsOf(s twin.Spec, fields []string) (named []string) {
	for _, field := range fields {
		switch field {
		case "remaining", "missed", "window", "jitter", "on_failure", "max_failures", "renew":
			field = "repeat." + field
		case "end":
			if field = "expires_at"; s.ByTime() {
				field = "expires_time"
			}
		}
		named = append(named, field)
	}
	return named
}

// SkipReasonOf is a reason in the twin's words.
func SkipReasonOf(reason types.SkipReason) string {
	return map[types.SkipReason]string{
		types.SkipLater: twin.ForLater, types.SkipWindow: twin.ForWindow, types.SkipRetry: twin.ForTheRetry, types.SkipPaused: twin.ForPause,
		types.SkipUnfunded: twin.ForFunds, types.SkipRequested: twin.ForRequest, types.SkipUpdated: twin.ForUpdate,
	}[reason]
}

// EndOf is why a timer that repeats left, in the twin's words.
func EndOf(why types.EndReason) twin.Reason {
	return map[types.EndReason]twin.Reason{
		types.EndCompleted: twin.Completed, types.EndOfLife: twin.EndOfLife, types.EndFailed: twin.Failed, types.EndZone: twin.ZoneEnded,
	}[why]
}

// HoldOf is why a timer is on hold, in the twin's words.
func HoldOf(reason types.HoldReason) twin.Hold {
	switch reason {
	case types.NotOnHold, types.Timed, types.Watching:
		return twin.None
	}
	return twin.Hold(reason.Word())
}

// StatusOfRecord is the module's.
func StatusOfRecord(t *types.Timer) Status {
	s := Status{
		Hold: HoldOf(t.HoldReason), Deliveries: t.Deliveries, FireSeq: t.FireSeq, Retries: t.Retries, Failures: t.Failures, Skip: t.Skips,
		End: t.ExpiresAt,
	}
	if t.Recurrence != nil {
		s.Lapses = t.Recurrence.Lapses
	}
	if t.Spec.Trigger.ByTime() {
		s.End = uint64(t.ExpiresTime)
	}
	return s
}
