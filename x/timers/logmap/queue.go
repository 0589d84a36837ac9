package logmap

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
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

// Consume states of a queue that nothing is inserted below a key any more. It finds the least key that is left, and removes at
// most 64 chunks that lie below it and below the stated one. Merges drop the rest. It reports whether no entry is left.
func (m *Map) Consume(ctx context.Context, below []byte) (empty bool, err error) {
	o := m.Reader(ctx).opened
	h, err := o.head(front)
	if err != nil {
		return false, err
	}
	next, err := o.page(wire.Span{}, 1)
	if err != nil {
		return false, err
	}
	h.soon = lastKey
	if len(next) > 0 {
		h.soon = string(next[0].Key)
	}
	h.low = max(h.low, min(h.soon, string(below)))
	left := dropChunks
	for number := 1; number <= h.levels && left > 0; number++ {
		if err := o.trim(number, []byte(h.low), &left); err != nil {
			return false, err
		}
	}
	return len(next) == 0, o.setHead(front, h)
}

// trim removes the chunks of a level of the front whose keys are all below a key.
func (m *opened) trim(number int, low []byte, left *int) error {
	l, err := m.level(front, number)
	if err != nil {
		return err
	}
	changed := false
	for i, chunks := range l.runs {
		n := min(chunks.find(low), *left)
		for _, ref := range chunks[:n] {
			if err := m.store.Delete(chunkKey(front, number, ref.number)); err != nil {
				return err
			}
		}
		l.runs[i], changed = chunks[n:], changed || n > 0
		*left -= n
	}
	if !changed {
		return nil
	}
	return m.setLevel(front, number, l)
}

// insertInto lowers what a queue's head says of the least key, where changes insert one that is less.
func (h *head) insertInto(changes []Change) (lowered bool, err error) {
	for i := range changes {
		message := &changes[i].message
		if message.Kind != wire.Insert {
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

func (z zone) join(o zone) zone { return zone{min(z.from, o.from), max(z.to, o.to)} }

// numberBytes is the length of the number at the end of a queue's key.
const numberBytes = 8

func numberOf(key []byte) uint64 {
	if len(key) < numberBytes {
		return 0
	}
	return binary.BigEndian.Uint64(key[len(key)-numberBytes:])
}

func zoneOf(messages []wire.Message) zone {
	z := zone{from: ^uint64(0)}
	for i := range messages {
		n := numberOf(messages[i].Key)
		z = z.join(zone{n, n})
	}
	return z
}

// alive are the messages of a queue that are not below what it has consumed.
func (m *opened) alive(h *head, sorted []wire.Message) []wire.Message {
	if !m.opts.Queue || h.low == "" {
		return sorted
	}
	return wire.Only(sorted, wire.Span{From: []byte(h.low)})
}

// checkZone checks that a run has no number that its zone lacks.
func (m *opened) checkZone(number int, chunks run, z zone) error {
	for _, ref := range chunks {
		chunk, err := m.chunk(front, number, ref)
		if err != nil {
			return err
		}
		for i := range chunk {
			if !z.has(numberOf(chunk[i].Key)) {
				return fmt.Errorf("key %x is outside of its run's zone", chunk[i].Key)
			}
		}
	}
	return nil
}

// checkQueue checks that no entry is below what the head says.
func (m *opened) checkQueue(h head) error {
	first, err := m.page(wire.Span{}, 1)
	if err == nil && len(first) > 0 && (bytes.Compare(first[0].Key, []byte(h.low)) < 0 || string(first[0].Key) < h.soon) {
		err = errors.New("the queue has an entry below its first key")
	}
	return err
}
