package draft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxNumbers bounds how many numbers of a message are tried.
const maxNumbers = 64

// numberForText names the field of a message that holds a number where text is wanted, as amounts are written; empty if
// there is none, or too many to try. decodes tells whether a message can be read.
func numberForText(raw []byte, decodes func([]byte) bool) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return ""
	}
	numbers := numbersOf("", value)
	if len(numbers) > maxNumbers || !decodesWith(value, "", decodes) {
		return ""
	}
	for _, found := range numbers {
		// As text all are right; the one that is wrong as a number is the one that was meant.
		if !decodesWith(value, found.path, decodes) {
			return fmt.Sprintf("%s is the number %s: write it as text, %q", found.path, found.digits, found.digits)
		}
	}
	return ""
}

type foundNumber struct{ path, digits string }

// numbersOf lists the numbers in a value, with their paths: amount[0].amount.
func numbersOf(path string, value any) (found []foundNumber) {
	switch v := value.(type) {
	case json.Number:
		return []foundNumber{{path, v.String()}}
	case []any:
		for i, one := range v {
			found = append(found, numbersOf(fmt.Sprintf("%s[%d]", path, i), one)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = append(found, numbersOf(strings.TrimPrefix(path+"."+name, "."), v[name])...)
		}
	}
	return found
}

// decodesWith tells whether a value can be read when all its numbers but one are text.
func decodesWith(value any, but string, decodes func([]byte) bool) bool {
	raw, err := json.Marshal(asText("", value, but))
	return err == nil && decodes(raw)
}

func asText(path string, value any, but string) any {
	switch v := value.(type) {
	case json.Number:
		if path == but {
			return v
		}
		return v.String()
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = asText(fmt.Sprintf("%s[%d]", path, i), one, but)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, one := range v {
			object[name] = asText(strings.TrimPrefix(path+"."+name, "."), one, but)
		}
		return object
	default:
		return value
	}
}
