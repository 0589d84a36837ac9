package watch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A note of a change stays where the write left it until somebody takes it, in the block's end and within what that has room
// for. So a crowd of changes makes no block longer, and a block whose end fails loses none.
//
// Notes of watches without a condition are ordered by who owns all the watches of the prefix, and then by when changes of that
// prefix were last taken: an owner with many keys waits for itself, and of its keys none is passed over for ever. A prefix
// has one note, and notes of at most market.MaxMatchedKeys keys below it, whatever is written there. Notes of keys with
// conditions say that the key is to be compared.

// place is (owner, served, store, prefix and key) of a note; the owner is empty where the watches may have several.
type place = collections.Quad[[]byte, uint64, string, []byte]

// placeOf is that of the note of a prefix, for an empty key, or of a key below it.
func placeOf(count *types.WatchCount, store string, prefix, key []byte) place {
	rest := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(prefix)+len(key)), uint16(len(prefix)))
	return collections.Join4(count.Owner, count.Served, store, append(append(rest, prefix...), key...))
}

// parts are the prefix and the key of a place.
func parts(at place) (prefix, key []byte, err error) {
	rest := at.K4()
	if len(rest) < 2 || len(rest) < 2+int(binary.BigEndian.Uint16(rest)) {
		return nil, nil, types.ErrInternal.Wrapf("the place of a note ends in %x", rest)
	}
	end := 2 + int(binary.BigEndian.Uint16(rest))
	return slices.Clone(rest[2:end]), slices.Clone(rest[end:]), nil
}

// heightOf is the one for whose timers a change counts that is written now: what timers do counts for the next block.
func heightOf(ctx context.Context) uint64 {
	height := types.HeightOf(sdk.UnwrapSDKContext(ctx))
	if sandbox.IsWithinFire(ctx) {
		height++
	}
	return height
}

// note notes that a key changed below a prefix whose watches are counted.
func (w *Watcher) note(ctx context.Context, count *types.WatchCount, store string, prefix, key []byte) error {
	height, itself := heightOf(ctx), bytes.Equal(prefix, key)
	if count.Conditional > 0 && itself {
		if err := w.conditions.Set(ctx, collections.Join(store, key)); err != nil {
			return err
		}
	}
	if count.Plain == 0 {
		return nil
	}
	at := placeOf(count, store, prefix, nil)
	before, err := get(ctx, w.notes, at)
	if err != nil {
		return err
	}
	after := before
	after.Height = max(after.Height, height)
	if after.Since == 0 {
		after.Since = height
	}
	if itself {
		after.Itself = height
	} else if after.Keys, err = w.noteKey(ctx, placeOf(count, store, prefix, key), before.Keys, height); err != nil {
		return err
	}
	if before.Since > 0 && after.Equal(before) {
		return nil
	}
	return w.notes.Set(ctx, at, after)
}

// noteKey notes one key below a prefix, of which keys have a note already, and returns how many have one now. Of more keys
// than a fire can deliver, the first stay.
func (w *Watcher) noteKey(ctx context.Context, at place, keys uint32, height uint64) (uint32, error) {
	known, err := w.notes.Has(ctx, at)
	if err != nil || !known && keys >= market.MaxMatchedKeys {
		return keys, err
	}
	if !known {
		keys++
	}
	return keys, w.notes.Set(ctx, at, types.WatchNote{Height: height})
}

func get[K, V any](ctx context.Context, values collections.Map[K, V], at K) (V, error) {
	value, err := values.Get(ctx, at)
	if errors.Is(err, collections.ErrNotFound) {
		err = nil
	}
	return value, err
}

// Changed is what changed below one watched prefix.
type Changed struct {
	Key types.WatchKey
	// Since and Height are those of the first and the latest change.
	Since, Height uint64
	// Keys that changed, in order.
	Keys []types.WatchChange
}

// What reading a note costs, in gas. The end of a block, whose meter has no limit, reads a note once: it is paid for by the
// write. A preview reads the notes of its block so far, and so may any number of previews.
const (
	NoteGas     = 300
	NoteByteGas = 3
)

func chargeNote(ctx context.Context, bytes int) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(NoteGas+NoteByteGas*uint64(bytes), "notes of watched state")
}

// Quiet reports whether nothing is noted. It is one read.
func (w *Watcher) Quiet(ctx context.Context) (bool, error) {
	if w == nil {
		return true, nil
	}
	notes, err := w.timers.OpenKVStore(ctx).Iterator([]byte{types.PrefixWatchNotes}, []byte{types.PrefixWatchNotes + 1})
	if err != nil {
		return false, err
	}
	quiet := !notes.Valid()
	return quiet, notes.Close()
}

