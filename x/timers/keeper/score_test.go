//go:build !noguests

package keeper_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	timersgenesis "github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/market"
	rules "github.com/cosmos-timers/timers/x/timers/market/score"
	scorepolicy "github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// scored chooses policy score, with prices that are round: a cycle costs 1, a cell nothing.
func scored(c *types.TimerConfig) {
	plain(c)
	c.Policy = types.PolicyScore
}

// Rule: 1.8-price-bounds, 1.8-bid-stored
func TestAScoreBidIsCheckedWhenItIsStated(t *testing.T) {
	f := newFixture(t, withConfig(scored))
	kept := func(bid *types.Bid) *types.Bid {
		return f.timer(robot, f.schedule(robot, 50, f.noop(), bidding(bid))).Spec.Bid
	}
	const most = "79228162514264337593543950335"
	require.Equal(t, price("7"), kept(price("7")))
	require.Equal(t, price("7"), kept(price("007")))
	require.Equal(t, price(most), kept(price(most)))
	require.Nil(t, kept(price("0")))
	require.Equal(t, stated("2", "1"), kept(stated("2", "1")), "kept, and not used")
	require.Equal(t, &types.Bid{Tier: types.TierFast}, kept(&types.Bid{Tier: types.TierFast}))
	for _, bad := range []string{"79228162514264337593543950336", "9" + most, "-1", "1.5", "x"} {
		f.refused(types.ErrInvalidBid, scheduleMsg(robot, 50, f.noop(), bidding(price(bad))))
	}
	id := f.schedule(robot, 50, f.noop(), bidding(price("7")))
	for _, step := range [][2]string{{"8", "8"}, {"0", ""}, {"9", "9"}} {
		f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Bid: price(step[0])}, Fields: []string{"bid"}})
		require.Equal(t, step[1], f.timer(robot, id).Spec.Bid.GetPrice())
	}
}

// TestABidIsPaidAtEachFire: on top of what the fire uses, whether it succeeds or not, to the proposer.
//
// Rule: 1.8-price, 1.8-score-charges, 5.2-score-bid
func TestABidIsPaidAtEachFire(t *testing.T) {
	f := newFixture(t, withConfig(scored))
	tips := authtypes.NewModuleAddress(authtypes.FeeCollectorName)
	good := f.schedule(robot, 3, f.burner(5_000), bidding(price("40")))
	bad := f.schedule(robot, 3, nil, bidding(price("30")))
	free := f.schedule(robot, 3, f.noop())
	tier := f.schedule(robot, 3, f.noop(), bidding(&types.Bid{Tier: types.TierUrgent}))
	fired := eventsOf[*types.TimerFired](f, f.blocksUntil(3))
	receipts, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: 3})
	require.NoError(t, err)
	for i, want := range []struct {
		id, bid, paid string
		success       bool
	}{{good, "40", "25040", true}, {bad, "30", "20030", false}, {free, "", "20000", true}, {tier, "", "20000", true}} {
		event, receipt := fired[i], receipts.Receipts[i]
		require.Equal(t, want.id, event.Id, "fire %d", i)
		require.Equal(t, want.success, event.Success)
		require.Equal(t, want.bid, event.ScoreBid)
		require.Equal(t, want.bid, receipt.ScoreBid)
		require.Equal(t, want.paid, event.Paid)
		tip := want.bid
		if tip == "" {
			tip = "0"
		}
		require.Equal(t, tip, event.Tip)
	}
	require.Equal(t, int64(rich-25_040-20_030-40_000), f.balance(robot))
	require.Equal(t, int64(70), f.balance(tips))
	require.Equal(t, "70", f.lane().Tips.String())
	require.Equal(t, "0.000000000000000000", f.prices().P50, "a lump sum is no tip per cycle")

	twice := scheduleMsg(robot, 0, f.noop(), bidding(price("5")))
	twice.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 2, First: 5}}
	twice.Spec.Repeat = &types.Repeat{Remaining: 2}
	f.run(twice)
	f.blocksUntil(8)
	require.Equal(t, int64(80), f.balance(tips))
}

