// Package storm measures blocks in which more timers are ready than compete, beside blocks of the same lane without a crowd.
package storm

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	sdkmath "cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Spec is a backlog that is due at once. Each timer sends coins by the real bank and pays real fees.
type Spec struct {
	Policy workload.Policy `json:"policy"`
	Bids   Bids            `json:"-"`
	// LaneCycles is LANE_TIMER_CYCLES.
	LaneCycles uint64 `json:"lane_timer_cycles"`
	// Due is the backlog, Owners how many actors it has, some with more and some with fewer.
	Due    int    `json:"due"`
	Owners int    `json:"owners"`
	Seed   uint64 `json:"seed"`
}

// Storm compares blocks in a storm with blocks of the same lane in which exactly those are due that fit.
type Storm struct {
	Spec Spec   `json:"spec"`
	Bids string `json:"bids"`
	// Phase of the storm; see the phase constants.
	Phase string `json:"phase"`
	// Storm and Calm are sums over the blocks that were counted.
	Storm BlockCost `json:"storm"`
	Calm  BlockCost `json:"calm"`
	// Millis are medians over whole blocks, commit included; TimeRatio is the median of the pairs' own ratios.
	Millis     float64 `json:"ms"`
	CalmMillis float64 `json:"calm_ms"`
	TimeRatio  float64 `json:"time_ratio"`
}

const (
	// phaseAdmitting is while the ready index takes in the backlog, phaseSettling are settlingBlocks after it, while timers
	// that were admitted under weights of long ago are filed again, and phaseSettled is the rest.
	phaseAdmitting, phaseSettling, phaseSettled = "admitting", "settling", "settled"
	// phaseWindow is that of a policy that has no ready index.
	phaseWindow = "window"
	// phaseWhole is the storm from its first fire to its last, reckoned from its phases.
	phaseWhole = "whole, reckoned"
)

// BlockCost are the operations of the ends of some blocks.
type BlockCost struct {
	Blocks int `json:"blocks"`
	Fires  int `json:"fires"`
	// Module is the timers store, All every store of the chain.
	Module storecount.Counts `json:"module"`
	All    storecount.Counts `json:"all"`
	// Index is how many values of the ready index were read: chunks of entries, and what leads to them.
	Index int `json:"index"`
}

// Add adds other blocks.
func (c *BlockCost) Add(other BlockCost) {
	c.Blocks += other.Blocks
	c.Fires += other.Fires
	c.Module.Add(other.Module)
	c.All.Add(other.All)
	c.Index += other.Index
}

// PerFire is n shared out among the fires.
func (c BlockCost) PerFire(n int) float64 { return float64(n) / float64(c.Fires) }

// ModuleRatio is how many operations on the timers store a fire costs in the storm, against the calm.
func (s Storm) ModuleRatio() float64 {
	return s.Storm.PerFire(workload.Operations(s.Storm.Module)) / s.Calm.PerFire(workload.Operations(s.Calm.Module))
}

// AllRatio is the same of all stores.
func (s Storm) AllRatio() float64 {
	return s.Storm.PerFire(workload.Operations(s.Storm.All)) / s.Calm.PerFire(workload.Operations(s.Calm.All))
}

const (
	// stormGasLimit holds a send with room.
	stormGasLimit = 100_000
	// calmDue is how many blocks later those timers of the calm are due that never are.
	calmDue = 1_000
	// stormReceipts is a retention so short that what leaves is counted with what enters, once stormWarmup blocks have
	// passed.
	stormReceipts, stormWarmup = 4, 5
	// stormFairness is FAIRNESS_WINDOW_BLOCKS, by default. The window is full of fires when the chain begins, at its end:
	// weights have settled.
	stormFairness = 1_000
	// stormSamples is how many blocks of a phase are counted, settlingBlocks how long it takes the index to settle at most.
	stormSamples, settlingBlocks = 4, 28

	// stormOverhead is a sixth of the default overhead without removals, so that admission takes blocks enough to be counted.
	stormOverhead = 450_000
	// wideLaneCycles is a lane that fires about 500 a block.
	wideLaneCycles = 18_000_000
)

// stormChain is a chain of a spec.
type stormChain struct {
	spec  Spec
	rng   *rand.Rand
	chain *lab.Chain
	// genesis and payloads are what the chain is made of.
	genesis  *types.GenesisState
	payloads [][]byte
}

