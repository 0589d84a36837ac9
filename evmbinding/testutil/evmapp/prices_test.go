package evmapp

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/cosmos/evm/x/vm/statedb"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/params"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// owned are the timers with which prices are found.
type owned struct {
	account Account
	// text is the account's address as messages write it.
	text string
	// far is due in a thousand blocks, watching watches eight slots; beat repeats, held is paused, and these two have names.
	far, beat, held, watching [32]byte
	// many are more that are far.
	many [][32]byte
}

// price is one call of a precompile, and what the module does for it by itself: messages, or a question.
type price struct {
	to   common.Address
	data []byte
	same func(ctx sdk.Context) error
}

// sent runs messages as a transaction does, behind its ante handler.
func (c *Chain) sent(msgs ...sdk.Msg) func(ctx sdk.Context) error {
	return func(ctx sdk.Context) error {
		for _, msg := range msgs {
			if _, err := c.MsgServiceRouter().Handler(msg)(ctx, msg); err != nil {
				return err
			}
		}
		return nil
	}
}

// priced are calls of each function of the precompiles, by the function's name; a second one of a name has more of
// what the function works on.
func priced(tb testing.TB, c *Chain, o *owned) map[string][]price {
	tb.Helper()
	queries := timerskeeper.NewQueryServer(c.Timers.Keeper)
	call := func(to common.Address, parsed abi.ABI, name string, same func(sdk.Context) error, args ...any) price {
		data, err := parsed.Pack(name, args...)
		require.NoError(tb, err, name)
		return price{to, data, same}
	}
	at := func(name string, same func(sdk.Context) error, args ...any) price {
		return call(evmbinding.Address, evmbinding.ABI, name, same, args...)
	}
	booking := func(name string, same func(sdk.Context) error, args ...any) price {
		return call(evmbinding.HRC1215Address, evmbinding.HRC1215, name, same, args...)
	}
	const gas = 200_000
	schedule := func(
		t timerstypes.Trigger, handler string, payload []byte, change ...func(*timerstypes.MsgScheduleTimer),
	) sdk.Msg {
		msg := &timerstypes.MsgScheduleTimer{Sender: o.text, Spec: timerstypes.TimerSpec{
			Trigger: t, Call: timerstypes.TimerCall{Handler: handler, Payload: payload}, GasLimit: gas,
		}}
		for _, f := range change {
			f(msg)
		}
		return msg
	}
	id := func(id [32]byte) string { return hex.EncodeToString(id[:]) }
	height, second := c.Height()+1_000, c.Now()+3_600
	moment := time.Unix(int64(second), 0).UTC()
	byHeight, byTime := timerstypes.Trigger{Height: height}, timerstypes.Trigger{Time: &moment}
	callback, much := evmbinding.HandlerCallback, make([]byte, 8_000)
	plain := func(s *Spec) { s.Trigger.Height = height }
	slots := func(n int) (watches []Watch, keys []timerstypes.WatchKey) {
		for i := range n {
			slot := common.BigToHash(big.NewInt(int64(i)))
			watches = append(watches, Watch{Source: fromSlot, Target: o.account.Address, Slot: slot})
			key := append(evmtypes.AddressStoragePrefix(o.account.Address), slot.Bytes()...)
			keys = append(keys, timerstypes.WatchKey{Store: evmtypes.StoreKey, Prefix: key})
		}
		return watches, keys
	}
	watching := func(n int) price {
		watches, keys := slots(n)
		watch := timerstypes.Trigger{Watch: &timerstypes.WatchTrigger{Keys: keys}}
		return at("schedule", c.sent(schedule(watch, callback, nil)), spec(gas, nil, func(s *Spec) { s.Trigger.Watch.Keys = watches }))
	}
	calling := func(data []byte) (payload []byte) {
		payload, err := evmbinding.EncodeCall(bob.Address, new(big.Int), data)
		require.NoError(tb, err)
		return payload
	}
	each := func(n int, msg func(i int) sdk.Msg) func(sdk.Context) error {
		var all []sdk.Msg
		for i := range n {
			all = append(all, msg(i))
		}
		return c.sent(all...)
	}
	heights := func(n int) price {
		all := make([]uint64, n)
		for i := range all {
			all[i] = height + uint64(i)
		}
		return at("scheduleAtHeights", each(n, func(i int) sdk.Msg {
			return schedule(timerstypes.Trigger{Height: all[i]}, callback, []byte{1})
		}), all, uint64(gas), []byte{1})
	}
	times := func(n int) price {
		all := make([]uint64, n)
		for i := range all {
			all[i] = second + uint64(i)
		}
		return at("scheduleAtTimes", each(n, func(i int) sdk.Msg {
			moment := time.Unix(int64(all[i]), 0).UTC()
			return schedule(timerstypes.Trigger{Time: &moment}, callback, []byte{1})
		}), all, uint64(gas), []byte{1})
	}
	batch := func(n, watches int) price {
		payload, specs := []byte{1, 2, 3}, make([]Spec, n)
		asked, keys := slots(watches)
		stated := byHeight
		if watches > 0 {
			stated = timerstypes.Trigger{Watch: &timerstypes.WatchTrigger{Keys: keys}}
		}
		for i := range specs {
			specs[i] = spec(gas, payload, plain)
			if watches > 0 {
				specs[i] = spec(gas, payload, func(s *Spec) { s.Trigger.Watch.Keys = asked })
			}
		}
		return at("scheduleBatch", each(n, func(int) sdk.Msg { return schedule(stated, callback, payload) }),
			specs)
	}
	// In the order of the owner's list.
	first := append([][32]byte{o.held, o.watching, o.beat, o.far}, o.many...)
	cancellingAll := func(n uint32) price {
		return at("cancelAll", each(int(n), func(i int) sdk.Msg {
			return &timerstypes.MsgCancelTimer{Sender: o.text, Id: id(first[i])}
		}), n)
	}
	cancelling := func(n int) price {
		return at("cancelEach", each(n, func(i int) sdk.Msg {
			return &timerstypes.MsgCancelTimer{Sender: o.text, Id: id(o.many[i])}
		}), o.many[:n])
	}
	listing := func(n uint32) price {
		return at("timersOf", func(ctx sdk.Context) error {
			_, err := queries.TimersByActor(ctx, &timerstypes.QueryTimersByActorRequest{
				Actor: o.text, Pagination: &sdkquery.PageRequest{Limit: uint64(n)},
			})
			return err
		}, o.account.Address, uint32(0), n)
	}
	stating := func(id [32]byte) price {
		return at("specOf", func(ctx sdk.Context) error {
			_, err := c.Timers.Keeper.Engine().Records.Lookup(ctx, o.account.Address.Bytes(), id[:])
			return err
		}, o.account.Address, id)
	}
	updating := func(payload []byte) price {
		msg := &timerstypes.MsgUpdateTimer{Sender: o.text, Id: id(o.far), Spec: timerstypes.TimerSpec{
			Call: timerstypes.TimerCall{Handler: callback, Payload: payload},
		}, Fields: []string{"call"}}
		return at("update", c.sent(msg), o.far, spec(0, payload), msg.Fields, uint64(0))
	}
	spender := sdk.AccAddress(AccountOf("a spender").Address.Bytes())
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{
		SpendLimit: sdk.NewCoins(sdk.NewInt64Coin(Denom, 1_000)),
	}, []string{sdk.MsgTypeURL(&timerstypes.MsgScheduleTimer{})})
	require.NoError(tb, err)
	grant, err := feegrant.NewMsgGrantAllowance(allowance, o.account.Address.Bytes(), spender)
	require.NoError(tb, err)
	revoke := feegrant.NewMsgRevokeAllowance(o.account.Address.Bytes(), alice.Address.Bytes())
	expiry, limit := new(big.Int).SetUint64(second), big.NewInt(gas)
	payer := func(msg *timerstypes.MsgScheduleTimer) {
		msg.Spec.FeePayer = sdk.AccAddress(bob.Address.Bytes()).String()
	}
	booked := func(data []byte, change ...func(*timerstypes.MsgScheduleTimer)) func(sdk.Context) error {
		return c.sent(schedule(byTime, evmbinding.HandlerCall, calling(data), change...))
	}
	// What a capacity takes: what it writes is dropped, and not charged.
	unwritten := func(ctx sdk.Context) error {
		prices := ctx.KVGasConfig()
		prices.WriteCostFlat, prices.WriteCostPerByte = 0, 0
		return booked(nil)(ctx.WithKVGasConfig(prices))
	}
	// What has no timer is looked for all the same.
	looked := func(ctx sdk.Context) error {
		_, err := c.Timers.Keeper.Engine().Records.Lookup(ctx, o.account.Address.Bytes(), o.far[:])
		return err
	}
	byCall := at("schedule", c.sent(schedule(byHeight, evmbinding.HandlerCall, calling(nil))),
		spec(gas, nil, plain, callTo(bob.Address, new(big.Int), nil)))
	bySize := at("schedule", c.sent(schedule(byHeight, evmbinding.HandlerCall, calling(much))),
		spec(gas, nil, plain, callTo(bob.Address, new(big.Int), much)))
	scheduled := func(t timerstypes.Trigger, payload []byte) func(sdk.Context) error {
		return c.sent(schedule(t, callback, payload))
	}
	every := timerstypes.Trigger{Interval: &timerstypes.IntervalTrigger{Every: 9}}
	thrice := func(msg *timerstypes.MsgScheduleTimer) { msg.Spec.Repeat = &timerstypes.Repeat{Remaining: 3} }
	hourly := timerstypes.Trigger{Calendar: &timerstypes.CalendarTrigger{Every: &timerstypes.EveryRule{Seconds: 3_600}}}
	retriggering := at("update", c.sent(&timerstypes.MsgUpdateTimer{
		Sender: o.text, Id: id(o.far), Spec: timerstypes.TimerSpec{Trigger: byHeight}, Fields: []string{"trigger"},
	}), o.far, spec(0, nil, plain), []string{"trigger"}, uint64(0))
	upcoming := func(name string, limit uint32) price {
		asked := []any{o.account.Address, o.beat, limit}
		request := timerstypes.QueryOccurrencesRequest{Actor: o.text, Id: id(o.beat), Limit: limit}
		if name == "occurrences" {
			asked = []any{spec(0, nil, func(s *Spec) { s.Trigger.Calendar.Every.Period = 3_600 }), limit}
			request = timerstypes.QueryOccurrencesRequest{Spec: &timerstypes.TimerSpec{Trigger: hourly}, Limit: limit}
		}
		return at(name, func(ctx sdk.Context) error {
			_, err := queries.Occurrences(ctx, &request)
			return err
		}, asked...)
	}
	return map[string][]price{
		"schedule": {byCall, bySize, watching(1), watching(8)},
		"scheduleAt": {
			at("scheduleAt", scheduled(byHeight, nil), height, uint64(gas), []byte{}),
			at("scheduleAt", scheduled(byHeight, much), height, uint64(gas), much),
		},
		"scheduleAfter": {
			at("scheduleAfter", scheduled(timerstypes.Trigger{After: 9}, nil), uint64(9), uint64(gas), []byte{}),
		},
		"scheduleAtTime": {at("scheduleAtTime", scheduled(byTime, nil), second, uint64(gas), []byte{})},
		"scheduleEvery":  {at("scheduleEvery", c.sent(schedule(every, callback, nil, thrice)), uint64(9), uint64(3), uint64(gas), []byte{})},
		"scheduleCalendar": {at("scheduleCalendar", scheduled(hourly, nil),
			Calendar{Every: evmbinding.EveryRule{Period: 3_600}}, uint64(0), uint64(gas), []byte{})},
		"scheduleAtHeights": {heights(1), heights(25)},
		"scheduleAtTimes":   {times(1), times(25)},
		"scheduleBatch":     {batch(1, 0), batch(25, 0), batch(8, 8)},
		"update":            {retriggering, updating([]byte{1}), updating(much)},
		"extend": {at("extend", c.sent(
			&timerstypes.MsgExtendTimer{Sender: o.text, Id: id(o.far), ExpiresAt: height + 9_000}),
			o.far, height+9_000, uint64(0))},
		"pause": {
			at("pause", c.sent(&timerstypes.MsgPauseTimer{Sender: o.text, Id: id(o.far)}), o.far),
			at("pause", c.sent(&timerstypes.MsgPauseTimer{Sender: o.text, Id: id(o.watching)}), o.watching),
		},
		"resume": {at("resume", c.sent(&timerstypes.MsgResumeTimer{Sender: o.text, Id: id(o.held)}), o.held)},
		"skip": {
			at("skip", c.sent(&timerstypes.MsgSkipTimer{Sender: o.text, Id: id(o.beat), Count: 1}), o.beat, uint32(1)),
			at("skip", c.sent(&timerstypes.MsgSkipTimer{Sender: o.text, Id: id(o.beat), Count: 100}), o.beat, uint32(100)),
		},
		"run": {at("run", c.sent(&timerstypes.MsgRunTimer{Sender: o.text, Id: id(o.beat)}), o.beat)},
		"cancel": {
			at("cancel", c.sent(&timerstypes.MsgCancelTimer{Sender: o.text, Id: id(o.far)}), o.far),
			at("cancel", c.sent(&timerstypes.MsgCancelTimer{Sender: o.text, Id: id(o.watching)}), o.watching),
		},
		"updateNamed": {at("updateNamed", c.sent(&timerstypes.MsgUpdateTimer{
			Sender: o.text, Name: "held", Spec: timerstypes.TimerSpec{Trigger: byHeight}, Fields: []string{"trigger"},
		}), "held", spec(0, nil, plain), []string{"trigger"}, uint64(0))},
		"extendNamed": {at("extendNamed", c.sent(
			&timerstypes.MsgExtendTimer{Sender: o.text, Name: "beat", ExpiresAt: height + 9_000}),
			"beat", height+9_000, uint64(0))},
		"pauseNamed":  {at("pauseNamed", c.sent(&timerstypes.MsgPauseTimer{Sender: o.text, Name: "beat"}), "beat")},
		"resumeNamed": {at("resumeNamed", c.sent(&timerstypes.MsgResumeTimer{Sender: o.text, Name: "held"}), "held")},
		"skipNamed":   {at("skipNamed", c.sent(&timerstypes.MsgSkipTimer{Sender: o.text, Name: "beat", Count: 1}), "beat", uint32(1))},
		"runNamed":    {at("runNamed", c.sent(&timerstypes.MsgRunTimer{Sender: o.text, Name: "beat"}), "beat")},
		"cancelNamed": {at("cancelNamed", c.sent(&timerstypes.MsgCancelTimer{Sender: o.text, Name: "beat"}), "beat")},
		"idOf": {at("idOf", func(ctx sdk.Context) error {
			_, err := c.Timers.Keeper.Engine().Records.Named(ctx, o.account.Address.Bytes(), o.account.Address.Bytes(), "beat")
			return err
		}, o.account.Address, "beat")},
		"cancelEach": {cancelling(1), cancelling(20)},
		"cancelAll":  {cancellingAll(1), cancellingAll(20)},
		"sponsor":    {at("sponsor", c.sent(grant), common.BytesToAddress(spender), big.NewInt(1_000), uint64(0))},
		"unsponsor":  {at("unsponsor", c.sent(&revoke), alice.Address)},
		"timer": {at("timer", func(ctx sdk.Context) error {
			_, err := queries.Timer(ctx, &timerstypes.QueryTimerRequest{Actor: o.text, Id: id(o.far)})
			return err
		}, o.account.Address, o.far)},
		"specOf":   {stating(o.far), stating(o.watching)},
		"timersOf": {listing(1), listing(20)},
		"estimate": {at("estimate", func(ctx sdk.Context) error {
			_, err := queries.Estimate(ctx, &timerstypes.QueryEstimateRequest{Actor: o.text, GasLimit: gas})
			return err
		}, uint64(gas), uint64(0), new(big.Int), new(big.Int), uint8(0))},
		"lane": {at("lane", func(ctx sdk.Context) error {
			_, err := queries.Lane(ctx, &timerstypes.QueryLaneRequest{})
			return err
		})},
		"occurrences":   {upcoming("occurrences", 1), upcoming("occurrences", 100)},
		"occurrencesOf": {upcoming("occurrencesOf", 1), upcoming("occurrencesOf", 100)},
		"scheduleCall": {
			booking("scheduleCall", booked(nil), bob.Address, expiry, limit, uint64(0), []byte{}),
			booking("scheduleCall", booked(much), bob.Address, expiry, limit, uint64(0), much),
		},
		"scheduleCallWithPayer": {booking(
			"scheduleCallWithPayer", booked(nil, payer), bob.Address, bob.Address, expiry, limit, uint64(0), []byte{})},
		"executeCallOnPayerSignature": {booking(
			"executeCallOnPayerSignature", booked(nil, payer), bob.Address, bob.Address, expiry, limit, uint64(0), []byte{})},
		"deleteSchedule": {
			booking("deleteSchedule", looked, scheduleOf(o.far[:])),
			// At the address of the schedule.
			call(scheduleOf(o.far[:]), evmbinding.Facade, "deleteSchedule", looked),
		},
		"hasScheduleCapacity": {booking("hasScheduleCapacity", unwritten, expiry, limit)},
		"capacity":            {at("capacity", unwritten, expiry)},
	}
}

