package keeper

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/engine"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file is the API by which Go modules schedule for themselves; the message server is thin over it. Every check is
// made here, so that no caller can forget one. The caller drops what a failed call has written.

// ScheduleRequest is who schedules what (x/timers/README.md, "1.2 Timer").
type ScheduleRequest struct {
	// Actor owns the timer, and the handler runs as this address. It must be one that a runtime of the chain serves.
	Actor sdk.AccAddress
	// Scheduler is the actor, or its admin: of a contract, who may migrate it. An admin schedules calls, not messages, pays for
	// them unless another account does, and alone changes the timer. It defaults to the actor.
	Scheduler sdk.AccAddress
	// Spec is what the owner states. Its trigger is required; what else is left zero takes its default. A Go module without coins
	// names an account as its fee payer.
	Spec types.TimerSpec
}

// Schedule schedules a timer and returns it (x/timers/README.md, "3.1 MsgScheduleTimer"). Store the Id of the timer: it
// names the timer in every other call. The timer never fires in the block that schedules it.
//
// In addition to what the store charges, it consumes schedule_cycles and the gas of one cell for each payload byte from
// the meter of ctx. Nothing is taken from the payer until the timer fires, except a bid under policy auction, which is
// locked.
//
// The errors are, in the order of the checks: ErrAmbiguousCall for messages in addition to a handler or a payload; of the
// trigger, ErrUnsupportedTimerType, ErrInvalidInterval, ErrTTLTooLong for after, ErrNotWatchable and ErrInvalidWatch;
// ErrInvalidRepeat, ErrInvalidRetry and ErrInvalidOnUnfunded; ErrHeightNotInFuture, ErrInvalidEnd, ErrTTLTooLong and ErrExpiresTooSoon;
// ErrGasLimitOutOfBounds and ErrCellLimitOutOfBounds; ErrNotAdmin, and ErrForeignSigner for messages of an admin's;
// ErrPayloadTooLong, ErrHandlerConflict, ErrHandlerTooLong and ErrInvalidHandler; ErrUnknownActor, and what the actor's
// runtime says of the call, such as ErrInvalidPayload; ErrInvalidFeePayer; ErrGasLimitOutOfBounds again, for a limit that
// a fire uses up before its handler; of the bid, ErrInvalidBid, ErrRejectedBelowBasefee, ErrArgDeprecated,
// ErrInvalidAgent and ErrBidNotCovered; ErrNameTaken; ErrTooManyTimers.
func (k *Keeper) Schedule(ctx context.Context, req ScheduleRequest) (types.Timer, error) {
	config, err := k.Config(ctx)
	if err != nil {
		return types.Timer{}, err
	}
	call, err := statedCall(req.Actor, req.Spec.Call)
	if err != nil {
		return types.Timer{}, err
	}
	chargeScheduling(ctx, &config, call.Payload)
	chargeOccurrences(ctx, &config, &req.Spec.Trigger, req.Spec.OnUnfunded)
	timer, bid, err := k.newTimer(ctx, &config, req, call)
	if err != nil {
		return types.Timer{}, err
	}
	if timer.Seq, err = k.engine.Records.NextSeq(ctx); err != nil {
		return types.Timer{}, err
	}
	timer.Id = types.TimerID(timer.Actor, timer.Due, timer.Spec.Call.Payload, timer.Seq)
	if err := recurrence.Delay(&timer, types.MomentOf(ctx)); err != nil {
		return types.Timer{}, err
	}
	if err := k.engine.Policies.Relock(ctx, &config, &timer); err != nil {
		return types.Timer{}, err
	}
	if err := k.engine.Records.Insert(ctx, &timer, limitOf(&config, &timer)); err != nil {
		return types.Timer{}, err
	}
	if err := report.Emit(ctx, &types.TimerScheduled{
		Id: timer.IDHex(), Actor: k.text(timer.Actor), Due: timer.Due, ExpiresAt: timer.ExpiresAt,
		GasLimit: timer.GasLimit, CellLimit: timer.CellLimit,
		Seq: timer.Seq, FeePayer: k.text(timer.Payer()), Tier: config.TierOf(timer.Due, types.HeightOf(ctx)), Name: timer.Spec.Name,
		Scheduler: k.textOrNone(timer.Scheduler), DueTime: timer.DueTime, ExpiresTime: timer.ExpiresTime,
	}); err != nil {
		return types.Timer{}, err
	}
	return timer, k.reportBid(ctx, &timer, bid)
}

