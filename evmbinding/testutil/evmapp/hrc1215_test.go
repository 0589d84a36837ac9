package evmapp

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// booker is a new contract with an ether.
func booker(c *Chain) *Deployed {
	c.tb.Helper()
	d := c.Deploy(alice, "Booker", nil)
	fund(c, d, 1)
	return d
}

// scheduleOf is the address of a timer's schedule.
func scheduleOf(id []byte) common.Address {
	return common.BytesToAddress(append(common.FromHex("0x000000000000000000001215"), id[:8]...))
}

func (d *Deployed) code() int64 {
	d.chain.tb.Helper()
	return d.View("code")[0].(int64)
}

// counts are what the store of the seconds holds: those of seconds by second, and those of owners by second and owner.
func counts(c *Chain) (all map[uint64]uint64, own map[string]uint64) { return countsOf(c, c.Ctx()) }

func countsOf(c *Chain, ctx sdk.Context) (all map[uint64]uint64, own map[string]uint64) {
	all, own = map[uint64]uint64{}, map[string]uint64{}
	iterator := ctx.MultiStore().GetKVStore(c.key(evmbinding.StoreKey)).Iterator(nil, nil)
	defer func() { _ = iterator.Close() }()
	for ; iterator.Valid(); iterator.Next() {
		count := binary.BigEndian.Uint64(iterator.Value())
		if key := iterator.Key(); len(key) == 8 {
			all[binary.BigEndian.Uint64(key)] = count
		} else {
			own[string(key)] = count
		}
	}
	return all, own
}

func (c *Chain) updateTimer(ctx sdk.Context, owner common.Address, id [32]byte, gas uint64, trigger *timerstypes.Trigger) error {
	request := timerskeeper.UpdateRequest{Actor: owner.Bytes(), ID: id[:]}
	if gas > 0 {
		request.Spec.GasLimit, request.Fields = gas, append(request.Fields, "gas_limit")
	}
	if trigger != nil {
		request.Spec.Trigger, request.Fields = *trigger, append(request.Fields, "trigger")
	}
	_, err := c.Timers.Keeper.Update(ctx, request)
	return err
}

func (c *Chain) scheduleTimer(ctx sdk.Context, owner common.Address, handler string) error {
	payload, err := evmbinding.EncodeCall(owner, new(big.Int), nil)
	if err != nil {
		return err
	}
	_, err = c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
		Actor: owner.Bytes(), Spec: timerstypes.TimerSpec{
			Trigger: timerstypes.Trigger{After: 5}, Call: timerstypes.TimerCall{Handler: handler, Payload: payload}, GasLimit: 100_000,
		},
	})
	return err
}

func (c *Chain) key(name string) storetypes.StoreKey { return c.keys[name] }

// checkCounts: the counts are the sums of the live timers that were accepted, and within their bounds.
func checkCounts(c *Chain, owners ...*Deployed) {
	c.tb.Helper()
	wantAll, wantOwn := map[uint64]uint64{}, map[string]uint64{}
	for _, d := range owners {
		for _, t := range c.TimersOf(d.Address) {
			if t.Spec.Call.Handler != evmbinding.HandlerBooked || t.Spec.Trigger.Time == nil {
				continue
			}
			second := uint64(t.Spec.Trigger.Time.Unix())
			wantAll[second] += t.GasLimit
			wantOwn[string(binary.BigEndian.AppendUint64(nil, second))+string(d.Address.Bytes())] += t.GasLimit
		}
	}
	all, own := counts(c)
	require.Equal(c.tb, wantAll, all)
	require.Equal(c.tb, wantOwn, own)
	// The lane has 2,000,000 cycles, of which a tenth is reserved for others.
	for second, count := range all {
		require.LessOrEqual(c.tb, count, uint64(1_800_000), "second %d", second)
	}
	for _, count := range own {
		require.LessOrEqual(c.tb, count, uint64(450_000))
	}
}

