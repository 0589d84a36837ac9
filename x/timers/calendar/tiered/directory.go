package tiered

import (
	"encoding/binary"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/packed"
)

// shape are the sizes of the far tier. They are the same on all nodes.
type shape struct {
	// chunkEntries bounds the entries of a chunk.
	chunkEntries int
	// fanIn is how many runs of one level are merged into one of the next. Each entry is written once for each level, and
	// there are at most about twice as many runs of a level.
	fanIn int
	// levelEntries is the most that a run of level 0 holds when it is written.
	levelEntries uint64
	// crowdEntries makes a crowd of a run: so many of its entries are due at one height.
	crowdEntries uint64
	// mergesPerBlock is how many entries a block merges in any case, and mergesPerInsert how many more for each that it
	// inserted: one for each level, so that merges keep up with runs.
	mergesPerBlock, mergesPerInsert int
}

// defaultShape is that of every chain. Larger chunks take fewer nodes of the tree for each entry, and longer to read for
// one; beyond 64 entries the nodes saved are few.
var defaultShape = shape{
	chunkEntries: 64, fanIn: 16, levelEntries: 512, crowdEntries: 256, mergesPerBlock: 256, mergesPerInsert: 5,
}

// maxCrowds bounds the crowds that are known of a run, the largest. The migration of others is not begun ahead of need.
const maxCrowds = 16

// run is a list of entries in order of their keys, in chunks. It is written once, from its beginning to its end, and
// consumed from its beginning.
type run struct {
	id    uint32
	level uint8
	// returned: the entries were in the calendar before, with the same seq.
	returned bool
	// minSeq and maxSeq bound the seq of what was written.
	minSeq, maxSeq uint64
	// first is a lower bound of what remains, and remaining is the number of its entries, dead ones included.
	first     calendar.Key
	remaining uint64
	// crowds are heights with many entries, in order. The last height that was written has lastCount entries.
	crowds             []crowd
	lastDue, lastCount uint64
}

// crowd is a height at which many entries of a run are due.
type crowd struct{ due, count uint64 }

// merging is a merge that is under way. Inputs are consumed as the output is written, so that an entry is in one of them.
type merging struct {
	output uint32
	inputs []uint32
}

// directory lists the runs. It is one value, whose size is bounded by fanIn and the number of levels.
type directory struct {
	// nextRun is the id of the next run.
	nextRun uint32
	// maxSeq is the largest seq in any run so far.
	maxSeq uint64
	// runs in the order of their ids.
	runs   []*run
	merges []merging
}

// levelOf is the lowest level whose runs hold so many entries when they are written.
func (s *shape) levelOf(entries uint64) uint8 {
	level := uint8(0)
	for size := s.levelEntries; size < entries && size < 1<<56; size *= uint64(s.fanIn) {
		level++
	}
	return level
}

func (d *directory) encode() []byte {
	bz := binary.AppendUvarint(nil, uint64(d.nextRun))
	bz = binary.AppendUvarint(bz, d.maxSeq)
	bz = binary.AppendUvarint(bz, uint64(len(d.runs)))
	for _, r := range d.runs {
		flags := uint64(r.level) << 1
		if r.returned {
			flags |= 1
		}
		for _, number := range []uint64{
			uint64(r.id), flags, r.minSeq, r.maxSeq, r.first.Due, r.first.Seq, r.remaining, r.lastDue, r.lastCount,
			uint64(len(r.crowds)),
		} {
			bz = binary.AppendUvarint(bz, number)
		}
		for _, c := range r.crowds {
			bz = binary.AppendUvarint(binary.AppendUvarint(bz, c.due), c.count)
		}
	}
	bz = binary.AppendUvarint(bz, uint64(len(d.merges)))
	for _, m := range d.merges {
		bz = binary.AppendUvarint(bz, uint64(m.output))
		bz = binary.AppendUvarint(bz, uint64(len(m.inputs)))
		for _, id := range m.inputs {
			bz = binary.AppendUvarint(bz, uint64(id))
		}
	}
	return bz
}

func decodeDirectory(bz []byte) (*directory, error) {
	r := packed.NewReader(bz)
	d := &directory{nextRun: uint32(r.Uvarint()), maxSeq: r.Uvarint()}
	d.runs = make([]*run, r.Len())
	for i := range d.runs {
		it := &run{id: uint32(r.Uvarint())}
		flags := r.Uvarint()
		it.level, it.returned = uint8(flags>>1), flags&1 == 1
		it.minSeq, it.maxSeq = r.Uvarint(), r.Uvarint()
		it.first = calendar.Key{Due: r.Uvarint(), Seq: r.Uvarint()}
		it.remaining, it.lastDue, it.lastCount = r.Uvarint(), r.Uvarint(), r.Uvarint()
		it.crowds = make([]crowd, r.Len())
		for j := range it.crowds {
			it.crowds[j] = crowd{r.Uvarint(), r.Uvarint()}
		}
		d.runs[i] = it
	}
	d.merges = make([]merging, r.Len())
	for i := range d.merges {
		d.merges[i].output = uint32(r.Uvarint())
		d.merges[i].inputs = make([]uint32, r.Len())
		for j := range d.merges[i].inputs {
			d.merges[i].inputs[j] = uint32(r.Uvarint())
		}
	}
	if r.Failed() || r.More() {
		return nil, errCorrupt
	}
	return d, nil
}

