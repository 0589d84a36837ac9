package genesis

import (
	"bytes"
	"cmp"
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// validateHits checks the changes that triggered watches are to deliver, and returns the seqs of these watches.
func validateHits(records []types.SeqWatchHit) (map[uint64]struct{}, error) {
	hits := make(map[uint64]struct{}, len(records))
	last := uint64(0)
	for i := range records {
		hit := &records[i]
		if hit.Seq <= last {
			return nil, types.ErrInvalidGenesis.Wrapf("watch_hits %d: seq %d is not above %d", i, hit.Seq, last)
		}
		if len(hit.Hit.Matched) > int(market.MaxMatchedKeys) {
			return nil, types.ErrInvalidGenesis.Wrapf("watch_hits %d: %d keys, want at most %d", i, len(hit.Hit.Matched), market.MaxMatchedKeys)
		}
		last, hits[hit.Seq] = hit.Seq, struct{}{}
	}
	return hits, nil
}

// watch checks that a timer agrees with what the state has of watches.
func (c *Check) watch(i int, t *types.Timer) error {
	c.watched(t.WatchKeys())
	if t.Spec.Trigger.Watch != nil && t.Spec.Trigger.Watch.Cooldown > types.MaxBlocks {
		return types.ErrInvalidGenesis.Wrapf("timer %d: cooldown %d, want at most %d", i, t.Spec.Trigger.Watch.Cooldown, types.MaxBlocks)
	}
	_, hit := c.hits[t.Seq]
	delete(c.hits, t.Seq)
	watches := t.Spec.Trigger.Watch != nil
	mixed := t.Look && t.Conditions() < len(t.WatchKeys())
	switch {
	case hit && (!watches || t.HoldReason == types.Watching && !mixed), mixed && !hit:
		return types.ErrInvalidGenesis.Wrapf("timer %d does not wait for what watch_hits has for its seq %d", i, t.Seq)
	case !hit && watches && t.HoldReason == types.NotOnHold:
		return types.ErrInvalidGenesis.Wrapf("timer %d is to fire for a change, and watch_hits has nothing for its seq %d", i, t.Seq)
	}
	return nil
}

// tombstones notes the seqs of timers that have left, which no live one has, and the keys that they watch.
func (c *Check) tombstones() {
	for i := range c.head.WatchTombstones {
		tombstone := &c.head.WatchTombstones[i]
		c.seqs[tombstone.Seq] = struct{}{}
		c.watched(tombstone.Keys)
	}
}

// watched notes that a timer watches these keys.
func (c *Check) watched(keys []types.WatchKey) {
	for _, key := range keys {
		if key.When != nil {
			delete(c.values, nameOf(key))
		} else {
			delete(c.counts, nameOf(key))
		}
	}
}

// countsOf are the names of the keys in watch_counts.
func countsOf(g *types.GenesisState) map[string]struct{} {
	names := make(map[string]struct{}, len(g.WatchCounts))
	for i := range g.WatchCounts {
		names[nameOf(g.WatchCounts[i].Key)] = struct{}{}
	}
	return names
}

// validateTombstones checks the timers that have left and whose watches are still there.
func validateTombstones(g *types.GenesisState) error {
	last := uint64(0)
	for i := range g.WatchTombstones {
		tombstone := &g.WatchTombstones[i]
		if tombstone.Seq <= last || tombstone.Seq >= g.NextSeq {
			return types.ErrInvalidGenesis.Wrapf("watch_tombstones %d: seq %d, want above %d and below next_seq %d", i, tombstone.Seq, last, g.NextSeq)
		}
		if err := sdk.VerifyAddressFormat(tombstone.Owner); err != nil {
			return types.ErrInvalidGenesis.Wrapf("watch_tombstones %d: owner: %s", i, err)
		}
		if tombstone.Since == 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_tombstones %d: since is 0, want at least 1", i)
		}
		trigger := types.WatchTrigger{Keys: tombstone.Keys}
		if err := trigger.Validate(); err != nil {
			return types.ErrInvalidGenesis.Wrapf("watch_tombstones %d: %s", i, err)
		}
		last = tombstone.Seq
	}
	return nil
}

// validateWatchPending checks the watched keys that have changes to deliver, and the cursors over them.
func validateWatchPending(g *types.GenesisState) error {
	for i := range g.WatchPending {
		p := &g.WatchPending[i]
		if i > 0 && g.WatchPending[i-1].Key.Compare(p.Key) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_pending %d: keys must ascend", i)
		}
		if len(p.Owner) > 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_pending %d: owner %x, want none: rounds of owners are in watch_rounds", i, p.Owner)
		}
		if err := validatePending(fmt.Sprintf("watch_pending %d", i), p); err != nil {
			return err
		}
	}
	for i := range g.WatchRounds {
		p := &g.WatchRounds[i]
		if i > 0 && !ownerAscends(&g.WatchRounds[i-1], p) {
			return types.ErrInvalidGenesis.Wrapf("watch_rounds %d: owners and their keys must ascend", i)
		}
		if len(p.Owner) == 0 || len(p.Owner) > maxAddressBytes {
			return types.ErrInvalidGenesis.Wrapf("watch_rounds %d: owner of %d bytes, want 1 to %d", i, len(p.Owner), maxAddressBytes)
		}
		if err := validatePending(fmt.Sprintf("watch_rounds %d", i), p); err != nil {
			return err
		}
	}
	if turn := g.WatchCursors.Turn; turn.Store != "" || len(turn.Prefix) != 0 {
		if err := turn.Validate(); err != nil {
			return types.ErrInvalidGenesis.Wrapf("watch_cursors.turn: %s", err)
		}
	}
	if length := len(g.WatchCursors.Owner); length > maxAddressBytes {
		return types.ErrInvalidGenesis.Wrapf("watch_cursors.owner: %d bytes, want at most %d", length, maxAddressBytes)
	}
	return nil
}

