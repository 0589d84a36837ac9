package actors_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// contractKeeper stands for wasmd's, which the app's tests run: it knows one contract.
type contractKeeper struct {
	contract sdk.AccAddress
	failure  error
	// called is what the contract was told, metered the meter of its fire.
	called  string
	metered storetypes.GasMeter
}

func (k *contractKeeper) Sudo(ctx context.Context, _ sdk.AccAddress, msg []byte) ([]byte, error) {
	k.called = string(msg)
	k.metered, _ = actors.FireMeter(ctx)
	return nil, k.failure
}

func (k *contractKeeper) HasContractInfo(_ context.Context, contract sdk.AccAddress) bool {
	return contract.Equals(k.contract)
}

func (*contractKeeper) QuerySmart(context.Context, sdk.AccAddress, []byte) ([]byte, error) {
	return nil, errors.New("not asked")
}

func (k *contractKeeper) creator(_ context.Context, contract sdk.AccAddress) sdk.AccAddress {
	if contract.Equals(k.contract) {
		return alice
	}
	return nil
}

var contract = sdk.AccAddress("contract________________________")

func wasmRuntime() (*contractKeeper, *actors.WasmRuntime) {
	k := &contractKeeper{contract: contract}
	return k, actors.NewWasmRuntime(k, k, k.creator)
}

// Rule: 1.3-contract
func TestWhatAContractIsTold(t *testing.T) {
	chain, err := lab.NewChain(lab.ChainOptions{})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())
	k, runtime := wasmRuntime()
	for _, c := range []struct {
		name, handler, payload string
		told                   string
		refused                error
	}{
		{"default", types.DefaultHandler, "\x00beat", `{"handle_timer":{"timer_id":"0a0b","deliver_id":"ff","fire_seq":3,"height":7,"due":5,"trigger":"interval","payload":"AGJlYXQ="}}`, nil},
		{"default, nothing", types.DefaultHandler, "", `{"handle_timer":{"timer_id":"0a0b","deliver_id":"ff","fire_seq":3,"height":7,"due":5,"trigger":"interval","payload":""}}`, nil},
		{"named", "steal_funds", `{"to": "me"}`, `{"steal_funds":{"to": "me"}}`, nil},
		{"named, any JSON", "clockEndBlock2", `null`, `{"clockEndBlock2":null}`, nil},
		{"told of the delivery", "tick+delivery", `{"a": "<b>"}`, `{"tick":{"delivery":{"timer_id":"0a0b","deliver_id":"ff","fire_seq":3,"height":7,"due":5,"trigger":"interval"},"payload":{"a": "<b>"}}}`, nil},
		{"told of the delivery, no JSON", "tick+delivery", `{"a"`, "", types.ErrInvalidPayload},
		{"told of the delivery, more than JSON", "tick+delivery", `{}}}{`, "", types.ErrInvalidPayload},
		{"told twice", "tick+delivery+delivery", `{}`, "", types.ErrInvalidHandler},
		{"another suffix", "tick+all", `{}`, "", types.ErrInvalidHandler},
		{"told without a name", "+delivery", `{}`, "", types.ErrInvalidHandler},
		{"default, told in any case", types.DefaultHandler + "+delivery", `{}`, "", types.ErrInvalidHandler},
		{"no payload", "tick", ``, "", types.ErrInvalidPayload},
		{"no JSON", "tick", `{`, "", types.ErrInvalidPayload},
		{"more than JSON", "tick", `{}},{"mint":{}`, "", types.ErrInvalidPayload},
		{"quote in name", `a":{},"b`, `{}`, "", types.ErrInvalidHandler},
		{"escape in name", `a\u0062`, `{}`, "", types.ErrInvalidHandler},
		{"digit first", "1st", `{}`, "", types.ErrInvalidHandler},
		{"space", "a b", `{}`, "", types.ErrInvalidHandler},
		{"not ASCII", "schlüssel", `{}`, "", types.ErrInvalidHandler},
		{"no name", "", `{}`, "", types.ErrInvalidHandler},
	} {
		t.Run(c.name, func(t *testing.T) {
			k.called = ""
			call := types.Call{Actor: contract, Handler: c.handler, Payload: []byte(c.payload)}
			require.ErrorIs(t, runtime.Validate(chain.Ctx(), nil, call), c.refused)
			delivery := types.Delivery{Call: call, TimerID: []byte{10, 11}, DeliverID: []byte{255}, FireSeq: 3, Height: 7, Due: 5, Trigger: "interval"}
			require.ErrorIs(t, runtime.Deliver(chain.Ctx(), nil, delivery), c.refused)
			require.Equal(t, c.told, k.called)
		})
	}
}

