package evmapp

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// attackedMembers are in each list of an attack.
const attackedMembers = 60

// lists are calls of each function that takes a list: one that is accepted, one whose last member only the module's state
// refuses, and one whose last member is refused by itself, if there is one.
type lists struct{ accepted, refused, malformed []byte }

// attackedLists are those of an owner, given ids of its timers.
func attackedLists(t *testing.T, c *Chain, ids [][32]byte) map[string]lists {
	t.Helper()
	var heights, seconds []uint64
	var specs []Spec
	for i := range attackedMembers {
		heights = append(heights, c.Height()+5_000+uint64(i))
		seconds = append(seconds, c.Now()+50_000+uint64(i))
		specs = append(specs, spec(100_000, nil, func(s *Spec) { s.Trigger.Height = heights[i] }))
	}
	ended := func(list []uint64, last uint64) []uint64 { return append(slices.Clone(list[:len(list)-1]), last) }
	last := func(change func(*Spec)) []Spec {
		return append(slices.Clone(specs[:len(specs)-1]), spec(100_000, nil, change))
	}
	each := func(name string, list []uint64) []byte { return pack(t, name, list, uint64(100_000), []byte{}) }
	batch := func(list []Spec) []byte { return pack(t, "scheduleBatch", list) }
	return map[string]lists{
		"scheduleAtHeights": {
			each("scheduleAtHeights", heights), each("scheduleAtHeights", ended(heights, 1)), each("scheduleAtHeights", ended(heights, 0)),
		},
		"scheduleAtTimes": {
			each("scheduleAtTimes", seconds), each("scheduleAtTimes", ended(seconds, 1)), each("scheduleAtTimes", ended(seconds, 0)),
		},
		"scheduleBatch": {
			batch(specs), batch(last(func(s *Spec) { s.Trigger.Height = 1 })), batch(last(func(s *Spec) { s.Call.Handler = 9 })),
		},
		"cancelEach": {
			pack(t, "cancelEach", ids), pack(t, "cancelEach", append(slices.Clone(ids[:len(ids)-1]), [32]byte{})), nil,
		},
	}
}

// TestAttack_RefusedAtTheLastMember: a list whose last member is refused takes the gas of the work until there, in a
// transaction, and in a call within one that gives it less, which ends without gas. What a member is refused for by itself is
// found before any is written.
func TestAttack_RefusedAtTheLastMember(t *testing.T) {
	c, account := chain(t), AccountOf("dave")
	delegated(c, account)
	delegate(c, account, c.Deploy(alice, "Puppet", nil).Address)
	heights := make([]uint64, attackedMembers)
	for i := range heights {
		heights[i] = c.Height() + 5_000
	}
	used := func(data []byte, gas uint64) (*evmtypes.MsgEthereumTxResponse, uint64) {
		result := c.Result(c.Block(c.Sign(account, 0, &evmbinding.Address, nil, gas, data)).TxResults[0])
		return result, result.MaxUsedGas
	}
	owner := &Deployed{chain: c, Address: account.Address}
	ids := func() (all [][32]byte) {
		for _, timer := range c.TimersOf(account.Address) {
			all = append(all, [32]byte(timer.Id))
		}
		return all
	}
	for _, name := range []string{"scheduleAtHeights", "scheduleAtTimes", "scheduleBatch", "cancelEach"} {
		if name == "cancelEach" {
			result, _ := used(pack(t, "scheduleAtHeights", heights, uint64(100_000), []byte{}), txGas)
			require.Empty(t, result.VmError, Reason(result.Ret))
		}
		before := ids()
		calls := attackedLists(t, c, append(before, [32]byte{}))
		if name == "cancelEach" {
			calls = attackedLists(t, c, before)
		}
		refused, gas := used(calls[name].refused, txGas)
		require.NotEmpty(t, refused.VmError)
		require.Contains(t, Reason(refused.Ret), "number 59 of the list", name)
		require.Equal(t, before, ids(), name)
		malformed := uint64(0)
		if calls[name].malformed != nil {
			result, most := used(calls[name].malformed, txGas)
			require.Contains(t, Reason(result.Ret), "number 59 of the list", name)
			malformed = most
		}
		if gas > 500_000 {
			short, _ := used(calls[name].refused, gas-50_000)
			require.Contains(t, short.VmError, "out of gas", name)
		}
		accepted, all := used(calls[name].accepted, txGas)
		require.Empty(t, accepted.VmError, Reason(accepted.Ret))
		t.Logf("%s of %d: accepted %d gas, refused at the last %d, refused by itself %d", name, attackedMembers, all, gas, malformed)
		require.GreaterOrEqual(t, 100*gas, 90*all, name)
		// Nothing is written for it; its input takes 6 gas a byte at least.
		require.Less(t, malformed, all/4+6*uint64(len(calls[name].malformed)), name)
		cancelAll(c, owner)
	}
}

