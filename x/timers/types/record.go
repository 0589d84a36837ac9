package types

import (
	"strings"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/fairness"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/policy/score"
)

// maxAdmittedWeight is the last that names a list of the ready index.
const maxAdmittedWeight = 1<<16 - 1

// Validate checks one record of a genesis file by itself.
func (t *Timer) Validate() error {
	switch {
	case len(t.Id) != IDBytes:
		return ErrInvalidTimerID.Wrapf("%d bytes, want %d", len(t.Id), IDBytes)
	case t.Seq == 0 || t.Due == 0:
		return ErrInvalidGenesis.Wrapf("seq %d and due height %d must not be 0", t.Seq, t.Due)
	case t.PayloadSeq != 0:
		return ErrInvalidGenesis.Wrap("payload_seq must be 0: payloads lie within")
	case uint64(len(t.Payload)) > maxPayloadBytes:
		return ErrPayloadTooLong.Wrapf("%d bytes, want at most %d", len(t.Payload), maxPayloadBytes)
	case len(t.Handler) > MaxHandlerBytes:
		return ErrHandlerTooLong.Wrapf("%d bytes, want at most %d", len(t.Handler), MaxHandlerBytes)
	case t.GasLimit == 0 || t.GasLimit > maxUnits:
		return ErrGasLimitOutOfBounds.Wrapf("%d cycles, want 1 to %d", t.GasLimit, maxUnits)
	}
	if err := t.validAdmission(); err != nil {
		return err
	}
	if t.Quote != nil {
		if t.AdmittedWeight == 0 {
			return ErrInvalidGenesis.Wrap("quote is stated and admitted_weight is 0: only what lies in the ready index has a quote")
		}
		if err := t.Quote.Validate(); err != nil {
			return err
		}
	}
	if err := t.ValidateRecurrence(); err != nil {
		return err
	}
	if err := t.validateLock(); err != nil {
		return err
	}
	if _, known := SetAsideReason_name[int32(t.SetAside)]; !known {
		return ErrInvalidGenesis.Wrapf("set_aside %d is unknown", int32(t.SetAside))
	}
	if err := sdk.VerifyAddressFormat(t.Actor); err != nil {
		return ErrInvalidGenesis.Wrapf("actor: %v", err)
	}
	if len(t.FeePayer) != 0 {
		if err := sdk.VerifyAddressFormat(t.FeePayer); err != nil {
			return ErrInvalidGenesis.Wrapf("fee_payer: %v", err)
		}
	}
	return t.Bid.Validate()
}

// validateLock checks that what is locked is an amount above 0 in canonical form, that waiting can pass.
func (t *Timer) validateLock() error {
	if t.BidLocked == "" {
		return nil
	}
	if !integer.MatchString(t.BidLocked) || strings.HasPrefix(t.BidLocked, "0") || t.Locked().BigIntMut().BitLen() > maxBidBits {
		return ErrInvalidBid.Wrapf("bid_locked %.80q, want 1 to 2^%d - 1, or nothing", t.BidLocked, maxBidBits)
	}
	return nil
}

// validAdmission checks where in the ready index a record says that it lies: under a fairness weight, or with a score in a
// list of policy score.
func (t *Timer) validAdmission() error {
	most := uint32(maxWeight * fairness.One)
	switch scored := merge.ListOfWeight(t.AdmittedWeight).Wide(); {
	case t.AdmittedWeight > 0 && t.SetAside != NotSetAside, t.AdmittedWeight > most && !scored, t.AdmittedWeight > maxAdmittedWeight:
		return ErrInvalidGenesis.Wrapf("admitted_weight is %d, want 0 to %d or a list of policy score, and 0 if set aside", t.AdmittedWeight, most)
	case scored && len(t.AdmittedScore) != score.KeyBytes, !scored && len(t.AdmittedScore) != 0:
		return ErrInvalidGenesis.Wrapf("admitted_score has %d bytes, want %d in a list of policy score and none elsewhere",
			len(t.AdmittedScore), score.KeyBytes)
	}
	return nil
}