func TestAContractIsToldWhatChanged(t *testing.T) {
	chain, err := lab.NewChain(lab.ChainOptions{})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())
	k, runtime := wasmRuntime()
	require.NoError(t, runtime.Deliver(chain.Ctx(), nil, types.Delivery{
		Call:    types.Call{Actor: contract, Handler: types.DefaultHandler},
		TimerID: []byte{10}, DeliverID: []byte{255}, FireSeq: 3, Height: 7, Due: 5, Trigger: "watch",
		Matched: []types.WatchedKey{{Store: "bank", Key: []byte{2, 0, 255}}, {Store: "wasm", Key: []byte("key")}},
	}))
	require.Equal(t, `{"handle_timer":{"timer_id":"0a","deliver_id":"ff","fire_seq":3,"height":7,"due":5,"trigger":"watch",`+
		`"matched":[{"store":"bank","key":"AgD/"},{"store":"wasm","key":"a2V5"}],"payload":""}}`, k.called)
}

// A contract settles each period by its occurrence, which a delivery names if its trigger has any.
func TestWasmRuntime_NamesTheOccurrence(t *testing.T) {
	chain, err := lab.NewChain(lab.ChainOptions{})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())
	k, runtime := wasmRuntime()
	require.NoError(t, runtime.Deliver(chain.Ctx(), nil, types.Delivery{
		Call:    types.Call{Actor: contract, Handler: types.DefaultHandler},
		TimerID: []byte{10}, DeliverID: []byte{255}, FireSeq: 3, Height: 7, Due: 7, Trigger: "calendar", Occurrence: 1_700_000_060, Index: 2,
	}))
	require.Equal(t, `{"handle_timer":{"timer_id":"0a","deliver_id":"ff","fire_seq":3,"height":7,"due":7,"trigger":"calendar",`+
		`"occurrence":1700000060,"index":2,"payload":""}}`, k.called)
}

func TestAContractsFailureIsTheFires(t *testing.T) {
	chain, err := lab.NewChain(lab.ChainOptions{})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())
	k, runtime := wasmRuntime()
	k.failure = errors.New("failure of the contract")
	ctx := chain.Ctx().WithGasMeter(storetypes.NewGasMeter(1_000_000))
	delivery := types.Delivery{Call: types.Call{Actor: contract, Handler: types.DefaultHandler}}
	require.ErrorIs(t, runtime.Deliver(ctx, nil, delivery), k.failure)
	require.Same(t, ctx.GasMeter(), k.metered)
	_, within := actors.FireMeter(ctx)
	require.False(t, within, "outside of a fire there is no meter of one")
	delivery.Actor = sdk.AccAddress("no such contract")
	require.ErrorIs(t, runtime.Deliver(ctx, nil, delivery), types.ErrActorGone)
}

func TestWhoDeployedAContract(t *testing.T) {
	_, runtime := wasmRuntime()
	require.Equal(t, alice, runtime.Deployer(context.Background(), contract))
	require.Equal(t, bob, runtime.Deployer(context.Background(), bob), "nobody is known to have")
	require.True(t, runtime.Serves(context.Background(), contract))
	require.False(t, runtime.Serves(context.Background(), alice))
}

// TestWasmRuntime_AsksForWhatLoadingTakes: the least of a call is that of its message, and of messages nothing.
func TestWasmRuntime_AsksForWhatLoadingTakes(t *testing.T) {
	k := &contractKeeper{contract: contract}
	runtime := actors.NewWasmRuntime(k, k, k.creator, actors.WithLeast(
		func(_ context.Context, of sdk.AccAddress, bytes int) uint64 {
			require.Equal(t, contract, of)
			return 60_000 + uint64(bytes)
		}))
	least, err := runtime.LeastCycles(context.Background(), types.Call{Actor: contract, Handler: "tick", Payload: []byte("null")})
	require.NoError(t, err)
	require.Equal(t, uint64(60_000+len(`{"tick":null}`)), least)
	least, err = runtime.LeastCycles(context.Background(), types.Call{Actor: contract, Messages: true})
	require.NoError(t, err)
	require.Zero(t, least)
	_, without := wasmRuntime()
	least, err = without.LeastCycles(context.Background(), types.Call{Actor: contract, Handler: "tick", Payload: []byte("null")})
	require.NoError(t, err)
	require.Zero(t, least)
}
