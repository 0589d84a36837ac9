package tiered

import (
	"encoding/binary"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/packed"
)

// entry is an entry of the far tier as it is stored.
type entry struct {
	key   calendar.Key
	value []byte
}

const (
	// maxChunkEntries bounds the entries of a chunk of any shape.
	maxChunkEntries = 64
	// chunkBytes is the size of its values at which a chunk takes no further entry.
	chunkBytes = 16 << 10
)

// encodeChunk writes entries in order of their keys: their number; of each its due height as a difference to the one
// before, its seq and the length of its value; then the values.
func encodeChunk(entries []entry) []byte {
	size := 2 * binary.MaxVarintLen32
	for _, e := range entries {
		size += len(e.value) + 8
	}
	bz := binary.AppendUvarint(make([]byte, 0, size), uint64(len(entries)))
	due := uint64(0)
	for _, e := range entries {
		bz = binary.AppendUvarint(bz, e.key.Due-due)
		bz = binary.AppendUvarint(bz, e.key.Seq)
		bz = binary.AppendUvarint(bz, uint64(len(e.value)))
		due = e.key.Due
	}
	for _, e := range entries {
		bz = append(bz, e.value...)
	}
	return bz
}

// decodeChunk reads what encodeChunk wrote. The values are parts of the given bytes.
func decodeChunk(bz []byte) ([]entry, error) {
	r := packed.NewReader(bz)
	n := r.Uvarint()
	if r.Failed() || n > maxChunkEntries {
		return nil, errCorrupt
	}
	entries, lengths, due := make([]entry, n), make([]uint64, n), uint64(0)
	for i := range entries {
		due += r.Uvarint()
		entries[i].key = calendar.Key{Due: due, Seq: r.Uvarint()}
		lengths[i] = r.Uvarint()
	}
	for i := range entries {
		entries[i].value = r.Bytes(lengths[i])
	}
	if r.Failed() || r.More() {
		return nil, errCorrupt
	}
	return entries, nil
}

// from returns the entries at or after the key.
func from(entries []entry, key calendar.Key) []entry {
	at, _ := search(entries, key)
	return entries[at:]
}

func search(entries []entry, key calendar.Key) (int, bool) {
	return slices.BinarySearchFunc(entries, key, func(e entry, key calendar.Key) int { return e.key.Compare(key) })
}
