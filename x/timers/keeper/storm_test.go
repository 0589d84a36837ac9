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

	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// stormTimer is a timer, and the weight that a storm files it under; 0 if it is not admitted.
type stormTimer struct {
	types.Timer
	weight uint32
}

// stormModel is policy eip1559 as one would write it who need not care what it costs: every timer in one slice, sorted
// whole for every fire, and fires recounted over the whole history. It follows admission and the sweep, since they
// decide who competes in a storm, and with which weight.
type stormModel struct {
	config types.TimerConfig
	height uint64
	// timers by (due, seq).
	timers []*stormTimer
	fires  map[uint64]map[string]uint64
	// what the last block left.
	basefee, p50 math.LegacyDec
	cycles       uint64
	admit, clean schedule.Key
	// meter of the block, and the payers that it has looked at.
	meter  *market.Overhead
	looked map[string]bool
	// storms counts the blocks in which the ready index was needed.
	storms int
}

func placeOf(t *stormTimer) schedule.Key { return schedule.Key{Due: t.Due, Seq: t.Seq} }

// weights recounts the window, and returns the weight of any actor in this block.
func (m *stormModel) weights() func(actor []byte) uint32 {
	recent := map[string]uint64{}
	for height, fires := range m.fires {
		for actor, n := range fires {
			if height+m.config.FairnessWindowBlocks >= m.height {
				recent[actor] += n
			}
		}
	}
	all := make([]uint64, 0, len(recent))
	for _, n := range recent {
		all = append(all, n)
	}
	slices.Sort(all)
	median := uint64(1)
	if len(all) > 0 {
		median = all[(len(all)-1)/2]
	}
	return func(actor []byte) uint32 {
		// 2 − recent ÷ median, no less than 1, in sixteenths, rounded down.
		n := min(recent[string(actor)], median)
		return uint32(32 - (16*n+median-1)/median)
	}
}

// ready returns what is due, oldest first.
func (m *stormModel) ready() []*stormTimer {
	slices.SortFunc(m.timers, func(a, b *stormTimer) int { return placeOf(a).Compare(placeOf(b)) })
	due := slices.IndexFunc(m.timers, func(t *stormTimer) bool { return t.Due > m.height })
	if due < 0 {
		due = len(m.timers)
	}
	return slices.Clone(m.timers[:due])
}

func admitted(timers []*stormTimer) []*stormTimer {
	return slices.DeleteFunc(slices.Clone(timers), func(t *stormTimer) bool { return t.weight == 0 })
}

// compete returns who competes in this block, and whether it is a storm, in which it sweeps and admits.
func (m *stormModel) compete(weightOf func([]byte) uint32, willing func(*stormTimer) bool) ([]*stormTimer, bool) {
	m.meter = lab.Overhead(&m.config)
	m.meter.Lend(market.Watches)
	m.meter.Lend(market.Held)
	m.looked = map[string]bool{}
	ready := m.ready()
	if len(admitted(ready)) <= int(m.config.CandidateWindow) && m.readWindow(ready) {
		m.clean = schedule.Key{}
		return ready, false
	}
	m.storms++
	passed := m.admit
	// admits looks whether a timer is admitted, and reports whether the meter ends the admission before it.
	admits := func(t *stormTimer, read, admit market.Work) (ends bool) {
		switch {
		case !m.meter.TryConsume(read):
			return true
		case t.weight > 0, !willing(t):
			return false
		case !m.look(t), !m.meter.TryConsume(admit):
			return true
		}
		t.weight = weightOf(t.Actor)
		return false
	}
	if m.admit.Compare(schedule.Key{Due: m.height}) < 0 {
		for _, t := range ready {
			if t.Due == m.height && admits(t, market.ReadNewlyDue, market.AdmitNewlyDue) {
				break
			}
		}
	}
	next := schedule.Key{Due: m.height + 1}
	for _, t := range ready {
		if placeOf(t).Compare(m.admit) >= 0 && admits(t, market.ReadReady, market.Admit) {
			next = placeOf(t)
			break
		}
	}
	m.admit = next
	m.sweep(ready, passed, weightOf, willing)
	defer m.meter.Lend(market.Contest)
	m.meter.Consume(market.ReadEntry, min(contest.MaxIndexReads, max(64, m.meter.Left(market.ReadEntry)/3)))
	return admitted(ready), true
}

