package evmbinding

import (
	"context"
	"math/big"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	gogogrpc "github.com/cosmos/gogoproto/grpc"
	"github.com/ethereum/go-ethereum/common"
	"google.golang.org/grpc"

	"cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Slots make the storage of contracts watchable. x/vm's keeper opens its store by a key and not by a service, so that
// the multistore is wrapped in which messages and fires run.
type Slots struct {
	key     storetypes.StoreKey
	service store.KVStoreService
}

// NewSlots declares x/vm's store to the watcher of the chain, given its key.
func NewSlots(watcher *watch.Watcher, key storetypes.StoreKey) *Slots {
	return &Slots{key, watcher.Service(watch.Ungassed(key), SlotStore())}
}

// slotKeyBytes is how long the key of a storage slot is: its region, the contract, and the slot.
const slotKeyBytes = 1 + common.AddressLength + common.HashLength

// SlotStore is what can be watched of x/vm's store: storage slots. Conditions read them as unsigned numbers; a slot
// that is not there is 0.
func SlotStore() watch.Store {
	return watch.Store{
		Name:  evmtypes.StoreKey,
		Whole: isSlotKey,
		Reading: func([]byte) watch.Reading {
			return watch.Reading{Number: func(value []byte) (string, bool) { return new(big.Int).SetBytes(value).String(), true }}
		},
		Forms: []watch.Form{{
			Name: "slot", Arguments: []string{"CONTRACT", "SLOT"}, Watches: "a storage slot of a contract, both in hexadecimal",
			Build: func(arguments []string) ([]byte, error) {
				if !common.IsHexAddress(arguments[0]) {
					return nil, types.ErrInvalidWatch.Wrapf("%.80q is no address in hexadecimal", arguments[0])
				}
				slot, ok := new(big.Int).SetString(arguments[1], 0)
				if !ok || slot.Sign() < 0 || slot.BitLen() > 256 {
					return nil, types.ErrInvalidWatch.Wrapf("%.80q is no slot", arguments[1])
				}
				return slotKey(common.HexToAddress(arguments[0]), common.BigToHash(slot)), nil
			},
		}},
	}
}

func isSlotKey(key []byte) bool {
	return len(key) == slotKeyBytes && key[0] == evmtypes.KeyPrefixStorage[0]
}

func slotKey(contract common.Address, slot common.Hash) []byte {
	return append(evmtypes.AddressStoragePrefix(contract), slot.Bytes()...)
}

// over is a multistore whose writes to x/vm's store are noted when they leave the branch that they were made in.
func (s *Slots) over(ctx sdk.Context) storetypes.MultiStore {
	return &observed{ctx.MultiStore(), s, ctx}
}

type observed struct {
	storetypes.MultiStore
	slots *Slots
	// below is a context of the multistore beneath.
	below sdk.Context
}

// GetKVStore implements types.MultiStore.
func (o *observed) GetKVStore(key storetypes.StoreKey) storetypes.KVStore {
	inner := o.MultiStore.GetKVStore(key)
	if key != o.slots.key {
		return inner
	}
	return observedKV{inner, o}
}

// GetStore implements types.MultiStore.
func (o *observed) GetStore(key storetypes.StoreKey) storetypes.Store { return o.GetKVStore(key) }

// CacheMultiStore implements types.MultiStore.
func (o *observed) CacheMultiStore() storetypes.CacheMultiStore { return sandbox.BranchOf(o) }

// CacheWrap implements types.CacheWrapper.
func (o *observed) CacheWrap() storetypes.CacheWrap { return sandbox.BranchOf(o) }

type observedKV struct {
	storetypes.KVStore
	from *observed
}

func (s observedKV) noting() store.KVStore { return s.from.slots.service.OpenKVStore(s.from.below) }

// Set implements types.KVStore. It panics if the note can't be written, as stores do.
func (s observedKV) Set(key, value []byte) {
	if err := s.noting().Set(key, value); err != nil {
		panic(err)
	}
}

// Delete implements types.KVStore.
func (s observedKV) Delete(key []byte) {
	if err := s.noting().Delete(key); err != nil {
		panic(err)
	}
}

// Configurator wraps an app's, so that the messages of all modules run over the slots: Ethereum transactions, and what
// else calls the EVM. What modules do at the beginning and the end of blocks is not noticed. In fires it refuses
// UnmeteredMessages.
func (s *Slots) Configurator(cfg module.Configurator) module.Configurator {
	return configurator{cfg, s}
}

type configurator struct {
	module.Configurator
	slots *Slots
}

// MsgServer implements module.Configurator.
func (c configurator) MsgServer() gogogrpc.Server {
	return registrar{c.Configurator.MsgServer(), c.slots}
}

type registrar struct {
	gogogrpc.Server
	slots *Slots
}

// RegisterService registers the same methods, whose context is over the slots.
func (r registrar) RegisterService(desc *grpc.ServiceDesc, server any) {
	wrapped := *desc
	wrapped.Methods = make([]grpc.MethodDesc, len(desc.Methods))
	for i, method := range desc.Methods {
		wrapped.Methods[i] = grpc.MethodDesc{MethodName: method.MethodName, Handler: r.over(method.Handler)}
	}
	r.Server.RegisterService(&wrapped, server)
}

type methodHandler = func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error)

func (r registrar) over(handler methodHandler) methodHandler {
	return func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		return handler(srv, ctx, dec, func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			return interceptor(ctx, req, info, func(ctx context.Context, req any) (any, error) {
				if err := checkMetered(ctx, req); err != nil {
					return nil, err
				}
				sdkCtx := sdk.UnwrapSDKContext(ctx)
				return next(sdkCtx.WithMultiStore(r.slots.over(sdkCtx)), req)
			})
		})
	}
}

