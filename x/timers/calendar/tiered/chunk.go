package tiered

import (
	"encoding/binary"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/calendar"
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
	r := reader{bz: bz}
	n := r.uvarint()
	if r.failed || n > maxChunkEntries {
		return nil, errCorrupt
	}
	entries, lengths, due := make([]entry, n), make([]uint64, n), uint64(0)
	for i := range entries {
		due += r.uvarint()
		entries[i].key = calendar.Key{Due: due, Seq: r.uvarint()}
		lengths[i] = r.uvarint()
	}
	for i := range entries {
		entries[i].value = r.bytes(lengths[i])
	}
	if r.failed || len(r.bz) > 0 {
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

// reader reads numbers and bytes, and notes if they are cut off.
type reader struct {
	bz     []byte
	failed bool
}

func (r *reader) uvarint() uint64 {
	value, n := binary.Uvarint(r.bz)
	if n <= 0 {
		r.failed, r.bz = true, nil
		return 0
	}
	r.bz = r.bz[n:]
	return value
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.bz)) {
		r.failed, r.bz = true, nil
		return nil
	}
	bz := r.bz[:n:n]
	r.bz = r.bz[n:]
	return bz
}

// list reads the length of a list whose elements take at least one byte each.
func (r *reader) list() int {
	n := r.uvarint()
	if n > uint64(len(r.bz)) {
		r.failed = true
		return 0
	}
	return int(n)
}
