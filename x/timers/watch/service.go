package watch

import (
	"bytes"
	"context"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// watchedService opens a store that notes what changes in it.
type watchedService struct {
	watcher  *Watcher
	inner    store.KVStoreService
	declared Store
	// anyWatch is the key of the number of all watches of the store. It is encoded once, as the codec of the counts does.
	anyWatch []byte
}

// OpenKVStore implements store.KVStoreService.
func (s *watchedService) OpenKVStore(ctx context.Context) store.KVStore {
	if isMuted(ctx) {
		return s.mutedStore(ctx)
	}
	return watchedStore{s.inner.OpenKVStore(ctx), s, ctx}
}

// watchedStore forwards every call. It exists for one operation of its keeper, like every opened store.
type watchedStore struct {
	store.KVStore
	service *watchedService
	ctx     context.Context
}

// Set implements store.KVStore.
func (s watchedStore) Set(key, value []byte) error {
	watched, err := s.service.changing(s.ctx, key, value)
	if err != nil {
		return err
	}
	if err := s.KVStore.Set(key, value); err != nil {
		return err
	}
	return s.service.note(s.ctx, watched, key)
}

// Delete implements store.KVStore.
func (s watchedStore) Delete(key []byte) error {
	watched, err := s.service.changing(s.ctx, key, nil)
	if err != nil {
		return err
	}
	if err := s.KVStore.Delete(key); err != nil {
		return err
	}
	return s.service.note(s.ctx, watched, key)
}

// watchedPrefix is a prefix of a key, and how often it is watched.
type watchedPrefix struct {
	prefix []byte
	count  types.WatchCount
}

// changing returns the watched prefixes that a write to the key changes. There are none if no prefix of the key is
// watched, or if the value stays the same.
//
// While the store has no watch, this is one lookup. Otherwise it is one more lookup for each prefix of the key that can
// be watched. The old value is read only if one of them is watched.
func (s *watchedService) changing(ctx context.Context, key, value []byte) (watched []watchedPrefix, err error) {
	watches, err := s.watcher.timers.OpenKVStore(ctx).Has(s.anyWatch)
	if err != nil || !watches {
		return nil, err
	}
	for _, prefix := range s.declared.prefixes(key) {
		count, err := get(ctx, s.watcher.counts, collections.Join(s.declared.Name, prefix))
		if err != nil {
			return nil, err
		}
		if count.Plain > 0 || count.Conditional > 0 && len(prefix) == len(key) {
			watched = append(watched, watchedPrefix{prefix, count})
		}
	}
	if len(watched) == 0 {
		return nil, nil
	}
	before, err := s.inner.OpenKVStore(types.Unmetered(ctx)).Get(key)
	if err != nil || (before == nil) == (value == nil) && bytes.Equal(before, value) {
		return nil, err
	}
	return watched, nil
}

func (s *watchedService) note(ctx context.Context, watched []watchedPrefix, key []byte) error {
	for i := range watched {
		if err := s.watcher.note(ctx, &watched[i].count, s.declared.Name, watched[i].prefix, key); err != nil {
			return err
		}
	}
	return nil
}

// prefixes returns the prefixes of a key that can be watched: the whole key, unless it is too long, and those that the
// declared forms have of it.
func (d *Store) prefixes(key []byte) [][]byte {
	all := make([][]byte, 0, 4)
	if len(key) <= types.MaxWatchKeyBytes {
		all = append(all, key)
	}
	for i := range d.Forms {
		form := &d.Forms[i]
		if form.Length == nil {
			continue
		}
		n := form.Length(key)
		if n <= 0 || n >= len(key) || n > types.MaxWatchKeyBytes || containsLength(all, n) {
			continue
		}
		all = append(all, key[:n])
	}
	return all
}

func containsLength(prefixes [][]byte, n int) bool {
	for _, prefix := range prefixes {
		if len(prefix) == n {
			return true
		}
	}
	return false
}

// Ungassed returns a service whose stores charge no gas: it opens the store beneath the one that does. Code of the
// module reads with it what a writer must not pay for.
func Ungassed(key storetypes.StoreKey) store.KVStoreService { return ungassed{key} }

type ungassed struct{ key storetypes.StoreKey }

// OpenKVStore implements store.KVStoreService.
func (u ungassed) OpenKVStore(ctx context.Context) store.KVStore {
	return rawStore{sdk.UnwrapSDKContext(ctx).MultiStore().GetKVStore(u.key)}
}

// rawStore is a store of the multistore as core has them. Its operations can't fail.
type rawStore struct{ raw storetypes.KVStore }

func (s rawStore) Get(key []byte) ([]byte, error) { return s.raw.Get(key), nil }
func (s rawStore) Has(key []byte) (bool, error)   { return s.raw.Has(key), nil }

func (s rawStore) Set(key, value []byte) error {
	s.raw.Set(key, value)
	return nil
}

func (s rawStore) Delete(key []byte) error {
	s.raw.Delete(key)
	return nil
}

func (s rawStore) Iterator(start, end []byte) (store.Iterator, error) {
	return s.raw.Iterator(start, end), nil
}

func (s rawStore) ReverseIterator(start, end []byte) (store.Iterator, error) {
	return s.raw.ReverseIterator(start, end), nil
}

// Reading is how conditions read the values of a key.
type Reading struct {
	// Number reads a value as a decimal number in the form of condition.Number, and reports whether it is one. The value
	// is nil for a key that is not there. nil: the values are no numbers.
	Number func(value []byte) (number string, is bool)
	// Bytes: conditions may compare the bytes of the values.
	Bytes bool
}

// Values is the part of the timers' state that says which keys have conditions, and the value of each when it was last
// compared.
type Values = collections.Map[watchedKey, types.WatchValue]

// NewValues declares the values.
func NewValues(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) Values {
	region := collections.NewPrefix([]byte{types.PrefixConditions, 1})
	return collections.NewMap(sb, region, "watch_values", countsKey, codec.CollValue[types.WatchValue](cdc))
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
		return types.ErrInvalidWatch.Wrapf("condition: %s", err)
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
	known, err := s.watcher.timers.OpenKVStore(ctx).Has(s.anyWatch)
	if err != nil || !known {
		return err
	}
	count, err := get(ctx, s.watcher.counts, collections.Join(s.declared.Name, key))
	if err != nil || count.Conditional == 0 {
		return err
	}
	return s.watcher.conditions.Set(ctx, collections.Join(s.declared.Name, key))
}