// TestABidIsAPartOfThePreCharge: a payer that can cover the fire but not the bid lacks funds; the payer of the timer
// pays the bid.
func TestABidIsAPartOfThePreCharge(t *testing.T) {
	f := newFixture(t, withConfig(scored))
	poor := sdk.AccAddress("robot_poor__________")
	f.fund(poor, 50_000+20_099+10_000)
	enough := f.schedule(poor, 3, f.noop(), limited(50_000), bidding(price("20099")))
	f.schedule(poor, 4, f.noop(), limited(40_000), bidding(price("1")))
	events := f.blocksUntil(3)
	require.Equal(t, []string{enough}, f.firedIDs(events))
	left := f.balance(poor)
	require.Equal(t, int64(80_099-20_000-20_099), left)
	event := only[*types.TimerHeld](f, f.NextBlock())
	require.Equal(t, types.Unfunded, event.Reason)
	require.Equal(t, "40001", event.Required)
	require.Equal(t, fmt.Sprint(left), event.Available)
}

// TestTurnsGoOnFromBlockToBlock: at equal scores the actor with the fewest recent fires is first, within a block and
// over many.
//
// Rule: 1.9-score-turns
func TestTurnsGoOnFromBlockToBlock(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		scored(c)
		c.MaxFiresPerBlock = 2
	}))
	for range 6 {
		f.schedule(robot, 3, f.noop())
	}
	robot3 := sdk.AccAddress("robot3______________")
	f.fund(robot3, rich)
	for range 2 {
		f.schedule(robot2, 3, f.noop())
		f.schedule(robot3, 3, f.noop())
	}
	fires := map[string]int{}
	waiting := map[string]int{robot.String(): 6, robot2.String(): 2, robot3.String(): 2}
	for f.blocksUntil(2); len(waiting) > 0; {
		events := eventsOf[*types.TimerFired](f, f.NextBlock())
		require.Len(t, events, 2, "the quota")
		for _, event := range events {
			for other := range waiting {
				require.LessOrEqual(t, fires[event.Actor], fires[other], "%s before %s", event.Actor, other)
			}
			fires[event.Actor]++
			if waiting[event.Actor]--; waiting[event.Actor] == 0 {
				delete(waiting, event.Actor)
			}
		}
	}
}

// TestADeliveryIsMadeOnce: looking at what a block will do makes no delivery, and the one that it makes has the id that
// follows from the block, whoever runs it (test vector 5 of the source).
//
// Rule: 9.2-no-trace
func TestADeliveryIsMadeOnce(t *testing.T) {
	run := func(look bool) (delivered []string) {
		f := newFixture(t, withConfig(scored))
		for i, actor := range []sdk.AccAddress{robot, robot2, robot} {
			f.schedule(actor, 3, f.noop(), bidding(price(fmt.Sprint(i+1))))
		}
		for f.Height() < 7 {
			for range 2 {
				if look {
					_, err := f.query().Ready(f.Ctx(), &types.QueryReadyRequest{})
					require.NoError(t, err)
				}
			}
			hash := f.Ctx().BlockHeader().AppHash
			height := f.Height()
			for _, event := range eventsOf[*types.TimerFired](f, f.NextBlock()) {
				id, err := types.ParseID(event.Id)
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf("%x", types.DeliverID(height, hash, id, 0)), event.DeliverId)
				delivered = append(delivered, event.DeliverId)
			}
		}
		return delivered
	}
	once := run(false)
	require.Len(t, once, 3)
	require.Equal(t, once, run(true))
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(once))), 3)
}

