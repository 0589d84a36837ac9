package logmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// kind says what a message does to the entry of its key.
type kind uint8

const (
	// Insert adds an entry. There is none before.
	kindInsert kind = 1 + iota
	// Replace changes the value of an entry.
	kindReplace
	// Remove deletes an entry.
	kindRemove
)

// Net is what a message of the kind adds to the number of entries.
func (k kind) Net() int64 {
	switch k {
	case kindInsert:
		return 1
	case kindRemove:
		return -1
	default:
		return 0
	}
}

// message is one change of an entry.
type message struct {
	Key, Value []byte
	Kind       kind
}

// combine returns one message that does what both do. ok is false if that is nothing.
func combine(older, newer message) (both message, ok bool) {
	switch {
	case older.Kind == kindInsert && newer.Kind == kindRemove:
		return message{}, false
	case older.Kind == kindInsert:
		newer.Kind = kindInsert
	case newer.Kind != kindRemove:
		newer.Kind = kindReplace
	}
	return newer, true
}

// mergeSorted merges two lists sorted by key, in which no key is twice.
func mergeSorted(older, newer []message) []message {
	merged := make([]message, 0, len(older)+len(newer))
	for len(older) > 0 && len(newer) > 0 {
		switch order := bytes.Compare(older[0].Key, newer[0].Key); {
		case order < 0:
			merged, older = append(merged, older[0]), older[1:]
		case order > 0:
			merged, newer = append(merged, newer[0]), newer[1:]
		default:
			if both, ok := combine(older[0], newer[0]); ok {
				merged = append(merged, both)
			}
			older, newer = older[1:], newer[1:]
		}
	}
	return append(append(merged, older...), newer...)
}

// sortLog sorts messages by key and combines those of one key. They are in the order in which they arrived.
func sortLog(log []message) []message {
	slices.SortStableFunc(log, func(a, b message) int { return bytes.Compare(a.Key, b.Key) })
	sorted := log[:0]
	for i := 0; i < len(log); {
		m, ok := log[i], true
		for i++; ok && i < len(log) && bytes.Equal(log[i].Key, m.Key); i++ {
			m, ok = combine(m, log[i])
		}
		if ok {
			sorted = append(sorted, m)
		}
	}
	return sorted
}

// atBottom drops what only matters to older messages: below the lowest level there are none.
func atBottom(messages []message) []message {
	kept := messages[:0]
	for _, m := range messages {
		if m.Kind != kindRemove {
			m.Kind = kindInsert
			kept = append(kept, m)
		}
	}
	return kept
}

// netOf is by how much messages change the number of entries.
func netOf(messages []message) (net int64) {
	for i := range messages {
		net += messages[i].Kind.Net()
	}
	return net
}

// ErrCorrupt is an encoding that this package did not write.
var ErrCorrupt = errors.New("logmap: malformed value in the store")

// appendLogged encodes a message for a log: the key's length, the key, the value's length and the kind, the value.
func appendLogged(bz []byte, m message) []byte {
	bz = binary.AppendUvarint(bz, uint64(len(m.Key)))
	bz = append(bz, m.Key...)
	bz = binary.AppendUvarint(bz, uint64(len(m.Value))<<2|uint64(m.Kind))
	return append(bz, m.Value...)
}

// loggedBytes is at least what appendLogged adds.
func loggedBytes(m message) int { return len(m.Key) + len(m.Value) + 2*binary.MaxVarintLen32 }

// appendSorted encodes a message of a chunk that follows one with the key last: what their keys share is stated by its
// length.
func appendSorted(bz []byte, last []byte, m message) []byte {
	shared := sharedPrefix(last, m.Key)
	bz = binary.AppendUvarint(bz, uint64(shared))
	return appendLogged(bz, message{m.Key[shared:], m.Value, m.Kind})
}

// sharedPrefix is the length of what two keys begin with in common.
func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Decoder reads what the append functions wrote.
type Decoder struct{ Unpacker }

// NewDecoder returns a decoder of bz.
func NewDecoder(bz []byte) Decoder { return Decoder{NewUnpacker(bz)} }

// Err is ErrCorrupt if anything could not be read.
func (d *Decoder) Err() error {
	if d.Failed() {
		return ErrCorrupt
	}
	return nil
}

// message reads a message as appendLogged writes it.
func (d *Decoder) message() (m message) {
	m.Key = d.Bytes(d.Uvarint())
	tag := d.Uvarint()
	m.Kind = kind(tag & 3)
	m.Value = d.Bytes(tag >> 2)
	if m.Kind == 0 {
		d.Fail()
	}
	return m
}