// TestHRC1215_ScheduleCall: the call is made as the contract in the first block of its second; the price of the place
// is burned when it is accepted.
func TestHRC1215_ScheduleCall(t *testing.T) {
	c := chain(t)
	d := booker(c)
	supply, before := c.Bank.GetSupply(c.Ctx(), Denom).Amount, c.Balance(d.Address)
	second := new(big.Int).SetUint64(c.Now() + 3)
	d.Call(alice, "book", second, big.NewInt(200_000))
	t.Logf("gas of a transaction that asks for capacity and schedules by HIP-1215: %d", c.Used)
	require.Equal(t, evmbinding.CodeSuccess, d.code())
	require.True(t, d.View("promised")[0].(bool))
	burned := new(big.Int).Sub(before, c.Balance(d.Address))
	require.Positive(t, burned.Sign())
	require.GreaterOrEqual(t, supply.Sub(c.Bank.GetSupply(c.Ctx(), Denom).Amount).BigInt().Cmp(burned), 0)
	timers := c.TimersOf(d.Address)
	require.Len(t, timers, 1)
	require.Equal(t, scheduleOf(timers[0].Id), d.View("schedule")[0])
	checkCounts(c, d)
	none(c)
	require.True(t, fired(c).Success)
	require.Equal(t, second.Uint64(), c.Now())
	require.Equal(t, uint64(1), d.number("pings"))
	require.Equal(t, d.Address, d.View("caller")[0])
	checkCounts(c, d)
	all, own := counts(c)
	require.Empty(t, all)
	require.Empty(t, own)
}

// TestHRC1215_BurnsFromABalanceThatTheEVMHasChanged: the contract is paid and pays others in the transaction in which
// it books. No coin is made or lost by that.
func TestHRC1215_BurnsFromABalanceThatTheEVMHasChanged(t *testing.T) {
	c := chain(t)
	d := booker(c)
	receiver := AccountOf("receiver").Address
	second := new(big.Int).SetUint64(c.Now() + 3)
	data, err := d.ABI.Pack("bookPaid", receiver, second, big.NewInt(400_000))
	require.NoError(t, err)
	lane, err := c.Timers.Keeper.Engine().Lane.Get(c.Ctx())
	require.NoError(t, err)
	burned := lane.LaneBasefee.MulInt64(400_000).QuoInt64(10).Ceil().TruncateInt().BigInt()
	require.Positive(t, burned.Sign())
	supply, own, other := c.supply(), c.Balance(d.Address), c.Balance(receiver)
	block := c.Block(c.Sign(bob, 0, &d.Address, big.NewInt(1_000_000), txGas, data))
	require.Empty(t, c.Result(block.TxResults[0]).VmError)
	require.Equal(t, evmbinding.CodeSuccess, d.code())
	require.Equal(t, new(big.Int).Add(other, big.NewInt(500_001)), c.Balance(receiver))
	want := new(big.Int).Add(own, big.NewInt(500_000-1))
	require.Equal(t, want.Sub(want, burned), c.Balance(d.Address))
	require.Equal(t, new(big.Int).Sub(supply, burned), c.supply())
	none(c)
	require.True(t, fired(c).Success)
}

// supply of the fee denom.
func (c *Chain) supply() *big.Int { return c.Bank.GetSupply(c.Ctx(), Denom).Amount.BigInt() }

