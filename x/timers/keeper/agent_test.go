package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// agentScript is a bidding agent of the test.
type agentScript func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error)

var _ types.Quoter = (*scripted)(nil)

func (s *scripted) Quotes(_ context.Context, agent sdk.AccAddress) bool {
	return s.agents[string(agent)] != nil
}

func (s *scripted) Quote(ctx context.Context, agent sdk.AccAddress, about types.BidContext) (types.AgentQuote, error) {
	fn, known := s.agents[string(agent)]
	if !known {
		return types.AgentQuote{}, types.ErrInvalidAgent
	}
	return fn(sdk.UnwrapSDKContext(ctx), about)
}

// agent makes a robot of a name a bidding agent, where lab chains have those.
func (f *fixture) agent(name string, fn agentScript) sdk.AccAddress {
	lab.SkipWithoutAgents(f.t)
	agent := sdk.AccAddress(fmt.Sprintf("%-20.20s", "robot "+name))
	f.robots.agents[string(agent)] = fn
	return agent
}

func quote(maxFee, maxPriority, maxCell string) types.AgentQuote {
	return types.AgentQuote{MaxFeePerCycle: dec(maxFee), MaxPriorityFeePerCycle: dec(maxPriority), MaxFeePerCell: dec(maxCell)}
}

// answers is an agent that spends cycles and answers this.
func answers(cycles uint64, maxFee, maxPriority, maxCell string) agentScript {
	return func(ctx sdk.Context, _ types.BidContext) (types.AgentQuote, error) {
		ctx.GasMeter().ConsumeGas(cycles, "test")
		return quote(maxFee, maxPriority, maxCell), nil
	}
}

func byAgent(agent sdk.AccAddress) func(*types.MsgScheduleTimer) {
	return bidding(&types.Bid{Agent: agent.String()})
}

// Rule: 1.8-agent, 1.8-which-bids, 1.9-agent-policies, 1.9-agent-asked, 1.9-call-budget, 5.1-bids
func TestAnAgentPricesItsTimer(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	var told []types.BidContext
	agent := f.agent("teller", func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
		told = append(told, about)
		ctx.GasMeter().ConsumeGas(700, "test")
		return quote("1.75", "5", "0"), nil
	})
	id := f.schedule(robot, 3, f.burner(1_000), byAgent(agent))
	require.Equal(t, &types.Bid{Agent: agent.String()}, f.timer(robot, id).Spec.Bid)
	f.NextBlock()
	require.Empty(t, told, "it is asked when the timer is due")
	before := f.balance(robot)
	fired := only[*types.TimerFired](f, f.blocksUntil(3))
	require.Len(t, told, 1)
	require.Equal(t, uint64(3), told[0].Due)
	require.Equal(t, uint64(3), told[0].Height)
	require.Equal(t, robot, told[0].Actor)
	require.Equal(t, id, fmt.Sprintf("%x", told[0].TimerID))
	require.Equal(t, before, told[0].Balance.Int64())
	require.Equal(t, "1.000000000000000000", told[0].Prices.Lane.String())
	require.Equal(t, "0.000000000000000000", told[0].Prices.P50.String())
	// 20,000 intrinsic cycles, 1,000 of the handler, 5,700 of the call; a cycle costs 1 + 1 + 0.75.
	require.Equal(t, uint64(5_700), fired.AgentCycles)
	require.Equal(t, uint64(26_700), fired.Cycles)
	require.Equal(t, "73425", fired.Paid)
	require.Equal(t, "20025", fired.Tip)
	require.Equal(t, before-73_425, f.balance(robot))
	summary := only[*types.TimerLaneSummary](f, f.NextBlock())
	require.Zero(t, summary.AgentCycles)
	require.Equal(t, "0.000000000000000000", summary.P50, "its tip bought nothing: no one waited for room")
}

// Rule: 1.9-call-billed-with-fire
func TestACallIsBilledWithinTheGasLimit(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	agent := f.agent("spender", answers(100_000, "3", "1", "0"))
	f.schedule(robot, 3, f.burner(15_000), byAgent(agent), limited(40_000))
	fired := only[*types.TimerFired](f, f.blocksUntil(3))
	require.True(t, fired.Success, "the handler has its own budget whole")
	require.Equal(t, [2]uint64{105_000, 40_000}, [2]uint64{fired.AgentCycles, fired.Cycles})
	require.Equal(t, "120000", fired.Paid, "40,000 cycles at 1 + 1 + 1: the pre-charge and no more")
	require.Equal(t, "0", fired.Refunded)
	require.Equal(t, uint64(40_000), f.lane().Cycles)
}

