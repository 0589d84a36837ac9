package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Values of labels.
const (
	reasonExpired, reasonUnfunded         = "expired", "unfunded"
	reasonNotAdmin                        = "not_admin"
	callAnswered, callFailed, callUnasked = "answered", "failed", "unasked"
)

// HoldReasons are those for which the end of a block puts timers on hold. A pause is a transaction's.
var HoldReasons = []string{"quarantined", "unrunnable", "suspended", "unfunded", "priced_out", "not_admin"}

// ReleaseReasons are those from which the end of a block returns timers to the queue.
var ReleaseReasons = []string{"unrunnable", "unfunded", "priced_out"}

// TurnVerdicts are what may become of a timer's turn. Those that are not read, or are priced out when the block ranks, have none;
// one that the module itself fails at is counted among the failures.
var TurnVerdicts = []types.Verdict{
	types.VerdictFires, types.VerdictNoRoom, types.VerdictCapped, types.VerdictPricedOut, types.VerdictNoFunds, types.VerdictNotAdmin,
	types.VerdictPassed,
}

// Count adds a block.
func (m *Metrics) Count(b *report.Block) {
	for _, fire := range b.Fires {
		m.fires.WithLabelValues(fire.Runtime, outcomeOf(fire.Receipt)).Inc()
		m.lateness.Observe(float64(fire.Late))
	}
	m.left.WithLabelValues(reasonExpired).Add(float64(b.Expired))
	m.left.WithLabelValues(reasonUnfunded).Add(float64(b.Unfunded))
	m.left.WithLabelValues(reasonNotAdmin).Add(float64(b.NotAdmin))
	for _, reason := range b.Held {
		m.onHold.WithLabelValues(reason.Word()).Inc()
		if reason == types.Quarantined {
			m.Failed(report.KindQuarantine)
		}
	}
	for _, reason := range b.Released {
		m.released.WithLabelValues(reason.Word()).Inc()
	}
	if b.BasefeeFailure != nil {
		m.Failed(report.KindBasefeeSource)
	}

	m.basefee.Set(number(b.LaneBasefee))
	m.p50.Set(number(b.P50))
	m.cycleBasefee.Set(number(b.CycleBasefee.String()))
	m.cellBasefee.Set(number(b.CellBasefee.String()))
	m.burned.Add(number(b.Burned))
	m.laneBurned.Add(number(b.LaneBurned))
	m.tips.Add(number(b.Tips))
	m.billed.Add(number(b.AgentsBilled))

	setLane(m.use, report.Lane{Size: b.UsedSize, Cycles: b.Cycles, Cells: b.Cells, Fires: uint64(b.Fired)})
	setLane(m.capacity, b.Capacity)
	m.gcCycles.Add(float64(b.GcCycles))
	m.overhead.Add(float64(b.OverheadCycles))
	m.competing.Set(float64(b.Competing))
	m.deferred.Set(float64(b.Deferred))
	m.storm.Set(flag(b.Storm))
	m.paused.Set(flag(b.Paused))
	m.height.Set(float64(b.Height))

	m.agentCalls.WithLabelValues(callAnswered).Add(float64(b.Asked - b.AgentsFailed))
	m.agentCalls.WithLabelValues(callFailed).Add(float64(b.AgentsFailed))
	m.agentCalls.WithLabelValues(callUnasked).Add(float64(b.Unasked))
	m.watchHits.Add(float64(b.WatchHits))
	for _, verdict := range TurnVerdicts {
		m.turns.WithLabelValues(verdict.Word()).Add(float64(b.Turns[verdict]))
	}
}

// CountOperations adds the operations of a block.
func (m *Metrics) CountOperations(o *report.Operations) {
	o.Each(func(kind string, n uint64) { m.operations.WithLabelValues(kind).Add(float64(n)) })
}

// Failed adds a failure of a kind that needs an operator.
func (m *Metrics) Failed(kind string) { m.failures.WithLabelValues(kind).Inc() }

func setLane(gauge *prometheus.GaugeVec, l report.Lane) {
	gauge.WithLabelValues("size").Set(float64(l.Size))
	gauge.WithLabelValues("cycles").Set(float64(l.Cycles))
	gauge.WithLabelValues("cells").Set(float64(l.Cells))
	gauge.WithLabelValues("fires").Set(float64(l.Fires))
}

func outcomeOf(fire *types.Receipt) string {
	switch {
	case fire.Success:
		return "success"
	case fire.Guarded:
		return "guarded"
	}
	return "failure"
}

// number is the nearest float to an amount or a price; 0 for one that is missing.
func number(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 {
		return 0
	}
	return f
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