// TestHRC1215_Codes: a refusal has a code of Hedera's, and leaves nothing.
func TestHRC1215_Codes(t *testing.T) {
	c := chain(t)
	d := booker(c)
	now := int64(c.Now())
	for name, try := range map[string]struct {
		code   int64
		to     common.Address
		second int64
		gas    int64
	}{
		"to no one":     {evmbinding.CodeInvalidContract, common.Address{}, now + 900, 100_000},
		"in the past":   {evmbinding.CodeExpiryNotInFuture, d.Address, now - 1, 100_000},
		"too far":       {evmbinding.CodeExpiryTooFar, d.Address, now + 100_000_000, 100_000},
		"too much gas":  {evmbinding.CodeMaxGasLimitExceeded, d.Address, now + 900, 600_000},
		"little gas":    {evmbinding.CodeInsufficientGas, d.Address, now + 900, 1_000},
		"no gas at all": {evmbinding.CodeInsufficientGas, d.Address, now + 900, 0},
		"too much":      {evmbinding.CodeExpiryIsBusy, d.Address, now + 900, 450_001},
	} {
		balance := c.Balance(d.Address)
		d.Call(alice, "bookCall", try.to, big.NewInt(try.second), big.NewInt(try.gas), uint64(0), []byte{})
		require.Equal(t, try.code, d.code(), name)
		require.Equal(t, common.Address{}, d.View("schedule")[0], name)
		require.Equal(t, balance, c.Balance(d.Address), name)
		if try.to != (common.Address{}) {
			d.Call(alice, "book", big.NewInt(try.second), big.NewInt(try.gas))
			require.False(t, d.View("promised")[0].(bool), name)
		}
	}
	huge := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	d.Call(alice, "book", huge, big.NewInt(100_000))
	require.Equal(t, evmbinding.CodeExpiryTooFar, d.code())
	d.Call(alice, "book", big.NewInt(now+900), huge)
	require.Equal(t, evmbinding.CodeMaxGasLimitExceeded, d.code())
	require.Zero(t, d.number("broken"))

	// Whoever can't pay for the place.
	poor := c.Deploy(alice, "Booker", nil)
	poor.Call(alice, "book", big.NewInt(now+900), big.NewInt(100_000))
	require.Equal(t, evmbinding.CodeInsufficientPayerBalance, poor.code())
	require.False(t, poor.View("promised")[0].(bool))

	// A call that reverts, and a static one.
	d.Call(alice, "bookInACallThatReverts", big.NewInt(now+900), big.NewInt(100_000))
	d.Call(alice, "bookStatically", big.NewInt(now+900), big.NewInt(100_000))
	require.False(t, d.View("promised")[0].(bool))
	require.Empty(t, c.TimersOf(d.Address))
	require.Empty(t, c.TimersOf(poor.Address))
	checkCounts(c, d, poor)
}

// TestHRC1215_Payer: another account pays for the fire if it has granted an allowance, and no other.
func TestHRC1215_Payer(t *testing.T) {
	c := chain(t)
	d := booker(c)
	payer := AccountOf("dave").Address
	second := new(big.Int).SetUint64(c.Now() + 6)
	d.Call(alice, "bookWithPayer", payer, second, big.NewInt(100_000), false)
	require.Equal(t, evmbinding.CodeInvalidSchedulePayer, d.code())
	message := sdk.MsgTypeURL(&timerstypes.MsgScheduleTimer{})
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{message})
	require.NoError(t, err)
	c.Do(func(ctx sdk.Context) error {
		return c.Feegrant.GrantAllowance(ctx, payer.Bytes(), d.Address.Bytes(), allowance)
	})
	d.Call(alice, "bookWithPayer", payer, second, big.NewInt(100_000), false)
	require.Equal(t, evmbinding.CodeSuccess, d.code())
	d.Call(alice, "bookWithPayer", payer, second, big.NewInt(100_000), true)
	require.Equal(t, evmbinding.CodeSuccess, d.code())
	before, own := c.Balance(payer), c.Balance(d.Address)
	require.True(t, fired(c).Success)
	require.True(t, fired(c).Success)
	require.Equal(t, second.Uint64(), c.Now())
	require.Equal(t, -1, c.Balance(payer).Cmp(before))
	require.Equal(t, own, c.Balance(d.Address))
	require.Equal(t, uint64(2), d.number("pings"))
	checkCounts(c, d)
}