// Owners passes who has notes to fn, once for each note, until fn reports that it has enough: from an owner on, or from after
// the owner's last note if past is set. Notes of prefixes with several owners are not among them.
func (w *Watcher) Owners(ctx context.Context, from []byte, past bool, fn func(owner []byte) bool) error {
	if w == nil {
		return nil
	}
	served := uint64(0)
	if past {
		served = ^uint64(0)
	}
	if len(from) == 0 {
		from = []byte{0} // Before every owner, and after the prefixes that several own, of which there may be very many.
	}
	ranger := new(collections.Range[place]).StartInclusive(collections.Join4(from, served, "", []byte{}))
	return w.notes.Walk(ctx, ranger, func(at place, _ types.WatchNote) (bool, error) { return fn(at.K1()), nil })
}

// Take returns the changes that wait below the prefixes of an owner, at most limit prefixes, and removes their notes; more
// tells whether there are others. Those that waited for longest since they were last taken are first. An empty owner has the
// prefixes that several own. Each note costs NoteGas and more for its bytes.
func (w *Watcher) Take(ctx context.Context, owner []byte, limit, maxKeys int) (all []Changed, more bool, err error) {
	if w == nil {
		return nil, false, nil
	}
	return w.take(ctx, new(collections.Range[place]).
		StartInclusive(collections.Join4(owner, uint64(0), "", []byte{})).
		EndInclusive(collections.Join4(owner, ^uint64(0), "\xff", []byte{})), limit, maxKeys)
}

// TakeOf is Take for one prefix. It returns at most one.
func (w *Watcher) TakeOf(ctx context.Context, owner []byte, key types.WatchKey, maxKeys int) ([]Changed, error) {
	if w == nil {
		return nil, nil
	}
	count, err := get(ctx, w.counts, collections.Join(key.Store, key.Prefix))
	if err != nil || count.Plain == 0 || !bytes.Equal(count.Owner, owner) {
		return nil, err
	}
	at := placeOf(&count, key.Store, key.Prefix, nil)
	noted, err := w.notes.Has(ctx, at)
	if err != nil || !noted {
		return nil, err
	}
	all, _, err := w.take(ctx, new(collections.Range[place]).StartInclusive(at), 1, maxKeys)
	return all, err
}

func (w *Watcher) take(ctx context.Context, ranger *collections.Range[place], limit, maxKeys int) (all []Changed, more bool, err error) {
	var taken []place
	err = w.notes.Walk(ctx, ranger, func(at place, note types.WatchNote) (bool, error) {
		prefix, key, err := parts(at)
		if err != nil {
			return true, err
		}
		if len(key) == 0 {
			if more = len(all) >= limit; more {
				return true, nil
			}
			all = append(all, changedOf(types.WatchKey{Store: at.K3(), Prefix: prefix}, &note))
		} else if last := &all[len(all)-1]; len(last.Keys) < maxKeys {
			last.Keys = append(last.Keys, types.WatchChange{Key: key, Height: note.Height})
		}
		chargeNote(ctx, len(at.K3())+len(at.K4()))
		taken = append(taken, at)
		return false, nil
	})
	if err != nil {
		return nil, false, err
	}
	for _, at := range taken {
		if err := w.notes.Remove(ctx, at); err != nil {
			return nil, false, err
		}
	}
	for i := range all {
		if err := w.served(ctx, all[i].Key); err != nil {
			return nil, false, err
		}
	}
	return all, more, nil
}

func changedOf(key types.WatchKey, note *types.WatchNote) Changed {
	changed := Changed{Key: key, Since: note.Since, Height: note.Height}
	if note.Itself > 0 {
		changed.Keys = []types.WatchChange{{Key: key.Prefix, Height: note.Itself}}
	}
	return changed
}

// served notes that changes of a prefix are taken now.
func (w *Watcher) served(ctx context.Context, key types.WatchKey) error {
	at := collections.Join(key.Store, key.Prefix)
	count, err := get(ctx, w.counts, at)
	if err != nil || count.Plain == 0 {
		return err
	}
	count.Served = types.HeightOf(sdk.UnwrapSDKContext(ctx))
	return w.counts.Set(ctx, at, count)
}

// TakeConditions returns keys with conditions that were written, at most limit, from a key on and around, and removes their
// notes. Then it names the key whose turn is next, none if nothing is left. Each costs what a note of Take does.
func (w *Watcher) TakeConditions(ctx context.Context, from types.WatchKey, limit int) (keys []types.WatchKey, next types.WatchKey, err error) {
	if w == nil {
		return nil, next, nil
	}
	first := collections.Join(from.Store, from.Prefix)
	for _, ranger := range []*collections.Range[watchedKey]{
		new(collections.Range[watchedKey]).StartInclusive(first),
		new(collections.Range[watchedKey]).EndExclusive(first),
	} {
		if from.Store == "" && len(keys) > 0 || next.Store != "" {
			break
		}
		err := w.conditions.Walk(ctx, ranger, func(at watchedKey) (bool, error) {
			key := types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}
			if len(keys) >= limit {
				next = key
				return true, nil
			}
			keys = append(keys, key)
			return false, nil
		})
		if err != nil {
			return nil, next, err
		}
	}
	return keys, next, w.forgetConditions(ctx, keys)
}

