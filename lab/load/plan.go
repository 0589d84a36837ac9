package load

// lead is how many blocks after the latest one a timer is due at the earliest: its transaction may take some.
const lead = 12

// plan hands out due heights, as many to each as are to fire in a block.
type plan struct {
	perBlock int
	next     uint64
	used     int
}

// take returns the due height of one more timer after the latest height.
func (p *plan) take(latest uint64) uint64 {
	if earliest := latest + lead; p.next < earliest {
		p.next, p.used = earliest, 0
	}
	due := p.next
	if p.used++; p.used >= p.perBlock {
		p.next, p.used = due+1, 0
	}
	return due
}

// postpone lets no timer be due until so many blocks are over: as many as the filling takes.
func (p *plan) postpone(latest uint64, blocks int) { p.next, p.used = latest+lead+uint64(blocks), 0 }
