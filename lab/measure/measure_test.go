package measure_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// measure is how much of the lane the fires of a block have taken.
type measure interface {
	fits(limit units) bool
	spend(used units)
	// use is what moves the basefee.
	use() market.Use
}

// units are cycles and cells.
type units struct{ cycles, cells uint64 }

// perFire is the module's measure: the sum of the sizes of the fires.
type perFire struct{ market.Budget }

func (p *perFire) fits(limit units) bool { return p.Fits(p.Size(limit.cycles, limit.cells)) }
func (p *perFire) spend(used units)      { p.Spend(used.cycles, used.cells) }
func (p *perFire) use() market.Use       { return market.Use{Size: p.UsedSize, Fires: p.Fires} }

// perBlock is the alternative: the sum of the cycles, or the sum of the cells, whichever is the larger share.
type perBlock struct {
	market.Capacity
	sum   units
	fires uint32
}

func (p *perBlock) fits(limit units) bool {
	return p.sum.cycles+limit.cycles <= p.Cycles && p.sum.cells+limit.cells <= p.Cells
}

func (p *perBlock) spend(used units) {
	p.sum.cycles, p.sum.cells, p.fires = p.sum.cycles+used.cycles, p.sum.cells+used.cells, p.fires+1
}

func (p *perBlock) use() market.Use {
	return market.Use{Size: p.Size(p.sum.cycles, p.sum.cells), Fires: p.fires}
}

// rule is a measure and a lane.
type rule struct {
	name     string
	capacity market.Capacity
	open     func(market.Capacity) measure
}

// byDefault is the lane of the default config.
var byDefault = market.Capacity{Cycles: 2_000_000, Cells: 2_000_000}

func openPerFire(c market.Capacity) measure  { return &perFire{market.Budget{Capacity: c}} }
func openPerBlock(c market.Capacity) measure { return &perBlock{Capacity: c} }

// compared are the two measures.
var compared = []rule{{"per fire", byDefault, openPerFire}, {"per block", byDefault, openPerBlock}}

// roomier is the module's measure with a lane of twice the cells.
var roomier = rule{"per fire, 2 × cells", market.Capacity{Cycles: byDefault.Cycles, Cells: 2 * byDefault.Cells}, openPerFire}

// timer of a simulated chain. It is due when it arrives, and gone after patience blocks; an attacker's after one.
type timer struct {
	arrived  uint64
	seq      uint64
	uses     units
	ask      market.Ask
	watched  bool
	attacker bool
}

const patience = 60

// limits are what a timer reserves: a third more than it uses, and at least the default cell limit. An attacker reserves
// what it uses.
func (t *timer) limits() units {
	if t.attacker {
		return t.uses
	}
	return units{t.uses.cycles + t.uses.cycles/3, max(20_000, t.uses.cells+t.uses.cells/3)}
}

// result of a run.
type result struct {
	blocks uint64
	fires  uint64
	// offered and served are the fees per unit of size that timers were willing to pay, times their sizes.
	offered, served math.LegacyDec
	basefees        math.LegacyDec
	// waits of the watched timers that fired, and what they paid per unit of size; left did not fire.
	waits []uint64
	left  int
	price math.LegacyDec
	// attack is what the attacker paid.
	attack math.Int
}

// trial runs policy eip1559 at its defaults.
type trial struct {
	rule
	rules   market.EIP1559
	config  types.TimerConfig
	waiting []*timer
	seq     uint64
	last    market.Last
	p50     math.LegacyDec
	result
}

func newMarket(by rule) *trial {
	config := types.DefaultTimerConfig(sdk.DefaultBondDenom)
	zero := math.LegacyZeroDec()
	return &trial{
		rule: by, rules: config.Eip1559.Rules(&config), config: config,
		last: market.Last{Basefee: config.Eip1559.MinLaneBasefee.LegacyDec}, p50: zero,
		result: result{offered: zero, served: zero, basefees: zero, price: zero, attack: math.ZeroInt()},
	}
}

// block adds what arrives and fires what fits.
func (m *trial) block(arrivals []*timer) {
	m.blocks++
	prices := market.Prices{
		Height: m.blocks, Capacity: m.capacity, Cycle: m.config.CycleBasefee.LegacyDec, Cell: m.config.CellBasefee.LegacyDec,
		Lane: m.rules.LaneBasefee(m.config.CycleBasefee.LegacyDec, m.last), P50: m.p50,
	}
	m.basefees = m.basefees.Add(prices.Lane)
	for _, t := range arrivals {
		m.seq++
		t.arrived, t.seq = m.blocks, m.seq
		m.waiting = append(m.waiting, t)
		if t.ask.Kind == market.Stated && !t.attacker {
			m.offered = m.offered.Add(m.worth(t))
		}
	}
	used := m.open(m.capacity)
	var tips []tip
	noRoom := false
	fired := map[*timer]bool{}
	for _, i := range m.rules.Order(prices, m.candidates()) {
		t := m.waiting[i]
		if !used.fits(t.limits()) {
			noRoom = true
			continue
		}
		used.spend(t.uses)
		fired[t] = true
		price, _ := m.rules.Price(prices, m.candidate(t))
		tips = append(tips, tip{price.Priority, m.capacity.Size(t.uses.cycles, t.uses.cells)})
		m.account(t, price)
	}
	m.last = market.Last{Basefee: prices.Lane, Use: used.use()}
	m.setUsualTip(tips, noRoom)
	m.waiting = slices.DeleteFunc(m.waiting, func(t *timer) bool {
		gone := t.attacker || m.blocks >= t.arrived+patience
		if t.watched && gone && !fired[t] {
			m.left++
		}
		return fired[t] || gone
	})
}

