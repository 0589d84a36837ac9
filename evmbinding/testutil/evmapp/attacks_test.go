package evmapp

import (
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// Step is a call that a Puppet makes.
type Step struct {
	To                   common.Address
	Value, GasLimit, Own *big.Int
	Must                 bool
	Data                 []byte
}

// step calls an address; what it calls may fail.
func step(to common.Address, data []byte, change ...func(*Step)) Step {
	s := Step{To: to, Value: new(big.Int), GasLimit: new(big.Int), Own: new(big.Int), Data: data}
	for _, f := range change {
		f(&s)
	}
	return s
}

// own puts the id of the timer that fires into the data.
func own(at int64) func(*Step) { return func(s *Step) { s.Own = big.NewInt(at) } }

// must lets the whole call revert if the step fails.
func must(s *Step) { s.Must = true }

func worth(wei int64) func(*Step) { return func(s *Step) { s.Value = big.NewInt(wei) } }

// puppet is a new Puppet with an ether.
func puppet(c *Chain) *Deployed {
	c.tb.Helper()
	return c.Deploy(alice, "Puppet", Ether)
}

// stepsOf is the payload with which a Puppet makes the calls.
func stepsOf(c *Chain, steps ...Step) []byte {
	c.tb.Helper()
	data, err := Contracts(c.tb)["Puppet"].ABI.Methods["run"].Inputs.Pack(steps)
	require.NoError(c.tb, err)
	return data
}

// dataOf packs a call of a contract.
func (d *Deployed) dataOf(method string, args ...any) []byte {
	d.chain.tb.Helper()
	data, err := d.ABI.Pack(method, args...)
	require.NoError(d.chain.tb, err)
	return data
}

// fireOf is what the EVM did in the fire of an actor in a block: the event's name, the call as a transaction, its result.
func fireOf(c *Chain, block *abci.ResponseFinalizeBlock, timer string) (name string, tx *ethtypes.Transaction, result *evmtypes.MsgEthereumTxResponse) {
	c.tb.Helper()
	for _, event := range block.Events {
		if !isFireOf(event, timer) {
			continue
		}
		values := map[string]string{}
		for _, a := range event.Attributes {
			values[a.Key] = a.Value
		}
		require.Empty(c.tb, name, "two fires of timer %s in a block", timer)
		name = event.Type
		raw, err := base64.StdEncoding.DecodeString(values[evmbinding.AttributeData])
		require.NoError(c.tb, err)
		var data sdk.TxMsgData
		require.NoError(c.tb, proto.Unmarshal(raw, &data))
		result = &evmtypes.MsgEthereumTxResponse{}
		require.NoError(c.tb, proto.Unmarshal(data.MsgResponses[0].Value, result))
		rlp, err := base64.StdEncoding.DecodeString(values[evmbinding.AttributeTx])
		require.NoError(c.tb, err)
		tx = &ethtypes.Transaction{}
		require.NoError(c.tb, tx.UnmarshalBinary(rlp))
	}
	return name, tx, result
}

// outcome of a step.
type outcome struct {
	Ok     bool
	Answer []byte
}

// outcomes of a Puppet's steps, from its logs.
func (d *Deployed) outcomes(result *evmtypes.MsgEthereumTxResponse) (all []outcome) {
	d.chain.tb.Helper()
	for _, log := range result.Logs {
		if common.HexToAddress(log.Address) != d.Address || common.HexToHash(log.Topics[0]) != d.ABI.Events["Did"].ID {
			continue
		}
		values, err := d.ABI.Events["Did"].Inputs.Unpack(log.Data)
		require.NoError(d.chain.tb, err)
		require.Equal(d.chain.tb, uint64(len(all)), values[0].(*big.Int).Uint64())
		all = append(all, outcome{values[1].(bool), values[2].([]byte)})
	}
	return all
}

// succeeded says of each of them whether it did.
func (d *Deployed) succeeded(result *evmtypes.MsgEthereumTxResponse) (oks []bool) {
	d.chain.tb.Helper()
	for _, did := range d.outcomes(result) {
		oks = append(oks, did.Ok)
	}
	return oks
}

// attack is a block in which a timer of a contract fires between timers of others.
type attack struct {
	c *Chain
	// others are due in the same block: half are scheduled before the attack, and half after it.
	others []*Deployed
	rung   uint64
}

func newAttack(c *Chain) *attack {
	c.tb.Helper()
	a := &attack{c: c}
	for range 4 {
		a.others = append(a.others, alarm(c))
	}
	return a
}

// nonces of a contract and of the precompiles, which call it.
func (a *attack) nonces(of common.Address) (all []uint64) {
	for _, address := range []common.Address{of, evmbinding.Address, evmbinding.HRC1215Address} {
		all = append(all, a.c.EVM.GetNonce(a.c.Ctx(), address))
	}
	return all
}

// scheduleOthers are transactions by which the others schedule a timer each, for a height.
func (a *attack) scheduleOthers(height uint64) (txs [][]byte) {
	at := func(s *Spec) { s.Trigger.Height = height }
	for i, d := range a.others {
		txs = append(txs, d.Tx(alice, uint64(i), "schedule", spec(250_000, nil, at)))
	}
	return txs
}

// run schedules a timer of the attacker for the block after next, and lets it fire. It checks what holds whatever the fire
// does: the attacker alone pays for it, at most for its gas limit; all others' timers of the block fire, the lane holds, and
// no nonce changes.
func (a *attack) run(attacker *Deployed, gas uint64, schedule func(height uint64) []byte) (
	fire *timerstypes.TimerFired, result *evmtypes.MsgEthereumTxResponse, block *abci.ResponseFinalizeBlock,
) {
	c := a.c
	c.tb.Helper()
	due := c.Height() + 2
	at := func(s *Spec) { s.Trigger.Height = due }
	var txs [][]byte
	for i, d := range a.others {
		if i == len(a.others)/2 {
			txs = append(txs, c.Sign(bob, 0, &attacker.Address, nil, txGas, schedule(due)))
		}
		txs = append(txs, d.Tx(alice, uint64(i), "schedule", spec(250_000, nil, at)))
	}
	before := c.TimersOf(attacker.Address)
	for _, tx := range c.Block(txs...).TxResults {
		result := c.Result(tx)
		require.Empty(c.tb, result.VmError, Reason(result.Ret))
	}
	timers := slices.DeleteFunc(c.TimersOf(attacker.Address), func(t timerstypes.Timer) bool {
		return slices.ContainsFunc(before, func(known timerstypes.Timer) bool { return string(known.Id) == string(t.Id) })
	})
	require.Len(c.tb, timers, 1)
	id := hex.EncodeToString(timers[0].Id)
	nonces, balance, price := a.nonces(attacker.Address), c.Balance(attacker.Address), c.BaseFee()
	block = c.Block()
	require.Equal(c.tb, due, c.Height())

	cycles := uint64(0)
	for _, each := range Events[*timerstypes.TimerFired](c.tb, block) {
		cycles += each.Cycles
		if each.Id == id {
			fire = each
		} else {
			require.True(c.tb, each.Success, each.String())
		}
	}
	require.LessOrEqual(c.tb, cycles, uint64(2_000_000))
	a.rung++
	for i, d := range a.others {
		require.Equal(c.tb, a.rung, d.number("rings"), "timer %d of others", i)
	}
	require.NotNil(c.tb, fire)
	require.LessOrEqual(c.tb, fire.Cycles, gas)
	require.Equal(c.tb, sdk.AccAddress(attacker.Address.Bytes()).String(), fire.Payer)
	paid, ok := new(big.Int).SetString(fire.Paid, 10)
	require.True(c.tb, ok)
	require.Positive(c.tb, paid.Sign())
	require.GreaterOrEqual(c.tb, paid.Cmp(price.Mul(price, new(big.Int).SetUint64(fire.Cycles))), 0)
	if !fire.Success {
		require.Equal(c.tb, new(big.Int).Sub(balance, paid), c.Balance(attacker.Address), "what a failed fire took")
	}
	require.Equal(c.tb, nonces, a.nonces(attacker.Address))
	name, _, result := fireOf(c, block, id)
	require.Equal(c.tb, fire.Success, name == evmbinding.EventFire)
	return fire, result, block
}

// callback runs an attack by a Puppet's callback, which makes calls.
func (a *attack) callback(d *Deployed, gas uint64, steps ...Step) (*timerstypes.TimerFired, *evmtypes.MsgEthereumTxResponse, *abci.ResponseFinalizeBlock) {
	a.c.tb.Helper()
	return a.run(d, gas, func(height uint64) []byte {
		schedule, err := evmbinding.ABI.Pack("scheduleAt", height, gas, stepsOf(a.c, steps...))
		require.NoError(a.c.tb, err)
		return d.dataOf("run", []Step{step(evmbinding.Address, schedule, must)})
	})
}

// cancelAll removes the timers of contracts.
func cancelAll(c *Chain, owners ...*Deployed) {
	c.tb.Helper()
	c.Do(func(ctx sdk.Context) error {
		for _, d := range owners {
			for _, timer := range c.TimersOf(d.Address) {
				if err := c.Timers.Keeper.Cancel(ctx, d.Address.Bytes(), timer.Id); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// TestAttack_ChangesItsOwnTimerWhileItFires: each function that changes a timer is called for the one that fires, by its own
// callback. It fires once in its block. One that fires once is gone by then; one that repeats is the owner's to change.
func TestAttack_ChangesItsOwnTimerWhileItFires(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	const first, gas = 4, 400_000
	id, end := [32]byte{}, c.Height()+5_000
	update := func(s Spec, field string) []byte { return pack(t, "update", id, s, []string{field}, uint64(0)) }
	every := func(n uint64) func(*Spec) { return func(s *Spec) { s.Trigger.Interval.Every = n } }
	for name, try := range map[string]struct {
		data   []byte
		at     int64
		reason string // of a refusal, where the timer repeats
		left   func(timer *timerstypes.Timer)
	}{
		"cancel":     {pack(t, "cancel", id), first, "", nil},
		"cancelEach": {pack(t, "cancelEach", [][32]byte{id}), first + 64, "", nil},
		"update": {update(spec(300_000, nil), "gas_limit"), first, "", func(timer *timerstypes.Timer) {
			require.Equal(t, uint64(300_000), timer.GasLimit)
		}},
		"update to another trigger": {update(spec(0, nil, every(7)), "trigger"), first, "", func(timer *timerstypes.Timer) {
			require.Equal(t, c.Height()+7, timer.Due)
		}},
		"update to another kind": {
			update(spec(0, nil, func(s *Spec) { s.Trigger.AfterBlocks = 1 }), "trigger"), first, "is to be due by another kind",
			func(timer *timerstypes.Timer) { require.Equal(t, c.Height()+3, timer.Due) },
		},
		"extend": {pack(t, "extend", id, end, uint64(0)), first, "", func(timer *timerstypes.Timer) {
			require.Equal(t, end, timer.ExpiresAt)
		}},
		"pause": {pack(t, "pause", id), first, "", func(timer *timerstypes.Timer) {
			require.Equal(t, timerstypes.Paused, timer.HoldReason)
		}},
		"resume": {pack(t, "resume", id), first, "timer is not on hold", func(timer *timerstypes.Timer) {
			require.Equal(t, c.Height()+3, timer.Due)
		}},
		"skip": {pack(t, "skip", id, uint32(1)), first, "", func(timer *timerstypes.Timer) {
			require.Equal(t, c.Height()+6, timer.Due)
		}},
		"run": {pack(t, "run", id), first, "", func(timer *timerstypes.Timer) {
			require.Equal(t, c.Height()+1, timer.Due)
		}},
	} {
		for _, repeats := range []bool{false, true} {
			d := puppet(c)
			payload := stepsOf(c, step(evmbinding.Address, try.data, own(try.at)))
			fire, result, _ := a.run(d, gas, func(height uint64) []byte {
				when := func(s *Spec) {
					if s.Trigger.Height = height; repeats {
						s.Trigger.Height, s.Trigger.Interval = 0, evmbinding.IntervalTrigger{Every: 3, First: height}
					}
				}
				return d.dataOf("run", []Step{step(evmbinding.Address, pack(t, "schedule", spec(gas, payload, when)), must)})
			})
			require.True(t, fire.Success, name)
			did := d.outcomes(result)
			require.Len(t, did, 1, name)
			reason := try.reason
			if !repeats {
				reason = "timer not found"
			}
			require.Equal(t, reason == "", did[0].Ok, "%s, repeats %v: %s", name, repeats, did[0].Answer)
			require.Contains(t, string(did[0].Answer), reason, name)
			left := c.TimersOf(d.Address)
			if !repeats || try.left == nil {
				require.Empty(t, left, name)
				continue
			}
			require.Len(t, left, 1, name)
			try.left(&left[0])
			if name == "run" {
				require.True(t, fired(c).Success)
			}
			cancelAll(c, d)
			require.LessOrEqual(t, d.number("fires"), uint64(2))
		}
	}
}

// TestAttack_IsEnteredAgainByValue: a fire sends coins to a contract, which, on receipt, tries to act on the timer that
// fires and to call the callback, and schedules. It acts for itself alone, and pays for its own timer.
func TestAttack_IsEnteredAgainByValue(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	victim, thief := puppet(c), puppet(c)
	// A timer's id is known before it fires, so that the thief can prepare for it. This one repeats: it is there in its fire.
	later := c.Height() + 4
	steps := stepsOf(c, step(thief.Address, nil, worth(7), must))
	every := func(s *Spec) { s.Trigger.Interval.First, s.Trigger.Interval.Every = later, 100 }
	victim.Call(alice, "run", []Step{step(evmbinding.Address, pack(t, "schedule", spec(550_000, steps, every)), must)})
	id := [32]byte(c.TimersOf(victim.Address)[0].Id)
	thief.Call(alice, "prepare", []Step{
		step(victim.Address, append(evmbinding.Receiver.Methods["onTimer"].ID, make([]byte, 512)...)),
		step(evmbinding.Address, pack(t, "cancel", id)),
		step(evmbinding.Address, pack(t, "pause", id)),
		step(evmbinding.Address, pack(t, "update", id, spec(100_000, nil), []string{"gas_limit"}, uint64(0))),
		step(evmbinding.Address, pack(t, "scheduleAfter", uint64(2), uint64(100_000), []byte{})),
	})
	txs := a.scheduleOthers(later)
	before := c.Balance(thief.Address)
	c.Block(txs...)
	block := c.Block()
	require.Equal(t, later, c.Height())
	require.Len(t, Events[*timerstypes.TimerFired](t, block), 1+len(a.others))
	name, _, result := fireOf(c, block, hex.EncodeToString(id[:]))
	require.Equal(t, evmbinding.EventFire, name, Attribute(block, evmbinding.EventFailed, "returned"))
	require.Equal(t, []bool{false, false, false, false, true}, thief.succeeded(result))
	require.Equal(t, uint64(1), victim.number("fires"))
	left := c.TimersOf(victim.Address)
	require.Len(t, left, 1)
	require.Equal(t, later+100, left[0].Due)
	require.Len(t, c.TimersOf(thief.Address), 1)
	require.Equal(t, new(big.Int).Add(before, big.NewInt(7)), c.Balance(thief.Address))
	for _, d := range a.others {
		require.Equal(t, uint64(1), d.number("rings"))
	}
	none(c)
	last := fired(c)
	require.True(t, last.Success)
	require.Equal(t, sdk.AccAddress(thief.Address.Bytes()).String(), last.Payer)
	cancelAll(c, victim)
}

// TestAttack_DestroyedAndMadeAgain between schedule and fire: the callback runs the code that is there when it fires, on the
// storage that is there then; the balance of the address pays, whichever code it has.
func TestAttack_DestroyedAndMadeAgain(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	for _, angry := range []bool{false, true} {
		nest := c.Deploy(alice, "Nest", nil)
		nest.Call(alice, "makeScheduleDestroy", uint64(6))
		phoenix := &Deployed{c, nest.View("last")[0].(common.Address), Contracts(t)["Phoenix"].ABI}
		require.Len(t, c.TimersOf(phoenix.Address), 1)
		fund(c, phoenix, 1)
		nest.Call(alice, "makeAgain", angry)
		require.Equal(t, phoenix.Address, nest.View("last")[0])
		require.Zero(t, phoenix.number("fires"))
		nonce := c.EVM.GetNonce(c.Ctx(), phoenix.Address)
		c.Block(a.scheduleOthers(c.Height() + 4)...)
		none(c)
		none(c)
		block := c.Block()
		fires := Events[*timerstypes.TimerFired](t, block)
		require.Len(t, fires, 1+len(a.others))
		for _, fire := range fires {
			mine := fire.Actor == sdk.AccAddress(phoenix.Address.Bytes()).String()
			require.Equal(t, !mine || !angry, fire.Success, fire.String())
			require.Equal(t, fire.Actor, fire.Payer)
		}
		want := uint64(1)
		if angry {
			want = 0
		}
		require.Equal(t, want, phoenix.number("fires"))
		require.Equal(t, nonce, c.EVM.GetNonce(c.Ctx(), phoenix.Address))
		require.Empty(t, c.TimersOf(phoenix.Address))
	}
}

// TestAttack_SendsValueToBlockedAddresses: no module account and no precompile gets coins in a fire, by a callback or by a
// call of HIP-1215. The fire fails and is charged, and nothing else of it is kept.
func TestAttack_SendsValueToBlockedAddresses(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	receiver := AccountOf("receiver of an attack").Address
	// These get the fees of transactions.
	paid := []common.Address{
		common.BytesToAddress(authtypes.NewModuleAddress(authtypes.FeeCollectorName)),
		common.BytesToAddress(authtypes.NewModuleAddress(distrtypes.ModuleName)),
	}
	var targets []common.Address
	for address, is := range blocked() {
		if is {
			targets = append(targets, common.BytesToAddress(sdk.MustAccAddressFromBech32(address)))
		}
	}
	require.Len(t, targets, len(maccPerms)-1+3)
	for _, to := range targets {
		d, before := puppet(c), c.Balance(to)
		received := c.Balance(receiver)
		fire, _, _ := a.callback(d, 300_000, step(receiver, nil, worth(3), must), step(to, nil, worth(5)))
		// A precompile refuses value itself, and the callback continues.
		refuses := slices.Contains([]common.Address{evmbinding.Address, evmbinding.HRC1215Address, evmbinding.PRNGAddress}, to)
		require.Equal(t, refuses, fire.Success, "%s: %s", to, fire)
		if !slices.Contains(paid, to) {
			require.Equal(t, before, c.Balance(to), to)
		}
		if refuses {
			received.Add(received, big.NewInt(3))
		} else {
			require.Zero(t, d.number("fires"))
		}
		require.Equal(t, received, c.Balance(receiver))

		before = c.Balance(to)
		fire, _, _ = a.run(d, 100_000, func(height uint64) []byte {
			second := new(big.Int).SetUint64(c.Now() + 2)
			call, err := evmbinding.HRC1215.Pack("scheduleCall", to, second, big.NewInt(100_000), uint64(5), []byte{})
			require.NoError(t, err)
			return d.dataOf("run", []Step{step(evmbinding.HRC1215Address, call, must)})
		})
		require.False(t, fire.Success, "%s: %s", to, fire)
		if !slices.Contains(paid, to) {
			require.Equal(t, before, c.Balance(to), to)
		}
	}
}

// TestAttack_EatsTheGasOfACallback: what is called eats all that it gets, which is 63 of 64 parts. A fire that needs it
// fails; one that continues says in its logs that the step failed. Neither takes more than its limit.
func TestAttack_EatsTheGasOfACallback(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	bomb := c.Deploy(alice, "Bomb", nil)
	for _, method := range []string{"eatAll", "invalid"} {
		for _, needed := range []bool{false, true} {
			d := puppet(c)
			s := step(bomb.Address, bomb.dataOf(method))
			s.Must = needed
			fire, result, _ := a.callback(d, 550_000, s)
			require.Equal(t, !needed, fire.Success)
			require.Greater(t, fire.Cycles, uint64(530_000))
			if needed {
				require.Zero(t, d.number("fires"))
				require.Empty(t, result.Logs)
				continue
			}
			require.Equal(t, []outcome{{false, []byte{}}}, d.outcomes(result))
		}
	}
	// So little gas for the precompile that it ends somewhere within: all of the timer or nothing.
	d := puppet(c)
	schedule := pack(t, "scheduleAfter", uint64(1_000), uint64(100_000), []byte("payload"))
	made, tried := 0, 0
	for gas := int64(500); gas < 60_000; gas += 1_700 {
		tried++
		limit := func(s *Step) { s.GasLimit = big.NewInt(gas) }
		_, result, block := a.callback(d, 300_000, step(evmbinding.Address, schedule, limit))
		did := d.outcomes(result)
		if did[0].Ok {
			made++
		}
		require.Len(t, c.TimersOf(d.Address), made, "gas %d", gas)
		scheduled := 0
		for _, event := range Events[*timerstypes.TimerScheduled](t, block) {
			require.Equal(t, sdk.AccAddress(d.Address.Bytes()).String(), event.Actor)
			scheduled++
		}
		require.Equal(t, did[0].Ok, scheduled == 1, "gas %d", gas)
		require.Len(t, scheduledLogs(result), scheduled)
	}
	require.Positive(t, made)
	require.Less(t, made, tried)
	cancelAll(c, d)
}

// TestAttack_CallsThePrecompileOftenInAFire: x/vm's limit of 20 calls, failed ones included, holds in each fire by itself.
// Refused calls that work take what that costs, so that a fire has no room for as many.
func TestAttack_CallsThePrecompileOftenInAFire(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	d := puppet(c)
	refused := func(n int, data []byte) []Step { return slices.Repeat([]Step{step(evmbinding.Address, data)}, n) }
	steps := refused(22, []byte{1, 2, 3, 4})
	for range 2 {
		fire, result, _ := a.callback(d, 550_000, steps...)
		require.True(t, fire.Success, fire.String())
		did := d.outcomes(result)
		require.Len(t, did, len(steps))
		for i, each := range did {
			want := "the input is of no function"
			if i >= 20 {
				want = "max calls to precompiles (20) reached"
			}
			require.Contains(t, string(each.Answer), want, "call %d", i)
		}
	}
	asks := pack(t, "timer", d.Address, [32]byte{})
	one, _, _ := a.callback(d, 550_000, refused(1, asks)...)
	three, result, _ := a.callback(d, 550_000, refused(3, asks)...)
	require.Contains(t, string(d.outcomes(result)[2].Answer), "timer not found")
	each := (three.Cycles - one.Cycles) / 2
	t.Logf("%d cycles for each question that is refused", each)
	require.Greater(t, each, uint64(10_000))
	fire, _, _ := a.callback(d, 550_000, refused(20, asks)...)
	require.False(t, fire.Success)
	require.Equal(t, uint64(550_000), fire.Cycles)
}

// TestAttack_Bombs: logs, answers and reverts as large as the gas limit allows are charged, and what nodes keep of them in
// events is at most a byte for each cycle; of what a call returned they keep 1,024 bytes of a revert. None writes cells.
func TestAttack_Bombs(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	bomb := c.Deploy(alice, "Bomb", nil)
	const gas, most = 550_000, 1 << 40
	for name, try := range map[string]struct {
		data []byte
		// ends: the call itself succeeds. logs are its logs.
		ends bool
		logs int
		// least is what it takes at least, in cycles.
		least uint64
	}{
		"large logs":    {bomb.dataOf("logMuch", big.NewInt(40), big.NewInt(1_000)), true, 40, 40 * (375 + 8*1_000)},
		"one large log": {bomb.dataOf("logMuch", big.NewInt(1), big.NewInt(50_000)), true, 1, 375 + 8*50_000},
		"small logs":    {bomb.dataOf("logMuch", big.NewInt(1_100), new(big.Int)), true, 1_100, 1_100 * 375},
		"too many logs": {bomb.dataOf("logMuch", big.NewInt(10_000), new(big.Int)), false, 0, gas},
		"an answer":     {bomb.dataOf("returnMuch", big.NewInt(300_000)), true, 0, 200_000},
		"a huge answer": {bomb.dataOf("returnMuch", big.NewInt(most)), false, 0, gas},
		"a revert":      {bomb.dataOf("revertMuch", big.NewInt(300_000)), false, 0, 200_000},
		"a huge revert": {bomb.dataOf("revertMuch", big.NewInt(most)), false, 0, gas},
	} {
		kept := func(fire *timerstypes.TimerFired, block *abci.ResponseFinalizeBlock) {
			bytes := 0
			for _, event := range block.Events {
				if !isFireOf(event, fire.Id) {
					continue
				}
				for _, attribute := range event.Attributes {
					bytes += len(attribute.Key) + len(attribute.Value)
				}
			}
			t.Logf("%s: success %v, %d cycles, %d bytes of events", name, fire.Success, fire.Cycles, bytes)
			require.Positive(t, bytes)
			require.LessOrEqual(t, uint64(bytes), fire.Cycles)
		}
		// By a callback that continues whatever the call does.
		d := puppet(c)
		fire, result, block := a.callback(d, gas, step(bomb.Address, try.data))
		require.True(t, fire.Success, name)
		require.Equal(t, try.ends, d.outcomes(result)[0].Ok, name)
		require.Len(t, result.Logs, try.logs+1, name)
		require.GreaterOrEqual(t, fire.Cycles, min(try.least, gas-6_000), name)
		require.Less(t, fire.Cells, uint64(300), name)
		kept(fire, block)
		// As the call itself.
		fire, result, block = a.run(d, gas, func(height uint64) []byte {
			call := pack(t, "schedule", spec(gas, nil, func(s *Spec) { s.Trigger.Height = height }, callTo(bomb.Address, new(big.Int), try.data)))
			return d.dataOf("run", []Step{step(evmbinding.Address, call, must)})
		})
		require.Equal(t, try.ends, fire.Success, name)
		require.Len(t, result.Logs, try.logs, name)
		require.GreaterOrEqual(t, fire.Cycles, try.least, name)
		require.Zero(t, fire.Cells, name)
		require.Empty(t, result.Ret, name)
		require.LessOrEqual(t, len(Attribute(block, evmbinding.EventFailed, "returned")), 2+2*1_024, name)
		kept(fire, block)
	}
}

// isFireOf reports whether an event is the runtime's of a fire of a timer.
func isFireOf(event abci.Event, timer string) bool {
	if event.Type != evmbinding.EventFire && event.Type != evmbinding.EventFailed {
		return false
	}
	return slices.ContainsFunc(event.Attributes, func(a abci.EventAttribute) bool { return a.Key == "timer_id" && a.Value == timer })
}

// TestAttack_ClearsSlotsForARefund: a refund is at most a fifth of the gas, as in a transaction. The lane counts what is
// charged, so that fires with a full refund would do several times the work that it has room for.
func TestAttack_ClearsSlotsForARefund(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	ledger, d := c.Deploy(alice, "Ledger", nil), puppet(c)
	const slots = 60
	var txs [][]byte
	for i := range slots {
		txs = append(txs, ledger.Tx(alice, uint64(i), "set", big.NewInt(int64(i)), big.NewInt(1)))
	}
	c.Block(txs...)
	fire, result, _ := a.callback(d, 550_000, step(ledger.Address, ledger.dataOf("clear", new(big.Int), big.NewInt(slots)), must))
	require.True(t, fire.Success)
	t.Logf("%d of %d EVM gas after the refund", result.GasUsed, result.MaxUsedGas)
	require.Greater(t, result.MaxUsedGas, uint64(slots*5_000))
	require.Equal(t, result.MaxUsedGas-result.MaxUsedGas/5, result.GasUsed)
	require.Greater(t, fire.Cycles, result.GasUsed)
}

// TestAttack_ForgesEvents: logs in the form of the precompile's are those of the contract that emitted them, and no event
// of the module or of a fire follows from them, in a transaction or in a fire.
func TestAttack_ForgesEvents(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	bomb, d := c.Deploy(alice, "Bomb", nil), puppet(c)
	data := bomb.dataOf("forge", [32]byte{1}, a.others[0].Address, c.Height()+1)
	fire, result, block := a.callback(d, 300_000, step(bomb.Address, data, must))
	require.True(t, fire.Success)
	require.Len(t, result.Logs, 3)
	require.Empty(t, scheduledLogs(result))
	for _, log := range result.Logs {
		require.NotEqual(t, evmbinding.Address, common.HexToAddress(log.Address))
	}
	require.Empty(t, Events[*timerstypes.TimerScheduled](t, block))
	require.Empty(t, Events[*timerstypes.TimerCancelled](t, block))

	block = c.Block(c.Sign(bob, 0, &bomb.Address, nil, 200_000, data))
	result = c.Result(block.TxResults[0])
	require.Len(t, result.Logs, 2)
	require.Empty(t, scheduledLogs(result))
	require.Empty(t, timerEvents(block.TxResults[0]))
	for _, event := range block.TxResults[0].Events {
		require.False(t, strings.HasPrefix(event.Type, "evm_timer"), event.Type)
	}
	require.Empty(t, Events[*timerstypes.TimerFired](t, block))
}
