package types

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types/bounds"
	"github.com/cosmos-timers/timers/x/timers/types/mask"
)

// The messages of the authority check themselves, so that x/gov refuses a wrong proposal when it is submitted, not after the
// vote. They name a timer by its whole id: until the vote is over, the actor could schedule one that begins alike.

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysCancelTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysExtendTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysReleaseTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ConfigFields are the parameters that a change of the config can name.
var ConfigFields = mask.Of(&TimerConfig{})

// Hash is what a change of these fields, or with none of the whole config, states as expected if it is made from c.
func (c *TimerConfig) Hash(fields []string) ([]byte, error) {
	named, err := configMask(fields)
	if err != nil {
		return nil, err
	}
	encoded, err := named.Encode(c)
	hash := sha256.Sum256(encoded)
	return hash[:], err
}

func configMask(fields []string) (mask.Mask, error) {
	if len(fields) == 0 {
		return ConfigFields.All(), nil
	}
	named, err := ConfigFields.Parse(fields)
	if err != nil {
		return named, ErrInvalidConfig.Wrapf("fields: %v", err)
	}
	return named, nil
}

// ChangeConfig is the message that gives these parameters of the current config, or with none all, the values of the next one.
func ChangeConfig(authority string, current, next *TimerConfig, fields []string) (*MsgUpdateTimerConfig, error) {
	named, err := configMask(fields)
	if err != nil {
		return nil, err
	}
	msg := &MsgUpdateTimerConfig{Authority: authority, Fields: fields}
	named.Copy(&msg.Config, next)
	msg.Expected, err = current.Hash(fields)
	return msg, err
}

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidConfig. Of fields their bounds are checked; whether
// they agree with the others shows when they are set.
func (m *MsgUpdateTimerConfig) ValidateBasic() error {
	if err := bounds.Text(ErrInvalidConfig, m); err != nil {
		return err
	}
	if len(m.Expected) != sha256.Size {
		return ErrInvalidConfig.Wrapf("expected is %d bytes long, want the %d of the hash of what this was made from, as the params query returns it",
			len(m.Expected), sha256.Size)
	}
	if len(m.Fields) == 0 {
		return m.Config.Validate()
	}
	named, err := configMask(m.Fields)
	if err != nil {
		return err
	}
	if beyond := named.Beyond(&m.Config); beyond != "" {
		return ErrInvalidConfig.Wrapf("config states %s, which is not among the fields", beyond)
	}
	// What the others are is not known here: defaults are within all bounds.
	whole := DefaultTimerConfig(sdk.DefaultBondDenom)
	named.Copy(&whole, &m.Config)
	return whole.validateFields()
}

// Apply is the config that the message makes of the current one. The error is ErrConfigChanged if the message was made from
// another one, or from other values of its fields.
func (m *MsgUpdateTimerConfig) Apply(current *TimerConfig) (TimerConfig, error) {
	hash, err := current.Hash(m.Fields)
	if err != nil {
		return TimerConfig{}, err
	}
	if !bytes.Equal(hash, m.Expected) {
		of := cmp.Or(strings.Join(m.Fields, ", "), "the config")
		text := base64.StdEncoding.EncodeToString
		return TimerConfig{}, ErrConfigChanged.Wrapf("the hash of %.200s is %s now, and %.60s where this was made", of, text(hash), text(m.Expected))
	}
	named, err := configMask(m.Fields)
	next := *current
	named.Copy(&next, &m.Config)
	return next, err
}

func checkWholeID(id string) error {
	if _, err := hex.DecodeString(id[:min(len(id), 2*IDBytes)]); err != nil || len(id) != 2*IDBytes {
		return ErrInvalidTimerID.Wrapf("%.80q; state the whole id, %d hexadecimal digits", id, 2*IDBytes)
	}
	return nil
}
