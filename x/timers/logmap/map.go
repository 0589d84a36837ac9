package logmap

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// Opener opens the store beneath a map as a context sees it: for one operation of the map, or for a Reader.
type Opener interface {
	Open(ctx context.Context) Store
}

// Store is an ordered store that was opened. The map writes keys of its own, of at most 15 bytes, and no empty values. It
// does not change a value that it was given, and the store must not change one after it was handed over.
type Store interface {
	// Get returns nil if there is no value.
	Get(key []byte) ([]byte, error)
	Set(key, value []byte) error
	Delete(key []byte) error
	// Scan calls fn for entries from the key on, in order, until fn returns false. fn does not use the store.
	Scan(from []byte, fn func(key, value []byte) (more bool)) error
}

// Options shape a map. They must not change while it holds entries. What is zero takes its default.
type Options struct {
	// Range assigns a key to a range, by a number below 2^63. It must not fall as keys rise. A move into the ranges
	// writes to each of them, and their directories grow with what they hold: so there should be tens of them. Nil is one
	// range.
	Range func(key []byte) uint64
	// LogBytes bounds a chunk of the log, which every change rewrites. 2,048 by default.
	LogBytes int
	// MergeLogs is how many full chunks of the log Maintain merges. 4 by default.
	MergeLogs int
	// ChunkBytes is the size of a sorted chunk. 4,096 by default.
	ChunkBytes int
	// PageRefs is how many chunks, or pages, a page of a directory names at most. 256 by default, which is some 4,096 bytes, and
	// 4 at least.
	PageRefs int
	// Runs is how many runs a level has when they move down. 8 by default, and 2 at least.
	Runs int
	// Split is how many chunks move into the ranges at least. Fewer become a run that all ranges share. 64 by default: as
	// many as there are ranges.
	Split int
	// Ratio is how many times larger than the runs that move down the bottom may be if they are merged into it. 2 by
	// default.
	Ratio int
	// Queue: keys end in a number of eight bytes that rises with each insertion, and the least are consumed (Consume). The first
	// byte of a key is its class. All lies in the front, which moves down in levels: Range, Split and Ratio have no effect.
	Queue bool
	// Merges is how many ranges Maintain works on at most, 4 by default, and Steps how many slices of the runs that move
	// down it moves in each, 2 by default.
	Merges, Steps int
}

// Entry is an entry of the map. Its bytes must not be changed.
type Entry struct {
	Key, Value []byte
}

// Map is an ordered map from keys to values, either of any length. It holds nothing in memory: all methods can be
// called from several goroutines if the store can.
type Map struct {
	stores Opener
	opts   Options
}

// opened is a map on a store that was opened.
type opened struct {
	store Store
	opts  *Options
	// memory of a Reader; nil otherwise.
	memory *memory
	// merged: more than the log was changed.
	merged bool
}

func (m *Map) open(ctx context.Context) *opened {
	return &opened{store: m.stores.Open(ctx), opts: &m.opts}
}

// New returns the map of a store. Nothing else may write to the store.
func New(stores Opener, opts Options) *Map {
	if opts.Range == nil {
		opts.Range = func([]byte) uint64 { return 0 }
	}
	for _, option := range []struct {
		value       *int
		byDefault   int
		leastUseful int
	}{
		{&opts.LogBytes, 2_048, 1},
		{&opts.MergeLogs, 4, 1},
		{&opts.ChunkBytes, 4_096, 4},
		{&opts.PageRefs, 256, 4},
		{&opts.Runs, 8, 2},
		{&opts.Split, 64, 1},
		{&opts.Ratio, 2, 1},
		{&opts.Merges, 4, 1},
		{&opts.Steps, 2, 1},
	} {
		if *option.value == 0 {
			*option.value = option.byDefault
		}
		*option.value = max(*option.value, option.leastUseful)
	}
	if opts.Queue {
		opts.Range = func([]byte) uint64 { return 0 }
	}
	return &Map{stores, opts}
}

// Change is a change of one entry.
type Change struct{ message message }

// Adds is the length of the entry that the change adds; 0 if it changes or removes one.
func (c Change) Adds() int {
	if c.message.Kind != kindInsert {
		return 0
	}
	return len(c.message.Key) + len(c.message.Value)
}

// Inserted is what Insert does.
func Inserted(key, value []byte) Change {
	return Change{message{Key: key, Value: value, Kind: kindInsert}}
}

// Replaced changes the value of an entry. The caller knows that it exists.
func Replaced(key, value []byte) Change {
	return Change{message{Key: key, Value: value, Kind: kindReplace}}
}