// TestWhatAScoreBidWouldCost: the estimate knows the bid's price and place.
func TestWhatAScoreBidWouldCost(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		scored(c)
		c.MaxFiresPerBlock = 1
	}))
	for range 5 {
		f.schedule(robot, 2, f.noop(), limited(50_000), bidding(price("100")))
	}
	f.blocksUntil(2)
	estimate := func(bid string) *types.QueryEstimateResponse {
		response, err := f.query().Estimate(f.Ctx(), &types.QueryEstimateRequest{GasLimit: 50_000, Bid: bid, Actor: robot2.String()})
		require.NoError(t, err)
		return response
	}
	// In the next block those that wait are two blocks old, which is worth 200 beside their bid of 100.
	low, high := estimate("299"), estimate("301")
	require.Equal(t, uint64(4), low.Ahead)
	require.Equal(t, uint64(0), high.Ahead)
	require.Equal(t, uint64(0), estimate("300").Ahead, "equal, and it has not fired yet")
	require.Equal(t, "301", high.ScoreBid)
	require.Equal(t, "50301", high.PreCharge)
	require.Equal(t, "50301", high.CostOfCycles)
	none := estimate("")
	require.Empty(t, none.ScoreBid)
	require.Equal(t, "50000", none.PreCharge)
	require.Equal(t, types.PolicyScore, none.Policy)
	_, err := f.query().Estimate(f.Ctx(), &types.QueryEstimateRequest{Bid: "7", Tier: types.TierFast})
	require.ErrorContains(t, err, "state one of")
	_, err = f.query().Estimate(f.Ctx(), &types.QueryEstimateRequest{Bid: "x"})
	require.ErrorContains(t, err, "not a non-negative integer")
	_, err = f.query().Estimate(f.Ctx(), &types.QueryEstimateRequest{Bid: "79228162514264337593543950336"})
	require.ErrorContains(t, err, "want 0 to 2^96 - 1")
}

// inScoreStorm makes a storm of a few timers: two fires a block.
func inScoreStorm(c *types.TimerConfig) {
	scored(c)
	c.CandidateWindow, c.FairnessWindowBlocks = 5, 3
	lab.SetOverhead(c, market.Admit, 8)
	c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 60_000, 60_000, 60_000
}

func TestReadyQueryPredictsScores(t *testing.T) {
	for name, config := range map[string]func(*types.TimerConfig){
		"calm": func(c *types.TimerConfig) {
			inScoreStorm(c)
			c.CandidateWindow = 100
		},
		"storm": inScoreStorm,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(config))
			for i := range 20 {
				f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 2, f.noop(), limited(40_000), bidding(price(fmt.Sprint(i*7%5))))
			}
			f.blocksUntil(4)
			var listed []string
			for page := (&query.PageRequest{Limit: 3}); ; {
				response, err := f.query().Ready(f.Ctx(), &types.QueryReadyRequest{Pagination: page})
				require.NoError(t, err)
				for i := range response.Timers {
					listed = append(listed, response.Timers[i].Id)
				}
				if page.Key = response.Pagination.NextKey; page.Key == nil {
					break
				}
			}
			fired := f.firedIDs(f.NextBlock())
			require.Len(t, fired, 2)
			require.Equal(t, fired, listed[:2])
		})
	}
}

// TestGenesisInTheMiddleOfAScoreStorm: what is exported continues as if nothing had happened, with a timer that just
// moved, and through a change of weights.
func TestGenesisInTheMiddleOfAScoreStorm(t *testing.T) {
	f := newFixture(t, withConfig(inScoreStorm))
	ids := make([]string, 30)
	for i := range ids {
		ids[i] = f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 2, f.noop(), limited(40_000), bidding(price(fmt.Sprint(i*7%10))))
	}
	f.blocksUntil(5)
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: ids[0], Spec: types.TimerSpec{Bid: price("5000")}, Fields: []string{"bid"}})
	genesis := f.export()
	require.True(t, slices.ContainsFunc(genesis.Ready, func(e types.ReadyEntry) bool { return market.List(e.List).Wide() }))
	again := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis, opts.Height = genesis, int64(f.Height())-1
	})
	again.robots.scripts = f.robots.scripts
	for i := range 20 {
		if i == 3 {
			for _, chain := range []*fixture{f, again} {
				chain.setConfig(func(c *types.TimerConfig) { setScore(c, func(p *scorepolicy.Params) { p.WBid = decimal.Of(dec("1")) }) })
			}
		}
		require.Equal(t, f.firedIDs(f.NextBlock()), again.firedIDs(again.NextBlock()))
		require.Equal(t, f.export().Timers, again.export().Timers)
		require.Equal(t, f.export().Ready, again.export().Ready)
	}
}

