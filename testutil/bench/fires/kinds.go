package fires

import (
	"strconv"
	"testing"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// kind is a kind of fire.
type kind struct {
	what, floor string
	// set makes a chain on which so many timers of the kind are due.
	set func(testing.TB, int) *dueTimers
}

// dueTimers are timers of a kind, and the chain on which they are due.
type dueTimers struct {
	*chain
	// before is what happens in the block before its end.
	before func(sdk.Context) error
	// plain does without a timer what the i-th fire does.
	plain func(ctx sdk.Context, i int) error
	// fails: the handlers of the fires fail.
	fails bool
}

const sameSend = "the same through the router"

func kinds() []kind {
	once := types.Trigger{Height: due}
	interval := types.Trigger{Interval: &types.IntervalTrigger{Every: 5, First: due}}
	return []kind{
		{"a send", sameSend, sending(wide, once, 1)},
		{"a send at prices of 0", sameSend, sending(free, once, 1)},
		{"a send that fails", sameSend, sending(wide, once, 1<<60)},
		{"an interval's send", sameSend, sending(wide, interval, 1)},
		{"a watch's send", sameSend, watching},
		{"a pinned contract's beat", "the same call of the contract", beating},
	}
}

// sending are timers of accounts that send coins; they fail if an account has not as many.
func sending(change func(*types.TimerConfig), trigger types.Trigger, amount int64) func(testing.TB, int) *dueTimers {
	return func(tb testing.TB, n int) *dueTimers {
		tb.Helper()
		c := newChain(tb, n, change)
		sends := c.scheduleSends(tb, trigger, amount)
		return &dueTimers{
			chain: c, fails: amount > appchain.Funds.Int64(),
			plain: func(ctx sdk.Context, i int) error { return c.run(ctx, sends[i]) },
		}
	}
}

// scheduleSends schedules a send of each account, and returns the sends.
func (c *chain) scheduleSends(tb testing.TB, trigger types.Trigger, amount int64) []sdk.Msg {
	tb.Helper()
	sends, schedules := make([]sdk.Msg, len(c.names)), make([]sdk.Msg, len(c.names))
	for i, name := range c.names {
		sends[i] = send(name, amount)
		schedules[i] = schedule(tb, name, trigger, sends[i])
	}
	c.set(tb, schedules...)
	return sends
}

// watching are timers of accounts that send a coin when the sink's balance has changed.
func watching(tb testing.TB, n int) *dueTimers {
	tb.Helper()
	c := newChain(tb, n, func(config *types.TimerConfig) {
		wide(config)
		config.OverheadCyclesPerBlock += market.CyclesFor(market.Notify, 2*n)
	})
	response, err := keeper.NewQueryServer(c.App.Timers).WatchKey(c.Ctx(), &types.QueryWatchKeyRequest{
		Text: "bank:balance:" + address("sink").String() + ":" + app.FeeDenom,
	})
	require.NoError(tb, err)
	trigger := types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{response.Key}}}
	sends := c.scheduleSends(tb, trigger, 1)
	return &dueTimers{
		chain:  c,
		before: func(ctx sdk.Context) error { return c.run(ctx, sends[0]) },
		plain:  func(ctx sdk.Context, i int) error { return c.run(ctx, sends[i]) },
	}
}

// beating are contracts that a timer calls, whose code is pinned.
func beating(tb testing.TB, n int) *dueTimers {
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
	call := []byte(`{"handle_timer":{"timer_id":"` + zeros + `","deliver_id":"` + zeros + `","fire_seq":0,"height":3,"due":3,` +
		`"trigger":"height","payload":""}}`)
	return &dueTimers{
		chain: c,
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
func (d *dueTimers) block(tb testing.TB) sdk.Context {
	tb.Helper()
	ctx, _ := d.at(due).CacheContext()
	require.NoError(tb, d.App.Timers.BeginBlock(ctx))
	if d.before != nil {
		require.NoError(tb, d.before(ctx))
	}
	return ctx
}

// fire is the end of that block. All timers must fire.
func (d *dueTimers) fire(tb testing.TB, ctx sdk.Context) cost {
	tb.Helper()
	var err error
	took := costOf(func() { err = d.App.Timers.EndBlock(ctx) })
	require.NoError(tb, err)
	fired, want := 0, strconv.FormatBool(!d.fails)
	for _, event := range ctx.EventManager().Events() {
		if success, found := event.GetAttribute("success"); found && event.Type == firedEvent {
			require.Equal(tb, want, success.Value, "%v", event)
			fired++
		}
	}
	require.Len(tb, d.names, fired)
	return took
}

// without does the same without timers.
func (d *dueTimers) without(tb testing.TB, ctx sdk.Context) cost {
	tb.Helper()
	failed := 0
	took := costOf(func() {
		for i := range d.names {
			if err := d.plain(ctx, i); err != nil {
				failed++
			}
		}
	})
	require.Equal(tb, d.fails, failed == len(d.names))
	return took
}

// measure times rounds of both in turn, and counts one.
func (k *kind) measure(tb testing.TB, opts Options) Row {
	tb.Helper()
	d := k.set(tb, opts.Fires)
	fire, floor := worst(), worst()
	for range opts.Rounds {
		fire.best(d.fire(tb, d.block(tb)))
		floor.best(d.without(tb, d.block(tb)))
	}
	ctx := d.block(tb)
	multi, counts := storecount.WrapMulti(ctx.MultiStore(), nil)
	d.fire(tb, ctx.WithMultiStore(multi))
	n := len(d.names)
	return Row{
		What: k.what, Floor: k.floor,
		Micros: fire.seconds / float64(n) * 1e6, FloorMicros: floor.seconds / float64(n) * 1e6, Ratio: fire.seconds / floor.seconds,
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
