package watch

import (
	"context"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// Reading is how conditions read the values of a key.
type Reading struct {
	// Number reads a value as a decimal number in the form of condition.Number, and reports whether it is one. The value
	// is nil for a key that is not there. nil: the values are no numbers.
	Number func(value []byte) (number string, is bool)
	// Bytes: conditions may compare the bytes of the values.
	Bytes bool
}

// Values is the part of the timers' state that says which keys have conditions, and the value of each at the last
// collection. The keeper writes it, the wrapped stores look keys up in it.
type Values = collections.Map[collections.Pair[string, []byte], types.WatchValue]

// prefixValues is the region of the values.
var prefixValues = collections.NewPrefix([]byte{types.PrefixConditions, 1})

// NewValues declares the values.
func NewValues(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) Values {
	return collections.NewMap(sb, prefixValues, "watch_values", countsKey, codec.CollValue[types.WatchValue](cdc))
}

// CheckCondition refuses a condition that must hold when a timer fires: errors are those of Check.
func (w *Watcher) CheckCondition(key types.WatchKey) error {
	declared, err := w.known(key.Store)
	if err != nil {
		return err
	}
	return declared.checkCondition(key)
}

// checkCondition refuses a condition on anything but one whole key, or one that compares what the values of the key are
// not.
func (d *Store) checkCondition(key types.WatchKey) error {
	if d.isPrefix(key.Prefix) || d.Whole != nil && !d.Whole(key.Prefix) {
		return types.ErrInvalidWatch.Wrapf("a condition on %x, which is no whole key of store %s", key.Prefix, key.Store)
	}
	place, err := PlaceOf(key)
	if err != nil {
		return types.ErrInvalidWatch.Wrapf("condition: %v", err)
	}
	reading := d.reading(key.Prefix)
	switch domain := condition.DomainOf(place); {
	case domain == condition.Numbers && reading.Number == nil:
		return types.ErrInvalidWatch.Wrapf("values of %x in store %s are no numbers", key.Prefix, key.Store)
	case domain == condition.Bytes && !reading.Bytes:
		return types.ErrInvalidWatch.Wrapf("%.80q is no number, and conditions on %x in store %s compare no bytes", key.When.Value, key.Prefix, key.Store)
	}
	return nil
}

// PlaceOf is the place of a key's condition in the order of those of the key.
func PlaceOf(key types.WatchKey) ([]byte, error) {
	return condition.Parse(condition.Op(key.When.Op), key.When.Value)
}

func (d *Store) reading(key []byte) Reading {
	if d.Reading == nil {
		return Reading{}
	}
	return d.Reading(key)
}

// Value reads the value of a whole key as conditions see it. It reports false for a store that is not watchable, as after
// an upgrade that stopped to make it so. A nil Watcher has none.
func (w *Watcher) Value(ctx context.Context, key types.WatchKey) (value condition.Value, known bool, err error) {
	if w == nil {
		return value, false, nil
	}
	for i := range w.stores {
		if w.stores[i].Name != key.Store {
			continue
		}
		raw, err := w.inner[i].OpenKVStore(ctx).Get(key.Prefix)
		return w.stores[i].reading(key.Prefix).of(raw), true, err
	}
	return value, false, nil
}

// Holds tells whether the condition of a key is true now. Of a store that is not watchable that is not known: ErrNotWatchable.
func (w *Watcher) Holds(ctx context.Context, key types.WatchKey) (bool, error) {
	place, err := PlaceOf(key)
	if err != nil {
		return false, err
	}
	value, known, err := w.Value(ctx, key)
	if err == nil && !known {
		_, err = w.known(key.Store)
	}
	return err == nil && condition.Holds(place, value), err
}

// of reads a value; nil is that of a key that is not there.
func (r Reading) of(raw []byte) condition.Value {
	value := condition.Value{Exists: raw != nil}
	if r.Number != nil {
		if text, is := r.Number(raw); is {
			value.Number, _ = condition.Number(text)
		}
	}
	if r.Bytes && value.Exists {
		value.Bytes = append([]byte{}, raw[:min(len(raw), condition.KeptBytes)]...)
	}
	return value
}

// TakeFees returns the keys with conditions that the module's own transfers wrote, in order, and removes the notes. Each costs
// what a note of Take does.
func (w *Watcher) TakeFees(ctx context.Context) (keys []types.WatchKey, err error) {
	err = w.fees.Walk(ctx, nil, func(at collections.Pair[string, []byte]) (bool, error) {
		chargeNote(ctx, len(at.K1())+len(at.K2()))
		keys = append(keys, types.WatchKey{Store: at.K1(), Prefix: append([]byte{}, at.K2()...)})
		return false, nil
	})
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return keys, w.fees.Clear(ctx, nil)
}

// NoteStart notes that this block scheduled a timer with conditions. A nil Watcher notes nothing.
func (w *Watcher) NoteStart(ctx context.Context) error {
	if w == nil {
		return nil
	}
	return w.starts.Set(ctx, true)
}

// TakeStarts reports whether the block scheduled timers with conditions since this was last asked.
func (w *Watcher) TakeStarts(ctx context.Context) (bool, error) {
	found, err := w.starts.Has(ctx)
	if err != nil || !found {
		return false, err
	}
	return true, w.starts.Remove(ctx)
}

// MutedService returns a service whose stores note what those of a Muted context do. What is no watched service is returned
// as it is.
func MutedService(service store.KVStoreService) store.KVStoreService {
	if watched, is := service.(*watchedService); is {
		return mutedService{watched}
	}
	return service
}

// mutedService opens muted stores in every context.
type mutedService struct{ *watchedService }

// OpenKVStore implements store.KVStoreService.
func (s mutedService) OpenKVStore(ctx context.Context) store.KVStore { return s.mutedStore(ctx) }

func (s *watchedService) mutedStore(ctx context.Context) store.KVStore {
	return mutedStore{s.inner.OpenKVStore(ctx), s, ctx}
}

// mutedStore notes writes to keys with conditions only.
type mutedStore struct {
	store.KVStore
	service *watchedService
	ctx     context.Context
}

// Set implements store.KVStore.
func (s mutedStore) Set(key, value []byte) error {
	if err := s.KVStore.Set(key, value); err != nil {
		return err
	}
	return s.service.noteFee(s.ctx, key)
}

// Delete implements store.KVStore.
func (s mutedStore) Delete(key []byte) error {
	if err := s.KVStore.Delete(key); err != nil {
		return err
	}
	return s.service.noteFee(s.ctx, key)
}

func (s *watchedService) noteFee(ctx context.Context, key []byte) error {
	if len(key) > types.MaxWatchKeyBytes {
		return nil
	}
	// A condition counts as a watch of the store. While there is none, this is one lookup, and of the same key for all.
	timers := s.watcher.timers.OpenKVStore(ctx)
	known, err := timers.Has(s.anyWatch)
	if err == nil && known {
		known, err = timers.Has(append(s.anyCondition[:len(s.anyCondition):len(s.anyCondition)], key...))
	}
	if err != nil || !known {
		return err
	}
	return s.watcher.fees.Set(ctx, collections.Join(s.declared.Name, key))
}
