package logmap

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
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
			r, malformed = parseRange(key)
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
	if h.queued != values[string(queueKey(r))] {
		return fmt.Errorf("queued is %t, which its key does not say", h.queued)
	}
	if m.opts.Queue {
		if err := m.checkQueue(h); err != nil {
			return err
		}
	}
	delete(values, string(headKey(r)))
	delete(values, string(queueKey(r)))
	if err := m.checkLog(r, h, values); err != nil {
		return err
	}
	for number := range h.levels + 1 {
		if err := m.checkLevel(r, number, h, values); err != nil {
			return fmt.Errorf("level %d: %w", number, err)
		}
	}
	return nil
}

// checkLog checks the log, which the front alone has.
func (m *opened) checkLog(r uint64, h head, values map[string]bool) error {
	if r != front {
		if h.last > 0 {
			return fmt.Errorf("it has a log of %d chunks", h.full())
		}
		return nil
	}
	if h.full() >= 2*m.opts.MergeLogs {
		return fmt.Errorf("%d chunks of the log are full", h.full())
	}
	for number := range h.last + 1 {
		delete(values, string(logKey(number)))
	}
	_, err := m.log(h, wire.Span{})
	return err
}

func (m *opened) checkLevel(r uint64, number int, h head, values map[string]bool) error {
	l, err := m.level(r, number)
	if err != nil {
		return err
	}
	delete(values, string(directoryKey(r, number)))
	most := 2 * m.opts.Runs
	if number == 0 {
		most = 1
	}
	if number == 0 && r == front {
		most = 0
	}
	if number > 0 && number == h.levels && len(l.runs) == 0 || len(l.runs) > most {
		return fmt.Errorf("it has %d runs", len(l.runs))
	}
	if waits := number > 0 && (l.moving > 0 || len(l.runs) >= m.opts.Runs); waits && !h.queued {
		return fmt.Errorf("nothing moves its %d runs down", len(l.runs))
	}
	for i, chunks := range l.runs {
		if err := m.checkRun(r, number, chunks, l.next, values); err != nil {
			return err
		}
		if m.opts.Queue {
			if err := m.checkZone(number, chunks, l.zones[i]); err != nil {
				return err
			}
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
		if (i == 0) != (len(ref.first) == 0) || bytes.Compare(chunk[0].Key, ref.first) < 0 || i > 0 && bytes.Compare(last, ref.first) >= 0 {
			return fmt.Errorf("chunk %d begins at %x", ref.number, ref.first)
		}
		if last, err = m.checkOrder(r, number, chunk, last); err != nil {
			return err
		}
		if net := wire.NetOf(chunk); net != ref.net {
			return fmt.Errorf("chunk %d stands for %d entries, the directory says %d", ref.number, net, ref.net)
		}
	}
	return nil
}

// checkOrder checks that the messages of a chunk belong there, in order after a key, and returns the last key.
func (m *opened) checkOrder(r uint64, number int, chunk []wire.Message, last []byte) ([]byte, error) {
	for _, at := range chunk {
		if last != nil && bytes.Compare(last, at.Key) >= 0 {
			return nil, fmt.Errorf("key %x is out of order", at.Key)
		}
		if of := m.rangeOf(at.Key); r != front && of != r {
			return nil, fmt.Errorf("key %x belongs to range %d", at.Key, of)
		}
		if number == 0 && at.Kind != wire.Insert {
			return nil, fmt.Errorf("key %x waits for an older wire.Message at the bottom", at.Key)
		}
		last = at.Key
	}
	return last, nil
}