// validateNotes checks who owns the watches of prefixes, and what was noted below them.
func validateNotes(g *types.GenesisState) error {
	for i := range g.WatchCounts {
		count := &g.WatchCounts[i]
		if err := checkKey("watch_counts", i, count.Key); err != nil {
			return err
		}
		if i > 0 && g.WatchCounts[i-1].Key.Compare(count.Key) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_counts %d: keys must ascend", i)
		}
		if count.Served == 0 || len(count.Owner) > maxAddressBytes {
			return types.ErrInvalidGenesis.Wrapf("watch_counts %d: served %d, want at least 1, and owner of %d bytes, want at most %d",
				i, count.Served, len(count.Owner), maxAddressBytes)
		}
	}
	for i := range g.WatchNotes {
		noted := &g.WatchNotes[i]
		if err := checkKey("watch_notes", i, noted.Key); err != nil {
			return err
		}
		if i > 0 && compareNotes(g.WatchNotes[i-1], *noted) > 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_notes %d: owners, heights and keys must ascend", i)
		}
		if len(noted.Owner) > maxAddressBytes {
			return types.ErrInvalidGenesis.Wrapf("watch_notes %d: owner of %d bytes, want at most %d", i, len(noted.Owner), maxAddressBytes)
		}
		if note := noted.Note; note.Since == 0 || note.Since > note.Height || note.Itself > note.Height {
			return types.ErrInvalidGenesis.Wrapf("watch_notes %d: since %d, want 1 to the height %d of the latest change, and itself %d at most that",
				i, note.Since, note.Height, note.Itself)
		}
		if err := checkChanges(noted); err != nil {
			return types.ErrInvalidGenesis.Wrapf("watch_notes %d: %s", i, err)
		}
	}
	return nil
}

// checkChanges: the keys that were noted lie below the prefix, in order, and are as many as the note says.
func checkChanges(noted *types.KeyWatchNote) error {
	if len(noted.Changes) != int(noted.Note.Keys) || noted.Note.Keys > market.MaxMatchedKeys {
		return fmt.Errorf("%d changes, want as many as keys, %d, and at most %d", len(noted.Changes), noted.Note.Keys, market.MaxMatchedKeys)
	}
	last := noted.Key.Prefix
	for i, change := range noted.Changes {
		if !bytes.HasPrefix(change.Key, noted.Key.Prefix) || bytes.Compare(change.Key, last) <= 0 {
			return fmt.Errorf("change %d: key %x, want one that begins with %x and is above %x", i, change.Key, noted.Key.Prefix, last)
		}
		if change.Height == 0 || change.Height > noted.Note.Height {
			return fmt.Errorf("change %d: height %d, want 1 to the height %d of the latest change", i, change.Height, noted.Note.Height)
		}
		last = change.Key
	}
	return nil
}

// compareNotes orders notes as the store does: shorter owners come first, and shorter prefixes.
func compareNotes(a, b types.KeyWatchNote) int {
	return cmp.Or(
		cmp.Compare(len(a.Owner), len(b.Owner)), bytes.Compare(a.Owner, b.Owner), cmp.Compare(a.Served, b.Served),
		cmp.Compare(a.Key.Store, b.Key.Store), cmp.Compare(len(a.Key.Prefix), len(b.Key.Prefix)), a.Key.Compare(b.Key),
	)
}

// maxAddressBytes bounds an address as the SDK does.
const maxAddressBytes = 255

// ownerAscends: rounds are in the order of the owners' addresses, and those of one owner in that of their keys.
func ownerAscends(before, after *types.KeyWatchPending) bool {
	return cmp.Or(
		cmp.Compare(len(before.Owner), len(after.Owner)), bytes.Compare(before.Owner, after.Owner), before.Key.Compare(after.Key),
	) < 0
}

// validatePending checks a key and its changes.
func validatePending(name string, p *types.KeyWatchPending) error {
	if err := p.Key.Validate(); err != nil {
		return types.ErrInvalidGenesis.Wrapf("%s: %s", name, err)
	}
	for _, round := range []*types.WatchRound{&p.Pending.Round, p.Pending.Next} {
		if round == nil {
			continue
		}
		if round.Height == 0 || len(round.Changes) > int(market.MaxMatchedKeys) {
			return types.ErrInvalidGenesis.Wrapf("%s: height %d must not be 0, and %d changes not above %d",
				name, round.Height, len(round.Changes), market.MaxMatchedKeys)
		}
		if round.Since == 0 || round.Since > round.Height {
			return types.ErrInvalidGenesis.Wrapf("%s: since %d, want 1 to the height %d of the latest change", name, round.Since, round.Height)
		}
		if len(round.FromOwner) > maxAddressBytes {
			return types.ErrInvalidGenesis.Wrapf("%s: from_owner of %d bytes, want at most %d", name, len(round.FromOwner), maxAddressBytes)
		}
	}
	return nil
}
