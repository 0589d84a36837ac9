package genesis

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxFireSeq leaves a timer as many fires again, one in a block, so that its deliveries are not numbered again.
const maxFireSeq = uint32(1) << 31

// Timer checks timer number i: by itself, that it shares no seq and no id with another one, and that it agrees with what
// the state has of watches and cursors.
func (c *Check) Timer(i int, t *types.Timer) error {
	if err := validateTimer(t); err != nil {
		return types.ErrInvalidGenesis.Wrapf("timer %d: %s", i, err)
	}
	if t.Seq >= c.head.NextSeq {
		return types.ErrInvalidGenesis.Wrapf("timer %d: seq %d is not below next_seq %d", i, t.Seq, c.head.NextSeq)
	}
	if t.HoldReason == types.NotOnHold && t.IsBefore(c.head.Lane.HeadCursor) {
		return types.ErrInvalidGenesis.Wrapf("timer %d is before the head of the queue", i)
	}
	id := [types.IDBytes]byte(t.Id)
	if _, twice := c.seqs[t.Seq]; twice {
		return types.ErrInvalidGenesis.Wrapf("timer %d: seq %d stands twice", i, t.Seq)
	}
	if _, twice := c.ids[id]; twice {
		return types.ErrInvalidGenesis.Wrapf("timer %d: id %x stands twice", i, t.Id)
	}
	c.seqs[t.Seq], c.ids[id] = struct{}{}, struct{}{}
	return c.watch(i, t)
}

// validateTimer checks one record by itself.
func validateTimer(t *types.Timer) error {
	if err := types.CheckText(types.ErrInvalidGenesis, t); err != nil {
		return err
	}
	switch {
	case len(t.Id) != types.IDBytes:
		return types.ErrInvalidTimerID.Wrapf("%d bytes, want %d", len(t.Id), types.IDBytes)
	case t.Seq == 0 || t.Due == 0:
		return types.ErrInvalidGenesis.Wrapf("seq %d and due height %d must not be 0", t.Seq, t.Due)
	case t.PayloadSeq != 0:
		return types.ErrInvalidGenesis.Wrap("payload_seq must be 0: a genesis file holds payloads in the records")
	case uint64(len(t.Spec.Call.Payload)) > types.MaxPayloadBytes:
		return types.ErrPayloadTooLong.Wrapf("%d bytes, want at most %d", len(t.Spec.Call.Payload), types.MaxPayloadBytes)
	case len(t.Spec.Call.Handler) > types.MaxHandlerBytes:
		return types.ErrHandlerTooLong.Wrapf("%d bytes, want at most %d", len(t.Spec.Call.Handler), types.MaxHandlerBytes)
	case t.GasLimit == 0 || t.GasLimit > types.MaxUnits:
		return types.ErrGasLimitOutOfBounds.Wrapf("%d cycles, want 1 to %d", t.GasLimit, types.MaxUnits)
	}
	if t.FireSeq > maxFireSeq {
		return types.ErrInvalidGenesis.Wrapf("fire_seq is %d, want at most %d", t.FireSeq, maxFireSeq)
	}
	if t.CellLimit > types.MaxUnits {
		return types.ErrCellLimitOutOfBounds.Wrapf("%d cells, want at most %d", t.CellLimit, types.MaxUnits)
	}
	for _, check := range []func(*types.Timer) error{
		validateSpec, validateAnswer, (*types.Timer).ValidateRecurrence, validateParties,
	} {
		if err := check(t); err != nil {
			return err
		}
	}
	if err := t.Spec.CheckForm(); err != nil {
		return err
	}
	for _, amount := range []struct{ name, text string }{{"bid_locked", t.BidLocked}, {"max_charge", t.Spec.MaxCharge}} {
		if err := validateAmount(amount.name, amount.text); err != nil {
			return err
		}
	}
	if _, known := types.HoldReason_name[int32(t.HoldReason)]; !known {
		return types.ErrInvalidGenesis.Wrapf("hold_reason %d is unknown", int32(t.HoldReason))
	}
	if t.RunsMessages && t.Spec.Call.Handler != "" {
		return types.ErrInvalidGenesis.Wrapf("runs_messages is set and handler is %.80q, want none", t.Spec.Call.Handler)
	}
	if err := t.Spec.Bid.Validate(); err != nil || t.TipCap == "" {
		return err
	}
	return validateTipCap(t)
}