// newOwned schedules the timers of an account that delegates to a contract's code while the test runs.
func newOwned(tb testing.TB, c *Chain) *owned {
	tb.Helper()
	carol := AccountOf("carol")
	delegate(c, carol, c.Deploy(alice, "Puppet", nil).Address)
	tb.Cleanup(func() { delegate(c, carol, common.Address{}) })
	return newOwnedBy(tb, c, carol)
}

// newOwnedBy is newOwned for any account, a contract's address too.
func newOwnedBy(tb testing.TB, c *Chain, account Account) *owned {
	tb.Helper()
	o := &owned{account: account}
	actor := sdk.AccAddress(o.account.Address.Bytes())
	o.text = actor.String()
	c.Do(func(ctx sdk.Context) error {
		schedule := func(trigger timerstypes.Trigger, name string) (id [32]byte, err error) {
			timer, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
				Actor: actor, Spec: timerstypes.TimerSpec{
					Trigger: trigger, Call: timerstypes.TimerCall{Handler: evmbinding.HandlerCallback, Payload: []byte{1}}, GasLimit: 200_000,
					Name: name,
				},
			})
			if err == nil {
				id = [32]byte(timer.Id)
			}
			return id, err
		}
		far := timerstypes.Trigger{Height: c.Height() + 1_000}
		keys := []timerstypes.WatchKey{}
		for i := range 8 {
			key := append(evmtypes.AddressStoragePrefix(bob.Address), common.BigToHash(big.NewInt(int64(i))).Bytes()...)
			keys = append(keys, timerstypes.WatchKey{Store: evmtypes.StoreKey, Prefix: key})
		}
		for _, each := range []struct {
			id      *[32]byte
			trigger timerstypes.Trigger
			name    string
		}{
			{&o.far, far, ""},
			{&o.held, far, "held"},
			{&o.beat, timerstypes.Trigger{Interval: &timerstypes.IntervalTrigger{Every: 500}}, "beat"},
			{&o.watching, timerstypes.Trigger{Watch: &timerstypes.WatchTrigger{Keys: keys}}, ""},
		} {
			var err error
			if *each.id, err = schedule(each.trigger, each.name); err != nil {
				return err
			}
		}
		for range 20 {
			id, err := schedule(far, "")
			if err != nil {
				return err
			}
			o.many = append(o.many, id)
		}
		pause := &timerstypes.MsgPauseTimer{Sender: o.text, Id: hex.EncodeToString(o.held[:])}
		allowance, err := feegrant.NewAllowedMsgAllowance(
			&feegrant.BasicAllowance{}, []string{sdk.MsgTypeURL(&timerstypes.MsgScheduleTimer{})})
		if err != nil {
			return err
		}
		grant, err := feegrant.NewMsgGrantAllowance(allowance, bob.Address.Bytes(), actor)
		if err != nil {
			return err
		}
		revoked, err := feegrant.NewMsgGrantAllowance(allowance, actor, alice.Address.Bytes())
		if err != nil {
			return err
		}
		return c.sent(pause, grant, revoked)(ctx)
	})
	return o
}

