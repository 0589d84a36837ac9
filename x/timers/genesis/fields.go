package genesis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Fields splits a JSON object into the values of its members, of which the last of a name counts. The values are parts of
// raw: nothing is copied, whatever its size. An error is that raw is no JSON, or no object.
func Fields(raw []byte) (map[string]json.RawMessage, error) {
	if !json.Valid(raw) {
		return nil, syntaxError(raw)
	}
	fields := map[string]json.RawMessage{}
	err := eachField(raw, func(name string, start, end int) error {
		fields[name] = json.RawMessage(raw[start:end:end])
		return nil
	})
	return fields, err
}

// syntaxError says what is wrong with something that is no JSON.
func syntaxError(raw []byte) error {
	var none json.RawMessage
	if err := json.Unmarshal(raw, &none); err != nil {
		return err
	}
	return errors.New("malformed JSON")
}

// eachField passes the names and extents of an object's members to fn, in order. Raw is valid JSON.
func eachField(raw []byte, fn func(name string, start, end int) error) error {
	at := skipSpace(raw, 0)
	if raw[at] != '{' {
		return fmt.Errorf("%.20q is no JSON object", raw[at:])
	}
	for at = skipSpace(raw, at+1); raw[at] != '}'; at = skipComma(raw, at) {
		var name string
		end := valueEnd(raw, at)
		if err := json.Unmarshal(raw[at:end], &name); err != nil {
			return err
		}
		// A colon lies between name and value.
		start := skipSpace(raw, skipSpace(raw, end)+1)
		if at = valueEnd(raw, start); at <= start {
			return errors.New("malformed JSON")
		}
		if err := fn(name, start, at); err != nil {
			return err
		}
	}
	return nil
}

// eachElement passes the elements of an array to fn, in order. Raw is valid JSON and begins with the array, or is empty.
func eachElement(raw []byte, fn func(i int, element []byte) error) error {
	if len(raw) == 0 {
		return nil
	}
	for i, at := 0, skipSpace(raw, 1); raw[at] != ']'; i, at = i+1, skipComma(raw, at) {
		start := at
		at = valueEnd(raw, start)
		if err := fn(i, raw[start:at]); err != nil {
			return err
		}
	}
	return nil
}

// skipSpace is the first position from at on that is no white space.
func skipSpace(raw []byte, at int) int {
	for at < len(raw) && bytes.IndexByte([]byte(" \t\r\n"), raw[at]) >= 0 {
		at++
	}
	return at
}

// skipComma is the position after a value, the comma that may follow it, and white space.
func skipComma(raw []byte, at int) int {
	if at = skipSpace(raw, at); raw[at] == ',' {
		at = skipSpace(raw, at+1)
	}
	return at
}

// valueEnd is the position after the value that begins at a position. Raw is valid JSON, so that brackets need only be
// counted.
func valueEnd(raw []byte, at int) int {
	for depth := 0; at < len(raw); at++ {
		switch raw[at] {
		case '"':
			if at = stringEnd(raw, at); depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
		}
	}
	return at
}

// stringEnd is the position of the quote that ends the string which begins at a position.
func stringEnd(raw []byte, at int) int {
	for at++; raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at
}
