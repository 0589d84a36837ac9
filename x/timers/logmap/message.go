package logmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/packed"
)

// kind says what a message does to the entry of its key.
type kind uint8

const (
	// insert adds an entry. There is none before.
	insert kind = 1 + iota
	// replace changes the value of an entry.
	replace
	// remove deletes an entry.
	remove
)

// net is what a message of the kind adds to the number of entries.
func (k kind) net() int64 {
	switch k {
	case insert:
		return 1
	case remove:
		return -1
	default:
		return 0
	}
}

// message is one change of an entry.
type message struct {
	key, value []byte
	kind       kind
}

// combine returns one message that does what both do. ok is false if that is nothing.
func combine(older, newer message) (both message, ok bool) {
	switch {
	case older.kind == insert && newer.kind == remove:
		return message{}, false
	case older.kind == insert:
		newer.kind = insert
	case newer.kind != remove:
		newer.kind = replace
	}
	return newer, true
}

// mergeSorted merges two lists sorted by key, in which no key is twice.
func mergeSorted(older, newer []message) []message {
	merged := make([]message, 0, len(older)+len(newer))
	for len(older) > 0 && len(newer) > 0 {
		switch order := bytes.Compare(older[0].key, newer[0].key); {
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
	slices.SortStableFunc(log, func(a, b message) int { return bytes.Compare(a.key, b.key) })
	sorted := log[:0]
	for i := 0; i < len(log); {
		m, ok := log[i], true
		for i++; ok && i < len(log) && bytes.Equal(log[i].key, m.key); i++ {
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
		if m.kind != remove {
			m.kind = insert
			kept = append(kept, m)
		}
	}
	return kept
}

func netOf(messages []message) (net int64) {
	for i := range messages {
		net += messages[i].kind.net()
	}
	return net
}

// errCorrupt is an encoding that this package did not write.
var errCorrupt = errors.New("logmap: malformed value in the store")

// appendLogged encodes a message for a log: the key's length, the key, the value's length and the kind, the value.
func appendLogged(bz []byte, m message) []byte {
	bz = binary.AppendUvarint(bz, uint64(len(m.key)))
	bz = append(bz, m.key...)
	bz = binary.AppendUvarint(bz, uint64(len(m.value))<<2|uint64(m.kind))
	return append(bz, m.value...)
}

// appendSorted encodes a message of a chunk that follows one with the key last: what their keys share is stated by its
// length.
func appendSorted(bz []byte, last []byte, m message) []byte {
	shared := sharedPrefix(last, m.key)
	bz = binary.AppendUvarint(bz, uint64(shared))
	return appendLogged(bz, message{m.key[shared:], m.value, m.kind})
}

func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// decoder reads what the append functions wrote.
type decoder struct{ packed.Reader }

func (d *decoder) err() error {
	if d.Failed() {
		return errCorrupt
	}
	return nil
}

// message reads a message as appendLogged writes it.
func (d *decoder) message() (m message) {
	m.key = d.Bytes(d.Uvarint())
	tag := d.Uvarint()
	m.kind = kind(tag & 3)
	m.value = d.Bytes(tag >> 2)
	if m.kind == 0 {
		d.Fail()
	}
	return m
}

// sharing reads a key that states what it shares with the one before.
func (d *decoder) sharing(last []byte) (shared []byte) {
	n := d.Uvarint()
	if n > uint64(len(last)) {
		d.Fail()
		return nil
	}
	return last[:n]
}

// decodeLog reads the messages of a chunk of a log. They share the memory of bz.
func decodeLog(bz []byte, into []message) ([]message, error) {
	d := decoder{packed.NewReader(bz)}
	for d.More() {
		into = append(into, d.message())
	}
	return into, d.err()
}

// encodeChunk encodes sorted messages.
func encodeChunk(messages []message) []byte {
	var bz, last []byte
	for i := range messages {
		bz = appendSorted(bz, last, messages[i])
		last = messages[i].key
	}
	return bz
}

// decodeChunk reads sorted messages.
func decodeChunk(bz []byte) (messages []message, err error) {
	d := decoder{packed.NewReader(bz)}
	var last, keys []byte
	messages = make([]message, 0, len(bz)/16+1)
	for d.More() {
		shared := d.sharing(last)
		m := d.message()
		if n := len(shared) + len(m.key); len(shared) > 0 {
			// Keys are put together in one piece of memory, which is replaced and never grows.
			if cap(keys)-len(keys) < n {
				keys = make([]byte, 0, max(n, 2*len(bz)))
			}
			begin := len(keys)
			keys = append(append(keys, shared...), m.key...)
			m.key = keys[begin:len(keys):len(keys)]
		}
		messages, last = append(messages, m), m.key
	}
	return messages, d.err()
}

// pack divides sorted messages evenly into as few chunks as hold them, each of about limit bytes at most.
func pack(messages []message, limit int) (chunks [][]message) {
	total := 0
	sizes := make([]int, len(messages))
	var buffer, last []byte
	for i := range messages {
		buffer = appendSorted(buffer[:0], last, messages[i])
		last = messages[i].key
		sizes[i] = len(buffer)
		total += len(buffer)
	}
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
