package evmapp

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// deployed is a new contract whose constructor takes arguments.
func (c *Chain) deployed(from Account, name string, value *big.Int, args ...any) *Deployed {
	c.tb.Helper()
	contract := Contracts(c.tb)[name]
	packed, err := contract.ABI.Pack("", args...)
	require.NoError(c.tb, err)
	address := crypto.CreateAddress(from.Address, c.EVM.GetNonce(c.Ctx(), from.Address))
	block := c.Block(c.Sign(from, 0, nil, value, txGas, append(contract.Bytecode, packed...)))
	result := c.Result(block.TxResults[0])
	require.Empty(c.tb, result.VmError, Reason(result.Ret))
	return &Deployed{c, address, contract.ABI}
}

// until runs blocks up to a second, and returns the fires of the last one.
func (c *Chain) until(second uint64) []*timerstypes.TimerFired {
	c.tb.Helper()
	for c.Now()+1 < second {
		none(c)
	}
	fires := Events[*timerstypes.TimerFired](c.tb, c.Block())
	require.Equal(c.tb, second, c.Now())
	return fires
}

// TestExample_Subscription: a merchant is paid each period as long as the allowance lasts; a payment that fails ends the
// subscription and leaves no timer, and so does the subscriber.
func TestExample_Subscription(t *testing.T) {
	c := chain(t)
	const price, period = 10, uint64(60)
	token, merchant := c.Deploy(alice, "Token", nil), AccountOf("merchant").Address
	d := c.deployed(alice, "Subscription", Ether, token.Address, merchant, big.NewInt(price), period)
	has := func(account common.Address) int64 { return token.View("balanceOf", account)[0].(*big.Int).Int64() }

	result, _ := d.Try(bob, "subscribe")
	require.NotEmpty(t, result.VmError)
	require.Empty(t, c.TimersOf(d.Address))
	token.Call(alice, "mint", bob.Address, big.NewInt(100))
	token.Call(bob, "approve", d.Address, big.NewInt(3*price))
	d.Call(bob, "subscribe")
	start := c.Now()
	require.Equal(t, int64(price), has(merchant))
	result, _ = d.Try(bob, "subscribe")
	require.NotEmpty(t, result.VmError)
	for i := uint64(1); i <= 2; i++ {
		fires := c.until(start + i*period)
		require.Len(t, fires, 1)
		require.True(t, fires[0].Success, fires[0].String())
		require.Equal(t, int64(i+1)*price, has(merchant))
	}
	// The allowance is used up.
	require.True(t, c.until(start + 3*period)[0].Success)
	require.Equal(t, int64(3*price), has(merchant))
	require.Equal(t, [32]byte{}, d.View("timerOf", bob.Address)[0])
	require.Empty(t, c.TimersOf(d.Address))

	token.Call(bob, "approve", d.Address, big.NewInt(100))
	d.Call(bob, "subscribe")
	result, _ = d.Try(alice, "unsubscribe")
	require.NotEmpty(t, result.VmError)
	d.Call(bob, "unsubscribe")
	require.Empty(t, c.TimersOf(d.Address))
	require.Equal(t, int64(4*price), has(merchant))
	require.Equal(t, int64(100-4*price), has(bob.Address))
}

// TestExample_Averaging: the plan buys at its interval, leaves out what is too expensive, is suspended after three
// failures in a row, continues when its owner says so, and returns what is left.
func TestExample_Averaging(t *testing.T) {
	c := chain(t)
	pool := c.deployed(alice, "Pool", big.NewInt(1_000_000), big.NewInt(1_000_000))
	d := c.deployed(bob, "Averaging", Ether, pool.Address, big.NewInt(1_000), big.NewInt(900), uint64(3), uint64(10))
	has := func() int64 { return pool.View("balanceOf", bob.Address)[0].(*big.Int).Int64() }
	buys := func(want bool) {
		before := has()
		require.Empty(t, Events[*timerstypes.TimerFired](t, c.Block()))
		require.Empty(t, Events[*timerstypes.TimerFired](t, c.Block()))
		fire := fired(c)
		require.Equal(t, want, fire.Success, fire.String())
		require.Equal(t, want, has() > before+900)
		if !want {
			require.Equal(t, before, has())
		}
	}
	buys(true)
	buys(true)
	trade := func(tokens int64) {
		pool.Call(alice, "trade", big.NewInt(1_000_000), big.NewInt(tokens))
	}
	// The trade's block is the first of the three.
	trade(100_000)
	none(c)
	require.False(t, fired(c).Success)
	buys(false)
	buys(false)
	left := c.TimersOf(d.Address)
	require.Len(t, left, 1)
	require.NotEqual(t, timerstypes.NotOnHold, left[0].HoldReason)
	trade(1_000_000)
	none(c)
	none(c)
	result, _ := d.Try(alice, "resume")
	require.NotEmpty(t, result.VmError)
	d.Call(bob, "resume")
	for range 4 {
		if len(Events[*timerstypes.TimerFired](t, c.Block())) > 0 {
			break
		}
	}
	require.Equal(t, timerstypes.NotOnHold, c.TimersOf(d.Address)[0].HoldReason)
	result, _ = d.Try(alice, "stop")
	require.NotEmpty(t, result.VmError)
	d.Call(bob, "stop")
	require.Empty(t, c.TimersOf(d.Address))
	// What was locked for the timer, if anything, came back before.
	require.Zero(t, c.Balance(d.Address).Sign())
	fund(c, d, 1)
	d.Call(bob, "stop")
	require.Zero(t, c.Balance(d.Address).Sign())
}

