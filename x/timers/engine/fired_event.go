package engine

import (
	"bytes"
	"encoding/hex"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// firedEvent is the event of a fire. survivor is the timer after the fire, nil if it was removed.
func (e *Engine) firedEvent(b *block, t, survivor *types.Timer, r *types.Receipt, s lane.Settlement) *types.TimerFired {
	actor := e.Addresses.Text(t.Actor)
	event := &types.TimerFired{
		Id: t.IDHex(), DeliverId: hex.EncodeToString(r.DeliverId), Actor: actor,
		Success: r.Success, Codespace: r.Codespace, Code: r.Code, Cycles: r.Cycles, Cells: r.Cells,
		Paid: text(r.Paid), Tip: text(r.Tip), Refunded: text(s.Refund), Payer: e.payerText(t, actor),
		Late: r.Late, Matched: r.Matched, AgentCycles: b.Agents.CyclesFor(t), ScoreBid: r.ScoreBidText(),
		FireSeq: t.FireSeq, Label: t.Label,
	}
	if survivor != nil {
		event.NextDue, event.Retries = survivor.Due, survivor.Retries
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
