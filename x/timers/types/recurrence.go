package types

import (
	"errors"
	"strings"
)

// What determines whether and when a timer fires again: interval, retry, on_unfunded and the last outcome
// (x/timers/README.md, "1.5 Lifecycle").

// Validate checks an interval that is scheduled under c.
func (i *IntervalTrigger) Validate(c *TimerConfig) error {
	if i.Every > c.MaxTtlBlocks {
		return ErrInvalidInterval.Wrapf("every is %d, want at most %d, the longest that a timer lives", i.Every, c.MaxTtlBlocks)
	}
	return i.validate()
}

func (i *IntervalTrigger) validate() error {
	if i.Every == 0 || i.Every > MaxBlocks {
		return ErrInvalidInterval.Wrapf("every is %d, want 1 to %d", i.Every, MaxBlocks)
	}
	if _, known := OnFailure_name[int32(i.OnFailure)]; !known {
		return ErrInvalidInterval.Wrapf("on_failure %d is unknown, want roll or stop", int32(i.OnFailure))
	}
	return nil
}

// Validate checks a retry that is scheduled under c; none is valid.
func (r *Retry) Validate(c *TimerConfig) error {
	switch {
	case r == nil:
		return nil
	case c.MaxRetries == 0:
		return ErrInvalidRetry.Wrap("this chain allows no retries (max_retries is 0)")
	case r.Max > c.MaxRetries:
		return ErrInvalidRetry.Wrapf("max is %d, want 1 to %d", r.Max, c.MaxRetries)
	case r.After > c.MaxTtlBlocks:
		return ErrInvalidRetry.Wrapf("after is %d, want at most %d, the longest that a timer lives", r.After, c.MaxTtlBlocks)
	}
	return r.validate()
}

func (r *Retry) validate() error {
	switch {
	case r == nil:
		return nil
	case r.Max == 0 || r.Max > maxRetries:
		return ErrInvalidRetry.Wrapf("max is %d, want 1 to %d; leave retry out for none", r.Max, maxRetries)
	case r.After == 0 || r.After > MaxBlocks:
		return ErrInvalidRetry.Wrapf("after is %d, want 1 to %d", r.After, MaxBlocks)
	}
	return nil
}

// Validate checks that the choice is one of those that there are.
func (o OnUnfunded) Validate() error {
	if _, known := OnUnfunded_name[int32(o)]; !known {
		return ErrInvalidOnUnfunded.Wrapf("%d is unknown, want destroy or suspend", int32(o))
	}
	return nil
}

// ValidateRecurrence checks what a record says of its fires to come.
func (t *Timer) ValidateRecurrence() error {
	if err := t.Trigger.validate(); err != nil {
		return err
	}
	if t.SetAside == Watching && t.Trigger.Watch == nil {
		return ErrInvalidGenesis.Wrap("it waits for a change and watches nothing")
	}
	if err := t.Retry.validate(); err != nil {
		return err
	}
	if err := t.OnUnfunded.Validate(); err != nil {
		return err
	}
	if t.Retries > 0 && (t.Retry == nil || t.Retries > t.Retry.Max) {
		return ErrInvalidRetry.Wrapf("%d retries are used, more than there are", t.Retries)
	}
	if o := t.LastOutcome; o != nil && (o.Paid.IsNil() || o.Paid.IsNegative()) {
		return errors.New("last_outcome: paid is missing or negative")
	}
	return nil
}

// validate checks a trigger as it lies in a record.
func (t *Trigger) validate() error {
	once := t.Height != 0 || t.After != 0
	switch {
	case t.Time != nil || (t.Watch == nil && t.Interval == nil && !once):
		return ErrUnsupportedTimerType.Wrap("want a height, after, an interval or a watch trigger")
	case t.Watch != nil && (once || t.Interval != nil):
		return ErrUnsupportedTimerType.Wrap("another trigger is stated beside a watch: state one")
	case t.Watch != nil:
		return t.Watch.Validate(MaxWatchKeys)
	case t.Interval != nil && once:
		return ErrInvalidInterval.Wrap("a height or after is stated beside an interval: state one trigger")
	case t.Interval != nil:
		return t.Interval.validate()
	case t.Height != 0 && t.After != 0, t.After > MaxBlocks:
		return ErrUnsupportedTimerType.Wrapf("height %d and after %d: want one of them, after at most %d", t.Height, t.After, MaxBlocks)
	}
	return nil
}

// Repetitions is how often a trigger makes its timer due from now on; 0 means until the timer expires.
func (t *Trigger) Repetitions() uint64 {
	switch {
	case t.Interval != nil:
		return t.Interval.Remaining
	case t.Watch != nil:
		return t.Watch.Remaining
	}
	return 1
}

// Recurs tells whether a fire may make the timer due again, retries left aside.
func (t *Timer) Recurs() bool { return t.Trigger.Interval != nil || t.Trigger.Watch != nil }

// InEveryBlock reports whether a fire makes the timer due in the next block.
func (t *Trigger) InEveryBlock() bool { return t.Interval != nil && t.Interval.Every == 1 }

// Repeats tells whether the timer may stay after a fire.
func (t *Timer) Repeats() bool { return t.Recurs() || t.Retry != nil }

// Word is the reason as people write it: quarantined, unrunnable, suspended, paused, unfunded.
func (r SetAsideReason) Word() string {
	return strings.ToLower(strings.TrimPrefix(r.String(), "SET_ASIDE_REASON_"))
}

// MoveBack moves the heights of the trigger so many blocks back. What is due at a height stays so.
func (t *Trigger) MoveBack(blocks uint64) {
	if t.Height > 0 {
		t.Height -= min(blocks, t.Height-1)
	}
	if t.Interval != nil {
		interval := *t.Interval
		interval.First -= min(blocks, interval.First)
		t.Interval = &interval
	}
}
