package logmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// Kind says what a message does to the entry of its key.
type Kind uint8

const (
	// Insert adds an entry. There is none before.
	Insert Kind = 1 + iota
	// Replace changes the value of an entry.
	Replace
	// Remove deletes an entry.
	Remove
)

// Net is what a message of the kind adds to the number of entries.
func (k Kind) Net() int64 {
	switch k {
	case Insert:
		return 1
	case Remove:
		return -1
	default:
		return 0
	}
}

// Message is one change of an entry.
type Message struct {
	Key, Value []byte
	Kind       Kind
}

// Combine returns one message that does what both do. ok is false if that is nothing.
func Combine(older, newer Message) (both Message, ok bool) {
	switch {
	case older.Kind == Insert && newer.Kind == Remove:
		return Message{}, false
	case older.Kind == Insert:
		newer.Kind = Insert
	case newer.Kind != Remove:
		newer.Kind = Replace
	}
	return newer, true
}

// MergeSorted merges two lists sorted by key, in which no key is twice.
func MergeSorted(older, newer []Message) []Message {
	merged := make([]Message, 0, len(older)+len(newer))
	for len(older) > 0 && len(newer) > 0 {
		switch order := bytes.Compare(older[0].Key, newer[0].Key); {
		case order < 0:
			merged, older = append(merged, older[0]), older[1:]
		case order > 0:
			merged, newer = append(merged, newer[0]), newer[1:]
		default:
			if both, ok := Combine(older[0], newer[0]); ok {
				merged = append(merged, both)
			}
			older, newer = older[1:], newer[1:]
		}
	}
	return append(append(merged, older...), newer...)
}

// SortLog sorts messages by key and combines those of one key. They are in the order in which they arrived.
func SortLog(log []Message) []Message {
	slices.SortStableFunc(log, func(a, b Message) int { return bytes.Compare(a.Key, b.Key) })
	sorted := log[:0]
	for i := 0; i < len(log); {
		m, ok := log[i], true
		for i++; ok && i < len(log) && bytes.Equal(log[i].Key, m.Key); i++ {
			m, ok = Combine(m, log[i])
		}
		if ok {
			sorted = append(sorted, m)
		}
	}
	return sorted
}

// AtBottom drops what only matters to older messages: below the lowest level there are none.
func AtBottom(messages []Message) []Message {
	kept := messages[:0]
	for _, m := range messages {
		if m.Kind != Remove {
			m.Kind = Insert
			kept = append(kept, m)
		}
	}
	return kept
}

// NetOf is by how much messages change the number of entries.
func NetOf(messages []Message) (net int64) {
	for i := range messages {
		net += messages[i].Kind.Net()
	}
	return net
}

// ErrCorrupt is an encoding that this package did not write.
var ErrCorrupt = errors.New("logmap: malformed value in the store")

// AppendLogged encodes a message for a log: the key's length, the key, the value's length and the kind, the value.
func AppendLogged(bz []byte, m Message) []byte {
	bz = binary.AppendUvarint(bz, uint64(len(m.Key)))
	bz = append(bz, m.Key...)
	bz = binary.AppendUvarint(bz, uint64(len(m.Value))<<2|uint64(m.Kind))
	return append(bz, m.Value...)
}

// LoggedBytes is at least what AppendLogged adds.
func LoggedBytes(m Message) int { return len(m.Key) + len(m.Value) + 2*binary.MaxVarintLen32 }

// appendSorted encodes a message of a chunk that follows one with the key last: what their keys share is stated by its
// length.
func appendSorted(bz []byte, last []byte, m Message) []byte {
	shared := SharedPrefix(last, m.Key)
	bz = binary.AppendUvarint(bz, uint64(shared))
	return AppendLogged(bz, Message{m.Key[shared:], m.Value, m.Kind})
}

// SharedPrefix is the length of what two keys begin with in common.
func SharedPrefix(a, b []byte) int {
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

// Message reads a message as appendLogged writes it.
func (d *Decoder) message() (m Message) {
	m.Key = d.Bytes(d.Uvarint())
	tag := d.Uvarint()
	m.Kind = Kind(tag & 3)
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
func messageAt(bz []byte, at int) (m Message, next int) {
	n, at := numberAt(bz, at)
	m.Key, at = bytesAt(bz, at, n)
	tag, at := numberAt(bz, at)
	m.Kind = Kind(tag & 3)
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

// DecodeLog reads the messages of a chunk of a log whose keys are in the interval. They share the memory of bz.
func DecodeLog(bz []byte, within Span, into []Message) ([]Message, error) {
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
			n := SharedPrefix(key, rest)
			if n == len(rest) || n < len(key) && key[n] > rest[n] {
				return at, same, nil
			}
			same += n
		}
		at = next
	}
	return at, same, nil
}

// EachSorted passes the messages of a chunk whose keys are in the interval to fn, in order. A message's key is valid until
// the next.
func EachSorted(bz []byte, within Span, fn func(Message)) error {
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

// EncodeChunk encodes sorted messages.
func EncodeChunk(messages []Message) []byte {
	var bz, last []byte
	for i := range messages {
		bz = appendSorted(bz, last, messages[i])
		last = messages[i].Key
	}
	return bz
}

// DecodeChunk reads sorted messages.
func DecodeChunk(bz []byte) (messages []Message, err error) {
	d := NewDecoder(bz)
	var last, keys []byte
	messages = make([]Message, 0, len(bz)/16+1)
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

// DecodeWithin reads the messages of a chunk whose keys are in the interval: those before it are passed over, those behind it
// are not looked at.
func DecodeWithin(bz []byte, within Span) (messages []Message, err error) {
	var keys []byte
	err = EachSorted(bz, within, func(m Message) {
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
func sizes(messages []Message) (each []int, total int) {
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

// Size is what sorted messages take in chunks.
func Size(messages []Message) int {
	_, total := sizes(messages)
	return total
}

// Fit returns how many of some sorted messages take no more than a limit in chunks, one at least.
func Fit(messages []Message, limit int) int {
	each, _ := sizes(messages)
	for i, size := range each {
		if limit -= size; limit < 0 && i > 0 {
			return i
		}
	}
	return len(messages)
}

// Pack divides sorted messages evenly into as few chunks as hold them, each of about limit bytes at most.
func Pack(messages []Message, limit int) (chunks [][]Message) {
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

// LastOf returns the last message about a key in a chunk of a log.
func LastOf(bz, key []byte) (last Message, found bool, err error) {
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

// Search returns the place of the first message whose key is not below.
func Search(messages []Message, key []byte) (at int, found bool) {
	return slices.BinarySearchFunc(messages, key, func(m Message, key []byte) int { return bytes.Compare(m.Key, key) })
}

// Only returns the sorted messages that are in the interval.
func Only(messages []Message, within Span) []Message {
	from, _ := Search(messages, within.From)
	to := len(messages)
	if within.To != nil {
		to, _ = Search(messages, within.To)
	}
	return messages[from:max(from, to)]
}

// Span is the keys from From to below To. A nil To has no end.
type Span struct{ From, To []byte }

// Contains reports whether the key is in the interval.
func (i Span) Contains(key []byte) bool {
	return bytes.Compare(key, i.From) >= 0 && !i.EndsBefore(key)
}

// IsEmpty reports whether no key can be in the interval.
func (i Span) IsEmpty() bool { return i.To != nil && bytes.Compare(i.From, i.To) >= 0 }

// EndsBefore reports whether the key and all above it lie behind the interval.
func (i Span) EndsBefore(key []byte) bool { return i.To != nil && bytes.Compare(key, i.To) >= 0 }

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