// drop removes what newOwned made.
func (o *owned) drop(c *Chain) {
	cancelAll(c, &Deployed{chain: c, Address: o.account.Address})
	c.Do(func(ctx sdk.Context) error {
		given := feegrant.NewMsgRevokeAllowance(o.account.Address.Bytes(), alice.Address.Bytes())
		got := feegrant.NewMsgRevokeAllowance(bob.Address.Bytes(), o.account.Address.Bytes())
		return c.sent(&given, &got)(ctx)
	})
}

// gas of a call, within the EVM: what a transaction pays before it is left out.
func (p *price) gas(tb testing.TB, ctx sdk.Context, c *Chain, from common.Address) uint64 {
	tb.Helper()
	response := p.call(tb, ctx, c, from)
	require.Empty(tb, response.VmError, Reason(response.Ret))
	before, err := core.IntrinsicGas(p.data, nil, nil, false, true, true, true)
	require.NoError(tb, err)
	require.GreaterOrEqual(tb, response.MaxUsedGas, before)
	return response.MaxUsedGas - before
}

// call makes the call, and keeps nothing of it.
func (p *price) call(tb testing.TB, ctx sdk.Context, c *Chain, from common.Address) *evmtypes.MsgEthereumTxResponse {
	tb.Helper()
	response, err := c.EVM.ApplyMessage(ctx, statedb.New(ctx, c.EVM, statedb.NewEmptyTxConfig()), core.Message{
		From: from, To: &p.to, Value: new(big.Int), Data: p.data, GasLimit: 25_000_000, Nonce: c.EVM.GetNonce(ctx, from),
		GasPrice: new(big.Int), GasFeeCap: new(big.Int), GasTipCap: new(big.Int),
	}, nil, false, false, false)
	require.NoError(tb, err)
	return response
}