// TestGenesis_RefusesWhatNoPolicyFiles: an entry that is no first one of a timer that is due.
func TestGenesis_RefusesWhatNoPolicyFiles(t *testing.T) {
	for name, entry := range map[string]types.ReadyEntry{
		"of a timer that is not due": {Due: 9, List: 16 << 16},
		"the second of two":          {Due: 1, List: uint32(market.MakeList(16, 17))},
		"stated without prices":      {Due: 1, List: uint32(market.MakeList(16, uint32(market.Stated)))},
		"with a price for its age":   {Due: 1, List: 16 << 16, Price: math.LegacyOneDec()},
	} {
		t.Run(name, func(t *testing.T) {
			genesis := types.DefaultGenesis()
			entry.Seq, entry.Other, genesis.NextSeq = 1, math.LegacyZeroDec(), 2
			if entry.Price.IsNil() {
				entry.Price = math.LegacyZeroDec()
			}
			genesis.Ready = []types.ReadyEntry{entry}
			require.NoError(t, timersgenesis.Validate(genesis))
			_, err := lab.NewChain(lab.ChainOptions{Genesis: genesis})
			require.ErrorContains(t, err, "ready 0")
		})
	}
}

// TestAnUpdateInAStormCompetesFromTheNextBlock: with its new bid, at the back of those of equal rank.
func TestAnUpdateInAStormCompetesFromTheNextBlock(t *testing.T) {
	f := newFixture(t, withConfig(inScoreStorm))
	ids := make([]string, 30)
	for i := range ids {
		ids[i] = f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 2, f.noop(), limited(40_000))
	}
	f.blocksUntil(7)
	last := ids[len(ids)-1]
	require.Equal(t, types.PhaseReady, f.timer(robot2, last).Status.Phase)
	f.run(&types.MsgUpdateTimer{Sender: robot2.String(), Id: last, Spec: types.TimerSpec{Bid: price("1000")}, Fields: []string{"bid"}})
	require.NotContains(t, f.firedIDs(f.NextBlock()), last)
	require.Equal(t, last, f.firedIDs(f.NextBlock())[0])
}

// TestPolicyChangesUnderABacklogLoseNothing: a storm that goes from policy to policy, and from weights to weights,
// fires every timer once, even if the overhead holds nothing; the ready index holds what it should after every block.
//
// Rule: 1.5-never-lost, 1.6-overhead, 1.7-policy-change-loses-nothing
func TestPolicyChangesUnderABacklogLoseNothing(t *testing.T) {
	const n = 300
	for _, cycles := range []uint64{0, 2_000, 100_000} {
		t.Run(fmt.Sprint(cycles), func(t *testing.T) {
			f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
				inScoreStorm(c)
				c.Policy = types.PolicyEIP1559
				c.OverheadCyclesPerBlock = c.GcCyclesPerBlock + cycles
				// Everybody can pay whatever comes.
				c.CycleBasefee, c.Eip1559.MinLaneBasefee = decimal.Of(dec("0.001")), decimal.Of(dec("0.001"))
				c.LaneTimerCycles = 100_000
			}))
			pending := map[string]bool{}
			for i := range n {
				bid := []*types.Bid{nil, stated("5", fmt.Sprintf("0.%d", i%10)), {Tier: types.TierFast}}[i%3]
				pending[f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 2+uint64(i%4), f.noop(), limited(40_000), bidding(bid))] = true
			}
			changes := []func(*types.TimerConfig){
				func(c *types.TimerConfig) { c.Policy = types.PolicyScore },
				func(c *types.TimerConfig) {
					setScore(c, func(p *scorepolicy.Params) { p.WFifo = decimal.Of(dec("0.5")) })
				},
				func(c *types.TimerConfig) { c.Policy = types.PolicyEIP1559 },
				func(c *types.TimerConfig) {
					c.Policy = types.PolicyScore
					setScore(c, func(p *scorepolicy.Params) { p.WBid = decimal.Of(dec("2")) })
				},
				func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO },
				func(c *types.TimerConfig) {
					setScore(c, func(p *scorepolicy.Params) { p.WFifo = decimal.Of(dec("0")) })
				},
				func(c *types.TimerConfig) { c.Policy = types.PolicyScore },
				func(c *types.TimerConfig) { c.Policy = types.PolicyEIP1559 },
			}
			for block := 0; len(pending) > 0; block++ {
				if block%6 == 5 && len(changes) > 0 {
					f.setConfig(changes[0])
					changes = changes[1:]
				}
				for _, id := range f.firedIDs(f.NextBlock()) {
					require.True(t, pending[id], "%s fires twice", id)
					delete(pending, id)
				}
				require.Less(t, block, 4*n, "%d timers never fire", len(pending))
			}
			require.Empty(t, changes, "the backlog was too small")
		})
	}
}

