package scenario

import "github.com/cosmos-timers/timers/x/timers/types"

// Scenario keys are watched where a replay keeps them: in the store KeyStore, under KeyPrefix and the key's name.
const (
	KeyStore  = "lab"
	KeyPrefix = 'k'
)

// WatchKey is the place in state of a scenario key.
func WatchKey(name string) types.WatchKey {
	return types.WatchKey{Store: KeyStore, Prefix: append([]byte{KeyPrefix}, name...)}
}

// readTrigger reads what makes the timer due. Whether the module accepts such a trigger is decided when the op runs.
func readTrigger(o *object) types.Trigger {
	height, after, every, watch := o.get("height"), o.get("after"), o.get("every"), o.get("watch")
	stated := 0
	for _, v := range []value{height, after, every, watch} {
		if v.present() {
			stated++
		}
	}
	if stated != 1 {
		o.r.fail(o.path, "want one of height, after, every and watch")
	}
	if every.present() {
		return types.Trigger{Interval: readInterval(o, every)}
	}
	if watch.present() {
		return types.Trigger{Watch: readWatch(o, watch)}
	}
	return types.Trigger{Height: height.uint64(^uint64(0)), After: after.uint64(^uint64(0))}
}

func readInterval(o *object, every value) *types.IntervalTrigger {
	interval := &types.IntervalTrigger{
		Every: every.uint64(^uint64(0)), First: o.get("first").uint64(^uint64(0)), Remaining: o.get("remaining").uint64(^uint64(0)),
	}
	if v := o.get("on_failure"); v.present() {
		switch text := v.text("roll or stop", maxNameBytes); text {
		case "roll":
			interval.OnFailure = types.OnFailureRoll
		case "stop":
			interval.OnFailure = types.OnFailureStop
		default:
			v.r.fail(v.path, "want roll or stop, not %.80q", text)
		}
	}
	return interval
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
