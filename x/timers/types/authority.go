package types

import (
	"encoding/hex"

	"github.com/cosmos-timers/timers/x/timers/types/bounds"
)

// The messages of the authority check themselves, so that x/gov refuses a wrong proposal when it is submitted, not after the
// vote. They name a timer by its whole id: until the vote is over, the actor could schedule one that begins alike.

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysCancelTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysExtendTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysReleaseTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidConfig.
func (m *MsgUpdateTimerConfig) ValidateBasic() error {
	if err := bounds.Text(ErrInvalidConfig, m); err != nil {
		return err
	}
	return m.Config.Validate()
}

func checkWholeID(id string) error {
	if _, err := hex.DecodeString(id[:min(len(id), 2*IDBytes)]); err != nil || len(id) != 2*IDBytes {
		return ErrInvalidTimerID.Wrapf("%.80q; state the whole id, %d hexadecimal digits", id, 2*IDBytes)
	}
	return nil
}
