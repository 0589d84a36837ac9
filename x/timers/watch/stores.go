package watch

// region is a part of a store whose keys share a first byte and a layout: that byte, so many parts that begin with a
// byte for their length, and then, if it is open, at least one byte more.
type region struct {
	first byte
	parts int
	open  bool
}

// prefixOf returns the length of the prefix of a key that consists of the first byte and so many length-prefixed parts.
// It is 0 for a key with another first byte, and for a shorter one.
func prefixOf(first byte, parts int) func(key []byte) int {
	return func(key []byte) int {
		if len(key) == 0 || key[0] != first {
			return 0
		}
		end := 1
		for range parts {
			if end >= len(key) {
				return 0
			}
			end += 1 + int(key[end])
		}
		if end > len(key) {
			return 0
		}
		return end
	}
}

// wholeOf reports whether bytes may be a whole key of a store with these regions. Keys of other regions are accepted.
func wholeOf(regions ...region) func(key []byte) bool {
	return func(key []byte) bool {
		for _, r := range regions {
			if len(key) == 0 || key[0] != r.first {
				continue
			}
			end := prefixOf(r.first, r.parts)(key)
			return end > 0 && (end < len(key)) == r.open
		}
		return true
	}
}