// Sharing reads a key that states what it shares with the one before.
func (d *Decoder) Sharing(last []byte) (shared []byte) {
	n := d.Uvarint()
	if n > uint64(len(last)) {
		d.Fail()
		return nil
	}
	return last[:n]
}

// numberAt reads a number at a place of bz, and returns the place behind it; beyond the end if it is malformed.
func numberAt(bz []byte, at int) (value uint64, next int) {
	if at < len(bz) && bz[at] < 0x80 {
		return uint64(bz[at]), at + 1
	}
	if at < len(bz) {
		if value, n := binary.Uvarint(bz[at:]); n > 0 {
			return value, at + n
		}
	}
	return 0, len(bz) + 1
}

// bytesAt reads so many bytes, as numberAt does.
func bytesAt(bz []byte, at int, n uint64) (value []byte, next int) {
	if at > len(bz) || n > uint64(len(bz)-at) {
		return nil, len(bz) + 1
	}
	return bz[at : at+int(n) : at+int(n)], at + int(n)
}

// messageAt reads a message as appendLogged writes it, as numberAt does. The lookups of a block read ten thousands of them:
// a decoder, which keeps its place in memory, takes twice as long.
func messageAt(bz []byte, at int) (m message, next int) {
	n, at := numberAt(bz, at)
	m.Key, at = bytesAt(bz, at, n)
	tag, at := numberAt(bz, at)
	m.Kind = kind(tag & 3)
	m.Value, at = bytesAt(bz, at, tag>>2)
	if m.Kind == 0 {
		at = len(bz) + 1
	}
	return m, at
}

// keyAt reads the key of a message, and returns the place behind the message, as messageAt does but without the rest.
func keyAt(bz []byte, at int) (key []byte, next int) {
	// Keys and values are short: then their lengths are of one byte.
	if at < len(bz) && bz[at] < 0x80 {
		begin := at + 1
		if end := begin + int(bz[at]); end < len(bz) && bz[end] < 0x80 && bz[end]&3 != 0 {
			return bz[begin:end], end + 1 + int(bz[end]>>2)
		}
	}
	m, next := messageAt(bz, at)
	return m.Key, next
}

// leading is the beginning of a key as a number, zeros behind a shorter one. Keys of which it differs are in its order.
func leading(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var first [8]byte
	copy(first[:], key)
	return binary.BigEndian.Uint64(first[:])
}

// decodeLog reads the messages of a chunk of a log whose keys are in the interval. They share the memory of bz.
func decodeLog(bz []byte, within span, into []message) ([]message, error) {
	low, high := leading(within.From), ^uint64(0)
	if within.To != nil {
		high = leading(within.To)
	}
	for at := 0; at < len(bz); {
		key, next := keyAt(bz, at)
		if next > len(bz) {
			return into, ErrCorrupt
		}
		// Most keys of a log are outside, and far from the interval.
		if first := leading(key); first >= low && first <= high && within.Contains(key) {
			m, _ := messageAt(bz, at)
			into = append(into, m)
		}
		at = next
	}
	return into, nil
}

// seek returns the place in a chunk of the first message whose key is not below from, and how many bytes the key before it
// shares with from. Keys below are not put together: it is enough that they rise.
func seek(bz, from []byte) (at, same int, err error) {
	length := 0
	for len(from) > 0 && at < len(bz) {
		n, next := numberAt(bz, at)
		key, next := keyAt(bz, next)
		if next > len(bz) || n > uint64(length) {
			return at, same, ErrCorrupt
		}
		shared := int(n)
		length = shared + len(key)
		if shared < same {
			return at, same, nil
		}
		if shared == same {
			rest := from[same:]
			n := sharedPrefix(key, rest)
			if n == len(rest) || n < len(key) && key[n] > rest[n] {
				return at, same, nil
			}
			same += n
		}
		at = next
	}
	return at, same, nil
}

// eachSorted passes the messages of a chunk whose keys are in the interval to fn, in order. A message's key is valid until
// the next.
func eachSorted(bz []byte, within span, fn func(message)) error {
	at, same, err := seek(bz, within.From)
	if err != nil {
		return err
	}
	var buffer [64]byte
	key := append(buffer[:0], within.From[:same]...)
	for at < len(bz) {
		n, next := numberAt(bz, at)
		m, next := messageAt(bz, next)
		if next > len(bz) || n > uint64(len(key)) {
			return ErrCorrupt
		}
		at, key = next, append(key[:n], m.Key...)
		if within.EndsBefore(key) {
			return nil
		}
		m.Key = key
		fn(m)
	}
	return nil
}

