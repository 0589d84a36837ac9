package logmap

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// level is the directory of one level: its runs, the oldest first. The bottom, level 0, is one run.
type level struct {
	runs []run
	// next is a number that no chunk or page has.
	next uint32
	// moving is how many of the oldest runs are moving down. Their messages below the key low have moved already. A step moves
	// as much as quota chunks have.
	moving, quota int
	low           []byte
	// out: they are merged into the bottom, or in the front into the ranges. Otherwise they become a run of the next level,
	// the newest there; its chunks are there already if started is true.
	out, started bool
}

func (l *level) chunks(runs int) (n int) {
	for i := range l.runs[:runs] {
		n += l.runs[i].chunks
	}
	return n
}

// refs is how many chunks and pages the directory names itself.
func (l *level) refs() (n int) {
	for i := range l.runs {
		n += len(l.runs[i].refs)
	}
	return n
}

// visible is the part of an interval in which a run of the level still counts.
func (l *level) visible(run int, within span) span {
	if run < l.moving && bytes.Compare(within.From, l.low) < 0 {
		within.From = l.low
	}
	return within
}

// newest is the last of the level's runs.
func (l *level) newest() *run { return &l.runs[len(l.runs)-1] }

// number takes a number for a chunk or a page.
func (l *level) number() uint32 {
	l.next++
	return l.next - 1
}

func (m *opened) level(r uint64, number int) (l *level, err error) {
	if m.memory != nil && m.memory.levels[levelOf{r, number}] != nil {
		return m.memory.levels[levelOf{r, number}], nil
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
	d := NewDecoder(bz)
	l := &level{next: uint32(d.Uvarint())}
	flags := d.Uvarint()
	if l.out, l.started = flags&1 == 1, flags&2 == 2; flags > 0 {
		l.quota, l.low = int(uint32(d.Uvarint())), d.Bytes(d.Uvarint())
	}
	for d.More() {
		n := d.Len()
		chunks := run{chunks: int(uint32(d.Uvarint())), end: d.Bytes(d.Uvarint()), refs: decodeRefs(&d, n)}
		if queue {
			chunks.zone = zone{d.Uvarint(), d.Uvarint()}
		}
		if n == 0 || chunks.chunks == 0 {
			return nil, ErrCorrupt
		}
		l.runs = append(l.runs, chunks)
	}
	if l.moving = int(flags >> 2); flags>>2 > uint64(len(l.runs)) {
		return nil, ErrCorrupt
	}
	return l, d.Err()
}

func (m *opened) setLevel(r uint64, number int, l *level) error {
	// A run that lost its chunks is gone, and the first chunk of each takes what comes before all others.
	kept := l.runs[:0]
	for i, chunks := range l.runs {
		if len(chunks.refs) > 0 {
			chunks.refs[0].first = nil
			kept = append(kept, chunks)
		} else if i < l.moving {
			l.moving--
		}
	}
	l.runs = kept
	if len(l.runs) == 0 {
		return m.store.Delete(directoryKey(r, number))
	}
	flags := uint64(l.moving) << 2
	if l.moving > 0 && l.out {
		flags |= 1
	}
	if l.moving > 0 && l.started {
		flags |= 2
	}
	bz := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(l.next)), flags)
	if l.moving > 0 {
		bz = binary.AppendUvarint(binary.AppendUvarint(bz, uint64(l.quota)), uint64(len(l.low)))
		bz = append(bz, l.low...)
	}
	for i := range l.runs {
		chunks := &l.runs[i]
		bz = binary.AppendUvarint(bz, uint64(len(chunks.refs)))
		bz = binary.AppendUvarint(binary.AppendUvarint(bz, uint64(chunks.chunks)), uint64(len(chunks.end)))
		bz = appendRefs(append(bz, chunks.end...), chunks.refs)
		if m.opts.Queue {
			bz = binary.AppendUvarint(binary.AppendUvarint(bz, chunks.zone.from), chunks.zone.to)
		}
	}
	return m.store.Set(directoryKey(r, number), bz)
}

// run is a list of chunks sorted by key. Its directory is a tree: the level names some chunks, and pages that name the others,
// the higher ones first.
type run struct {
	refs refs
	// chunks is how many it has, with those that were removed from its beginning.
	chunks int
	// end is just above its last key. The bottom has none.
	end []byte
	// zone is that of a queue's keys.
	zone zone
}

