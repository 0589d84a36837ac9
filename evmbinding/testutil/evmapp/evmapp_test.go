package evmapp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	sdkmath "cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkaddress "github.com/cosmos/cosmos-sdk/types/address"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// One chain serves all tests, one after another: x/vm allows one in a process. Each test has contracts of its own.
var shared *Chain

func chain(tb testing.TB) *Chain {
	tb.Helper()
	if shared == nil {
		shared = Start(tb, "alice", "bob", "carol", "dave")
	}
	c := shared.For(tb)
	// The next test counts fires: no timer is left to it.
	tb.Cleanup(func() {
		live, err := c.Timers.Keeper.CountLive(c.Ctx())
		require.NoError(tb, err)
		require.Zero(tb, live, "timers that the test has left")
	})
	return c
}

var (
	alice = AccountOf("alice")
	bob   = AccountOf("bob")
)

// fund sends ether to an address.
func fund(c *Chain, d *Deployed, ether int64) {
	c.tb.Helper()
	block := c.Block(c.Sign(bob, 0, &d.Address, new(big.Int).Mul(big.NewInt(ether), Ether), 100_000, nil))
	require.Empty(c.tb, c.Result(block.TxResults[0]).VmError)
}

// alarm is a new contract with an ether.
func alarm(c *Chain) *Deployed {
	c.tb.Helper()
	d := c.Deploy(alice, "Alarm", nil)
	fund(c, d, 1)
	return d
}

// fired is the one fire of a block.
func fired(c *Chain) *timerstypes.TimerFired {
	c.tb.Helper()
	all := Events[*timerstypes.TimerFired](c.tb, c.Block())
	require.Len(c.tb, all, 1)
	return all[0]
}

// inReadme checks that README.md states figures as they are, within a twentieth: ids in calls have more or fewer zero bytes,
// which cost less, and records are shorter or longer.
func inReadme(t *testing.T, row string, values ...uint64) {
	t.Helper()
	t.Logf("%s: %d", row, values)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	found := regexp.MustCompile(regexp.QuoteMeta(row) + `[^|]* \| ([0-9, ]+) \|`).FindStringSubmatch(string(readme))
	require.NotNil(t, found, row)
	stated := strings.Split(found[1], ", ")
	require.Len(t, stated, len(values))
	for i, value := range values {
		number, err := strconv.ParseUint(strings.ReplaceAll(stated[i], ",", ""), 10, 64)
		require.NoError(t, err)
		require.InEpsilon(t, number, value, 0.05, row)
	}
}

func (d *Deployed) number(method string, args ...any) uint64 {
	d.chain.tb.Helper()
	return d.View(method, args...)[0].(*big.Int).Uint64()
}

func TestCallback_ContractSchedulesItself(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	before := c.Balance(d.Address)
	d.Call(alice, "start", uint64(2), uint64(200_000), []byte("hello"))
	inReadme(t, "a contract schedules a callback and keeps its id", c.Used)
	require.Len(t, c.TimersOf(d.Address), 1)
	c.Block()
	require.Zero(t, d.number("rings"))
	fire := fired(c)
	require.True(t, fire.Success, fire.String())
	t.Logf("fire: %s", fire)
	require.Equal(t, uint64(1), d.number("rings"))
	require.Empty(t, c.TimersOf(d.Address))
	require.Equal(t, -1, c.Balance(d.Address).Cmp(before))
}

// reasonOf is why a call with these bytes is refused in a way that Alarm.callIn knows; empty if it is not refused.
func reasonOf(d *Deployed, way uint8, data []byte) (caught bool, reason string) {
	d.chain.tb.Helper()
	d.Call(alice, "callIn", way, data)
	return d.View("caught")[0].(bool), d.View("reason")[0].(string)
}

const (
	byStaticCall, byDelegateCall, withValue, withinStaticCall, byCall uint8 = 0, 1, 2, 3, 4
)

