package evmbinding

import (
	"context"

	"github.com/ethereum/go-ethereum/common"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// counted is a multistore that counts the bytes which are written through it, keys and values. The EVM writes to
// branches of it, so that each entry is counted once, with its last value; one that is removed counts nothing, as with
// the store's gas.
//
// The timers' own store is left out: its records lie in chunks, whose bytes say nothing of what was changed. The
// precompile counts what it writes there as the module states it (cellMeter).
type counted struct {
	storetypes.MultiStore
	cells *uint64
	// opened are the stores that were asked for: the EVM asks again for each value. They hold no values: what a branch
	// of this writes, and drops, lies in the branch. They go with the fire.
	opened map[storetypes.StoreKey]storetypes.KVStore
}

func newCounted(below storetypes.MultiStore, cells *uint64) *counted {
	return &counted{below, cells, map[storetypes.StoreKey]storetypes.KVStore{}}
}

// GetKVStore implements types.MultiStore.
func (c *counted) GetKVStore(key storetypes.StoreKey) storetypes.KVStore {
	if opened, ok := c.opened[key]; ok {
		return opened
	}
	inner := c.MultiStore.GetKVStore(key)
	if _, persistent := key.(*storetypes.KVStoreKey); persistent && key.Name() != timerstypes.StoreKey {
		inner = countedKV{inner, c.cells}
	}
	c.opened[key] = inner
	return inner
}

// GetStore implements types.MultiStore.
func (c *counted) GetStore(key storetypes.StoreKey) storetypes.Store { return c.GetKVStore(key) }

// CacheMultiStore implements types.MultiStore.
func (c *counted) CacheMultiStore() storetypes.CacheMultiStore { return sandbox.BranchOf(c) }

// CacheWrap implements types.CacheWrapper.
func (c *counted) CacheWrap() storetypes.CacheWrap { return sandbox.BranchOf(c) }

type countedKV struct {
	storetypes.KVStore
	cells *uint64
}

// Set implements types.KVStore.
func (s countedKV) Set(key, value []byte) {
	*s.cells += uint64(len(key) + len(value))
	s.KVStore.Set(key, value)
}

type fireKey struct{}

// fireContext is what the precompiles know of the fire that calls them.
type fireContext struct {
	// cells count what is written.
	cells *uint64
	// hash is that of the fire as a transaction.
	hash common.Hash
}

// fireOf is the fire that the context belongs to; nil in a transaction.
func fireOf(ctx context.Context) *fireContext {
	fire, _ := ctx.Value(fireKey{}).(*fireContext)
	return fire
}

// cellMeter books what the module charges for written bytes as cells of the fire, and all else on the meter below,
// which is the EVM's gas. What the EVM undoes stays counted, as gas does.
type cellMeter struct {
	storetypes.GasMeter
	cells       *uint64
	costPerByte uint64
}

// ConsumeGas implements types.GasMeter.
func (m cellMeter) ConsumeGas(amount storetypes.Gas, descriptor string) {
	if descriptor == storetypes.GasWritePerByteDesc && m.costPerByte > 0 {
		*m.cells += amount / m.costPerByte
		amount %= m.costPerByte
	}
	m.GasMeter.ConsumeGas(amount, descriptor)
}
