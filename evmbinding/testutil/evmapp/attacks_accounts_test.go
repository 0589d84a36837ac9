package evmapp

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// Hook is a call that a HookedToken makes when it moves.
type Hook struct {
	To    common.Address
	Times *big.Int
	Data  []byte
}

var noHook = Hook{Times: new(big.Int), Data: []byte{}}

// TestAttack_IsEnteredAgainByAToken that calls others when it moves, before balances change or after: in the fire of
// one who pays in it, the receiver tries to act on the timer that fires, to call the callback, to schedule for this
// block, and to move the token again. It acts for itself alone, and so does the token where it calls the precompile.
func TestAttack_IsEnteredAgainByAToken(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	for _, before := range []bool{true, false} {
		token := c.Deploy(alice, "HookedToken", nil)
		victim, thief := puppet(c), puppet(c)
		token.Call(alice, "mint", victim.Address, big.NewInt(100))
		token.Call(alice, "mint", thief.Address, big.NewInt(1))
		later := c.Height() + 5
		pay := token.dataOf("transfer", thief.Address, big.NewInt(7))
		every := func(s *Spec) { s.Trigger.Interval.First, s.Trigger.Interval.Every = later, 100 }
		payment := stepsOf(c, step(token.Address, pay, must))
		victim.Call(alice, "run", []Step{
			step(evmbinding.Address, pack(t, "schedule", spec(550_000, payment, every)), must),
		})
		id := [32]byte(c.TimersOf(victim.Address)[0].Id)
		steps := []Step{
			step(victim.Address, append(evmbinding.Receiver.Methods["onTimer"].ID, make([]byte, 512)...)),
			step(evmbinding.Address, pack(t, "cancel", id)),
			step(evmbinding.Address, pack(t, "pause", id)),
			step(evmbinding.Address, pack(t, "scheduleAt", later, uint64(100_000), []byte{})),
			step(evmbinding.Address, pack(t, "scheduleAfter", uint64(2), uint64(100_000), []byte{})),
			step(token.Address, token.dataOf("transfer", victim.Address, big.NewInt(1))),
		}
		hook := Hook{thief.Address, big.NewInt(1), thief.dataOf("run", steps)}
		own := Hook{evmbinding.Address, big.NewInt(1), pack(t, "scheduleAfter", uint64(2), uint64(100_000), []byte{})}
		if before {
			token.Call(alice, "hook", hook, own)
		} else {
			token.Call(alice, "hook", own, hook)
		}
		txs := a.scheduleOthers(later)
		c.Block(txs...)
		for c.Height() < later-1 {
			c.Block()
		}
		nonces := a.nonces(victim.Address)
		block := c.Block()
		require.Len(t, Events[*timerstypes.TimerFired](t, block), 1+len(a.others))
		name, _, result := fireOf(c, block, hex.EncodeToString(id[:]))
		require.Equal(t, evmbinding.EventFire, name, Attribute(block, evmbinding.EventFailed, "returned"))
		require.Equal(t, []bool{false, false, false, false, true, true}, thief.succeeded(result), "before: %v", before)
		require.Equal(t, big.NewInt(100-7+1), token.View("balanceOf", victim.Address)[0])
		require.Equal(t, uint64(1), victim.number("fires"))
		require.Equal(t, nonces, a.nonces(victim.Address))
		left := c.TimersOf(victim.Address)
		require.Len(t, left, 1)
		require.Equal(t, later+100, left[0].Due)
		require.Len(t, c.TimersOf(thief.Address), 1)
		require.Len(t, c.TimersOf(token.Address), 1)
		require.Len(t, scheduledLogs(result), 2)
		// The thief pays for its own timer; the token has no coins and pays for none.
		c.Block()
		block = c.Block()
		fires := Events[*timerstypes.TimerFired](t, block)
		require.Len(t, fires, 1)
		require.Equal(t, sdk.AccAddress(thief.Address.Bytes()).String(), fires[0].Payer)
		require.Len(t, Events[*timerstypes.TimerCancelledInsufficientFunds](t, block), 1)
		cancelAll(c, victim)
	}
	for _, d := range a.others {
		require.Equal(t, uint64(2), d.number("rings"))
	}
}