// module is what the module's messages or questions are charged for the same.
func (p *price) module(tb testing.TB, ctx sdk.Context) uint64 {
	tb.Helper()
	meter := storetypes.NewInfiniteGasMeter()
	require.NoError(tb, p.same(ctx.WithGasMeter(meter)))
	return meter.GasConsumed()
}

// dropped is a branch of the last block's state that is dropped.
func (c *Chain) dropped() sdk.Context {
	ctx, _ := c.Ctx().CacheContext()
	return ctx
}

// TestPrices_AreThoseOfTheModuleAtLeast: no function of the precompiles costs less than the module's own messages and
// questions that do the same, and what a call has more of costs at least what it costs there. Only the logs are
// added.
func TestPrices_AreThoseOfTheModuleAtLeast(t *testing.T) {
	c := chain(t)
	o := newOwned(t, c)
	defer o.drop(c)
	all := priced(t, c, o)
	for _, parsed := range []abi.ABI{evmbinding.ABI, evmbinding.HRC1215} {
		for name := range parsed.Methods {
			require.Contains(t, all, name, "a function without a price")
		}
	}
	require.Len(t, all, len(evmbinding.ABI.Methods)+len(evmbinding.HRC1215.Methods))
	for name, calls := range all {
		var gas, module []uint64
		for i := range calls {
			gas = append(gas, calls[i].gas(t, c.dropped(), c, o.account.Address))
			module = append(module, calls[i].module(t, c.dropped()))
		}
		t.Logf("%-28s gas %v, by the module %v", name, gas, module)
		for i := range gas {
			require.GreaterOrEqual(t, gas[i], module[i], "%s, call %d", name, i)
			require.Less(t, gas[i], 2*module[i]+30_000+12*uint64(len(calls[i].data)), "%s, call %d", name, i)
			require.GreaterOrEqual(t, gas[i]-gas[0], module[i]-module[0], "%s, what call %d has more", name, i)
		}
	}
}

