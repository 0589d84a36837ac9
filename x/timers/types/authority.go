package types

import "encoding/hex"

// The messages of the authority name one timer by its whole id. They check it themselves, so that x/gov refuses a proposal
// with anything else when it is submitted, and not after the vote. A prefix would not do: until the vote is over, the
// actor could schedule a timer whose id begins alike.

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysCancelTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysExtendTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysReleaseTimer) ValidateBasic() error { return checkWholeID(m.Id) }

func checkWholeID(id string) error {
	if bz, err := hex.DecodeString(id); err != nil || len(bz) != IDBytes {
		return ErrInvalidTimerID.Wrapf("%.80q; state the whole id, %d hexadecimal digits", id, 2*IDBytes)
	}
	return nil
}