// newStormChain makes the chain of the storm, or that of the calm beside it. flow timers become due in each of the first
// blocks: all that is due in the calm, and in a storm beside which others fire; the rest of the calm's timers are due much
// later.
func newStormChain(spec Spec, calm bool, flow, blocks int) (*stormChain, error) {
	s := &stormChain{spec: spec, rng: workload.NewRand(spec.Seed), genesis: types.NewGenesis("stake")}
	config := &s.genesis.Config
	config.Policy = spec.Policy.Config()
	// Cells in proportion, so that cycles bound the lane.
	config.LaneTimerCells = max(config.LaneTimerCells, spec.LaneCycles*2)
	config.LaneTimerCycles = spec.LaneCycles
	config.ReceiptRetentionBlocks, config.FairnessWindowBlocks = stormReceipts, stormFairness
	config.OverheadCyclesPerBlock = config.GcCyclesPerBlock + stormOverhead
	if spec.Policy.Indexed() {
		s.remember(flow)
	}
	config.Eip1559.MinLaneBasefee = decimal.Of(sdkmath.LegacyMustNewDecFromStr(fmt.Sprint(laneFee)))
	config.Eip1559.MaxChange = decimal.Of(sdkmath.LegacyNewDecWithPrec(1, 6))
	all := workload.Balances(spec.Owners)
	for i := range spec.Owners {
		to := workload.Owner(workload.FirstRecipient + i)
		all = append(all, lab.Balance{Address: to, Amount: sdkmath.OneInt()})
		payload, err := workload.SendPayload(banktypes.NewMsgSend(workload.Owner(i), to, sdk.NewCoins(sdk.NewInt64Coin(config.FeeDenom, 1))))
		if err != nil {
			return nil, err
		}
		s.payloads = append(s.payloads, payload)
	}
	if !calm {
		s.add(spec.Due, stormFairness+1, spec.Bids)
	}
	if calm || spec.Bids.onHold {
		live := spec.Bids
		if live.onHold {
			live = DefaultBids
		}
		for block := range blocks {
			s.add(flow, uint64(stormFairness+block+1), live)
		}
	}
	if calm {
		s.add(spec.Due, stormFairness+calmDue, spec.Bids)
	}
	var err error
	s.chain, err = lab.NewChain(lab.ChainOptions{Genesis: s.genesis, Balances: all, Height: stormFairness})
	s.genesis, s.payloads = nil, nil
	return s, err
}

// remember fills the fairness window with as many fires a block as fit.
func (s *stormChain) remember(perBlock int) {
	for height := range uint64(stormFairness) {
		fires := make([]uint32, s.spec.Owners)
		for range perBlock {
			fires[s.drawOwner()]++
		}
		from := len(s.genesis.Fairness)
		for who, n := range fires {
			if n > 0 {
				s.genesis.Fairness = append(s.genesis.Fairness, types.HeightFires{Height: height + 1, Unit: workload.Owner(who), Fires: n})
			}
		}
		slices.SortFunc(s.genesis.Fairness[from:], func(a, b types.HeightFires) int { return bytes.Compare(a.Unit, b.Unit) })
	}
}

// drawOwner draws unevenly, so that weights differ.
func (s *stormChain) drawOwner() int {
	return int(float64(s.spec.Owners) * math.Pow(s.rng.Float64(), 1.25))
}

// add adds n timers.
func (s *stormChain) add(n int, due uint64, bids Bids) {
	for range n {
		who := s.drawOwner()
		timer := workload.AddTimer(s.genesis, workload.Owner(who), due, s.payloads[who], stormGasLimit)
		if timer.Spec.Bid = bids.Draw(s.rng); s.spec.Policy == workload.Auction && timer.Spec.Bid != nil {
			timer.SetLocked(timer.Spec.Bid.Ask().Price)
		}
	}
}

// count runs the end of the block that is open on a branch that is dropped, and counts it.
func (s *stormChain) count() (BlockCost, error) {
	cost := BlockCost{Blocks: 1}
	branch, _ := s.chain.Ctx().CacheContext()
	multi, counts := storecount.WrapMulti(branch.MultiStore(), func(store string, key []byte) {
		if store == types.StoreKey && bytes.HasPrefix(key, types.PrefixReady.Bytes()) {
			cost.Index++
		}
	})
	if err := s.chain.Timers.EndBlock(branch.WithMultiStore(multi)); err != nil {
		return BlockCost{}, err
	}
	cost.Fires = workload.CountSuccesses(branch.EventManager().Events())
	cost.Module, cost.All = counts.Store(types.StoreKey), counts.All()
	return cost, nil
}

// block ends the block that is open, commit included, and returns how long it took in milliseconds and how many fired well.
func (s *stormChain) block() (took float64, fires int, err error) {
	start := time.Now()
	events, err := s.chain.EndBlock()
	took = float64(time.Since(start).Microseconds()) / 1_000
	return took, workload.CountSuccesses(events), err
}

// skip runs n blocks and counts nothing.
func (s *stormChain) skip(n int) error {
	for range n {
		if err := s.chain.BeginBlock(); err != nil {
			return err
		}
		if _, _, err := s.block(); err != nil {
			return err
		}
	}
	return nil
}

