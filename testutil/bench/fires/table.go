package fires

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
)

// MeasureAll measures every kind outside of a test.
func MeasureAll(opts figure.Options) (f *Fires, err error) {
	r := &reporter{}
	defer func() {
		if failed := recover(); failed == r {
			err = r.failure
		} else if failed != nil {
			panic(failed)
		}
		err = errors.Join(err, r.cleanUp())
	}()
	if opts.Quick {
		return Measure(r, Options{Fires: 100, Rounds: 3}), nil
	}
	return Measure(r, Options{Fires: 200, Rounds: 30}), nil
}

// reporter stands for a test where there is none: what it would fail with is an error. It has the methods that the chain of
// an application needs.
type reporter struct {
	testing.TB
	dirs    []string
	failure error
}

// Helper implements testing.TB.
func (*reporter) Helper() {}

// Errorf implements testing.TB.
func (r *reporter) Errorf(format string, args ...any) { r.failure = fmt.Errorf(format, args...) }

// FailNow implements testing.TB.
func (r *reporter) FailNow() { panic(r) }

// TempDir implements testing.TB.
func (r *reporter) TempDir() string {
	dir, err := os.MkdirTemp("", "timersbench-")
	if err != nil {
		r.failure = err
		r.FailNow()
	}
	r.dirs = append(r.dirs, dir)
	return dir
}

func (r *reporter) cleanUp() (err error) {
	for _, dir := range r.dirs {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// Tables prints them.
func (f *Fires) Tables() []*figure.Table {
	rows := &figure.Table{
		Title: "A fire in timerd, with all its stores, without commit, beside what it does without a timer",
		Columns: []string{
			"fire", "floor", "fire us", "floor us", "ratio", "allocations", "of the floor", "ops timers store", "ops all stores",
		},
		Notes: []string{
			fmt.Sprintf("%d fires a block; processor time, the least of %d rounds that take turns. A fire's floor runs through the message", f.Count, f.Rounds),
			"router without ante handler (targets: 1.65 for a send, 1.4 at prices of 0, 450 allocations).",
		},
	}
	for _, r := range f.Rows {
		rows.Row(r.What, r.Floor, r.Micros, r.FloorMicros, r.Ratio, int(r.Allocs), int(r.FloorAllocs),
			workload.Operations(r.Module), workload.Operations(r.All))
	}
	blocks := &figure.Table{
		Title:   "A fire in whole blocks of timerd, beside a signed transaction that does the same",
		Columns: []string{"what", "finalize us", "commit us", "of a signed send", "allocations"},
		Notes: []string{
			"Each is its share of a block of as many, less what an empty block takes; signatures are checked. Finalizing a block is all that",
			"comes before its commit, EndBlock included (targets: 0.33 for the fire, 1.4 for both).",
		},
	}
	for _, b := range f.Blocks {
		blocks.Row(b.What, b.Finalize, b.Commit, b.Ratio, int(b.Allocs))
	}
	return []*figure.Table{rows, blocks}
}