func (m *trial) worth(t *timer) math.LegacyDec {
	return t.ask.Stated.MaxFee.MulInt(math.NewIntFromUint64(byDefault.Size(t.uses.cycles, t.uses.cells)))
}

func (m *trial) account(t *timer, price market.Price) {
	m.fires++
	switch {
	case t.attacker:
		m.attack = m.attack.Add(price.Cost(t.uses.cycles, t.uses.cells))
	case t.watched:
		m.waits = append(m.waits, m.blocks-t.arrived)
		m.price = m.price.Add(price.Lane).Add(price.Priority)
	default:
		m.served = m.served.Add(m.worth(t))
	}
}

func (m *trial) candidate(t *timer) market.Candidate {
	limits := t.limits()
	return market.Candidate{Due: t.arrived, Seq: t.seq, Size: m.capacity.Size(limits.cycles, limits.cells), Ask: t.ask, Weight: 16}
}

func (m *trial) candidates() []market.Candidate {
	candidates := make([]market.Candidate, len(m.waiting))
	for i, t := range m.waiting {
		candidates[i] = m.candidate(t)
	}
	return candidates
}

// tip per unit of size, of a fire of some size.
type tip struct {
	price math.LegacyDec
	size  uint64
}

// setUsualTip is p50: the median tip, weighted by size; it halves where no one waited for room.
func (m *trial) setUsualTip(tips []tip, noRoom bool) {
	slices.SortFunc(tips, func(a, b tip) int { return a.price.BigInt().Cmp(b.price.BigInt()) })
	var all, half uint64
	for _, t := range tips {
		all += t.size
	}
	median := math.LegacyZeroDec()
	for _, t := range tips {
		if median, half = t.price, half+t.size; 2*half >= all {
			break
		}
	}
	if !noRoom {
		median = math.LegacyMinDec(median, m.p50.QuoInt64(2))
	}
	m.p50 = median
}

// demand draws what arrives in a block.
type demand func(r *rand.Rand, block int) []*timer

// between draws from least to most.
func between(r *rand.Rand, least, most uint64) uint64 { return least + r.Uint64N(most-least+1) }

// The kinds of fires: what they use.
func transfer(r *rand.Rand) units {
	return units{between(r, 36_000, 60_000), between(r, 130, 300)}
}

func contract(r *rand.Rand) units {
	return units{between(r, 60_000, 180_000), between(r, 500, 5_000)}
}

func writer(r *rand.Rand) units {
	return units{between(r, 30_000, 60_000), between(r, 60_000, 180_000)}
}

// bidding is a timer whose fee is from the floor to 256 times that, most often in the middle, with a tenth as a tip.
func bidding(r *rand.Rand, uses units) *timer {
	fee := math.LegacyNewDecWithPrec(1, 3)
	for range 16 {
		if r.IntN(2) == 0 {
			fee = fee.MulInt64(1_414_213_562).QuoInt64(1_000_000_000)
		}
	}
	return &timer{uses: uses, ask: market.StatedAsk(fee, fee.QuoInt64(10))}
}

// steady offers the lane `load` tenths of what it holds, by size, in each block.
func steady(load uint64, draw func(*rand.Rand) units) demand {
	return func(r *rand.Rand, _ int) (arrivals []*timer) {
		for left := load * byDefault.Cycles / 10; ; {
			t := bidding(r, draw(r))
			size := byDefault.Size(t.uses.cycles, t.uses.cells)
			if size > left {
				return arrivals
			}
			left -= size
			arrivals = append(arrivals, t)
		}
	}
}

// bursts offers the demand of twenty blocks in every twentieth.
func bursts(each demand) demand {
	return func(r *rand.Rand, block int) (arrivals []*timer) {
		if block%20 != 0 {
			return nil
		}
		for range 20 {
			arrivals = append(arrivals, each(r, block)...)
		}
		return arrivals
	}
}

// mixing draws from two kinds, of which the second has so many tenths.
func mixing(first, second func(*rand.Rand) units, tenths int) func(*rand.Rand) units {
	return func(r *rand.Rand) units {
		if r.IntN(10) < tenths {
			return second(r)
		}
		return first(r)
	}
}

