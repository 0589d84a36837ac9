package names

import (
	"encoding/hex"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// ParseID reads a whole id: 64 hexadecimal digits.
func ParseID(s string) ([]byte, error) {
	if len(s) != 2*types.IDBytes {
		return nil, types.ErrInvalidTimerID.Wrapf("%.80q has %d digits, want %d", s, len(s), 2*types.IDBytes)
	}
	id, err := hex.DecodeString(s)
	if err != nil {
		return nil, types.ErrInvalidTimerID.Wrapf("%.80q: want %d hexadecimal digits: %v", s, 2*types.IDBytes, err)
	}
	return id, nil
}

// ParseIDPrefix reads the beginning of an id, 1 to 64 hexadecimal digits, and returns it in lower case.
func ParseIDPrefix(s string) (string, error) {
	if len(s) == 0 || len(s) > 2*types.IDBytes {
		return "", types.ErrInvalidTimerID.Wrapf("%.80q has %d digits, want 1 to %d", s, len(s), 2*types.IDBytes)
	}
	lower := strings.ToLower(s)
	if strings.Trim(lower, "0123456789abcdef") != "" {
		return "", types.ErrInvalidTimerID.Wrapf("%.80q: want hexadecimal digits", s)
	}
	return lower, nil
}
