package replay_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/lab/replay"
	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// model is policy fifo written down once more, as plainly as possible: a slice that is sorted in every block. It has no
// store, no cursors and no windows.
type model struct {
	height   uint64
	seq      int
	alive    []*modelTimer
	balances map[string]uint64
	line     modelLine
}

type modelTimer struct {
	op             *scenario.Op
	seq            int
	gas, expiresAt uint64
	bid            *types.Bid
	// due is when it is due: an update, and being on hold for lack of funds, leave it. It competes from place on: one that is
	// updated when it is overdue, or is on hold, waits for the next block.
	due, place uint64
	onHold     bool
}

// modelLine is the part of a line that the model predicts.
type modelLine struct {
	Fired                        []replay.Fired
	Expired, Unfunded, Cancelled []string
	Rejected                     []int
	Balances                     map[string]uint64
}

const modelMaxCells = 1_000

// op runs an op and tells whether it succeeded.
func (m *model) op(op *scenario.Op) bool {
	at := slices.IndexFunc(m.alive, func(t *modelTimer) bool {
		return t.op.As == op.Timer && (op.By == t.op.By || op.By == "")
	})
	switch op.Kind {
	case "send":
		if op.Amount.IsZero() || m.balances[op.By] < op.Amount.Uint64() {
			return false
		}
		m.balances[op.By] -= op.Amount.Uint64()
		m.balances[op.To] += op.Amount.Uint64()
		return true
	case "schedule":
		due := op.Trigger.Height
		if op.Trigger.After > 0 {
			due = m.height + op.Trigger.After
		}
		if due <= m.height || (op.ExpiresAt != 0 && op.ExpiresAt < due) || len(op.Label) > 64 {
			return false
		}
		m.seq++
		m.alive = append(m.alive, &modelTimer{op, m.seq, op.GasLimit, cmp.Or(op.ExpiresAt, ^uint64(0)), keptBid(op.Bid), due, due, false})
		return true
	case "cancel", "sys_cancel":
		if at >= 0 {
			m.line.Cancelled = append(m.line.Cancelled, op.Timer)
			m.alive = slices.Delete(m.alive, at, at+1)
		}
		return at >= 0 || op.Kind == "sys_cancel"
	case "set":
		return true
	}
	if at < 0 || m.height > m.alive[at].expiresAt {
		return false
	}
	timer := m.alive[at]
	if op.Kind == "update" {
		bid := timer.bid
		if op.Bid != nil {
			bid = keptBid(op.Bid)
		}
		if op.GasLimit == timer.gas && bid.Equal(timer.bid) {
			return true // What is stated as it stands changes nothing.
		}
		m.seq++
		timer.seq, timer.gas, timer.bid, timer.onHold = m.seq, op.GasLimit, bid, false
		if timer.place < m.height {
			timer.place = m.height + 1
		}
		return true
	}
	if op.ExpiresAt <= m.height || op.ExpiresAt < timer.place {
		return false
	}
	timer.expiresAt = op.ExpiresAt
	return true
}

// endBlock cleans up and fires.
func (m *model) endBlock(s *scenario.Scenario) {
	config := &s.Config
	removals := config.GcCyclesPerBlock / market.RemovalCycles
	m.sort(placeOf)
	stay := func(fate func(*modelTimer) bool) {
		m.alive = slices.DeleteFunc(m.alive, func(t *modelTimer) bool {
			return t.place <= m.height && fate(t)
		})
	}
	unfunded := m.scan(config.LanePaused)
	m.sort(placeOf)
	// Those of the queue leave first, then those on hold by their ends, and then who lacks funds.
	leaving := make([]*modelTimer, 0, len(m.alive))
	for _, t := range m.alive {
		if t.place <= m.height && !t.onHold && m.height > t.expiresAt {
			leaving = append(leaving, t)
		}
	}
	for _, t := range m.byEnd() {
		if t.onHold && t.place <= m.height && m.height > t.expiresAt {
			leaving = append(leaving, t)
		}
	}
	for _, t := range unfunded {
		if t.place <= m.height {
			leaving = append(leaving, t)
		}
	}
	leaving = leaving[:min(uint64(len(leaving)), removals)]
	removals -= uint64(len(leaving))
	for _, t := range leaving {
		if m.height > t.expiresAt {
			m.line.Expired = append(m.line.Expired, t.op.As)
		} else {
			m.line.Unfunded = append(m.line.Unfunded, t.op.As)
		}
	}
	stay(func(t *modelTimer) bool { return slices.Contains(leaving, t) })
	m.sort(func(t *modelTimer) uint64 { return t.due })
	var used uint64
	firesOf := map[string]uint32{}
	stay(func(t *modelTimer) bool {
		owner, fires := t.op.By, uint32(len(m.line.Fired))
		switch {
		case t.onHold, config.LanePaused, m.height > t.expiresAt, used+t.gas > config.LaneTimerCycles,
			config.MaxFiresPerBlock != 0 && fires >= config.MaxFiresPerBlock,
			config.MaxFiresPerActor != 0 && firesOf[owner] >= config.MaxFiresPerActor:
			return false
		case m.balances[owner] < modelCost(t.gas, modelMaxCells):
			if removals > 0 {
				removals--
				m.line.Unfunded = append(m.line.Unfunded, t.op.As)
				return true
			}
			t.onHold = true
			return false
		}
		fired := modelFire(t)
		fired.Late = m.height - t.due
		m.balances[owner] -= modelCost(fired.Cycles, fired.Cells)
		used += fired.Cycles
		firesOf[owner]++
		m.line.Fired = append(m.line.Fired, fired)
		return true
	})
}

