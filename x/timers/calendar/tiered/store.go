package tiered

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// Store is the ordered store of bytes beneath the far tier.
type Store interface {
	// Get returns nil, and no error, if there is nothing at the key.
	Get(ctx context.Context, key []byte) ([]byte, error)
	Set(ctx context.Context, key, value []byte) error
	Delete(ctx context.Context, key []byte) error
	// Scan calls fn for pairs with from ≤ key < to, in order, until fn returns false. fn must not use the store, because
	// an iterator over it is open meanwhile.
	Scan(ctx context.Context, from, to []byte, fn func(key, value []byte) (more bool)) error
	// Last returns the pair with the largest key for which from ≤ key < to; key is nil if there is none.
	Last(ctx context.Context, from, to []byte) (key, value []byte, err error)
}

// Regions of the store, by the first byte of a key.
const (
	// frontierRegion holds one value: the key before which nothing is in the far tier.
	frontierRegion byte = iota + 1
	// directoryRegion holds one value: the directory of the runs.
	directoryRegion
	// deadRegion: (due, seq) → nothing, of entries of runs that were removed or replaced.
	deadRegion
	// inboxRegion: (due, seq) → value, of entries that were inserted since runs were last written.
	inboxRegion
	// chunkRegion: (run, due, seq of the first entry) → chunk.
	chunkRegion
)

const keyBytes = 16

// errCorrupt is returned for bytes that this package did not write.
var errCorrupt = errors.New("tiered calendar: corrupt state")

func appendKey(bz []byte, key calendar.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(bz, key.Due), key.Seq)
}

// parseKey reads the key at the end of the bytes.
func parseKey(bz []byte) (calendar.Key, error) {
	if len(bz) < keyBytes {
		return calendar.Key{}, errCorrupt
	}
	bz = bz[len(bz)-keyBytes:]
	return calendar.Key{Due: binary.BigEndian.Uint64(bz), Seq: binary.BigEndian.Uint64(bz[8:])}, nil
}

func regionKey(region byte, key calendar.Key) []byte {
	return appendKey(append(make([]byte, 0, 1+keyBytes), region), key)
}

func chunkKey(run uint32, key calendar.Key) []byte {
	return appendKey(binary.BigEndian.AppendUint32([]byte{chunkRegion}, run), key)
}

// regionEnd is a key after all keys of the region.
func regionEnd(region byte) []byte { return []byte{region + 1} }

// runEnd is a key after all chunks of the run.
func runEnd(run uint32) []byte {
	if run == ^uint32(0) {
		return regionEnd(chunkRegion)
	}
	return binary.BigEndian.AppendUint32([]byte{chunkRegion}, run+1)
}

// successor is the least key after the given one. The last of all keys is its own successor; no entry has it.
func successor(key calendar.Key) calendar.Key {
	switch {
	case key.Seq < ^uint64(0):
		key.Seq++
	case key.Due < ^uint64(0):
		key.Due, key.Seq = key.Due+1, 0
	}
	return key
}

// after is a stored key just behind the given one.
func after(key []byte) []byte { return append(append(make([]byte, 0, len(key)+1), key...), 0) }
