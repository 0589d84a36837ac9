package logmap

import "encoding/binary"

// Unpacker reads from the front. What is cut off or malformed makes it fail: then it has nothing left, and reads zeros.
type Unpacker struct {
	rest   []byte
	failed bool
}

// NewUnpacker returns a reader of bz. What it reads are parts of bz.
func NewUnpacker(bz []byte) Unpacker { return Unpacker{rest: bz} }

// Uvarint reads a number that AppendUvarint wrote.
func (r *Unpacker) Uvarint() uint64 {
	// Most numbers are small.
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		value := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(value)
	}
	value, n := binary.Uvarint(r.rest)
	r.skip(n)
	return value
}

// Varint reads a number that AppendVarint wrote.
func (r *Unpacker) Varint() int64 {
	value, n := binary.Varint(r.rest)
	r.skip(n)
	return value
}

// skip passes over a number of so many bytes; none is a number that is malformed.
func (r *Unpacker) skip(n int) {
	if n <= 0 {
		r.Fail()
		return
	}
	r.rest = r.rest[n:]
}

// Bytes reads n bytes.
func (r *Unpacker) Bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.Fail()
		return nil
	}
	bz := r.rest[:n:n]
	r.rest = r.rest[n:]
	return bz
}

// Len reads the length of a list whose elements take at least one byte each, so that a malformed one allocates no more
// than what was read.
func (r *Unpacker) Len() int {
	n := r.Uvarint()
	if n > uint64(len(r.rest)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Fail makes the reader fail: what it read can't be.
func (r *Unpacker) Fail() { r.rest, r.failed = nil, true }

// Failed reports whether anything could not be read.
func (r *Unpacker) Failed() bool { return r.failed }

// More reports whether anything is left to read.
func (r *Unpacker) More() bool { return len(r.rest) > 0 }