// TestStaleEntriesAreReindexed: as many in a block as half of the overhead holds, so that all compete again after as many blocks
// as that takes, whatever changed.
//
// Rule: 4-score-weights
func TestStaleEntriesAreReindexed(t *testing.T) {
	const n, each = 200, 20
	for name, change := range map[string]func(*types.TimerConfig){
		"from eip1559": func(c *types.TimerConfig) { c.Policy = types.PolicyScore },
		"from score":   func(c *types.TimerConfig) { c.Policy = types.PolicyEIP1559 },
		"weights": func(c *types.TimerConfig) {
			setScore(c, func(p *scorepolicy.Params) { p.WFifo = decimal.Of(dec("1")) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
				inScoreStorm(c)
				lab.SetOverhead(c, market.Refile, 2*each)
				if name == "from eip1559" {
					c.Policy = types.PolicyEIP1559
				}
			}))
			for i := range n {
				f.schedule([]sdk.AccAddress{robot, robot2}[i%2], 2, f.noop(), limited(40_000), bidding(stated("2000", "1")))
			}
			f.blocksUntil(8)
			f.setConfig(change)
			f.NextBlock()
			askew := func() (n int) {
				config, lane := f.config(), f.lane()
				for _, entry := range f.export().Ready {
					list := market.List(entry.List)
					current := list == rules.ListOfEpoch(scoreEpoch(lane))
					if config.Policy != types.PolicyScore {
						current = !list.Wide()
					}
					if !current {
						n++
					}
				}
				return n
			}
			before := askew()
			require.Greater(t, before, n/2)
			for range (before + each - 1) / each {
				f.NextBlock()
			}
			require.Zero(t, askew())
		})
	}
}

// scoreModel is policy score as one would write it who need not care what it costs. It follows admission as the model
// of eip1559 does, with one weight for all.
type scoreModel struct{ stormModel }

// order is that in which the contest is tried: by score, and by turns where it is equal. In a storm no more than
// turnsLeft are put in turns.
func (m *scoreModel) order(contest []*stormTimer, turnsLeft int) (order []*stormTimer) {
	recent := map[string]uint64{}
	for height, fires := range m.fires {
		for actor, n := range fires {
			if height < m.height && height+m.config.FairnessWindowBlocks >= m.height {
				recent[actor] += n
			}
		}
	}
	score := func(t *stormTimer) math.LegacyDec {
		bid := math.ZeroInt()
		if t.Spec.Bid != nil {
			bid, _ = math.NewIntFromString(t.Spec.Bid.Price)
		}
		p := types.ParamsOf[scorepolicy.Params](&m.config)
		return p.WAge.MulInt(math.NewIntFromUint64(m.height - t.Due)).Add(p.WBid.MulInt(bid)).
			Sub(p.WFifo.MulInt(math.NewIntFromUint64(t.Seq)))
	}
	left := slices.Clone(contest)
	slices.SortStableFunc(left, func(a, b *stormTimer) int { return score(b).BigInt().Cmp(score(a).BigInt()) })
	for len(left) > 0 {
		equal := 1
		for equal < len(left) && equal < max(1, turnsLeft) && score(left[equal]).Equal(score(left[0])) {
			equal++
		}
		if equal > 1 {
			turnsLeft -= equal
		}
		group, given := left[:equal:equal], map[string]uint64{}
		left = left[equal:]
		for len(group) > 0 {
			best := 0
			for i, t := range group {
				turn, least := recent[string(t.Actor)]+given[string(t.Actor)], recent[string(group[best].Actor)]+given[string(group[best].Actor)]
				if turn < least || turn == least && (t.Due < group[best].Due || t.Due == group[best].Due &&
					string(t.Actor) < string(group[best].Actor)) {
					best = i
				}
			}
			given[string(group[best].Actor)]++
			order = append(order, group[best])
			group = slices.Delete(slices.Clone(group), best, best+1)
		}
	}
	return order
}