// add makes a new, empty run.
func (d *directory) add(level uint8, returned bool) *run {
	r := &run{id: d.nextRun, level: level, returned: returned, minSeq: ^uint64(0)}
	d.nextRun++
	d.runs = append(d.runs, r)
	return r
}

// find returns the run of the id, or nil.
func (d *directory) find(id uint32) *run {
	at, found := slices.BinarySearchFunc(d.runs, id, func(r *run, id uint32) int { return int(int64(r.id) - int64(id)) })
	if !found {
		return nil
	}
	return d.runs[at]
}

// isOutput reports whether a merge writes the run.
func (d *directory) isOutput(id uint32) bool {
	return slices.ContainsFunc(d.merges, func(m merging) bool { return m.output == id })
}

// idle reports whether no merge reads or writes the run.
func (d *directory) idle(id uint32) bool {
	return !slices.ContainsFunc(d.merges, func(m merging) bool { return m.output == id || slices.Contains(m.inputs, id) })
}

// settle ends merges whose inputs are consumed, and forgets runs that are.
func (d *directory) settle() {
	d.merges = slices.DeleteFunc(d.merges, func(m merging) bool {
		return !slices.ContainsFunc(m.inputs, func(id uint32) bool {
			input := d.find(id)
			return input != nil && input.remaining > 0
		})
	})
	d.runs = slices.DeleteFunc(d.runs, func(r *run) bool { return r.remaining == 0 && !d.isOutput(r.id) })
}

// startMerges begins a merge wherever fanIn runs of one kind and level are idle.
func (d *directory) startMerges(s *shape) {
	type kind struct {
		level    uint8
		returned bool
	}
	var kinds []kind
	for _, r := range d.runs {
		if k := (kind{r.level, r.returned}); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		var inputs []uint32
		entries := uint64(0)
		for _, r := range d.runs {
			if (kind{r.level, r.returned}) == k && d.idle(r.id) && len(inputs) < s.fanIn {
				inputs, entries = append(inputs, r.id), entries+r.remaining
			}
		}
		if len(inputs) == s.fanIn {
			output := d.add(max(k.level+1, s.levelOf(entries)), k.returned)
			d.merges = append(d.merges, merging{output.id, inputs})
		}
	}
	// The lowest level first: there runs arrive fastest.
	slices.SortStableFunc(d.merges, func(a, b merging) int {
		return int(d.find(a.output).level) - int(d.find(b.output).level)
	})
}

// wrote notes an entry at the end of the run.
func (r *run) wrote(key calendar.Key, s *shape) {
	if r.remaining == 0 {
		r.first = key
	}
	r.minSeq, r.maxSeq = min(r.minSeq, key.Seq), max(r.maxSeq, key.Seq)
	r.remaining++
	if r.lastDue != key.Due {
		r.lastDue, r.lastCount = key.Due, 0
	}
	r.lastCount++
	if r.lastCount >= s.crowdEntries {
		r.crowd(crowd{key.Due, r.lastCount})
	}
}

// crowd notes a crowd at the last height. Of too many the smallest is forgotten.
func (r *run) crowd(last crowd) {
	n := len(r.crowds)
	if n > 0 && r.crowds[n-1].due == last.due {
		r.crowds[n-1] = last
		return
	}
	if n == maxCrowds {
		least := 0
		for i, c := range r.crowds {
			if c.count < r.crowds[least].count {
				least = i
			}
		}
		if r.crowds[least].count >= last.count {
			return
		}
		r.crowds = slices.Delete(r.crowds, least, least+1)
	}
	r.crowds = append(r.crowds, last)
}

// took notes that the first entry was consumed.
func (r *run) took(key calendar.Key) {
	r.first = successor(key)
	r.remaining--
	for len(r.crowds) > 0 && r.crowds[0].due < key.Due {
		r.crowds = r.crowds[1:]
	}
}

// hasWork reports whether a merge is under way.
func (d *directory) hasWork() bool { return len(d.merges) > 0 }

// crowdAhead returns the last height after the given one whose crowd is more than one block migrates, and must be migrated
// from now on, with a share of the migrations of each block, to be in the near tier in time; 0 if there is none.
func (d *directory) crowdAhead(height uint64, work Work) (last uint64) {
	for _, r := range d.runs {
		for _, c := range r.crowds {
			if c.due <= height || c.due-height > work.AheadBlocks || c.due <= last {
				continue
			}
			entries := d.crowdAt(c.due)
			if entries >= uint64(work.Migrations-work.share()) && c.due-height <= entries/uint64(work.share())+1 {
				last = c.due
			}
		}
	}
	return last
}

// crowdAt is the number of entries of all runs in the crowd of a height.
func (d *directory) crowdAt(due uint64) (entries uint64) {
	for _, r := range d.runs {
		for _, c := range r.crowds {
			if c.due == due {
				entries += min(c.count, r.remaining)
			}
		}
	}
	return entries
}