// sample runs a block, which is counted first and then timed.
func (s *stormChain) sample() (cost BlockCost, took float64, err error) {
	if err := s.chain.BeginBlock(); err != nil {
		return cost, 0, err
	}
	if cost, err = s.count(); err != nil {
		return cost, 0, err
	}
	took, fires, err := s.block()
	if err == nil && (fires != cost.Fires || fires == 0) {
		err = fmt.Errorf("%d timers fired where %d had when they were counted", fires, cost.Fires)
	}
	return cost, took, err
}

// firesPerBlock is how many sends fit the lane.
func firesPerBlock(spec Spec) (int, error) {
	spec.Bids, spec.Due = DefaultBids, int(spec.LaneCycles/market.FireBaseCycles)
	s, err := newStormChain(spec, false, 0, 0)
	if err != nil {
		return 0, err
	}
	if err := s.chain.BeginBlock(); err != nil {
		return 0, err
	}
	_, fires, err := s.block()
	return fires, err
}

// MeasureStorm counts and times blocks in the phases of a storm, in turn with blocks of the calm.
func MeasureStorm(spec Spec) ([]Storm, error) {
	flow, err := firesPerBlock(spec)
	if err != nil {
		return nil, err
	}
	// What an idle block lends is admitted with too.
	perBlock := int(stormOverhead / (market.ReadReady.Cycles + market.Admit.Cycles))
	if spec.Bids.onHold {
		perBlock -= flow
	}
	// Admission takes so many blocks; the samples of its phase are its last ones.
	admission := (spec.Due + perBlock - 1) / perBlock
	if admission < stormWarmup+stormSamples {
		return nil, fmt.Errorf("%d due are admitted in %d blocks, which leaves none to count", spec.Due, admission)
	}
	storm, err := newStormChain(spec, false, flow, admission+settlingBlocks+2*(stormWarmup+stormSamples))
	if err != nil {
		return nil, err
	}
	calm, err := newStormChain(spec, true, flow, stormWarmup+3*stormSamples)
	if err != nil {
		return nil, err
	}
	if err := calm.skip(stormWarmup); err != nil {
		return nil, err
	}
	if !spec.Policy.Indexed() {
		if err := storm.skip(stormWarmup); err != nil {
			return nil, err
		}
		window, err := compare(storm, calm, phaseWindow, 1)
		return []Storm{window}, err
	}
	// A wide lane may fire all before the index has settled: leave as many blocks to the last phase.
	settling := min(settlingBlocks, max(0, spec.Due/flow-admission)/2)
	phases := make([]Storm, 0, 4)
	for _, p := range []struct {
		name      string
		skip, gap int
	}{
		// One block of the admission is left: its last is not a full one.
		{phaseAdmitting, admission - stormSamples - 1, 1},
		{phaseSettling, 1, settling / stormSamples},
		{phaseSettled, stormWarmup, 1},
	} {
		if err := storm.skip(p.skip); err != nil {
			return nil, err
		}
		phase, err := compare(storm, calm, p.name, p.gap)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		phases = append(phases, phase)
	}
	if !spec.Bids.onHold {
		phases = append(phases, whole(phases, admission, settling))
	}
	return phases, storm.chain.Check()
}

// compare samples both chains in turn, and every gap-th block of the storm.
func compare(storm, calm *stormChain, phase string, gap int) (Storm, error) {
	s := Storm{Spec: storm.spec, Bids: storm.spec.Bids.Name, Phase: phase}
	var times, calmTimes, ratios []float64
	runtime.GC()
	for range stormSamples {
		cost, took, err := storm.sample()
		if err != nil {
			return Storm{}, fmt.Errorf("storm: %w", err)
		}
		calmCost, calmTook, err := calm.sample()
		if err != nil {
			return Storm{}, fmt.Errorf("calm: %w", err)
		}
		s.Storm.Add(cost)
		s.Calm.Add(calmCost)
		times, calmTimes, ratios = append(times, took), append(calmTimes, calmTook), append(ratios, took/calmTook)
		if err := storm.skip(gap - 1); err != nil {
			return Storm{}, err
		}
	}
	s.Millis, s.CalmMillis, s.TimeRatio = workload.Median(times), workload.Median(calmTimes), workload.Median(ratios)
	return s, nil
}

