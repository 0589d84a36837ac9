package watch

import (
	"bytes"
	"context"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// watchedService opens a store that notes what changes in it.
type watchedService struct {
	watcher  *Watcher
	inner    store.KVStoreService
	declared Store
	// anyWatch is the key of the number of all watches of the store; that of a prefix is at the same key followed by
	// the prefix. It is encoded once, as the codec of the counts does.
	anyWatch []byte
	// anyCondition is where the values of the store's keys with conditions begin.
	anyCondition []byte
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
	prefixes, err := s.service.changing(s.ctx, key, value)
	if err != nil {
		return err
	}
	if err := s.KVStore.Set(key, value); err != nil {
		return err
	}
	return s.service.note(s.ctx, prefixes, key)
}

// Delete implements store.KVStore.
func (s watchedStore) Delete(key []byte) error {
	prefixes, err := s.service.changing(s.ctx, key, nil)
	if err != nil {
		return err
	}
	if err := s.KVStore.Delete(key); err != nil {
		return err
	}
	return s.service.note(s.ctx, prefixes, key)
}

// changing returns the watched prefixes that a write to the key changes. There are none if no prefix of the key is
// watched, or if the value stays the same.
//
// While the store has no watch, this is one lookup. Otherwise it is one more lookup for each prefix of the key that can
// be watched. The old value is read only if one of them is watched.
func (s *watchedService) changing(ctx context.Context, key, value []byte) ([][]byte, error) {
	counts := s.watcher.timers.OpenKVStore(ctx)
	watches, err := counts.Has(s.anyWatch)
	if err != nil || !watches {
		return nil, err
	}
	var watched [][]byte
	for _, prefix := range s.declared.prefixes(key) {
		found, err := counts.Has(append(s.anyWatch[:len(s.anyWatch):len(s.anyWatch)], prefix...))
		if err != nil {
			return nil, err
		}
		if found {
			watched = append(watched, prefix)
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

func (s *watchedService) note(ctx context.Context, prefixes [][]byte, key []byte) error {
	for _, prefix := range prefixes {
		if err := s.watcher.notes.Set(ctx, collections.Join3(s.declared.Name, prefix, key)); err != nil {
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