// TestPrices_OfScheduling are what an account pays in all that schedules by itself: with 21,000, the price of the
// call's data, and what the module prepays.
func TestPrices_OfScheduling(t *testing.T) {
	c, account := chain(t), AccountOf("dave")
	delegated(c, account)
	delegate(c, account, c.Deploy(alice, "Puppet", nil).Address)
	hourly := Calendar{Every: evmbinding.EveryRule{Period: 3_600}}
	for row, try := range map[string]struct {
		data []byte
		most uint64
	}{
		"one in which an account schedules a callback": {
			pack(t, "scheduleAfter", uint64(100), uint64(100_000), []byte{}), 52_500,
		},
		"one in which an account schedules a callback by a calendar": {
			pack(t, "scheduleCalendar", hourly, uint64(0), uint64(100_000), []byte{}), 55_500,
		},
	} {
		result := c.Result(c.Block(c.Sign(account, 0, &evmbinding.Address, nil, 300_000, try.data)).TxResults[0])
		require.Empty(t, result.VmError, Reason(result.Ret))
		inReadme(t, row, result.MaxUsedGas)
		require.LessOrEqual(t, result.MaxUsedGas, try.most, row)
	}
	cancelAll(c, &Deployed{chain: c, Address: account.Address})
}

// TestPrecompiles_TakeAnyInput: calls whose bytes are changed at random make no precompile panic, and what any takes is
// at least the price of its input.
func TestPrecompiles_TakeAnyInput(t *testing.T) {
	c := chain(t)
	o := newOwned(t, c)
	defer o.drop(c)
	var all []price
	priced := priced(t, c, o)
	for _, name := range slices.Sorted(maps.Keys(priced)) {
		all = append(all, priced[name]...)
	}
	refused, answered := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		p := rapid.SampledFrom(all).Draw(r, "call")
		p.data = slices.Clone(p.data)
		for range rapid.IntRange(1, 8).Draw(r, "changes") {
			at := rapid.IntRange(0, min(len(p.data), 1_000)-1).Draw(r, "at")
			p.data[at] = rapid.SampledFrom([]byte{0, 1, 31, 32, 64, 127, 128, 255}).Draw(r, "byte")
		}
		if rapid.IntRange(0, 9).Draw(r, "cut") == 0 {
			p.data = p.data[:rapid.IntRange(0, len(p.data)).Draw(r, "length")]
		}
		response := p.call(t, c.dropped(), c, o.account.Address)
		require.GreaterOrEqual(r, response.MaxUsedGas, evmbinding.Precompile{}.RequiredGas(p.data))
		if response.Failed() {
			refused++
		} else {
			answered++
		}
	})
	t.Logf("%d refused, %d answered", refused, answered)
	require.Positive(t, refused)
}

