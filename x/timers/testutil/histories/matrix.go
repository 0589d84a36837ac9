package histories

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/testutil/twin"
)

// Matrix counts which act followed which, by where the timer stood before both. Nothing follows a cancel.
type Matrix struct {
	cells   map[twin.Place]*[actCount][actCount]int
	reached map[twin.Place]int
	acts    []Act
}

// NewMatrix is that of some acts.
func NewMatrix(acts []Act) *Matrix {
	return &Matrix{cells: map[twin.Place]*[actCount][actCount]int{}, reached: map[twin.Place]int{}, acts: acts}
}

func (m *Matrix) at(place twin.Place) *[actCount][actCount]int {
	if m.cells[place] == nil {
		m.cells[place] = &[actCount][actCount]int{}
	}
	return m.cells[place]
}

func (m *Matrix) count(place twin.Place, first, second Act) {
	cells := m.at(place)
	if cells[first][second]++; cells[first][second] == 1 {
		m.reached[place]++
	}
}

// pairs are those of acts that may follow each other.
func (m *Matrix) pairs(do func(first, second Act) (more bool)) {
	for _, first := range m.acts {
		for _, second := range m.acts {
			if first != Cancel && !do(first, second) {
				return
			}
		}
	}
}

// Empty are the cells that were not reached, in words.
func (m *Matrix) Empty() (empty []string) {
	for _, hold := range twin.Holds {
		for _, phase := range twin.Phases {
			cells := m.at(twin.Place{Hold: hold, Phase: phase})
			m.pairs(func(first, second Act) bool {
				if cells[first][second] == 0 && Excused(twin.Place{Hold: hold, Phase: phase}, first, second) == "" {
					empty = append(empty, fmt.Sprintf("%s %s: %s, then %s", name(hold), phase, first, second))
				}
				return true
			})
		}
	}
	return empty
}

// Excused is why a cell may be empty; nothing if it may not.
func Excused(place twin.Place, first, second Act) string {
	switch held, updates := place.Hold, second <= UpdateEnd; {
	case returns(held) && place.Phase == twin.Phases[0]:
		return "when what is held for funds, price or limits comes back while it is not due, is not said"
	case returns(held) && place.Phase == twin.Phases[1]:
		return "what is held for funds, price or limits was due"
	case held == twin.None && place.Phase == twin.Phases[1] && first.Ends() && updates:
		return "whether what was run, and has its place in this very block, is put off, is not said"
	}
	return ""
}

func name(hold twin.Hold) string {
	if hold == twin.None {
		return "in the queue"
	}
	return string(hold)
}

// Lines is the matrix by places: how many pairs were lived, of how many cells how many are empty, and how often the rarest came.
func (m *Matrix) Lines() (lines []string) {
	for _, hold := range twin.Holds {
		for _, phase := range twin.Phases {
			cells, lived, empty, all, rarest, why := m.at(twin.Place{Hold: hold, Phase: phase}), 0, 0, 0, -1, ""
			m.pairs(func(first, second Act) bool {
				n := cells[first][second]
				lived += n
				if all++; n == 0 {
					empty++
					why = " (" + cmp.Or(Excused(twin.Place{Hold: hold, Phase: phase}, first, second), "to be reached") + ")"
				} else if rarest < 0 || n < rarest {
					rarest = n
				}
				return true
			})
			lines = append(lines, fmt.Sprintf("%-12s %-16s %9d pairs, %d of %d cells empty, the rarest %d times%s",
				name(hold), phase, lived, empty, all, max(0, rarest), why))
		}
	}
	return lines
}

// Cloner is a subject of which there may be two.
type Cloner interface {
	Subject
	// Clone is another one that goes its own way from here.
	Clone() Subject
}

// Fork is where a history left its way, to see a pair of acts that had never come where it stood.
type Fork struct {
	Step          int
	First, Second Act
}

func (f *Fork) String() string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf(", after %d steps %s, then %s", f.Step, f.First, f.Second)
}

// steps is how long a history is, and forks how many pairs it tries at a step.
const (
	steps = 40
	forks = 32
)

// Live lives a history from a block on, counts its pairs, and tries those that never came, on clones. After an error the fork says
// where that was, if it was on one.
func (h *History) Live(height, time uint64, m *Matrix) (*Fork, error) {
	if err := h.Begin(twin.Block{Height: height, Time: time}); err != nil {
		return nil, err
	}
	h.Matrix, h.follow = m, false
	for step := range steps {
		if h.World.Status.Gone || h.Over {
			return nil, nil
		}
		place := h.World.Place()
		if m != nil {
			if fork, err := h.fork(m, place, step); err != nil {
				return fork, err
			}
		}
		if err := h.Step(h.Choose()); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Again lives a history once more, with a journal, up to where it failed.
func (h *History) Again(height, time uint64, fork *Fork) []string {
	h.Verbose = true
	if fork == nil {
		_, _ = h.Live(height, time, nil)
		return h.Journal
	}
	_ = h.Begin(twin.Block{Height: height, Time: time})
	for range fork.Step {
		_ = h.Step(h.Choose())
	}
	branch := h.branch(fork)
	if branch.Step(fork.First) == nil {
		_ = branch.Step(fork.Second)
	}
	return branch.Journal
}

// branch is a clone of the history that draws numbers of its own.
func (h *History) branch(fork *Fork) *History {
	b := *h
	b.Matrix = nil
	b.World, b.Subject = h.World.Clone(), h.Subject.(Cloner).Clone()
	b.told, b.Journal = slices.Clone(h.told), slices.Clone(h.Journal)
	b.Rand = rand.New(rand.NewPCG(uint64(fork.Step), uint64(fork.First*actCount+fork.Second)))
	return &b
}

// fork tries pairs of acts that never came where the timer stands.
func (h *History) fork(m *Matrix, place twin.Place, step int) (failed *Fork, err error) {
	if m.reached[place] == len(m.acts)*(len(m.acts)-1) || returns(place.Hold) && slices.Contains(twin.Phases[:2], place.Phase) {
		return nil, nil
	}
	tried, cells := 0, m.at(place)
	m.pairs(func(first, second Act) bool {
		if cells[first][second] > 0 || Excused(place, first, second) != "" {
			return true
		}
		fork := &Fork{step, first, second}
		b := h.branch(fork)
		if err = b.Step(first); err == nil && b.done && !b.World.Status.Gone && !b.Over {
			if err = b.Step(second); err == nil && b.done {
				m.count(place, first, second)
			}
		}
		if err != nil {
			failed = fork
			return false
		}
		tried++
		return tried < forks
	})
	return failed, err
}