// The sources of contracts/ITimers.sol.
const (
	sourceSlot uint8 = iota
	sourceBalance
	sourceCoin
	sourceRaw
)

// coinKey is the bank's key of a balance.
func coinKey(owner common.Address, denom string) []byte {
	key := append(banktypes.BalancesPrefix.Bytes(), common.AddressLength)
	return append(append(key, owner.Bytes()...), denom...)
}

// keyOf is the key that a contract names. A condition on a native balance is in wei, which must be whole units of the
// bank's denom.
func (w *WatchKey) keyOf() (types.WatchKey, error) {
	var key types.WatchKey
	value := w.When.Value
	if err := w.checkUnused(); err != nil {
		return key, err
	}
	switch w.Source {
	case sourceSlot:
		key = types.WatchKey{Store: evmtypes.StoreKey, Prefix: slotKey(w.Target, w.Slot)}
	case sourceBalance:
		key = types.WatchKey{Store: banktypes.StoreKey, Prefix: coinKey(w.Target, evmtypes.GetEVMCoinDenom())}
		units, rest := new(big.Int).QuoRem(value, weiPerUnit(), new(big.Int))
		if value = units; rest.Sign() != 0 {
			return key, types.ErrInvalidWatch.Wrapf("%s wei are not whole units of %s", w.When.Value, evmtypes.GetEVMCoinDenom())
		}
	case sourceCoin:
		if err := sdk.ValidateDenom(w.Name); err != nil {
			return key, types.ErrInvalidWatch.Wrapf("%.80q is an invalid denom", w.Name)
		}
		key = types.WatchKey{Store: banktypes.StoreKey, Prefix: coinKey(w.Target, w.Name)}
	case sourceRaw:
		// What may be watched of a store the chain's watcher knows.
		key = types.WatchKey{Store: w.Name, Prefix: w.Key}
	default:
		return key, types.ErrInvalidWatch.Wrapf("source %d: want Slot, Balance, Coin or Raw", w.Source)
	}
	switch op := types.ConditionOp(w.When.Op); op {
	case types.ConditionUnspecified, types.ConditionExists, types.ConditionAbsent:
		if w.When.Value.Sign() != 0 {
			return key, types.ErrInvalidWatch.Wrap("a value is stated for Any, Exists or Absent, which compare with none")
		}
		if op != types.ConditionUnspecified {
			key.When = &types.WatchCondition{Op: op}
		}
	default:
		key.When = &types.WatchCondition{Op: op, Value: value.String()}
	}
	return key, nil
}

// checkUnused refuses what is stated and means nothing for the source.
func (w *WatchKey) checkUnused() error {
	switch {
	case w.Source < sourceCoin && w.Name != "":
		return types.ErrInvalidWatch.Wrap("name is stated for neither Coin nor Raw")
	case w.Source < sourceRaw && len(w.Key) > 0:
		return types.ErrInvalidWatch.Wrap("key is stated without Raw")
	case w.Source == sourceRaw && w.Target != (common.Address{}):
		return types.ErrInvalidWatch.Wrap("target is stated for Raw, whose key names it")
	case w.Source != sourceSlot && w.Slot != ([32]byte{}):
		return types.ErrInvalidWatch.Wrap("slot is stated without Slot")
	}
	return nil
}

func keysOf(all []WatchKey) ([]types.WatchKey, error) {
	keys := make([]types.WatchKey, len(all))
	for i := range all {
		var err error
		if keys[i], err = all[i].keyOf(); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// statedKeys are keys as contracts state them, the inverse of keysOf. A condition that is no whole number, which an account
// can state, no contract can.
func statedKeys(keys []types.WatchKey) ([]WatchKey, error) {
	all := make([]WatchKey, len(keys))
	for i, key := range keys {
		named := changedKey(key.Store, key.Prefix)
		all[i] = WatchKey{named.Source, named.Target, named.Slot, named.Name, named.Key, WatchCondition{Value: new(big.Int)}}
		if key.When == nil {
			continue
		}
		all[i].When.Op = uint8(key.When.Op)
		if key.When.Value == "" {
			continue
		}
		value, ok := new(big.Int).SetString(key.When.Value, 10)
		if ok && named.Source == sourceBalance {
			value.Mul(value, weiPerUnit())
		}
		if !ok || value.Sign() < 0 || value.BitLen() > 256 {
			return nil, types.ErrInvalidWatch.Wrapf("the condition's value %.80q is no uint256", key.When.Value)
		}
		all[i].When.Value = value
	}
	return all, nil
}

// changedOf names keys that changed as contracts do.
func changedOf(keys []types.WatchedKey) []changed {
	all := make([]changed, len(keys))
	for i, key := range keys {
		all[i] = changedKey(key.Store, key.Key)
	}
	return all
}

func changedKey(store string, key []byte) changed {
	switch {
	case store == evmtypes.StoreKey && isSlotKey(key):
		return changed{
			Source: sourceSlot, Target: common.Address(key[1 : 1+common.AddressLength]), Slot: [32]byte(key[1+common.AddressLength:]),
		}
	case store == banktypes.StoreKey && len(key) > 2+common.AddressLength:
		owner, denom := common.Address(key[2:2+common.AddressLength]), string(key[2+common.AddressLength:])
		switch {
		case string(coinKey(owner, denom)) != string(key):
		case denom == evmtypes.GetEVMCoinDenom():
			return changed{Source: sourceBalance, Target: owner}
		default:
			return changed{Source: sourceCoin, Target: owner, Name: denom}
		}
	}
	return changed{Source: sourceRaw, Name: store, Key: key}
}