// TestACall_BeyondTheGasLimitIsPaid: an agent that uses what a call may was paid for up to the gas limit of its timer, which may
// be a quarter of that.
//
// Rule: 1.9-call-billed-with-fire
func TestACall_BeyondTheGasLimitIsPaid(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(inMarket))
	agent := f.agent("spender", answers(140_000, "1", "0", "0"))
	for range 8 {
		f.schedule(robot, 3, f.burner(15_000), byAgent(agent), limited(40_000))
	}
	fires := eventsOf[*types.TimerFired](f, f.blocksUntil(3))
	require.Len(t, fires, 8)
	paid := int64(0)
	for _, fired := range fires {
		require.True(t, fired.Success)
		require.Equal(t, [2]uint64{145_000, 40_000}, [2]uint64{fired.AgentCycles, fired.Cycles})
		require.GreaterOrEqual(t, number(t, fired.Paid), int64(145_000), "what the call alone costs where its timer does not fire")
		require.Equal(t, "0", fired.Refunded)
		paid += number(t, fired.Paid)
	}
	require.Equal(t, int64(rich)-paid, f.balance(robot))
}

// Rule: 3.6-errors
func TestWhoMayBeAnAgent(t *testing.T) {
	lab.SkipWithoutAgents(t)
	f := newFixture(t, withConfig(expensive))
	module := authtypes.NewModuleAddress(minttypes.ModuleName)
	handler := authtypes.NewModuleAddress("handler")
	f.Modules.Register("handler", types.DefaultHandler, func(context.Context, types.Delivery) error { return nil })
	f.Modules.RegisterQuoter(minttypes.ModuleName, func(context.Context, types.BidContext) (types.AgentQuote, error) {
		return quote("2", "1", "0"), nil
	})
	require.Panics(t, func() { f.Modules.RegisterQuoter(minttypes.ModuleName, nil) })
	for name, agent := range map[string]string{
		"an account":               bob.String(),
		"oneself, an account":      alice.String(),
		"nobody":                   sdk.AccAddress("nobody______________").String(),
		"a module that can't bid":  handler.String(),
		"a contract that can't":    robot.String(),
		"not an address":           "agent",
		"the wrong prefix":         "osmo1vfhkyh6lta047h6lta047h6lta047h6ludswkc",
		"an address without bytes": "cosmos1550dq7",
	} {
		t.Run(name, func(t *testing.T) {
			f.refused(types.ErrInvalidAgent, scheduleMsg(robot, 5, f.noop(), bidding(&types.Bid{Agent: agent})))
			f.refused(types.ErrInvalidAgent, &types.MsgSetAgent{Sender: alice.String(), Agent: agent})
		})
	}
	f.refused(types.ErrUnknownActor, &types.MsgSetAgent{Sender: sdk.AccAddress("nobody______________").String(), Agent: module.String()})
	f.schedule(robot, 3, f.noop(), bidding(&types.Bid{Agent: module.String()}))
	fired := only[*types.TimerFired](f, f.blocksUntil(3))
	require.Equal(t, "25000", fired.Tip)
}