// newTimer checks a request and fills in the defaults. The order of the checks decides which error is returned, and so
// is part of the protocol (x/timers/README.md, "3.1 MsgScheduleTimer").
func (k *Keeper) newTimer(
	ctx context.Context, config *types.TimerConfig, req ScheduleRequest, call types.Call,
) (types.Timer, policies.Accepted, error) {
	now := types.MomentOf(ctx)
	if req.Scheduler.Empty() {
		req.Scheduler = req.Actor
	}
	timer := types.Timer{
		Actor: req.Actor, Spec: req.Spec.Canonical(), ExpiresAt: req.Spec.ExpiresAt, ExpiresTime: req.Spec.ExpiresTime,
		GasLimit: req.Spec.GasLimit, CellLimit: req.Spec.CellLimit, ScheduleHeight: now.Height,
	}
	if !req.Scheduler.Equals(req.Actor) {
		timer.Scheduler = req.Scheduler
	}
	err := k.engine.Triggers.Prepare(config, &timer, now)
	if err != nil {
		return timer, policies.Accepted{}, err
	}
	if err = k.checkOptions(config, &timer); err != nil {
		return timer, policies.Accepted{}, err
	}
	if err = triggers.CheckLife(config, &timer, now); err != nil {
		return timer, policies.Accepted{}, err
	}
	timer.NoteLife(now)
	if err = k.setLimits(config, &timer, now.Height, true, true); err != nil {
		return timer, policies.Accepted{}, err
	}
	if err = k.checkScheduler(ctx, req.Scheduler, call); err != nil {
		return timer, policies.Accepted{}, err
	}
	if call, err = k.checkCall(ctx, config, call); err != nil {
		return timer, policies.Accepted{}, err
	}
	setCall(&timer, call)
	if err = k.setPayer(&timer); err != nil {
		return timer, policies.Accepted{}, err
	}
	if err = k.checkIntrinsic(ctx, config, &timer, call); err != nil {
		return timer, policies.Accepted{}, err
	}
	if timer.Spec.MaxCharge, err = storedMaxCharge(timer.Spec.MaxCharge); err != nil {
		return timer, policies.Accepted{}, err
	}
	if err = timer.Spec.CheckForm(); err != nil {
		return timer, policies.Accepted{}, err
	}
	bid, err := k.engine.Policies.Accept(ctx, config, req.Spec.Bid)
	timer.Spec.Bid, timer.TipCap = bid.Bid, bid.TipCap
	return timer, bid, err
}

// setLimits gives a timer the gas limit of its spec, or the default, and the cell limit, if they are named.
func (k *Keeper) setLimits(config *types.TimerConfig, t *types.Timer, height uint64, gas, cells bool) error {
	if gas {
		t.GasLimit = cmp.Or(t.Spec.GasLimit, k.engine.Policies.DefaultGasLimit(config, height))
		if err := k.engine.Policies.CheckGasLimit(config, height, t.GasLimit); err != nil {
			return err
		}
	}
	if cells {
		t.CellLimit = cmp.Or(t.Spec.CellLimit, config.CellLimit())
		return config.CheckCellLimit(t.CellLimit)
	}
	return nil
}

// setPayer gives a timer the payer of its spec: none if who scheduled it pays.
func (k *Keeper) setPayer(t *types.Timer) error {
	t.FeePayer = nil
	if t.Spec.FeePayer == "" {
		return nil
	}
	payer, err := k.engine.Addresses.Parse("fee_payer", t.Spec.FeePayer)
	if err == nil && !payer.Equals(t.Principal()) {
		t.FeePayer = payer
	}
	return err
}

// UpdateRequest is who changes what of which timer.
type UpdateRequest struct {
	// Actor owns the timer.
	Actor sdk.AccAddress
	// Scheduler is who scheduled it. It defaults to the actor.
	Scheduler sdk.AccAddress
	// ID of the timer, types.IDBytes long; it may be left out where Name is stated. Name is the one that the scheduler has given it.
	ID   []byte
	Name string
	// Spec holds what Fields name, as types.SpecFields writes them; one that it leaves zero takes its default.
	Spec   types.TimerSpec
	Fields []string
	// IfSeq is the seq that the timer must have; 0 is any.
	IfSeq uint64
}

// names reports whether a change names one of some fields.
func (r *UpdateRequest) names(fields ...string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return slices.Contains(r.Fields, field) })
}

