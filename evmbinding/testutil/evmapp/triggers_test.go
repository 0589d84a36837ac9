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
	Cron:          evmbinding.CronRule{MinuteSet: 1, HourSet: 1 << 9, DaySet: 1<<32 - 2, MonthSet: 1<<13 - 2, WeekdaySet: 1<<7 - 1},
	OffsetMinutes: 60,
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
	schedule := func(change func(*Spec)) { d.Call(alice, "schedule", spec(250_000, nil, change)) }

	schedule(func(s *Spec) { s.Trigger.Height = c.Height() + 3 })
	none(c)
	require.True(t, fired(c).Success)
	require.Equal(t, occurrence{0, 0, "height"}, got())

	at := c.Now() + 3
	schedule(func(s *Spec) { s.Trigger.Time = at })
	none(c)
	require.True(t, fired(c).Success)
	require.Equal(t, at, c.Now())
	require.Equal(t, occurrence{1, at, "time"}, got())

	first := c.Height() + 2
	schedule(func(s *Spec) {
		s.Trigger.Interval.Every, s.Trigger.Interval.First, s.Repeat.Remaining = 2, first, 2
		s.Trigger.Interval.From = uint8(timerstypes.FromSchedule)
	})
	require.True(t, fired(c).Success)
	require.Equal(t, occurrence{1, first, "interval"}, got())
	none(c)
	require.True(t, fired(c).Success)
	require.Equal(t, occurrence{2, first + 2, "interval"}, got())
	require.Empty(t, c.TimersOf(d.Address))

	// Every minute from the anchor, and at a local minute of a cron rule.
	anchor := c.Now() + 2
	schedule(func(s *Spec) {
		s.Trigger.Calendar.Every.Period, s.Trigger.Calendar.Every.Anchor, s.Repeat.Remaining = 60, anchor, 1
	})
	require.True(t, fired(c).Success)
	require.Equal(t, occurrence{1, anchor, "calendar"}, got())
	p := puppet(c)
	anchor = c.Now() + 3
	minutely := Calendar{Every: evmbinding.EveryRule{Period: 60, Anchor: anchor}}
	short := pack(t, "scheduleCalendar", minutely, uint64(1), uint64(200_000), []byte{})
	p.Call(alice, "run", []Step{step(evmbinding.Address, short, must)})
	require.Equal(t, anchor, uint64(c.TimersOf(p.Address)[0].WaitsUntil()))
	for c.Now() < anchor {
		c.Block()
	}
	require.Equal(t, uint64(1), p.number("fires"))
	require.Empty(t, c.TimersOf(p.Address))
	schedule(func(s *Spec) {
		s.Trigger.Calendar.Cron = daily.Cron
		s.Trigger.Calendar.Cron.MinuteSet, s.Trigger.Calendar.Cron.HourSet = 1<<60-1, 1<<24-1
		s.Repeat.Remaining = 1
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
	hourly := func(s *Spec) { s.Trigger.Calendar.Every.Period, s.Trigger.Calendar.Every.Anchor = 3_600, anchor }
	due, byTime, more := ask("occurrences", spec(0, nil, hourly), uint32(3))
	require.Equal(t, []uint64{anchor, anchor + 3_600, anchor + 7_200}, due)
	require.True(t, byTime && more)
	due, _, more = ask("occurrences", spec(0, nil, hourly), uint32(1_000))
	require.Len(t, due, 100)
	require.True(t, more)
	due, _, more = ask("occurrences", spec(0, nil, hourly), uint32(0))
	require.Empty(t, due)
	require.True(t, more)

	height := c.Height()
	thrice := func(s *Spec) {
		s.Trigger.Interval.Every, s.Trigger.Interval.First, s.Repeat.Remaining = 7, height+20, 3
	}
	want := []uint64{height + 20, height + 27, height + 34}
	due, byTime, more = ask("occurrences", spec(0, nil, thrice), uint32(9))
	require.Equal(t, want, due)
	require.False(t, byTime || more)
	d.Call(alice, "schedule", spec(250_000, nil, thrice))
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
	watching := func(s *Spec) { s.Trigger.Watch.Keys = []Watch{{Target: d.Address}} }
	due, _, more = ask("occurrences", spec(0, nil, watching), uint32(2))
	require.Empty(t, due)
	require.False(t, more)
}

// TestTriggers_RefuseWhatMeansNothing, with the module's reasons.
func TestTriggers_RefuseWhatMeansNothing(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	watching := func(w Watch) func(*Spec) {
		return func(s *Spec) { s.Trigger.Watch.Keys = []Watch{w} }
	}
	zone := func(all ...evmbinding.OffsetTransition) func(*Spec) {
		return func(s *Spec) { s.Trigger.Calendar = daily; s.Trigger.Calendar.Transitions = all }
	}
	for want, change := range map[string]func(*Spec){
		"state a trigger: a height": func(*Spec) {},
		"max_failures is 3 and on_failure not suspend": func(s *Spec) {
			s.Trigger.Interval.Every, s.Repeat.OnFailure, s.Repeat.MaxFailures = 5, 2, 3
		},
		"height 1": func(s *Spec) { s.Trigger.Height = 1 },
		"repeat is stated for a timer that fires once": func(s *Spec) { s.Trigger.AfterBlocks, s.Repeat.Remaining = 2, 2 },
		"2 triggers are stated: state one":             func(s *Spec) { s.Trigger.AfterBlocks, s.Trigger.Watch.Cooldown = 2, 2 },
		"state one of height, after, interval":         func(s *Spec) { s.Trigger.Calendar.Every.Period, s.Trigger.Interval.From = 60, 2 },
		"second 18446744073709551615":                  func(s *Spec) { s.Trigger.Time = 1<<64 - 1 },
		"neither Coin nor Raw":                         watching(Watch{Source: fromSlot, Name: "stake"}),
		"key is stated without Raw":                    watching(Watch{Source: fromCoin, Name: "stake", Key: []byte{1}}),
		"target is stated for Raw":                     watching(Watch{Source: fromRaw, Target: d.Address, Name: "bank", Key: []byte{0, 'x'}}),
		"slot is stated without Slot":                  watching(Watch{Source: fromBalance, Slot: [32]byte{1}}),
		"invalid denom":                                watching(Watch{Source: fromCoin, Name: "1"}),
		"store \"staking\"; watchable:":                watching(Watch{Source: fromRaw, Name: "staking", Key: []byte{1}}),
		"neither a key of store bank nor":              watching(Watch{Source: fromRaw, Name: "bank", Key: []byte{2, 20, 1}}),
		"a prefix of 0 bytes in store":                 watching(Watch{Source: fromRaw, Name: "bank"}),
		"want ascending order":                         zone(evmbinding.OffsetTransition{From: 60}, evmbinding.OffsetTransition{From: 60, OffsetMinutes: 1}),
		"second 9223372036854775808":                   zone(evmbinding.OffsetTransition{From: 1 << 63}),
		"at most 16":                                   zone(make([]evmbinding.OffsetTransition, 17)...),
	} {
		result, _ := d.Try(alice, "schedule", spec(200_000, nil, change))
		require.NotEmpty(t, result.VmError, want)
		require.Contains(t, Reason(result.Ret), want)
	}
	require.Empty(t, c.TimersOf(d.Address))
	p := puppet(c)
	for name, first := range map[string]any{"scheduleCalendar": Calendar{}, "scheduleEvery": uint64(0)} {
		nothing := step(evmbinding.Address, pack(t, name, first, uint64(1), uint64(200_000), []byte{}))
		result, _ := p.Try(alice, "run", []Step{nothing})
		require.Contains(t, string(p.outcomes(result)[0].Answer), name+": the first argument is 0")
	}
}

// TestWatch_OfSlotsAndBalances: a watch fires in the block whose transaction changed a slot of another contract, or a
// balance, past a threshold if it states one; not for a write that was undone, nor for one that changes nothing.
func TestWatch_OfSlotsAndBalances(t *testing.T) {
	c := chain(t)
	d, watched := alarm(c), alarm(c)
	slot := common.BigToHash(big.NewInt(1))
	schedule := func(w Watch, count uint64) {
		d.Call(alice, "schedule", spec(250_000, nil, func(s *Spec) { s.Trigger.Watch.Keys, s.Repeat.Remaining = []Watch{w}, count }))
	}
	schedule(Watch{Source: fromSlot, Target: watched.Address, Slot: slot}, 2)
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
	schedule(Watch{Source: fromSlot, Target: watched.Address, Slot: slot, When: when(greater, big.NewInt(10))}, 0)
	require.Empty(t, Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(10))))
	require.Len(t, Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(11))), 1)
	require.Empty(t, Events[*timerstypes.TimerFired](t, watched.Call(alice, "set", big.NewInt(12))))
	d.Call(alice, "cancel", [32]byte(c.TimersOf(d.Address)[0].Id))

	// A balance, whose owner continues calling the precompile.
	schedule(Watch{Source: fromBalance, Target: watched.Address}, 0)
	watched.Call(alice, "start", uint64(2), uint64(200_000), []byte{})
	block := c.Block(c.Sign(bob, 0, &watched.Address, big.NewInt(1), 100_000, nil))
	require.Len(t, Events[*timerstypes.TimerFired](t, block), 1)
	require.Equal(t, watched.Address, d.View("changedTarget")[0])
	// The fee of the other's fire does not count.
	require.Len(t, Events[*timerstypes.TimerFired](t, c.Block()), 1)
	none(c)
	// What a fire does counts for the next block: evm_call sets the slot of the other.
	schedule(Watch{Source: fromSlot, Target: watched.Address, Slot: slot}, 1)
	set, err := watched.ABI.Pack("set", big.NewInt(99))
	require.NoError(t, err)
	d.Call(alice, "schedule", spec(200_000, nil, func(s *Spec) { s.Trigger.AfterBlocks = 1 }, callTo(watched.Address, new(big.Int), set)))
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
		d.Call(alice, "schedule", spec(300_000, nil, func(s *Spec) { s.Trigger.Watch.Keys, s.Repeat.Remaining = []Watch{w}, 1 }))
	}
	coin := Changed{Source: fromCoin, Target: holder, Name: denom, Key: []byte{}}
	schedule(Watch{Source: fromCoin, Target: holder, Name: denom})
	require.Empty(t, Events[*timerstypes.TimerFired](t, mint(c, "stake", 5, holder)), "another denom")
	require.Empty(t, Events[*timerstypes.TimerFired](t, mint(c, denom, 5, bob.Address)), "another holder")
	require.Equal(t, []Changed{coin}, changedIn(c, mint(c, denom, 5, holder)))

	schedule(Watch{Source: fromCoin, Target: holder, Name: denom, When: when(greater, big.NewInt(10))})
	require.Empty(t, Events[*timerstypes.TimerFired](t, mint(c, denom, 5, holder)), "10 is not above 10")
	require.Equal(t, []Changed{coin}, changedIn(c, mint(c, denom, 1, holder)))

	// The supply, which is no account's; all balances of an account; the native balance by another name.
	supply := Watch{Source: fromRaw, Name: banktypes.StoreKey, Key: append(banktypes.SupplyKey.Bytes(), denom...)}
	schedule(supply)
	require.Equal(t, []Changed{{Source: fromRaw, Name: supply.Name, Key: supply.Key}}, changedIn(c, mint(c, denom, 1, bob.Address)))
	supply.When = when(greater, c.Bank.GetSupply(c.Ctx(), denom).Amount.BigInt())
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
	schedule(Watch{Source: fromRaw, Name: evmtypes.StoreKey, Key: slot, When: when(exists, nil)})
	require.Equal(t, []Changed{{Source: fromSlot, Target: d.Address, Slot: common.BigToHash(big.NewInt(1)), Key: []byte{}}},
		changedIn(c, d.Call(alice, "set", big.NewInt(5))))
	rich := Watch{Source: fromCoin, Target: holder, Name: denom, When: when(greater, big.NewInt(1_000))}
	rings := d.number("rings")
	d.Call(alice, "schedule", spec(250_000, nil, func(s *Spec) { s.Trigger.Interval.Every, s.Repeat.Remaining = 1, 2 }, func(s *Spec) { s.OnlyIf = []Watch{rich} }))
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
	rule.Transitions = []evmbinding.OffsetTransition{{From: midnight + 3*day, OffsetMinutes: 120}, {From: midnight + 5*day, OffsetMinutes: 60}}
	zoned := func(s *Spec) { s.Trigger.Calendar, s.Repeat.Window = rule, 60 }
	due := view(c, "occurrences", spec(0, nil, zoned), uint32(30))[0].([]uint64)
	require.Len(t, due, 30)
	for _, second := range due {
		hour := uint64(8)
		if second > midnight+3*day && second < midnight+5*day {
			hour = 7
		}
		require.Equal(t, hour*3_600, second%day, "day %d", int64(second-midnight)/day)
	}
	p := puppet(c)
	schedule := pack(t, "schedule", spec(200_000, nil, zoned))
	p.Call(alice, "run", []Step{step(evmbinding.Address, schedule, must)})
	kept := c.TimersOf(p.Address)[0].Spec.Trigger.Calendar
	require.Equal(t, []timerstypes.OffsetTransition{
		{From: int64(midnight + 3*day), OffsetMinutes: 120}, {From: int64(midnight + 5*day), OffsetMinutes: 60},
	}, kept.Transitions)
	require.False(t, kept.OffsetFinal)
	cancelAll(c, p)
	// A timer that renews its life ends with the last transition, but where that holds for ever.
	rule.OffsetFinal = true
	renew := func(s *Spec) { s.Repeat.Renew = true }
	data := pack(t, "schedule", spec(200_000, nil, func(s *Spec) { s.Trigger.Calendar = rule }, renew))
	p.Call(alice, "run", []Step{step(evmbinding.Address, data, must)})
	require.True(t, c.TimersOf(p.Address)[0].Spec.Trigger.Calendar.OffsetFinal)
	cancelAll(c, p)
}

