package evmapp

import (
	"fmt"
	"math/big"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	erc20types "github.com/cosmos/evm/x/erc20/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

const (
	fromSlot, fromBalance, fromCoin, fromRaw uint8 = 0, 1, 2, 3

	exists  uint8 = 1
	greater uint8 = 6
)

// daily is nine o'clock, an hour before UTC.
var daily = Calendar{
	MinuteSet: 1, HourSet: 1 << 9, DaySet: 1<<32 - 2, MonthSet: 1<<13 - 2, WeekdaySet: 1<<7 - 1, OffsetMinutes: 60,
}

// view asks the precompile.
func view(c *Chain, method string, args ...any) []any {
	c.tb.Helper()
	data, err := evmbinding.ABI.Pack(method, args...)
	require.NoError(c.tb, err)
	values, err := evmbinding.ABI.Unpack(method, c.Ask(evmbinding.Address, data))
	require.NoError(c.tb, err)
	return values
}

// none checks that a block fires nothing.
func none(c *Chain) {
	c.tb.Helper()
	require.Empty(c.tb, Events[*timerstypes.TimerFired](c.tb, c.Block()))
}

// TestTriggers_ByHeightAndTime: each kind is due when it says, and the delivery names what it is for.
func TestTriggers_ByHeightAndTime(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	type occurrence struct {
		index, occurrence uint64
		name              string
	}
	got := func() occurrence {
		return occurrence{d.View("index")[0].(uint64), d.View("occurrence")[0].(uint64), d.View("trigger")[0].(string)}
	}
	schedule := func(change func(*Trigger)) { d.Call(alice, "schedule", trigger(change), []byte{}, options(250_000)) }

	schedule(func(t *Trigger) { t.Height = c.Height() + 3 })
	none(c)
	require.True(t, fired(c).Success)
	require.Equal(t, occurrence{0, 0, "height"}, got())

	at := c.Now() + 3
	schedule(func(t *Trigger) { t.Time = at })
	none(c)
	require.True(t, fired(c).Success)
	require.Equal(t, at, c.Now())
	require.Equal(t, occurrence{1, at, "time"}, got())

	first := c.Height() + 2
	schedule(func(t *Trigger) { t.Every, t.Height, t.Count, t.Repeat.FromSchedule = 2, first, 2, true })
	require.True(t, fired(c).Success)
	require.Equal(t, occurrence{1, first, "interval"}, got())
	none(c)
	require.True(t, fired(c).Success)
	require.Equal(t, occurrence{2, first + 2, "interval"}, got())
	require.Empty(t, c.TimersOf(d.Address))

	// Every minute from the anchor, and at a local minute of a cron rule.
	anchor := c.Now() + 2
	schedule(func(t *Trigger) { t.Calendar.EverySeconds, t.Calendar.Anchor, t.Count = 60, anchor, 1 })
	require.True(t, fired(c).Success)
	require.Equal(t, occurrence{1, anchor, "calendar"}, got())
	p := puppet(c)
	anchor = c.Now() + 3
	short := pack(t, "scheduleCalendar", Calendar{EverySeconds: 60, Anchor: anchor}, uint64(1), uint64(200_000), []byte{})
	p.Call(alice, "run", []Step{step(evmbinding.Address, short, must)})
	require.Equal(t, anchor, uint64(c.TimersOf(p.Address)[0].WaitsUntil()))
	for c.Now() < anchor {
		c.Block()
	}
	require.Equal(t, uint64(1), p.number("fires"))
	require.Empty(t, c.TimersOf(p.Address))
	schedule(func(t *Trigger) {
		t.Calendar = Calendar{MinuteSet: 1<<60 - 1, HourSet: 1<<24 - 1, DaySet: 1<<32 - 2, MonthSet: 1<<13 - 2, WeekdaySet: 1<<7 - 1}
		t.Count = 1
	})
	for range 60 {
		if len(Events[*timerstypes.TimerFired](t, c.Block())) > 0 {
			break
		}
	}
	require.Zero(t, c.Now()%60)
	require.Equal(t, occurrence{1, c.Now(), "calendar"}, got())
}

// TestTriggers_OccurrencesAreKnownBefore they are scheduled, and of a timer; at most as many as are asked for.
func TestTriggers_OccurrencesAreKnownBefore(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	ask := func(method string, args ...any) (due []uint64, byTime, more bool) {
		answer := c.Ask(evmbinding.Address, pack(t, method, args...))
		values, err := evmbinding.ABI.Unpack(method, answer)
		require.NoError(t, err)
		return values[0].([]uint64), values[1].(bool), values[2].(bool)
	}
	anchor := c.Now() + 100
	hourly := trigger(func(t *Trigger) { t.Calendar.EverySeconds, t.Calendar.Anchor = 3_600, anchor })
	due, byTime, more := ask("occurrences", hourly, uint32(3))
	require.Equal(t, []uint64{anchor, anchor + 3_600, anchor + 7_200}, due)
	require.True(t, byTime && more)
	due, _, more = ask("occurrences", hourly, uint32(1_000))
	require.Len(t, due, 100)
	require.True(t, more)
	due, _, more = ask("occurrences", hourly, uint32(0))
	require.Empty(t, due)
	require.True(t, more)

	height := c.Height()
	thrice := trigger(func(t *Trigger) { t.Every, t.Height, t.Count = 7, height+20, 3 })
	want := []uint64{height + 20, height + 27, height + 34}
	due, byTime, more = ask("occurrences", thrice, uint32(9))
	require.Equal(t, want, due)
	require.False(t, byTime || more)
	d.Call(alice, "schedule", thrice, []byte{}, options(250_000))
	id := [32]byte(c.TimersOf(d.Address)[0].Id)
	due, _, more = ask("occurrencesOf", d.Address, id, uint32(2))
	require.Equal(t, want[:2], due)
	require.True(t, more)
	for c.Height() < want[0] {
		c.Block()
	}
	due, _, more = ask("occurrencesOf", d.Address, id, uint32(2))
	require.Equal(t, want[1:], due)
	require.False(t, more)
	cancelAll(c, d)

	data := pack(t, "occurrencesOf", d.Address, id, uint32(2))
	result := c.Result(c.Block(c.Sign(alice, 0, &evmbinding.Address, nil, txGas, data)).TxResults[0])
	require.Contains(t, Reason(result.Ret), "timer not found")
	watching := trigger(func(t *Trigger) { t.Watch = []Watch{{Target: d.Address, Value: new(big.Int)}} })
	due, _, more = ask("occurrences", watching, uint32(2))
	require.Empty(t, due)
	require.False(t, more)
}

// TestTriggers_RefuseWhatMeansNothing, with the module's reasons.
func TestTriggers_RefuseWhatMeansNothing(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	watching := func(w Watch) func(*Trigger) {
		w.Value = new(big.Int)
		return func(t *Trigger) { t.Watch = []Watch{w} }
	}
	zone := func(all ...Transition) func(*Trigger) {
		return func(t *Trigger) { t.Calendar = daily; t.Calendar.Transitions = all }
	}
	for want, change := range map[string]func(*Trigger){
		"state a trigger: a height": func(*Trigger) {},
		"max_failures is 3 and on_failure not suspend": func(t *Trigger) {
			t.Every, t.Repeat.OnFailure, t.Repeat.MaxFailures = 5, 2, 3
		},
		"height 1": func(t *Trigger) { t.Height = 1 },
		"count is stated for a trigger that fires": func(t *Trigger) { t.AfterBlocks, t.Count = 2, 2 },
		"cooldown is stated without a watch":       func(t *Trigger) { t.AfterBlocks, t.Cooldown = 2, 2 },
		"repeat is stated for a trigger that is":   func(t *Trigger) { t.AfterBlocks, t.Repeat.Each = 2, true },
		"fromSchedule is stated without":           func(t *Trigger) { t.Calendar.EverySeconds, t.Repeat.FromSchedule = 60, true },
		"second 18446744073709551615":              func(t *Trigger) { t.Time = 1<<64 - 1 },
		"neither Coin nor Raw":                     watching(Watch{Source: fromSlot, Name: "stake"}),
		"key is stated without Raw":                watching(Watch{Source: fromCoin, Name: "stake", Key: []byte{1}}),
		"target is stated for Raw":                 watching(Watch{Source: fromRaw, Target: d.Address, Name: "bank", Key: []byte{0, 'x'}}),
		"slot is stated without Slot":              watching(Watch{Source: fromBalance, Slot: [32]byte{1}}),
		"invalid denom":                            watching(Watch{Source: fromCoin, Name: "1"}),
		"store \"staking\"; watchable:":            watching(Watch{Source: fromRaw, Name: "staking", Key: []byte{1}}),
		"neither a key of store bank nor":          watching(Watch{Source: fromRaw, Name: "bank", Key: []byte{2, 20, 1}}),
		"a prefix of 0 bytes in store":             watching(Watch{Source: fromRaw, Name: "bank"}),
		"want ascending order":                     zone(Transition{60, 0}, Transition{60, 1}),
		"second 9223372036854775808":               zone(Transition{1 << 63, 0}),
		"at most 16":                               zone(make([]Transition, 17)...),
	} {
		result, _ := d.Try(alice, "schedule", trigger(change), []byte{}, options(200_000))
		require.NotEmpty(t, result.VmError, want)
		require.Contains(t, Reason(result.Ret), want)
	}
	require.Empty(t, c.TimersOf(d.Address))
	p := puppet(c)
	nothing := step(evmbinding.Address, pack(t, "scheduleCalendar", Calendar{}, uint64(1), uint64(200_000), []byte{}))
	result, _ := p.Try(alice, "run", []Step{nothing})
	require.Contains(t, string(p.outcomes(result)[0].Answer), "scheduleCalendar: the first argument is 0")
}

// TestWatch_OfSlotsAndBalances: a watch fires in the block whose transaction changed a slot of another contract, or a
// balance, past a threshold if it states one; not for a write that was undone, nor for one that changes nothing.
func TestWatch_OfSlotsAndBalances(t *testing.T) {
	c := chain(t)
	d, watched := alarm(c), alarm(c)
	slot := common.BigToHash(big.NewInt(1))
	schedule := func(w Watch, count uint64) {
		d.Call(alice, "schedule", trigger(func(t *Trigger) { t.Watch, t.Count = []Watch{w}, count }), []byte{}, options(250_000))
	}
	schedule(Watch{Source: fromSlot, Target: watched.Address, Slot: slot, Value: new(big.Int)}, 2)
	none(c)
	fires := Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(5)))
	require.Len(t, fires, 1)
	require.True(t, fires[0].Success)
	require.Equal(t, watched.Address, d.View("changedTarget")[0])
	require.Equal(t, [32]byte(slot), d.View("changedSlot")[0])
	require.Empty(t, Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(5))))
	require.Len(t, Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(0))), 1)
	require.Empty(t, c.TimersOf(d.Address))

	// Above 10 alone, when it was not before.
	schedule(Watch{Source: fromSlot, Target: watched.Address, Slot: slot, Op: greater, Value: big.NewInt(10)}, 0)
	require.Empty(t, Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(10))))
	require.Len(t, Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(11))), 1)
	require.Empty(t, Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(12))))
	d.Call(alice, "cancel", [32]byte(c.TimersOf(d.Address)[0].Id))

	// A balance, whose owner continues calling the precompile.
	schedule(Watch{Source: fromBalance, Target: watched.Address, Value: new(big.Int)}, 0)
	watched.Call(alice, "start", uint64(2), uint64(200_000), []byte{})
	block := c.Block(c.Sign(bob, 0, &watched.Address, big.NewInt(1), 100_000, nil))
	require.Len(t, Events[*timerstypes.TimerFired](t, block), 1)
	require.Equal(t, watched.Address, d.View("changedTarget")[0])
	// The fee of the other's fire does not count.
	require.Len(t, Events[*timerstypes.TimerFired](t, c.Block()), 1)
	none(c)
	// What a fire does counts for the next block: evm_call sets the slot of the other.
	schedule(Watch{Source: fromSlot, Target: watched.Address, Slot: slot, Value: new(big.Int)}, 1)
	set, err := watched.ABI.Pack("set", big.NewInt(99))
	require.NoError(t, err)
	d.Call(alice, "scheduleCallTo", trigger(func(t *Trigger) { t.AfterBlocks = 1 }), watched.Address, new(big.Int), set, options(200_000))
	require.Len(t, Events[*timerstypes.TimerFired](t, c.Block()), 1)
	require.Len(t, Events[*timerstypes.TimerFired](t, c.Block()), 1)
	d.Call(alice, "cancel", [32]byte(c.TimersOf(d.Address)[0].Id))
}