// TestExample_DeadMansSwitch: the heir gets the coins a period after the owner was last alive, and not before; an owner who
// takes them back leaves no timer.
func TestExample_DeadMansSwitch(t *testing.T) {
	c := chain(t)
	heir, period := AccountOf("the heir").Address, uint64(20)
	d := c.deployed(bob, "DeadMansSwitch", Ether, heir, period)
	require.Len(t, c.TimersOf(d.Address), 1)
	for range 10 {
		none(c)
	}
	result, _ := d.Try(alice, "alive")
	require.NotEmpty(t, result.VmError)
	d.Call(bob, "alive")
	last := c.Now()
	require.Zero(t, c.Balance(heir).Sign())
	fires := c.until(last + period)
	require.Len(t, fires, 1)
	require.True(t, fires[0].Success, fires[0].String())
	paid, ok := new(big.Int).SetString(fires[0].Paid, 10)
	require.True(t, ok)
	// The heir gets all but what the fire may cost at most; what it did not cost comes back to the contract.
	sum := new(big.Int).Add(c.Balance(heir), c.Balance(d.Address))
	require.Equal(t, Ether, sum.Add(sum, paid))
	require.Positive(t, c.Balance(heir).Cmp(c.Balance(d.Address)))
	require.Empty(t, c.TimersOf(d.Address))
	result, _ = d.Try(bob, "alive")
	require.Contains(t, Reason(result.Ret), "timer not found")

	again := c.deployed(bob, "DeadMansSwitch", Ether, heir, period)
	result, _ = again.Try(alice, "withdraw")
	require.NotEmpty(t, result.VmError)
	again.Call(bob, "withdraw")
	require.Empty(t, c.TimersOf(again.Address))
	require.Zero(t, c.Balance(again.Address).Sign())
}

// TestExample_Upkeep: a contract for an automation with checkUpkeep and performUpkeep is asked again and again, and
// does what it says. Where it reverts, the fire has failed, and the next one asks again. The owner ends it.
func TestExample_Upkeep(t *testing.T) {
	c := chain(t)
	target := c.Deploy(alice, "Ripening", nil)
	d := c.deployed(alice, "Upkeep", Ether, target.Address, []byte("field 7"), uint64(3), uint64(300_000))
	// asks runs blocks until the contract has asked, as it does in each third, and returns whether the fire succeeded.
	asks := func(d *Deployed) bool {
		t.Helper()
		for range 3 {
			for _, fire := range Events[*timerstypes.TimerFired](t, c.Block()) {
				require.Equal(t, fire.Actor, fire.Payer)
				if fire.Actor == sdk.AccAddress(d.Address.Bytes()).String() {
					return fire.Success
				}
			}
		}
		require.Fail(t, "no fire")
		return false
	}
	require.True(t, asks(d))
	ripe := c.Now() + 5
	target.Call(alice, "plant", new(big.Int).SetUint64(ripe))
	require.True(t, asks(d))
	require.Less(t, c.Now(), ripe)
	require.Zero(t, target.number("harvests"))
	require.True(t, asks(d))
	require.Equal(t, uint64(1), target.number("harvests"))
	require.Equal(t, d.Address, target.View("harvester")[0])
	done := target.View("last")[0].([]byte)
	require.Equal(t, common.BigToHash(new(big.Int).SetUint64(ripe)).Bytes(), done[:32])
	require.Contains(t, string(done), "field 7")
	require.True(t, asks(d))
	require.Equal(t, uint64(1), target.number("harvests"))

	// One that has no such functions.
	token := c.Deploy(alice, "Token", nil)
	other := c.deployed(alice, "Upkeep", Ether, token.Address, []byte{}, uint64(3), uint64(300_000))
	require.False(t, asks(other))
	require.False(t, asks(other))
	other.Call(alice, "stop")
	result, _ := d.Try(bob, "stop")
	require.NotEmpty(t, result.VmError)
	require.Positive(t, c.Balance(d.Address).Sign())
	d.Call(alice, "stop")
	require.Zero(t, c.Balance(d.Address).Sign())
	require.Empty(t, c.TimersOf(d.Address))
}