// Rule: 1.9-agent-named, 3.6-default-agent, 3.6-clearing, 6-agent-set
func TestTheDefaultAgentOfAnActor(t *testing.T) {
	for name, unit := range map[string]types.FairnessUnit{"by actor": types.UnitActor, "by deployer": types.UnitDeployer} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(expensive), withConfig(func(c *types.TimerConfig) { c.FairnessUnit = unit }))
			whale := sdk.AccAddress("robot+whale_________")
			f.fund(whale, rich)
			agent := f.agent("default", answers(0, "3", "1", "0"))
			other := f.agent("other", answers(0, "3", "0.5", "0"))
			agentOf := func(actor sdk.AccAddress) string {
				response, err := f.query().Agent(f.Ctx(), &types.QueryAgentRequest{Actor: actor.String()})
				require.NoError(t, err)
				return response.Agent
			}
			f.run(&types.MsgSetAgent{Sender: whale.String(), Agent: agent.String()})
			require.Equal(t, agent.String(), agentOf(whale))
			require.Empty(t, agentOf(robot))
			tips := map[string]string{
				f.schedule(whale, 3, f.noop()):                                            "25000",
				f.schedule(whale, 3, f.noop(), bidding(stated("2", "0.25"))):              "5000",
				f.schedule(whale, 3, f.noop(), byAgent(other)):                            "12500",
				f.schedule(whale, 3, f.noop(), bidding(&types.Bid{Tier: types.TierFast})): "0",
				f.schedule(robot, 3, f.noop()):                                            "0",
			}
			events := f.NextBlock()
			require.Equal(t, &types.TimerAgentSet{Actor: whale.String(), Agent: agent.String()}, only[*types.TimerAgentSet](f, events))
			fired := eventsOf[*types.TimerFired](f, f.blocksUntil(3))
			require.Len(t, fired, len(tips))
			for _, e := range fired {
				require.Equal(t, tips[e.Id], e.Tip, e.Id)
			}
			require.Equal(t, agent.String(), agentOf(whale), "it stays when all timers are gone")
			f.run(&types.MsgSetAgent{Sender: whale.String()}, &types.MsgSetAgent{Sender: whale.String()})
			require.Empty(t, agentOf(whale))
			f.schedule(whale, f.Height()+1, f.noop())
			f.NextBlock()
			require.Zero(t, only[*types.TimerFired](f, f.NextBlock()).AgentCycles)
		})
	}
}

// failures are the ways in which an agent can fail, and what the event says of each.
func failures() map[string]struct {
	agent agentScript
	want  *errorsmod.Error
} {
	type failure = struct {
		agent agentScript
		want  *errorsmod.Error
	}
	says := func(q types.AgentQuote) agentScript {
		return func(sdk.Context, types.BidContext) (types.AgentQuote, error) { return q, nil }
	}
	tries := func(fn func(ctx sdk.Context)) agentScript {
		return func(ctx sdk.Context, _ types.BidContext) (types.AgentQuote, error) {
			fn(ctx)
			return quote("9", "9", "9"), nil
		}
	}
	negative := func() types.AgentQuote { q := quote("3", "1", "0"); q.MaxPriorityFeePerCycle = dec("-1"); return q }()
	huge := func() types.AgentQuote {
		q := quote("3", "1", "0")
		q.MaxFeePerCycle = math.LegacyNewDec(1_000_000_000_000_000_000).Add(math.LegacySmallestDec())
		return q
	}()
	catch := func(fn func()) {
		defer func() { _ = recover() }()
		fn()
	}
	return map[string]failure{
		"an error": {func(sdk.Context, types.BidContext) (types.AgentQuote, error) {
			return quote("9", "9", "9"), types.ErrActorGone
		}, types.ErrActorGone},
		"a panic":           {tries(func(sdk.Context) { panic("as asked") }), types.ErrPanicked},
		"no prices":         {says(types.AgentQuote{}), types.ErrInvalidQuote},
		"a price missing":   {says(types.AgentQuote{MaxFeePerCycle: dec("9"), MaxPriorityFeePerCycle: dec("9")}), types.ErrInvalidQuote},
		"a negative price":  {says(negative), types.ErrInvalidQuote},
		"a price too large": {says(huge), types.ErrInvalidQuote},
		"a loop": {tries(func(ctx sdk.Context) {
			for {
				ctx.GasMeter().ConsumeGas(1_000, "test")
			}
		}), types.ErrOutOfCycles},
		"a loop that catches": {tries(func(ctx sdk.Context) { catch(func() { ctx.GasMeter().ConsumeGas(1<<40, "test") }) }), types.ErrOutOfCycles},
		"gas that overflows": {tries(func(ctx sdk.Context) {
			ctx.GasMeter().ConsumeGas(1, "test")
			ctx.GasMeter().ConsumeGas(^uint64(0), "test")
		}), types.ErrOutOfCycles},
		"a booked write": {tries(func(ctx sdk.Context) { ctx.GasMeter().ConsumeGas(1, storetypes.GasWritePerByteDesc) }), types.ErrAgentWrote},
	}
}

// writers are agents that try to change what they can reach: the bank, the timers, the block.
func (f *fixture) writers() map[string]agentScript {
	says := quote("9", "9", "9")
	return map[string]agentScript{
		"sends": func(ctx sdk.Context, _ types.BidContext) (types.AgentQuote, error) {
			return says, f.Bank.SendCoins(ctx, alice, bob, f.coins(7))
		},
		"sends and catches": func(ctx sdk.Context, _ types.BidContext) (types.AgentQuote, error) {
			defer func() { _ = recover() }()
			_ = f.Bank.SendCoins(ctx, alice, bob, f.coins(7))
			return says, nil
		},
		"cancels": func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
			return says, f.Timers.Cancel(ctx, about.Actor, about.TimerID)
		},
		"names itself": func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
			return says, f.Timers.SetAgent(ctx, about.Actor, nil)
		},
	}
}

// TestAnAgentThatFailsIsTheDefaultBid: its timer fires at the price of one without an agent, one event says why, and
// every other timer fires as if it were not there.
//
// Rule: 1.9-call-budget, 1.9-agent-reads-only, 1.9-agent-fails, 5.5-agent, 6-agent-failed
func TestAnAgentThatFailsIsTheDefaultBid(t *testing.T) {
	// run fires three timers, the second of which has the agent, and returns what they paid per cycle, and all events.
	run := func(t *testing.T, agentOf func(f *fixture) agentScript) (fires []string, failed []*types.TimerAgentFailed, bobs int64) {
		t.Helper()
		f := newFixture(t, withConfig(expensive))
		var change []func(*types.MsgScheduleTimer)
		if agentOf != nil {
			change = append(change, byAgent(f.agent("failing", agentOf(f))))
		}
		first := f.schedule(alice, 3, f.pays(alice, carol, 1), bidding(stated("3", "2")))
		second := f.schedule(robot, 3, f.burner(1_000), change...)
		third := f.schedule(robot2, 3, f.burner(1_000), bidding(stated("2", "0")))
		events := f.blocksUntil(3)
		names := map[string]string{first: "first", second: "second", third: "third"}
		for _, e := range eventsOf[*types.TimerFired](f, events) {
			paid, cycles := e.Paid, e.Cycles
			if names[e.Id] == "second" {
				// What the call cost comes on top.
				cycles -= e.AgentCycles
				paid = math.NewIntFromUint64(2 * cycles).String()
				require.Equal(t, math.NewIntFromUint64(2*e.Cycles).String(), e.Paid)
			}
			fires = append(fires, fmt.Sprint(names[e.Id], e.Success, cycles, paid, e.Tip))
		}
		return fires, eventsOf[*types.TimerAgentFailed](f, events), f.balance(bob)
	}
	want, _, bobs := run(t, nil)
	require.Len(t, want, 3)
	for name, c := range failures() {
		t.Run(name, func(t *testing.T) {
			fires, failed, _ := run(t, func(*fixture) agentScript { return c.agent })
			require.Equal(t, want, fires)
			require.Len(t, failed, 1)
			require.Equal(t, [2]any{c.want.Codespace(), c.want.ABCICode()}, [2]any{failed[0].Codespace, failed[0].Code})
			require.Equal(t, robot.String(), failed[0].Actor)
		})
	}
	for name := range newFixture(t).writers() {
		t.Run(name, func(t *testing.T) {
			fires, failed, has := run(t, func(f *fixture) agentScript { return f.writers()[name] })
			require.Equal(t, want, fires)
			require.Equal(t, bobs, has)
			require.Len(t, failed, 1)
			require.Equal(t, types.ErrAgentWrote.ABCICode(), failed[0].Code)
		})
	}
}

// TestCharges_WhateverAnAgentDoes: what an agent has used before it fails, tries to write or answers nonsense is billed with its
// timer's fire.
//
// Rule: 1.9-call-billed-with-fire
func TestCharges_WhateverAnAgentDoes(t *testing.T) {
	const work = 50_000
	agents := map[string]func(*fixture) agentScript{
		"an answer": func(*fixture) agentScript { return answers(0, "3", "1", "0") },
	}
	for name, c := range failures() {
		agents[name] = func(*fixture) agentScript { return c.agent }
	}
	for name := range newFixture(t).writers() {
		agents[name] = func(f *fixture) agentScript { return f.writers()[name] }
	}
	for name, of := range agents {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(expensive))
			does := of(f)
			agent := f.agent("working", func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
				ctx.GasMeter().ConsumeGas(work, "test")
				return does(ctx, about)
			})
			f.schedule(robot, 3, f.burner(1_000), byAgent(agent))
			fired := only[*types.TimerFired](f, f.blocksUntil(3))
			require.GreaterOrEqual(t, fired.AgentCycles, uint64(types.AgentBaseCycles+work))
			require.GreaterOrEqual(t, fired.Cycles, fired.AgentCycles+market.FireBaseCycles)
		})
	}
}

func TestAnAgentThatIsGoneIsTheDefaultBid(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	agent := f.agent("leaving", answers(0, "9", "9", "9"))
	f.schedule(robot, 3, f.noop(), byAgent(agent))
	delete(f.robots.agents, string(agent))
	events := f.blocksUntil(3)
	require.Equal(t, "0", only[*types.TimerFired](f, events).Tip)
	require.Equal(t, types.ErrInvalidAgent.ABCICode(), only[*types.TimerAgentFailed](f, events).Code)
}

func TestAnAgentThatRunsTimersIsRefused(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	var err error
	agent := f.agent("running", func(ctx sdk.Context, _ types.BidContext) (types.AgentQuote, error) {
		if err = f.Timers.EndBlock(ctx); !errors.Is(err, types.ErrReentered) {
			return types.AgentQuote{}, err
		}
		// The order of the next block depends on agents, which are not asked in turn.
		_, err := f.query().Ready(ctx, &types.QueryReadyRequest{})
		return quote("3", "1", "0"), err
	})
	f.schedule(robot, 3, f.noop(), byAgent(agent))
	events := f.blocksUntil(3)
	require.ErrorIs(t, err, types.ErrReentered)
	require.Len(t, eventsOf[*types.TimerFired](f, events), 1)
}

// TestAgentBudgetRotates: agents that the budget of a block did not reach are called first in the next one.
//
// Rule: 1.9-block-budget, 1.9-whole-call-fits, 1.9-paused-lane-asks-none, 1.9-payers-take-turns, 1.9-unasked
// Rule: 1.9-last-answer
func TestAgentBudgetRotates(t *testing.T) {
	f := newFixture(t, withConfig(expensive), withConfig(func(c *types.TimerConfig) {
		setAgents(c, 20_000, 50_000)
	}))
	asked := map[string]int{}
	// Priced out, so that all stay ready.
	agent := f.agent("counter", func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
		ctx.GasMeter().ConsumeGas(12_000, "test")
		asked[fmt.Sprintf("%x", about.TimerID)]++
		return quote("0.5", "0", "0"), nil
	})
	// Its own bid is far above the lane, so that the default bid is not what keeps it.
	ids := make([]string, 5)
	for i := range ids {
		ids[i] = f.schedule(robot, 3, f.noop(), byAgent(agent), limited(2_000_00))
	}
	// The lane is paused, so that the unasked do not fire: agents are not asked either.
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	f.blocksUntil(4)
	require.Empty(t, asked)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused, c.LaneTimerCycles, c.MaxFiresPerActor = false, 2_000_000, 1 })
	f.NextBlock()
	// Each call costs 17,000 of 50,000, and a call is made while 20,000 are left: two a block. Those unasked have the
	// default bid, and one of them fires.
	summary := only[*types.TimerLaneSummary](f, f.NextBlock())
	require.Equal(t, uint64(34_000), summary.AgentCycles)
	require.Equal(t, uint32(3), summary.Unasked)
	require.Equal(t, map[string]int{ids[0]: 1, ids[1]: 1}, asked)
	require.Equal(t, uint32(1), summary.Fired)
	// The third fired; the turn is its successor's, and then the first's again.
	summary = only[*types.TimerLaneSummary](f, f.NextBlock())
	require.Equal(t, map[string]int{ids[0]: 1, ids[1]: 1, ids[3]: 1, ids[4]: 1}, asked)
	require.Equal(t, uint32(2), summary.Unasked)
	// Who was asked before and is not asked now bids its last answer, not the default, in a chain from genesis too.
	require.Zero(t, summary.Fired)
	genesis, err := f.Timers.ExportGenesis(f.Ctx())
	require.NoError(t, err)
	next := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis, opts.Height = genesis, int64(f.Height())-1 })
	next.robots.agents, next.robots.scripts = f.robots.agents, f.robots.scripts
	for _, f := range []*fixture{f, next} {
		summary = only[*types.TimerLaneSummary](f, f.NextBlock())
		require.Equal(t, uint32(2), summary.Unasked)
		require.Zero(t, summary.Fired)
	}
	// An update of the bid forgets the answer.
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: ids[0], Spec: types.TimerSpec{Bid: &types.Bid{}}, Fields: []string{"bid"}})
	exported, err := f.Timers.ExportGenesis(f.Ctx())
	require.NoError(t, err)
	answered := 0
	for i := range exported.Timers {
		if exported.Timers[i].LastAnswer != nil {
			answered++
		}
	}
	require.Equal(t, 3, answered)
}

// Rule: 1.9-cell-price
func TestACellThatIsTooDearPricesOut(t *testing.T) {
	f := newFixture(t, withConfig(expensive), withConfig(func(c *types.TimerConfig) { c.CellBasefee = decimal.Of(dec("0.5")) }))
	agent := f.agent("thrifty", answers(0, "3", "1", "0.499999999999999999"))
	id := f.schedule(robot, 3, f.noop(), byAgent(agent))
	require.Empty(t, eventsOf[*types.TimerFired](f, f.blocksUntil(4)))
	require.Equal(t, types.PhaseReady, f.timer(robot, id).Status.Phase)
	f.agent("thrifty", answers(0, "3", "1", "0.5"))
	require.Equal(t, id, only[*types.TimerFired](f, f.NextBlock()).Id)
}

// Rule: 1.9-agent-policies, 1.9-agents-off
func TestPoliciesWithoutBidsCallNoAgents(t *testing.T) {
	off := func(c *types.TimerConfig) { expensive(c); setAgents(c, 150_000, 0) }
	for i, change := range append(guestConfigs(), plain, off) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			f := newFixture(t, withConfig(change))
			agent := f.agent("never", func(sdk.Context, types.BidContext) (types.AgentQuote, error) { panic("asked") })
			f.schedule(robot, 3, f.noop(), byAgent(agent))
			events := f.blocksUntil(3)
			require.Zero(t, only[*types.TimerFired](f, events).AgentCycles)
			require.Empty(t, eventsOf[*types.TimerAgentFailed](f, events))
		})
	}
}

// TestEstimate_CallsNoStrangersAgents: what the agents of others compute costs nothing to who asks for the order of the next
// block, or for an estimate. Their timers bid what the agents answered last, so that the order is the block's while they answer
// the same.
//
// Rule: 9.2-node-limit, 9.2-no-trace, 1.9-previews-call-none
func TestEstimate_CallsNoStrangersAgents(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	calls := 0
	agent := f.agent("random", func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
		calls++
		ctx.GasMeter().ConsumeGas(140_000, "test")
		return types.AgentQuote{
			MaxFeePerCycle: dec("9"), MaxPriorityFeePerCycle: math.LegacyNewDecWithPrec(int64(about.TimerID[0]), 3), MaxFeePerCell: dec("0"),
		}, nil
	})
	for range 6 {
		f.schedule(robot, 4, f.noop(), byAgent(agent))
		f.schedule(robot, 4, f.noop(), bidding(stated("2", "0.128")))
	}
	f.setConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock = 1 })
	f.blocksUntil(4)
	made := calls
	require.Equal(t, 6, made)
	ctx := f.Ctx().WithGasMeter(storetypes.NewInfiniteGasMeter())
	ready, err := f.query().Ready(ctx, &types.QueryReadyRequest{})
	require.NoError(t, err)
	require.Len(t, ready.Timers, 11)
	limit := f.Ctx().WithGasMeter(storetypes.NewGasMeter(ctx.GasMeter().GasConsumed() - 1))
	require.Panics(t, func() { _, _ = f.query().Ready(limit, &types.QueryReadyRequest{}) }, "a node's limit of a query's gas holds")
	ctx = f.Ctx().WithGasMeter(storetypes.NewInfiniteGasMeter())
	estimate, err := f.query().Estimate(ctx, &types.QueryEstimateRequest{MaxFee: "9", MaxPriority: "9", GasLimit: gas})
	require.NoError(t, err)
	require.Zero(t, estimate.Ahead)
	t.Logf("an estimate costs %d gas", ctx.GasMeter().GasConsumed())
	require.Less(t, ctx.GasMeter().GasConsumed(), uint64(100_000), "less than one call")
	estimate, err = f.query().Estimate(f.Ctx(), &types.QueryEstimateRequest{MaxFee: "9", MaxPriority: "0", GasLimit: gas})
	require.NoError(t, err)
	require.Positive(t, estimate.Ahead)
	require.Empty(t, f.Ctx().EventManager().Events())
	require.Equal(t, made, calls, "no query called an agent")
	require.Equal(t, []string{ready.Timers[0].Id}, f.firedIDs(f.NextBlock()))
}

// Rule: 2.1-round-trip
func TestAgentsSurviveGenesis(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	agent := f.agent("kept", answers(0, "3", "1", "0"))
	f.run(&types.MsgSetAgent{Sender: alice.String(), Agent: agent.String()}, &types.MsgSetAgent{Sender: robot.String(), Agent: agent.String()})
	f.schedule(robot, 9, f.noop())
	f.schedule(robot, 9, f.noop(), byAgent(agent))
	f.NextBlock()
	genesis, err := f.Timers.ExportGenesis(f.Ctx())
	require.NoError(t, err)
	require.Len(t, defaultAgents(genesis), 2)
	next := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis, opts.Height = genesis, int64(f.Height())-1 })
	next.robots.agents = f.robots.agents
	next.robots.scripts = f.robots.scripts
	for _, fired := range eventsOf[*types.TimerFired](next, next.blocksUntil(9)) {
		require.Equal(t, "25000", fired.Tip)
	}
	again, err := next.Timers.ExportGenesis(next.Ctx())
	require.NoError(t, err)
	require.Equal(t, defaultAgents(genesis), defaultAgents(again))
}

// TestAgentsNeverTouchOthers: whatever agents do, the timers without one fire as they do when those with one leave the
// price to the default estimator, as long as the lane has room for all.
func TestAgentsNeverTouchOthers(t *testing.T) {
	lab.SkipWithoutAgents(t)
	rapid.Check(t, func(t *rapid.T) {
		kinds := []string{"default"}
		for name := range failures() {
			kinds = append(kinds, name)
		}
		drawn := rapid.SliceOfN(rapid.SampledFrom(sortedStrings(kinds)), 1, 6).Draw(t, "agents")
		due := rapid.SliceOfN(rapid.Uint64Range(2, 6), len(drawn), len(drawn)).Draw(t, "due")
		run := func(withAgents bool) (others []string) {
			f := newFixture(t, withConfig(expensive), withConfig(func(c *types.TimerConfig) {
				c.LaneTimerCycles = 100_000_000
				setAgents(c, 150_000, 100_000_000)
				// The use of the lane stays so low that the basefee stays at its floor.
			}))
			with := map[string]bool{}
			for i, kind := range drawn {
				var change []func(*types.MsgScheduleTimer)
				if withAgents && kind != "default" {
					change = append(change, byAgent(f.agent(kind, failures()[kind].agent)))
				}
				with[f.schedule(robot, due[i], f.noop(), change...)] = true
				f.schedule(robot2, due[i], f.burner(uint64(i)), bidding(stated("3", fmt.Sprintf("0.%d", i))))
				f.schedule(alice, due[i], f.pays(alice, bob, int64(i+1)))
			}
			for _, e := range eventsOf[*types.TimerFired](f, f.blocksUntil(7)) {
				// It hashes the state, which knows of agents.
				e.DeliverId = ""
				if !with[e.Id] {
					others = append(others, e.String())
				} else {
					others = append(others, fmt.Sprint(e.Id, e.Success, e.Late, e.Cycles-e.AgentCycles))
				}
			}
			return others
		}
		require.Equal(t, run(false), run(true))
	})
}

func sortedStrings(names []string) []string {
	slices.Sort(names)
	return names
}