// TestOnlyIf_HoldsTheHandlerBack: a fire whose condition does not hold runs nothing, and is neither a success nor a
// failure.
func TestOnlyIf_HoldsTheHandlerBack(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	guard := Watch{Source: fromSlot, Target: d.Address, Slot: common.BigToHash(big.NewInt(1)), When: when(greater, big.NewInt(10))}
	d.Call(alice, "schedule", spec(250_000, nil, func(s *Spec) { s.Trigger.Interval.Every, s.Repeat.Remaining = 1, 2 }, func(s *Spec) { s.OnlyIf = []Watch{guard} }))
	c.Block()
	require.Zero(t, d.number("rings"))
	d.Call(alice, "set", big.NewInt(11))
	require.Equal(t, uint64(1), d.number("rings"))
	d.Call(alice, "cancel", [32]byte(c.TimersOf(d.Address)[0].Id))
}

// TestChanges_OfATimer: update, extend, pause, resume, skip, run and cancel do what the messages do, for the
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

	// An update replaces what it names, and nothing else.
	update := func(s Spec, fields ...string) { d.Call(alice, "update", s, fields, uint64(0)) }
	second := spec(250_000, []byte("second"), func(s *Spec) { s.MaxCharge = Ether })
	result, _ = d.Try(alice, "update", second, []string{"call", "gas_limit", "max_charge"}, only().Seq)
	require.Empty(t, result.VmError)
	require.Len(t, result.Logs, 1)
	require.Equal(t, []byte("second"), only().Spec.Call.Payload)
	require.Equal(t, evmbinding.HandlerCallback, only().Spec.Call.Handler)
	require.Equal(t, uint64(250_000), only().GasLimit)
	require.Equal(t, Ether.String(), only().Spec.MaxCharge)
	for want, try := range map[string]struct {
		s      Spec
		fields []string
		ifSeq  uint64
	}{
		"the spec states gas_limit, and fields does not name it":  {s: second, fields: []string{"call", "max_charge"}},
		"the spec states call, and fields does not name it":       {s: second, fields: []string{"gas_limit", "max_charge"}},
		"fields names \"gasLimit\", and a spec has no such field": {s: spec(1, nil), fields: []string{"gasLimit"}},
		"fields names none":  {s: spec(0, nil)},
		"the timer's seq is": {s: spec(0, nil), fields: []string{"max_charge"}, ifSeq: 1},
	} {
		result, _ = d.Try(alice, "update", try.s, try.fields, try.ifSeq)
		require.Contains(t, Reason(result.Ret), want)
	}
	update(spec(0, nil, func(s *Spec) { s.Trigger.Interval.Every, s.Repeat.Remaining, s.Repeat.OnFailure = 7, 3, 2 }),
		"trigger", "repeat.remaining", "repeat.on_failure")
	require.Equal(t, &timerstypes.Repeat{Remaining: 3, OnFailure: timerstypes.OnFailureStop}, only().Spec.Repeat)
	update(spec(0, nil, func(s *Spec) { s.Trigger.Interval.Every = 5 }), "trigger", "repeat.remaining")
	require.Equal(t, uint64(5), only().Spec.Trigger.Interval.Every)
	require.Equal(t, &timerstypes.Repeat{OnFailure: timerstypes.OnFailureStop}, only().Spec.Repeat)
	// One that is named and left empty takes its default.
	update(spec(0, nil), "repeat.on_failure")
	require.Nil(t, only().Spec.Repeat)
	require.Equal(t, Ether.String(), only().Spec.MaxCharge)
	update(spec(0, nil, callTo(bob.Address, common.Big1, nil)), "call")
	require.Equal(t, evmbinding.HandlerCall, only().Spec.Call.Handler)
	update(spec(0, nil), "call")
	require.Equal(t, timerstypes.TimerCall{Handler: evmbinding.HandlerCallback}, only().Spec.Call)
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
	require.Contains(t, toText(info), d.Address.String())
	d.Call(alice, "cancel", id)
	require.Empty(t, c.TimersOf(d.Address))
	result, _ = d.Try(alice, "pause")
	require.Contains(t, Reason(result.Ret), "timer not found")
}

