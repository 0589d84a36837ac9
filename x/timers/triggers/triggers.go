// Package triggers holds the kinds of triggers: what makes a timer due, and due again after a fire
// (x/timers/README.md, "1.4 Trigger").
//
// A kind is a type here that implements Kind and a place in NewKinds, in addition to its message in core.proto and its
// validation in types/recurrence.go. Watches have a component of their own, Watches.
package triggers

import (
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Kind is one kind of trigger. A trigger is of the first kind that Matches.
type Kind interface {
	// Name of the kind, that of its field in core.proto. Handlers are told it; it never changes.
	Name() string
	// Matches reports whether the trigger is of this kind.
	Matches(trigger *types.Trigger) bool
	// Prepare checks the trigger of a timer that is scheduled at height now, fills in its defaults and sets the timer's
	// due height. The host API checks that this is in the future.
	Prepare(config *types.TimerConfig, t *types.Timer, now uint64) error
	// Rolls reports whether the timer stays after a fire at a height, by its trigger alone. ttl is how many blocks it
	// has until it expires.
	Rolls(trigger *types.Trigger, ttl uint64) bool
	// Roll makes the timer due again after a fire at a height, one repetition on. The trigger must not be shared with
	// copies of the timer.
	Roll(t *types.Timer, height uint64)
}

// Kinds are those of a chain.
type Kinds []Kind

// NewKinds returns the kinds of triggers, of which watches are those of a chain with watchable stores.
func NewKinds(watches *Watches) Kinds {
	return Kinds{timeKind{}, watches, intervalKind{}, afterKind{}, heightKind{}}
}

// Of returns the kind of a trigger. An empty trigger is of the height kind, with height 0, which is refused.
func (k Kinds) Of(trigger *types.Trigger) Kind {
	for _, kind := range k {
		if kind.Matches(trigger) {
			return kind
		}
	}
	return heightKind{}
}

// RollsAt reports whether the timer stays after a fire at a height. It does not if it does not repeat, if this was its
// last repetition, or if it expires before the next.
func (k Kinds) RollsAt(t *types.Timer, height uint64) bool {
	return !t.ExpiredAt(height) && k.Of(&t.Trigger).Rolls(&t.Trigger, t.ExpiresAt-height)
}

// Roll makes the timer due again after a fire at a height.
func (k Kinds) Roll(t *types.Timer, height uint64) {
	t.Retries = 0
	t.FireSeq++
	k.Of(&t.Trigger).Roll(t, height)
}

// heightKind is due once, at a height.
type heightKind struct{}

// Name implements Kind.
func (heightKind) Name() string { return "height" }

// Matches implements Kind.
func (heightKind) Matches(trigger *types.Trigger) bool { return trigger.Height != 0 }

// Prepare implements Kind.
func (heightKind) Prepare(_ *types.TimerConfig, t *types.Timer, _ uint64) error {
	t.Due = t.Trigger.Height
	return nil
}

// Rolls implements Kind.
func (heightKind) Rolls(*types.Trigger, uint64) bool { return false }

// Roll implements Kind.
func (heightKind) Roll(*types.Timer, uint64) {}

// afterKind is due once, so many blocks after the one that schedules it. The trigger stays as stated; the due height says
// when that is.
type afterKind struct{ heightKind }

// Name implements Kind.
func (afterKind) Name() string { return "after" }

// Matches implements Kind.
func (afterKind) Matches(trigger *types.Trigger) bool { return trigger.After != 0 }

// Prepare implements Kind.
func (afterKind) Prepare(config *types.TimerConfig, t *types.Timer, now uint64) error {
	after := t.Trigger.After
	switch {
	case t.Trigger.Height != 0:
		return types.ErrUnsupportedTimerType.Wrapf("height %d is stated in addition to after: state one trigger", t.Trigger.Height)
	case after > config.MaxTtlBlocks:
		return types.ErrTTLTooLong.Wrapf("after is %d, want 1 to %d, the longest that a timer lives", after, config.MaxTtlBlocks)
	}
	t.Due = now + after
	return nil
}

// timeKind is the time trigger of the wire format, which is always refused: a client converts a time to a height.
type timeKind struct{ heightKind }

// Name implements Kind.
func (timeKind) Name() string { return "time" }

// Matches implements Kind.
func (timeKind) Matches(trigger *types.Trigger) bool { return trigger.Time != nil }

// Prepare implements Kind.
func (timeKind) Prepare(*types.TimerConfig, *types.Timer, uint64) error {
	return types.ErrUnsupportedTimerType.Wrap("time triggers do not exist: convert the time to a height")
}

// intervalKind is due every so many blocks after a fire, not after the nominal height: a late fire delays the next.
type intervalKind struct{}

// Name implements Kind.
func (intervalKind) Name() string { return "interval" }

// Matches implements Kind.
func (intervalKind) Matches(trigger *types.Trigger) bool { return trigger.Interval != nil }

// Prepare implements Kind.
func (intervalKind) Prepare(config *types.TimerConfig, t *types.Timer, now uint64) error {
	if t.Trigger.Height != 0 || t.Trigger.After != 0 {
		return types.ErrInvalidInterval.Wrap("a height or after is stated in addition to an interval: state one trigger")
	}
	if err := t.Trigger.Interval.Validate(config); err != nil {
		return err
	}
	interval := *t.Trigger.Interval
	if interval.First == 0 {
		interval.First = now + interval.Every
	}
	if interval.OnFailure == types.OnFailureUnspecified {
		interval.OnFailure = types.OnFailureRoll
	}
	t.Trigger.Interval, t.Due = &interval, interval.First
	return nil
}

// Rolls implements Kind.
func (intervalKind) Rolls(trigger *types.Trigger, ttl uint64) bool {
	return trigger.Interval.Remaining != 1 && trigger.Interval.Every <= ttl
}

// Roll implements Kind.
func (intervalKind) Roll(t *types.Timer, height uint64) {
	interval := *t.Trigger.Interval
	interval.Remaining = oneLess(interval.Remaining)
	t.Trigger.Interval, t.Due = &interval, height+interval.Every
}

// StopsOnFailure reports whether a failed repetition ends the timer.
func StopsOnFailure(t *types.Timer) bool {
	return t.Trigger.Interval != nil && t.Trigger.Interval.OnFailure == types.OnFailureStop
}

// oneLess counts repetitions down; 0 is "until it expires".
func oneLess(remaining uint64) uint64 {
	if remaining == 0 {
		return 0
	}
	return remaining - 1
}
