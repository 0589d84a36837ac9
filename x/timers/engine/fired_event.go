package engine

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/engine/tags"
	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// firedEvent is the event of a fire. survivor is the timer after the fire, nil if it was removed.
func (e *Engine) firedEvent(b *block, t, survivor *types.Timer, r *types.Receipt, s lane.Settlement) *types.TimerFired {
	actor := e.Addresses.Text(t.Actor)
	payer := actor
	if !t.Payer().Equals(t.Owner()) {
		payer = e.Addresses.Text(t.Payer())
	}
	event := &types.TimerFired{
		Id: t.IDHex(), DeliverId: hex.EncodeToString(r.DeliverId), Actor: actor,
		Success: r.Success, Codespace: r.Codespace, Code: r.Code, Cycles: r.Cycles, Cells: r.Cells,
		Paid: r.Paid.String(), Tip: r.Tip.String(), Refunded: s.Refund.String(), Payer: payer,
		Late: r.Late, Matched: r.Matched, AgentCycles: b.Agents.CyclesFor(t), ScoreBid: r.ScoreBidText(),
		FireSeq: t.FireSeq, Label: t.Label,
	}
	if survivor != nil {
		event.NextDue, event.Retries = survivor.Due, survivor.Retries
	}
	return event
}

// typedFired is sdk.TypedEventToEvent for the one event that every fire emits. The general function writes JSON by
// reflection and reads it back into a map to sort it, which took a fifth of a fire's time. A test compares the two.
func typedFired(e *types.TimerFired) sdk.Event {
	return sdk.Event{Type: firedType, Attributes: []abci.EventAttribute{
		{Key: "actor", Value: tags.JSON(e.Actor)},
		{Key: "agent_cycles", Value: jsonUint64(e.AgentCycles)},
		{Key: "cells", Value: jsonUint64(e.Cells)},
		{Key: "code", Value: strconv.FormatUint(uint64(e.Code), 10)},
		{Key: "codespace", Value: tags.JSON(e.Codespace)},
		{Key: "cycles", Value: jsonUint64(e.Cycles)},
		{Key: "deliver_id", Value: tags.JSON(e.DeliverId)},
		{Key: "fire_seq", Value: strconv.FormatUint(uint64(e.FireSeq), 10)},
		{Key: "id", Value: tags.JSON(e.Id)},
		{Key: "label", Value: tags.JSON(e.Label)},
		{Key: "late", Value: jsonUint64(e.Late)},
		{Key: "matched", Value: jsonWatchedKeys(e.Matched)},
		{Key: "next_due", Value: jsonUint64(e.NextDue)},
		{Key: "paid", Value: tags.JSON(e.Paid)},
		{Key: "payer", Value: tags.JSON(e.Payer)},
		{Key: "refunded", Value: tags.JSON(e.Refunded)},
		{Key: "retries", Value: strconv.FormatUint(uint64(e.Retries), 10)},
		{Key: "score_bid", Value: tags.JSON(e.ScoreBid)},
		{Key: "success", Value: strconv.FormatBool(e.Success)},
		{Key: "tip", Value: tags.JSON(e.Tip)},
	}}
}

// firedType is the name of the event.
var firedType = proto.MessageName(&types.TimerFired{})

// jsonUint64 is a 64-bit integer as protobuf's JSON has it: a string.
func jsonUint64(n uint64) string {
	if n == 0 {
		return `"0"`
	}
	return `"` + strconv.FormatUint(n, 10) + `"`
}

// jsonWatchedKeys writes them as protobuf's JSON does.
func jsonWatchedKeys(keys []types.WatchedKey) string {
	if len(keys) == 0 {
		return "[]"
	}
	parts := make([]string, len(keys))
	for i, key := range keys {
		parts[i] = `{"store":` + tags.JSON(key.Store) + `,"key":"` + base64.StdEncoding.EncodeToString(key.Key) + `"}`
	}
	return "[" + strings.Join(parts, ",") + "]"
}