func pack(t *testing.T, method string, args ...any) []byte {
	t.Helper()
	data, err := evmbinding.ABI.Pack(method, args...)
	require.NoError(t, err)
	return data
}

// TestPrecompile_RefusesToScheduleInAStaticCall: neither a static call of the precompile nor one further up, nor a
// delegate call, schedules; questions are answered in a static call. Value is refused and stays with the caller.
func TestPrecompile_RefusesToScheduleInAStaticCall(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	schedule := pack(t, "scheduleAfter", uint64(5), uint64(200_000), []byte{})
	question := pack(t, "timersOf", d.Address, uint32(0), uint32(10))
	before := c.Balance(d.Address)
	for way, want := range map[uint8]string{
		byStaticCall: "write protection", byDelegateCall: "write protection", withinStaticCall: "write protection",
		withValue: "takes no value",
	} {
		caught, reason := reasonOf(d, way, schedule)
		require.True(t, caught, "way %d", way)
		require.Contains(t, reason, want, "way %d", way)
	}
	for _, way := range []uint8{byStaticCall, withinStaticCall, byDelegateCall} {
		caught, reason := reasonOf(d, way, question)
		require.False(t, caught, "way %d: %s", way, reason)
	}
	for _, data := range [][]byte{{}, {1, 2, 3}, {1, 2, 3, 4}, schedule[:40]} {
		for _, way := range []uint8{byCall, byDelegateCall, byStaticCall} {
			caught, _ := reasonOf(d, way, data)
			require.True(t, caught, "%x", data)
		}
	}
	require.Empty(t, c.TimersOf(d.Address))
	require.Equal(t, before, c.Balance(d.Address))
	caught, reason := reasonOf(d, byCall, schedule)
	require.False(t, caught, reason)
	timers := c.TimersOf(d.Address)
	require.Len(t, timers, 1)
	d.Call(alice, "cancel", [32]byte(timers[0].Id))
}

// scheduledLogs are the ids in the precompile's logs.
func scheduledLogs(result *evmtypes.MsgEthereumTxResponse) (ids [][]byte) {
	for _, log := range result.Logs {
		if common.HexToAddress(log.Address) == evmbinding.Address && common.HexToHash(log.Topics[0]) == evmbinding.ABI.Events["TimerScheduled"].ID {
			ids = append(ids, common.HexToHash(log.Topics[1]).Bytes())
		}
	}
	return ids
}

// timerEvents of a transaction are those of the module.
func timerEvents(result *abci.ExecTxResult) (types []string) {
	for _, event := range result.Events {
		if strings.HasPrefix(event.Type, "timers.v1.") {
			types = append(types, event.Type)
		}
	}
	return types
}

// TestRevert_LeavesNothing: what a call scheduled or cancelled that reverts is as if it had not been, in state, logs
// and events, in a transaction and in a fire; the rest of both stays.
func TestRevert_LeavesNothing(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	result, block := d.Try(alice, "scheduleInACallThatReverts", uint64(2), uint64(200_000))
	require.Empty(t, result.VmError)
	require.Empty(t, scheduledLogs(result))
	require.Empty(t, timerEvents(block.TxResults[0]))
	require.Empty(t, c.TimersOf(d.Address))
	require.True(t, d.View("caught")[0].(bool))
	require.Equal(t, uint64(100), d.number("rings"))
	require.Equal(t, [32]byte{}, d.View("last")[0])

	// The whole transaction reverts.
	result, block = d.Try(alice, "startAndRevert", uint64(2), uint64(200_000))
	require.NotEmpty(t, result.VmError)
	require.Empty(t, scheduledLogs(result))
	require.Empty(t, timerEvents(block.TxResults[0]))
	require.Empty(t, c.TimersOf(d.Address))

	// A cancellation is undone, and the timer fires. In the fire, a call that schedules reverts.
	result, _ = d.Try(alice, "start", uint64(3), uint64(400_000), []byte("x"))
	require.Empty(t, result.VmError, Reason(result.Ret))
	require.Len(t, scheduledLogs(result), 1)
	before := c.TimersOf(d.Address)
	require.Equal(t, before[0].Id, scheduledLogs(result)[0])
	_, block = d.Try(alice, "cancelInACallThatReverts")
	require.Empty(t, timerEvents(block.TxResults[0]))
	require.Equal(t, before, c.TimersOf(d.Address))
	c.Block()
	block = c.Block()
	fires := Events[*timerstypes.TimerFired](t, block)
	require.Len(t, fires, 1)
	require.True(t, fires[0].Success)
	require.Empty(t, Events[*timerstypes.TimerScheduled](t, block))
	require.Empty(t, c.TimersOf(d.Address))
	require.True(t, d.View("caught")[0].(bool))
	require.Equal(t, uint64(101), d.number("rings"))
}

