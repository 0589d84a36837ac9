// Package storecount counts what a module asks of its store, so that tests can hold costs to their bounds: counts are the
// same on every machine, times are not.
package storecount

import (
	"context"

	"cosmossdk.io/core/store"
)

// Counts are store operations since the start, or since another Counts.
type Counts struct {
	Gets      int `json:"gets"`
	Has       int `json:"has"`
	Sets      int `json:"sets"`
	Deletes   int `json:"deletes"`
	Iterators int `json:"iterators"`
	Nexts     int `json:"nexts"`
}

// Reads are gets, existence checks, and the entries that iterators stepped over.
func (c Counts) Reads() int { return c.Gets + c.Has + c.Nexts }

// Total is all of them.
func (c Counts) Total() int { return c.Reads() + c.Sets + c.Deletes + c.Iterators }

// Since returns what was counted after an earlier copy.
func (c Counts) Since(earlier Counts) Counts {
	return Counts{
		Gets: c.Gets - earlier.Gets, Has: c.Has - earlier.Has, Sets: c.Sets - earlier.Sets,
		Deletes: c.Deletes - earlier.Deletes, Iterators: c.Iterators - earlier.Iterators, Nexts: c.Nexts - earlier.Nexts,
	}
}

// Wrap returns the service with its operations counted, in all contexts. It counts what the module asks for, whatever
// branch of state answers.
func Wrap(service store.KVStoreService) (store.KVStoreService, *Counts) {
	counts := &Counts{}
	return countingService{service, counts}, counts
}

type countingService struct {
	service store.KVStoreService
	counts  *Counts
}

// OpenKVStore implements store.KVStoreService.
func (s countingService) OpenKVStore(ctx context.Context) store.KVStore {
	return countingStore{s.service.OpenKVStore(ctx), s.counts}
}

type countingStore struct {
	store  store.KVStore
	counts *Counts
}

// Get implements store.KVStore.
func (s countingStore) Get(key []byte) ([]byte, error) {
	s.counts.Gets++
	return s.store.Get(key)
}

// Has implements store.KVStore.
func (s countingStore) Has(key []byte) (bool, error) {
	s.counts.Has++
	return s.store.Has(key)
}

// Set implements store.KVStore.
func (s countingStore) Set(key, value []byte) error {
	s.counts.Sets++
	return s.store.Set(key, value)
}

// Delete implements store.KVStore.
func (s countingStore) Delete(key []byte) error {
	s.counts.Deletes++
	return s.store.Delete(key)
}

// Iterator implements store.KVStore.
func (s countingStore) Iterator(start, end []byte) (store.Iterator, error) {
	s.counts.Iterators++
	it, err := s.store.Iterator(start, end)
	return countingIterator{it, s.counts}, err
}

// ReverseIterator implements store.KVStore.
func (s countingStore) ReverseIterator(start, end []byte) (store.Iterator, error) {
	s.counts.Iterators++
	it, err := s.store.ReverseIterator(start, end)
	return countingIterator{it, s.counts}, err
}

type countingIterator struct {
	store.Iterator
	counts *Counts
}

// Next implements store.Iterator.
func (i countingIterator) Next() {
	i.counts.Nexts++
	i.Iterator.Next()
}
