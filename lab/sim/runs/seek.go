package runs

import (
	"context"
	"fmt"
	"math"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/measure"
	"github.com/cosmos-timers/timers/lab/sim/spec"
	"github.com/cosmos-timers/timers/lab/sim/workload"
)

const (
	// seekingSeeds are the seeds under which shades are compared. They are others than those of the runs, so that a shade
	// is not praised for having been fitted to the workloads that it is measured on.
	seekingSeeds = 8
	seekingFirst = 1 << 54
	// seekingRounds bounds how often groups that seek answer one another.
	seekingRounds = 12
	// finest is the distance of the shades that are told apart.
	finest = 1.0 / 16
)

// coarse are the shades that are tried first, the truth before others that earn the same.
var coarse = []float64{1, 0.75, 0.5, 0.25, finest, 1.25, 1.5}

// seek finds the shades of a case's groups that bid best, and sets them. In each round each group that seeks takes the
// shade that earns it the most while all others, its followers too, bid as in the round before. Then its followers move
// half of the way to it: all of it would make them jump between two shades for ever, where each is the answer to the other. It
// ends when no one moves by as much as the finest step. The figures say what was found, and by which share of its surplus
// a group's shade is better than that of its followers: 0 at an equilibrium. ended is false if the context ended.
func seek(ctx context.Context, s *spec.Spec, c *spec.Case, progress func(string)) (found measure.Figures, ended bool) {
	found = measure.Figures{}
	leaders, shades := []int{}, make([]float64, len(c.Groups))
	for i := range c.Groups {
		if strategy := &c.Groups[i].Strategy; strategy.Kind == market.Best {
			if shades[i] = 1; strategy.Follow == "" {
				leaders = append(leaders, i)
			}
		}
	}
	for round, moved := 1, len(leaders) > 0; moved && round <= seekingRounds; round++ {
		moved = false
		before := append([]float64(nil), shades...)
		for _, leader := range leaders {
			h := &hunt{ctx: ctx, spec: s, one: c, shades: before, leader: leader, surplus: map[float64]float64{}}
			best := h.best()
			if ctx.Err() != nil {
				return nil, false
			}
			moved = moved || math.Abs(best-shades[leader]) >= finest
			shades[leader] = best
			name := c.Groups[leader].Name
			found[name+".shade"] = best
			for i := range c.Groups {
				if c.Groups[i].Strategy.Follow != name {
					continue
				}
				found[name+".gain"] = h.earned(best)/h.earned(before[i]) - 1
				next := (before[i] + best) / 2
				moved = moved || math.Abs(next-before[i]) >= finest/2
				shades[i], found[c.Groups[i].Name+".shade"] = next, next
			}
			progress(fmt.Sprintf("%s, round %d: %s is best at shade %.3g", c.Name, round, name, best))
		}
	}
	c.Groups = shaded(c.Groups, shades)
	return found, true
}

// shaded are the groups with these shades where they bid best.
func shaded(groups []workload.Group, shades []float64) []workload.Group {
	out := append([]workload.Group(nil), groups...)
	for i := range out {
		if out[i].Strategy.Kind == market.Best {
			out[i].Strategy.Shade = shades[i]
		}
	}
	return out
}

// hunt is the search for one group's shade while the others' hold.
type hunt struct {
	ctx    context.Context
	spec   *spec.Spec
	one    *spec.Case
	shades []float64
	leader int
	// surplus of the group by its shade, a job's mean over the seeds.
	surplus map[float64]float64
}

// best is the shade with the highest surplus: the best of the coarse ones, and then of those nearer and nearer to it.
func (h *hunt) best() float64 {
	best := coarse[0]
	try := func(shade float64) {
		if shade > 0 && h.earned(shade) > h.earned(best) {
			best = shade
		}
	}
	for _, shade := range coarse {
		try(shade)
	}
	for step := 1.0 / 8; step >= finest; step /= 2 {
		around := best
		try(around - step)
		try(around + step)
	}
	return best
}

// earned is what the group earns with a shade.
func (h *hunt) earned(shade float64) float64 {
	if known, tried := h.surplus[shade]; tried {
		return known
	}
	shades := append([]float64(nil), h.shades...)
	shades[h.leader] = shade
	groups := shaded(h.one.Groups, shades)
	figure := groups[h.leader].Name + ".surplus"
	surplus := make([]float64, seekingSeeds)
	sideBySide(h.ctx, seekingSeeds, func(i int) {
		w := workload.Draw(groups, h.one.Limits, h.spec.Blocks, seekingFirst+uint64(i))
		result := h.one.Runner.Run(h.ctx, w, h.spec.Blocks)
		if h.ctx.Err() == nil {
			surplus[i] = measure.Of(w, result, &h.one.Config, 1)[figure]
		}
	})
	h.surplus[shade] = measure.Over(surplus).Mean
	return h.surplus[shade]
}
