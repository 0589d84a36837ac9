package logmap

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
)

// ErrConsumed is returned for an entry that is inserted below what a queue has consumed.
var ErrConsumed = errors.New("logmap: the key lies below what the queue has consumed")

// lastKey is above all keys of a queue.
const lastKey = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

// dropChunks bounds the chunks that one Consume removes.
const dropChunks = 64

// Idle reports whether no key of a queue is below another one, and nothing waits to be merged. It reads the head alone, and may
// be false though it is so.
func (m *Map) Idle(ctx context.Context, key []byte) (bool, error) { return m.open(ctx).idle(key) }

// Idle is that of the map.
func (r *Reader) Idle(key []byte) (bool, error) { return r.opened.idle(key) }

func (m *opened) idle(key []byte) (bool, error) {
	h, err := m.head(front)
	return string(key) <= h.soon && !h.queued, err
}

// Consume states of a queue that nothing is inserted below a key any more. It finds the least key that is left, and removes some
// 64 chunks that lie below it and below the stated one, in order. No directory is written: the head says up to where they are
// removed. Merges drop the rest. It reports whether no entry is left.
func (m *Map) Consume(ctx context.Context, below []byte) (empty bool, err error) {
	o := m.Reader(ctx).opened
	h, err := o.head(front)
	if err != nil {
		return false, err
	}
	before := h
	next, err := o.page(Span{}, 1)
	if err != nil {
		return false, err
	}
	h.soon = lastKey
	if len(next) > 0 {
		h.soon = string(next[0].Key)
	}
	h.low = max(h.low, min(h.soon, string(below)))
	if err := o.removeConsumed(&h); err != nil || h == before {
		return len(next) == 0, err
	}
	return len(next) == 0, o.setHead(front, h)
}

// removeConsumed removes the chunks and pages that end first of those that end from the key gone on below the key low.
func (m *opened) removeConsumed(h *head) error {
	var consumed []ended
	for number := 1; number <= h.levels; number++ {
		l, err := m.level(front, number)
		if err != nil {
			return err
		}
		for i := range l.runs {
			of, err := m.consumedOf(number, &l.runs[i], l.removed(i, *h), []byte(h.low))
			if err != nil {
				return err
			}
			consumed = append(consumed, of...)
		}
	}
	slices.SortStableFunc(consumed, func(a, b ended) int { return bytes.Compare(a.end, b.end) })
	h.gone = h.low
	if len(consumed) > dropChunks {
		h.gone = string(justAbove(consumed[dropChunks-1].end))
	}
	for _, at := range consumed {
		if string(at.end) >= h.gone {
			break
		}
		if err := m.store.Delete(at.key); err != nil {
			return err
		}
	}
	return nil
}

// ended is the key in the store of a chunk or a page, and where that ends.
type ended struct{ key, end []byte }

// consumedOf are the chunks and pages of a run that end from a key on below another one: all, or more than are removed at a time,
// with all that end where the last does.
func (m *opened) consumedOf(number int, of *run, from, to []byte) (consumed []ended, err error) {
	if bytes.Compare(from, to) >= 0 {
		return nil, nil
	}
	_, err = m.ended(front, number, of.refs, of.end, from, to, func(at ref, end []byte) bool {
		if n := len(consumed); n > dropChunks && !bytes.Equal(end, consumed[n-1].end) {
			return false
		}
		consumed = append(consumed, ended{valueKey(front, number, at), end})
		return true
	})
	return consumed, err
}

// removed is the key below which the chunks of a run have ended that are removed.
func (l *level) removed(run int, h head) []byte {
	if run < l.moving && len(l.low) > 0 && h.gone <= string(l.low) {
		return justAbove(l.low)
	}
	return []byte(h.gone)
}

// justAbove is the first key above a key.
func justAbove(key []byte) []byte { return append(slices.Clip(key), 0) }

// insertInto lowers what a queue's head says of the least key, where changes insert one that is less.
func (h *head) insertInto(changes []Change) (lowered bool, err error) {
	for i := range changes {
		message := &changes[i].message
		if message.Kind != Insert {
			continue
		}
		key := string(message.Key)
		if key < h.low {
			return false, ErrConsumed
		}
		if key < h.soon {
			h.soon, lowered = key, true
		}
	}
	return lowered, nil
}

// notBelow is a key, or the first that a queue may have.
func (h head) notBelow(key []byte) []byte {
	if string(key) < h.low {
		return []byte(h.low)
	}
	return key
}

// zone is the least and the greatest number at the end of the keys of a run. The entries of a queue's run were inserted one
// after the other, and end in numbers that rise: so a look-up skips the other runs.
type zone struct{ from, to uint64 }

func (z zone) has(n uint64) bool { return z.from <= n && n <= z.to }

// noZone has no number.
var noZone = zone{from: ^uint64(0)}

// numberBytes is the length of the number at the end of a queue's key.
const numberBytes = 8

func numberOf(key []byte) uint64 {
	if len(key) < numberBytes {
		return 0
	}
	return binary.BigEndian.Uint64(key[len(key)-numberBytes:])
}

// alive are the messages of a queue that are not below what it has consumed.
func (m *opened) alive(h *head, sorted []Message) []Message {
	if !m.opts.Queue || h.low == "" {
		return sorted
	}
	return Only(sorted, Span{From: []byte(h.low)})
}

// checkQueue checks that no entry is below what the head says.
func (m *opened) checkQueue(h head) error {
	first, err := m.page(Span{}, 1)
	if err == nil && len(first) > 0 && (bytes.Compare(first[0].Key, []byte(h.low)) < 0 || string(first[0].Key) < h.soon) {
		err = errors.New("the queue has an entry below its first key")
	}
	return err
}