// TestPrices_OfACapacity: near the price of a value that the EVM reads for the first time, which is 2,100, that of the
// call of a precompile, 2,636, and of the values that the module reads.
func TestPrices_OfACapacity(t *testing.T) {
	c := chain(t)
	o := newOwned(t, c)
	defer o.drop(c)
	gas := priced(t, c, o)["hasScheduleCapacity"][0].gas(t, c.dropped(), c, o.account.Address)
	inReadme(t, "`hasScheduleCapacity`, within a transaction", gas)
	inReadme(t, "`capacity`, within a transaction", priced(t, c, o)["capacity"][0].gas(t, c.dropped(), c, o.account.Address))
	require.LessOrEqual(t, gas, 11*params.ColdSloadCostEIP2929)
}

// refused are calls whose input takes long to decode, and which then fail.
func refused(tb testing.TB) map[string][]byte {
	tb.Helper()
	pack := func(name string, args ...any) []byte {
		data, err := evmbinding.ABI.Pack(name, args...)
		require.NoError(tb, err)
		return data
	}
	watches := make([]Watch, 1_000)
	for i := range watches {
		slot := common.BigToHash(big.NewInt(int64(i)))
		watches[i] = Watch{Source: 7, Target: alice.Address, Slot: slot}
	}
	conditions := func(s *Spec) { s.OnlyIf = watches }
	name := func(s *Spec) { s.Name = string(make([]byte, 160_000)) }
	// A batch of 20 specs in one place, where there is one with 200 watches. A list with one that states nothing is refused
	// when all are decoded.
	many := spec(100_000, nil, func(s *Spec) { s.Trigger.Watch.Keys = watches[:200] })
	inOnePlace := pack("scheduleBatch", slices.Repeat([]Spec{many}, 20))
	for i := range 20 {
		copy(inOnePlace[4+32+32+32*i:], inOnePlace[4+32+32:4+32+64])
	}
	nothing := spec(0, nil, func(s *Spec) { s.Call.Handler = 9 })
	bytes := make([]byte, 160_000)
	much := func(s *Spec) { s.Trigger.Watch.Keys = watches }
	return map[string][]byte{
		"no function":          {1, 2, 3, 4},
		"1,000 watches":        pack("schedule", spec(100_000, nil, much)),
		"and 1,000 conditions": pack("schedule", spec(100_000, nil, much, conditions)),
		"5,000 heights":        pack("scheduleAtHeights", make([]uint64, 5_000), uint64(100_000), []byte{}),
		"a batch of 200":       pack("scheduleBatch", slices.Repeat([]Spec{nothing}, 200)),
		"and 4,000 watches":    pack("scheduleBatch", slices.Repeat([]Spec{many}, 20)),
		"4,000 in one place":   inOnePlace,
		"5,000 ids":            pack("cancelEach", make([][32]byte, 5_000)),
		"160,000 of a payload": pack("scheduleAfter", uint64(0), uint64(100_000), bytes),
		"160,000 of a name":    pack("schedule", spec(100_000, nil, func(*Spec) {}, name)),
		"160,000 of a call":    pack("schedule", spec(100_000, nil, much, callTo(alice.Address, new(big.Int), bytes))),
	}
}