// namesRepeat reports whether a change names a field of repeat.
func (r *UpdateRequest) namesRepeat() bool {
	return slices.ContainsFunc(r.Fields, func(field string) bool { return strings.HasPrefix(field, "repeat.") })
}

// Update changes one of the actor's timers and returns it (x/timers/README.md, "3.2 MsgUpdateTimer"). The id stays. The timer
// takes a new seq, which puts it behind all timers with the same due height. If a handler changes a timer that is due in the
// same block, that timer waits for the next block.
//
// It consumes what Schedule does. Errors are ErrNothingToUpdate and ErrInvalidFields for what Fields name, ErrTimerNotFound,
// ErrTimerExpired, ErrChanged for another seq than IfSeq or another name than Name, and those of Schedule for the fields that are named; a bid under policy
// auction adds ErrInvalidFeePayer.
func (k *Keeper) Update(ctx context.Context, req UpdateRequest) (types.Timer, error) {
	config, err := k.Config(ctx)
	if err != nil {
		return types.Timer{}, err
	}
	if err := types.CheckFields(req.Fields); err != nil {
		return types.Timer{}, err
	}
	if beyond := req.Spec.Beyond(req.Fields); beyond != "" {
		return types.Timer{}, types.ErrInvalidFields.Wrapf("the spec states %s, and fields does not name it: name it, or leave it out", beyond)
	}
	var call types.Call
	if req.names("call") {
		if call, err = statedCall(req.Actor, req.Spec.Call); err != nil {
			return types.Timer{}, err
		}
	}
	chargeScheduling(ctx, &config, call.Payload)
	if req.names("trigger") {
		chargeOccurrences(ctx, &config, &req.Spec.Trigger, types.OnUnfundedUnspecified)
	}
	by := req.Scheduler
	if by.Empty() {
		by = req.Actor
	}
	timer, err := k.liveTimer(ctx, changeBy{by, req.Actor, req.ID, req.Name})
	if err != nil {
		return types.Timer{}, err
	}
	if req.IfSeq != 0 && req.IfSeq != timer.Seq {
		return types.Timer{}, types.ErrChanged.Wrapf("if_seq is %d, and the timer's seq is %d: look again, and state that", req.IfSeq, timer.Seq)
	}
	if err := k.checkChange(ctx, &timer, by, call); err != nil {
		return types.Timer{}, err
	}
	bid, err := k.engine.Policies.Accept(ctx, &config, req.Spec.Bid)
	if err != nil {
		return types.Timer{}, err
	}
	next, passed, err := k.checkUpdate(ctx, &config, &timer, req, call, bid)
	if err != nil {
		return types.Timer{}, err
	}
	chargeSkips(ctx, &config, &timer, &next)
	before := timer
	if err := k.change(ctx, &config, &timer, &next); err != nil {
		return types.Timer{}, err
	}
	if timer.Seq != before.Seq {
		if err := report.Emit(ctx, &types.TimerUpdated{
			Id: timer.IDHex(), Actor: k.text(timer.Actor), Seq: timer.Seq, Due: timer.Due, DueTime: timer.WaitsUntil(),
		}); err != nil {
			return types.Timer{}, err
		}
	}
	if err := k.engine.NoteSkipped(ctx, &before, &timer, passed); err != nil {
		return types.Timer{}, err
	}
	return timer, k.reportBid(ctx, &timer, bid)
}

// change writes a timer as an update leaves it. If nothing has changed its seq stays; so it does if what was stated of its trigger
// makes it due when it was.
func (k *Keeper) change(ctx context.Context, config *types.TimerConfig, timer, next *types.Timer) error {
	payload := next.PayloadSeq == 0 && timer.PayloadSeq != 0 || !bytes.Equal(next.Spec.Call.Payload, timer.Spec.Call.Payload)
	if !payload && next.Same(timer) {
		return nil
	}
	if same := *next; !payload && recurrence.Same(timer, next, types.MomentOf(ctx)) {
		same.Spec.Trigger, same.Start = timer.Spec.Trigger, timer.Start
		if same.Same(timer) {
			timer.Spec.Trigger, timer.Start = next.Spec.Trigger, next.Start
			return k.engine.Records.Put(ctx, timer)
		}
	}
	if payload {
		if err := k.engine.Records.DropPayload(ctx, timer); err != nil {
			return err
		}
	}
	seq, err := k.engine.Records.NextSeq(ctx)
	if err != nil {
		return err
	}
	bids := !next.Spec.Bid.Equal(timer.Spec.Bid)
	return k.engine.Records.Move(ctx, timer, func(t *types.Timer) error {
		*t = *next
		t.Seq = seq
		if t.ReturnsByItself() {
			if t.HoldReason = types.NotOnHold; t.WaitsForTime(types.MomentOf(ctx)) {
				t.HoldReason = types.Timed
			}
		}
		if t.HoldReason == types.NotOnHold && t.Due < openHeight(ctx) {
			t.PlaceAt(types.HeightOf(ctx) + 1)
		}
		if bids {
			if err := k.engine.Policies.Relock(ctx, config, t); err != nil {
				return err
			}
		}
		if payload {
			return k.engine.Records.StorePayload(ctx, t)
		}
		return nil
	})
}