// TakeConditionsOf returns those of some keys that were written, and removes their notes.
func (w *Watcher) TakeConditionsOf(ctx context.Context, keys []types.WatchKey) (noted []types.WatchKey, err error) {
	if w == nil {
		return nil, nil
	}
	for _, key := range keys {
		found, err := w.conditions.Has(ctx, collections.Join(key.Store, key.Prefix))
		if err != nil {
			return nil, err
		}
		if found {
			noted = append(noted, types.WatchKey{Store: key.Store, Prefix: key.Prefix})
		}
	}
	return noted, w.forgetConditions(ctx, noted)
}

func (w *Watcher) forgetConditions(ctx context.Context, keys []types.WatchKey) error {
	for _, key := range keys {
		chargeNote(ctx, len(key.Store)+len(key.Prefix))
		if err := w.conditions.Remove(ctx, collections.Join(key.Store, key.Prefix)); err != nil {
			return err
		}
	}
	return nil
}

// InitGenesis notes what a genesis says that was noted. A nil Watcher notes nothing: nothing that its chain has is watched.
func (w *Watcher) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if w == nil {
		return nil
	}
	for i := range genesis.WatchNotes {
		if err := w.restore(ctx, &genesis.WatchNotes[i]); err != nil {
			return err
		}
	}
	for _, key := range genesis.WatchChanged {
		if err := w.conditions.Set(ctx, collections.Join(key.Store, key.Prefix)); err != nil {
			return err
		}
	}
	return nil
}

// restore adds to the note of a prefix, which is there if heights that were moved back made two places one.
func (w *Watcher) restore(ctx context.Context, noted *types.KeyWatchNote) error {
	count := types.WatchCount{Owner: noted.Owner, Served: noted.Served}
	at := placeOf(&count, noted.Key.Store, noted.Key.Prefix, nil)
	note, err := get(ctx, w.notes, at)
	if err != nil {
		return err
	}
	if note.Since == 0 || note.Since > noted.Note.Since {
		note.Since = noted.Note.Since
	}
	note.Height, note.Itself = max(note.Height, noted.Note.Height), max(note.Itself, noted.Note.Itself)
	for _, change := range noted.Changes {
		key := placeOf(&count, noted.Key.Store, noted.Key.Prefix, change.Key)
		if note.Keys, err = w.noteKey(ctx, key, note.Keys, change.Height); err != nil {
			return err
		}
	}
	return w.notes.Set(ctx, at, note)
}

// ExportGenesis adds what is noted to a genesis. A note that does not agree with those of its keys is an error.
func (w *Watcher) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if w == nil {
		return nil
	}
	err := w.notes.Walk(ctx, nil, func(at place, note types.WatchNote) (bool, error) {
		prefix, key, err := parts(at)
		if err != nil {
			return true, err
		}
		if len(key) == 0 {
			genesis.WatchNotes = append(genesis.WatchNotes, types.KeyWatchNote{
				Owner: slices.Clone(at.K1()), Served: at.K2(), Key: types.WatchKey{Store: at.K3(), Prefix: prefix}, Note: note,
			})
			return false, nil
		}
		if len(genesis.WatchNotes) == 0 {
			return true, types.ErrInternal.Wrapf("the note of key %x in store %s is of no prefix", key, at.K3())
		}
		last := &genesis.WatchNotes[len(genesis.WatchNotes)-1]
		last.Changes = append(last.Changes, types.WatchChange{Key: key, Height: note.Height})
		return false, nil
	})
	if err != nil {
		return err
	}
	for i := range genesis.WatchNotes {
		if noted := &genesis.WatchNotes[i]; int(noted.Note.Keys) != len(noted.Changes) {
			return types.ErrInternal.Wrapf("below %x in store %s are notes of %d keys, not of %d",
				noted.Key.Prefix, noted.Key.Store, len(noted.Changes), noted.Note.Keys)
		}
	}
	return w.conditions.Walk(ctx, nil, func(at watchedKey) (bool, error) {
		genesis.WatchChanged = append(genesis.WatchChanged, types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())})
		return false, nil
	})
}

// Forget removes all notes, for tests that set up state without being watched.
func (w *Watcher) Forget(ctx context.Context) error {
	return errors.Join(w.notes.Clear(ctx, nil), w.conditions.Clear(ctx, nil))
}