// TestReentrancy_ThroughThePrecompile: a callback that schedules, cancels and asks sees what it did; it is not entered
// again by that, and what is scheduled in a fire fires later.
func TestReentrancy_ThroughThePrecompile(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	d.Call(alice, "start", uint64(1), uint64(500_000), []byte("e"))
	block := c.Block()
	fires := Events[*timerstypes.TimerFired](t, block)
	require.Len(t, fires, 1)
	require.True(t, fires[0].Success, "%s %s", fires[0], Attribute(block, evmbinding.EventFailed, "returned"))
	require.Len(t, Events[*timerstypes.TimerScheduled](t, block), 2)
	require.Len(t, Events[*timerstypes.TimerCancelled](t, block), 1)
	// The timer that fires is gone for its owner by then, or there still: the callback counts what it can see.
	all := c.TimersOf(d.Address)
	require.Len(t, all, 1)
	require.Equal(t, all[0].Id, bytes32(d.View("last")[0]))
	require.Contains(t, []uint64{1001, 1002}, d.number("rings"))
	c.Block()
	c.Block()
	require.True(t, fired(c).Success)
}

func bytes32(value any) []byte {
	bz := value.([32]byte)
	return bz[:]
}

// TestCallback_CallsTheEVMsOwnPrecompiles, as contracts that check signatures do.
func TestCallback_CallsTheEVMsOwnPrecompiles(t *testing.T) {
	c := chain(t)
	d := puppet(c)
	var steps []Step
	for n := range byte(0x11) {
		limited := func(s *Step) { s.GasLimit = big.NewInt(100_000) }
		steps = append(steps, step(common.BytesToAddress([]byte{n + 1}), make([]byte, 128), limited))
	}
	schedule := pack(t, "scheduleAfter", uint64(1), uint64(550_000), stepsOf(c, steps[:4]...))
	d.Call(alice, "run", []Step{step(evmbinding.Address, schedule, must)})
	id := hex.EncodeToString(c.TimersOf(d.Address)[0].Id)
	block := c.Block()
	_, _, result := fireOf(c, block, id)
	did := d.outcomes(result)
	require.Len(t, did, 4, Attribute(block, evmbinding.EventFailed, "returned"))
	sum := sha256.Sum256(make([]byte, 128))
	require.Equal(t, outcome{true, sum[:]}, did[1])
	// Whatever it answers, none of them stops the transaction.
	result, _ = d.Try(alice, "run", steps)
	require.Empty(t, result.VmError)
	require.Len(t, d.outcomes(result), len(steps))
}

// TestChain_OfCallbacksThatScheduleTheNext: each fire schedules the next, and is billed the bytes of that as cells, not
// as gas.
func TestChain_OfCallbacksThatScheduleTheNext(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	d.Call(alice, "start", uint64(1), uint64(400_000), []byte("n"))
	for range 4 {
		fire := fired(c)
		require.True(t, fire.Success, fire.String())
		require.Len(t, c.TimersOf(d.Address), 1)
		require.Greater(t, fire.Cells, uint64(400))
		t.Logf("a fire that schedules the next: %d cycles, %d cells", fire.Cycles, fire.Cells)
	}
	require.Equal(t, uint64(4), d.number("rings"))
	last := [32]byte(c.TimersOf(d.Address)[0].Id)
	d.Call(alice, "cancel", last)
	require.Empty(t, c.TimersOf(d.Address))
}