// Deleted is what Delete does.
func Deleted(key []byte) Change { return Change{message{Key: key, Kind: kindRemove}} }

// Apply makes changes one after the other, at the cost of one as long as they fill no chunk of the log.
func (m *Map) Apply(ctx context.Context, changes ...Change) error { return m.open(ctx).apply(changes) }

// Append is Apply, and reports whether the log alone was changed, so that a Reader need only read that again.
func (m *Map) Append(ctx context.Context, changes ...Change) (logAlone bool, err error) {
	o := m.open(ctx)
	err = o.apply(changes)
	return !o.merged, err
}

// Clear removes all values of a map that has no entries any more, but what they were merged from and what removed them. Where
// nothing waits to be merged, that is a few times what the map held at most.
func (m *Map) Clear(ctx context.Context) error {
	store := m.stores.Open(ctx)
	var keys [][]byte
	err := store.Scan(nil, func(key, _ []byte) bool {
		keys = append(keys, bytes.Clone(key))
		return true
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := store.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// apply adds messages to the log.
func (m *opened) apply(changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	head, err := m.head(front)
	if err != nil {
		return err
	}
	tail, err := m.store.Get(logKey(head.last))
	if err != nil {
		return err
	}
	lowered := false
	if m.opts.Queue {
		if lowered, err = head.note(changes); err != nil {
			return err
		}
	}
	if lowered || len(tail) == 0 && head.isNew() {
		if err := m.setHead(front, head); err != nil {
			return err
		}
	}
	stored := len(tail)
	tail = append(make([]byte, 0, stored+m.loggedBytes(changes)), tail...)
	for i := range changes {
		before := len(tail)
		if tail = appendLogged(tail, changes[i].message); before == 0 || len(tail) <= m.opts.LogBytes {
			continue
		}
		full, rest := tail[:before:before], tail[before:]
		if before > stored {
			if err := m.store.Set(logKey(head.last), full); err != nil {
				return err
			}
		}
		if head, err = m.seal(head); err != nil {
			return err
		}
		stored, tail = 0, append(make([]byte, 0, len(rest)+m.loggedBytes(changes[i+1:])), rest...)
	}
	return m.store.Set(logKey(head.last), tail)
}

// loggedBytes is about what changes take in a chunk of the log.
func (m *opened) loggedBytes(changes []Change) (n int) {
	for i := range changes {
		n += loggedBytes(changes[i].message)
	}
	return min(n, m.opts.LogBytes)
}

// seal begins another chunk of the log. If the log is far too long, it is merged first, and what has far too many runs
// moves down.
func (m *opened) seal(h head) (head, error) {
	h.last++
	wasQueued := h.queued
	h.queued = wasQueued || h.full() >= m.opts.MergeLogs
	if h.full() >= 2*m.opts.MergeLogs {
		m.merged = true
		if err := m.mergeLog(&h); err != nil {
			return h, err
		}
	}
	if h.queued && !wasQueued {
		if err := m.store.Set(queueKey(front), present); err != nil {
			return h, err
		}
	}
	return h, m.setHead(front, h)
}

// The first byte of the store's keys.
const (
	headPrefix = iota
	logPrefix
	directoryPrefix
	chunkPrefix
	queuePrefix
)

// present is a value that says nothing but that it is there.
var present = []byte{1}

// mostLevels have their place in a key.
const mostLevels = 255

// front is the number of what all ranges share. Ranges are numbered from 1.
const front uint64 = 0

// rangeOf is the number of the range of a key of the map.
func (m *opened) rangeOf(key []byte) uint64 { return m.opts.Range(key) + 1 }

// rangeKey is the prefix, the length of the range's number and its digits. So ranges are in order, and a small number
// takes two bytes.
func rangeKey(prefix byte, r uint64) []byte {
	n := (bits.Len64(r) + 7) / 8
	key := append(make([]byte, 0, 16), prefix, byte(n))
	for i := n - 1; i >= 0; i-- {
		key = append(key, byte(r>>(8*i)))
	}
	return key
}

// parseRange reads the number in a key of the store.
func parseRange(key []byte) (r uint64, err error) {
	if len(key) < 2 || len(key) > 10 || int(key[1]) != len(key)-2 {
		return 0, ErrCorrupt
	}
	for _, digit := range key[2:] {
		r = r<<8 | uint64(digit)
	}
	return r, nil
}

func headKey(r uint64) []byte { return rangeKey(headPrefix, r) }

func queueKey(r uint64) []byte { return rangeKey(queuePrefix, r) }

func logKey(number uint32) []byte {
	return binary.BigEndian.AppendUint32(rangeKey(logPrefix, front), number)
}

func directoryKey(r uint64, level int) []byte {
	return append(rangeKey(directoryPrefix, r), byte(level))
}

// valueKey is the key of a chunk, or of a page, which is behind that of its directory.
func valueKey(r uint64, level int, of ref) []byte {
	key := directoryKey(r, level)
	if of.height == 0 {
		key[0] = chunkPrefix
	}
	return binary.BigEndian.AppendUint32(key, of.number)
}

// head is what the front, and each range, states of itself.
type head struct {
	// last is the number of the chunk of the log that is being written; those before it are full. A range has no log.
	last uint32
	// levels is the number of levels above the bottom.
	levels int
	// queued: Maintain will come to it.
	queued bool
	// stored: there is a head in the store.
	stored bool
	// low: nothing below it is in a queue, nor comes there. gone: the chunks that end below it are removed, which the directories
	// still name. They are of the front alone.
	low, gone string
	// firsts are keys of a queue in their order, one of each class that has any: none of its class is below it. Of a class whose first
	// has left since a block looked it is the class alone. They are not changed in place.
	firsts [][]byte
}

func (h head) equal(other head) bool {
	return h.last == other.last && h.levels == other.levels && h.queued == other.queued && h.stored == other.stored &&
		h.low == other.low && h.gone == other.gone && slices.EqualFunc(h.firsts, other.firsts, bytes.Equal)
}

// classOf is the first byte of a key, behind which other classes begin.
func classOf(key []byte) byte {
	if len(key) == 0 {
		return 0
	}
	return key[0]
}

// firstOf is the place of a class in firsts.
func (h head) firstOf(class byte) (at int, found bool) {
	return slices.BinarySearchFunc(h.firsts, class, func(first []byte, class byte) int { return cmp.Compare(classOf(first), class) })
}

// hasNone reports whether a queue has no key of an interval, as far as its head says.
func (h head) hasNone(within span) bool {
	at, _ := h.firstOf(classOf(within.From))
	return at == len(h.firsts) || within.EndsBefore(h.firsts[at])
}

func (h head) full() int { return int(h.last) }

func (h head) isNew() bool { return !h.stored }

// head reads the head of the front or a range.
func (m *opened) head(r uint64) (head, error) {
	bz, err := m.store.Get(headKey(r))
	if err != nil || bz == nil {
		return head{}, err
	}
	return decodeHead(bz)
}

func decodeHead(bz []byte) (head, error) {
	d := NewDecoder(bz)
	last, levels := d.Uvarint(), d.Uvarint()
	h := head{last: uint32(last), levels: int(levels >> 1 & mostLevels), queued: levels&1 == 1, stored: true}
	if d.More() {
		h.low = string(d.Bytes(d.Uvarint()))
		h.gone = string(d.Bytes(d.Uvarint()))
		for d.More() {
			h.firsts = append(h.firsts, d.Bytes(d.Uvarint()))
		}
	}
	if last > 1<<32-1 || levels>>1 > mostLevels {
		return h, ErrCorrupt
	}
	return h, d.Err()
}

func (m *opened) setHead(r uint64, h head) error {
	bz := binary.AppendUvarint(make([]byte, 0, 8), uint64(h.last))
	levels := uint64(h.levels) << 1
	if h.queued {
		levels |= 1
	}
	bz = binary.AppendUvarint(bz, levels)
	if m.opts.Queue && r == front {
		bz = append(binary.AppendUvarint(bz, uint64(len(h.low))), h.low...)
		bz = append(binary.AppendUvarint(bz, uint64(len(h.gone))), h.gone...)
		for _, first := range h.firsts {
			bz = append(binary.AppendUvarint(bz, uint64(len(first))), first...)
		}
	}
	return m.store.Set(headKey(r), bz)
}

// log reads the messages of the log in an interval, in the order in which they arrived.
func (m *opened) log(h head, within span) (log []message, err error) {
	for number := range h.last + 1 {
		bz, err := m.logged(h, number)
		if err != nil {
			return nil, err
		}
		if log, err = decodeLog(bz, within, log); err != nil {
			return log, err
		}
	}
	return log, nil
}

// logged reads a chunk of the log. The last may have nothing yet.
func (m *opened) logged(h head, number uint32) ([]byte, error) {
	bz, err := m.store.Get(logKey(number))
	if err == nil && bz == nil && number < h.last {
		err = ErrCorrupt
	}
	return bz, err
}

// ErrConsumed is returned for an entry that is inserted below what a queue has consumed.
var ErrConsumed = errors.New("logmap: the key lies below what the queue has consumed")

// dropChunks bounds the chunks that one Consume removes.
const dropChunks = 64

// Idle reports of a queue whether none of some keys has one of its class below it, and nothing waits to be merged. It reads the
// head alone, and may be false though it is so.
func (m *Map) Idle(ctx context.Context, keys ...[]byte) (bool, error) { return m.open(ctx).idle(keys) }

// Idle is that of the map.
func (r *Reader) Idle(keys ...[]byte) (bool, error) { return r.opened.idle(keys) }

func (m *opened) idle(keys [][]byte) (bool, error) {
	h, err := m.head(front)
	if err != nil || h.queued {
		return false, err
	}
	for _, key := range keys {
		if at, found := h.firstOf(classOf(key)); found && bytes.Compare(h.firsts[at], key) < 0 {
			return false, nil
		}
	}
	return true, nil
}

// Consume states of a queue that nothing is inserted below a key any more, and that others have been reached. It finds the least key
// that is left of each class that has been reached, or whose first has left. It removes some 64 chunks that lie below the stated key
// and all that are left, in order. No directory is written: the head says up to where they are removed. Merges drop the rest. It
// reports whether no entry is left, of classes that others of the keys have.
func (m *Map) Consume(ctx context.Context, below []byte, reached ...[]byte) (empty bool, err error) {
	o := m.Reader(ctx).opened
	h, err := o.head(front)
	if err != nil {
		return false, err
	}
	before := h
	reached = append(reached, below)
	for _, first := range h.firsts {
		passed := func(key []byte) bool { return classOf(key) == classOf(first) && bytes.Compare(first, key) < 0 }
		if !slices.ContainsFunc(reached, passed) {
			continue
		}
		if err := o.findFirst(&h, first); err != nil {
			return false, err
		}
	}
	low := string(below)
	if len(h.firsts) > 0 {
		low = min(low, string(h.firsts[0]))
	}
	h.low = max(h.low, low)
	if err := o.removeConsumed(&h); err != nil || h.equal(before) {
		return len(h.firsts) == 0, err
	}
	return len(h.firsts) == 0, o.setHead(front, h)
}

// findFirst finds the least key of a class that is left, of which none is below the stated one.
func (m *opened) findFirst(h *head, from []byte) error {
	within := span{From: from}
	if class := classOf(from); class < 1<<8-1 {
		within.To = []byte{class + 1}
	}
	next, err := m.page(within, 1)
	if err != nil {
		return err
	}
	at, _ := h.firstOf(classOf(from))
	if h.firsts = slices.Clone(h.firsts); len(next) > 0 {
		h.firsts[at] = next[0].Key
		return nil
	}
	h.firsts = slices.Delete(h.firsts, at, at+1)
	return nil
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

// note lowers what a queue's head says of the least key of a class, where changes insert one that is less, or remove it.
func (h *head) note(changes []Change) (lowered bool, err error) {
	for i := range changes {
		message := &changes[i].message
		first := message.Key
		at, found := h.firstOf(classOf(first))
		switch message.Kind {
		case kindInsert:
			if string(first) < h.low {
				return false, ErrConsumed
			}
			if found && bytes.Compare(first, h.firsts[at]) >= 0 {
				continue
			}
		case kindRemove:
			if !found || !bytes.Equal(first, h.firsts[at]) {
				continue
			}
			first = first[:1]
		default:
			continue
		}
		if h.firsts, lowered = slices.Clone(h.firsts), true; found {
			h.firsts[at] = first
		} else {
			h.firsts = slices.Insert(h.firsts, at, first)
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
func (m *opened) alive(h *head, sorted []message) []message {
	if !m.opts.Queue || h.low == "" {
		return sorted
	}
	return only(sorted, span{From: []byte(h.low)})
}

// checkQueue checks that no entry is below what the head says.
func (m *opened) checkQueue(h head) error {
	for within := (span{From: []byte(h.low)}); ; within.From = []byte{within.From[0] + 1} {
		first, err := m.entries(within, 1)
		if err != nil || len(first) == 0 {
			return err
		}
		key := first[0].Key
		if at, found := h.firstOf(classOf(key)); !found || bytes.Compare(key, h.firsts[at]) < 0 {
			return errors.New("the queue has an entry below the first key of its class")
		}
		if within.From = key; key[0] == 1<<8-1 {
			return nil
		}
	}
}