var demands = []struct {
	name string
	demand
}{
	{"transfers, at 8 tenths", steady(8, transfer)},
	{"transfers, at 20 tenths", steady(20, transfer)},
	{"contracts, at 20 tenths", steady(20, contract)},
	{"one writer in ten, at 8 tenths", steady(8, mixing(contract, writer, 1))},
	{"one writer in ten, at 20 tenths", steady(20, mixing(contract, writer, 1))},
	{"half writers, at 8 tenths", steady(8, mixing(contract, writer, 5))},
	{"half writers, at 20 tenths", steady(20, mixing(contract, writer, 5))},
	{"bursts of one writer in ten, at 8 tenths", bursts(steady(8, mixing(contract, writer, 1)))},
	{"bursts of half writers, at 8 tenths", bursts(steady(8, mixing(contract, writer, 5)))},
}

// run has a bystander with the default bid in every other block.
func run(by rule, d demand, blocks int) *trial {
	m, r := newMarket(by), rand.New(rand.NewPCG(14, 1))
	for block := range blocks {
		arrivals := d(r, block)
		if block%2 == 0 {
			arrivals = append(arrivals, &timer{uses: transfer(r), watched: true})
		}
		m.block(arrivals)
	}
	return m
}

// attacks fill the lane to the last unit, with tips above all others, for as long as they last.
var attacks = []struct {
	name  string
	fires func(block int) []units
}{
	{"all cycles", func(int) []units { return filling(units{250_000, 130}) }},
	{"all cells", func(int) []units { return filling(units{30_000, 250_000}) }},
	{"cycles and cells in turns", func(block int) []units {
		return [][]units{filling(units{250_000, 130}), filling(units{30_000, 250_000})}[block%2]
	}},
	{"half of the cycles, half of the cells", func(int) []units {
		return append(filling(units{250_000, 130})[:4], filling(units{30_000, 250_000})[:4]...)
	}},
	{"both at once", func(int) []units { return filling(units{250_000, 250_000}) }},
}

// filling are the eight fires of a full lane.
func filling(each units) []units { return slices.Repeat([]units{each}, 8) }

// attacked runs an attack for so many blocks beside a bystander in every third block, and then lets it end.
func attacked(by rule, fires func(block int) []units, blocks int) *trial {
	m, r := newMarket(by), rand.New(rand.NewPCG(14, 2))
	for block := range blocks + patience {
		var arrivals []*timer
		if block < blocks {
			for _, uses := range fires(block) {
				arrivals = append(arrivals, &timer{
					uses: uses, attacker: true, ask: market.StatedAsk(math.LegacyNewDec(1_000), math.LegacyNewDecWithPrec(5, 2)),
				})
			}
			if block%3 == 0 {
				arrivals = append(arrivals, &timer{uses: transfer(r), watched: true})
			}
		}
		m.block(arrivals)
	}
	return m
}

func average(sum math.LegacyDec, n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f", sum.QuoInt64(int64(n)).MustFloat64())
}

func mean(values []uint64) string {
	var sum uint64
	for _, v := range values {
		sum += v
	}
	return fmt.Sprintf("%.1f", float64(sum)/float64(max(1, len(values))))
}

var update = flag.Bool("update", false, "write testdata/table.txt")

// TestTable compares the two measures. docs/use/market.md quotes it.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "demand\tmeasure\tfires a block\tvalue served\tbasefee\tbystander: price\twait\tdid not fire")
	for _, d := range demands {
		for _, by := range append(slices.Clone(compared), roomier) {
			m := run(by, d.demand, 400)
			fmt.Fprintf(w, "%s\t%s\t%.1f\t%.0f %%\t%s\t%s\t%s\t%d\n", d.name, by.name, float64(m.fires)/float64(m.blocks),
				100*m.served.Quo(m.offered).MustFloat64(), average(m.basefees, int(m.blocks)), average(m.price, len(m.waits)), mean(m.waits), m.left)
		}
	}
	fmt.Fprintln(w, "\nattack\tmeasure\tcost of 20 blocks\tof 40\tof 60\tbystander: wait in 60\tlongest\t")
	for _, a := range attacks {
		for _, by := range compared {
			fmt.Fprintf(w, "%s\t%s", a.name, by.name)
			var m *trial
			for _, blocks := range []int{20, 40, 60} {
				m = attacked(by, a.fires, blocks)
				fmt.Fprintf(w, "\t%s", m.attack)
			}
			fmt.Fprintf(w, "\t%s\t%d\t\n", mean(m.waits), slices.Max(append(m.waits, 0)))
		}
	}
	require.NoError(t, w.Flush())
	if *update {
		require.NoError(t, os.WriteFile("testdata/table.txt", out.Bytes(), 0o644))
	}
	want, err := os.ReadFile("testdata/table.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}