// TestGas_IsBilledAndRefunded: the contract pays what the fire used of EVM gas and written bytes, at the chain's price,
// and gets the rest of the pre-charge back; so does the EVM's refund for a slot that is set to zero.
func TestGas_IsBilledAndRefunded(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	ring := func(payload string) (gas uint64) {
		d.Call(alice, "start", uint64(1), uint64(300_000), []byte(payload))
		price, before := c.BaseFee(), c.Balance(d.Address)
		block := c.Block()
		fires := Events[*timerstypes.TimerFired](t, block)
		require.True(t, fires[0].Success)
		paid, ok := new(big.Int).SetString(fires[0].Paid, 10)
		require.True(t, ok)
		require.Equal(t, new(big.Int).Sub(before, paid), c.Balance(d.Address))
		atLeast := new(big.Int).Mul(price, new(big.Int).SetUint64(fires[0].Cycles))
		require.GreaterOrEqual(t, paid.Cmp(atLeast), 0)
		gas, err := strconv.ParseUint(Attribute(block, evmbinding.EventFire, "gas_used"), 10, 64)
		require.NoError(t, err)
		require.Less(t, gas, fires[0].Cycles)
		t.Logf("EVM gas %d of %d cycles, %d cells, paid %s at base fee %s", gas, fires[0].Cycles, fires[0].Cells, paid, price)
		return gas
	}
	ring("u") // The contract's other slots are set from here on.
	d.Call(alice, "set", big.NewInt(7))
	cleared := ring("u")
	require.Zero(t, d.number("slot"))
	// A slot that stays zero takes 2,200; one that is cleared 5,000, of which 4,800 are refunded.
	// An id in the call has a zero byte more or less, which is 12.
	require.InDelta(t, 2_000, float64(ring("u")-cleared), 60)
}

// TestOutOfGas_IsAFailedFireThatIsCharged, and keeps nothing.
func TestOutOfGas_IsAFailedFireThatIsCharged(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	for _, payload := range []string{"l", "r"} {
		d.Call(alice, "start", uint64(1), uint64(120_000), []byte(payload))
		before := c.Balance(d.Address)
		block := c.Block()
		fires := Events[*timerstypes.TimerFired](t, block)
		require.Len(t, fires, 1)
		require.False(t, fires[0].Success)
		require.Equal(t, -1, c.Balance(d.Address).Cmp(before))
		require.Zero(t, d.number("rings"))
		codespace, code := Attribute(block, evmbinding.EventFailed, "codespace"), Attribute(block, evmbinding.EventFailed, "code")
		returned := Attribute(block, evmbinding.EventFailed, "returned")
		require.Empty(t, Attribute(block, evmbinding.EventFire, "hash"))
		if payload == "l" {
			require.Equal(t, uint64(120_000), fires[0].Cycles)
			require.Equal(t, timerstypes.ModuleName, codespace)
			require.Equal(t, strconv.Itoa(int(timerstypes.ErrOutOfCycles.ABCICode())), code)
			continue
		}
		require.Less(t, fires[0].Cycles, uint64(120_000))
		require.Equal(t, evmtypes.ModuleName, codespace)
		// Refused(1): the selector and the number of rings.
		want, err := d.ABI.Errors["Refused"].Inputs.Pack(big.NewInt(1))
		require.NoError(t, err)
		id := d.ABI.Errors["Refused"].ID
		require.Equal(t, "0x"+hex.EncodeToString(append(id[:4], want...)), returned)
	}
	// Too little gas even to begin.
	d.Call(alice, "start", uint64(1), uint64(60_000), []byte("long enough to take more than what is left of so few cycles"))
	fire := fired(c)
	require.False(t, fire.Success)
	require.Equal(t, uint64(60_000), fire.Cycles)
	// More bytes than the limit.
	d.Call(alice, "schedule", spec(500_000, []byte("w"), func(s *Spec) { s.Trigger.AfterBlocks = 1 }, func(s *Spec) { s.ByteLimit = 300 }))
	block := c.Block()
	require.Equal(t, strconv.Itoa(int(timerstypes.ErrOutOfCells.ABCICode())), Attribute(block, evmbinding.EventFailed, "code"))
	require.Zero(t, d.number("rings"))
	d.Call(alice, "schedule", spec(500_000, []byte("w"), func(s *Spec) { s.Trigger.AfterBlocks = 1 }))
	require.True(t, fired(c).Success)
}

