package keeper

import (
	"github.com/hashicorp/go-metrics"

	"github.com/cosmos/cosmos-sdk/telemetry"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Metrics are written and never read back; this is the one file of the engine with floats. Names and labels never carry
// what users say.

// countBlock reports a block that did something.
func countBlock(b *block) {
	count("fired", len(b.receipts))
	count("failed", int(b.failed))
	count("expired", int(b.expiredOut))
	count("unfunded", int(b.unfunded))
	count("set_aside", int(b.setAside))
	telemetry.SetGauge(float32(b.lane.Cycles), types.ModuleName, "lane", "cycles")
	telemetry.SetGauge(float32(b.lane.Cells), types.ModuleName, "lane", "cells")
	telemetry.SetGauge(float32(len(b.ready)), types.ModuleName, "lane", "ready")
}

func countLaneFailed() { count("lane_failed", 1) }

func count(outcome string, n int) {
	if n > 0 {
		telemetry.IncrCounterWithLabels([]string{types.ModuleName, "timers"}, float32(n), []metrics.Label{telemetry.NewLabel("outcome", outcome)})
	}
}