// TestAttack_TokenThatCallsItselfWithoutEnd takes what the gas limit lets it, and undoes what it did.
func TestAttack_TokenThatCallsItselfWithoutEnd(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	token, d := c.Deploy(alice, "HookedToken", nil), puppet(c)
	token.Call(alice, "mint", d.Address, big.NewInt(100))
	again := token.dataOf("transfer", d.Address, new(big.Int))
	token.Call(alice, "hook", Hook{token.Address, big.NewInt(1_000_000), again}, noHook)
	pay := step(token.Address, token.dataOf("transfer", bob.Address, big.NewInt(7)))
	fire, result, _ := a.callback(d, 550_000, pay)
	require.True(t, fire.Success, fire.String())
	require.Greater(t, fire.Cycles, uint64(400_000))
	require.Len(t, d.outcomes(result), 1)
	pay.Must = true
	token.Call(alice, "hook", noHook, Hook{token.Address, big.NewInt(1_000_000), again})
	held := token.View("balanceOf", bob.Address)[0]
	fire, result, _ = a.callback(d, 550_000, pay, step(c.Deploy(alice, "Bomb", nil).Address, []byte{1}, must))
	require.False(t, fire.Success)
	require.Empty(t, result.Logs)
	require.Equal(t, held, token.View("balanceOf", bob.Address)[0])
}

// delegated is an account that a test lets delegate; none at its end.
func delegated(c *Chain, account Account) *Deployed {
	c.tb.Helper()
	c.tb.Cleanup(func() { delegate(c, account, common.Address{}) })
	return &Deployed{c, account.Address, Contracts(c.tb)["Puppet"].ABI}
}

// TestAttack_DelegatesBetweenScheduleAndFire: the callback runs the code to which the account delegates when it
// fires, on the account's storage and coins; where there is none any more, or none at the address, it fails and is
// charged.
func TestAttack_DelegatesBetweenScheduleAndFire(t *testing.T) {
	c := chain(t)
	dave := AccountOf("dave")
	puppet, alarm := c.Deploy(alice, "Puppet", nil), c.Deploy(alice, "Alarm", nil)
	d := delegated(c, dave)
	empty := AccountOf("never used").Address
	gone := strconv.Itoa(int(timerstypes.ErrActorGone.ABCICode()))
	invalid := strconv.Itoa(int(evmtypes.ErrVMExecution.ABCICode()))
	for name, try := range map[string]struct {
		before, after common.Address
		code          string // of the failure; none: the callback succeeds
	}{
		"delegates to other code":     {puppet.Address, alarm.Address, ""},
		"delegates no more":           {puppet.Address, common.Address{}, gone},
		"delegates to no code":        {puppet.Address, empty, gone},
		"delegates to the precompile": {puppet.Address, evmbinding.Address, gone},
		"delegates to x/vm's":         {puppet.Address, common.BytesToAddress([]byte{4}), gone},
		// A delegation is followed once; what stands there instead of code can't run.
		"delegates to one who does so": {puppet.Address, AccountOf("carol").Address, invalid},
	} {
		delegate(c, AccountOf("carol"), puppet.Address)
		delegate(c, dave, try.before)
		data := pack(t, "scheduleAfter", uint64(2), uint64(300_000), []byte{})
		block := c.Block(c.Sign(dave, 0, &evmbinding.Address, nil, 300_000, data))
		require.Empty(t, c.Result(block.TxResults[0]).VmError)
		delegate(c, dave, try.after)
		nonce, balance := c.EVM.GetNonce(c.Ctx(), dave.Address), c.Balance(dave.Address)
		block = c.Block()
		fires := Events[*timerstypes.TimerFired](t, block)
		require.Len(t, fires, 1, name)
		require.Equal(t, try.code == "", fires[0].Success, "%s: %s", name, fires[0])
		require.Equal(t, try.code, Attribute(block, evmbinding.EventFailed, "code"), name)
		require.Equal(t, nonce, c.EVM.GetNonce(c.Ctx(), dave.Address))
		require.Equal(t, -1, c.Balance(dave.Address).Cmp(balance), name)
	}
	delegate(c, AccountOf("carol"), common.Address{})
	require.Zero(t, puppet.number("fires"))
	require.Zero(t, alarm.number("rings"))
	// Alarm counts at slot 0, as Puppet does: the storage is the account's, whichever code runs.
	delegate(c, dave, puppet.Address)
	require.Equal(t, uint64(1), d.number("fires"))
}

