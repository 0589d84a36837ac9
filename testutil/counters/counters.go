// Package counters is a runtime that a chain brings along: its actors are counters, and their timers count. A counter
// is no account and no module. x/timers/docs/extend/extend.md explains it.
package counters

import (
	"context"
	"encoding/binary"

	corestore "cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/address"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// StoreKey of the store that holds the counters.
const StoreKey = "counters"

// Address of the counter of a name.
func Address(name string) sdk.AccAddress { return address.Module(StoreKey, []byte(name)) }

// Runtime serves counters.
type Runtime struct{ store corestore.KVStoreService }

var _ types.Runtime = Runtime{}

// New returns the runtime over the store of the counters.
func New(store corestore.KVStoreService) Runtime { return Runtime{store} }

// Create makes a counter, whose address can own timers from then on.
func (r Runtime) Create(ctx context.Context, name string) error {
	return r.store.OpenKVStore(ctx).Set(Address(name), binary.BigEndian.AppendUint64(nil, 0))
}

// Count is where the counter stands; false if there is none.
func (r Runtime) Count(ctx context.Context, counter sdk.AccAddress) (count uint64, found bool, err error) {
	bz, err := r.store.OpenKVStore(ctx).Get(counter)
	if err != nil || bz == nil {
		return 0, false, err
	}
	return binary.BigEndian.Uint64(bz), true, nil
}

// Serves implements types.Runtime.
func (r Runtime) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	_, found, err := r.Count(ctx, actor)
	return found && err == nil
}

// Validate implements types.Runtime: the payload is how much to add, eight bytes.
func (Runtime) Validate(_ context.Context, _ *types.TimerConfig, call types.Call) error {
	if call.Handler != types.DefaultHandler {
		return types.ErrInvalidHandler.Wrapf("a counter has no handler %.80q", call.Handler)
	}
	if len(call.Payload) != 8 {
		return types.ErrInvalidPayload.Wrapf("%d bytes, want 8", len(call.Payload))
	}
	return nil
}

// Deliver implements types.Runtime.
func (r Runtime) Deliver(ctx context.Context, config *types.TimerConfig, d types.Delivery) error {
	if err := r.Validate(ctx, config, d.Call); err != nil {
		return err
	}
	count, _, err := r.Count(ctx, d.Actor)
	if err != nil {
		return err
	}
	count += binary.BigEndian.Uint64(d.Payload)
	return r.store.OpenKVStore(ctx).Set(d.Actor, binary.BigEndian.AppendUint64(nil, count))
}

// Deployer implements types.Runtime: no one deployed it but itself.
func (Runtime) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }
