package keeper_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// stormy makes few timers a storm, in a lane that is never full, so that the basefee stays where it is.
func stormy(window uint32, admissions int) func(*types.TimerConfig) {
	return func(c *types.TimerConfig) {
		expensive(c)
		c.CandidateWindow = window
		lab.SetOverhead(c, market.Admit, admissions)
		c.LaneTimerCycles, c.LaneTimerCells, c.MaxFiresPerBlock = 1_000_000_000, 1_000_000_000, 1
	}
}

// TestAgentsInAStormAreAsGoodAsStatedPrices: as long as all can be asked, timers whose agents answer some prices fire
// when those fire that state these prices, at the same price, in a storm and after it.
//
// Rule: 1.9-called-once, 5.1-agents-at-admission
func TestAgentsInAStormAreAsGoodAsStatedPrices(t *testing.T) {
	lab.SkipWithoutAgents(t)
	rapid.Check(t, func(t *rapid.T) {
		type job struct {
			actor int
			due   uint64
			tip   int64
			kind  int
		}
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) job {
			return job{
				rapid.IntRange(0, 2).Draw(t, "actor"), rapid.Uint64Range(2, 6).Draw(t, "due"),
				rapid.Int64Range(0, 5).Draw(t, "tip"), rapid.IntRange(0, 2).Draw(t, "kind"),
			}
		}), 1, 24).Draw(t, "jobs")
		window, admissions := rapid.Uint32Range(1, 8).Draw(t, "window"), rapid.IntRange(1, 6).Draw(t, "admissions")
		run := func(withAgents bool) (fires []string) {
			f := newFixture(t, withConfig(stormy(window, admissions)), withConfig(func(c *types.TimerConfig) {
				setAgents(c, 150_000, 1_000_000_000)
			}))
			calls := map[string]uint64{}
			for i, j := range jobs {
				actor := []sdk.AccAddress{robot, robot2, sdk.AccAddress("robot3______________")}[j.actor]
				bid := stated("100", fmt.Sprintf("0.%d", j.tip))
				switch {
				case j.kind == 0:
					bid = nil
				case withAgents:
					answer := answers(uint64(i), "100", fmt.Sprintf("0.%d", j.tip), "0")
					agent := f.agent(fmt.Sprint(i), func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
						require.Less(t, calls[string(about.TimerID)], about.Height, "asked twice in a block")
						calls[string(about.TimerID)] = about.Height
						return answer(ctx, about)
					})
					bid = &types.Bid{Agent: agent.String()}
				}
				if j.actor == 2 && f.balance(actor) == 0 {
					f.fund(actor, rich)
				}
				f.schedule(actor, j.due, f.noop(), bidding(bid))
			}
			events := f.blocksUntil(8 + uint64(len(jobs)))
			for _, e := range eventsOf[*types.TimerFired](f, events) {
				paid, err := math.LegacyNewDecFromStr(e.Paid)
				require.NoError(t, err)
				fires = append(fires, fmt.Sprint(e.Id, " ", e.Late, " ", paid.QuoInt64(int64(e.Cycles)).MulInt64(10).RoundInt()))
			}
			require.Len(t, fires, len(jobs), "all fire in the end")
			return fires
		}
		require.Equal(t, run(false), run(true))
	})
}

// TestAgentsInAStormKeepTheirBounds: whatever agents answer, which changes from block to block, no timer's is asked
// twice in a block, the calls stay within their budget, the index matches the records, and no timer is lost.
//
// Rule: 1.9-block-budget, 1.9-called-once
func TestAgentsInAStormKeepTheirBounds(t *testing.T) {
	lab.SkipWithoutAgents(t)
	rapid.Check(t, func(t *rapid.T) {
		const calls = 3
		f := newFixture(t, withConfig(stormy(
			rapid.Uint32Range(1, 6).Draw(t, "window"), rapid.IntRange(1, 6).Draw(t, "admissions"),
		)), withConfig(func(c *types.TimerConfig) {
			c.CellBasefee = decimal.Of(dec("0.5"))
			setAgents(c, 20_000, calls*20_000)
		}))
		asked := map[string]uint64{}
		agent := f.agent("moody", func(ctx sdk.Context, about types.BidContext) (types.AgentQuote, error) {
			require.Less(t, asked[string(about.TimerID)], about.Height, "asked twice in a block")
			asked[string(about.TimerID)] = about.Height
			mood := (uint64(about.TimerID[0]) + about.Height) % 7
			ctx.GasMeter().ConsumeGas(13_000+mood*1_000, "test")
			switch mood {
			case 0:
				return types.AgentQuote{}, types.ErrActorGone
			case 1:
				return quote("0.5", "0", "1"), nil
			case 2:
				return quote("3", "1", "0.499"), nil
			default:
				return quote("3", fmt.Sprintf("0.%d", mood), "0.5"), nil
			}
		})
		f.run(&types.MsgSetAgent{Sender: robot2.String(), Agent: agent.String()})
		n := rapid.IntRange(1, 20).Draw(t, "timers")
		for i := range n {
			actor, bid := robot, []*types.Bid{nil, {Agent: agent.String()}, stated("3", "0.35")}[rapid.IntRange(0, 2).Draw(t, "bid")]
			if rapid.Bool().Draw(t, "default agent") {
				actor, bid = robot2, nil
			}
			f.schedule(actor, rapid.Uint64Range(2, 5).Draw(t, "due"), f.burner(uint64(i)), bidding(bid))
		}
		fired := 0
		for range 20 + 2*n {
			events := f.NextBlock()
			for range eventsOf[*types.TimerFired](f, events) {
				fired++
			}
			summary := only[*types.TimerLaneSummary](f, events)
			require.LessOrEqual(t, summary.AgentCycles, uint64(calls*20_000))
			// A query calls none of them.
			before := maps.Clone(asked)
			_, err := f.query().Ready(f.Ctx().WithBlockHeight(int64(f.Height())-1), &types.QueryReadyRequest{})
			require.NoError(t, err)
			require.Equal(t, before, asked)
			live, _, err := f.Timers.CountTimers(f.Ctx())
			require.NoError(t, err)
			require.Equal(t, n, fired+int(live), "no timer is lost")
		}
		require.Equal(t, n, fired, "all get their turn in the end")
	})
}

