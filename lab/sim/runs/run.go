// Package runs runs the cases of a simulation under its seeds, and makes the table of their figures. It needs nothing
// of the SDK, so that a browser runs the same code.
package runs

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"sync"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/measure"
	"github.com/cosmos-timers/timers/lab/sim/spec"
	"github.com/cosmos-timers/timers/lab/sim/workload"
	rules "github.com/cosmos-timers/timers/x/timers/market"
)

// Results of a simulation. Seeds that were not run are missing.
type Results struct {
	Spec  *spec.Spec
	Cases []spec.Case
	// Done seeds, in their order. Figures are by seed, and then by case.
	Done    []uint64
	Figures [][]measure.Figures
	// Series of each case under the first seed.
	Series [][]market.Point
}

// seedResult is what one seed gives.
type seedResult struct {
	figures []measure.Figures
	series  [][]market.Point
}

// Run first seeks the shades of groups that bid best. Then it runs all cases under all seeds, seeds side by side, until
// the context ends. progress is called with what was done. A seed counts only if all of its cases ended. Memory holds
// the jobs of as many seeds as run at once.
func Run(ctx context.Context, s *spec.Spec, cases []spec.Case, progress func(done string)) *Results {
	out := &Results{Spec: s, Cases: cases}
	found := make([]measure.Figures, len(cases))
	for i := range cases {
		var ended bool
		if found[i], ended = seek(ctx, s, &cases[i], progress); !ended {
			return out
		}
	}
	results := make([]*seedResult, s.Seeds)
	var lock sync.Mutex
	done := 0
	sideBySide(ctx, s.Seeds, func(i int) {
		result := runSeed(ctx, s, cases, s.FirstSeed+uint64(i), i == 0)
		if result == nil {
			return
		}
		for one, figures := range found {
			maps.Copy(result.figures[one], figures)
		}
		lock.Lock()
		defer lock.Unlock()
		results[i] = result
		done++
		progress(fmt.Sprintf("%d of %d seeds", done, s.Seeds))
	})
	for i, result := range results {
		if result == nil {
			continue
		}
		out.Done = append(out.Done, s.FirstSeed+uint64(i))
		out.Figures = append(out.Figures, result.figures)
		if result.series != nil {
			out.Series = result.series
		}
	}
	return out
}

// sideBySide does n pieces of work, as many at once as there are processors, and begins none after the context ended.
func sideBySide(ctx context.Context, n int, work func(i int)) {
	pieces := make(chan int)
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range pieces {
				work(i)
			}
		}()
	}
	for i := range n {
		select {
		case pieces <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(pieces)
	workers.Wait()
}

// drawn is what cases with the same jobs and the same lane share.
type drawn struct {
	name     string
	limits   workload.Limits
	capacity rules.Capacity
}

// runSeed runs all cases under one seed; nil if the context ended.
func runSeed(ctx context.Context, s *spec.Spec, cases []spec.Case, seed uint64, keep bool) *seedResult {
	out, optima := &seedResult{}, map[drawn]float64{}
	for i := range cases {
		c := &cases[i]
		// A case may change how many addresses an agent has, so that each draws its own jobs; they differ in nothing else.
		w := workload.Draw(c.Groups, c.Limits, s.Blocks, seed)
		key := drawn{c.Draws, c.Limits, c.Config.Lane}
		if _, known := optima[key]; !known {
			optima[key] = measure.Optimum(w, s.Blocks, key.capacity)
		}
		result := c.Runner.Run(ctx, w, s.Blocks)
		if ctx.Err() != nil {
			return nil
		}
		out.figures = append(out.figures, measure.Of(w, result, &c.Config, optima[key]))
		if keep {
			out.series = append(out.series, result.Series)
		}
	}
	return out
}

// Estimate is a figure of a case over the seeds that were run.
func (r *Results) Estimate(one int, figure string) measure.Estimate {
	values := make([]float64, len(r.Figures))
	for i := range r.Figures {
		values[i] = r.Figures[i][one][figure]
	}
	return measure.Over(values)
}
