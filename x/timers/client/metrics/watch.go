package metrics

import (
	"time"

	"github.com/cosmos-timers/timers/x/timers/report"
)

// stopwatch times the end of one block, step by step.
type stopwatch struct {
	metrics    *Metrics
	begun, lap time.Time
}

// Start implements report.Reporter.
func (m *Metrics) Start() report.Stopwatch {
	now := time.Now()
	return &stopwatch{m, now, now}
}

// Lap adds the time since the last lap to that of a step.
func (s *stopwatch) Lap(step string) {
	now := time.Now()
	s.metrics.steps.WithLabelValues(step).Add(now.Sub(s.lap).Seconds())
	s.lap = now
}

// Stop observes the whole time.
func (s *stopwatch) Stop() {
	s.metrics.duration.Observe(time.Since(s.begun).Seconds())
}