func toText(value any) string { return fmt.Sprintf("%+v", value) }

// TestSpecOf_IsWhatWasStated: all of it, and again once it has fired and was updated; and it can be stated again.
func TestSpecOf_IsWhatWasStated(t *testing.T) {
	c := chain(t)
	p := puppet(c)
	schedule := func(s Spec) {
		result, _ := p.Try(alice, "run", []Step{step(evmbinding.Address, pack(t, "schedule", s))})
		require.Empty(t, result.VmError)
		require.True(t, p.outcomes(result)[0].Ok, string(p.outcomes(result)[0].Answer))
	}
	specOf := func(id []byte) Spec {
		return *abi.ConvertType(view(c, "specOf", p.Address, [32]byte(id))[0], new(Spec)).(*Spec)
	}
	end := c.Height() + 9_000
	repeated := func(s *Spec) {
		s.Name, s.ByteLimit, s.ExpiresAt, s.OnUnfunded = "of all rows", 9_000, end, uint8(timerstypes.OnUnfundedSkip)
		s.Trigger.Interval = evmbinding.IntervalTrigger{Every: 2, First: c.Height() + 2, From: uint8(timerstypes.FromSchedule)}
		s.Repeat = evmbinding.Repeat{
			Remaining: 9, Missed: uint8(timerstypes.MissedEach), Window: 5, Jitter: 1, OnFailure: uint8(timerstypes.OnFailureSuspend),
			MaxFailures: 2, Renew: true,
		}
		s.OnlyIf = []Watch{{Source: fromBalance, Target: p.Address, When: when(greater, big.NewInt(1))}}
		s.Bid.StaticBid = evmbinding.StaticBid{MaxFeePerGas: Ether, MaxPriorityFeePerGas: big.NewInt(1)}
		s.MaxCharge = new(big.Int).Mul(big.NewInt(1_000), Ether)
		s.Retry = evmbinding.Retry{Max: 2, Delay: 3, Backoff: 2, On: []evmbinding.ErrorCode{{Codespace: "timers"}, {Codespace: "evm", Code: 7}}}
	}
	called := spec(300_000, nil, repeated, callTo(bob.Address, big.NewInt(5), []byte{1, 2}))
	watching := spec(200_000, make([]byte, 2_000), func(s *Spec) {
		s.Trigger.Watch = evmbinding.WatchTrigger{
			Keys:     []Watch{{Source: fromSlot, Target: bob.Address, Slot: [32]byte{9}, When: when(greater, big.NewInt(7))}},
			Cooldown: 4, Level: true,
		}
	})
	monthly := spec(0, nil, func(s *Spec) {
		s.Trigger.Calendar = Calendar{
			Cron:          evmbinding.CronRule{MinuteSet: 1, HourSet: 1 << 9, DaySet: 1<<32 - 2, MonthSet: 1<<13 - 2, WeekdaySet: 1 << 2, NthSet: 1 << 2},
			OffsetMinutes: -60, Transitions: []evmbinding.OffsetTransition{{From: 4_000_000_020, OffsetMinutes: 60}}, OffsetFinal: true,
		}
		s.Bid.Tier = uint8(timerstypes.TierFast)
	})
	packed := func(s Spec) string { return string(pack(t, "schedule", s)) }
	for _, stated := range []Spec{called, watching, monthly, spec(0, []byte("plain"), func(s *Spec) { s.Trigger.Time = c.Now() + 900 })} {
		schedule(stated)
		id := c.TimersOf(p.Address)[0].Id
		require.Equal(t, packed(stated), packed(specOf(id)))
		if stated.Repeat.Remaining > 0 {
			for len(Events[*timerstypes.TimerFired](t, c.Block())) == 0 {
			}
			require.Equal(t, packed(stated), packed(specOf(id)))
			stated.Repeat.Remaining, stated.MaxCharge = 4, new(big.Int)
			change := spec(0, nil, func(s *Spec) { s.Repeat.Remaining = 4 })
			fields := []string{"repeat.remaining", "max_charge"}
			p.Call(alice, "run", []Step{step(evmbinding.Address, pack(t, "update", [32]byte(id), change, fields, uint64(0)), must)})
			require.Equal(t, packed(stated), packed(specOf(id)))
		}
		again := specOf(id)
		cancelAll(c, p)
		if again.Trigger.Interval.First > 0 {
			again.Trigger.Interval.First = c.Height() + 50
		}
		schedule(again)
		require.Equal(t, packed(again), packed(specOf(c.TimersOf(p.Address)[0].Id)))
		cancelAll(c, p)
	}
}

// TestEstimate_InATransactionLeavesNoTrace: a question that previews a block is asked in a transaction with a change
// that is watched. The watch fires in that block, and the estimate is what the fire is charged at most.
func TestEstimate_InATransactionLeavesNoTrace(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	watch := Watch{Source: fromSlot, Target: d.Address, Slot: common.BigToHash(big.NewInt(1))}
	d.Call(alice, "schedule", spec(250_000, nil, func(s *Spec) { s.Trigger.Watch.Keys, s.Repeat.Remaining = []Watch{watch}, 1 }))
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
		"specOf":   pack(t, "specOf", d.Address, [32]byte(kept[0].Id)),
		"timersOf": pack(t, "timersOf", d.Address, uint32(0), uint32(10)),
	} {
		ask, err := d.ABI.Pack("callIn", byStaticCall, question)
		require.NoError(t, err)
		d.Call(alice, "schedule", spec(500_000, nil, func(s *Spec) { s.Trigger.AfterBlocks = 1 }, callTo(d.Address, new(big.Int), ask)))
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