// readWindow reports whether the window holds all that is ready, and the meter lets the block read it.
func (m *stormModel) readWindow(ready []*stormTimer) bool {
	for i := range ready {
		if i == int(m.config.CandidateWindow) || !m.meter.TryConsume(market.ReadWindow) {
			return false
		}
	}
	return true
}

// look looks at a payer, once a block. All can pay.
func (m *stormModel) look(t *stormTimer) bool {
	if m.looked[string(t.Actor)] {
		return true
	}
	m.looked[string(t.Actor)] = m.meter.TryConsume(market.LookAtPayer)
	return m.looked[string(t.Actor)]
}

// sweep files a few of those that the admission has passed under weights that have risen, in rounds, and admits those that it
// passed over. Those that have fallen are filed again when they are met.
func (m *stormModel) sweep(
	ready []*stormTimer, end schedule.Key, weightOf func([]byte) uint32, willing func(*stormTimer) bool,
) {
	left := min(256, max(1, m.meter.Left(market.Renew)/2))
	var found []*stormTimer
	from := m.clean
	m.clean = schedule.Key{}
	for _, t := range ready {
		at := placeOf(t)
		if at.Compare(from) < 0 {
			continue
		}
		if at.Compare(end) >= 0 {
			break
		}
		if len(found) == left {
			m.clean = at
			break
		}
		found = append(found, t)
	}
	m.meter.Consume(market.Renew, len(found))
	for _, t := range found {
		weight := weightOf(t.Actor)
		switch {
		case t.weight > 0:
			if weight > t.weight && m.meter.TryConsume(market.Refile) {
				t.weight = weight
			}
		case (!willing(t) || m.look(t)) && m.meter.TryConsume(market.Admit):
			t.weight = weight
		}
	}
}

