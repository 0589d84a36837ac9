package keeper

import (
	"context"
	"encoding/hex"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// unready are the verdicts on timers that are not ready. What the next block makes of those that are, judge asks.
var unready = map[types.TimerStatus]types.Verdict{
	types.TimerStatusPending: types.VerdictPending, types.TimerStatusWatching: types.VerdictWatching,
	types.TimerStatusOnHold: types.VerdictOnHold, types.TimerStatusExpired: types.VerdictExpired,
}

// judge gives those of some timers their verdicts that are ready, or due in the next block, if they are asked for. It runs that
// block's steps on a branch if there are any.
func (s *server) judge(goCtx context.Context, infos []types.TimerInfo, asked bool) error {
	ready, now := map[uint64]*types.TimerInfo{}, types.HeightOf(goCtx)
	for i := range infos {
		t := &infos[i]
		if t.Status == types.TimerStatusReady || t.Status == types.TimerStatusPending && t.HoldReason == types.NotOnHold && t.Due <= now+1 {
			ready[t.Seq], t.Verdict = t, types.VerdictUnspecified
		}
	}
	if len(ready) == 0 || !asked {
		return nil
	}
	ctx, next, err := s.engine.Preview(sdk.UnwrapSDKContext(goCtx))
	if err != nil {
		return err
	}
	for len(ready) > 0 {
		turn, verdict, found, err := next.Next(ctx)
		ctx.GasMeter().ConsumeGas(CompareGas, "compare timers")
		if err != nil {
			return err
		}
		if !found {
			break
		}
		if info, asked := ready[turn.Timer.Seq]; asked {
			info.Verdict = verdict
			delete(ready, turn.Timer.Seq)
		}
	}
	for i := range infos {
		if ready[infos[i].Seq] == nil {
			continue
		}
		t, found, err := s.engine.Records.InQueue(ctx, state.KeyOf(infos[i].Due, infos[i].Seq))
		if err != nil {
			return err
		}
		infos[i].Verdict = types.VerdictOnHold // The block puts it on hold before it is tried.
		if found {
			infos[i].Verdict = next.Missed(ctx, &t)
		}
	}
	return nil
}

// whole is a timer with its payload, whatever its length, and its messages; and the verdict on it if that is asked for.
func (s *server) whole(ctx context.Context, t *types.Timer, verdict bool) (types.TimerInfo, error) {
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return types.TimerInfo{}, err
	}
	info, err := s.listed(ctx, &config, t)
	if err != nil {
		return info, err
	}
	judged := []types.TimerInfo{info}
	if err = s.judge(ctx, judged, verdict); err != nil {
		return info, err
	}
	info = judged[0]
	if info.Payload, err = s.engine.Records.Payload(ctx, t); err != nil {
		return info, err
	}
	if size := uint64(len(info.Payload)); size <= config.MaxMessagesBytes {
		sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(DecodeGasPerByte*size, "decode messages")
		info.Messages = s.messagesOf(ctx, t, info.Payload)
	}
	charge(ctx, &info)
	return info, nil
}

// messagesOf decodes a payload that is messages to the runtime that serves the actor. Any other is shown as bytes alone,
// even if its bytes could be read as messages: they would not run.
func (s *server) messagesOf(ctx context.Context, t *types.Timer, payload []byte) []*codectypes.Any {
	runtime, err := s.engine.Router.Route(ctx, t.Actor)
	if err != nil {
		return nil
	}
	runner, ok := runtime.(types.MessageRuntime)
	if !ok || !runner.RunsMessages(t.CallWith(payload)) {
		return nil
	}
	var messages types.AccountPayload
	_, unsafe := types.ScanPayload(payload, func([]byte) error { return nil })
	if unsafe != nil || s.engine.Codec.Unmarshal(payload, &messages) != nil {
		return nil
	}
	return messages.Messages
}

// listed is a timer as lists show it: what its record holds. Nothing is decoded, so that a list takes no more time than
// its length says.
func (s *server) listed(ctx context.Context, config *types.TimerConfig, t *types.Timer) (types.TimerInfo, error) {
	size := uint64(len(t.Payload))
	if t.PayloadSeq != 0 {
		size = t.PayloadBytes // it is not read for its length
	}
	info := types.TimerInfo{
		Id: t.IDHex(), Actor: s.text(t.Actor), FeePayer: s.text(t.Payer()),
		Status: t.StatusAt(types.MomentOf(ctx)), Tier: config.TierOf(t.Due, types.HeightOf(ctx)),
		Due: t.Due, ExpiresAt: t.ExpiresAt, GasLimit: t.GasLimit, CellLimit: t.CellLimit, Trigger: t.Trigger,
		Handler: t.HandlerName(), Payload: t.Payload, PayloadBytes: size, Bid: t.Bid,
		ScheduleHeight: t.ScheduleHeight, Seq: t.Seq, FireSeq: t.FireSeq, HoldReason: t.HoldReason,
	}
	info.Verdict = unready[info.Status]
	recurrenceInfo(&info, t)
	info.DueTime, info.ExpiresTime, info.Recurrence = t.DueTime, t.ExpiresTime, t.Recurrence
	info.Failures, info.Skips, info.Renewal, info.OnlyIf = t.Failures, t.Skips, t.Renewal, t.OnlyIf
	info.UnfundedSince, info.RunsMessages = t.UnfundedSince, t.RunsMessages
	if len(t.Scheduler) > 0 {
		info.Scheduler = s.text(t.Scheduler)
	}
	info.BidLocked, info.MaxCharge, info.Label = t.BidLocked, t.MaxCharge, t.Label
	matched, err := s.engine.Watches.MatchedSoFar(ctx, t)
	info.Matched = matched
	return info, err
}

func (s *server) receiptInfo(r *types.Receipt) types.ReceiptInfo {
	return types.ReceiptInfo{
		TimerId: hex.EncodeToString(r.TimerId), DeliverId: hex.EncodeToString(r.DeliverId), Actor: s.text(r.Actor),
		FireSeq: r.FireSeq, Success: r.Success, Codespace: r.Codespace, Code: r.Code,
		Cycles: r.Cycles, Cells: r.Cells, Paid: r.Paid.String(), Tip: r.Tip.String(),
		Bid: r.Bid, BidPaid: r.BidPaid, Matched: r.Matched, MatchedOmitted: r.MatchedOmitted, ScoreBid: r.ScoreBidText(), Late: r.Late, Occurrence: r.Occurrence, Index: r.Index,
		Guarded: r.Guarded,
	}
}

// recurrenceInfo is what queries show of further fires.
func recurrenceInfo(info *types.TimerInfo, t *types.Timer) {
	info.Retry, info.Retries, info.LastOutcome = t.Retry, t.Retries, t.LastOutcome
	info.OnUnfunded = types.OnUnfundedDestroy
	if t.OnUnfunded != types.OnUnfundedUnspecified {
		info.OnUnfunded = t.OnUnfunded
	}
}