func (m *scoreModel) block() (fired []string) {
	m.height++
	contest, storm := m.compete(func([]byte) uint32 { return 1 }, func(*stormTimer) bool { return true })
	m.cycles = 0
	m.fires[m.height] = map[string]uint64{}
	passedOver, turns := 0, 1<<30
	if storm {
		turns = int(m.config.CandidateWindow)
	}
	for _, best := range m.order(contest, turns) {
		if storm && !m.meter.TryConsume(market.ReadRanked) {
			break
		}
		if passedOver == 32 || m.cycles+market.FireBaseCycles >= m.config.LaneTimerCycles {
			break
		}
		if m.cycles+best.GasLimit > m.config.LaneTimerCycles {
			if storm {
				passedOver++
			}
			continue
		}
		fired = append(fired, best.IDHex())
		m.fires[m.height][string(best.Actor)]++
		m.cycles += market.FireBaseCycles
		m.timers = slices.DeleteFunc(m.timers, func(t *stormTimer) bool { return t == best })
	}
	return fired
}

// scoreStormProperty runs a storm, with newcomers meanwhile, through the module and through the model, and compares
// what fires, in order. It returns in how many blocks there was one.
func scoreStormProperty(t *rapid.T) (storms int) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	bids := rapid.SampledFrom([][]string{{"0"}, {"0", "100", "250"}, {"0", "1", "2", "3", "4", "5", "6", "70", "1000"}}).Draw(t, "bids")
	actors := rapid.SampledFrom([]int{2, 5, 40}).Draw(t, "actors")
	n := rapid.IntRange(10, 300).Draw(t, "timers")
	whale := rapid.Bool().Draw(t, "whale")
	gasLimits := []uint64{40_000, 40_000, 60_000, 250_000}
	draw := func(seq, due uint64) types.Timer {
		actor := r.IntN(actors)
		if whale && r.IntN(10) > 0 {
			actor = 0
		}
		timer := types.Timer{
			Actor:    sdk.AccAddress(fmt.Sprintf("robot_%014d", actor)),
			GasLimit: gasLimits[r.IntN(len(gasLimits))], ExpiresAt: 100_000, Seq: seq, Due: due,
			Spec: types.TimerSpec{
				Call:    types.TimerCall{Handler: "noop"},
				Trigger: types.Trigger{Height: due},
			},
		}
		if bid := bids[r.IntN(len(bids))]; bid != "0" {
			timer.Spec.Bid = price(bid)
		}
		timer.Id = types.TimerID(timer.Actor, timer.Due, timer.Spec.Call.Payload, timer.Seq)
		return timer
	}
	m := &scoreModel{stormModel{fires: map[uint64]map[string]uint64{}}}
	f := newFixture(t, func(opts *lab.ChainOptions) {
		genesis := opts.Genesis
		c := &genesis.Config
		c.Policy = types.PolicyScore
		weights := *types.ParamsOf[scorepolicy.Params](c)
		weights.WAge = decimal.Of(rapid.SampledFrom([]math.LegacyDec{dec("1"), dec("0")}).Draw(t, "weight of age"))
		weights.WFifo = decimal.Of(rapid.SampledFrom([]math.LegacyDec{dec("0"), dec("0"), dec("0.1")}).Draw(t, "weight of rank"))
		c.SetParams(&weights)
		c.CandidateWindow = uint32(rapid.IntRange(1, 60).Draw(t, "window"))
		lab.SetOverhead(c, market.Admit, rapid.IntRange(20, 100).Draw(t, "admissions"))
		c.FairnessWindowBlocks = uint64(rapid.IntRange(1, 8).Draw(t, "fairness window"))
		c.LaneTimerCycles = uint64(rapid.IntRange(250, 600).Draw(t, "lane")) * 1_000
		c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction, c.MaxCellsPerFire = 250_000, 250_000, 1_000
		for i := range n {
			timer := draw(uint64(i)+1, uint64(2+r.IntN(3)))
			genesis.Timers = append(genesis.Timers, timer)
			m.timers = append(m.timers, &stormTimer{Timer: timer})
		}
		genesis.NextSeq = uint64(n) + 1
		for i := range actors {
			opts.Balances = append(opts.Balances, lab.Balance{Address: sdk.AccAddress(fmt.Sprintf("robot_%014d", i)), Amount: math.NewInt(rich)})
		}
		m.config = *c
	})
	f.robots.scripts["noop"] = func(sdk.Context, types.Delivery) error { return nil }
	for range rapid.IntRange(5, 25).Draw(t, "blocks") {
		for range r.IntN(4) {
			f.newcomer(&m.stormModel, draw(0, f.Height()+1+uint64(r.IntN(2))))
		}
		events := f.NextBlock()
		require.Equal(t, m.block(), f.firedIDs(events), "height %d", m.height)
	}
	return m.storms
}