// openHeight is the first height at which a timer may enter the queue: what enters it is never due already. The blocks before the
// present one have read what was due, and once handlers run, so has this one.
func openHeight(ctx context.Context) uint64 {
	if height := types.HeightOf(ctx); !sandbox.IsWithinFire(ctx) {
		return height
	}
	return types.HeightOf(ctx) + 1
}

// checkUpdate checks a change and returns the timer with it, and what has passed by it.
func (k *Keeper) checkUpdate(
	ctx context.Context, config *types.TimerConfig, timer *types.Timer, req UpdateRequest, call types.Call, bid policies.Accepted,
) (next types.Timer, passed []recurrence.Passing, err error) {
	now := types.MomentOf(ctx)
	spec, err := timer.Spec.Named(req.Fields, &req.Spec)
	if err != nil {
		return next, nil, err
	}
	spec.Call, spec.Bid = timer.Spec.Call, timer.Spec.Bid // These are as they were accepted.
	next = *timer
	if passed, err = k.retrigger(config, &next, &spec, &req, now); err != nil {
		return next, nil, err
	}
	if req.names("gas_limit", "cell_limit") {
		if err := k.setLimits(config, &next, now.Height, req.names("gas_limit"), req.names("cell_limit")); err != nil {
			return next, nil, err
		}
	}
	if err := k.setPayer(&next); err != nil {
		return next, nil, err
	}
	if next.Spec.MaxCharge, err = storedMaxCharge(next.Spec.MaxCharge); err != nil {
		return next, nil, err
	}
	if err := next.Spec.CheckForm(); err != nil {
		return next, nil, err
	}
	if req.names("call") {
		if call, err = k.checkCall(ctx, config, call); err != nil {
			return next, nil, err
		}
	}
	if req.names("call", "gas_limit", "trigger", "fee_payer") {
		if err := k.checkChanged(ctx, config, next, call); err != nil {
			return next, nil, err
		}
	}
	if req.names("bid") && !bid.Bid.Equal(next.Spec.Bid) {
		next.Spec.Bid, next.TipCap, next.LastAnswer = bid.Bid, bid.TipCap, nil
	}
	if !req.names("call") {
		return next, passed, nil
	}
	return next, passed, k.restateCall(ctx, &next, call)
}

// restateCall gives a timer another call. One that it has already leaves its payload where it is stored.
func (k *Keeper) restateCall(ctx context.Context, t *types.Timer, call types.Call) error {
	stored, seq, size := t.Spec.Call.Payload, t.PayloadSeq, t.PayloadBytes
	setCall(t, call)
	if t.PayloadSeq = 0; seq == 0 || size != uint64(len(call.Payload)) {
		t.PayloadBytes = 0
		return nil
	}
	payload, err := k.engine.Records.Payload(ctx, &types.Timer{PayloadSeq: seq})
	if err == nil && bytes.Equal(payload, call.Payload) {
		t.Spec.Call.Payload, t.PayloadSeq = stored, seq
	}
	return err
}

