package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// CursorLag is how many blocks the stored cursors may fall behind while no timer changes. So a quiet block writes
// nothing, and a scan passes over at most what was cancelled in so many blocks.
const CursorLag = 100

// deferRest counts the timers that stay ready. Deferral writes nothing: a deferred timer keeps its key.
func (e *Engine) deferRest(_ sdk.Context, b *block) error {
	b.totals.deferred = b.contest.Competing - b.contest.Left
	if b.contest.Indexed {
		b.totals.deferred = uint32(b.contest.Index.Size())
	}
	return nil
}

// countFires counts the fires of this block and drops those that leave the fairness window, so that the state is that
// of the next block.
func (e *Engine) countFires(ctx sdk.Context, b *block) error {
	fired := b.totals.fires()
	if !b.traits.CountsFires {
		fired = nil
	}
	return e.Fairness.Advance(ctx, &b.Config, b.Overhead, b.Height, fired, b.Recents, &b.State.Fairness)
}

// record writes the state that the next block starts from.
func (e *Engine) record(ctx sdk.Context, b *block) error {
	if err := e.keepReceipts(ctx, b); err != nil {
		return err
	}
	b.State.Cycles, b.State.Cells = b.lane.UsedCycles, b.lane.UsedCells
	b.State.UsedSize, b.State.Fires = b.lane.UsedSize, b.lane.Fires
	b.State.Burned = b.Before.Burned.Add(b.totals.burned.amount())
	b.State.LaneBurned = b.Before.LaneBurned.Add(b.totals.laneBurned.amount())
	b.State.Tips = b.Before.Tips.Add(b.totals.tips.amount())
	basefee := b.Prices.Lane
	b.State.LaneBasefee, b.State.P50 = &basefee, market.NextP50(b.Before.P50, b.totals.tipped, b.contest.Waiting)
	if err := b.contest.Index.Close(); err != nil {
		return err
	}
	if err := e.Policies.Maintain(ctx, b.Block, b.policy); err != nil {
		return err
	}
	if err := b.keepBasefees(ctx); err != nil {
		return err
	}
	b.keepCursors()
	if b.Config.LanePaused {
		b.keepPause()
	}
	if !b.State.Equal(b.Before) {
		if err := e.Lane.Set(ctx, b.State); err != nil {
			return err
		}
	}
	return report.Emit(ctx, b.summary())
}

// keepReceipts stores the block's receipts, and removes those that are older than RECEIPT_RETENTION_BLOCKS.
func (e *Engine) keepReceipts(ctx sdk.Context, b *block) (err error) {
	added, kept := 0, b.Config.ReceiptRetentionBlocks
	if kept > 0 {
		added, err = e.Receipts.Put(ctx, b.Height, b.totals.settled())
	} else if len(b.totals.made) > 0 {
		b.State.ReceiptsUnkept = b.Height
	}
	if err == nil && b.Height > kept {
		b.State.ReceiptsFrom, err = e.Receipts.Prune(ctx, b.State.ReceiptsFrom, b.Height-kept, b.Overhead, added)
	}
	return err
}

// keepCursors leaves the cursors where they are stored if they moved a little only and no timer changed: an older cursor is still
// a lower bound. Whatever else is written does not move them then, so that a chain and one that imports its state agree.
func (b *block) keepCursors() {
	if b.Height < b.Before.LiveCursor.Due+CursorLag && b.contest.Competing == 0 && b.totals.expired == 0 && !b.contest.Indexed && !b.State.HeadCursor.Before(b.Before.HeadCursor) {
		b.State.HeadCursor, b.State.LiveCursor = b.Before.HeadCursor, b.Before.LiveCursor
	}
}

// NotePause notes that this is the last block in which the lane is open, if the config that is in force from the next one on pauses
// it.
func (e *Engine) NotePause(ctx context.Context, next *types.TimerConfig) error {
	config, err := e.Configs.Get(ctx)
	if err != nil || config.LanePaused || !next.LanePaused {
		return err
	}
	lane, err := e.Lane.Get(ctx)
	if err != nil {
		return err
	}
	now := types.MomentOf(ctx)
	lane.Pause = &types.LanePause{AfterHeight: now.Height, AfterTime: now.Time, LastHeight: now.Height, LastTime: now.Time}
	return e.Lane.Set(ctx, lane)
}

// keepPause notes that the lane was paused in this block. In which block it was open last is noted when a change of the config is
// accepted.
func (b *block) keepPause() {
	pause := *cmp.Or(b.State.Pause, &types.LanePause{})
	pause.LastHeight, pause.LastTime = b.Height, b.contest.Now.Time
	b.State.Pause = &pause
}

