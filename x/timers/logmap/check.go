package logmap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
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
	if h.last > 0 && !values[string(logKey(h.last))] {
		return errors.New("the end of the log is missing")
	}
	for number := range h.last + 1 {
		delete(values, string(logKey(number)))
	}
	_, err := m.log(h, span{})
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
		most = 1 + l.moving
	}
	if number == 0 && r == front {
		most = 0
	}
	if number > 0 && number == h.levels && len(l.runs) == 0 || len(l.runs) > most {
		return fmt.Errorf("it has %d runs", len(l.runs))
	}
	if waits := number > 0 && (l.moving > 0 || len(l.runs) >= m.opts.Runs); waits && !h.queued && !m.opts.Queue {
		return fmt.Errorf("nothing moves its %d runs down", len(l.runs))
	}
	// Runs to which nothing is added name about a page, and the newest as many of each height.
	if l.refs() > m.opts.PageRefs*(1+mostHeight)+len(l.runs) {
		return fmt.Errorf("its directory names %d chunks and pages", l.refs())
	}
	for i := range l.runs {
		c := runCheck{m: m, r: r, number: number, l: l, of: &l.runs[i], values: values, removed: l.removed(i, h)}
		if err := c.refs(c.of.refs, c.of.end); err != nil {
			return err
		}
	}
	return nil
}

// runCheck checks a run from its beginning to its end.
type runCheck struct {
	m      *opened
	r      uint64
	number int
	l      *level
	of     *run
	values map[string]bool
	// removed is the key below which those have ended that are removed, and last the last key that was seen.
	removed, last []byte
}

// refs checks what a list names, which ends at a key or nowhere.
func (c *runCheck) refs(list refs, end []byte) error {
	for i, at := range list {
		fence, ok := list.fence(i)
		if !ok {
			fence = end
		}
		key := string(valueKey(c.r, c.number, at))
		gone := len(fence) > 0 && bytes.Compare(fence, c.removed) < 0
		switch {
		case i > 0 && (bytes.Compare(list[i-1].first, at.first) >= 0 || list[i-1].height < at.height):
			return fmt.Errorf("%d is out of order in its directory", at.number)
		case c.values[key] == gone || c.l.next-at.number-1 >= 1<<31:
			return fmt.Errorf("%d is named twice, or has no number, or removed is %t", at.number, gone)
		case gone:
			continue
		}
		delete(c.values, key)
		if err := c.value(at, fence); err != nil {
			return fmt.Errorf("%d of height %d: %w", at.number, at.height, err)
		}
	}
	return nil
}

// value checks a page, and what it names, or a chunk.
func (c *runCheck) value(at ref, end []byte) error {
	if at.height > 0 {
		page, err := c.m.refsOf(c.r, c.number, at)
		if err != nil {
			return err
		}
		if len(page) > c.m.opts.PageRefs || page.net() != at.net || bytes.Compare(page[0].first, at.first) < 0 {
			return errors.New("the page is not what its directory says")
		}
		return c.refs(page, end)
	}
	chunk, err := c.m.chunk(c.r, c.number, at)
	if err != nil {
		return err
	}
	if len(chunk) == 0 || bytes.Compare(chunk[0].Key, at.first) < 0 || c.last != nil && len(at.first) > 0 && bytes.Compare(c.last, at.first) >= 0 {
		return fmt.Errorf("the chunk begins at %x", at.first)
	}
	if len(end) > 0 && bytes.Compare(chunk[len(chunk)-1].Key, end) >= 0 {
		return fmt.Errorf("the chunk does not end at %x", end)
	}
	if net := netOf(chunk); net != at.net {
		return fmt.Errorf("the chunk stands for %d entries, the directory says %d", net, at.net)
	}
	return c.messages(chunk)
}

// messages checks that the messages of a chunk belong there, in order after the last key.
func (c *runCheck) messages(chunk []message) error {
	for _, message := range chunk {
		if c.last != nil && bytes.Compare(c.last, message.Key) >= 0 {
			return fmt.Errorf("key %x is out of order", message.Key)
		}
		if of := c.m.rangeOf(message.Key); c.r != front && of != c.r {
			return fmt.Errorf("key %x belongs to range %d", message.Key, of)
		}
		if c.number == 0 && message.Kind != kindInsert {
			return fmt.Errorf("key %x waits for an older message at the bottom", message.Key)
		}
		if c.m.opts.Queue && !c.of.zone.has(numberOf(message.Key)) {
			return fmt.Errorf("key %x is outside of its run's zone", message.Key)
		}
		c.last = message.Key
	}
	return nil
}
