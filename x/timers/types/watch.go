package types

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// MaxWatchKeyBytes bounds a watched prefix, and the keys that can be watched whole: they are parts of keys in state.
const MaxWatchKeyBytes = 255

// Compare orders watched prefixes as state does: by store, then by bytes.
func (w WatchKey) Compare(other WatchKey) int {
	return cmp.Or(strings.Compare(w.Store, other.Store), bytes.Compare(w.Prefix, other.Prefix))
}

// Before tells whether a place comes before another.
func (q QueueKey) Before(other QueueKey) bool {
	return q.Due < other.Due || (q.Due == other.Due && q.Seq < other.Seq)
}

// Same tells whether two are one key.
func (w WatchedKey) Same(other WatchedKey) bool {
	return w.Store == other.Store && bytes.Equal(w.Key, other.Key)
}

// Validate checks the form of a watched prefix. Whether its store can be watched is for the chain's wiring to say.
func (w WatchKey) Validate() error {
	switch {
	case w.Store == "" || strings.Contains(w.Store, "\x00"):
		return ErrInvalidWatch.Wrapf("store %.80q is not the name of a store", w.Store)
	case len(w.Prefix) == 0 || len(w.Prefix) > MaxWatchKeyBytes:
		return ErrInvalidWatch.Wrapf("a prefix of %d bytes in store %s, want 1 to %d", len(w.Prefix), w.Store, MaxWatchKeyBytes)
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
			return ErrInvalidWatch.Wrapf("key %x of store %s is stated twice", w.Keys[i].Prefix, w.Keys[i].Store)
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

// validateWatches checks what is kept of watches beside their timers.
func (g *GenesisState) validateWatches() error {
	hits := make(map[uint64]struct{}, len(g.WatchHits))
	last := uint64(0)
	for i := range g.WatchHits {
		hit := &g.WatchHits[i]
		if hit.Seq <= last {
			return ErrInvalidGenesis.Wrapf("watch_hits %d: seq %d is not above %d", i, hit.Seq, last)
		}
		if len(hit.Hit.Matched) > int(maxMatchedKeys) {
			return ErrInvalidGenesis.Wrapf("watch_hits %d: %d keys, want at most %d", i, len(hit.Hit.Matched), maxMatchedKeys)
		}
		last, hits[hit.Seq] = hit.Seq, struct{}{}
	}
	for i := range g.Timers {
		t := &g.Timers[i]
		_, hit := hits[t.Seq]
		delete(hits, t.Seq)
		watches := t.Trigger.Watch != nil
		switch {
		case hit && (!watches || t.SetAside == Watching):
			return ErrInvalidGenesis.Wrapf("timer %d does not wait to be told what watch_hits has for its seq %d", i, t.Seq)
		case t.SetAside == Watching && (QueueKey{Due: t.ExpiresAt, Seq: t.Seq}).Before(g.WatchCursors.Expiry):
			return ErrInvalidGenesis.Wrapf("timer %d waits and expires before watch_cursors.expiry", i)
		case !hit && watches && t.SetAside == NotSetAside:
			return ErrInvalidGenesis.Wrapf("timer %d is to fire for a change, and watch_hits has nothing for its seq %d", i, t.Seq)
		}
	}
	if len(hits) > 0 {
		return ErrInvalidGenesis.Wrapf("watch_hits has %d seqs that no timer has", len(hits))
	}
	return g.validateWatchPending()
}

func (g *GenesisState) validateWatchPending() error {
	for i := range g.WatchPending {
		p := &g.WatchPending[i]
		if err := p.Key.Validate(); err != nil {
			return ErrInvalidGenesis.Wrapf("watch_pending %d: %v", i, err)
		}
		if i > 0 && g.WatchPending[i-1].Key.Compare(p.Key) >= 0 {
			return ErrInvalidGenesis.Wrapf("watch_pending %d: keys must ascend", i)
		}
		for _, round := range []*WatchRound{&p.Pending.Round, p.Pending.Next} {
			if round == nil {
				continue
			}
			if round.Height == 0 || len(round.Changes) > int(maxMatchedKeys) {
				return ErrInvalidGenesis.Wrapf("watch_pending %d: height %d must not be 0, and %d changes not above %d",
					i, round.Height, len(round.Changes), maxMatchedKeys)
			}
		}
	}
	if turn := g.WatchCursors.Turn; turn.Store != "" || len(turn.Prefix) != 0 {
		if err := turn.Validate(); err != nil {
			return ErrInvalidGenesis.Wrapf("watch_cursors.turn: %v", err)
		}
	}
	return nil
}