// TestValue_ToABlockedAddressFails, and moves nothing; to another it is sent.
func TestValue_ToABlockedAddressFails(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	module := common.BytesToAddress(authtypes.NewModuleAddress(timerstypes.ModuleName))
	receiver := AccountOf("somebody").Address
	for _, to := range []common.Address{module, receiver} {
		d.Call(alice, "start", uint64(1), uint64(300_000), append([]byte("v"), to.Bytes()...))
		before := c.Balance(to)
		fire := fired(c)
		require.Equal(t, to == receiver, fire.Success, fire.String())
		want := new(big.Int).Set(before)
		if to == receiver {
			want.Add(want, big.NewInt(1))
		}
		require.Equal(t, want, c.Balance(to))
	}
	// evm_call with value: the chain makes the call as the contract.
	for _, to := range []common.Address{module, evmbinding.Address, receiver} {
		d.Call(alice, "schedule", spec(200_000, nil, func(s *Spec) { s.Trigger.AfterBlocks = 1 }, callTo(to, big.NewInt(5), nil)))
		before := c.Balance(to)
		fire := fired(c)
		require.Equal(t, to == receiver, fire.Success, fire.String())
		if to != receiver {
			require.Equal(t, before, c.Balance(to))
			continue
		}
		require.Equal(t, new(big.Int).Add(before, big.NewInt(5)), c.Balance(to))
	}
}

// TestSelfdestruct_BetweenScheduleAndFire: a contract that was there before keeps its code, and is called back once
// somebody funds it again; one that is made, schedules and is destroyed in one transaction is gone.
func TestSelfdestruct_BetweenScheduleAndFire(t *testing.T) {
	c := chain(t)
	heir := AccountOf("heir").Address
	d := alarm(c)
	d.Call(alice, "start", uint64(2), uint64(200_000), []byte{})
	d.Call(alice, "destroy", heir)
	require.Zero(t, c.Balance(d.Address).Sign())
	block := c.Block()
	require.Len(t, Events[*timerstypes.TimerCancelledInsufficientFunds](t, block), 1)
	require.Empty(t, c.TimersOf(d.Address))

	funded := alarm(c)
	funded.Call(alice, "start", uint64(3), uint64(200_000), []byte{})
	funded.Call(alice, "destroy", heir)
	fund(c, funded, 1)
	require.True(t, fired(c).Success)
	require.Equal(t, uint64(1), funded.number("rings"))

	// Destroyed where it was made. Somebody sends coins to its address, so that it can pay, and it has no code.
	maker := c.Deploy(alice, "Maker", nil)
	maker.Call(alice, "make")
	made := maker.View("made")[0].(common.Address)
	require.Len(t, c.TimersOf(made), 1)
	fund(c, &Deployed{c, made, maker.ABI}, 1)
	block = c.Block()
	fires := Events[*timerstypes.TimerFired](t, block)
	require.Len(t, fires, 1)
	require.False(t, fires[0].Success)
	require.Less(t, fires[0].Cycles, uint64(30_000))
	require.Equal(t, strconv.Itoa(int(timerstypes.ErrActorGone.ABCICode())), Attribute(block, evmbinding.EventFailed, "code"))
	require.Empty(t, c.TimersOf(made))
}

