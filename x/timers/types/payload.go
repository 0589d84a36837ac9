package types

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// UnwrapPayload applies the payload convention: if the payload is a JSON object with exactly the string members _handler and
// _payload, the latter in base64, they are the timer's handler and payload. Any other payload is delivered as it is, and
// ok is false.
func UnwrapPayload(payload []byte) (handler string, inner []byte, ok bool) {
	if len(payload) == 0 || !utf8.Valid(payload) {
		return "", nil, false
	}
	members, ok := twoStringMembers(payload)
	if !ok {
		return "", nil, false
	}
	handler, hasHandler := members["_handler"]
	encoded, hasPayload := members["_payload"]
	if !hasHandler || !hasPayload {
		return "", nil, false
	}
	inner, err := base64.StdEncoding.Strict().DecodeString(encoded)
	// The decoder skips line ends, which belong to no alphabet; another reader of the convention would not.
	if err != nil || strings.ContainsAny(encoded, "\r\n") {
		return "", nil, false
	}
	return handler, inner, true
}

// twoStringMembers reads a JSON object of exactly two members, both strings. It reads tokens and does not unmarshal,
// because unmarshalling folds case and accepts a member twice.
func twoStringMembers(object []byte) (map[string]string, bool) {
	dec := json.NewDecoder(strings.NewReader(string(object)))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, false
	}
	members := make(map[string]string, 2)
	for range 2 {
		name, ok := stringToken(dec)
		if !ok {
			return nil, false
		}
		value, ok := stringToken(dec)
		if !ok {
			return nil, false
		}
		members[name] = value
	}
	if tok, err := dec.Token(); err != nil || tok != json.Delim('}') {
		return nil, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, false
	}
	return members, len(members) == 2
}

func stringToken(dec *json.Decoder) (string, bool) {
	tok, err := dec.Token()
	if err != nil {
		return "", false
	}
	s, ok := tok.(string)
	return s, ok
}