// mint gives coins of a denom to an address, at the beginning of a block.
func mint(c *Chain, denom string, amount int64, to common.Address) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	return c.Do(func(ctx sdk.Context) error {
		coins := sdk.NewCoins(sdk.NewInt64Coin(denom, amount))
		if err := c.Bank.MintCoins(ctx, erc20types.ModuleName, coins); err != nil {
			return err
		}
		return c.Bank.SendCoinsFromModuleToAccount(ctx, erc20types.ModuleName, to.Bytes(), coins)
	})
}

// changedIn is what the one callback of a block was notified of.
func changedIn(c *Chain, block *abci.ResponseFinalizeBlock) []Changed {
	c.tb.Helper()
	fires := Events[*timerstypes.TimerFired](c.tb, block)
	require.Len(c.tb, fires, 1)
	require.True(c.tb, fires[0].Success)
	_, tx, _ := fireOf(c, block, fires[0].Id)
	values, err := evmbinding.Receiver.Methods["onTimer"].Inputs.Unpack(tx.Data()[4:])
	require.NoError(c.tb, err)
	return abi.ConvertType(values[0], new(Delivery)).(*Delivery).Changed
}

// TestWatch_OfCoinsAndKeys: a coin of the bank by its denom, and keys of stores that the chain makes watchable, whole or
// not, with conditions or without; the delivery names which.
func TestWatch_OfCoinsAndKeys(t *testing.T) {
	c := chain(t)
	d, holder := alarm(c), AccountOf("holder of coins").Address
	const denom = "ibc/27394FB092D2ECCD56123C74F36E4C1F926001CEADA9CA97EA622B25F41E5EB2"
	schedule := func(w Watch) {
		if w.Value == nil {
			w.Value = new(big.Int)
		}
		d.Call(alice, "schedule", trigger(func(t *Trigger) { t.Watch, t.Count = []Watch{w}, 1 }), []byte{}, options(300_000))
	}
	coin := Changed{Source: fromCoin, Target: holder, Name: denom, Key: []byte{}}
	schedule(Watch{Source: fromCoin, Target: holder, Name: denom})
	require.Empty(t, Events[*timerstypes.TimerFired](t, mint(c, "stake", 5, holder)), "another denom")
	require.Empty(t, Events[*timerstypes.TimerFired](t, mint(c, denom, 5, bob.Address)), "another holder")
	require.Equal(t, []Changed{coin}, changedIn(c, mint(c, denom, 5, holder)))

	schedule(Watch{Source: fromCoin, Target: holder, Name: denom, Op: greater, Value: big.NewInt(10)})
	require.Empty(t, Events[*timerstypes.TimerFired](t, mint(c, denom, 5, holder)), "10 is not above 10")
	require.Equal(t, []Changed{coin}, changedIn(c, mint(c, denom, 1, holder)))

	// The supply, which is no account's; all balances of an account; the native balance by another name.
	supply := Watch{Source: fromRaw, Name: banktypes.StoreKey, Key: append(banktypes.SupplyKey.Bytes(), denom...)}
	schedule(supply)
	require.Equal(t, []Changed{{Source: fromRaw, Name: supply.Name, Key: supply.Key}}, changedIn(c, mint(c, denom, 1, bob.Address)))
	supply.Op, supply.Value = greater, c.Bank.GetSupply(c.Ctx(), denom).Amount.BigInt()
	schedule(supply)
	require.Len(t, changedIn(c, mint(c, denom, 1, bob.Address)), 1)
	balances := append(append(banktypes.BalancesPrefix.Bytes(), common.AddressLength), holder.Bytes()...)
	schedule(Watch{Source: fromRaw, Name: banktypes.StoreKey, Key: balances})
	require.Equal(t, []Changed{coin}, changedIn(c, mint(c, denom, 1, holder)))
	schedule(Watch{Source: fromCoin, Target: holder, Name: Denom})
	block := c.Block(c.Sign(bob, 0, &holder, big.NewInt(1), 100_000, nil))
	require.Equal(t, []Changed{{Source: fromBalance, Target: holder, Key: []byte{}}}, changedIn(c, block))

	// A slot by its key in x/vm's store, and a condition on a coin.
	slot := append(evmtypes.AddressStoragePrefix(d.Address), common.BigToHash(big.NewInt(1)).Bytes()...)
	schedule(Watch{Source: fromRaw, Name: evmtypes.StoreKey, Key: slot, Op: exists})
	require.Equal(t, []Changed{{Source: fromSlot, Target: d.Address, Slot: common.BigToHash(big.NewInt(1)), Key: []byte{}}},
		changedIn(c, d.Call(alice, "set", big.NewInt(5))))
	rich := Watch{Source: fromCoin, Target: holder, Name: denom, Op: greater, Value: big.NewInt(1_000)}
	rings := d.number("rings")
	d.Call(alice, "schedule", trigger(func(t *Trigger) { t.Every, t.Count = 1, 2 }), []byte{},
		options(250_000, func(o *Options) { o.OnlyIf = []Watch{rich} }))
	c.Block()
	require.Equal(t, rings, d.number("rings"))
	mint(c, denom, 1_000, holder)
	require.Equal(t, rings+1, d.number("rings"))
	cancelAll(c, d)
}