// whole reckons the storm from its first fire to its last: so many blocks of the first phases, and blocks like those of the
// last until all have fired. Times are those of a mean block.
func whole(phases []Storm, blocks ...int) Storm {
	last := phases[len(phases)-1]
	left := last.Spec.Due
	for i, n := range blocks {
		left -= phases[i].Storm.scaled(n).Fires
	}
	blocks = append(blocks, max(0, left)*last.Storm.Blocks/last.Storm.Fires)
	w, all := Storm{Spec: last.Spec, Bids: last.Bids, Phase: phaseWhole}, 0.0
	for i, phase := range phases {
		w.Storm.Add(phase.Storm.scaled(blocks[i]))
		w.Calm.Add(phase.Calm)
		n := float64(blocks[i])
		w.Millis += phase.Millis * n
		w.CalmMillis += phase.CalmMillis * n
		w.TimeRatio += phase.TimeRatio * n
		all += n
	}
	w.Millis, w.CalmMillis, w.TimeRatio = w.Millis/all, w.CalmMillis/all, w.TimeRatio/all
	return w
}

// scaled is what so many blocks like these cost.
func (c BlockCost) scaled(blocks int) BlockCost {
	by := func(n int) int { return n * blocks / c.Blocks }
	counts := func(n storecount.Counts) storecount.Counts {
		return storecount.Counts{
			Gets: by(n.Gets), Sets: by(n.Sets), Deletes: by(n.Deletes), Iterators: by(n.Iterators), Nexts: by(n.Nexts),
		}
	}
	return BlockCost{
		Blocks: blocks, Fires: by(c.Fires), Module: counts(c.Module), All: counts(c.All), Index: by(c.Index),
	}
}

// Measure measures storms of all kinds.
func Measure(opts figure.Options) ([]Storm, error) {
	var all []Storm
	defaultLane := types.DefaultTimerConfig("x").LaneTimerCycles
	specs, due := []Spec{{Policy: workload.EIP1559, Bids: LognormalBids, LaneCycles: defaultLane}}, 20_000
	if !opts.Quick {
		specs, due = nil, 100_000
		for _, policy := range []workload.Policy{workload.FIFO, workload.Auction, workload.Score, workload.Tip} {
			specs = append(specs, Spec{Policy: policy, Bids: bidsOf[policy], LaneCycles: defaultLane})
		}
		for _, bids := range AllBids {
			specs = append(specs, Spec{Policy: workload.EIP1559, Bids: bids, LaneCycles: defaultLane})
		}
		specs = append(specs, Spec{Policy: workload.EIP1559, Bids: LognormalBids, LaneCycles: wideLaneCycles})
	}
	for _, spec := range specs {
		opts.Tell("storm: %s, %s bids, a lane of %d", spec.Policy, spec.Bids.Name, spec.LaneCycles)
		spec.Due, spec.Owners, spec.Seed = due, due/100, opts.Seed
		phases, err := MeasureStorm(spec)
		if err != nil {
			return nil, fmt.Errorf("%s, %s bids: %w", spec.Policy, spec.Bids.Name, err)
		}
		all = append(all, phases...)
	}
	return all, nil
}

// Table prints them.
func Table(storms []Storm) *figure.Table {
	t := &figure.Table{
		Title: "A storm: blocks with so many due at once, beside blocks of the same lane in which exactly those are due that fit",
		Columns: []string{
			"due", "policy", "bids", "phase", "fires", "calm", "index reads/fire", "timers ops/fire", "calm", "ratio",
			"all ops/fire", "calm", "ratio", "writes/fire", "calm", "block ms", "calm", "ratio",
		},
		Notes: []string{
			"Each timer sends coins by the real bank and pays real fees; fires are means of a block. Index reads are values of the ready",
			"index that were read: chunks of some ninety entries, and what leads to them. Ops are reads and writes of the timers store and",
			"of all stores of the chain (target: 1.5 times those of the calm); writes are those of all stores. Block ms is the end of a",
			"block with its commit, medians of blocks that take turns. The lane's fee stands still, so that every block of the storm is",
			"full. Admitting is while the ready index takes in the backlog, 2,048 a block; settling are the blocks after, while timers that",
			"were admitted under weights of long ago are filed anew; beside poison, which is priced out, as many others become due in each",
			"block as in the calm.",
		},
	}
	for _, s := range storms {
		perBlock := func(c BlockCost) int { return (c.Fires + c.Blocks/2) / c.Blocks }
		ops := func(c BlockCost, counts storecount.Counts) float64 { return c.PerFire(workload.Operations(counts)) }
		t.Row(s.Spec.Due, s.Spec.Policy, s.Bids, s.Phase, perBlock(s.Storm), perBlock(s.Calm),
			s.Storm.PerFire(s.Storm.Index),
			ops(s.Storm, s.Storm.Module), ops(s.Calm, s.Calm.Module), s.ModuleRatio(),
			ops(s.Storm, s.Storm.All), ops(s.Calm, s.Calm.All), s.AllRatio(),
			s.Storm.PerFire(s.Storm.All.Writes()), s.Calm.PerFire(s.Calm.All.Writes()), s.Millis, s.CalmMillis, s.TimeRatio)
	}
	return t
}
