package types

import (
	"encoding/hex"
	"strings"
)

// ParseID reads a whole id: 64 hexadecimal digits.
func ParseID(s string) ([]byte, error) {
	if len(s) != 2*IDBytes {
		return nil, ErrInvalidTimerID.Wrapf("%.80q has %d digits, want %d", s, len(s), 2*IDBytes)
	}
	id, err := hex.DecodeString(s)
	if err != nil {
		return nil, ErrInvalidTimerID.Wrapf("%.80q: want %d hexadecimal digits: %v", s, 2*IDBytes, err)
	}
	return id, nil
}

// ParseIDPrefix reads the beginning of an id, 1 to 64 hexadecimal digits, and returns it in lower case.
func ParseIDPrefix(s string) (string, error) {
	if len(s) == 0 || len(s) > 2*IDBytes {
		return "", ErrInvalidTimerID.Wrapf("%.80q has %d digits, want 1 to %d", s, len(s), 2*IDBytes)
	}
	lower := strings.ToLower(s)
	if strings.Trim(lower, "0123456789abcdef") != "" {
		return "", ErrInvalidTimerID.Wrapf("%.80q: want hexadecimal digits", s)
	}
	return lower, nil
}