// TestConstructor_Schedules: a contract has no code while it is made, and may schedule.
func TestConstructor_Schedules(t *testing.T) {
	c := chain(t)
	d := c.Deploy(alice, "Born", Ether)
	c.Block()
	require.True(t, fired(c).Success)
	require.Equal(t, uint64(1), d.number("rings"))
}

// TestAccount_OwnsTimers: an account without code calls the precompile, and the chain makes calls as it; its nonce
// stays. Messages of the SDK continue as on other chains.
func TestAccount_OwnsTimers(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	carol := AccountOf("carol")
	set, err := d.ABI.Pack("set", big.NewInt(42))
	require.NoError(t, err)
	data := pack(t, "schedule", spec(200_000, nil, func(s *Spec) { s.Trigger.AfterBlocks = 1 }, callTo(d.Address, new(big.Int), set)))
	block := c.Block(c.Sign(carol, 0, &evmbinding.Address, nil, 300_000, data))
	result := c.Result(block.TxResults[0])
	require.Empty(t, result.VmError, Reason(result.Ret))
	inReadme(t, "one in which an account schedules a call of a contract", result.MaxUsedGas)
	nonce := c.EVM.GetNonce(c.Ctx(), carol.Address)
	fire := fired(c)
	require.True(t, fire.Success)
	inReadme(t, "a call that sets a slot: cycles, cells", fire.Cycles, fire.Cells)
	require.Equal(t, uint64(42), d.number("slot"))
	require.Equal(t, nonce, c.EVM.GetNonce(c.Ctx(), carol.Address))

	// A callback of an account without code is refused: it would do nothing.
	data = pack(t, "scheduleAfter", uint64(1), uint64(100_000), []byte{})
	result = c.Result(c.Block(c.Sign(carol, 0, &evmbinding.Address, nil, 300_000, data)).TxResults[0])
	require.Contains(t, Reason(result.Ret), carol.Address.String()+" has no code to call back")

	actor, receiver := sdk.AccAddress(carol.Address.Bytes()), sdk.AccAddress(AccountOf("somebody").Address.Bytes())
	messages, err := timerskeeper.NewMessages(banktypes.NewMsgSend(actor, receiver, sdk.NewCoins(sdk.NewInt64Coin(Denom, 3))))
	require.NoError(t, err)
	before := c.Balance(AccountOf("somebody").Address)
	c.Do(func(ctx sdk.Context) error {
		_, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
			Actor: actor, Spec: timerstypes.TimerSpec{
				Trigger: timerstypes.Trigger{After: 1}, Call: timerstypes.TimerCall{Messages: messages}, GasLimit: 100_000,
			},
		})
		return err
	})
	require.True(t, fired(c).Success)
	require.Equal(t, new(big.Int).Add(before, big.NewInt(3)), c.Balance(AccountOf("somebody").Address))
}

// TestAccount_Of32BytesKeepsItsRuntime: the EVM has no such address. Its timers run messages, and no calls.
func TestAccount_Of32BytesKeepsItsRuntime(t *testing.T) {
	c := chain(t)
	actor := sdk.AccAddress(sdkaddress.Module("group", []byte("of three")))
	require.Len(t, actor, 32)
	receiver := AccountOf("paid by a group").Address
	coins := sdk.NewCoins(sdk.NewInt64Coin(Denom, 3))
	messages, err := timerskeeper.NewMessages(banktypes.NewMsgSend(actor, receiver.Bytes(), coins))
	require.NoError(t, err)
	payload, err := evmbinding.EncodeCall(receiver, big.NewInt(3), nil)
	require.NoError(t, err)
	c.Do(func(ctx sdk.Context) error {
		funds := sdk.NewCoins(sdk.NewCoin(Denom, sdkmath.NewIntFromBigInt(Ether)))
		if err := c.Bank.SendCoins(ctx, bob.Address.Bytes(), actor, funds); err != nil {
			return err
		}
		for _, handler := range []string{evmbinding.HandlerCallback, evmbinding.HandlerCall} {
			_, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
				Actor: actor, Spec: timerstypes.TimerSpec{
					Trigger: timerstypes.Trigger{After: 1}, Call: timerstypes.TimerCall{Handler: handler, Payload: payload}, GasLimit: 100_000,
				},
			})
			require.ErrorIs(t, err, timerstypes.ErrInvalidPayload, handler)
		}
		_, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
			Actor: actor, Spec: timerstypes.TimerSpec{
				Trigger: timerstypes.Trigger{After: 1}, Call: timerstypes.TimerCall{Messages: messages}, GasLimit: 100_000,
			},
		})
		return err
	})
	fire := fired(c)
	require.True(t, fire.Success, fire)
	require.Equal(t, actor.String(), fire.Payer)
	require.Equal(t, big.NewInt(3), c.Balance(receiver))
}