// TestCalendar_InATimeZone: nine o'clock is an hour earlier in UTC once the clock has been put forward.
func TestCalendar_InATimeZone(t *testing.T) {
	c := chain(t)
	const day = 86_400
	midnight := c.Now()/day*day + 10*day
	rule := daily
	rule.Transitions = []Transition{{midnight + 3*day, 120}, {midnight + 5*day, 60}}
	zoned := trigger(func(t *Trigger) { t.Calendar, t.Repeat.Window = rule, 60 })
	due := view(c, "occurrences", zoned, uint32(30))[0].([]uint64)
	require.Len(t, due, 30)
	for _, second := range due {
		hour := uint64(8)
		if second > midnight+3*day && second < midnight+5*day {
			hour = 7
		}
		require.Equal(t, hour*3_600, second%day, "day %d", int64(second-midnight)/day)
	}
	p := puppet(c)
	schedule := pack(t, "scheduleCalendar", rule, uint64(0), uint64(200_000), []byte{})
	p.Call(alice, "run", []Step{step(evmbinding.Address, schedule, must)})
	kept := c.TimersOf(p.Address)[0].Spec.Trigger.Calendar
	require.Equal(t, []timerstypes.OffsetTransition{
		{From: int64(midnight + 3*day), OffsetMinutes: 120}, {From: int64(midnight + 5*day), OffsetMinutes: 60},
	}, kept.Transitions)
	require.False(t, kept.OffsetFinal)
	cancelAll(c, p)
	// A timer that renews its life ends with the last transition, but where that holds for ever.
	rule.OffsetFinal = true
	renew := func(o *Options) { o.Renew = true }
	data := pack(t, "schedule", trigger(func(t *Trigger) { t.Calendar = rule }), []byte{}, options(200_000, renew))
	p.Call(alice, "run", []Step{step(evmbinding.Address, data, must)})
	require.True(t, c.TimersOf(p.Address)[0].Spec.Trigger.Calendar.OffsetFinal)
	cancelAll(c, p)
}

