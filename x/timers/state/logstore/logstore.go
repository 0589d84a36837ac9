// Package logstore makes a collection the store of a log-structured map.
package logstore

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// Store is a collection as the store of a log-structured map.
type Store struct {
	values collections.Map[[]byte, []byte]
}

var _ logmap.Store = Store{}

// New adds the collection to the schema.
func New(sb *collections.SchemaBuilder, prefix collections.Prefix, name string) Store {
	return Store{collections.NewMap(sb, prefix, name, collections.BytesKey, collections.BytesValue)}
}

// Get implements logmap.Store.
func (s Store) Get(ctx context.Context, key []byte) ([]byte, error) {
	value, err := s.values.Get(ctx, key)
	if errors.Is(err, collections.ErrNotFound) {
		return nil, nil
	}
	return value, err
}

// Set implements logmap.Store.
func (s Store) Set(ctx context.Context, key, value []byte) error {
	return s.values.Set(ctx, key, value)
}

// Delete implements logmap.Store.
func (s Store) Delete(ctx context.Context, key []byte) error { return s.values.Remove(ctx, key) }

// Scan implements logmap.Store.
func (s Store) Scan(ctx context.Context, from []byte, fn func(key, value []byte) bool) error {
	var ranger collections.Ranger[[]byte]
	if len(from) > 0 {
		ranger = new(collections.Range[[]byte]).StartInclusive(from)
	}
	return s.values.Walk(ctx, ranger, func(key, value []byte) (bool, error) { return !fn(key, value), nil })
}

// Settle merges all that waits to be merged, at genesis.
func Settle(ctx context.Context, m *logmap.Map) error {
	for height := uint64(0); ; height++ {
		if idle, err := m.Maintain(ctx, height); idle || err != nil {
			return err
		}
	}
}

// AppendNumber appends the digits of a number without leading zeros, big-endian.
func AppendNumber(bz []byte, n uint64) []byte {
	return append(bz, binary.BigEndian.AppendUint64(nil, n)[bits.LeadingZeros64(n)/8:]...)
}

// ParseNumber reads what AppendNumber wrote.
func ParseNumber(bz []byte) (n uint64) {
	for _, digit := range bz {
		n = n<<8 | uint64(digit)
	}
	return n
}
