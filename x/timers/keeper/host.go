package keeper

import (
	"bytes"
	"cmp"
	"context"
	"unicode/utf8"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
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

// ScheduleRequest describes a timer to schedule (x/timers/README.md, "1.2 Timer"). Actor and Trigger are required. What
// else is left zero takes its default.
type ScheduleRequest struct {
	// Actor owns the timer, and the handler runs as this address. It must be one that a runtime of the chain serves.
	Actor sdk.AccAddress
	// Scheduler is the actor, or its admin: of a contract, who may migrate it. An admin schedules calls, not messages, pays for
	// them unless FeePayer does, and alone changes the timer. It defaults to the actor.
	Scheduler sdk.AccAddress
	// Trigger says when it is due: at a height above the current one, at an interval, at a time, by a calendar, or when watched
	// state changes.
	Trigger types.Trigger
	// Handler is a name of at most types.MaxHandlerBytes of UTF-8. It defaults to types.DefaultHandler, or to the
	// handler that the payload names by the payload convention ("1.3 Actor").
	Handler string
	// Payload is what the handler receives, at most max_payload_bytes.
	Payload []byte
	// Messages are run as the actor, whose runtime must be one that runs messages. They take the place of Handler and
	// Payload, and are kept as an encoded types.AccountPayload.
	Messages []*codectypes.Any
	// FeePayer is charged for each fire. It defaults to the scheduler. Another account must have granted the scheduler a fee
	// allowance that names MsgScheduleTimer. Blocked addresses never pay, module accounts only for their own timers, so
	// that a Go module without coins names an account.
	FeePayer sdk.AccAddress
	// GasLimit in cycles bounds one fire, intrinsic cycles included: from min_gas_limit to the largest that the policy
	// in force allows. It defaults to the least cap of the policies in force and selected. What a fire does not use is
	// refunded.
	GasLimit uint64
	// CellLimit bounds the cells that one fire may write, at most max_cells_per_fire. It defaults to default_cell_limit.
	CellLimit uint64
	// ExpiresAt is the last height at which it may fire, at most max_ttl_blocks from now, which is the default, but for triggers
	// by time.
	ExpiresAt uint64
	// ExpiresTime is the last block time at which it may fire, in seconds since 1970, at most max_ttl_seconds from now, which is
	// the default for triggers by time. If both ends are stated the timer ends at whichever comes first.
	ExpiresTime int64
	// Bid says what the owner is willing to pay for a place ("1.8 Bid"). Nil takes the default estimator.
	Bid *types.Bid
	// Retry repeats a failed fire, at most MAX_RETRIES times. Nil does not.
	Retry *types.Retry
	// OnUnfunded says what happens when the payer can't cover a fire: the timer is removed, by default, or suspended.
	OnUnfunded types.OnUnfunded
	// OnlyIf are conditions that must hold when it fires, at most types.MaxOnlyIf, each on a whole key of a watchable store. While
	// one does not, the handler is not run, and the fire is neither a success nor a failure ("1.14 Guards").
	OnlyIf []types.WatchKey
	// Renew gives a timer that repeats the same life again with each fire.
	Renew bool
	// MaxCharge is the most that one fire may cost, in fee denom, whatever the prices: all that it may be charged for its
	// limits, its tip, its bid and its agent. While that would be more it is priced out: it stays, and is not tried. Nil or
	// 0 is no bound.
	MaxCharge math.Int
	// Label is shown with the timer by queries and events: at most types.MaxLabelBytes of printable ASCII.
	Label string
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
// ErrInvalidRetry and ErrInvalidOnUnfunded; ErrHeightNotInFuture, ErrTTLTooLong and ErrExpiresTooSoon;
// ErrGasLimitOutOfBounds and ErrCellLimitOutOfBounds; ErrNotAdmin, and ErrForeignSigner for messages of an admin's;
// ErrPayloadTooLong, ErrHandlerConflict, ErrHandlerTooLong and ErrInvalidHandler; ErrUnknownActor, and what the actor's
// runtime says of the call, such as ErrInvalidPayload; ErrInvalidFeePayer; ErrGasLimitOutOfBounds again, for a limit that
// a fire uses up before its handler; of the bid, ErrInvalidBid, ErrRejectedBelowBasefee, ErrArgDeprecated,
// ErrInvalidAgent and ErrBidNotCovered; ErrTooManyTimers.
func (k *Keeper) Schedule(ctx context.Context, req ScheduleRequest) (types.Timer, error) {
	config, err := k.Config(ctx)
	if err != nil {
		return types.Timer{}, err
	}
	call, err := statedCall(req.Actor, types.TimerCall{Handler: req.Handler, Payload: req.Payload, Messages: req.Messages})
	if err != nil {
		return types.Timer{}, err
	}
	chargeScheduling(ctx, &config, call.Payload)
	chargeOccurrences(ctx, &config, &req.Trigger, req.OnUnfunded)
	timer, bid, err := k.newTimer(ctx, &config, req, call)
	if err != nil {
		return types.Timer{}, err
	}
	if timer.Seq, err = k.engine.Records.NextSeq(ctx); err != nil {
		return types.Timer{}, err
	}
	timer.Id = types.TimerID(timer.Actor, timer.Due, timer.Payload, timer.Seq)
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
		Seq: timer.Seq, FeePayer: k.text(timer.Payer()), Tier: config.TierOf(timer.Due, types.HeightOf(ctx)), Label: timer.Label,
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
	moment := types.MomentOf(ctx)
	now := moment.Height
	timer := types.Timer{
		Actor: req.Actor, Trigger: req.Trigger, ExpiresAt: req.ExpiresAt, ExpiresTime: req.ExpiresTime,
		GasLimit: req.GasLimit, CellLimit: req.CellLimit, ScheduleHeight: now,
	}
	err := k.engine.Triggers.Prepare(config, &timer, moment)
	if err != nil {
		return timer, policies.Accepted{}, err
	}
	options := types.TimerOptions{Retry: req.Retry, OnUnfunded: req.OnUnfunded, Renew: req.Renew, OnlyIf: req.OnlyIf}
	if err = k.setOptions(config, &timer, &options); err != nil {
		return timer, policies.Accepted{}, err
	}
	if err = triggers.CheckLife(config, &timer, moment); err != nil {
		return timer, policies.Accepted{}, err
	}
	if timer.Renewal != nil {
		timer.NoteLife(moment)
	}
	if timer.GasLimit == 0 {
		timer.GasLimit = k.engine.Policies.DefaultGasLimit(config, now)
	}
	if timer.CellLimit == 0 {
		timer.CellLimit = config.CellLimit()
	}
	if err = k.engine.Policies.CheckLimits(config, now, timer.GasLimit, timer.CellLimit); err != nil {
		return timer, policies.Accepted{}, err
	}
	if err = k.checkScheduler(ctx, req.Scheduler, call); err != nil {
		return timer, policies.Accepted{}, err
	}
	if !req.Scheduler.Equals(req.Actor) {
		timer.Scheduler = req.Scheduler
	}
	if call, err = k.checkCall(ctx, config, call); err != nil {
		return timer, policies.Accepted{}, err
	}
	setCall(&timer, call)
	if !req.FeePayer.Equals(timer.Principal()) {
		timer.FeePayer = req.FeePayer
	}
	if err = k.checkIntrinsic(ctx, config, &timer, call); err != nil {
		return timer, policies.Accepted{}, err
	}
	if err = policies.CheckMaxCharge(req.MaxCharge); err != nil {
		return timer, policies.Accepted{}, err
	}
	timer.MaxCharge = storedMaxCharge(req.MaxCharge)
	if err = types.CheckLabel(req.Label); err != nil {
		return timer, policies.Accepted{}, err
	}
	timer.Label = req.Label
	bid, err := k.engine.Policies.Accept(ctx, config, req.Bid)
	timer.Bid = bid.Bid
	return timer, bid, err
}

// UpdateRequest describes a change of a timer. Actor and ID name it. Of the rest, what is left zero stays as it is, and
// at least one must be stated.
type UpdateRequest struct {
	// Actor owns the timer.
	Actor sdk.AccAddress
	// Scheduler is who scheduled it. It defaults to the actor.
	Scheduler sdk.AccAddress
	// ID of the timer, types.IDBytes long.
	ID []byte
	// Call replaces handler and payload together. It states them, or messages.
	Call *types.TimerCall
	// GasLimit in cycles and CellLimit in cells, within the same bounds as when scheduling.
	GasLimit, CellLimit uint64
	// Bid replaces the bid; an empty one restores the default estimator.
	Bid *types.Bid
	// MaxCharge replaces the most that one fire may cost. Nil keeps it, 0 removes the bound.
	MaxCharge math.Int
	// Trigger replaces the trigger. That of a timer that repeats is replaced by one of the same kind, whose occurrences lie after
	// the last that was delivered and count on.
	Trigger *types.Trigger
	// Options replace retry, on_unfunded, renew and only_if together.
	Options *types.TimerOptions
}

// Update changes one of the actor's timers and returns it (x/timers/README.md, "3.2 MsgUpdateTimer"). The id stays. The timer
// takes a new seq, which puts it behind all timers with the same due height. If a handler changes a timer that is due in the
// same block, that timer waits for the next block.
//
// It consumes what Schedule does. Errors are ErrTimerNotFound, ErrTimerExpired, ErrNothingToUpdate, and those of Schedule for
// the trigger, the options, the call, the gas limit and the bid, which under policy auction adds ErrInvalidFeePayer.
func (k *Keeper) Update(ctx context.Context, req UpdateRequest) (types.Timer, error) {
	config, err := k.Config(ctx)
	if err != nil {
		return types.Timer{}, err
	}
	var call types.Call
	if req.Call != nil {
		if call, err = statedCall(req.Actor, *req.Call); err != nil {
			return types.Timer{}, err
		}
	}
	chargeScheduling(ctx, &config, call.Payload)
	if req.Trigger != nil {
		chargeOccurrences(ctx, &config, req.Trigger, types.OnUnfundedUnspecified)
	}
	by := req.Scheduler
	if by.Empty() {
		by = req.Actor
	}
	timer, err := k.liveTimer(ctx, req.Actor, req.ID)
	if err != nil {
		return types.Timer{}, err
	}
	if err := k.checkChange(ctx, &timer, by, call); err != nil {
		return types.Timer{}, err
	}
	bid, err := k.engine.Policies.Accept(ctx, &config, req.Bid)
	if err != nil {
		return types.Timer{}, err
	}
	next, passed, err := k.checkUpdate(ctx, &config, &timer, req, call, bid.Bid)
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
	payload := next.PayloadSeq == 0 && timer.PayloadSeq != 0 || !bytes.Equal(next.Payload, timer.Payload)
	if !payload && next.Same(timer) {
		return nil
	}
	if same := *next; !payload && recurrence.Same(timer, next, types.MomentOf(ctx)) {
		if same.Trigger = timer.Trigger; same.Same(timer) {
			timer.Trigger = next.Trigger
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
	bids := !next.Bid.Equal(timer.Bid)
	return k.engine.Records.Move(ctx, timer, func(t *types.Timer) error {
		*t = *next
		t.Seq = seq
		if t.ReturnsByItself() {
			t.HoldReason = types.NotOnHold
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
	ctx context.Context, config *types.TimerConfig, timer *types.Timer, req UpdateRequest, call types.Call, bid *types.Bid,
) (next types.Timer, passed []recurrence.Passing, err error) {
	if req.Call == nil && req.GasLimit == 0 && req.CellLimit == 0 && req.Bid == nil && req.MaxCharge.IsNil() &&
		req.Trigger == nil && req.Options == nil {
		return next, nil, types.ErrNothingToUpdate.Wrap("state a call, a gas limit, a cell limit, a bid, a max_charge, a trigger or options")
	}
	if next, passed, err = k.checkTerms(config, *timer, &req, types.MomentOf(ctx)); err != nil {
		return next, nil, err
	}
	if err := policies.CheckMaxCharge(req.MaxCharge); err != nil {
		return next, nil, err
	}
	if req.GasLimit != 0 {
		if err := k.engine.Policies.CheckGasLimit(config, types.HeightOf(ctx), req.GasLimit); err != nil {
			return next, nil, err
		}
	}
	if err := config.CheckCellLimit(req.CellLimit); err != nil {
		return next, nil, err
	}
	if req.Call != nil {
		if call, err = k.checkCall(ctx, config, call); err != nil {
			return next, nil, err
		}
	}
	if req.Call != nil || req.GasLimit != 0 || req.Trigger != nil {
		if err := k.checkChanged(ctx, config, next, req.GasLimit, call); err != nil {
			return next, nil, err
		}
	}
	next.GasLimit, next.CellLimit = cmp.Or(req.GasLimit, next.GasLimit), cmp.Or(req.CellLimit, next.CellLimit)
	if req.Bid != nil && !bid.Equal(next.Bid) {
		next.Bid, next.LastAnswer = bid, nil
	}
	if !req.MaxCharge.IsNil() {
		next.MaxCharge = storedMaxCharge(req.MaxCharge)
	}
	if req.Call == nil {
		return next, passed, nil
	}
	return next, passed, k.restateCall(ctx, &next, call)
}

// restateCall gives a timer another call. One that it has already leaves its payload where it is stored.
func (k *Keeper) restateCall(ctx context.Context, t *types.Timer, call types.Call) error {
	stored, seq, size := t.Payload, t.PayloadSeq, t.PayloadBytes
	setCall(t, call)
	if t.PayloadSeq = 0; seq == 0 || size != uint64(len(call.Payload)) {
		t.PayloadBytes = 0
		return nil
	}
	payload, err := k.engine.Records.Payload(ctx, &types.Timer{PayloadSeq: seq})
	if err == nil && bytes.Equal(payload, call.Payload) {
		t.Payload, t.PayloadSeq = stored, seq
	}
	return err
}

// checkTerms is the timer with the trigger and the options of a change, whose end is the one that it has or, where the clock of the
// trigger changes, the default; and what has passed by it.
func (k *Keeper) checkTerms(
	config *types.TimerConfig, timer types.Timer, req *UpdateRequest, now types.Moment,
) (next types.Timer, passed []recurrence.Passing, err error) {
	if req.Trigger == nil && req.Options == nil {
		return timer, nil, nil
	}
	renews, before, wasByTime := timer.Renewal != nil, End{timer.ExpiresAt, timer.ExpiresTime}, timer.Trigger.ByTime()
	options := types.TimerOptions{Retry: timer.Retry, OnUnfunded: timer.OnUnfunded, Renew: renews, OnlyIf: timer.OnlyIf}
	if req.Options != nil {
		options = *req.Options
	}
	if req.Trigger != nil {
		if passed, err = k.engine.Triggers.Replace(config, &timer, *req.Trigger, now); err != nil {
			return timer, nil, err
		}
	}
	if byTime := timer.Trigger.ByTime(); options.Retry != nil && req.Options == nil && byTime != wasByTime {
		return timer, nil, types.ErrInvalidRetry.Wrap("the trigger counts by another clock, in which the retries are to be: state them too")
	}
	if err := k.setOptions(config, &timer, &options); err != nil {
		return timer, nil, err
	}
	if !renews || before != (End{timer.ExpiresAt, timer.ExpiresTime}) {
		timer.NoteLife(now)
	}
	return timer, passed, nil
}

// chargeSkips charges an update for the repetitions that may pass without funds before a fire pays again: all, or those that were
// used.
func chargeSkips(ctx context.Context, config *types.TimerConfig, before, next *types.Timer) {
	tries := uint32(0)
	if next.OnUnfunded == types.OnUnfundedSkip {
		if tries = before.Owed; before.OnUnfunded != types.OnUnfundedSkip {
			tries = config.MaxUnfundedSkips
		}
		next.Owed = 0
	}
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(market.LapseCycles*uint64(tries), "occurrences")
}

// checkChanged checks a timer with another gas limit or another call, or both: what is zero stays as it is.
func (k *Keeper) checkChanged(ctx context.Context, config *types.TimerConfig, timer types.Timer, gasLimit uint64, call types.Call) error {
	timer.GasLimit = cmp.Or(gasLimit, timer.GasLimit)
	if call.Actor == nil {
		payload, err := k.engine.Records.Payload(ctx, &timer)
		if err != nil {
			return err
		}
		call = timer.CallWith(payload)
	}
	return k.checkIntrinsic(ctx, config, &timer, call)
}

// End is when the life of a timer ends: the last height at which it may fire, and the last block time in seconds since 1970. What
// is 0 bounds nothing; in a change it stays as it is.
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
// It consumes schedule_cycles. Errors are ErrTimerNotFound, ErrTimerExpired, and ErrExpiresTooSoon for no end, or one
// that is not after the current block or lies before the timer is due.
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
			t.NoteLife(types.MomentOf(ctx))
		}
	})
}

// extended is the end of a timer after a change.
func extended(config *types.TimerConfig, timer *types.Timer, end End, now types.Moment) (End, error) {
	to := End{timer.ExpiresAt, timer.ExpiresTime}
	if end == (End{}) {
		return to, types.ErrExpiresTooSoon.Wrap("no end is stated: state expires_at, expires_time or both")
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
	timer, err := k.cancel(ctx, &config, by.actor, by.id, func(timer *types.Timer) error {
		if by.sender.Equals(timer.Owner()) || by.sender.Equals(timer.Principal()) {
			return nil
		}
		return types.ErrNotScheduler.Wrapf("timer %s of %s: %s has scheduled it and may cancel it, and so may its actor, not %s",
			timer.IDHex(), k.text(timer.Actor), k.text(timer.Principal()), k.text(by.sender))
	})
	if err != nil {
		return err
	}
	event := &types.TimerCancelled{Id: timer.IDHex(), Actor: k.text(timer.Actor), Label: timer.Label}
	if !by.sender.Equals(timer.Owner()) {
		event.Scheduler = k.text(by.sender)
	}
	return report.Emit(ctx, event)
}

// cancel is the common part of the owner's and the authority's cancellation. May says whether it is allowed.
func (k *Keeper) cancel(
	ctx context.Context, config *types.TimerConfig, actor sdk.AccAddress, id []byte, may func(*types.Timer) error,
) (types.Timer, error) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(config.CancelCycles, "cancel timer")
	timer, err := k.engine.Records.Lookup(ctx, actor, id)
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
func (k *Keeper) liveTimer(ctx context.Context, actor sdk.AccAddress, id []byte) (types.Timer, error) {
	timer, err := k.engine.Records.Lookup(ctx, actor, id)
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
	intrinsic, handler, err := k.engine.LeastCycles(sdk.UnwrapSDKContext(ctx), config, &timer.Trigger, call, payerCycles)
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
	t.Handler, t.Payload, t.RunsMessages = call.Handler, call.Payload, call.Messages
	if t.Handler == types.DefaultHandler {
		t.Handler = ""
	}
}

// setOptions checks what a timer states of bad moments, of its life and of its conditions, and fills in the defaults. The life that
// it renews itself by is noted by the caller, who knows its ends.
func (k *Keeper) setOptions(config *types.TimerConfig, timer *types.Timer, options *types.TimerOptions) error {
	if err := options.Retry.Validate(config, timer.Trigger.ByTime()); err != nil {
		return err
	}
	if err := options.OnUnfunded.Validate(); err != nil {
		return err
	}
	if options.OnUnfunded == types.OnUnfundedSkip && (!timer.Recurs() || timer.Trigger.Watch != nil) {
		return types.ErrInvalidOnUnfunded.Wrap("skip is for a calendar or an interval, which have a next repetition: want destroy or suspend")
	}
	if options.Renew && !timer.Recurs() {
		return types.ErrUnsupportedTimerType.Wrap("renew is stated for a timer that fires once: want a calendar, an interval or a watch")
	}
	if len(options.OnlyIf) > 0 {
		if err := k.engine.Watches.CheckOnlyIf(options.OnlyIf); err != nil {
			return err
		}
	}
	timer.Retry, timer.OnUnfunded, timer.OnlyIf = options.Retry, options.OnUnfunded, options.OnlyIf
	// The default is left out of the record, since most timers have it and every byte is paid for.
	if options.OnUnfunded == types.OnUnfundedDestroy {
		timer.OnUnfunded = types.OnUnfundedUnspecified
	}
	switch {
	case !options.Renew:
		timer.Renewal = nil
	case timer.Renewal == nil:
		timer.Renewal = &types.Renewal{}
	}
	return nil
}

// storedMaxCharge is the most that a fire may cost as the record holds it: empty for nil and 0, which bound nothing.
func storedMaxCharge(amount math.Int) string {
	if amount.IsNil() || amount.IsZero() {
		return ""
	}
	return amount.String()
}

// reportBid emits an event if the bid was not stored as stated.
func (k *Keeper) reportBid(ctx context.Context, t *types.Timer, accepted policies.Accepted) error {
	if accepted.Stated != nil {
		return report.Emit(ctx, &types.TimerPriorityClampedAtSchedule{
			Id: t.IDHex(), Actor: k.text(t.Actor),
			Stated: accepted.Stated.String(), Clamped: t.Bid.Static.MaxPriorityFeePerCycle.String(),
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