// TestOnlyIf_HoldsTheHandlerBack: a fire whose condition does not hold runs nothing, and is neither a success nor a
// failure.
func TestOnlyIf_HoldsTheHandlerBack(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	guard := Watch{Source: fromSlot, Target: d.Address, Slot: common.BigToHash(big.NewInt(1)), Op: greater, Value: big.NewInt(10)}
	d.Call(alice, "schedule", trigger(func(t *Trigger) { t.Every, t.Count = 1, 2 }), []byte{},
		options(250_000, func(o *Options) { o.OnlyIf = []Watch{guard} }))
	c.Block()
	require.Zero(t, d.number("rings"))
	d.Call(alice, "set", big.NewInt(11))
	require.Equal(t, uint64(1), d.number("rings"))
	d.Call(alice, "cancel", [32]byte(c.TimersOf(d.Address)[0].Id))
}

// TestChanges_OfATimer: update, retrigger, extend, pause, resume, skip, run and cancel do what the messages do, for the
// owner alone, and log.
func TestChanges_OfATimer(t *testing.T) {
	c := chain(t)
	d, stranger := alarm(c), alarm(c)
	d.Call(alice, "every", uint64(20), uint64(0), uint64(200_000), []byte("first"))
	id := [32]byte(c.TimersOf(d.Address)[0].Id)
	only := func() timerstypes.Timer {
		all := c.TimersOf(d.Address)
		require.Len(t, all, 1)
		require.Equal(t, id, [32]byte(all[0].Id))
		return all[0]
	}
	result, _ := stranger.Try(alice, "cancel", id)
	require.Contains(t, Reason(result.Ret), "timer not found")

	result, _ = d.Try(alice, "update", []byte("second"), options(250_000, func(o *Options) { o.MaxCharge = Ether }))
	require.Empty(t, result.VmError)
	require.Len(t, result.Logs, 1)
	require.Equal(t, []byte("second"), only().Spec.Call.Payload)
	require.Equal(t, evmbinding.HandlerCallback, only().Spec.Call.Handler)
	require.Equal(t, uint64(250_000), only().GasLimit)
	require.Equal(t, Ether.String(), only().Spec.MaxCharge)
	result, _ = d.Try(alice, "update", []byte{}, options(0, func(o *Options) { o.Name = "x" }))
	require.Contains(t, Reason(result.Ret), "an update changes payload")

	// A trigger states how it repeats too: what it leaves zero has its default again. The rest stays.
	d.Call(alice, "retrigger", trigger(func(t *Trigger) { t.Every, t.Count, t.Repeat.OnFailure = 7, 3, 2 }))
	require.Equal(t, &timerstypes.Repeat{Remaining: 3, OnFailure: timerstypes.OnFailureStop}, only().Spec.Repeat)
	d.Call(alice, "retrigger", trigger(func(t *Trigger) { t.Every = 5 }))
	require.Equal(t, uint64(5), only().Spec.Trigger.Interval.Every)
	require.Nil(t, only().Spec.Repeat)
	require.Equal(t, Ether.String(), only().Spec.MaxCharge)
	end := c.Height() + 1_000
	d.Call(alice, "extend", end, uint64(0))
	require.Equal(t, end, only().ExpiresAt)
	d.Call(alice, "pause")
	require.Equal(t, timerstypes.Paused, only().HoldReason)
	d.Call(alice, "resume")
	require.Equal(t, timerstypes.NotOnHold, only().HoldReason)
	due := only().Due
	d.Call(alice, "skip", uint32(2))
	require.Greater(t, only().Due, due)
	// The next occurrence is due in the block after the one that runs it.
	d.Call(alice, "run")
	require.True(t, fired(c).Success)
	require.Equal(t, uint64(1), d.number("rings"))

	info := view(c, "timer", d.Address, id)[0]
	listed := view(c, "timersOf", d.Address, uint32(0), uint32(10))
	require.Equal(t, uint32(1), listed[1])
	require.Contains(t, toText(info), "on_timer")
	d.Call(alice, "cancel", id)
	require.Empty(t, c.TimersOf(d.Address))
	result, _ = d.Try(alice, "pause")
	require.Contains(t, Reason(result.Ret), "timer not found")
}

