// Package engine fires timers at the end of each block: the steps, one execute loop, the settlement of a fire, and its
// recurrence (x/timers/README.md, "5. End Block").
//
// steps.go lists the steps. Package contest yields the timers that are tried. The engine knows policies only by the interfaces of
// package policies, triggers only by those of package triggers, and actors only by the runtimes that serve them.
package engine

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Engine fires timers. It keeps no state of its own between blocks or during one, because a block may be run twice, and
// queries run concurrently.
type Engine struct {
	*policies.Parts
	Policies  *policies.Registry
	Triggers  triggers.Kinds
	Watches   *triggers.Watches
	Receipts  *state.Receipts
	Authority Authority
	// Reporter is told what blocks do. Nothing that it answers is used.
	Reporter report.Reporter
}

// releaseAt returns a timer that is on hold, as Records.Release does: a watch that has noticed nothing waits on.
func (e *Engine) releaseAt(ctx sdk.Context, t *types.Timer, height uint64, change func(*types.Timer) error) error {
	reason := t.HoldReason
	err := e.Records.Release(ctx, t, height, func(t *types.Timer) error {
		if change != nil {
			if err := change(t); err != nil {
				return err
			}
		}
		waits, err := e.Watches.Waits(ctx, t)
		if waits {
			t.HoldReason = types.Watching
		}
		return err
	})
	if err != nil {
		return err
	}
	return report.Emit(ctx, &types.TimerReleased{Id: t.IDHex(), Actor: e.Addresses.Text(t.Actor), Reason: reason, Due: t.Due, DueTime: t.WaitsUntil()})
}

// CountTimers counts the live timers at the end of a block, and the ready ones among them. It counts the
// whole owner index and reads the backlog: tests and the lab call it between blocks; no block does.
func (e *Engine) CountTimers(ctx context.Context) (live, ready uint64, err error) {
	if live, err = e.Owners.Total(ctx); err != nil {
		return 0, 0, err
	}
	now := types.MomentOf(ctx)
	err = e.Records.Walk(ctx, state.ClassQueued.Between(0, now.Height), func(t *types.Timer) (bool, error) {
		if t.PhaseAt(now) == types.PhaseReady {
			ready++
		}
		return false, nil
	})
	return live, ready, err
}
