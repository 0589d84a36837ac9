// Package storecount counts what a module does to its store, so that tests assert costs in store operations and not in
// nanoseconds.
package storecount

import (
	"context"

	"cosmossdk.io/core/store"
)

// Counts are the operations done since they were last reset. They are not safe for concurrent use; a block is not
// concurrent either.
type Counts struct {
	// Gets counts reads of one key, tests for its presence included.
	Gets int
	// Sets and Deletes count writes of one key.
	Sets, Deletes int
	// Iterators counts scans opened, Nexts the entries that they visited.
	Iterators, Nexts int
}

// Reads is how many times the store was asked for something: by key, by opening a scan, by visiting an entry.
func (c *Counts) Reads() int { return c.Gets + c.Iterators + c.Nexts }

// Writes is how many times the store was changed.
func (c *Counts) Writes() int { return c.Sets + c.Deletes }

// Add adds the operations of other counts.
func (c *Counts) Add(other Counts) { c.merge(other, func(a, b int) int { return a + b }) }

// Max keeps the larger of each number.
func (c *Counts) Max(other Counts) { c.merge(other, func(a, b int) int { return max(a, b) }) }

func (c *Counts) merge(other Counts, combine func(a, b int) int) {
	c.Gets, c.Sets, c.Deletes = combine(c.Gets, other.Gets), combine(c.Sets, other.Sets), combine(c.Deletes, other.Deletes)
	c.Iterators, c.Nexts = combine(c.Iterators, other.Iterators), combine(c.Nexts, other.Nexts)
}

// Reset starts again from zero.
func (c *Counts) Reset() { *c = Counts{} }

// Take returns the counts so far and starts again from zero.
func (c *Counts) Take() Counts {
	taken := *c
	c.Reset()
	return taken
}

// Wrap returns a service whose stores count into the counts that it returns.
func Wrap(service store.KVStoreService) (store.KVStoreService, *Counts) {
	counts := &Counts{}
	return countingService{service, counts}, counts
}

type countingService struct {
	store.KVStoreService
	counts *Counts
}

func (s countingService) OpenKVStore(ctx context.Context) store.KVStore {
	return countingStore{s.KVStoreService.OpenKVStore(ctx), s.counts}
}

type countingStore struct {
	store.KVStore
	counts *Counts
}

func (s countingStore) Get(key []byte) ([]byte, error) {
	s.counts.Gets++
	return s.KVStore.Get(key)
}

func (s countingStore) Has(key []byte) (bool, error) {
	s.counts.Gets++
	return s.KVStore.Has(key)
}

func (s countingStore) Set(key, value []byte) error {
	s.counts.Sets++
	return s.KVStore.Set(key, value)
}

func (s countingStore) Delete(key []byte) error {
	s.counts.Deletes++
	return s.KVStore.Delete(key)
}

func (s countingStore) Iterator(start, end []byte) (store.Iterator, error) {
	return s.scan(s.KVStore.Iterator(start, end))
}

func (s countingStore) ReverseIterator(start, end []byte) (store.Iterator, error) {
	return s.scan(s.KVStore.ReverseIterator(start, end))
}

// scan counts the entry that a new iterator stands on: it was visited without a call of Next.
func (s countingStore) scan(iterator store.Iterator, err error) (store.Iterator, error) {
	if err != nil {
		return nil, err
	}
	s.counts.Iterators++
	if iterator.Valid() {
		s.counts.Nexts++
	}
	return countingIterator{iterator, s.counts}, nil
}

type countingIterator struct {
	store.Iterator
	counts *Counts
}

func (i countingIterator) Next() {
	i.Iterator.Next()
	if i.Valid() {
		i.counts.Nexts++
	}
}
