package state

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestNames_EntriesAreChecked: a name without an entry is noticed, and so is an entry of no timer, or of one without that name.
func TestNames_EntriesAreChecked(t *testing.T) {
	key := storetypes.NewKVStoreKey(types.StoreKey)
	service := runtime.NewKVStoreService(key)
	sb := collections.NewSchemaBuilder(service)
	cdc := codec.NewProtoCodec(codectypes.NewInterfaceRegistry())
	r := NewRecords(sb, service, NewOwners(sb, service), NewLane(cdc, sb))
	_, err := sb.Build()
	require.NoError(t, err)
	ctx := testutil.DefaultContext(key, storetypes.NewTransientStoreKey("transient")).WithBlockHeight(1)
	timer := func(id byte, name string) *types.Timer {
		return &types.Timer{
			Id: bytes.Repeat([]byte{id}, types.IDBytes), Actor: bytes.Repeat([]byte{1}, 20), Due: 9, Seq: uint64(id), Spec: types.TimerSpec{Name: name},
		}
	}
	insert := func(ctx sdk.Context, timer *types.Timer) { require.NoError(t, r.Insert(ctx, timer, 9)) }
	apply := func(ctx sdk.Context, w logmap.Change) { require.NoError(t, r.names.entries.Apply(ctx, w)) }
	rent := timer(1, "rent")
	insert(ctx, rent)
	insert(ctx, timer(2, ""))
	require.NoError(t, r.checkNames(ctx))

	for want, spoil := range map[string]func(ctx sdk.Context){
		`has the name "rent" and no entry of it`: func(ctx sdk.Context) { apply(ctx, logmap.Deleted(nameKey(rent))) },
		"1 names have no timer":                  func(ctx sdk.Context) { apply(ctx, logmap.Inserted(nameKey(timer(3, "rent")), nil)) },
	} {
		branch, _ := ctx.CacheContext()
		spoil(branch)
		require.ErrorContains(t, r.checkNames(branch), want)
	}
	require.NoError(t, r.checkNames(ctx))
}
