package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// pendingFor is how long a count of the live timers is shown before it is taken again.
const pendingFor = 15 * time.Second

// pending counts the live timers when a scraper asks, from the last committed state. Blocks do not count them.
type pending struct {
	described *prometheus.Desc

	mu    sync.Mutex
	count func() (uint64, error)
	taken time.Time
	last  uint64
	known bool
}

func newPending() *pending {
	name := prometheus.BuildFQName(namespace, "", "pending")
	return &pending{described: prometheus.NewDesc(name, "Live timers: those that wait, are ready, or are on hold. Counted at most every 15 seconds.", nil, nil)}
}

// CountPendingBy sets what counts the live timers, in the last committed state. It is called by scrapers, not in blocks.
// While it returns an error, the metric is missing.
func (m *Metrics) CountPendingBy(count func() (uint64, error)) {
	m.pending.mu.Lock()
	defer m.pending.mu.Unlock()
	m.pending.count, m.pending.known = count, false
}

// Describe implements prometheus.Collector.
func (p *pending) Describe(to chan<- *prometheus.Desc) { to <- p.described }

// Collect implements prometheus.Collector.
func (p *pending) Collect(to chan<- prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count == nil {
		return
	}
	now := time.Now()
	if !p.known || now.Sub(p.taken) >= pendingFor {
		n, err := p.count()
		p.taken, p.last, p.known = now, n, err == nil
	}
	if p.known {
		to <- prometheus.MustNewConstMetric(p.described, prometheus.GaugeValue, float64(p.last))
	}
}