// encodeChunk encodes sorted messages.
func encodeChunk(messages []message) []byte {
	var bz, last []byte
	for i := range messages {
		bz = appendSorted(bz, last, messages[i])
		last = messages[i].Key
	}
	return bz
}

// decodeChunk reads sorted messages.
func decodeChunk(bz []byte) (messages []message, err error) {
	d := NewDecoder(bz)
	var last, keys []byte
	messages = make([]message, 0, len(bz)/16+1)
	for d.More() {
		shared := d.Sharing(last)
		m := d.message()
		if n := len(shared) + len(m.Key); len(shared) > 0 {
			// Keys are put together in one piece of memory, which is replaced and never grows.
			if cap(keys)-len(keys) < n {
				keys = make([]byte, 0, max(n, 2*len(bz)))
			}
			begin := len(keys)
			keys = append(append(keys, shared...), m.Key...)
			m.Key = keys[begin:len(keys):len(keys)]
		}
		messages, last = append(messages, m), m.Key
	}
	return messages, d.Err()
}

// decodeWithin reads the messages of a chunk whose keys are in the interval: those before it are passed over, those behind it
// are not looked at.
func decodeWithin(bz []byte, within span) (messages []message, err error) {
	var keys []byte
	err = eachSorted(bz, within, func(m message) {
		// Keys are put together in one piece of memory, which is replaced and never grows.
		if cap(keys)-len(keys) < len(m.Key) {
			keys = make([]byte, 0, max(len(m.Key), 2*cap(keys)))
		}
		begin := len(keys)
		keys = append(keys, m.Key...)
		m.Key = keys[begin:len(keys):len(keys)]
		messages = append(messages, m)
	})
	return messages, err
}

// sizes are what sorted messages take in a chunk, each and together.
func sizes(messages []message) (each []int, total int) {
	each = make([]int, len(messages))
	var buffer, last []byte
	for i := range messages {
		buffer = appendSorted(buffer[:0], last, messages[i])
		last = messages[i].Key
		each[i] = len(buffer)
		total += len(buffer)
	}
	return each, total
}

// sizeOf is what sorted messages take in chunks.
func sizeOf(messages []message) int {
	_, total := sizes(messages)
	return total
}

// fit returns how many of some sorted messages take no more than a limit in chunks, one at least.
func fit(messages []message, limit int) int {
	each, _ := sizes(messages)
	for i, size := range each {
		if limit -= size; limit < 0 && i > 0 {
			return i
		}
	}
	return len(messages)
}

// pack divides sorted messages evenly into as few chunks as hold them, each of about limit bytes at most.
func pack(messages []message, limit int) (chunks [][]message) {
	sizes, total := sizes(messages)
	if total == 0 {
		return nil
	}
	parts := (total + limit - 1) / limit
	begin, size := 0, 0
	for i := range messages {
		// The chunk ends before the message that would carry it past its share of the whole.
		if i > begin && (size+sizes[i])*parts > total*(len(chunks)+1) && len(chunks) < parts-1 {
			chunks = append(chunks, messages[begin:i])
			begin = i
		}
		size += sizes[i]
	}
	return append(chunks, messages[begin:])
}

// lastOf returns the last message about a key in a chunk of a log.
func lastOf(bz, key []byte) (last message, found bool, err error) {
	for at := 0; at < len(bz); {
		other, next := keyAt(bz, at)
		if next > len(bz) {
			return last, false, ErrCorrupt
		}
		if bytes.Equal(other, key) {
			last, _ = messageAt(bz, at)
			found = true
		}
		at = next
	}
	return last, found, nil
}

// searchIn returns the place of the first message whose key is not below.
func searchIn(messages []message, key []byte) (at int, found bool) {
	return slices.BinarySearchFunc(messages, key, func(m message, key []byte) int { return bytes.Compare(m.Key, key) })
}

// only returns the sorted messages that are in the interval.
func only(messages []message, within span) []message {
	from, _ := searchIn(messages, within.From)
	to := len(messages)
	if within.To != nil {
		to, _ = searchIn(messages, within.To)
	}
	return messages[from:max(from, to)]
}

// span is the keys from From to below To. A nil To has no end.
type span struct{ From, To []byte }

// Contains reports whether the key is in the interval.
func (i span) Contains(key []byte) bool {
	return bytes.Compare(key, i.From) >= 0 && !i.EndsBefore(key)
}

// IsEmpty reports whether no key can be in the interval.
func (i span) IsEmpty() bool { return i.To != nil && bytes.Compare(i.From, i.To) >= 0 }

// EndsBefore reports whether the key and all above it lie behind the interval.
func (i span) EndsBefore(key []byte) bool { return i.To != nil && bytes.Compare(key, i.To) >= 0 }

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
