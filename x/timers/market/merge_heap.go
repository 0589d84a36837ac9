package market

// heap is a binary heap by rank, the best first: the children of item i are 2i + 1 and 2i + 2, and neither ranks before
// it. push and pop take O(log n) comparisons. The standard library's heap is not used because it boxes every item, and
// a block under overload pushes thousands.
type heap[R Ranked[R], T any] []ranked[R, T]

// ranked is an item with its rank, which is computed once.
type ranked[R Ranked[R], T any] struct {
	rank R
	item T
}

func (h heap[R, T]) before(i, j int) bool { return h[i].rank.Compare(h[j].rank) < 0 }

// push adds an item at the end and moves it up until its parent does not rank after it.
func (h *heap[R, T]) push(rank R, item T) {
	*h = append(*h, ranked[R, T]{rank, item})
	s := *h
	for i := len(s) - 1; i > 0; {
		above := (i - 1) / 2
		if !s.before(i, above) {
			return
		}
		s[i], s[above] = s[above], s[i]
		i = above
	}
}

// pop removes and returns the best item of a heap that is not empty. The last item takes its place and moves down until
// none of its children ranks before it.
func (h *heap[R, T]) pop() T {
	s := *h
	first, last := s[0].item, len(s)-1
	s[0] = s[last]
	// The slot beyond the end is cleared, so that the garbage collector can free what it held.
	s[last] = ranked[R, T]{}
	s = s[:last]
	*h = s
	for i := 0; ; {
		best := i
		for below := 2*i + 1; below <= 2*i+2 && below < last; below++ {
			if s.before(below, best) {
				best = below
			}
		}
		if best == i {
			return first
		}
		s[i], s[best] = s[best], s[i]
		i = best
	}
}