// TestHRC1215_RoomIsGivenBack: however a timer leaves, what it took of its second is free for others; what was accepted
// can't be made more or moved.
func TestHRC1215_RoomIsGivenBack(t *testing.T) {
	c := chain(t)
	d, other := booker(c), alarm(c)
	second := new(big.Int).SetUint64(c.Now() + 500)
	book := func(gas int64) [32]byte {
		d.Call(alice, "book", second, big.NewInt(gas))
		require.Equal(t, evmbinding.CodeSuccess, d.code())
		timers := c.TimersOf(d.Address)
		return [32]byte(timers[len(timers)-1].Id)
	}
	full := func() {
		d.Call(alice, "book", second, big.NewInt(450_000))
		require.Equal(t, evmbinding.CodeExpiryIsBusy, d.code())
		checkCounts(c, d)
	}
	id := book(450_000)
	full()
	d.Call(alice, "remove", scheduleOf(id[:]))
	require.Equal(t, evmbinding.CodeSuccess, d.code())
	checkCounts(c, d)
	d.Call(alice, "remove", scheduleOf(id[:]))
	require.Equal(t, evmbinding.CodeInvalidScheduleID, d.code())

	// By a message of the owner's, here by the host API.
	id = book(450_000)
	full()
	c.Do(func(ctx sdk.Context) error { return c.Timers.Keeper.Cancel(ctx, d.Address.Bytes(), id[:]) })
	checkCounts(c, d)

	id = book(200_000)
	change := func(gas uint64, trigger *timerstypes.Trigger) error {
		var failure error
		c.Do(func(ctx sdk.Context) error {
			dropped, write := ctx.CacheContext()
			if failure = c.updateTimer(dropped, d.Address, id, gas, trigger); failure == nil {
				write()
			}
			return nil
		})
		checkCounts(c, d)
		return failure
	}
	require.ErrorIs(t, change(300_000, nil), timerstypes.ErrUnsupportedTimerType)
	at := c.Ctx().BlockTime().Add(600e9)
	require.ErrorIs(t, change(0, &timerstypes.Trigger{Time: &at}), timerstypes.ErrUnsupportedTimerType)
	require.NoError(t, change(100_000, nil))
	require.NoError(t, change(0, &timerstypes.Trigger{Height: c.Height() + 500}))
	all, _ := counts(c)
	require.Empty(t, all)
	d.Call(alice, "remove", scheduleOf(id[:]))
	require.Equal(t, evmbinding.CodeSuccess, d.code())

	// A timer of the other precompile is not one of these, and their handler is theirs alone.
	other.Call(alice, "start", uint64(50), uint64(100_000), []byte{})
	require.Equal(t, evmbinding.CodeInvalidScheduleID, removeAs(c, other))
	c.Do(func(ctx sdk.Context) error {
		require.ErrorIs(t, c.scheduleTimer(ctx, d.Address, evmbinding.HandlerBooked), timerstypes.ErrInvalidHandler)
		return nil
	})
	other.Call(alice, "cancel", [32]byte(c.TimersOf(other.Address)[0].Id))
}

// TestHRC1215_PromisesAreKept: contracts ask for capacity and schedule at random, several in a block. A promise is
// never broken in its block, no second and no owner has more than it may, and the counts are those of the live timers,
// after each block.
func TestHRC1215_PromisesAreKept(t *testing.T) {
	c := chain(t)
	all := []*Deployed{booker(c), booker(c), booker(c), booker(c), booker(c), booker(c)}
	accepted, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		txs := make([][]byte, rapid.IntRange(1, 6).Draw(r, "calls"))
		callers := make([]*Deployed, len(txs))
		for i := range txs {
			d := all[rapid.IntRange(0, len(all)-1).Draw(r, "caller")]
			second := int64(c.Now()) + rapid.Int64Range(-1, 8).Draw(r, "second")
			gas := rapid.SampledFrom([]int64{0, 39_999, 40_000, 60_000, 150_000, 250_000, 400_000, 450_000, 450_001, 560_000}).Draw(r, "gas")
			callers[i] = d
			if timers := c.TimersOf(d.Address); len(timers) > 0 && rapid.IntRange(0, 5).Draw(r, "delete") == 0 {
				txs[i] = d.Tx(alice, uint64(i), "remove", scheduleOf(timers[0].Id))
				continue
			}
			if rapid.IntRange(0, 3).Draw(r, "all that is free") == 0 {
				txs[i] = d.Tx(alice, uint64(i), "bookFree", big.NewInt(second))
				continue
			}
			txs[i] = d.Tx(alice, uint64(i), "book", big.NewInt(second), big.NewInt(gas))
		}
		block := c.Block(txs...)
		for i := range txs {
			require.Empty(r, c.Result(block.TxResults[i]).VmError)
		}
		for _, d := range callers {
			require.Zero(r, d.number("broken"))
			if d.code() == evmbinding.CodeSuccess {
				accepted++
			} else {
				refused++
			}
		}
		checkCounts(c, all...)
	})
	t.Logf("%d last calls of contracts in blocks were accepted, %d refused", accepted, refused)
	require.Greater(t, accepted, 20)
	require.Greater(t, refused, 20)
	for range 12 {
		c.Block()
	}
	left, own := counts(c)
	require.Empty(t, left)
	require.Empty(t, own)
}