// retrigger gives a timer another spec, and makes it due by that. It returns what has passed by it. The end is the one that it has
// unless it is stated, or where the clock of the trigger changes the default.
func (k *Keeper) retrigger(
	config *types.TimerConfig, t *types.Timer, spec *types.TimerSpec, req *UpdateRequest, now types.Moment,
) (passed []recurrence.Passing, err error) {
	wasByTime := t.Spec.Trigger.ByTime()
	if req.names("trigger") || req.namesRepeat() {
		if passed, err = k.engine.Triggers.Replace(config, t, spec, req.names("trigger"), now); err != nil {
			return nil, err
		}
		spec.Trigger, spec.Repeat = t.Spec.Trigger, t.Spec.Repeat
	}
	otherClock := t.Spec.Trigger.ByTime() != wasByTime
	if otherClock && spec.Retry != nil && !req.names("retry") {
		return nil, types.ErrInvalidRetry.Wrap("the trigger counts by another clock, in which the retries are to be: state them too")
	}
	if otherClock && !req.names("expires_at") {
		spec.ExpiresAt = 0
	}
	if otherClock && !req.names("expires_time") {
		spec.ExpiresTime = 0
	}
	stands := !otherClock && spec.ExpiresAt == t.Spec.ExpiresAt && spec.ExpiresTime == t.Spec.ExpiresTime
	if req.names("expires_at", "expires_time") && !stands {
		t.ExpiresAt, t.ExpiresTime = spec.ExpiresAt, spec.ExpiresTime
		if err := triggers.CheckEnd(config, t, now); err != nil {
			return nil, err
		}
		otherClock = true // Its life is stated anew.
	}
	t.Spec = *spec
	if !req.names("trigger", "retry", "on_unfunded", "only_if") && !req.namesRepeat() && !otherClock {
		return passed, nil
	}
	if err := k.checkOptions(config, t); err != nil {
		return nil, err
	}
	if otherClock || t.Renewal == nil {
		t.NoteLife(now)
	}
	return passed, nil
}

// chargeSkips charges an update for the repetitions that may pass without funds before a fire pays again: all, or those that were
// used.
func chargeSkips(ctx context.Context, config *types.TimerConfig, before, next *types.Timer) {
	tries := uint32(0)
	if next.Spec.OnUnfunded == types.OnUnfundedSkip {
		if tries = before.Owed; before.Spec.OnUnfunded != types.OnUnfundedSkip {
			tries = config.MaxUnfundedSkips
		}
		next.Owed = 0
	}
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(market.LapseCycles*uint64(tries), "occurrences")
}

// checkChanged checks a timer with another gas limit or another call, or both: what is zero stays as it is.
func (k *Keeper) checkChanged(ctx context.Context, config *types.TimerConfig, timer types.Timer, call types.Call) error {
	if call.Actor == nil {
		payload, err := k.engine.Records.Payload(ctx, &timer)
		if err != nil {
			return err
		}
		call = timer.CallWith(payload)
	}
	return k.checkIntrinsic(ctx, config, &timer, call)
}

// End is when the life of a timer ends, in its clock: the last height at which it may fire, or the last block time in seconds since
// 1970; the other is 0.
type End struct {
	Height uint64
	Time   int64
}

// Extension is a change of when a timer ends.
type Extension struct{ From, To End }

// Extend sets when one of the actor's timers ends, and returns it with what it was before (x/timers/README.md, "3.3
// MsgExtendTimer"). It clamps the height to max_ttl_blocks from now, and the time to max_ttl_seconds. An earlier end than the
// present one shortens the life.
//
// It consumes schedule_cycles. Errors are ErrTimerNotFound, ErrTimerExpired, ErrInvalidEnd for one in the other clock, and
// ErrExpiresTooSoon for no end, or one that is not after the current block or lies before the timer is due.
func (k *Keeper) Extend(ctx context.Context, actor sdk.AccAddress, id []byte, end End) (Extension, error) {
	return k.extendBy(ctx, own(actor, id), end)
}

func (k *Keeper) extendBy(ctx context.Context, by changeBy, end End) (Extension, error) {
	timer, change, err := k.extend(ctx, func() (types.Timer, error) { return k.changeable(ctx, by) }, end, true)
	if err != nil {
		return Extension{}, err
	}
	return change, report.Emit(ctx, &types.TimerExtended{
		Id: timer.IDHex(), Actor: k.text(by.actor), ExpiresAt: change.To.Height, PreviousExpiresAt: change.From.Height,
		ExpiresTime: change.To.Time, PreviousExpiresTime: change.From.Time,
	})
}