// block runs the end of a block and returns what fires, in order. Every fire uses its intrinsic cycles alone.
func (m *stormModel) block() (fired []string) {
	m.height++
	eip1559 := m.config.Eip1559.Rules(&m.config)
	prices := market.Prices{
		Cycle: m.config.CycleBasefee.LegacyDec, Cell: m.config.CellBasefee.LegacyDec, P50: m.p50,
		Lane: eip1559.LaneBasefee(m.config.CycleBasefee.LegacyDec, market.Last{Basefee: m.basefee, Use: market.Use{Size: m.cycles}}),
	}
	weightOf := m.weights()
	contest, storm := m.compete(weightOf, func(t *stormTimer) bool {
		_, pays := eip1559.Priority(prices, t.Ask())
		return pays
	})
	m.basefee, m.cycles, m.p50 = prices.Lane, 0, m.p50.QuoInt64(2)
	// waiting: a timer waits for room, so that tips bought something.
	waiting := false
	m.fires[m.height] = map[string]uint64{}
	var tips []math.LegacyDec
	// met before their turn, under a weight that has fallen since.
	var met []*stormTimer
	for passedOver := 0; passedOver < 32 && (m.cycles+market.FireBaseCycles <= m.config.LaneTimerCycles || !waiting); {
		if storm && !m.meter.TryConsume(market.ReadRanked) {
			break
		}
		candidates := make([]market.Candidate, len(contest))
		for i, t := range contest {
			candidates[i] = market.Candidate{Due: t.Due, Seq: t.Seq, Size: t.GasLimit, Ask: t.Ask(), Weight: weightOf(t.Actor)}
			if storm && !slices.Contains(met, t) {
				candidates[i].Weight = t.weight
			}
		}
		order := eip1559.Order(prices, candidates)
		if len(order) == 0 {
			break
		}
		best := contest[order[0]]
		if storm && weightOf(best.Actor) < best.weight && !slices.Contains(met, best) {
			met = append(met, best)
			continue
		}
		contest = slices.Delete(contest, order[0], order[0]+1)
		if m.cycles+best.GasLimit > m.config.LaneTimerCycles {
			waiting = waiting || best.GasLimit <= m.config.Eip1559.MaxCyclesPerFireAuction
			if storm {
				passedOver++
			}
			continue
		}
		price, _ := eip1559.Price(prices, candidates[order[0]])
		tips = append(tips, price.Priority)
		fired = append(fired, best.IDHex())
		m.fires[m.height][string(best.Actor)]++
		m.cycles += market.FireBaseCycles
		m.timers = slices.DeleteFunc(m.timers, func(t *stormTimer) bool { return t == best })
	}
	met = slices.DeleteFunc(met, func(t *stormTimer) bool { return !slices.Contains(m.timers, t) })
	m.meter.Lend(market.NewlyDue)
	m.meter.Lend(market.Tries)
	for _, t := range met {
		if !m.meter.TryConsume(market.Refile) {
			break
		}
		t.weight = weightOf(t.Actor)
	}
	// All fires have one size, so that the median of the tips is that of the size.
	median := math.LegacyZeroDec()
	if len(tips) > 0 {
		slices.SortFunc(tips, func(a, b math.LegacyDec) int { return a.BigInt().Cmp(b.BigInt()) })
		median = tips[(len(tips)-1)/2]
	}
	if m.p50 = math.LegacyMinDec(m.p50, median); waiting {
		m.p50 = median
	}
	return fired
}

// bidders are kinds of crowds. basefee is the lane's floor, around which bids matter.
var bidders = map[string]func(r *rand.Rand) *types.Bid{
	"default": func(*rand.Rand) *types.Bid { return nil },
	"lognormal": func(r *rand.Rand) *types.Bid {
		tip := 0.0005 * (1 + r.ExpFloat64()*r.ExpFloat64())
		return statedBid(0.001+2*tip*r.Float64()+0.002*r.ExpFloat64(), tip)
	},
	"equal":      func(*rand.Rand) *types.Bid { return statedBid(0.0018, 0.0004) },
	"near equal": func(r *rand.Rand) *types.Bid { return statedBid(0.0015+0.0000001*float64(r.IntN(5)), 0.0004) },
	"priced out": func(r *rand.Rand) *types.Bid {
		if r.IntN(10) > 0 {
			return statedBid(0.001+0.00000001*float64(r.IntN(3)), 0.001)
		}
		return statedBid(0.004, 0.0001*float64(r.IntN(4)))
	},
	"mixed": func(r *rand.Rand) *types.Bid {
		if tier := types.PriorityTier(r.IntN(7)); tier <= types.TierUrgent {
			return &types.Bid{Tier: tier}
		}
		return statedBid(0.001+0.002*r.Float64(), 0.0002*float64(r.IntN(6)))
	},
}

func statedBid(maxFee, maxPriority float64) *types.Bid {
	dec := func(x float64) math.LegacyDec { return math.LegacyMustNewDecFromStr(fmt.Sprintf("%.12f", x)) }
	return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(dec(maxFee)), MaxPriorityFeePerCycle: decimal.Of(dec(maxPriority))}}
}

