package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/bits"
	"sync/atomic"

	"cosmossdk.io/collections"
	"cosmossdk.io/collections/codec"
	corestore "cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// LogMap is a log-structured map in a region of the module's store. It charges no gas.
//
// The steps at the end of a block change it in their session, which is written at the block's end. Everybody else changes it at
// once. Before a handler, an agent or a query in the middle of a block uses any map, the session is written, in the context of
// the steps that called it: so that nothing that runs on a branch that is dropped takes anything from them.
type LogMap struct{ m *logmap.Map }

// NewLogMap adds the region to the schema, as a collection, for tools that decode state.
func NewLogMap(sb *collections.SchemaBuilder, service corestore.KVStoreService, prefix collections.Prefix, name string, opts logmap.Options) *LogMap {
	return &LogMap{logmap.New(NewRegion(sb, service, prefix, name), opts)}
}

// steps are what the steps of a block share under their context, as the memory of its sandboxes.
type steps struct {
	*logmap.Session
	// removals of the block, nil where nobody has given it a budget for them.
	removals *removals
}

// WithSession gives the steps of a block a session, and a budget for the entries that removed timers leave: who removes one
// without a budget, such as a transaction, pays for it and removes its entries too.
func WithSession(ctx sdk.Context, budget *market.Overhead) (sdk.Context, *logmap.Session) {
	s := &steps{Session: logmap.NewSession()}
	if budget != nil {
		s.removals = &removals{meter: budget}
	}
	return sandbox.WithMemory(ctx, s), s.Session
}

// session is that of the steps that run under the context; nil for everybody else. What the steps of a block that calls have
// changed is written then.
func session(ctx context.Context) (*logmap.Session, error) {
	scope := sandbox.ScopeOf(ctx)
	s, _ := scope.Memory.(*steps)
	switch {
	case s == nil:
		return nil, nil
	case scope.Left == nil:
		return s.Session, nil
	default:
		return nil, s.Flush(*scope.Left)
	}
}

// Write writes, for a handler, an agent or a query in the middle of a block, what the steps that called it have changed.
func Write(ctx context.Context) error {
	_, err := session(ctx)
	return err
}

// NoteChange notes that a handler has changed something of what the session's maps hold together.
func NoteChange(ctx context.Context) {
	if scope := sandbox.ScopeOf(ctx); scope.Left != nil {
		scope.Memory.(*steps).Advance() //nolint:errcheck // what WithSession puts there
	}
}

// Get returns the value of a key.
func (m *LogMap) Get(ctx context.Context, key []byte) (value []byte, found bool, err error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return nil, false, err
	case s != nil:
		return s.Get(ctx, m.m, key)
	}
	return m.m.Get(ctx, key)
}

// Page returns the first n entries whose keys are at least from and below to, by key. A nil to has no end.
func (m *LogMap) Page(ctx context.Context, from, to []byte, n int) ([]logmap.Entry, error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return nil, err
	case s != nil:
		return s.Page(ctx, m.m, from, to, n)
	}
	return m.m.Page(ctx, from, to, n)
}

// Count returns how many entries have keys that are at least from and below to.
func (m *LogMap) Count(ctx context.Context, from, to []byte) (uint64, error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return 0, err
	case s != nil:
		return s.Count(ctx, m.m, from, to)
	}
	return m.m.Count(ctx, from, to)
}

// Apply makes changes.
func (m *LogMap) Apply(ctx context.Context, changes ...logmap.Change) error {
	s, err := session(ctx)
	switch {
	case err != nil:
		return err
	case s != nil:
		s.Apply(m.m, changes...)
		return nil
	}
	if err := m.m.Apply(ctx, changes...); errors.Is(err, logmap.ErrConsumed) {
		// A node tries a transaction at the height of the block before, while it stores the next one.
		return types.ErrHeightNotInFuture.Wrap("a block was stored while this was tried: try again")
	} else if err != nil {
		return err
	}
	if scope := sandbox.ScopeOf(ctx); scope.Left != nil {
		scope.Memory.(*steps).Invalidate(m.m) //nolint:errcheck // what WithSession puts there
	}
	return nil
}

// MayDiffer reports whether the value of a key may not be what the steps of the block have read: they, or somebody whom they
// called, may have changed it since.
func (m *LogMap) MayDiffer(ctx context.Context, key []byte) bool {
	scope := sandbox.ScopeOf(ctx)
	s, _ := scope.Memory.(*steps)
	return s == nil || scope.Left != nil || s.Generation() > 0 || s.Has(m.m, key)
}

// Stored is the map beneath, for the end of a block, after the session was written, and for tools.
func (m *LogMap) Stored() *logmap.Map { return m.m }