// TestAttack_RefusedAtTheLastMemberInFires: nor are refused lists cheaper in a fire.
func TestAttack_RefusedAtTheLastMemberInFires(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	d := puppet(c)
	heights := make([]uint64, 12)
	for i := range heights {
		heights[i] = c.Height() + 5_000 + uint64(i)
	}
	cycles := func(list []uint64) (cycles, cells uint64) {
		fire, _, _ := a.callback(d, 550_000, step(evmbinding.Address, pack(t, "scheduleAtHeights", list, uint64(100_000), []byte{})))
		require.True(t, fire.Success, fire.String())
		return fire.Cycles, fire.Cells
	}
	none, _ := cycles(nil)
	refused, cells := cycles(append(slices.Clone(heights[:len(heights)-1]), 1))
	require.Empty(t, c.TimersOf(d.Address))
	accepted, kept := cycles(heights)
	t.Logf("cycles: accepted %d, refused at the last %d, of none %d; cells %d and %d", accepted, refused, none, kept, cells)
	require.GreaterOrEqual(t, 100*(refused-none), 85*(accepted-none))
	require.GreaterOrEqual(t, 100*cells, 85*kept)
	cancelAll(c, d)
}

// TestAttack_FailsAtTheCommit: a callback works, and then does what the bank refuses when the EVM commits: it sends a wei to a
// module account. The fire fails as one of the EVM, and takes its whole limit: x/vm does not say what was used.
func TestAttack_FailsAtTheCommit(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	bomb := c.Deploy(alice, "Bomb", nil)
	module := common.BytesToAddress(authtypes.NewModuleAddress("feemarket"))
	work := step(bomb.Address, bomb.dataOf("eatAll"), func(s *Step) { s.GasLimit = big.NewInt(300_000) })
	d := puppet(c)
	const gas = 450_000
	worked, _, _ := a.callback(d, gas, work)
	require.True(t, worked.Success)
	fire, result, _ := a.callback(d, gas, work, step(module, nil, worth(1)))
	t.Logf("%d cycles of work, %d where it fails at the commit: %s %d, %s", worked.Cycles, fire.Cycles, fire.Codespace, fire.Code, fire.Paid)
	require.False(t, fire.Success)
	require.Greater(t, fire.Cycles, worked.Cycles)
	require.GreaterOrEqual(t, fire.Cycles, uint64(gas))
	require.Equal(t, evmtypes.ModuleName, fire.Codespace)
	require.NotEmpty(t, result.VmError)
	require.Zero(t, bytes.Count([]byte(result.VmError), []byte(".go:")))
}

// TestAttack_RepeatsACallThatFailsAtTheCommit: such a timer that repeats pays for each, so that the lane has room for as few as
// of any that take their limit.
func TestAttack_RepeatsACallThatFailsAtTheCommit(t *testing.T) {
	c := chain(t)
	module := common.BytesToAddress(authtypes.NewModuleAddress("feemarket"))
	d := puppet(c)
	payload := stepsOf(c, step(module, nil, worth(1)))
	many := make([]Step, 8)
	for i := range many {
		data := pack(t, "scheduleEvery", uint64(1), uint64(0), uint64(500_000), payload)
		many[i] = step(evmbinding.Address, data, must)
	}
	d.Call(alice, "run", many)
	lane, err := c.Timers.Keeper.Config(c.Ctx())
	require.NoError(t, err)
	fires := Events[*timerstypes.TimerFired](t, c.Block())
	require.NotEmpty(t, fires)
	counted := uint64(0)
	for _, fire := range fires {
		require.False(t, fire.Success)
		counted += fire.Cycles
	}
	require.GreaterOrEqual(t, counted, uint64(len(fires))*500_000)
	require.LessOrEqual(t, uint64(len(fires))*500_000, lane.LaneTimerCycles+500_000)
	cancelAll(c, d)
}