// summary is the one event of the block.
func (b *block) summary() *types.TimerLaneSummary {
	return &types.TimerLaneSummary{
		Height:   b.Height,
		Fired:    uint32(len(b.totals.made)),
		Failed:   b.totals.failed,
		Expired:  b.totals.expired,
		Unfunded: b.totals.unfunded,
		OnHold:   uint32(len(b.totals.held)),
		Deferred: b.totals.deferred,
		Cycles:   b.lane.UsedCycles,
		Cells:    b.lane.UsedCells,
		UsedSize: b.lane.UsedSize,
		GcCycles: b.contest.GC.Cycles,

		OverheadCycles: b.contest.GC.Cycles + b.Overhead.Used(),
		LaneBasefee:    b.Prices.Lane.String(),
		Burned:         b.totals.burned.amount().String(),
		LaneBurned:     b.totals.laneBurned.amount().String(),
		Tips:           b.totals.tips.amount().String(),
		Policy:         b.policy.ID(),
		P50:            b.Prices.P50.String(),
		Storm:          b.contest.Indexed,
		AgentCycles:    b.called.Cycles,
		Unasked:        b.called.Unasked,

		NotAdmin:     b.totals.notAdmin,
		Guarded:      b.totals.guarded,
		AgentsBilled: b.called.Billed.String(),
	}
}

// firedEvent is the event of a fire. survivor is the timer after the fire, nil if it was removed: by what came next, or its handler.
func (e *Engine) firedEvent(
	b *block, t, survivor *types.Timer, next *recurrence.Next, r *types.Receipt, s market.Settlement,
) *types.TimerFired {
	actor := e.Addresses.Text(t.Actor)
	event := &types.TimerFired{
		Id: t.IDHex(), DeliverId: hex.EncodeToString(r.DeliverId), Actor: actor,
		Success: r.Success, Codespace: r.Codespace, Code: r.Code, Cycles: r.Cycles, Cells: r.Cells,
		Paid: text(r.Paid), Tip: text(r.Tip), Refunded: text(s.Refund), Payer: e.payerText(t, actor),
		Late: r.Late, Matched: r.Matched, ScoreBid: r.ScoreBidText(),
		FireSeq: t.FireSeq, Guarded: r.Guarded, Name: t.Spec.Name, Occurrence: r.Occurrence, Index: r.Index,
	}
	if call := b.calls.Of(t); call != nil {
		event.AgentCycles = call.Cycles
	}
	if t.Spec.Trigger.ByTime() {
		event.LateSeconds = uint64(b.contest.Now.Time) - min(r.Occurrence, uint64(b.contest.Now.Time))
	}
	if survivor != nil {
		event.NextDue, event.NextTime, event.Retries = survivor.Due, survivor.WaitsUntil(), survivor.Retries
	} else if t.Recurs() {
		event.Ended, event.Missing = next.Ended, next.Missing
		if next.Stays {
			event.Ended, event.Missing = types.EndCancelled, next.Timer.Left()
		}
	}
	return event
}

// text is an amount as events show it.
func text(amount math.Int) string {
	var digits [80]byte
	return string(decimal.AppendInt(digits[:0], amount))
}

// payerText is the address of the timer's payer as events show it. Most often that is the actor, whose text is at hand.
func (e *Engine) payerText(t *types.Timer, actor string) string {
	if bytes.Equal(t.Payer(), t.Actor) {
		return actor
	}
	return e.Addresses.Text(t.Payer())
}

// report counts a block and logs it. Metrics and logs are written and never read back.
func (e *Engine) report(ctx sdk.Context, b *block) {
	done := &report.Block{
		TimerLaneSummary: b.summary(), Fires: b.totals.made, Held: b.totals.held, Released: b.totals.released,
		CycleBasefee: b.Prices.Cycle, CellBasefee: b.Prices.Cell, BasefeeFailure: b.basefees.Failure,
		Capacity: report.Lane{Size: b.lane.Cycles, Cycles: b.lane.Cycles, Cells: b.lane.Cells, Fires: uint64(b.lane.MaxFires)},
		Paused:   b.Config.LanePaused, Competing: uint64(b.totals.deferred + b.contest.Left), WatchHits: b.totals.watchHits, Turns: b.totals.verdicts,
	}
	done.Asked, done.AgentsFailed = b.called.Asked, b.called.Failed
	e.Reporter.Count(done)
	done.Log(ctx.Logger())
}

// keepBasefees keeps the prices of the chain's fee market as the last good ones, or reports that it gave none and which
// prices hold instead.
func (b *block) keepBasefees(ctx sdk.Context) error {
	b.basefees.Keep(&b.State)
	failure := b.basefees.Failure
	if failure == nil {
		return nil
	}
	ctx.Logger().Error("the basefee source failed", "module", types.ModuleName, "height", b.Height, "err", failure)
	event := &types.TimerBasefeeSourceFailed{
		Height: b.Height, CycleBasefee: b.basefees.Cycle.String(), CellBasefee: b.basefees.Cell.String(),
		FromConfig: b.basefees.FromConfig,
	}
	event.Codespace, event.Code = types.CodeOf(failure)
	return report.Emit(ctx, event)
}
