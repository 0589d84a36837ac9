// Package metrics is what a node shows of its timers to Prometheus (docs/operate/operate.md): it counts what package report tells
// it. It is no part of what runs in a block, which knows the interface report.Reporter alone. Metrics are those of the
// process: a block that a node runs twice, as optimistic execution may, counts twice.
package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// namespace is the first word of every name.
const namespace = "timers"

// Metrics are the module's metrics. They are safe for concurrent use.
type Metrics struct {
	fires      *prometheus.CounterVec
	lateness   prometheus.Histogram
	left       *prometheus.CounterVec
	onHold     *prometheus.CounterVec
	released   *prometheus.CounterVec
	burned     prometheus.Counter
	laneBurned prometheus.Counter
	tips       prometheus.Counter
	billed     prometheus.Counter
	gcCycles   prometheus.Counter
	overhead   prometheus.Counter
	agentCalls *prometheus.CounterVec
	watchHits  prometheus.Counter
	turns      *prometheus.CounterVec
	failures   *prometheus.CounterVec

	basefee      prometheus.Gauge
	p50          prometheus.Gauge
	cycleBasefee prometheus.Gauge
	cellBasefee  prometheus.Gauge
	use          *prometheus.GaugeVec
	capacity     *prometheus.GaugeVec
	competing    prometheus.Gauge
	deferred     prometheus.Gauge
	storm        prometheus.Gauge
	paused       prometheus.Gauge
	height       prometheus.Gauge
	pending      *pending

	duration   prometheus.Histogram
	steps      *prometheus.CounterVec
	operations *prometheus.CounterVec
}

var _ report.Reporter = (*Metrics)(nil)

// Default returns the metrics that are registered where the SDK's API server and CometBFT's instrumentation read.
var Default = sync.OnceValue(func() *Metrics { return New(prometheus.DefaultRegisterer) })

// latenessBuckets are blocks. The first holds the fires that were on time.
var latenessBuckets = []float64{0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 20_000, 100_000}

// durationBuckets are seconds.
var durationBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// New returns metrics that are registered with a registerer. It panics if they are registered there already.
func New(registerer prometheus.Registerer) *Metrics {
	f := factory{registerer}
	m := &Metrics{
		fires:      f.counters("fires_total", "Fires, by the runtime of the actor and by whether the handler succeeded.", "runtime", "outcome"),
		lateness:   f.histogram("fire_lateness_blocks", "Blocks from the height at which a timer became due to its fire.", latenessBuckets),
		left:       f.counters("removed_total", "Timers that left at the end of a block without a fire, by reason.", "reason"),
		onHold:     f.counters("held_total", "Timers that the end of a block puts on hold, by reason.", "reason"),
		released:   f.counters("released_total", "Timers that the end of a block returned to the queue, by the reason for which they were put on hold.", "reason"),
		burned:     f.counter("burned_total", "What was burned, in the fee denom. It includes timers_lane_burned_total and timers_agent_billed_total."),
		laneBurned: f.counter("lane_burned_total", "What was burned as lane fee, in the fee denom."),
		tips:       f.counter("tips_total", "What was paid to proposers, in the fee denom."),
		billed:     f.counter("agent_billed_total", "What calls of bidding agents cost that no fire followed, in the fee denom."),
		gcCycles:   f.counter("gc_cycles_total", "Cycles of the GC lane that removals used."),
		overhead:   f.counter("overhead_cycles_total", "Cycles of overhead_cycles_per_block that were used, those of removals included."),
		agentCalls: f.counters("agent_calls_total", "Calls of bidding agents, by outcome; unasked ones were not made.", "outcome"),
		watchHits:  f.counter("watch_hits_total", "Watches that a change of watched state made due, or to whose fire it was added."),
		turns:      f.counters("turns_total", "Timers whose turn came, by what became of it.", "verdict"),
		failures:   f.counters("failures_total", "Failures that need an operator, by kind.", "kind"),

		basefee:      f.gauge("lane_basefee", "Lane basefee of the last block, in the fee denom per unit of size."),
		p50:          f.gauge("p50_tip", "Usual tip in the last block, in the fee denom per unit of size."),
		cycleBasefee: f.gauge("cycle_basefee", "Chain's price of a cycle in the last block, in the fee denom."),
		cellBasefee:  f.gauge("cell_basefee", "Chain's price of a cell in the last block, in the fee denom."),
		use:          f.gauges("lane_used", "What the fires of the last block used of the lane, by resource.", "resource"),
		capacity:     f.gauges("lane_capacity", "What the lane holds, by resource.", "resource"),
		competing:    f.gauge("competing", "Ready timers that competed in the last block, those that fired among them."),
		deferred:     f.gauge("ready", "Ready timers that the last block read and left for later ones."),
		storm:        f.gauge("storm", "1 while more timers are ready than compete at once, else 0."),
		paused:       f.gauge("lane_paused", "1 while governance has paused the lane, else 0."),
		height:       f.gauge("height", "Height of the last block whose end was run."),
		pending:      newPending(),

		duration:   f.histogram("end_block_duration_seconds", "Time that the end of a block took.", durationBuckets),
		steps:      f.counters("end_block_step_seconds_total", "Time that the end of blocks took, by step.", "step"),
		operations: f.counters("store_operations_total", "Operations on state at the end of blocks, by kind.", "operation"),
	}
	registerer.MustRegister(m.pending)
	m.begin()
	return m
}

// runtimes are the names of the module's own runtimes, and what stands for none. A chain may add others.
var runtimes = []string{"account", "module", "wasm", report.NoRuntime}

// begin makes the series whose labels are known, so that a rate is right from the first event on, and a dashboard is not
// empty where nothing has happened yet.
func (m *Metrics) begin() {
	for _, reason := range []string{reasonExpired, reasonUnfunded, reasonNotAdmin} {
		m.left.WithLabelValues(reason)
	}
	for _, kind := range []string{report.KindLane, report.KindQuarantine, report.KindBasefeeSource, report.KindWatch} {
		m.failures.WithLabelValues(kind)
	}
	for _, reason := range HoldReasons {
		m.onHold.WithLabelValues(reason)
	}
	for _, verdict := range TurnVerdicts {
		m.turns.WithLabelValues(verdict.Word())
	}
	for _, reason := range ReleaseReasons {
		m.released.WithLabelValues(reason)
	}
	for _, runtime := range runtimes {
		for _, fire := range []types.Receipt{{Success: true}, {}} {
			m.fires.WithLabelValues(runtime, outcomeOf(&fire))
		}
	}
	m.fires.WithLabelValues(report.NoRuntime, outcomeOf(&types.Receipt{Guarded: true})) // A guarded fire runs no handler.
	for _, outcome := range []string{callAnswered, callFailed, callUnasked} {
		m.agentCalls.WithLabelValues(outcome)
	}
	m.CountOperations(&report.Operations{})
}

// factory makes metrics and registers them.
type factory struct{ prometheus.Registerer }

func (f factory) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
	f.MustRegister(c)
	return c
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	f.MustRegister(c)
	return c
}

func (f factory) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
	f.MustRegister(g)
	return g
}

func (f factory) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
	f.MustRegister(g)
	return g
}

func (f factory) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
	f.MustRegister(h)
	return h
}
