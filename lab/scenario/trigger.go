package scenario

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/cosmos/gogoproto/jsonpb"
	"github.com/cosmos/gogoproto/proto"

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

// triggerNames are the keys that state a trigger.
var triggerNames = []string{"height", "after", "every", "watch", "time", "calendar"}

// readTrigger reads what makes the timer due, and how it repeats. An update states either, both or neither. Whether the module
// accepts them is decided when the op runs.
func readTrigger(o *object, op *Op) {
	updates, stated := op.Kind == OpUpdate, []string{}
	for _, name := range triggerNames {
		if o.get(name).present() {
			stated = append(stated, name)
		}
	}
	if len(stated) > 1 || len(stated) == 0 && !updates {
		o.r.fail(o.path, "want one of height, after, every, time, calendar and watch")
		return
	}
	keys, repeat := []string{"renew"}, types.Repeat{}
	for _, name := range stated {
		op.Fields = append(op.Fields, "trigger")
		switch v := o.get(name); name {
		case "every":
			op.Trigger.Interval, keys = readInterval(o, v), repeatKeys
		case "calendar":
			op.Trigger.Calendar, keys = readCalendar(op, v, &repeat), repeatKeys
		case "watch":
			op.Trigger.Watch, keys = readWatch(o, v), []string{"remaining", "renew"}
			repeat.Remaining = 1 // It fires once unless `remaining` says otherwise.
		case "time":
			seconds := time.Unix(int64(v.uint64(uint64(types.MaxTime))), 0).UTC()
			op.Trigger.Time = &seconds
		case "height":
			op.Trigger.Height = v.uint64(^uint64(0))
		case "after":
			op.Trigger.After = v.uint64(^uint64(0))
		}
	}
	if updates { // What it states of a timer that repeats needs no trigger beside it.
		keys = repeatKeys
	}
	for _, key := range keys {
		if v := o.get(key); v.present() {
			readRepeat(key, v, &repeat)
			op.statesRepeat(key)
		}
	}
	if updates && !op.States("repeat.remaining") {
		repeat.Remaining = 0
	}
	if repeat != (types.Repeat{}) {
		op.Repeat = &repeat
	}
}

// repeatKeys are those that say how a timer repeats: the fields of types.Repeat.
var repeatKeys = []string{"remaining", "missed", "window", "jitter", "on_failure", "max_failures", "renew"}

// statesRepeat notes that an op states a field of how a timer repeats.
func (op *Op) statesRepeat(key string) {
	if field := "repeat." + key; !op.States(field) {
		op.Fields = append(op.Fields, field)
	}
}

func readRepeat(key string, v value, repeat *types.Repeat) {
	switch key {
	case "remaining":
		repeat.Remaining = v.uint64(^uint64(0))
	case "missed":
		repeat.Missed = choice(v, map[string]types.Missed{"latest": types.MissedLatest, "each": types.MissedEach}, "latest or each")
	case "window":
		repeat.Window = v.uint64(^uint64(0))
	case "jitter":
		repeat.Jitter = v.uint64(^uint64(0))
	case "on_failure":
		repeat.OnFailure = choice(v, map[string]types.OnFailure{
			"roll": types.OnFailureRoll, "stop": types.OnFailureStop, "suspend": types.OnFailureSuspend,
		}, "roll, stop or suspend")
	case "max_failures":
		repeat.MaxFailures = uint32(v.uint64(uint64(^uint32(0))))
	case "renew":
		repeat.Renew = v.boolean()
	}
}

func readInterval(o *object, every value) *types.IntervalTrigger {
	interval := &types.IntervalTrigger{Every: every.uint64(^uint64(0)), First: o.get("first").uint64(^uint64(0))}
	if v := o.get("from"); v.present() {
		interval.From = choice(v, map[string]types.IntervalFrom{"fire": types.FromFire, "schedule": types.FromSchedule}, "fire or schedule")
	}
	return interval
}

// readCalendar reads a calendar: the JSON of its message. Files of before repetitions had a message of their own state them in that
// of the calendar.
func readCalendar(op *Op, v value, repeat *types.Repeat) *types.CalendarTrigger {
	calendar, members, within := &types.CalendarTrigger{}, map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if !v.want("an object", "a calendar") {
		return calendar
	}
	err := json.Unmarshal(v.raw, &members)
	if occurrences := members["occurrences"]; err == nil && occurrences != nil {
		err = json.Unmarshal(occurrences, &within)
		delete(members, "occurrences")
	}
	for _, key := range []string{"remaining", "on_failure", "max_failures"} {
		if stated, given := members[key]; given {
			within[key] = stated
			delete(members, key)
		}
	}
	for _, part := range []struct {
		members map[string]json.RawMessage
		message proto.Message
	}{{members, calendar}, {within, repeat}} {
		raw, invalid := json.Marshal(part.members)
		if err = cmp.Or(err, invalid); err == nil {
			err = jsonpb.Unmarshal(bytes.NewReader(raw), part.message)
		}
	}
	if err != nil {
		v.r.fail(v.path, "no calendar: %.200v", err)
	}
	for _, key := range repeatKeys {
		if _, given := within[key]; given {
			op.statesRepeat(key)
		}
	}
	return calendar
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

func readWatch(o *object, v value) *types.WatchTrigger {
	trigger := &types.WatchTrigger{Cooldown: o.get("cooldown").uint64(^uint64(0)), Level: o.get("level").boolean()}
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