func toText(value any) string { return fmt.Sprintf("%+v", value) }

// TestEstimate_InATransactionLeavesNoTrace: a question that previews a block is asked in a transaction with a change
// that is watched. The watch fires in that block, and the estimate is what the fire is charged at most.
func TestEstimate_InATransactionLeavesNoTrace(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	watch := Watch{Source: fromSlot, Target: d.Address, Slot: common.BigToHash(big.NewInt(1)), Value: new(big.Int)}
	d.Call(alice, "schedule", trigger(func(t *Trigger) { t.Watch, t.Count = []Watch{watch}, 1 }), []byte{}, options(250_000))
	question := pack(t, "estimate", uint64(250_000), uint64(0), new(big.Int), new(big.Int), uint8(0))
	block := c.Block(
		d.Tx(alice, 0, "set", big.NewInt(3)),
		d.Tx(alice, 1, "callIn", byCall, question),
		d.Tx(alice, 2, "callIn", byStaticCall, question),
	)
	for i := range 3 {
		require.Empty(t, c.Result(block.TxResults[i]).VmError)
	}
	t.Logf("gas of an estimate in a transaction: %d", c.Result(block.TxResults[1]).MaxUsedGas)
	require.False(t, d.View("caught")[0].(bool), d.View("reason")[0])
	require.Len(t, Events[*timerstypes.TimerFired](t, block), 1)

	quoted := view(c, "estimate", uint64(250_000), uint64(0), new(big.Int), new(big.Int), uint8(0))[0].(struct {
		GasPrice     *big.Int `json:"gasPrice"`
		BytePrice    *big.Int `json:"bytePrice"`
		MaxCost      *big.Int `json:"maxCost"`
		GasLimit     uint64   `json:"gasLimit"`
		ByteLimit    uint64   `json:"byteLimit"`
		IntrinsicGas uint64   `json:"intrinsicGas"`
		WaitBlocks   uint64   `json:"waitBlocks"`
		PricedOut    bool     `json:"pricedOut"`
	})
	require.Equal(t, uint64(250_000), quoted.GasLimit)
	require.False(t, quoted.PricedOut)
	require.Positive(t, quoted.MaxCost.Sign())
	require.GreaterOrEqual(t, quoted.GasPrice.Cmp(c.BaseFee()), 0)
	require.GreaterOrEqual(t, new(big.Int).Mul(quoted.GasPrice, big.NewInt(int64(quoted.GasLimit))).Cmp(c.BaseFee()), 0)
}

