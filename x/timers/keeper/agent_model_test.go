package keeper_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// agentModel says which agents a block calls, in which order, and what the calls cost. It holds what one block leaves to the
// next, and looks at nothing else that the module stores of agents.
type agentModel struct {
	perCall, perBlock uint64
	// cycles that the agents use, by address.
	cycles map[string]uint64
	// first is the place in the queue of the timer whose turn it is, payer the one.
	first types.QueueKey
	payer sdk.AccAddress
}

// called is a call that the model expects.
type called struct {
	timer  types.Timer
	cycles uint64
}

// cost of cycles at the chain's price of a thousandth.
func callCost(cycles uint64) int64 { return int64((cycles + 999) / 1_000) }

// block plays the calls of a block in which these timers are ready, in queue order, and payers have these funds.
func (m *agentModel) block(ready []types.Timer, funds map[string]int64) (calls []called, unasked uint32) {
	at := max(0, slices.IndexFunc(ready, func(t types.Timer) bool { return !t.IsBefore(m.first) }))
	ready = slices.Concat(ready[at:], ready[:at])
	waiting := map[string][]types.Timer{}
	var payers []sdk.AccAddress
	for _, t := range ready {
		if t.Spec.Bid == nil || t.Spec.Bid.Agent == "" {
			continue
		}
		if len(waiting[string(t.Payer())]) == 0 {
			payers = append(payers, t.Payer())
		}
		waiting[string(t.Payer())] = append(waiting[string(t.Payer())], t)
	}
	slices.SortFunc(payers, func(a, b sdk.AccAddress) int { return bytes.Compare(a, b) })
	if at := slices.IndexFunc(payers, func(p sdk.AccAddress) bool { return bytes.Compare(p, m.payer) >= 0 }); at > 0 {
		payers = slices.Concat(payers[at:], payers[:at])
	}
	m.first, m.payer = types.QueueKey{}, nil
	used := uint64(0)
	for len(payers) > 0 {
		payer := payers[0]
		payers = payers[1:]
		if used+m.perCall > m.perBlock {
			m.payer = payer
			left := map[uint64]bool{}
			for _, p := range append(payers, payer) {
				for _, t := range waiting[string(p)] {
					left[t.Seq] = true
				}
			}
			m.first = ready[slices.IndexFunc(ready, func(t types.Timer) bool { return left[t.Seq] })].Key()
			return calls, unasked + uint32(len(left))
		}
		if funds[string(payer)] < callCost(m.perCall) {
			unasked += uint32(len(waiting[string(payer)]))
			continue
		}
		t := waiting[string(payer)][0]
		cycles := min(types.AgentBaseCycles+m.cycles[t.Spec.Bid.Agent], m.perCall)
		used += cycles
		funds[string(payer)] -= callCost(cycles)
		calls = append(calls, called{t, cycles})
		if waiting[string(payer)] = waiting[string(payer)][1:]; len(waiting[string(payer)]) > 0 {
			payers = append(payers, payer)
		}
	}
	return calls, unasked
}

// agentsOfTheModel are agents of all sorts: cheap and costly, that bid well, too little, fail, or use more than they may.
func (m *agentModel) agents(f *fixture, told *[][]byte) (all []sdk.AccAddress) {
	for i, of := range []struct {
		cycles uint64
		maxFee string
		err    error
	}{
		{100, "1", nil}, {9_000, "1", nil}, {2_000, "0.0001", nil}, {15_000, "0.0001", nil}, {4_000, "", errors.New("on purpose")}, {1 << 40, "1", nil},
	} {
		agent := f.agent(fmt.Sprint("model ", i), func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
			*told = append(*told, about.TimerID)
			ctx.GasMeter().ConsumeGas(of.cycles, "test")
			if of.err != nil {
				return types.AgentQuote{}, of.err
			}
			return quote(of.maxFee, "0.0002", "1"), nil
		})
		m.cycles[agent.String()] = of.cycles
		all = append(all, agent)
	}
	return all
}

