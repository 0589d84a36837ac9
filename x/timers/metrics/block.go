package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Values of labels that the engine names.
const (
	// ReasonExpired and ReasonUnfunded are why a timer left without a fire.
	ReasonExpired  = "expired"
	ReasonUnfunded = "unfunded"

	// KindLane: BeginBlock or EndBlock failed as a whole. KindQuarantine: an unexpected error set a timer aside.
	// KindBasefeeSource: the chain's fee market gave no usable prices. KindWatch: changes of watched state were lost.
	KindLane          = "lane"
	KindQuarantine    = "quarantine"
	KindBasefeeSource = "basefee_source"
	KindWatch         = "watch"

	callAnswered, callFailed, callUnasked = "answered", "failed", "unasked"
)

// AsideReasons are those for which the end of a block sets timers aside. A pause is a transaction's.
var AsideReasons = []string{"quarantined", "unrunnable", "suspended", "unfunded", "priced_out"}

// Lane is an amount of each of the lane's resources.
type Lane struct{ Size, Cycles, Cells, Fires uint64 }

// Block is what the end of one block did.
type Block struct {
	*types.TimerLaneSummary
	// Fires are the receipts of the block, Runtimes the names of what served them (RuntimeName), in the same order.
	Fires    []*types.Receipt
	Runtimes []string
	// Aside and Released are reasons, one for each timer that was set aside, or returned to the queue.
	Aside, Released []types.SetAsideReason
	// CycleBasefee and CellBasefee are the chain's prices, in the fee denom. BasefeeFailure is why its fee market gave none.
	CycleBasefee, CellBasefee math.LegacyDec
	BasefeeFailure            error
	Capacity                  Lane
	Paused                    bool
	// Competing timers were ready and read.
	Competing uint64
	// Asked counts the calls of agents, AgentsFailed those of them without a usable answer.
	Asked, AgentsFailed uint64
	WatchHits           uint64
}

// Count adds a block.
func (m *Metrics) Count(b *Block) {
	for i, fire := range b.Fires {
		m.fires.WithLabelValues(b.Runtimes[i], outcomeOf(fire.Success)).Inc()
		m.lateness.Observe(float64(fire.Late))
	}
	m.left.WithLabelValues(ReasonExpired).Add(float64(b.Expired))
	m.left.WithLabelValues(ReasonUnfunded).Add(float64(b.Unfunded))
	for _, reason := range b.Aside {
		m.setAside.WithLabelValues(reason.Word()).Inc()
		if reason == types.Quarantined {
			m.Failed(KindQuarantine)
		}
	}
	for _, reason := range b.Released {
		m.released.WithLabelValues(reason.Word()).Inc()
	}
	if b.BasefeeFailure != nil {
		m.Failed(KindBasefeeSource)
	}

	m.basefee.Set(number(b.LaneBasefee))
	m.p50.Set(number(b.P50))
	m.cycleBasefee.Set(number(b.CycleBasefee.String()))
	m.cellBasefee.Set(number(b.CellBasefee.String()))
	m.burned.Add(number(b.Burned))
	m.laneBurned.Add(number(b.LaneBurned))
	m.tips.Add(number(b.Tips))
	m.billed.Add(number(b.AgentsBilled))

	Lane{b.UsedSize, b.Cycles, b.Cells, uint64(b.Fired)}.set(m.use)
	b.Capacity.set(m.capacity)
	m.gcCycles.Add(float64(b.GcCycles))
	m.competing.Set(float64(b.Competing))
	m.deferred.Set(float64(b.Deferred))
	m.storm.Set(flag(b.Storm))
	m.paused.Set(flag(b.Paused))
	m.height.Set(float64(b.Height))

	m.agentCalls.WithLabelValues(callAnswered).Add(float64(b.Asked - b.AgentsFailed))
	m.agentCalls.WithLabelValues(callFailed).Add(float64(b.AgentsFailed))
	m.agentCalls.WithLabelValues(callUnasked).Add(float64(b.Unasked))
	m.watchHits.Add(float64(b.WatchHits))
}

// Failed adds a failure of a kind that needs an operator.
func (m *Metrics) Failed(kind string) { m.failures.WithLabelValues(kind).Inc() }

func (l Lane) set(gauge *prometheus.GaugeVec) {
	gauge.WithLabelValues("size").Set(float64(l.Size))
	gauge.WithLabelValues("cycles").Set(float64(l.Cycles))
	gauge.WithLabelValues("cells").Set(float64(l.Cells))
	gauge.WithLabelValues("fires").Set(float64(l.Fires))
}

func outcomeOf(success bool) string {
	if success {
		return "success"
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
