package fires

import (
	"testing"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/query"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// kind is a kind of fire, with the chain on which such timers are due.
type kind struct {
	what, floor string
	chain       *chain
	// before is what happens in the block before its end.
	before func(sdk.Context) error
	// plain does without a timer what the i-th fire does.
	plain func(ctx sdk.Context, i int) error
	// fails: the handlers of the fires fail.
	fails bool
}

func kinds(tb testing.TB, n int) []*kind {
	tb.Helper()
	once := types.Trigger{Height: due}
	interval := types.Trigger{Interval: &types.IntervalTrigger{Every: 5, First: due}}
	tooMuch := int64(1) << 60
	return []*kind{
		sending(tb, n, "a send", wide, once, 1),
		sending(tb, n, "a send at prices of 0", free, once, 1),
		sending(tb, n, "a send that fails", wide, once, tooMuch),
		sending(tb, n, "an interval's send", wide, interval, 1),
		watching(tb, n),
		beating(tb, n),
	}
}

// sending are timers of accounts that send coins.
func sending(tb testing.TB, n int, what string, change func(*types.TimerConfig), trigger types.Trigger, amount int64) *kind {
	tb.Helper()
	c := newChain(tb, n, change)
	k := &kind{what: what, floor: "the same through the router", chain: c, fails: amount > 1}
	sends, schedules := make([]sdk.Msg, n), make([]sdk.Msg, n)
	for i, name := range c.names {
		sends[i] = send(name, amount)
		schedules[i] = schedule(tb, name, trigger, sends[i])
	}
	c.set(tb, schedules...)
	k.plain = func(ctx sdk.Context, i int) error { return c.run(ctx, sends[i]) }
	return k
}

// watching are timers of accounts that send a coin when the sink's balance has changed.
func watching(tb testing.TB, n int) *kind {
	tb.Helper()
	c := newChain(tb, n, func(config *types.TimerConfig) {
		wide(config)
		config.MaxWatchHitsPerBlock = max(config.MaxWatchHitsPerBlock, uint32(n))
	})
	response, err := query.NewServer(c.App.Timers).WatchKey(c.Ctx(), &types.QueryWatchKeyRequest{
		Text: "bank:balance:" + address("sink").String() + ":" + app.FeeDenom,
	})
	require.NoError(tb, err)
	trigger := types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{response.Key}}}
	sends, schedules := make([]sdk.Msg, n), make([]sdk.Msg, n)
	for i, name := range c.names {
		sends[i] = send(name, 1)
		schedules[i] = schedule(tb, name, trigger, sends[i])
	}
	c.set(tb, schedules...)
	return &kind{
		what: "a watch's send", floor: "the same through the router", chain: c,
		before: func(ctx sdk.Context) error { return c.run(ctx, sends[0]) },
		plain:  func(ctx sdk.Context, i int) error { return c.run(ctx, sends[i]) },
	}
}

// beating are contracts that a timer calls, whose code is pinned.
func beating(tb testing.TB, n int) *kind {
	tb.Helper()
	c := newChain(tb, n, wide)
	owner := address(c.names[0])
	msgs := []sdk.Msg{
		&wasmtypes.MsgStoreCode{Sender: owner.String(), WASMByteCode: contracts.Heartbeat},
		&wasmtypes.MsgPinCodes{Authority: c.App.Wasm.GetAuthority(), CodeIDs: []uint64{1}},
	}
	for range n {
		msgs = append(msgs, &wasmtypes.MsgInstantiateContract{
			Sender: owner.String(), CodeID: 1, Label: "heartbeat", Msg: []byte(`{"every":1,"start":true}`),
			Funds: sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1_000_000)),
		})
	}
	c.set(tb, msgs...)
	var beats []sdk.AccAddress
	c.App.Wasm.IterateContractsByCode(c.at(due), 1, func(contract sdk.AccAddress) bool {
		beats = append(beats, contract)
		return false
	})
	require.Len(tb, beats, n)
	call := []byte(`{"handle_timer":{"timer_id":"` + zeros + `","deliver_id":"` + zeros + `","fire_seq":0,"payload":"","height":3}}`)
	return &kind{
		what: "a pinned contract's beat", floor: "the same call of the contract", chain: c,
		plain: func(ctx sdk.Context, i int) error {
			branch, commit := ctx.CacheContext()
			_, err := c.App.Wasm.Sudo(branch.WithGasMeter(storetypes.NewGasMeter(10*gasLimit)), beats[i], call)
			commit()
			return err
		},
	}
}

// zeros stand for an id.
const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// block is a branch of the state in the block in which the timers are due.
func (k *kind) block(tb testing.TB) sdk.Context {
	tb.Helper()
	ctx, _ := k.chain.at(due).CacheContext()
	require.NoError(tb, k.chain.App.Timers.BeginBlock(ctx))
	if k.before != nil {
		require.NoError(tb, k.before(ctx))
	}
	return ctx
}

// fire is the end of that block. All timers must fire.
func (k *kind) fire(tb testing.TB, ctx sdk.Context) cost {
	tb.Helper()
	var err error
	took := costOf(func() { err = k.chain.App.Timers.EndBlock(ctx) })
	require.NoError(tb, err)
	fired, want := 0, "true"
	if k.fails {
		want = "false"
	}
	for _, event := range ctx.EventManager().Events() {
		if success, found := event.GetAttribute("success"); found && event.Type == "timers.v1.TimerFired" {
			require.Equal(tb, want, success.Value, "%v", event)
			fired++
		}
	}
	require.Len(tb, k.chain.names, fired)
	return took
}

// without does the same without timers.
func (k *kind) without(tb testing.TB, ctx sdk.Context) cost {
	tb.Helper()
	failed := 0
	took := costOf(func() {
		for i := range k.chain.names {
			if err := k.plain(ctx, i); err != nil {
				failed++
			}
		}
	})
	require.Equal(tb, k.fails, failed == len(k.chain.names))
	return took
}

// measure times rounds of both in turn, and counts one.
func (k *kind) measure(tb testing.TB, rounds int) Row {
	tb.Helper()
	fire, floor := worst(), worst()
	for range rounds {
		fire.best(k.fire(tb, k.block(tb)))
		floor.best(k.without(tb, k.block(tb)))
	}
	ctx := k.block(tb)
	multi, counts := storecount.WrapMulti(ctx.MultiStore(), nil)
	k.fire(tb, ctx.WithMultiStore(multi))
	n := len(k.chain.names)
	return Row{
		What: k.what, Floor: k.floor, Ratio: fire.seconds / floor.seconds,
		Allocs: fire.allocs / float64(n), FloorAllocs: floor.allocs / float64(n),
		Module: share(counts.Store(types.StoreKey), n), All: share(counts.All(), n),
	}
}

// share is the part of one in n, rounded up.
func share(counts storecount.Counts, n int) storecount.Counts {
	each := func(all int) int { return (all + n - 1) / n }
	return storecount.Counts{
		Gets: each(counts.Gets), Sets: each(counts.Sets), Deletes: each(counts.Deletes), Iterators: each(counts.Iterators), Nexts: each(counts.Nexts),
	}
}