// validateTipCap checks what is left of the tip that a bid states: less than that.
func validateTipCap(t *types.Timer) error {
	tipCap, err := decimal.Parse(t.TipCap)
	if static := t.Spec.Bid.GetStatic(); err != nil || static == nil || !tipCap.LT(static.MaxPriorityFeePerCycle.LegacyDec) || tipCap.Text() != t.TipCap {
		return types.ErrInvalidGenesis.Wrapf("tip_cap is %.80q: want a decimal below the max tip of a static bid, or nothing", t.TipCap)
	}
	return nil
}

// validateSpec checks that what is in force follows from what is stated.
func validateSpec(t *types.Timer) error {
	switch s := &t.Spec; {
	case len(s.Call.Messages) > 0:
		return types.ErrInvalidGenesis.Wrap("spec.call states messages: a record has them as its payload")
	case s.GasLimit != 0 && s.GasLimit != t.GasLimit, s.CellLimit != 0 && s.CellLimit != t.CellLimit:
		return types.ErrInvalidGenesis.Wrapf("gas_limit %d and cell_limit %d are in force, and %d and %d are stated: want the same",
			t.GasLimit, t.CellLimit, s.GasLimit, s.CellLimit)
	case s.FeePayer == "" && len(t.FeePayer) > 0:
		return types.ErrInvalidGenesis.Wrapf("fee_payer is %x, and spec.fee_payer states none", t.FeePayer)
	}
	return nil
}

// validateAnswer checks what a record keeps of its agent's answers.
func validateAnswer(t *types.Timer) error {
	if t.LastAnswer != nil {
		if err := t.LastAnswer.Validate(); err != nil {
			return types.ErrInvalidGenesis.Wrapf("last_answer: %s", err)
		}
	}
	return nil
}

// validateParties checks the addresses of a record.
func validateParties(t *types.Timer) error {
	if err := sdk.VerifyAddressFormat(t.Actor); err != nil {
		return types.ErrInvalidGenesis.Wrapf("actor: %s", err)
	}
	if len(t.Scheduler) != 0 {
		if err := validateScheduler(t); err != nil {
			return err
		}
	}
	if len(t.FeePayer) != 0 {
		if err := sdk.VerifyAddressFormat(t.FeePayer); err != nil {
			return types.ErrInvalidGenesis.Wrapf("fee_payer: %s", err)
		}
	}
	return nil
}

// validateScheduler checks who scheduled a timer for another actor. Whether it is still the admin shows when the timer fires.
func validateScheduler(t *types.Timer) error {
	if err := sdk.VerifyAddressFormat(t.Scheduler); err != nil {
		return types.ErrInvalidGenesis.Wrapf("scheduler: %s", err)
	}
	if t.Principal().Equals(t.Owner()) {
		return types.ErrInvalidGenesis.Wrap("scheduler is the actor itself: want none")
	}
	if t.RunsMessages {
		return types.ErrInvalidGenesis.Wrap("runs_messages is set and scheduler is stated: an admin schedules calls alone")
	}
	return nil
}

// validateAmount checks that a record states an amount above 0 in canonical form and of at most the bits of a bid, or none.
func validateAmount(name, text string) error {
	if text == "" {
		return nil
	}
	amount, ok := types.ParseAmount(text)
	if !ok || amount.String() != text || amount.IsZero() || amount.BigIntMut().BitLen() > types.MaxBidBits {
		return types.ErrInvalidBid.Wrapf("%s %.80q, want 1 to 2^%d - 1, or nothing", name, text, types.MaxBidBits)
	}
	return nil
}