// stormProperty runs a storm of some crowd, with newcomers meanwhile, through the module and through the model, and
// compares what fires, in order. Windows are small, so that a few hundred timers are a storm. It returns in how many
// blocks there was one.
func stormProperty(t *rapid.T) (storms int) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	kinds := []string{"default", "lognormal", "equal", "near equal", "priced out", "mixed"}
	bid := bidders[rapid.SampledFrom(kinds).Draw(t, "bidders")]
	actors := rapid.SampledFrom([]int{2, 5, 40}).Draw(t, "actors")
	n := rapid.IntRange(10, 400).Draw(t, "timers")
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
				Call: types.TimerCall{Handler: "noop"}, Bid: bid(r),
				Trigger: types.Trigger{Height: due},
			},
		}
		timer.Id = types.TimerID(timer.Actor, timer.Due, timer.Spec.Call.Payload, timer.Seq)
		return timer
	}
	m := &stormModel{fires: map[uint64]map[string]uint64{}, p50: math.LegacyZeroDec()}
	f := newFixture(t, withoutHeadroom, func(opts *lab.ChainOptions) {
		genesis := opts.Genesis
		c := &genesis.Config
		c.Policy = types.PolicyEIP1559
		c.CandidateWindow = uint32(rapid.IntRange(1, 60).Draw(t, "window"))
		lab.SetOverhead(c, market.Admit, rapid.IntRange(20, 100).Draw(t, "admissions"))
		c.FairnessWindowBlocks = uint64(rapid.IntRange(1, 8).Draw(t, "fairness window"))
		c.LaneTimerCycles = uint64(rapid.IntRange(250, 600).Draw(t, "lane")) * 1_000
		c.MaxCyclesPerFire, c.MaxCellsPerFire = 250_000, 1_000
		for i := range n {
			timer := draw(uint64(i)+1, uint64(2+r.IntN(3)))
			genesis.Timers = append(genesis.Timers, timer)
			m.timers = append(m.timers, &stormTimer{Timer: timer})
		}
		genesis.NextSeq = uint64(n) + 1
		for i := range actors {
			opts.Balances = append(opts.Balances, lab.Balance{Address: sdk.AccAddress(fmt.Sprintf("robot_%014d", i)), Amount: math.NewInt(rich)})
		}
		m.config, m.basefee = *c, c.CycleBasefee.LegacyDec
	})
	f.robots.scripts["noop"] = func(sdk.Context, types.Delivery) error { return nil }
	for range rapid.IntRange(5, 25).Draw(t, "blocks") {
		for range r.IntN(4) {
			f.newcomer(m, draw(0, f.Height()+1+uint64(r.IntN(2))))
		}
		events := f.NextBlock()
		require.Equal(t, m.block(), f.firedIDs(events), "height %d", m.height)
	}
	return m.storms
}

// newcomer schedules a timer in the open block, if its bid is accepted.
func (f *fixture) newcomer(m *stormModel, timer types.Timer) {
	results, _, err := f.Tx(scheduleMsg(timer.Actor, timer.Due, timer.Spec.Call.Payload, limited(timer.GasLimit), bidding(timer.Spec.Bid)))
	if err != nil {
		require.ErrorIs(f.t, err, types.ErrRejectedBelowBasefee)
		return
	}
	var response types.MsgScheduleTimerResponse
	require.NoError(f.t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	info := f.timer(timer.Actor, response.Id)
	timer.Seq, timer.TipCap = info.Status.Seq, info.Status.TipCap
	timer.Id = types.TimerID(timer.Actor, timer.Due, timer.Spec.Call.Payload, timer.Seq)
	m.timers = append(m.timers, &stormTimer{Timer: timer})
}

func bidding(bid *types.Bid) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Bid = bid }
}

// Rule: 2.2-ready-index, 2.2-complete-bounds, 5.1-collect, 5.1-execute, 5.4-exact-below-window, 5.4-admission
// Rule: 5.4-newcomers-half, 5.4-index-exact, 5.4-not-fitting
func TestOverloadMatchesAFullSort(t *testing.T) {
	storms := 0
	rapid.Check(t, func(t *rapid.T) { storms += stormProperty(t) })
	require.Positive(t, storms, "the workloads were no storms")
}

func FuzzAStormFiresWhatAFullSortWouldFire(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { stormProperty(t) }))
}
