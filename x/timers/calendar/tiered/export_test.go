package tiered

import "context"

// Small makes the far tier so small that few entries make many runs, chunks, merges and crowds.
func (t *Tiered[V]) Small() {
	t.far.shape = &shape{chunkEntries: 3, fanIn: 2, levelEntries: 2, crowdEntries: 3, mergesPerBlock: 1, mergesPerInsert: 4}
}

// Decode exposes the decoders for fuzzing.
func Decode(bz []byte) (chunk, directory error) {
	_, chunk = decodeChunk(bz)
	_, directory = decodeDirectory(bz)
	return chunk, directory
}

// Stats describes the far tier.
type Stats struct{ Runs, Returned, Merges, DirectoryBytes, Dead int }

// Stats reads the far tier.
func (t *Tiered[V]) Stats(ctx context.Context) (s Stats, err error) {
	d, err := t.far.directory(ctx)
	if err != nil {
		return s, err
	}
	s.Runs, s.Merges, s.DirectoryBytes = len(d.runs), len(d.merges), len(d.encode())
	for _, r := range d.runs {
		if r.returned {
			s.Returned++
		}
	}
	err = t.far.store.Scan(ctx, []byte{deadRegion}, regionEnd(deadRegion), func([]byte, []byte) bool {
		s.Dead++
		return true
	})
	return s, err
}