// TestQuestions_AreAnsweredInAFire too, and change nothing.
func TestQuestions_AreAnsweredInAFire(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	d.Call(alice, "every", uint64(1_000), uint64(0), uint64(200_000), []byte{})
	kept := c.TimersOf(d.Address)
	for name, question := range map[string][]byte{
		"estimate": pack(t, "estimate", uint64(100_000), uint64(0), new(big.Int), new(big.Int), uint8(0)),
		"timer":    pack(t, "timer", d.Address, [32]byte(kept[0].Id)),
		"timersOf": pack(t, "timersOf", d.Address, uint32(0), uint32(10)),
	} {
		ask, err := d.ABI.Pack("callIn", byStaticCall, question)
		require.NoError(t, err)
		d.Call(alice, "scheduleCallTo", trigger(func(t *Trigger) { t.AfterBlocks = 1 }), d.Address, new(big.Int), ask, options(500_000))
		block := c.Block()
		fires := Events[*timerstypes.TimerFired](t, block)
		require.True(t, fires[0].Success, "%s: %s", name, Attribute(block, evmbinding.EventFailed, "returned"))
		require.False(t, d.View("caught")[0].(bool), "%s: %s", name, d.View("reason")[0])
	}
	require.Equal(t, kept, c.TimersOf(d.Address))
	d.Call(alice, "cancel", [32]byte(kept[0].Id))
}

// TestPrecompile_TwentyCallsInATransaction is x/vm's limit of calls of precompiles in a transaction, which counts questions too.
func TestPrecompile_TwentyCallsInATransaction(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	d.Call(alice, "ask", big.NewInt(20))
	t.Logf("gas of twenty questions: %d", c.Used)
	result, _ := d.Try(alice, "ask", big.NewInt(21))
	require.NotEmpty(t, result.VmError)
	require.Contains(t, Reason(result.Ret), "max calls to precompiles (20) reached")
}
