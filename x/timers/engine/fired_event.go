package engine

import (
	"bytes"
	"encoding/hex"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// firedEvent is the event of a fire. survivor is the timer after the fire, nil if it was removed.
func (e *Engine) firedEvent(b *block, t, survivor *types.Timer, r *types.Receipt, s market.Settlement) *types.TimerFired {
	actor := e.Addresses.Text(t.Actor)
	event := &types.TimerFired{
		Id: t.IDHex(), DeliverId: hex.EncodeToString(r.DeliverId), Actor: actor,
		Success: r.Success, Codespace: r.Codespace, Code: r.Code, Cycles: r.Cycles, Cells: r.Cells,
		Paid: text(r.Paid), Tip: text(r.Tip), Refunded: text(s.Refund), Payer: e.payerText(t, actor),
		Late: r.Late, Matched: r.Matched, AgentCycles: b.Agents.CyclesFor(t), ScoreBid: r.ScoreBidText(),
		FireSeq: t.FireSeq, Guarded: r.Guarded, Label: t.Label, Occurrence: r.Occurrence, Index: r.Index,
	}
	if t.Trigger.ByTime() {
		event.LateSeconds = uint64(b.Time) - min(r.Occurrence, uint64(b.Time))
	}
	if survivor != nil {
		event.NextDue, event.NextTime, event.Retries = survivor.Due, survivor.WaitsUntil(), survivor.Retries
	} else if t.Recurs() {
		event.Ended, event.Missing = e.endOf(b, t, r)
	}
	return event
}

// endOf says why a timer that repeats left with a fire, and how many of its stated fires will not be made.
func (e *Engine) endOf(b *block, t *types.Timer, r *types.Receipt) (why types.EndReason, missing uint64) {
	renewed := *t
	if r.Guarded {
		renewed = triggers.Guarded(renewed)
	}
	left := renewed.Trigger.Repetitions()
	if left > 0 {
		missing = left - 1
	}
	renewed.Renew(&b.Config, b.Now())
	switch {
	case left == 1:
		return types.EndCompleted, 0
	case !e.Triggers.RollsAt(&renewed, b.Now()):
		if renewed.EndsWithZone() {
			return types.EndZone, missing
		}
		return types.EndOfLife, missing
	case !r.Success && !r.Guarded && triggers.StopsOnFailure(t):
		return types.EndFailed, missing
	default:
		return types.EndCancelled, missing
	}
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