// extend is the common part of the owner's and the authority's extension, who find the timer. The owner's states the life anew that
// a timer renews itself by.
func (k *Keeper) extend(
	ctx context.Context, find func() (types.Timer, error), end End, owner bool,
) (types.Timer, Extension, error) {
	config, err := k.Config(ctx)
	if err != nil {
		return types.Timer{}, Extension{}, err
	}
	chargeScheduling(ctx, &config, nil)
	timer, err := find()
	if err != nil {
		return types.Timer{}, Extension{}, err
	}
	change := Extension{From: End{timer.ExpiresAt, timer.ExpiresTime}}
	if change.To, err = extended(&config, &timer, end, types.MomentOf(ctx)); err != nil {
		return types.Timer{}, Extension{}, err
	}
	return timer, change, k.engine.Records.SetEnd(ctx, &timer, func(t *types.Timer) {
		t.ExpiresAt, t.ExpiresTime = change.To.Height, change.To.Time
		if owner {
			t.Spec.ExpiresAt, t.Spec.ExpiresTime = change.To.Height, change.To.Time
			t.NoteLife(types.MomentOf(ctx))
		}
	})
}

// extended is the end of a timer after a change.
func extended(config *types.TimerConfig, timer *types.Timer, end End, now types.Moment) (End, error) {
	to := End{}
	if end == to {
		return to, types.ErrExpiresTooSoon.Wrap("no end is stated: state expires_at or, of a time, a calendar or a watch, expires_time")
	}
	if err := timer.Spec.Trigger.CheckEnd(end.Height, end.Time); err != nil {
		return to, err
	}
	if end.Height != 0 {
		to.Height = min(end.Height, now.Height+config.MaxTtlBlocks)
		switch {
		case end.Height <= now.Height:
			return to, types.ErrExpiresTooSoon.Wrapf("expires_at %d is not above the current height %d", end.Height, now.Height)
		case to.Height < timer.Due:
			return to, types.ErrExpiresTooSoon.Wrapf("expires_at %d is below the due height %d", to.Height, timer.Due)
		}
	}
	if end.Time != 0 {
		to.Time = min(end.Time, now.Time+int64(config.MaxTtlSeconds))
		switch {
		case end.Time <= now.Time:
			return to, types.ErrExpiresTooSoon.Wrapf("expires_time %s is not after the time of the block, %s",
				types.TimeText(end.Time), types.TimeText(now.Time))
		case to.Time < timer.DueTime:
			return to, types.ErrExpiresTooSoon.Wrapf("expires_time %s is before the timer is due, %s",
				types.TimeText(to.Time), types.TimeText(timer.DueTime))
		}
	}
	return to, nil
}

// Cancel removes one of the actor's timers in any state, an expired one that waits for cleanup included
// (x/timers/README.md, "3.5 MsgCancelTimer"). It returns the bid that was locked. A handler may cancel its own next
// fire.
//
// It consumes cancel_cycles. The error is ErrTimerNotFound, or the bank's if it refuses to return the bid.
func (k *Keeper) Cancel(ctx context.Context, actor sdk.AccAddress, id []byte) error {
	return k.cancelBy(ctx, own(actor, id))
}

// cancelBy lets the actor and the scheduler cancel, whether the scheduler is the admin still or not.
func (k *Keeper) cancelBy(ctx context.Context, by changeBy) error {
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	timer, err := k.cancel(ctx, &config, by, func(timer *types.Timer) error {
		if by.sender.Equals(timer.Owner()) || by.sender.Equals(timer.Principal()) {
			return nil
		}
		return types.ErrNotScheduler.Wrapf("timer %s of %s: %s has scheduled it and may cancel it, and so may its actor, not %s",
			timer.IDHex(), k.text(timer.Actor), k.text(timer.Principal()), k.text(by.sender))
	})
	if err != nil {
		return err
	}
	event := &types.TimerCancelled{Id: timer.IDHex(), Actor: k.text(timer.Actor), Name: timer.Spec.Name}
	if !by.sender.Equals(timer.Owner()) {
		event.Scheduler = k.text(by.sender)
	}
	return report.Emit(ctx, event)
}

// cancel is the common part of the owner's and the authority's cancellation. May says whether it is allowed.
func (k *Keeper) cancel(
	ctx context.Context, config *types.TimerConfig, by changeBy, may func(*types.Timer) error,
) (types.Timer, error) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(config.CancelCycles, "cancel timer")
	timer, err := k.find(ctx, by)
	if err != nil {
		return timer, err
	}
	if err := may(&timer); err != nil {
		return timer, err
	}
	return timer, k.engine.Records.Remove(ctx, &timer)
}