func agentBillsProperty(t *rapid.T) {
	perCall := uint64(rapid.IntRange(12_000, 30_000).Draw(t, "cycles of a call"))
	perBlock := perCall * uint64(rapid.IntRange(1, 6).Draw(t, "calls of a block"))
	f := newFixture(t, withConfig(inMarket), withConfig(func(c *types.TimerConfig) {
		setAgents(c, perCall, perBlock)
		c.MaxFiresPerActor = uint32(rapid.IntRange(1, 2).Draw(t, "fires of an actor"))
	}))
	var told [][]byte
	model := &agentModel{perCall: perCall, perBlock: perBlock, cycles: map[string]uint64{}}
	agents := model.agents(f, &told)
	payers := []sdk.AccAddress{robot, robot2}
	for i := range rapid.IntRange(0, 3).Draw(t, "more payers") {
		payer := sdk.AccAddress(fmt.Sprintf("robot_model_%08d", i))
		f.fund(payer, rapid.SampledFrom([]int64{25, 60, 5_000}).Draw(t, "funds"))
		payers = append(payers, payer)
	}
	for range rapid.IntRange(1, 14).Draw(t, "timers") {
		owner := rapid.SampledFrom(payers).Draw(t, "owner")
		changes := []func(*types.MsgScheduleTimer){every(uint64(rapid.IntRange(1, 3).Draw(t, "every")), 0), limited(40_000)}
		if rapid.IntRange(0, 4).Draw(t, "bid") > 0 {
			changes = append(changes, byAgent(rapid.SampledFrom(agents).Draw(t, "agent")))
		}
		f.schedule(owner, uint64(rapid.IntRange(2, 4).Draw(t, "due")), f.noop(), changes...)
	}
	for range rapid.IntRange(3, 10).Draw(t, "blocks") {
		agentBlock(t, f, model, payers, &told)
	}
}

// agentBlock ends a block, and holds its calls and what they cost to the model.
func agentBlock(t *rapid.T, f *fixture, model *agentModel, payers []sdk.AccAddress, told *[][]byte) {
	var ready []types.Timer
	require.NoError(t, f.Timers.Engine().Records.Walk(f.Ctx(), state.ClassQueued.Between(0, f.Height()), func(timer *types.Timer) (bool, error) {
		ready = append(ready, *timer)
		return false, nil
	}))
	funds, before := map[string]int64{}, map[string]int64{}
	for _, payer := range payers {
		funds[string(payer)], before[payer.String()] = f.balance(payer), f.balance(payer)
	}
	calls, unasked := model.block(ready, funds)
	*told = nil
	events := f.endBlock()

	fired := map[string]*types.TimerFired{}
	for _, fire := range eventsOf[*types.TimerFired](f, events) {
		fired[fire.Id] = fire
		before[fire.Payer] -= number(t, fire.Paid)
	}
	bills, cycles, burned := map[string]int64{}, uint64(0), int64(0)
	var want [][]byte
	for _, call := range calls {
		want = append(want, call.timer.Id)
		cycles += call.cycles
		if fire := fired[call.timer.IDHex()]; fire != nil {
			require.Equal(t, call.cycles, fire.AgentCycles)
			delete(fired, fire.Id)
			continue
		}
		bills[call.timer.Payer().String()] += callCost(call.cycles)
		burned += callCost(call.cycles)
	}
	require.Equal(t, want, *told, "the calls, in order")
	require.Equal(t, bills, f.bills(events))
	for _, fire := range fired {
		require.Zero(t, fire.AgentCycles, "not asked")
	}
	summary := only[*types.TimerLaneSummary](f, events)
	require.Equal(t, [2]uint64{cycles, uint64(unasked)}, [2]uint64{summary.AgentCycles, uint64(summary.Unasked)})
	require.Equal(t, math.NewInt(burned).String(), summary.AgentsBilled)
	for _, payer := range payers {
		require.Equal(t, before[payer.String()]-bills[payer.String()], f.balance(payer), "%s", payer)
	}
}

// TestCalls_AreMadeAndBilledAsTheModelSays: payers of all sorts name agents of all sorts, and a block has room for few calls.
//
// Rule: 1.9-agent-asked, 1.9-call-budget, 1.9-call-paid, 1.9-call-billed-alone, 1.9-call-uncovered, 1.9-payers-take-turns
func TestCalls_AreMadeAndBilledAsTheModelSays(t *testing.T) {
	lab.SkipWithoutAgents(t)
	rapid.Check(t, agentBillsProperty)
}