// TestAttack_DelegatedAccountMakesCalls: a call that an account scheduled is made as the account while it delegates,
// and what the delegation lets others do is done as itself alone. Its nonce stays.
func TestAttack_DelegatedAccountMakesCalls(t *testing.T) {
	c := chain(t)
	dave := AccountOf("dave")
	target, puppet := alarm(c), c.Deploy(alice, "Puppet", nil)
	d := delegated(c, dave)
	delegate(c, dave, puppet.Address)
	set := target.dataOf("set", big.NewInt(42))
	next := func(s *Spec) { s.Trigger.AfterBlocks = 1 }
	data := pack(t, "schedule", spec(200_000, nil, next, callTo(target.Address, new(big.Int), set)))
	require.Empty(t, c.Result(c.Block(c.Sign(dave, 0, &evmbinding.Address, nil, 300_000, data)).TxResults[0]).VmError)
	nonce := c.EVM.GetNonce(c.Ctx(), dave.Address)
	require.True(t, fired(c).Success)
	require.Equal(t, uint64(42), target.number("slot"))
	require.Equal(t, nonce, c.EVM.GetNonce(c.Ctx(), dave.Address))

	// Whoever calls the account's code schedules as the account: it is the code that it has delegated to.
	schedule := pack(t, "scheduleAfter", uint64(1), uint64(300_000), stepsOf(c, step(target.Address, set, must)))
	require.Empty(t, c.TimersOf(bob.Address))
	d.Call(bob, "run", []Step{step(evmbinding.Address, schedule, must)})
	require.Empty(t, c.TimersOf(bob.Address))
	require.Len(t, c.TimersOf(dave.Address), 1)
	fire := fired(c)
	require.True(t, fire.Success, fire.String())
	require.Equal(t, sdk.AccAddress(dave.Address.Bytes()).String(), fire.Payer)
	require.Equal(t, nonce, c.EVM.GetNonce(c.Ctx(), dave.Address))
}

// TestAttack_ReplaysAFire: what a fire is shown as is no transaction. Put into a block as one, by whomever, it is
// refused, and takes nothing; so it is with another v, s or nonce.
func TestAttack_ReplaysAFire(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	set := d.dataOf("set", big.NewInt(9))
	next := func(s *Spec) { s.Trigger.AfterBlocks = 1 }
	data := pack(t, "schedule", spec(200_000, nil, next, callTo(d.Address, new(big.Int), set)))
	carol := AccountOf("carol")
	require.Empty(t, c.Result(c.Block(c.Sign(carol, 0, &evmbinding.Address, nil, 300_000, data)).TxResults[0]).VmError)
	id := hex.EncodeToString(c.TimersOf(carol.Address)[0].Id)
	block := c.Block()
	name, tx, _ := fireOf(c, block, id)
	require.Equal(t, evmbinding.EventFire, name)
	require.Equal(t, uint64(9), d.number("slot"))
	require.Zero(t, tx.Nonce(), "the number of earlier fires")
	d.Call(alice, "set", big.NewInt(1))

	v, r, _ := tx.RawSignatureValues()
	var replays [][]byte
	for _, from := range []common.Address{carol.Address, evmbinding.Address, {}} {
		for _, change := range []func(*ethtypes.LegacyTx){
			func(*ethtypes.LegacyTx) {},
			func(tx *ethtypes.LegacyTx) { tx.Nonce = c.EVM.GetNonce(c.Ctx(), from) },
			func(tx *ethtypes.LegacyTx) { tx.V = new(big.Int).Add(v, big.NewInt(2)) },
			func(tx *ethtypes.LegacyTx) { tx.V = big.NewInt(27) },
			func(tx *ethtypes.LegacyTx) { tx.S = big.NewInt(1) },
		} {
			again := &ethtypes.LegacyTx{
				Nonce: tx.Nonce(), GasPrice: new(big.Int).Mul(c.BaseFee(), big.NewInt(2)), Gas: tx.Gas(), To: tx.To(),
				Value: tx.Value(), Data: tx.Data(), V: v, R: r, S: new(big.Int),
			}
			change(again)
			msg := &evmtypes.MsgEthereumTx{From: from.Bytes()}
			msg.FromEthereumTx(ethtypes.NewTx(again))
			built, err := msg.BuildTxWithEvmParams(c.txConfig.NewTxBuilder(), c.EVM.GetParams(c.Ctx()))
			require.NoError(t, err)
			raw, err := c.txConfig.TxEncoder()(built)
			require.NoError(t, err)
			replays = append(replays, raw)
		}
	}
	nonce, balance := c.EVM.GetNonce(c.Ctx(), carol.Address), c.Balance(carol.Address)
	for i, raw := range replays {
		checked, err := c.CheckTx(&abci.RequestCheckTx{Tx: raw, Type: abci.CheckTxType_New})
		require.NoError(t, err)
		require.NotZero(t, checked.Code, "replay %d", i)
	}
	for i, result := range c.Block(replays...).TxResults {
		require.NotZero(t, result.Code, "replay %d: %s", i, result.Log)
	}
	require.Equal(t, uint64(1), d.number("slot"))
	require.Equal(t, nonce, c.EVM.GetNonce(c.Ctx(), carol.Address))
	require.Equal(t, balance, c.Balance(carol.Address))
}