// TimersOf returns the actor's live timers, at most max_timers_per_actor: those on hold first, the others by due
// height. A payload longer than types.InlinePayloadBytes is left out; the query Timer shows it. The reading is charged
// as gas of ctx.
func (k *Keeper) TimersOf(ctx context.Context, actor sdk.AccAddress) ([]types.Timer, error) {
	return k.engine.Records.Of(ctx, actor)
}

// liveTimer returns a timer that can still fire.
func (k *Keeper) liveTimer(ctx context.Context, by changeBy) (types.Timer, error) {
	timer, err := k.find(ctx, by)
	if err != nil {
		return timer, err
	}
	if now := types.MomentOf(ctx); timer.ExpiredAt(now) {
		if timer.ExpiresAt == 0 || now.Height <= timer.ExpiresAt {
			return timer, types.ErrTimerExpired.Wrapf("it could fire until %s, now is %s", types.TimeText(timer.ExpiresTime), types.TimeText(now.Time))
		}
		return timer, types.ErrTimerExpired.Wrapf("it could fire until height %d, now is %d", timer.ExpiresAt, now.Height)
	}
	return timer, nil
}

// chargeScheduling consumes the gas of scheduling in addition to the store's charges: SCHEDULE_CYCLES, and a cell per
// payload byte, charged now and not again at the fire.
func chargeScheduling(ctx context.Context, config *types.TimerConfig, payload []byte) {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	sdkCtx.GasMeter().ConsumeGas(config.ScheduleCycles, "schedule timer")
	perByte := sdkCtx.KVGasConfig().WriteCostPerByte
	sdkCtx.GasMeter().ConsumeGas(perByte*uint64(len(payload)), storetypes.GasWritePerByteDesc)
}

// chargeOccurrences charges for what is computed of a trigger, and for the repetitions that may pass without funds before a fire
// pays again.
func chargeOccurrences(ctx context.Context, config *types.TimerConfig, trigger *types.Trigger, onUnfunded types.OnUnfunded) {
	cycles := trigger.Cycles()
	if onUnfunded == types.OnUnfundedSkip {
		cycles += market.LapseCycles * uint64(config.MaxUnfundedSkips)
	}
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(cycles, "occurrences")
}

// checkIntrinsic checks the timer's payer, and that the gas limit covers what each fire counts before its handler runs, and
// what the handler takes before its code begins.
func (k *Keeper) checkIntrinsic(ctx context.Context, config *types.TimerConfig, timer *types.Timer, call types.Call) error {
	payerCycles, err := k.engine.Fees.CheckPayer(ctx, config, timer.FeePayer, timer.Principal())
	if err != nil {
		return err
	}
	intrinsic, handler, err := k.engine.LeastCycles(sdk.UnwrapSDKContext(ctx), config, &timer.Spec.Trigger, call, payerCycles)
	if err != nil || timer.GasLimit >= intrinsic && timer.GasLimit-intrinsic >= handler {
		return err
	}
	return types.ErrGasLimitOutOfBounds.Wrapf("%d cycles do not reach the handler: a fire counts %d before it, for a payload of %d bytes "+
		"and its payer's records, and the handler takes at least %d; want at least %d", timer.GasLimit, intrinsic, len(call.Payload), handler,
		intrinsic+handler)
}

// checkCall applies the payload convention and lets the runtime that serves the actor validate the call. What decoding
// its messages takes is consumed from the meter of ctx before it is done.
func (k *Keeper) checkCall(ctx context.Context, config *types.TimerConfig, call types.Call) (types.Call, error) {
	if size := uint64(len(call.Payload)); size > config.MaxPayloadBytes {
		return call, types.ErrPayloadTooLong.Wrapf("%d bytes, want at most %d", size, config.MaxPayloadBytes)
	}
	if handler, inner, wrapped := types.UnwrapPayload(call.Payload); wrapped && !call.Messages {
		if call.Handler != "" {
			return call, types.ErrHandlerConflict.Wrapf("handler %.80q is stated in addition to a payload that names %.80q", call.Handler, handler)
		}
		call.Handler, call.Payload = handler, inner
	}
	if len(call.Handler) > types.MaxHandlerBytes {
		return call, types.ErrHandlerTooLong.Wrapf("%d bytes, want at most %d", len(call.Handler), types.MaxHandlerBytes)
	}
	if !utf8.ValidString(call.Handler) {
		return call, types.ErrInvalidHandler.Wrap("the name is not UTF-8")
	}
	if call.Handler == "" {
		call.Handler = types.DefaultHandler
	}
	runtime, err := k.engine.Router.Route(ctx, call.Actor)
	if err != nil {
		return call, err
	}
	if call.Messages, err = k.runsMessages(runtime, call); err != nil {
		return call, err
	}
	messages, err := engine.MessageBytes(runtime, call)
	if err != nil {
		return call, err
	}
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(market.MessageCyclesPerByte*messages, "decode messages")
	return call, runtime.Validate(ctx, config, call)
}

