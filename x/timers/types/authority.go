package types

import "encoding/hex"

// The messages of the authority check themselves, so that x/gov refuses a wrong proposal when it is submitted, not after the
// vote. They name a timer by its whole id: until the vote is over, the actor could schedule one that begins alike.

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysCancelTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysExtendTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysReleaseTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidConfig.
func (m *MsgUpdateTimerConfig) ValidateBasic() error { return m.Config.Validate() }

func checkWholeID(id string) error {
	if bz, err := hex.DecodeString(id); err != nil || len(bz) != IDBytes {
		return ErrInvalidTimerID.Wrapf("%.80q; state the whole id, %d hexadecimal digits", id, 2*IDBytes)
	}
	return nil
}
