package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
)

// report counts a block and logs it. Metrics and logs are written and never read back.
func (e *Engine) report(ctx sdk.Context, b *block) {
	done := &report.Block{
		TimerLaneSummary: b.summary(), Fires: b.made, Held: b.held, Released: b.released,
		CycleBasefee: b.Prices.Cycle, CellBasefee: b.Prices.Cell, BasefeeFailure: b.basefees.Failure,
		Capacity: report.Lane{Size: b.Lane.Cycles, Cycles: b.Lane.Cycles, Cells: b.Lane.Cells, Fires: uint64(b.Lane.MaxFires)},
		Paused:   b.Config.LanePaused, Competing: uint64(b.deferred + b.Left), WatchHits: b.watchHits, Turns: b.outcomes.turns,
	}
	calls := b.Agents.Outcome()
	done.Asked, done.AgentsFailed = calls.Asked, calls.Failed
	e.Reporter.Count(done)
	done.Log(ctx.Logger())
}