// placeOf is where a timer stands in the queue.
func placeOf(t *modelTimer) uint64 { return t.place }

// keptBid is what fifo keeps of a bid: an integer is withdrawn.
func keptBid(stated *types.Bid) *types.Bid {
	if stated == nil || stated.Price != "" {
		return nil
	}
	return stated
}

// sort puts the timers in the order of a height and of their seq, those on hold last and by seq.
func (m *model) sort(heightOf func(*modelTimer) uint64) {
	slices.SortFunc(m.alive, func(a, b *modelTimer) int {
		switch {
		case a.onHold && b.onHold:
			return cmp.Compare(a.seq, b.seq)
		case a.onHold != b.onHold && a.onHold:
			return 1
		case a.onHold != b.onHold:
			return -1
		}
		return cmp.Or(cmp.Compare(heightOf(a), heightOf(b)), cmp.Compare(a.seq, b.seq))
	})
}

// byEnd are the timers by their ends, as those on hold are looked at.
func (m *model) byEnd() []*modelTimer {
	all := slices.Clone(m.alive)
	slices.SortFunc(all, func(a, b *modelTimer) int {
		return cmp.Or(cmp.Compare(a.expiresAt, b.expiresAt), cmp.Compare(a.seq, b.seq))
	})
	return all
}

// scan returns what was on hold to the queue, as far as the funds of its payer go, and returns what they do not suffice
// for at all.
func (m *model) scan(paused bool) (unfunded []*modelTimer) {
	if paused {
		return nil
	}
	promised := map[string]uint64{}
	for _, t := range m.byEnd() {
		cost, has := modelCost(t.gas, modelMaxCells), m.balances[t.op.By]
		switch {
		case !t.onHold || m.height > t.expiresAt:
		case promised[t.op.By]+cost <= has:
			promised[t.op.By] += cost
			t.onHold, t.place = false, max(t.place, m.height)
		case cost > has:
			unfunded = append(unfunded, t)
		}
	}
	return unfunded
}

// modelCost is 0.001 a cycle and 0.03 a cell, rounded up.
func modelCost(cycles, cells uint64) uint64 { return (cycles + 30*cells + 999) / 1_000 }

// modelFire is the fire of a handler that runs no ops.
func modelFire(t *modelTimer) replay.Fired {
	fired := replay.Fired{Timer: t.op.As, Cycles: 20_000 + t.op.Do.Cycles, Cells: t.op.Do.Cells}
	switch do := t.op.Do; {
	case fired.Cycles > t.gas:
		fired.Cycles, fired.Cells, fired.Code = t.gas, 0, 41
	case fired.Cells > modelMaxCells:
		fired.Cells, fired.Code = modelMaxCells, 42
	case do.Fail:
		fired.Code = 4
	case do.Panic:
		fired.Code = 40
	case do.SpendAll:
		fired.Cycles, fired.Code = t.gas, 41
	}
	fired.OK = fired.Code == 0
	return fired
}

// TestTheModuleDoesWhatThePlainModelDoes runs random scenarios through the module and through the model, and compares
// every fire, every removal, every refusal and every balance.
func TestTheModuleDoesWhatThePlainModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, _ := drawScenario(t, true)
		s, err := scenario.Parse(data)
		require.NoError(t, err)
		m := &model{balances: map[string]uint64{}}
		for _, account := range s.Accounts {
			m.balances[account.Name] = account.Balance.Uint64()
		}
		require.NoError(t, replay.Run(s, func(line *replay.Line) error {
			m.block(s)
			require.Equal(t, m.line, asModelLine(t, line), "height %d of %s", line.Height, data)
			require.Len(t, m.alive, int(line.Pending))
			return nil
		}))
	})
}

func (m *model) block(s *scenario.Scenario) {
	m.height++
	m.line = modelLine{Balances: m.balances}
	for _, i := range s.Order() {
		if op := &s.Ops[i]; op.At == m.height && !m.op(op) {
			m.line.Rejected = append(m.line.Rejected, i)
		}
	}
	m.endBlock(s)
	for _, names := range [][]string{m.line.Expired, m.line.Unfunded, m.line.Cancelled} {
		slices.Sort(names)
	}
}

// asModelLine returns the part of a line that the model predicts.
func asModelLine(t *rapid.T, line *replay.Line) modelLine {
	out := modelLine{Balances: map[string]uint64{}}
	for _, fired := range line.Fired {
		require.Equal(t, fmt.Sprint(modelCost(fired.Cycles, fired.Cells)), fired.Paid)
		require.Equal(t, "0", fired.Tip)
		fired.Paid, fired.Tip = "", ""
		out.Fired = append(out.Fired, fired)
	}
	for _, rejected := range line.Rejected {
		out.Rejected = append(out.Rejected, rejected.Op)
	}
	out.Expired = append(out.Expired, line.Expired...)
	out.Unfunded = append(out.Unfunded, line.Unfunded...)
	out.Cancelled = append(out.Cancelled, line.Cancelled...)
	for name, amount := range line.Balances {
		balance, err := strconv.ParseUint(amount, 10, 64)
		require.NoError(t, err)
		out.Balances[name] = balance
	}
	return out
}
