package state

import "crypto/sha256"

// HashBytes is how much of the hash of an address stands for it in the keys of a map. No one finds an address that has it in
// common with a given one; two that somebody made to have it in common take 2^40 tries.
const HashBytes = 10

// HashOf is what stands for an address in the keys of a map: no one chooses which keys lie next to each other.
func HashOf(address []byte) []byte {
	hash := sha256.Sum256(address)
	return hash[:HashBytes]
}

// HashRange divides keys that begin with a hash into 64 ranges.
func HashRange(key []byte) uint64 {
	if len(key) == 0 {
		return 0
	}
	return uint64(key[0] >> 2)
}
