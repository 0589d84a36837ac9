package logmap

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/cosmos-timers/timers/x/timers/packed"
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
	// Range assigns a key to a range. It must not fall as keys rise. Every block touches as many ranges as it changes,
	// and each costs it a write: so there should be few, tens rather than hundreds. Nil is one range.
	Range func(key []byte) uint64
	// LogBytes bounds a chunk of the log, which every change of the range rewrites. 1,024 by default.
	LogBytes int
	// MergeLogs is how many full chunks of the log Maintain merges. 8 by default.
	MergeLogs int
	// ChunkBytes is the size of a sorted chunk. 4,096 by default.
	ChunkBytes int
	// Runs is how many runs a level has when they move down. 8 by default, and 2 at least.
	Runs int
	// Ratio is how many times larger than the runs that move down the bottom may be if they are merged into it. 8 by
	// default.
	Ratio int
	// Merges is how many ranges Maintain works on at most, 4 by default, and Steps how many slices of the runs that move
	// down it moves in each, 6 by default.
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
	// levels are the directories that a Reader has decoded; nil otherwise. They are looked up, never ranged over.
	levels map[levelOf]*level
}

// levelOf is a level of a range.
type levelOf struct {
	r      uint64
	number int
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
		{&opts.LogBytes, 1_024, 1},
		{&opts.MergeLogs, 8, 1},
		{&opts.ChunkBytes, 4_096, 4},
		{&opts.Runs, 8, 2},
		{&opts.Ratio, 8, 1},
		{&opts.Merges, 4, 1},
		{&opts.Steps, 6, 1},
	} {
		if *option.value == 0 {
			*option.value = option.byDefault
		}
		*option.value = max(*option.value, option.leastUseful)
	}
	return &Map{stores, opts}
}

// Insert adds an entry. The caller knows that there is none with the key.
func (m *Map) Insert(ctx context.Context, key, value []byte) error {
	return m.Apply(ctx, Inserted(key, value))
}

// Replace changes the value of an entry. The caller knows that it exists.
func (m *Map) Replace(ctx context.Context, key, value []byte) error {
	return m.Apply(ctx, Replaced(key, value))
}

// Delete removes an entry. The caller knows that it exists.
func (m *Map) Delete(ctx context.Context, key []byte) error { return m.Apply(ctx, Deleted(key)) }

// Change is a change of one entry.
type Change struct{ message }

// Inserted is what Insert does.
func Inserted(key, value []byte) Change { return Change{message{key, value, insert}} }

// Replaced is what Replace does.
func Replaced(key, value []byte) Change { return Change{message{key, value, replace}} }

// Deleted is what Delete does.
func Deleted(key []byte) Change { return Change{message{key, nil, remove}} }

// Apply makes changes one after the other. Those of one range that follow each other cost what one does.
func (m *Map) Apply(ctx context.Context, changes ...Change) error { return m.open(ctx).apply(changes) }

func (m *opened) apply(changes []Change) error {
	for len(changes) > 0 {
		r, n := m.opts.Range(changes[0].key), 1
		for n < len(changes) && m.opts.Range(changes[n].key) == r {
			n++
		}
		if err := m.append(r, changes[:n]); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// append adds messages to the log of their range.
func (m *opened) append(r uint64, changes []Change) error {
	head, err := m.head(r)
	if err != nil {
		return err
	}
	tail, err := m.store.Get(logKey(r, head.last))
	if err != nil {
		return err
	}
	if len(tail) == 0 && head.isNew() {
		if err := m.setHead(r, head); err != nil {
			return err
		}
	}
	stored := len(tail)
	tail = append(make([]byte, 0, max(m.opts.LogBytes, stored+64)), tail...)
	for i := range changes {
		before := len(tail)
		if tail = appendLogged(tail, changes[i].message); before == 0 || len(tail) <= m.opts.LogBytes {
			continue
		}
		full, rest := tail[:before:before], tail[before:]
		if before > stored {
			if err := m.store.Set(logKey(r, head.last), full); err != nil {
				return err
			}
		}
		if head, err = m.seal(r, head); err != nil {
			return err
		}
		stored, tail = 0, append(make([]byte, 0, max(m.opts.LogBytes, len(rest))), rest...)
	}
	return m.store.Set(logKey(r, head.last), tail)
}

// seal begins another chunk of the log. If the log is far too long, it is merged first.
func (m *opened) seal(r uint64, head head) (head, error) {
	head.last++
	if head.full() >= 2*m.opts.MergeLogs {
		merged, err := m.mergeRange(r, head, unbounded)
		if err != nil {
			return head, err
		}
		head = merged
	} else if head.full() >= m.opts.MergeLogs && !head.queued {
		head.queued = true
		if err := m.store.Set(queueKey(r), present); err != nil {
			return head, err
		}
	}
	return head, m.setHead(r, head)
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

// rangeOf reads the range of a key.
func rangeOf(key []byte) (r uint64, err error) {
	if len(key) < 2 || len(key) > 10 || int(key[1]) != len(key)-2 {
		return 0, errCorrupt
	}
	for _, digit := range key[2:] {
		r = r<<8 | uint64(digit)
	}
	return r, nil
}

func headKey(r uint64) []byte { return rangeKey(headPrefix, r) }

func queueKey(r uint64) []byte { return rangeKey(queuePrefix, r) }

func logKey(r uint64, number uint32) []byte {
	return binary.BigEndian.AppendUint32(rangeKey(logPrefix, r), number)
}

func directoryKey(r uint64, level int) []byte {
	return append(rangeKey(directoryPrefix, r), byte(level))
}

func chunkKey(r uint64, level int, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(rangeKey(chunkPrefix, r), byte(level)), number)
}

// head is what each range states of itself.
type head struct {
	// first and last are the numbers of the first chunk of the log and of the one that is being written.
	first, last uint32
	// levels is the number of levels above the bottom.
	levels int
	// queued: Maintain will come to the range.
	queued bool
	// stored: the range has a head in the store.
	stored bool
}

func (h head) full() int { return int(h.last - h.first) }

func (h head) isNew() bool { return !h.stored }

// head reads the head of a range.
func (m *opened) head(r uint64) (head, error) {
	bz, err := m.store.Get(headKey(r))
	if err != nil || bz == nil {
		return head{}, err
	}
	return decodeHead(bz)
}

func decodeHead(bz []byte) (head, error) {
	d := decoder{packed.NewReader(bz)}
	first, full, levels := d.Uvarint(), d.Uvarint(), d.Uvarint()
	return head{
		first: uint32(first), last: uint32(first) + uint32(full), levels: int(levels >> 1), queued: levels&1 == 1, stored: true,
	}, d.err()
}

func (m *opened) setHead(r uint64, h head) error {
	bz := binary.AppendUvarint(make([]byte, 0, 8), uint64(h.first))
	bz = binary.AppendUvarint(bz, uint64(h.full()))
	levels := uint64(h.levels) << 1
	if h.queued {
		levels |= 1
	}
	return m.store.Set(headKey(r), binary.AppendUvarint(bz, levels))
}

// log reads the messages of a range's log, in the order in which they arrived.
func (m *opened) log(r uint64, h head) (log []message, err error) {
	for number := h.first; ; number++ {
		bz, err := m.store.Get(logKey(r, number))
		if err != nil {
			return nil, err
		}
		if log, err = decodeLog(bz, log); err != nil || number == h.last {
			return log, err
		}
	}
}
