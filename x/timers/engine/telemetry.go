package engine

import (
	"github.com/hashicorp/go-metrics"

	"github.com/cosmos/cosmos-sdk/telemetry"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Metrics are written and never read back; this is the one file of the engine with floats. Names and labels never
// contain user input.

// countBlock reports a block that did something.
func countBlock(b *block) {
	count("fired", len(b.receipts))
	count("failed", int(b.failed))
	count("expired", int(b.expired))
	count("unfunded", int(b.unfunded))
	count("set_aside", int(b.setAside))
	telemetry.SetGauge(float32(b.Lane.Cycles), types.ModuleName, "lane", "cycles")
	telemetry.SetGauge(float32(b.Lane.Cells), types.ModuleName, "lane", "cells")
	telemetry.SetGauge(float32(b.deferred+b.Departed), types.ModuleName, "lane", "ready")
}

func countLaneFailed() { count("lane_failed", 1) }

func countBasefeeSourceFailed() { count("basefee_source_failed", 1) }

func count(outcome string, n int) {
	if n > 0 {
		telemetry.IncrCounterWithLabels([]string{types.ModuleName, "outcomes", "total"}, float32(n), []metrics.Label{telemetry.NewLabel("outcome", outcome)})
	}
}