// TestModule_KeepsItsOwnTimers: the address of a Go module has 20 bytes too, and its handlers run.
func TestModule_KeepsItsOwnTimers(t *testing.T) {
	c := chain(t)
	ran := 0
	c.Timers.Handlers.Register(govtypes.ModuleName, "test", func(context.Context, timerstypes.Delivery) error {
		ran++
		return nil
	})
	module, payer := authtypes.NewModuleAddress(govtypes.ModuleName), sdk.AccAddress(AccountOf("dave").Address.Bytes())
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{sdk.MsgTypeURL(&timerstypes.MsgScheduleTimer{})})
	require.NoError(t, err)
	c.Do(func(ctx sdk.Context) error {
		if err := c.Feegrant.GrantAllowance(ctx, payer, module, allowance); err != nil {
			return err
		}
		_, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
			Actor: module, Spec: timerstypes.TimerSpec{
				Trigger: timerstypes.Trigger{After: 1}, Call: timerstypes.TimerCall{Handler: "test"}, GasLimit: 100_000, FeePayer: payer.String(),
			},
		})
		return err
	})
	require.True(t, fired(c).Success)
	require.Equal(t, 1, ran)
}

// delegate lets an account delegate to code by EIP-7702, or to none; others pay for the transaction.
func delegate(c *Chain, account Account, to common.Address) {
	c.tb.Helper()
	chainID := uint256.NewInt(EVMChainID)
	signed, err := ethtypes.SignSetCode(account.Key, ethtypes.SetCodeAuthorization{
		ChainID: *chainID, Address: to, Nonce: c.EVM.GetNonce(c.Ctx(), account.Address),
	})
	require.NoError(c.tb, err)
	fee := uint256.MustFromBig(new(big.Int).Mul(big.NewInt(2), c.BaseFee()))
	raw := c.SignTx(alice, &ethtypes.SetCodeTx{
		ChainID: chainID, Nonce: c.EVM.GetNonce(c.Ctx(), alice.Address), GasTipCap: new(uint256.Int), GasFeeCap: fee,
		Gas: 200_000, To: AccountOf("nothing at all").Address, Value: new(uint256.Int),
		AuthList: []ethtypes.SetCodeAuthorization{signed},
	})
	c.Result(c.Block(raw).TxResults[0])
}

// TestDelegatedAccount_IsCalledBack: an account that has delegated to a contract's code by EIP-7702 schedules for itself, and
// the code runs on its own storage; once the delegation is gone, a callback fails.
func TestDelegatedAccount_IsCalledBack(t *testing.T) {
	c := chain(t)
	code, account := alarm(c), AccountOf("carol")
	delegate(c, account, code.Address)
	owned := &Deployed{c, account.Address, code.ABI}
	start := func() {
		data := pack(t, "scheduleAfter", uint64(2), uint64(250_000), []byte{})
		require.Empty(t, c.Result(c.Block(c.Sign(account, 0, &evmbinding.Address, nil, 300_000, data)).TxResults[0]).VmError)
	}
	start()
	none(c)
	require.True(t, fired(c).Success)
	require.Equal(t, uint64(1), owned.number("rings"))
	require.Zero(t, code.number("rings"))

	start()
	delegate(c, account, common.Address{})
	require.False(t, fired(c).Success)
}