// TestHRC1215_CapacityOfASecond: what the sender may still have of a second, and what all may have; nothing where a call
// would be refused for another reason.
func TestHRC1215_CapacityOfASecond(t *testing.T) {
	c := chain(t)
	all := []*Deployed{booker(c), booker(c), booker(c), booker(c), booker(c)}
	second := new(big.Int).SetUint64(c.Now() + 400)
	ask := func(d *Deployed, second *big.Int) (free, total uint64) {
		data := pack(t, "capacity", second)
		values, err := evmbinding.ABI.Unpack("capacity", c.AskAs(d.Address, evmbinding.Address, data))
		require.NoError(t, err)
		return values[0].(uint64), values[1].(uint64)
	}
	is := func(d *Deployed, want uint64) {
		t.Helper()
		free, total := ask(d, second)
		require.Equal(t, want, free)
		require.Equal(t, uint64(1_800_000), total)
	}
	is(all[0], 450_000)
	all[0].Call(alice, "book", second, big.NewInt(150_000))
	is(all[0], 300_000)
	is(all[1], 450_000)
	for _, d := range all[1:4] {
		d.Call(alice, "bookFree", second)
		require.Equal(t, evmbinding.CodeSuccess, d.code())
		is(d, 0)
	}
	is(all[4], 300_000)
	all[4].Call(alice, "bookFree", second)
	is(all[4], 0)
	is(all[0], 0)
	for _, d := range all {
		require.Zero(t, d.number("broken"))
	}
	// The past, beyond all clocks, and who can't pay.
	poor := c.Deploy(alice, "Booker", nil)
	for _, at := range []*big.Int{new(big.Int), new(big.Int).SetUint64(c.Now()), new(big.Int).Lsh(big.NewInt(1), 255)} {
		free, total := ask(all[0], at)
		require.Zero(t, free)
		require.Equal(t, uint64(1_800_000), total)
	}
	free, _ := ask(poor, new(big.Int).Add(second, big.NewInt(1)))
	require.Zero(t, free)
	// By a delegate call, and within a static one, as any question: nothing is written.
	d := alarm(c)
	for _, way := range []uint8{byStaticCall, byDelegateCall, withinStaticCall, byCall} {
		caught, reason := reasonOf(d, way, pack(t, "capacity", second))
		require.False(t, caught, reason)
	}
	checkCounts(c, all...)
	cancelAll(c, all...)
	checkCounts(c, all...)
}

