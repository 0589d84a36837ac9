//go:build !noguests

package keeper_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market/tip"
	tippolicy "github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// tipModel is policy tip once more, as plainly as it can be said: it keeps what happened in every epoch, and reckons
// every weight from the first epoch on, for every timer in every block.
type tipModel struct {
	config types.TimerConfig
	timers []*tipTimer
	// epochs is what was observed of an actor by epoch; lastFire the height of its last fire.
	epochs   map[string]map[uint64]*tip.EpochStats
	lastFire map[string]uint64
	p50      math.LegacyDec
}

type tipTimer struct {
	id, actor    string
	due, gas     uint64
	burn         uint64
	fails, broke bool
	fee, tip     math.LegacyDec
	gone, waits  bool
}

// epochAt: the policy is in force from block 1 on.
func (m *tipModel) params() *tippolicy.Params { return types.ParamsOf[tippolicy.Params](&m.config) }

func (m *tipModel) epochAt(height uint64) uint64 { return 1 + (height-1)/m.params().EpochBlocks }

func (m *tipModel) weight(actor string, epoch uint64) math.LegacyDec {
	w := tippolicy.WeightsOf(m.params())
	weight, known := w.Neutral, false
	for e := uint64(1); e < epoch; e++ {
		o := m.epochs[actor][e]
		switch {
		case o != nil:
			weight, known = w.Next(weight, *o), true
		case known:
			weight = w.Neutral.Add(weight.Sub(w.Neutral).MulTruncate(math.LegacyOneDec().Sub(w.Inactivity)))
		}
	}
	return weight
}

func (m *tipModel) observed(actor string, epoch uint64) *tip.EpochStats {
	if m.epochs[actor] == nil {
		m.epochs[actor] = map[uint64]*tip.EpochStats{}
	}
	if m.epochs[actor][epoch] == nil {
		none := tip.NoStats()
		m.epochs[actor][epoch] = &none
	}
	return m.epochs[actor][epoch]
}

func (m *tipModel) effective(t *tipTimer) math.LegacyDec {
	return math.LegacyMinDec(t.tip, t.fee.Sub(m.config.CycleBasefee.LegacyDec))
}

// block returns the ids of what fires at a height, in order, and of what is found unfunded.
func (m *tipModel) block(height uint64) (fired, unfunded []string) {
	epoch, w := m.epochAt(height), tippolicy.WeightsOf(m.params())
	var competing []*tipTimer
	for _, t := range m.timers {
		if !t.gone && !t.waits && t.due <= height && t.fee.GTE(m.config.CycleBasefee.LegacyDec) {
			competing = append(competing, t)
		}
	}
	weights := map[string]uint32{}
	for _, t := range competing {
		weight := m.weight(t.actor, epoch)
		for _, other := range competing {
			if other.actor == t.actor && height >= max(other.due, m.lastFire[t.actor])+w.StarvationBlocks {
				weight = math.LegacyMaxDec(weight, w.Floor)
			}
		}
		weights[t.actor] = tip.Units(weight)
	}
	slices.SortStableFunc(competing, func(a, b *tipTimer) int {
		tipA, tipB := m.effective(a), m.effective(b)
		return cmp.Or(tipB.BigInt().Cmp(tipA.BigInt()), cmp.Compare(weights[b.actor], weights[a.actor]), cmp.Compare(a.due, b.due))
	})
	total := uint64(0)
	for _, weight := range weights {
		total += uint64(weight)
	}
	used, byActor, firesOf, before := uint64(0), map[string]uint64{}, map[string]int{}, map[string]uint64{}
	for actor, last := range m.lastFire {
		before[actor] = last
	}
	var tips []math.LegacyDec
	var sizes []uint64
	for pass := range 2 {
		for _, t := range competing {
			slice := m.config.LaneTimerCycles * uint64(weights[t.actor]) / total
			switch {
			case t.gone || t.waits || used+t.gas > m.config.LaneTimerCycles:
				continue
			case pass == 0 && firesOf[t.actor] > 0 && byActor[t.actor]+t.gas > slice:
				continue
			case t.broke:
				t.waits = true
				unfunded = append(unfunded, t.id)
				m.observed(t.actor, epoch).Unfunded++
				continue
			}
			t.gone = true
			fired = append(fired, t.id)
			tips = append(tips, m.effective(t))
			o := m.observed(t.actor, epoch)
			w.Fire(o, tip.Fire{Tip: m.effective(t), P50: m.p50, Success: !t.fails, Late: height - t.due})
			o.Starved = o.Starved || height >= max(t.due, before[t.actor])+w.StarvationBlocks
			sizes = append(sizes, 20_000+t.burn)
			used += 20_000 + t.burn
			byActor[t.actor] += 20_000 + t.burn
			firesOf[t.actor]++
			m.lastFire[t.actor] = height
		}
	}
	for actor, cycles := range byActor {
		w.EndBlock(m.observed(actor, epoch), cycles, m.config.LaneTimerCycles)
	}
	m.p50 = m.nextP50(competing, tips, sizes, used)
	return fired, unfunded
}

