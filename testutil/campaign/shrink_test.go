package campaign

import (
	"regexp"
	"slices"
	"strings"
)

// shrink drops from a failing list what it can do without: halves first, then ever smaller parts, until each single item is
// needed or the tries are used up. Fails says whether a list fails in the same way.
func shrink[T any](list []T, tries int, fails func([]T) bool) []T {
	for size := max(1, len(list)/2); ; size = max(1, size/2) {
		dropped := false
		for from := 0; from < len(list) && tries > 0; {
			without := slices.Concat(list[:from], list[min(len(list), from+size):])
			if tries--; fails(without) {
				list, dropped = without, true
				continue
			}
			from += size
		}
		if size == 1 && !dropped || tries == 0 {
			return list
		}
	}
}

// varying is what differs between two failures of one kind: numbers, ids, hashes, addresses.
var varying = regexp.MustCompile(`timer1[0-9a-z]+|0x[0-9a-f]+|[0-9A-Fa-f]{16,}|-?[0-9]+`)

// kindOf is what a failure has in common with others that have the same cause, as far as its text tells.
func kindOf(err error) string {
	if err == nil {
		return ""
	}
	_, text, _ := strings.Cut(err.Error(), ": ")
	line, _, _ := strings.Cut(text, "\n")
	return varying.ReplaceAllString(line, "#")
}