// ref names a chunk of a run, or a page of its directory.
type ref struct {
	// first is at most the first key of the chunk or page, and above the last key before it. It is empty at the beginning of a
	// run.
	first  []byte
	number uint32
	// height of a page above the chunks: what it names is one less high. A chunk has 0.
	height int
	// net is what the messages of the chunk, or of those that the page names, add to the number of entries.
	net int64
}

// refs are sorted by key.
type refs []ref

// A height takes some bits of a number. With four chunks a page, pages of the greatest name a thousand million.
const (
	heightBits = 4
	mostHeight = 1<<heightBits - 1
)

// find returns the place of the chunk or page in which the key belongs; 0 of none.
func (r refs) find(key []byte) int {
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

// fence is the key at which what is at a place ends; ok is false for the last one, which has no end.
func (r refs) fence(at int) (key []byte, ok bool) {
	if at+1 >= len(r) {
		return nil, false
	}
	return r[at+1].first, true
}

func (r refs) net() (net int64) {
	for i := range r {
		net += r[i].net
	}
	return net
}

func appendRefs(bz []byte, list refs) []byte {
	var last []byte
	for _, at := range list {
		shared := sharedPrefix(last, at.first)
		bz = binary.AppendUvarint(bz, uint64(shared))
		bz = binary.AppendUvarint(bz, uint64(len(at.first)-shared))
		bz = append(bz, at.first[shared:]...)
		bz = binary.AppendUvarint(bz, uint64(at.number)<<heightBits|uint64(at.height))
		bz = binary.AppendVarint(bz, at.net)
		last = at.first
	}
	return bz
}

// decodeRefs reads so many of them.
func decodeRefs(d *Decoder, n int) refs {
	list := make(refs, n)
	var last []byte
	for i := range list {
		shared := d.Sharing(last)
		first := d.Bytes(d.Uvarint())
		if len(shared) > 0 {
			first = append(slices.Clip(shared), first...)
		}
		number := d.Uvarint()
		list[i] = ref{first: first, number: uint32(number >> heightBits), height: int(number & mostHeight), net: d.Varint()}
		last = first
	}
	return list
}

// refsOf reads what a page names.
func (m *opened) refsOf(r uint64, number int, of ref) (refs, error) {
	at := chunkOf{levelOf{r, number}, of.number}
	if m.memory != nil && m.memory.pages[at] != nil {
		return m.memory.pages[at], nil
	}
	bz, err := m.store.Get(valueKey(r, number, of))
	if err != nil {
		return nil, err
	}
	d := NewDecoder(bz)
	list := decodeRefs(&d, d.Len())
	err = d.Err()
	if len(list) == 0 || d.More() || slices.ContainsFunc(list, func(at ref) bool { return at.height != of.height-1 }) {
		err = ErrCorrupt
	}
	if m.memory != nil && err == nil {
		m.memory.pages[at] = list
	}
	return list, err
}

// fold makes a page of those of a list that are lowest, which are its last.
func (m *opened) fold(r uint64, number int, l *level, list refs) (refs, error) {
	height := list[len(list)-1].height
	begin := slices.IndexFunc(list, func(at ref) bool { return at.height == height })
	page := ref{first: list[begin].first, number: l.number(), height: height + 1, net: list[begin:].net()}
	bz := appendRefs(binary.AppendUvarint(nil, uint64(len(list)-begin)), list[begin:])
	return append(list[:begin], page), m.store.Set(valueKey(r, number, page), bz)
}

// extend adds chunks to a run. As many of one height as a page takes become a page.
func (m *opened) extend(r uint64, number int, l *level, to *run, chunks refs) (err error) {
	for _, at := range chunks {
		to.refs = append(to.refs, at)
		to.chunks++
		for most := m.opts.PageRefs; len(to.refs) >= most && to.refs[len(to.refs)-most].height == to.refs[len(to.refs)-1].height; {
			if to.refs, err = m.fold(r, number, l, to.refs); err != nil {
				return err
			}
		}
	}
	return nil
}

// close puts the chunks of a level's newest run, to which no more are added, into pages, if the level names more than a page does.
func (m *opened) close(r uint64, number int, l *level) (err error) {
	of := l.newest()
	for l.refs() > m.opts.PageRefs && len(of.refs) > 1 && err == nil {
		of.refs, err = m.fold(r, number, l, of.refs)
	}
	return err
}

// has reports whether the run may have a key from that one on.
func (r *run) has(key []byte) bool { return len(r.end) == 0 || bytes.Compare(key, r.end) < 0 }

// seek returns what names the chunks of a run from that on in which the key belongs; the first is that chunk.
func (m *opened) seek(r uint64, number int, list refs, key []byte) (refs, error) {
	list = list[list.find(key):]
	for len(list) > 0 && list[0].height > 0 {
		page, err := m.refsOf(r, number, list[0])
		if err != nil {
			return nil, err
		}
		list = append(slices.Clip(page[page.find(key):]), list[1:]...)
	}
	return list, nil
}

// locate returns the chunk of a run in which the key belongs.
func (m *opened) locate(r uint64, number int, list refs, key []byte) (at ref, err error) {
	for at = list[list.find(key)]; at.height > 0; at = list[list.find(key)] {
		if list, err = m.refsOf(r, number, at); err != nil {
			return at, err
		}
	}
	return at, nil
}

// ended passes to fn the chunks and pages that end at the key from or above, and below the key to, in the order of their ends, a
// page behind its chunks, until fn returns false. A nil to is above all. The list itself ends at the key end, or nowhere.
func (m *opened) ended(
	r uint64, number int, list refs, end, from, to []byte, fn func(at ref, end []byte) (more bool),
) (more bool, err error) {
	for i, at := range list {
		end, ok := end, len(end) > 0
		if next, inner := list.fence(i); inner {
			end, ok = next, true
		}
		switch {
		case ok && bytes.Compare(end, from) < 0:
			continue
		case to != nil && bytes.Compare(at.first, to) >= 0:
			return true, nil
		}
		if at.height > 0 {
			page, err := m.refsOf(r, number, at)
			if err != nil {
				return false, err
			}
			if more, err := m.ended(r, number, page, end, from, to, fn); err != nil || !more {
				return false, err
			}
		}
		if (to == nil || ok && bytes.Compare(end, to) < 0) && !fn(at, end) {
			return false, nil
		}
	}
	return true, nil
}

// chunk reads a sorted chunk.
func (m *opened) chunk(r uint64, number int, ref ref) ([]message, error) {
	at := chunkOf{levelOf{r, number}, ref.number}
	if m.memory != nil && m.memory.chunks[at] != nil {
		return m.memory.chunks[at], nil
	}
	bz, err := m.sorted(r, number, ref)
	if err != nil {
		return nil, err
	}
	messages, err := decodeChunk(bz)
	if m.memory != nil && err == nil {
		m.memory.chunks[at] = messages
	}
	return messages, err
}

// chunkWithin reads the messages of a sorted chunk that are in the interval. Only a Reader, which looks at a chunk again, decodes
// all of it.
func (m *opened) chunkWithin(r uint64, number int, ref ref, within span) ([]message, error) {
	if m.memory != nil {
		chunk, err := m.chunk(r, number, ref)
		return only(chunk, within), err
	}
	bz, err := m.sorted(r, number, ref)
	if err != nil {
		return nil, err
	}
	return decodeWithin(bz, within)
}

// sorted reads the bytes of a sorted chunk.
func (m *opened) sorted(r uint64, number int, ref ref) ([]byte, error) {
	bz, err := m.store.Get(valueKey(r, number, ref))
	if err == nil && bz == nil {
		err = ErrCorrupt
	}
	return bz, err
}

// write writes sorted messages as chunks of a level.
func (m *opened) write(r uint64, number int, l *level, messages []message) (written refs, err error) {
	var last []byte
	for _, part := range pack(messages, m.opts.ChunkBytes) {
		at := ref{number: l.number(), net: netOf(part)}
		if written != nil {
			at.first = separator(last, part[0].Key)
		}
		last = part[len(part)-1].Key
		if err := m.store.Set(valueKey(r, number, at), encodeChunk(part)); err != nil {
			return nil, err
		}
		written = append(written, at)
	}
	return written, nil
}

// separator is the shortest key above last, and at most first.
func separator(last, first []byte) []byte {
	return first[:min(sharedPrefix(last, first)+1, len(first))]
}
