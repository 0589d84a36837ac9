package scenario

import (
	"bytes"
	"time"

	"github.com/cosmos/gogoproto/jsonpb"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Scenario keys are watched where a replay keeps them: in the store KeyStore, under KeyPrefix and the key's name.
const (
	KeyStore  = "lab"
	KeyPrefix = 'k'
)

// WatchKey is the place in state of a scenario key.
func WatchKey(name string) types.WatchKey {
	return types.WatchKey{Store: KeyStore, Prefix: append([]byte{KeyPrefix}, name...)}
}

// statesTrigger tells whether an op says when a timer is due.
func statesTrigger(o *object) bool {
	for _, name := range triggerNames {
		if o.get(name).present() {
			return true
		}
	}
	return false
}

// triggerNames are the members that state a trigger.
var triggerNames = []string{"height", "after", "every", "watch", "time", "calendar"}

// readTrigger reads what makes the timer due. Whether the module accepts such a trigger is decided when the op runs.
func readTrigger(o *object) types.Trigger {
	height, after, every, watch, at, calendar := o.get("height"), o.get("after"), o.get("every"), o.get("watch"), o.get("time"), o.get("calendar")
	stated := 0
	for _, v := range []value{height, after, every, watch, at, calendar} {
		if v.present() {
			stated++
		}
	}
	if stated != 1 {
		o.r.fail(o.path, "want one of height, after, every, time, calendar and watch")
	}
	switch {
	case every.present():
		return types.Trigger{Interval: readInterval(o, every)}
	case calendar.present():
		return types.Trigger{Calendar: readCalendar(o, calendar)}
	case watch.present():
		return types.Trigger{Watch: readWatch(o, watch)}
	case at.present():
		seconds := time.Unix(int64(at.uint64(uint64(types.MaxTime))), 0).UTC()
		return types.Trigger{Time: &seconds}
	default:
		return types.Trigger{Height: height.uint64(^uint64(0)), After: after.uint64(^uint64(0))}
	}
}

func readInterval(o *object, every value) *types.IntervalTrigger {
	interval := &types.IntervalTrigger{
		Every: every.uint64(^uint64(0)), First: o.get("first").uint64(^uint64(0)), Remaining: o.get("remaining").uint64(^uint64(0)),
		OnFailure: readOnFailure(o.get("on_failure")), Occurrences: readOccurrences(o), MaxFailures: readMaxFailures(o),
	}
	if v := o.get("from"); v.present() {
		interval.From = choice(v, map[string]types.IntervalFrom{"fire": types.FromFire, "schedule": types.FromSchedule}, "fire or schedule")
	}
	return interval
}

// readCalendar reads a calendar: the JSON of its message. What an interval states beside its distance may be stated beside it too.
func readCalendar(o *object, v value) *types.CalendarTrigger {
	calendar := &types.CalendarTrigger{}
	if !v.want("an object", "a calendar") {
		return calendar
	}
	if err := jsonpb.Unmarshal(bytes.NewReader(v.raw), calendar); err != nil {
		v.r.fail(v.path, "no calendar: %.200v", err)
		return calendar
	}
	if remaining := o.get("remaining"); remaining.present() {
		calendar.Remaining = remaining.uint64(^uint64(0))
	}
	if onFailure := o.get("on_failure"); onFailure.present() {
		calendar.OnFailure = readOnFailure(onFailure)
	}
	if failures := readMaxFailures(o); failures > 0 {
		calendar.MaxFailures = failures
	}
	if terms := readOccurrences(o); terms != nil {
		calendar.Occurrences = terms
	}
	return calendar
}

// readOccurrences reads which occurrences may fire; nil if nothing is stated.
func readOccurrences(o *object) *types.OccurrenceTerms {
	missed, window, jitter := o.get("missed"), o.get("window"), o.get("jitter")
	if !missed.present() && !window.present() && !jitter.present() {
		return nil
	}
	terms := &types.OccurrenceTerms{Window: window.uint64(^uint64(0)), Jitter: jitter.uint64(^uint64(0))}
	if missed.present() {
		terms.Missed = choice(missed, map[string]types.Missed{"latest": types.MissedLatest, "each": types.MissedEach}, "latest or each")
	}
	return terms
}

func readMaxFailures(o *object) uint32 {
	return uint32(o.get("max_failures").uint64(uint64(^uint32(0))))
}

func readOnFailure(v value) types.OnFailure {
	if !v.present() {
		return types.OnFailureUnspecified
	}
	return choice(v, map[string]types.OnFailure{
		"roll": types.OnFailureRoll, "stop": types.OnFailureStop, "suspend": types.OnFailureSuspend,
	}, "roll, stop or suspend")
}

// choice reads one of several words.
func choice[T any](v value, words map[string]T, wanted string) T {
	text := v.text(wanted, maxNameBytes)
	found, known := words[text]
	if !known {
		v.r.fail(v.path, "want %s, not %.80q", wanted, text)
	}
	return found
}

// readWatch reads a watch. It fires once unless `remaining` says otherwise.
func readWatch(o *object, v value) *types.WatchTrigger {
	trigger := &types.WatchTrigger{Remaining: 1}
	if remaining := o.get("remaining"); remaining.present() {
		trigger.Remaining = remaining.uint64(^uint64(0))
	}
	trigger.Cooldown = o.get("cooldown").uint64(^uint64(0))
	for _, item := range v.list(maxWatchKeys) {
		trigger.Keys = append(trigger.Keys, readWatchKey(item))
	}
	if len(trigger.Keys) == 0 {
		v.r.fail(v.path, "want at least one key")
	}
	return trigger
}

// readWatchKey reads a key, or a key with a condition.
func readWatchKey(v value) types.WatchKey {
	if v.kind() != "an object" {
		return WatchKey(v.text("a key", maxNameBytes))
	}
	o := v.object()
	key := WatchKey(o.need("key").text("a key", maxNameBytes))
	op := o.need("op")
	text := op.text("an op", maxNameBytes)
	found, known := conditionOps[text]
	if !known {
		op.r.fail(op.path, "want exists, absent, ==, <, <=, > or >=, not %.80q", text)
	}
	key.When = &types.WatchCondition{Op: found}
	if found != types.ConditionExists && found != types.ConditionAbsent {
		key.When.Value = o.need("value").scalar()
	}
	o.end()
	return key
}

// conditionOps are the ops of conditions by their text.
var conditionOps = map[string]types.ConditionOp{
	"exists": types.ConditionExists, "absent": types.ConditionAbsent, "==": types.ConditionEqual,
	"<": types.ConditionLess, "<=": types.ConditionLessOrEqual, ">": types.ConditionGreater, ">=": types.ConditionGreaterOrEqual,
}

// scalar reads a string or a number as text. What the text means is for the module to say.
func (v value) scalar() string {
	if v.kind() == "a string" {
		return v.text("a value", maxNameBytes)
	}
	return v.number("a number or a string")
}
