package state

import (
	"context"
	"encoding/binary"
	"math/bits"

	"cosmossdk.io/collections"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// logStore is a collection as the store of a log-structured map.
type logStore struct {
	values collections.Map[[]byte, []byte]
}

var _ logmap.Store = logStore{}

func newLogStore(sb *collections.SchemaBuilder, prefix collections.Prefix, name string) logStore {
	return logStore{collections.NewMap(sb, prefix, name, collections.BytesKey, collections.BytesValue)}
}

// Get implements logmap.Store.
func (s logStore) Get(ctx context.Context, key []byte) ([]byte, error) {
	value, _, err := Find(ctx, s.values, key)
	return value, err
}

// Set implements logmap.Store.
func (s logStore) Set(ctx context.Context, key, value []byte) error {
	return s.values.Set(ctx, key, value)
}

// Delete implements logmap.Store.
func (s logStore) Delete(ctx context.Context, key []byte) error { return s.values.Remove(ctx, key) }

// Scan implements logmap.Store.
func (s logStore) Scan(ctx context.Context, from []byte, fn func(key, value []byte) bool) error {
	var ranger collections.Ranger[[]byte]
	if len(from) > 0 {
		ranger = new(collections.Range[[]byte]).StartInclusive(from)
	}
	return s.values.Walk(ctx, ranger, func(key, value []byte) (bool, error) { return !fn(key, value), nil })
}

// unmetered is a context in which the store charges nothing. What one change of a log-structured map reads and writes
// depends on what others have changed before, and on whether the chain was exported since. So whoever causes a change
// is charged a fixed price for it.
func unmetered(ctx context.Context) context.Context {
	return sdk.UnwrapSDKContext(ctx).WithGasMeter(storetypes.NewInfiniteGasMeter())
}

// settle merges all that waits to be merged, at genesis.
func settle(ctx context.Context, m *logmap.Map) error {
	for height := uint64(0); ; height++ {
		if idle, err := m.Maintain(ctx, height); idle || err != nil {
			return err
		}
	}
}

// appendNumber appends the digits of a number without leading zeros, big-endian.
func appendNumber(bz []byte, n uint64) []byte {
	return append(bz, binary.BigEndian.AppendUint64(nil, n)[bits.LeadingZeros64(n)/8:]...)
}

// parseNumber reads what appendNumber wrote.
func parseNumber(bz []byte) (n uint64) {
	for _, digit := range bz {
		n = n<<8 | uint64(digit)
	}
	return n
}
