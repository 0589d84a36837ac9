package logmap

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
)

// Check returns what is wrong with the map's own structure: with the order of keys, the directories, the counts, and
// with what no range names. It reads everything: tests and tools call it, no block does.
func (m *Map) Check(ctx context.Context) error {
	values := map[string]bool{}
	var heads []uint64
	var malformed error
	o := m.open(ctx)
	err := o.store.Scan(nil, func(key, _ []byte) bool {
		values[string(key)] = true
		if key[0] == headPrefix {
			var r uint64
			r, malformed = rangeOf(key)
			heads = append(heads, r)
		}
		return malformed == nil
	})
	if err := cmp.Or(err, malformed); err != nil {
		return err
	}
	for _, r := range heads {
		if err := o.checkRange(r, values); err != nil {
			return fmt.Errorf("range %d: %w", r, err)
		}
	}
	if len(values) > 0 {
		return fmt.Errorf("%d values belong to no range", len(values))
	}
	return nil
}

// checkRange checks a range and takes its values out of those that are given.
func (m *opened) checkRange(r uint64, values map[string]bool) error {
	h, err := m.head(r)
	if err != nil {
		return err
	}
	if h.full() > 2*m.opts.MergeLogs {
		return fmt.Errorf("%d chunks of the log are full", h.full())
	}
	if h.queued != values[string(queueKey(r))] {
		return fmt.Errorf("queued is %t, which its key does not say", h.queued)
	}
	delete(values, string(headKey(r)))
	delete(values, string(queueKey(r)))
	for number := h.first; number <= h.last; number++ {
		delete(values, string(logKey(r, number)))
	}
	log, err := m.log(r, h)
	if err != nil {
		return err
	}
	for _, message := range log {
		if of := m.opts.Range(message.key); of != r {
			return fmt.Errorf("key %x belongs to range %d", message.key, of)
		}
	}
	for number := range h.levels + 1 {
		if err := m.checkLevel(r, number, h, values); err != nil {
			return fmt.Errorf("level %d: %w", number, err)
		}
	}
	return nil
}

func (m *opened) checkLevel(r uint64, number int, h head, values map[string]bool) error {
	l, err := m.level(r, number)
	if err != nil {
		return err
	}
	delete(values, string(directoryKey(r, number)))
	if number > 0 && number == h.levels && len(l.runs) == 0 || number == 0 && len(l.runs) > 1 {
		return fmt.Errorf("it has %d runs", len(l.runs))
	}
	if waits := number > 0 && (l.moving > 0 || len(l.runs) >= m.opts.Runs); waits && !h.queued {
		return fmt.Errorf("nothing moves its %d runs down", len(l.runs))
	}
	for _, chunks := range l.runs {
		if err := m.checkRun(r, number, chunks, l.next, values); err != nil {
			return err
		}
	}
	return nil
}

func (m *opened) checkRun(r uint64, number int, chunks run, next uint32, values map[string]bool) error {
	var last []byte
	for i, ref := range chunks {
		chunk, err := m.chunk(r, number, ref)
		if err != nil {
			return err
		}
		key := string(chunkKey(r, number, ref.number))
		if !values[key] || ref.number >= next {
			return fmt.Errorf("chunk %d is named twice, or has no number", ref.number)
		}
		delete(values, key)
		if (i == 0) != (len(ref.first) == 0) || bytes.Compare(chunk[0].key, ref.first) < 0 || i > 0 && bytes.Compare(last, ref.first) >= 0 {
			return fmt.Errorf("chunk %d begins at %x", ref.number, ref.first)
		}
		if last, err = m.checkOrder(r, number, chunk, last); err != nil {
			return err
		}
		if net := netOf(chunk); net != ref.net {
			return fmt.Errorf("chunk %d stands for %d entries, the directory says %d", ref.number, net, ref.net)
		}
	}
	return nil
}

// checkOrder checks that the messages of a chunk belong there, in order after a key, and returns the last key.
func (m *opened) checkOrder(r uint64, number int, chunk []message, last []byte) ([]byte, error) {
	for _, message := range chunk {
		if last != nil && bytes.Compare(last, message.key) >= 0 {
			return nil, fmt.Errorf("key %x is out of order", message.key)
		}
		if of := m.opts.Range(message.key); of != r {
			return nil, fmt.Errorf("key %x belongs to range %d", message.key, of)
		}
		if number == 0 && message.kind != insert {
			return nil, fmt.Errorf("key %x waits for an older message at the bottom", message.key)
		}
		last = message.key
	}
	return last, nil
}
