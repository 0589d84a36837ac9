package state

import (
	"context"
	"encoding/binary"
	"math/bits"

	"cosmossdk.io/collections"
	corestore "cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Region is a region of the module's store.
type Region struct {
	service corestore.KVStoreService
	prefix  []byte
}

var _ logmap.Opener = Region{}

// NewRegion declares the region in the schema, as a collection, for tools that decode state. The map works on the store beneath:
// a collection opens it for each operation, and takes long to say that a value is not there.
func NewRegion(sb *collections.SchemaBuilder, service corestore.KVStoreService, prefix collections.Prefix, name string) Region {
	collections.NewMap(sb, prefix, name, collections.BytesKey, collections.BytesValue)
	return Region{service, prefix.Bytes()}
}

// Open implements logmap.Opener.
func (r Region) Open(ctx context.Context) logmap.Store {
	return &region{r.service.OpenKVStore(types.Unmetered(ctx)), r.prefix}
}

// region is a Region that was opened.
type region struct {
	kv     corestore.KVStore
	prefix []byte
}

func (s *region) key(key []byte) []byte {
	return append(append(make([]byte, 0, len(s.prefix)+len(key)), s.prefix...), key...)
}

// Get implements logmap.Store.
func (s *region) Get(key []byte) ([]byte, error) { return s.kv.Get(s.key(key)) }

// Set implements logmap.Store.
func (s *region) Set(key, value []byte) error { return s.kv.Set(s.key(key), value) }

// Delete implements logmap.Store.
func (s *region) Delete(key []byte) error { return s.kv.Delete(s.key(key)) }

// Scan implements logmap.Store.
func (s *region) Scan(from []byte, fn func(key, value []byte) bool) error {
	iterator, err := s.kv.Iterator(s.key(from), storetypes.PrefixEndBytes(s.prefix))
	if err != nil {
		return err
	}
	defer func() { _ = iterator.Close() }()
	for iterator.Valid() && fn(iterator.Key()[len(s.prefix):], iterator.Value()) {
		iterator.Next()
	}
	return nil
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
