package events

import "encoding/json"

// JSON is a text as JSON.
func JSON(s string) string { return string(appendString(nil, s)) }

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

// isPlain reports whether JSON writes a string as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
