package keeper

import (
	"context"
	"encoding/hex"

	"github.com/cosmos/gogoproto/proto"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// emit emits a typed event.
func (k *Keeper) emit(ctx context.Context, event proto.Message) error {
	return sdk.UnwrapSDKContext(ctx).EventManager().EmitTypedEvent(event)
}

// bech32 writes an address as events and queries show it. The codec refuses only an empty address, which no timer has.
func (k *Keeper) bech32(addr sdk.AccAddress) string {
	text, err := k.addresses.BytesToString(addr)
	if err != nil {
		return hex.EncodeToString(addr)
	}
	return text
}

func (k *Keeper) scheduledEvent(t *types.Timer) *types.TimerScheduled {
	return &types.TimerScheduled{
		Id: t.IDHex(), Actor: k.bech32(t.Actor), Due: t.Due, ExpiresAt: t.ExpiresAt, GasLimit: t.GasLimit,
		Seq: t.Seq, FeePayer: k.bech32(t.Payer()),
	}
}

func (k *Keeper) firedEvent(b *block, t *types.Timer, r *types.Receipt, s lane.Settlement) *types.TimerFired {
	return &types.TimerFired{
		Id: t.IDHex(), DeliverId: hex.EncodeToString(r.DeliverId), Actor: k.bech32(t.Actor),
		Success: r.Success, Codespace: r.Codespace, Code: r.Code, Cycles: r.Cycles, Cells: r.Cells,
		Paid: r.Paid.String(), Tip: r.Tip.String(), Refunded: s.Refund.String(), Payer: k.bech32(t.Payer()),
		Late: b.height - t.Due, Matched: r.Matched, AgentCycles: b.agents.answers[t.Seq].cycles, ScoreBid: bidText(r),
	}
}