// Rule: 5.4-exact-below-window, 5.4-admission, 5.4-index-exact, 5.4-score-turns
func TestScoreOverloadMatchesAFullSort(t *testing.T) {
	storms := 0
	rapid.Check(t, func(t *rapid.T) { storms += scoreStormProperty(t) })
	require.Positive(t, storms, "the workloads were no storms")
}

// TestScoreOverloadReadsAreBounded drains a part of many timers of one height, actors with a hundred each:
// all of one score, so that turns are read for as many as a block may, and of a score each.
//
// Rule: 5.4-score-turns
func TestScoreOverloadReadsAreBounded(t *testing.T) {
	const fires = 9
	n := sized(3_000, 20_000)
	for name, change := range map[string]func(*types.Timer){
		"of one score": func(timer *types.Timer) { timer.Due = 2 },
		"of a score each": func(timer *types.Timer) {
			timer.Due, timer.Spec.Bid = 2, price(fmt.Sprint(timer.Seq*7_919%uint64(n)+1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var counts *storecount.Counts
			f := crowded(t, n, change, counted(&counts), withConfig(func(c *types.TimerConfig) {
				c.Policy, c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = types.PolicyScore, 200_000, 200_000, 200_000
			}))
			for i := range n / 100 {
				f.fund(sdk.AccAddress(fmt.Sprintf("robot_%014d", i)), rich)
			}
			// By then all are admitted, and the index has merged what the admission wrote.
			for f.Height() < 35 {
				f.endBlock()
			}
			counts.Reset()
			var most storecount.Counts
			for range 20 {
				events := f.endBlock()
				require.Len(t, f.firedIDs(events), fires)
				most.Max(counts.Take())
			}
			t.Logf("at most %+v in a block", most)
			turns := 0
			if name == "of one score" {
				turns = 1_024
			}
			// All are admitted; the sweep, a scan for what lies askew, turns and the fires are left.
			require.LessOrEqual(t, most.Nexts, 256+turns+64+5*fires)
			require.LessOrEqual(t, most.Gets, turns+19*fires)
			require.LessOrEqual(t, most.Writes(), 10*fires)
			require.NoError(t, f.Check())
		})
	}
}

func FuzzAScoreStormFiresWhatAFullSortWouldFire(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { scoreStormProperty(t) }))
}

// Rule: 1.11-no-score-bid
func TestScore_PaysNoBidFromAnAllowance(t *testing.T) {
	f := newFixture(t, withConfig(scored))
	f.grant(bob, robot, unlimited())
	f.refused(types.ErrInvalidBid, scheduleMsg(robot, 3, f.noop(), paidBy(bob), bidding(price("77"))))
	f.schedule(robot, 3, f.noop(), paidBy(bob), bidding(price("0")))
	require.Equal(t, "0", only[*types.TimerFired](f, f.blocksUntil(3)).Tip)
}

// Rule: 5.4-storm-flag
func TestSummary_SaysThatThereIsAStormUnderScore(t *testing.T) { requireStormInSummary(t, scored) }