// TestHRC1215_FacadeAtTheAddressOfASchedule: the owner's call without arguments deletes the schedule there, in a
// transaction and in a fire; a stranger's finds none, nor does one of a schedule that is gone.
func TestHRC1215_FacadeAtTheAddressOfASchedule(t *testing.T) {
	c := chain(t)
	d, stranger := booker(c), booker(c)
	second := new(big.Int).SetUint64(c.Now() + 300)
	d.Call(alice, "book", second, big.NewInt(200_000))
	at := d.View("schedule")[0].(common.Address)
	stranger.Call(alice, "removeAt", at)
	require.Equal(t, evmbinding.CodeInvalidScheduleID, stranger.code())
	require.Len(t, c.TimersOf(d.Address), 1)
	checkCounts(c, d, stranger)
	d.Call(alice, "removeAt", at)
	inReadme(t, "a transaction that deletes a schedule at its address, and keeps the code", c.Used)
	require.Equal(t, evmbinding.CodeSuccess, d.code())
	require.Empty(t, c.TimersOf(d.Address))
	checkCounts(c, d, stranger)
	for _, gone := range []common.Address{at, scheduleOf(make([]byte, 32))} {
		d.Call(alice, "removeAt", gone)
		require.Equal(t, evmbinding.CodeInvalidScheduleID, d.code())
	}
	// One that has fired.
	d.Call(alice, "book", new(big.Int).SetUint64(c.Now()+2), big.NewInt(200_000))
	at = d.View("schedule")[0].(common.Address)
	require.True(t, fired(c).Success)
	d.Call(alice, "removeAt", at)
	require.Equal(t, evmbinding.CodeInvalidScheduleID, d.code())
	// An account that calls by itself, and a timer of the other precompile.
	carol := AccountOf("carol")
	book, err := evmbinding.HRC1215.Pack("scheduleCall", d.Address, second, big.NewInt(200_000), uint64(0), d.dataOf("ping"))
	require.NoError(t, err)
	remove, err := evmbinding.Facade.Pack("deleteSchedule")
	require.NoError(t, err)
	send := func(to common.Address, data []byte) (code int64) {
		result := c.Result(c.Block(c.Sign(carol, 0, &to, nil, 600_000, data)).TxResults[0])
		require.Empty(t, result.VmError)
		return new(big.Int).SetBytes(result.Ret[:32]).Int64()
	}
	require.Equal(t, evmbinding.CodeSuccess, send(evmbinding.HRC1215Address, book))
	at = scheduleOf(c.TimersOf(carol.Address)[0].Id)
	require.Equal(t, evmbinding.CodeSuccess, send(at, remove))
	require.Empty(t, c.TimersOf(carol.Address))
	plain := pack(t, "schedule", spec(100_000, nil, func(s *Spec) { s.Trigger.AfterBlocks = 50 }, callTo(d.Address, new(big.Int), nil)))
	c.Block(c.Sign(carol, 0, &evmbinding.Address, nil, 300_000, plain))
	at = scheduleOf(c.TimersOf(carol.Address)[0].Id)
	require.Equal(t, evmbinding.CodeInvalidScheduleID, send(at, remove))
	require.Len(t, c.TimersOf(carol.Address), 1)
	cancelAll(c, &Deployed{chain: c, Address: carol.Address})
	// In a fire, which the owner scheduled before.
	d.Call(alice, "book", second, big.NewInt(200_000))
	d.Call(alice, "bookCall", d.View("schedule")[0], new(big.Int).SetUint64(c.Now()+2), big.NewInt(250_000), uint64(0), remove)
	require.Len(t, c.TimersOf(d.Address), 2)
	require.True(t, fired(c).Success)
	require.Empty(t, c.TimersOf(d.Address))
	checkCounts(c, d, stranger)
}