// BenchmarkPrices prints how long each function takes for its gas, relative to a bank send through the same app: more
// than 3 would be too cheap. What a call of an account without code takes is left out of both time and gas: 21,000
// pay for that.
func BenchmarkPrices(b *testing.B) {
	c := chain(b)
	o := newOwned(b, c)
	defer o.drop(c)
	all := priced(b, c, o)
	coins := sdk.NewCoins(sdk.NewInt64Coin(Denom, 1))
	send := price{same: c.sent(banktypes.NewMsgSend(alice.Address.Bytes(), bob.Address.Bytes(), coins))}
	// least is the shortest of some rounds, in nanoseconds of processor time for a call, and its gas.
	least := func(run func() uint64) (best, gas float64) {
		const rounds, calls = 20, 10
		for range rounds {
			before, used := processorTime(b), uint64(0)
			for range calls {
				used += run()
			}
			if took := float64(processorTime(b)-before) / calls; best == 0 || took < best {
				best = took
			}
			gas = float64(used) / calls
		}
		return best, gas
	}
	names := []string{}
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for b.Loop() {
		took, gas := least(func() uint64 { return send.module(b, c.dropped()) })
		floor := took / gas
		nothing := price{to: AccountOf("nothing at all").Address}
		empty, _ := least(func() uint64 { return nothing.gas(b, c.dropped(), c, o.account.Address) })
		fmt.Printf("a send takes %.1f ns for a unit of gas, an empty call %.0f ns\n", floor, empty)
		for _, name := range names {
			for i := range all[name] {
				took, gas := least(func() uint64 { return all[name][i].gas(b, c.dropped(), c, o.account.Address) })
				fmt.Printf("%-28s %d: %8.0f gas, %6.1f us, ratio %.2f\n", name, i, gas, took/1_000, (took-empty)/gas/floor)
			}
		}
		for name, data := range refused(b) {
			p := price{to: evmbinding.Address, data: data}
			took, gas := least(func() uint64 {
				require.NotEmpty(b, p.call(b, c.dropped(), c, o.account.Address).VmError)
				return evmbinding.Precompile{}.RequiredGas(data)
			})
			fmt.Printf("refused, %-22s: %8.0f gas, %6.1f us, ratio %.2f\n", name, gas, took/1_000, (took-empty)/gas/floor)
		}
	}
}