// Lookups is a context in which the maps are looked up many times, and not changed: what is read is read once. It is of use for
// queries and lists.
func Lookups(ctx context.Context) (sdk.Context, error) {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	s, err := session(ctx)
	if s == nil && err == nil {
		sdkCtx, _ = WithSession(sdkCtx, nil)
	}
	return sdkCtx, err
}

// Idle reports of a queue, at the end of a block whose session was written, whether of no key's class anything is left below it, and
// nothing waits to be merged.
func (m *LogMap) Idle(ctx context.Context, keys ...[]byte) (bool, error) {
	s, err := session(ctx)
	switch {
	case err != nil:
		return false, err
	case s != nil:
		return s.Idle(ctx, m.m, keys...)
	}
	return m.m.Idle(ctx, keys...)
}

// Settle merges all that waits to be merged, at genesis.
func (m *LogMap) Settle(ctx context.Context) error { return Settle(ctx, m.m) }

// Maintain ends a block whose session was written: it merges, and where nothing is left, nothing is.
func (m *LogMap) Maintain(ctx context.Context, height uint64) error {
	if none, err := m.m.IsNew(ctx); none || err != nil {
		return err
	}
	idle, err := m.m.Maintain(ctx, height)
	if !idle || err != nil {
		return err
	}
	left, err := m.m.Page(ctx, nil, nil, 1)
	if len(left) > 0 || err != nil {
		return err
	}
	return m.m.Clear(ctx)
}

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

// chargeWrite charges for writing a key and its value of so many bytes, as the store does. This and what follows is for records
// that are not stored one by one: so the same operation costs the same gas on all nodes, whatever it does to runs and chunks,
// before and after a merge, an export and an import.
func chargeWrite(ctx context.Context, bytes int) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.WriteCostFlat, storetypes.GasWriteCostFlatDesc)
	meter.ConsumeGas(prices.WriteCostPerByte*uint64(bytes), storetypes.GasWritePerByteDesc)
}

// chargeRead charges for reading a key and its value of so many bytes.
func chargeRead(ctx context.Context, bytes int) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.ReadCostFlat, storetypes.GasReadCostFlatDesc)
	meter.ConsumeGas(prices.ReadCostPerByte*uint64(bytes), storetypes.GasReadPerByteDesc)
}

// chargeHas charges for asking whether a key is there.
func chargeHas(ctx context.Context) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.HasCost, storetypes.GasHasDesc)
}

// chargeRemove charges for removing a key.
func chargeRemove(ctx context.Context) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.DeleteCost, storetypes.GasDeleteDesc)
}

// chargeStep charges for an entry of a scan, whose key and value are of so many bytes.
func chargeStep(ctx context.Context, bytes int) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.ReadCostPerByte*uint64(bytes), storetypes.GasValuePerByteDesc)
	meter.ConsumeGas(prices.IterNextCostFlat, storetypes.GasIterNextCostFlatDesc)
}

func gas(ctx context.Context) (storetypes.GasConfig, storetypes.GasMeter) {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	return sdkCtx.KVGasConfig(), sdkCtx.GasMeter()
}

// HashBytes is how much of the hash of an address stands for it in the keys of a map. No one finds an address that has it in
// common with a given one; two that somebody made to have it in common take 2^40 tries.
const HashBytes = 10

// HashOf is what stands for an address in the keys of a map: no one chooses which keys lie next to each other.
func HashOf(address []byte) []byte {
	hash := sha256.Sum256(address)
	return hash[:HashBytes]
}

// HashRange divides keys that begin with a hash into 64 ranges.
func HashRange(key []byte) uint64 {
	if len(key) == 0 {
		return 0
	}
	return uint64(key[0] >> 2)
}

// memo decodes a value that every message reads, and that hardly ever changes: again only if its bytes are others than those
// before. What it returns follows from the bytes alone, so that it is no cache of state. Callers share what the value points to,
// and must not change it. Several may use it at once.
type memo[T any] struct {
	codec.ValueCodec[T]
	last atomic.Pointer[decoded[T]]
}

type decoded[T any] struct {
	bz    []byte
	value T
}

// newMemo remembers what a codec decoded last.
func newMemo[T any](of codec.ValueCodec[T]) *memo[T] { return &memo[T]{ValueCodec: of} }

// Decode implements codec.ValueCodec.
func (c *memo[T]) Decode(bz []byte) (T, error) {
	if last := c.last.Load(); last != nil && bytes.Equal(last.bz, bz) {
		return last.value, nil
	}
	value, err := c.ValueCodec.Decode(bz)
	if err == nil {
		c.last.Store(&decoded[T]{bytes.Clone(bz), value})
	}
	return value, err
}