// TestAttack_CallsTheAddressesOfSchedules: in static and delegate calls, with value, and without data nothing is done; the
// account that x/vm makes at the address is paid for; other addresses are as they were, and the EVM's own precompiles
// answer after a facade has.
func TestAttack_CallsTheAddressesOfSchedules(t *testing.T) {
	c := chain(t)
	p, d := puppet(c), booker(c)
	id := sha256.Sum256([]byte("no timer's"))
	at, near := scheduleOf(id[:]), common.HexToAddress("0x0000000000000000000012160102030405060708")
	remove, err := evmbinding.Facade.Pack("deleteSchedule")
	require.NoError(t, err)
	sum := sha256.Sum256(remove)
	run := func(steps ...Step) []outcome {
		result, _ := p.Try(alice, "run", steps)
		require.Empty(t, result.VmError)
		return p.outcomes(result)
	}
	exists := func(address common.Address) bool { return c.Accounts.HasAccount(c.Ctx(), address.Bytes()) }
	before := c.Balance(p.Address)
	for _, each := range run(step(at, nil), step(at, remove, worth(1)), step(at, nil, worth(1)), step(at, []byte{1, 2, 3, 4})) {
		require.False(t, each.Ok)
	}
	require.Equal(t, before, c.Balance(p.Address))
	require.False(t, exists(at), "what reverts leaves no account")
	// Gas for all but the account.
	little := func(s *Step) { s.GasLimit = big.NewInt(25_000) }
	require.False(t, run(step(at, remove, little))[0].Ok)
	require.False(t, exists(at))
	did := run(step(near, remove), step(at, remove), step(common.BytesToAddress([]byte{2}), remove), step(near, nil))
	require.Equal(t, outcome{true, []byte{}}, did[0])
	require.Equal(t, big.NewInt(evmbinding.CodeInvalidScheduleID), new(big.Int).SetBytes(did[1].Answer))
	require.Equal(t, outcome{true, sum[:]}, did[2])
	require.True(t, exists(at), "x/vm makes one")
	require.False(t, exists(near))

	second := new(big.Int).SetUint64(c.Now() + 300)
	d.Call(alice, "book", second, big.NewInt(200_000))
	at = d.View("schedule")[0].(common.Address)
	for _, way := range []string{"removeStatically", "removeByDelegate"} {
		d.Call(alice, way, at)
		require.False(t, d.View("promised")[0].(bool), way)
		require.Len(t, c.TimersOf(d.Address), 1)
	}
	require.False(t, exists(at))
	d.Call(alice, "removeAt", at)
	require.Empty(t, c.TimersOf(d.Address))
}

func removeAs(c *Chain, d *Deployed) int64 {
	data, err := evmbinding.HRC1215.Pack("deleteSchedule", scheduleOf(c.TimersOf(d.Address)[0].Id))
	require.NoError(c.tb, err)
	values, err := evmbinding.HRC1215.Unpack("deleteSchedule", c.AskAs(d.Address, evmbinding.HRC1215Address, data))
	require.NoError(c.tb, err)
	return values[0].(int64)
}

// TestHRC1215_ASecondIsFull: four owners with a quarter each fill a second, and the fifth is refused; so is whoever
// comes by the other functions.
func TestHRC1215_ASecondIsFull(t *testing.T) {
	c := chain(t)
	second := new(big.Int).SetUint64(c.Now() + 300)
	all := []*Deployed{booker(c), booker(c), booker(c), booker(c), booker(c)}
	for i, d := range all {
		d.Call(alice, "book", second, big.NewInt(450_000))
		require.Equal(t, i < 4, d.code() == evmbinding.CodeSuccess, "owner %d", i)
		checkCounts(c, all...)
	}
	require.Equal(t, evmbinding.CodeExpiryIsBusy, all[4].code())
	require.False(t, all[4].View("promised")[0].(bool))
	all[4].Call(alice, "bookWithPayer", all[4].Address, second, big.NewInt(40_000), false)
	require.Equal(t, evmbinding.CodeExpiryIsBusy, all[4].code())
	all[4].Call(alice, "book", new(big.Int).Add(second, big.NewInt(1)), big.NewInt(450_000))
	require.Equal(t, evmbinding.CodeSuccess, all[4].code())

	// An import counts what it brings.
	want, wantOwn := counts(c)
	require.Len(t, want, 2)
	genesis, err := c.Timers.Keeper.ExportGenesis(c.Ctx())
	require.NoError(t, err)
	empty, _ := c.Ctx().CacheContext()
	for _, name := range []string{timerstypes.StoreKey, evmbinding.StoreKey} {
		var keys [][]byte
		store := empty.MultiStore().GetKVStore(c.key(name))
		iterator := store.Iterator(nil, nil)
		for ; iterator.Valid(); iterator.Next() {
			keys = append(keys, iterator.Key())
		}
		require.NoError(t, iterator.Close())
		for _, key := range keys {
			store.Delete(key)
		}
	}
	require.NoError(t, c.Timers.Keeper.InitGenesis(empty, genesis))
	gotAll, gotOwn := countsOf(c, empty)
	require.Equal(t, want, gotAll)
	require.Equal(t, wantOwn, gotOwn)
	for _, d := range all {
		d.Call(alice, "remove", scheduleOf(c.TimersOf(d.Address)[0].Id))
	}
	checkCounts(c, all...)
}
