package logmap

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
)

// chunkRef is a chunk in the directory of its level.
type chunkRef struct {
	// first is at most the first key of the chunk, and above the last key of the chunk before. It is empty for the first
	// chunk of a run.
	first  []byte
	number uint32
	// net is what the messages of the chunk add to the number of entries.
	net int64
}

// run is a list of chunks sorted by key.
type run []chunkRef

// find returns the place of the chunk in which the key belongs; the run is not empty.
func (r run) find(key []byte) int {
	low, high := 0, len(r)
	for high-low > 1 {
		if middle := (low + high) / 2; bytes.Compare(r[middle].first, key) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// fence is the key at which the chunk ends; ok is false for the last one, which has no end.
func (r run) fence(chunk int) (key []byte, ok bool) {
	if chunk+1 >= len(r) {
		return nil, false
	}
	return r[chunk+1].first, true
}

// level is a directory: the runs of one level, the oldest first. The bottom, level 0, is one run.
type level struct {
	runs []run
	// zones of the runs, of a queue.
	zones []zone
	// next is a number that no chunk has.
	next uint32
	// moving is how many of the oldest runs are moving down. Their messages below the key low have moved already.
	moving int
	low    []byte
	// out: they are merged into the bottom, or in the front into the ranges. Otherwise they become a run of the next level,
	// the newest there; its chunks are there already if started is true.
	out, started bool
}

func (l *level) chunks(runs int) (n int) {
	for _, r := range l.runs[:runs] {
		n += len(r)
	}
	return n
}

// visible is the part of an interval in which a run of the level still counts.
func (l *level) visible(run int, within wire.Span) wire.Span {
	if run < l.moving && bytes.Compare(within.From, l.low) < 0 {
		within.From = l.low
	}
	return within
}

func (m *opened) level(r uint64, number int) (l *level, err error) {
	if known := m.memory.level(r, number); known != nil {
		return known, nil
	}
	bz, err := m.store.Get(directoryKey(r, number))
	if err != nil {
		return nil, err
	}
	if l = new(level); bz != nil {
		l, err = decodeLevel(bz, m.opts.Queue)
	}
	if m.memory != nil && err == nil {
		m.memory.levels[levelOf{r, number}] = l
	}
	return l, err
}

func decodeLevel(bz []byte, queue bool) (*level, error) {
	d := wire.NewDecoder(bz)
	l := &level{next: uint32(d.Uvarint()), moving: int(d.Uvarint())}
	if l.moving > 0 {
		flags := d.Uvarint()
		l.out, l.started = flags&1 == 1, flags&2 == 2
		l.low = d.Bytes(d.Uvarint())
	}
	for d.More() {
		chunks := make(run, d.Len())
		var last []byte
		for i := range chunks {
			shared := d.Sharing(last)
			first := d.Bytes(d.Uvarint())
			if len(shared) > 0 {
				first = append(slices.Clip(shared), first...)
			}
			chunks[i] = chunkRef{first, uint32(d.Uvarint()), d.Varint()}
			last = first
		}
		l.runs = append(l.runs, chunks)
		if queue {
			l.zones = append(l.zones, zone{d.Uvarint(), d.Uvarint()})
		}
	}
	if l.moving > len(l.runs) {
		return nil, wire.ErrCorrupt
	}
	return l, d.Err()
}

func (m *opened) setLevel(r uint64, number int, l *level) error {
	// A run that lost its chunks is gone, and the first chunk of each takes what comes before all others.
	kept, zones := l.runs[:0], l.zones[:0]
	for i, chunks := range l.runs {
		if len(chunks) > 0 {
			chunks[0].first = nil
			kept = append(kept, chunks)
			if m.opts.Queue {
				zones = append(zones, l.zones[i])
			}
		} else if i < l.moving {
			l.moving--
		}
	}
	l.runs, l.zones = kept, zones
	if len(l.runs) == 0 {
		return m.store.Delete(directoryKey(r, number))
	}
	bz := binary.AppendUvarint(nil, uint64(l.next))
	bz = binary.AppendUvarint(bz, uint64(l.moving))
	if l.moving > 0 {
		flags := uint64(0)
		if l.out {
			flags |= 1
		}
		if l.started {
			flags |= 2
		}
		bz = binary.AppendUvarint(bz, flags)
		bz = binary.AppendUvarint(bz, uint64(len(l.low)))
		bz = append(bz, l.low...)
	}
	for i, chunks := range l.runs {
		bz = binary.AppendUvarint(bz, uint64(len(chunks)))
		var last []byte
		for _, c := range chunks {
			shared := wire.SharedPrefix(last, c.first)
			bz = binary.AppendUvarint(bz, uint64(shared))
			bz = binary.AppendUvarint(bz, uint64(len(c.first)-shared))
			bz = append(bz, c.first[shared:]...)
			bz = binary.AppendUvarint(bz, uint64(c.number))
			bz = binary.AppendVarint(bz, c.net)
			last = c.first
		}
		if m.opts.Queue {
			bz = binary.AppendUvarint(binary.AppendUvarint(bz, l.zones[i].from), l.zones[i].to)
		}
	}
	return m.store.Set(directoryKey(r, number), bz)
}

// chunk reads a sorted chunk.
func (m *opened) chunk(r uint64, number int, ref chunkRef) ([]wire.Message, error) {
	if known := m.memory.chunk(r, number, ref); known != nil {
		return known, nil
	}
	bz, err := m.sorted(r, number, ref)
	if err != nil {
		return nil, err
	}
	messages, err := wire.DecodeChunk(bz)
	if m.memory != nil && err == nil {
		m.memory.chunks[chunkOf{levelOf{r, number}, ref.number}] = messages
	}
	return messages, err
}

// chunkWithin reads the messages of a sorted chunk that are in the interval. Only a Reader, which looks at a chunk again, decodes
// all of it.
func (m *opened) chunkWithin(r uint64, number int, ref chunkRef, within wire.Span) ([]wire.Message, error) {
	if m.memory != nil {
		chunk, err := m.chunk(r, number, ref)
		return wire.Only(chunk, within), err
	}
	bz, err := m.sorted(r, number, ref)
	if err != nil {
		return nil, err
	}
	return wire.DecodeWithin(bz, within)
}

// sorted reads the bytes of a sorted chunk.
func (m *opened) sorted(r uint64, number int, ref chunkRef) ([]byte, error) {
	bz, err := m.store.Get(chunkKey(r, number, ref.number))
	if err == nil && bz == nil {
		err = wire.ErrCorrupt
	}
	return bz, err
}

// write writes sorted messages as chunks of a level, the first of them under the numbers given. It returns the numbers
// that it did not need.
func (m *opened) write(
	r uint64, number int, l *level, messages []wire.Message, reuse []uint32,
) (written run, unused []uint32, err error) {
	var last []byte
	for _, part := range wire.Pack(messages, m.opts.ChunkBytes) {
		ref := chunkRef{net: wire.NetOf(part)}
		if written != nil {
			ref.first = separator(last, part[0].Key)
		}
		last = part[len(part)-1].Key
		// A chunk that is rewritten keeps its place in the store, next to its neighbours.
		if len(reuse) > 0 {
			ref.number, reuse = reuse[0], reuse[1:]
		} else {
			ref.number = l.next
			l.next++
		}
		if err := m.store.Set(chunkKey(r, number, ref.number), wire.EncodeChunk(part)); err != nil {
			return nil, nil, err
		}
		written = append(written, ref)
	}
	return written, reuse, nil
}

// separator is the shortest key above last, and at most first.
func separator(last, first []byte) []byte {
	return first[:wire.SharedPrefix(last, first)+1]
}

// memory is what a Reader has decoded. It is looked up, never ranged over. A nil one is empty.
type memory struct {
	levels map[levelOf]*level
	chunks map[chunkOf][]wire.Message
	// log is all of it, by key, if it was read.
	log     []wire.Message
	logRead bool
	// lookups count those of keys in the log, and in each chunk.
	logLookups int
	lookups    map[chunkOf]int
}

// To find one key in a chunk, or in the log, takes a fraction of the time that it takes to decode it, so that only what was
// looked at so often before is decoded.
const (
	lookupsOfChunk = 3
	lookupsOfLog   = 8
)

// decodesLog notes that a key is looked for in the log, and reports whether the log is to be decoded for it.
func (m *memory) decodesLog() bool {
	if m == nil {
		return false
	}
	m.logLookups++
	return m.logRead || m.logLookups > lookupsOfLog
}

// decodes is the same of a chunk.
func (m *memory) decodes(r uint64, number int, ref chunkRef) bool {
	if m == nil {
		return false
	}
	at := chunkOf{levelOf{r, number}, ref.number}
	m.lookups[at]++
	return m.chunks[at] != nil || m.lookups[at] > lookupsOfChunk
}

// levelOf is a level of a range.
type levelOf struct {
	r      uint64
	number int
}

// chunkOf is a sorted chunk of a level.
type chunkOf struct {
	levelOf
	number uint32
}

func newMemory() *memory {
	return &memory{levels: map[levelOf]*level{}, chunks: map[chunkOf][]wire.Message{}, lookups: map[chunkOf]int{}}
}

func (m *memory) level(r uint64, number int) *level {
	if m == nil {
		return nil
	}
	return m.levels[levelOf{r, number}]
}

func (m *memory) chunk(r uint64, number int, ref chunkRef) []wire.Message {
	if m == nil {
		return nil
	}
	return m.chunks[chunkOf{levelOf{r, number}, ref.number}]
}