// nextP50 counts out each unit of size that was fired, at its tip, and takes the middle one. Tips bought something if a
// timer that competed and is no larger than the default was left.
func (m *tipModel) nextP50(competing []*tipTimer, tips []math.LegacyDec, sizes []uint64, used uint64) math.LegacyDec {
	median, waiting := math.LegacyZeroDec(), false
	if len(tips) > 0 {
		var all []math.LegacyDec
		for i, size := range sizes {
			for range size / 1_000 {
				all = append(all, tips[i])
			}
		}
		slices.SortFunc(all, func(a, b math.LegacyDec) int { return a.BigInt().Cmp(b.BigInt()) })
		median = all[(len(all)-1)/2]
	}
	for _, t := range competing {
		waiting = waiting || !t.gone && !t.waits && used+t.gas > m.config.LaneTimerCycles
	}
	if waiting {
		return median
	}
	return math.LegacyMinDec(median, m.p50.QuoInt64(2))
}

// TestTipMatchesTheModel: random timers of a few actors, one of whom never has funds; what fires, in which order, and
// every weight after every block are the model's.
func TestTipMatchesTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFixture(t, withConfig(byTip), withConfig(laneOf(300_000)), withConfig(func(c *types.TimerConfig) {
			setTip(c, func(p *tippolicy.Params) { p.EpochBlocks = rapid.Uint64Range(1, 4).Draw(t, "epoch") })
			setTip(c, func(p *tippolicy.Params) { p.StarvationBlocks = rapid.Uint64Range(1, 4).Draw(t, "starvation") })
			setTip(c, func(p *tippolicy.Params) {
				p.WeightNeutral = decimal.Of(rapid.SampledFrom([]math.LegacyDec{dec("0.1"), dec("0.5"), dec("0.7")}).Draw(t, "neutral"))
			})
			setTip(c, func(p *tippolicy.Params) {
				p.StarvationFloor = decimal.Of(rapid.SampledFrom([]math.LegacyDec{dec("0.1"), dec("0.75"), dec("1")}).Draw(t, "floor"))
			})
		}))
		m := &tipModel{
			config: f.config(), epochs: map[string]map[uint64]*tip.EpochStats{}, lastFire: map[string]uint64{}, p50: math.LegacyZeroDec(),
		}
		pauper := sdk.AccAddress("robot-pauper________")
		f.fund(pauper, 1)
		actors := []sdk.AccAddress{robot, robot2, pauper}
		for i := range 2 {
			actors = append(actors, sdk.AccAddress(fmt.Sprintf("robot-%d_____________", i)))
			f.fund(actors[3+i], rich)
		}
		scripts := map[bool]map[uint64][]byte{true: {}, false: {}}
		for _, burn := range []uint64{0, 15_000, 90_000} {
			scripts[false][burn] = f.burner(burn)
			scripts[true][burn] = f.script(func(ctx sdk.Context, _ types.Delivery) error {
				ctx.GasMeter().ConsumeGas(burn, "test")
				return types.ErrInvalidPayload
			})
		}
		for range rapid.IntRange(4, 16).Draw(t, "blocks") {
			for range rapid.IntRange(0, 6).Draw(t, "timers") {
				actor := rapid.SampledFrom(actors).Draw(t, "actor")
				timer := &tipTimer{
					actor: string(actor), due: f.Height() + 1 + rapid.Uint64Range(1, 3).Draw(t, "in"), broke: actor.Equals(pauper),
					burn: rapid.SampledFrom([]uint64{0, 15_000, 90_000}).Draw(t, "burn"), fails: rapid.Bool().Draw(t, "fails"),
					fee: dec("9"), tip: dec(rapid.SampledFrom([]string{"0", "0", "0.5", "1"}).Draw(t, "tip")),
				}
				timer.gas = timer.burn + rapid.SampledFrom([]uint64{40_000, 60_000}).Draw(t, "gas")
				timer.id = f.schedule(actor, timer.due, scripts[timer.fails][timer.burn], limited(timer.gas),
					bidding(&types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(timer.fee), MaxPriorityFeePerCycle: decimal.Of(timer.tip)}}))
				m.timers = append(m.timers, timer)
			}
			height := uint64(f.Ctx().BlockHeight())
			events := f.NextBlock()
			fired, unfunded := m.block(height)
			require.Equal(t, fired, f.firedIDs(events), "height %d", height)
			var deferred []string
			for _, event := range eventsOf[*types.TimerDeferredInsufficientFunds](f, events) {
				deferred = append(deferred, event.Id)
			}
			require.Equal(t, unfunded, deferred, "height %d", height)
			for _, actor := range actors {
				// What the query calls the next block is the one after the open one.
				require.Equal(t, m.weight(string(actor), m.epochAt(height+2)).String(), f.tipStanding(actor).Weight, "height %d", height)
			}
		}
	})
}
