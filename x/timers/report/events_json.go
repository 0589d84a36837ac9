package report

import (
	"encoding/json"
	"strings"
)

// JSONString is a text as JSON.
func JSONString(s string) string { return string(appendString(nil, s)) }

// appendString can't fail: every string has a JSON form. Addresses, ids and amounts are their own.
func appendString(out []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(out, '"'), s...), '"')
	}
	bz, err := json.Marshal(s)
	if err != nil {
		return append(out, `""`...)
	}
	return append(out, bz...)
}

// plain are the bytes that JSON writes as they are.
var plain = func() (plain [256]bool) {
	for c := byte(' '); c <= '~'; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, rune(c))
	}
	return plain
}()

// isPlain reports whether JSON writes a string as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}
