package replay

import (
	"encoding/binary"
	"strconv"

	corestore "cosmossdk.io/core/store"
	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// The regions of a replay's store.
const (
	// regionIDs: timer's name → its id. A binding is undone with the transaction that made it.
	regionIDs = 'i'
	// regionNames: timer's id → its name. Kept when the timer is gone, so that events can be read.
	regionNames = 'n'
	// regionCells: account → what its handlers wrote.
	regionCells = 'c'
	// regionKeys: scenario key → how often it was changed.
	regionKeys = scenario.KeyPrefix
)

// unknownID stands for a timer that was never created: no hash is zero.
const unknownID = "0000000000000000000000000000000000000000000000000000000000000000"

// store is the replay's own store: real state, committed and discarded with the rest of the block.
type store struct {
	key     *storetypes.KVStoreKey
	service corestore.KVStoreService
}

func newStore() *store {
	key := storetypes.NewKVStoreKey(scenario.KeyStore)
	return &store{key: key, service: runtime.NewKVStoreService(key)}
}

// watch makes the scenario's keys watchable.
func (s *store) watch(watcher *watch.Watcher) {
	s.service = watcher.Service(s.service, watch.Store{
		Name:    scenario.KeyStore,
		Whole:   func(key []byte) bool { return len(key) > 1 && key[0] == regionKeys },
		Reading: func([]byte) watch.Reading { return watch.Reading{Number: changes} },
		Forms: []watch.Form{{
			Name: "key", Arguments: []string{"KEY"}, Watches: "a key of the scenario",
			Build: func(arguments []string) ([]byte, error) { return scenario.WatchKey(arguments[0]).Prefix, nil },
		}},
	})
}

// open returns the store for the replay's own bookkeeping, which is not metered.
func (s *store) open(ctx sdk.Context) corestore.KVStore {
	return s.service.OpenKVStore(ctx.WithGasMeter(storetypes.NewInfiniteGasMeter()))
}

// changes reads the value of a scenario key as a number: how often it was changed.
func changes(value []byte) (string, bool) {
	if len(value) != 8 {
		return "0", value == nil
	}
	return strconv.FormatUint(binary.BigEndian.Uint64(value), 10), true
}

// set changes a scenario key. The context's meter counts it.
func (s *store) set(ctx sdk.Context, op *scenario.Op) error {
	kv, key := s.service.OpenKVStore(ctx), scenario.WatchKey(op.Key).Prefix
	before, err := kv.Get(key)
	if err != nil {
		return err
	}
	changes := uint64(1)
	if before != nil {
		changes += binary.BigEndian.Uint64(before)
	}
	return kv.Set(key, binary.BigEndian.AppendUint64(nil, changes))
}

// writeCells writes exactly this many bytes, key and value together. It meters them as the store would, but without the
// flat cost of a write. It meters them first, so that a refused amount is never allocated.
func (s *store) writeCells(ctx sdk.Context, delivery types.Delivery, cells uint64) error {
	if cells == 0 {
		return nil
	}
	ctx.GasMeter().ConsumeGas(cells*ctx.KVGasConfig().WriteCostPerByte, storetypes.GasWritePerByteDesc)
	key := append([]byte{regionCells}, delivery.Actor...)
	key = key[:min(uint64(len(key)), cells)]
	value := make([]byte, cells-uint64(len(key)))
	copy(value, delivery.DeliverID)
	return s.open(ctx).Set(key, value)
}

// bind stores the name of the timer that an op scheduled.
func (s *store) bind(ctx sdk.Context, op *scenario.Op, result *sdk.Result) error {
	if op.Kind != scenario.OpSchedule {
		return nil
	}
	response, ok := result.MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	if !ok {
		return errorsmod.Wrapf(lab.ErrNoHandler, "unexpected response to %s", op.Kind)
	}
	kv := s.open(ctx)
	if err := kv.Set(append([]byte{regionIDs}, op.As...), []byte(response.Id)); err != nil {
		return err
	}
	return kv.Set(append([]byte{regionNames}, response.Id...), []byte(op.As))
}

// idOf returns the id of a timer by its name, or one that no timer has.
func (s *store) idOf(ctx sdk.Context, name string) (string, error) {
	id, err := s.open(ctx).Get(append([]byte{regionIDs}, name...))
	if id == nil {
		return unknownID, err
	}
	return string(id), err
}

// nameOf returns the name of a timer by its id.
func (s *store) nameOf(ctx sdk.Context, id string) (string, error) {
	name, err := s.open(ctx).Get(append([]byte{regionNames}, id...))
	return string(name), err
}
