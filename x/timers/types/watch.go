package types

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// MaxWatchKeyBytes bounds a watched prefix, and the keys that can be watched whole: they are parts of keys in state.
const MaxWatchKeyBytes = 255

// Compare orders watched prefixes as state does: by store, then by bytes.
func (w WatchKey) Compare(other WatchKey) int {
	return cmp.Or(strings.Compare(w.Store, other.Store), bytes.Compare(w.Prefix, other.Prefix))
}

// Before tells whether a place comes before another.
func (q QueueKey) Before(other QueueKey) bool {
	return cmp.Or(cmp.Compare(q.Due, other.Due), cmp.Compare(q.Seq, other.Seq)) < 0
}

// Same tells whether two are one key.
func (w WatchedKey) Same(other WatchedKey) bool {
	return w.Store == other.Store && bytes.Equal(w.Key, other.Key)
}

// Validate checks the form of a watched prefix. Whether its store can be watched is for the chain's wiring to say.
func (w WatchKey) Validate() error {
	switch {
	case w.Store == "" || len(w.Store) > MaxWatchKeyBytes || strings.Contains(w.Store, "\x00"):
		return ErrInvalidWatch.Wrapf("store %.80q is not the name of a store, want 1 to %d bytes", w.Store, MaxWatchKeyBytes)
	case len(w.Prefix) == 0 || len(w.Prefix) > MaxWatchKeyBytes:
		return ErrInvalidWatch.Wrapf("a prefix of %d bytes in store %.80q, want 1 to %d", len(w.Prefix), w.Store, MaxWatchKeyBytes)
	case w.When == nil:
		return nil
	}
	if _, err := condition.Parse(condition.Op(w.When.Op), w.When.Value); err != nil {
		return ErrInvalidWatch.Wrapf("condition: %v", err)
	}
	return nil
}

// Validate checks the form of a trigger's keys: at least one, at most so many, none twice.
func (w *WatchTrigger) Validate(maxKeys uint32) error {
	if len(w.Keys) == 0 || len(w.Keys) > int(maxKeys) {
		return ErrInvalidWatch.Wrapf("%d keys, want 1 to %d", len(w.Keys), maxKeys)
	}
	for i := range w.Keys {
		if err := w.Keys[i].Validate(); err != nil {
			return err
		}
		if slices.ContainsFunc(w.Keys[:i], func(other WatchKey) bool { return other.Compare(w.Keys[i]) == 0 }) {
			return ErrInvalidWatch.Wrapf("key %x of store %.80q is stated twice", w.Keys[i].Prefix, w.Keys[i].Store)
		}
	}
	return nil
}

// ValidateOnlyIf checks the form of the conditions that must hold when a timer fires.
func ValidateOnlyIf(conditions []WatchKey) error {
	if len(conditions) > MaxOnlyIf {
		return ErrInvalidOnlyIf.Wrapf("%d conditions, want at most %d", len(conditions), MaxOnlyIf)
	}
	for _, key := range conditions {
		if err := key.Validate(); err != nil {
			return err
		}
		if key.When == nil {
			return ErrInvalidOnlyIf.Wrapf("key %x of store %.80q is stated without a condition: want when", key.Prefix, key.Store)
		}
	}
	return nil
}

// WatchKeys are what the timer watches, if it does.
func (t *Timer) WatchKeys() []WatchKey {
	if t.Trigger.Watch == nil {
		return nil
	}
	return t.Trigger.Watch.Keys
}