// runsMessages checks that the runtime runs a call that was stated as messages, and reports whether its record says so:
// where the runtime runs nothing else, it need not.
func (k *Keeper) runsMessages(runtime types.Runtime, call types.Call) (marked bool, err error) {
	if !call.Messages {
		return false, nil
	}
	runner, ok := runtime.(types.MessageRuntime)
	if !ok || !runner.RunsMessages(call) {
		return false, types.ErrInvalidPayload.Wrapf("messages are stated, and %s runs none: state a payload", k.text(call.Actor))
	}
	call.Messages = false
	return !runner.RunsMessages(call), nil
}

// setCall stores what a timer does. The record leaves out the default handler.
func setCall(t *types.Timer, call types.Call) {
	t.Spec.Call, t.RunsMessages = types.TimerCall{Handler: call.Handler, Payload: call.Payload}, call.Messages
	if call.Handler == types.DefaultHandler {
		t.Spec.Call.Handler = ""
	}
}

// checkOptions checks what a timer states of bad moments and of its conditions.
func (k *Keeper) checkOptions(config *types.TimerConfig, timer *types.Timer) error {
	spec := &timer.Spec
	if err := spec.Retry.Validate(config, spec.Trigger.ByTime()); err != nil {
		return err
	}
	if err := spec.OnUnfunded.Validate(); err != nil {
		return err
	}
	if spec.OnUnfunded == types.OnUnfundedSkip && (!timer.Recurs() || spec.Trigger.Watch != nil) {
		return types.ErrInvalidOnUnfunded.Wrap("skip is for a calendar or an interval, which have a next repetition: want destroy or suspend")
	}
	if len(spec.OnlyIf) == 0 {
		return nil
	}
	return k.engine.Watches.CheckOnlyIf(spec.OnlyIf)
}

// storedMaxCharge is the most that a fire may cost as the record holds it: empty for 0, which bounds nothing.
func storedMaxCharge(text string) (string, error) {
	amount, err := parseMaxCharge(text)
	if err != nil || amount.IsNil() || amount.IsZero() {
		return "", err
	}
	return amount.String(), nil
}

// parseMaxCharge reads a max_charge, in fee denom: nil for an empty text, which states none.
func parseMaxCharge(text string) (math.Int, error) {
	if text == "" {
		return math.Int{}, nil
	}
	amount, ok := types.ParseAmount(text)
	switch {
	case !ok:
		return amount, types.ErrInvalidBid.Wrapf("max_charge %.80q is no amount of the fee denom", text)
	case amount.IsNegative() || amount.BigIntMut().BitLen() > types.MaxBidBits:
		return amount, types.ErrInvalidBid.Wrapf("max_charge %s, want 0 to 2^%d - 1", amount, types.MaxBidBits)
	}
	return amount, nil
}

// reportBid emits an event if the bid does not count as stated.
func (k *Keeper) reportBid(ctx context.Context, t *types.Timer, accepted policies.Accepted) error {
	if accepted.TipCap != "" && accepted.TipCap == t.TipCap {
		return report.Emit(ctx, &types.TimerPriorityClampedAtSchedule{
			Id: t.IDHex(), Actor: k.text(t.Actor),
			Stated: t.Spec.Bid.Static.MaxPriorityFeePerCycle.String(), Clamped: t.Ask().Stated.MaxPriority.String(),
		})
	}
	if accepted.Ignored {
		return report.Emit(ctx, &types.TimerBidIgnored{Id: t.IDHex(), Actor: k.text(t.Actor), RefusedFrom: accepted.RefusedFrom})
	}
	return nil
}

// textOrNone is the bech32 form of an address, or nothing.
func (k *Keeper) textOrNone(addr sdk.AccAddress) string {
	if addr.Empty() {
		return ""
	}
	return k.text(addr)
}

// text is the bech32 form of an address.
func (k *Keeper) text(addr sdk.AccAddress) string { return k.engine.Addresses.Text(addr) }