// TestCellPricedOutUnderOverload: a timer that was indexed when cells were cheap does not block others when they are
// expensive, and competes again when they are cheap.
func TestCellPricedOutUnderOverload(t *testing.T) {
	f := newFixture(t, withConfig(stormy(2, 12)), withConfig(func(c *types.TimerConfig) { c.CellBasefee = decimal.Of(dec("0.1")) }))
	agent := f.agent("thrifty", answers(0, "9", "4", "0.2"))
	var ids []string
	for range 4 {
		ids = append(ids, f.schedule(robot, 3, f.noop(), byAgent(agent)))
	}
	for range 4 {
		f.schedule(robot2, 3, f.noop(), bidding(stated("9", "0.5")))
	}
	// The first storm block files four; the best of them fires.
	require.Contains(t, ids, f.firedIDs(f.blocksUntil(3))[0])
	f.setConfig(func(c *types.TimerConfig) { c.CellBasefee, c.MaxFiresPerBlock = decimal.Of(dec("0.3")), 2 })
	f.NextBlock()
	events := f.NextBlock()
	fires := eventsOf[*types.TimerFired](f, events)
	require.Len(t, fires, 2)
	for _, e := range fires {
		require.Equal(t, robot2.String(), e.Actor)
	}
	f.setConfig(func(c *types.TimerConfig) { c.CellBasefee = decimal.Of(dec("0.2")) })
	f.NextBlock()
	fired := map[string]bool{}
	for range 12 {
		for _, id := range f.firedIDs(f.NextBlock()) {
			fired[id] = true
		}
	}
	require.Zero(t, f.total(robot), "none is lost: %v", fired)
}

// TestQuotesSurviveGenesisUnderOverload: answers are stored in the records, and what lies in the index under them is exported.
func TestQuotesSurviveGenesisUnderOverload(t *testing.T) {
	f := newFixture(t, withConfig(stormy(2, 8)))
	agent := f.agent("kept", answers(0, "9", "1", "0"))
	for range 8 {
		f.schedule(robot, 3, f.noop(), byAgent(agent))
	}
	f.blocksUntil(4)
	genesis, err := f.Timers.ExportGenesis(f.Ctx())
	require.NoError(t, err)
	quoted := 0
	for _, entry := range genesis.Ready {
		if entry.Price.Equal(math.LegacyOneDec()) {
			quoted++
		}
	}
	require.Positive(t, quoted)
	next := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis, opts.Height = genesis, int64(f.Height())-1 })
	next.robots.agents, next.robots.scripts = f.robots.agents, f.robots.scripts
	require.Equal(t, f.firedIDs(f.blocksUntil(12)), next.firedIDs(next.blocksUntil(12)))
}

// TestUpdate_DropsTheAnswerUnderOverload to the bid that it answered, and keeps it otherwise.
//
// Rule: 1.9-last-answer
func TestUpdate_DropsTheAnswerUnderOverload(t *testing.T) {
	f := newFixture(t, withConfig(stormy(2, 8)))
	agent := f.agent("dear", answers(0, "9", "4", "0"))
	var ids []string
	for range 8 {
		ids = append(ids, f.schedule(robot, 3, f.noop(), byAgent(agent)))
	}
	f.blocksUntil(3)
	answerTo := func(id string) *types.AgentQuote {
		genesis, err := f.Timers.ExportGenesis(f.Ctx())
		require.NoError(t, err)
		for i := range genesis.Timers {
			if genesis.Timers[i].IDHex() == id {
				return genesis.Timers[i].LastAnswer
			}
		}
		return nil
	}
	require.NotNil(t, answerTo(ids[7]))
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: ids[7], Spec: types.TimerSpec{GasLimit: 123_456}, Fields: []string{"gas_limit"}})
	require.NotNil(t, answerTo(ids[7]))
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: ids[7], Spec: types.TimerSpec{Bid: stated("2", "0.5")}, Fields: []string{"bid"}})
	require.Nil(t, answerTo(ids[7]))
}
