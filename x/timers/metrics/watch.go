package metrics

import "time"

// Stopwatch times the end of one block, step by step. A nil one does nothing: what runs the steps for a query is not timed.
// What it measures goes to the metrics and nowhere else.
type Stopwatch struct {
	metrics    *Metrics
	begun, lap time.Time
}

// Start begins to time the end of a block.
func (m *Metrics) Start() *Stopwatch {
	now := time.Now() //nolint:forbidigo // durations are written to metrics and read by nothing else
	return &Stopwatch{m, now, now}
}

// Lap adds the time since the last lap to that of a step.
func (s *Stopwatch) Lap(step string) {
	if s == nil {
		return
	}
	now := time.Now() //nolint:forbidigo // as above
	s.metrics.steps.WithLabelValues(step).Add(now.Sub(s.lap).Seconds())
	s.lap = now
}

// Stop observes the whole time.
func (s *Stopwatch) Stop() {
	s.metrics.duration.Observe(time.Since(s.begun).Seconds()) //nolint:forbidigo // as above
}
