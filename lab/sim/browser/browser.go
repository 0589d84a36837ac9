// Package browser runs a simulation for a page: it takes a file as text, and answers with what tables and charts show.
// The same code runs behind `timerd lab run`; only the reader of configs is another (package portable).
package browser

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/portable"
	"github.com/cosmos-timers/timers/lab/sim/runs"
	"github.com/cosmos-timers/timers/lab/sim/spec"
	"github.com/cosmos-timers/timers/lab/sim/strict"
	"github.com/cosmos-timers/timers/lab/sim/workload"
)

// Limits of a file in a browser, whose memory is small and whose user waits.
const (
	// MaxJobs bounds the mean number of jobs of one run.
	MaxJobs = 500_000
	// MaxRuns bounds the runs: cases × seeds.
	MaxRuns = 1_000
)

// Progress is how far a simulation is.
type Progress struct {
	// Text says what was done last. Runs is how many runs are done, Total how many there will be; 0 if that is not known,
	// since groups seek the best shade first.
	Text        string
	Runs, Total int
}

// Answer is what a page shows. Members are in JSON as they are named here.
type Answer struct {
	// Heading says what was run. Columns are the names of the figures, Rows the cases.
	Heading string
	Columns []string
	Rows    []Row
	// Series are what happened in each case under the first seed.
	Series []Series
}

// Row is one case: its name, and for each figure the text of the table.
type Row struct {
	Name  string
	Cells []string
}

// Series are the blocks of one case, an entry a block.
type Series struct {
	Name string
	// Use is the share of the lane that the fires used. Wait is the mean of the blocks that they waited, Ready how many
	// timers wait after the block. Basefee is the lane's, P50 the usual tip, both in fee denom per unit of size.
	Use, Wait, Ready, Basefee, P50 []float64
}

// Simulate runs an untrusted file. The error names the path in the file.
func Simulate(ctx context.Context, file []byte, progress func(Progress)) (*Answer, error) {
	s, cases, err := spec.Parse(file, noFiles{}, portable.Read)
	if err != nil {
		return nil, err
	}
	if err := check(s, cases); err != nil {
		return nil, err
	}
	state := Progress{Text: "starting"}
	if !seeks(cases) {
		state.Total = len(cases) * s.Seeds
	}
	var lock sync.Mutex
	report := func(change func()) {
		lock.Lock()
		defer lock.Unlock()
		change()
		progress(state)
	}
	for i := range cases {
		cases[i].Runner = counted{cases[i].Runner, func() { report(func() { state.Runs++ }) }}
	}
	report(func() {})
	r := runs.Run(ctx, s, cases, func(done string) { report(func() { state.Text = done }) })
	if len(r.Done) == 0 {
		return nil, errors.New("interrupted before the first seed was done")
	}
	if err := known(r); err != nil {
		return nil, err
	}
	return answer(r), nil
}

// check refuses what would keep a browser busy for too long.
func check(s *spec.Spec, cases []spec.Case) error {
	if n := len(cases) * s.Seeds; n > MaxRuns {
		return strict.Failf("seeds", "%d variants with %d seeds are %d runs: want at most %d in a browser; timerd takes more",
			len(cases), s.Seeds, n, MaxRuns)
	}
	jobs := 0.0
	for i := range s.Agents {
		jobs += s.Agents[i].Rate * float64(s.Blocks) * max(1, s.Agents[i].Pattern.Factor)
	}
	if jobs > MaxJobs {
		return strict.Failf("agents", "%.0f timers in %d blocks: want at most %d in a browser; timerd takes more",
			jobs, s.Blocks, MaxJobs)
	}
	return nil
}

// seeks reports whether a group seeks the shade that is best.
func seeks(cases []spec.Case) bool {
	for i := range cases {
		for j := range cases[i].Groups {
			if cases[i].Groups[j].Strategy.Kind == market.Best {
				return true
			}
		}
	}
	return false
}

// known refuses a figure that no case has.
func known(r *runs.Results) error {
	all := map[string]bool{}
	for _, figures := range r.Figures[0] {
		for name := range figures {
			all[name] = true
		}
	}
	for i, name := range r.Spec.Show {
		if !all[name] {
			return strict.Failf(fmt.Sprintf("show[%d]", i), "there is no figure %.40q; known: %s",
				name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
	}
	return nil
}

// counted is a Runner that reports each run.
type counted struct {
	market.Runner
	ran func()
}

// Run implements market.Runner.
func (c counted) Run(ctx context.Context, w *workload.Workload, blocks uint64) *market.Result {
	defer c.ran()
	return c.Runner.Run(ctx, w, blocks)
}

// noFiles has no traces: a page is given the file alone.
type noFiles struct{}

// Open implements fs.FS.
func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func answer(r *runs.Results) *Answer {
	out := &Answer{Heading: r.Heading(), Columns: r.Spec.Show}
	for i := range r.Cases {
		c := &r.Cases[i]
		out.Rows = append(out.Rows, Row{Name: c.Name, Cells: r.Cells(i)})
		series := Series{Name: c.Name}
		for _, p := range r.Series[i] {
			series.Use = append(series.Use, float64(p.Used)/float64(c.Config.Lane.Cycles))
			series.Wait, series.Ready = append(series.Wait, p.Wait), append(series.Ready, float64(p.Ready))
			series.Basefee, series.P50 = append(series.Basefee, p.Basefee), append(series.P50, p.P50)
		}
		out.Series = append(out.Series, series)
	}
	return out
}
