package overhead

import (
	"slices"
	"time"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/lifetime"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Repeating compares fires of timers that repeat with the same fires of timers that fire once, each sending coins,
// without commit, and what IAVL writes for them.
type Repeating struct {
	Fires  int `json:"fires"`
	Rounds int `json:"rounds"`
	// OnceMicros and AgainMicros are per fire in the fastest round, in microseconds; Ratio is the latter by the former.
	OnceMicros  float64 `json:"once_us"`
	AgainMicros float64 `json:"again_us"`
	Ratio       float64 `json:"ratio"`
	// Nodes that IAVL writes for the timers store per fire of a repeating timer, of so many that are pending. One that
	// fires once writes those of its lifetime, scheduling among them.
	Pending int     `json:"pending"`
	Nodes   float64 `json:"nodes"`
}

// Watchable compares sends on a bank whose store is wrapped, so that it can be watched, with those on one that is not.
type Watchable struct {
	Sends  int `json:"sends"`
	Rounds int `json:"rounds"`
	// Watching is how many timers watch balances of others than those that send and receive.
	Watching int `json:"watching"`
	// PlainMicros and WrappedMicros are per send in the fastest round, in microseconds; Ratio is the latter by the
	// former.
	PlainMicros   float64 `json:"plain_us"`
	WrappedMicros float64 `json:"wrapped_us"`
	Ratio         float64 `json:"ratio"`
}

// inTurns runs both, so many times after a first time that is not counted, and returns what the fastest round of each
// took, per one of n in microseconds: what else the machine does only slows a round, and the difference that is looked
// for is small.
func inTurns(n, rounds int, first, second func() (time.Duration, error)) (firstMicros, secondMicros float64, err error) {
	var times [2][]float64
	for round := range rounds + 1 {
		for i, step := range []func() (time.Duration, error){first, second} {
			d, err := step()
			if err != nil {
				return 0, 0, err
			}
			if round > 0 {
				times[i] = append(times[i], float64(d.Nanoseconds())/1_000/float64(n))
			}
		}
	}
	return slices.Min(times[0]), slices.Min(times[1]), nil
}

// MeasureRepeating times rounds in turn, and counts nodes with so many timers pending.
func MeasureRepeating(fires, rounds, pending int, seed uint64) (Repeating, error) {
	once, err := newSends(fires, false)
	if err != nil {
		return Repeating{}, err
	}
	again, err := newSends(fires, false, workload.Repeat(1_000))
	if err != nil {
		return Repeating{}, err
	}
	r := Repeating{Fires: fires, Rounds: rounds, Pending: pending}
	if r.OnceMicros, r.AgainMicros, err = inTurns(fires, rounds, once.fire, again.fire); err != nil {
		return Repeating{}, err
	}
	r.Ratio = r.AgainMicros / r.OnceMicros
	r.Nodes, err = lifetime.CountRepeatingNodes(pending, seed)
	return r, err
}

// MeasureWatchable times rounds of sends in turn.
func MeasureWatchable(sends, rounds, watching int) (Watchable, error) {
	plain, err := newSends(sends, false, func(opts *lab.ChainOptions) { opts.Unwatched = true })
	if err != nil {
		return Watchable{}, err
	}
	wrapped, err := newSends(sends, false, func(opts *lab.ChainOptions) {
		for i := range watching {
			// The balance of an account that no one in the workload is.
			key := append([]byte{2, 20}, workload.Owner(2*workload.FirstRecipient+i)...)
			timer := workload.AddTimer(opts.Genesis, workload.Owner(i%sends), 1, nil, workload.GasLimit)
			timer.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{
				Keys: []types.WatchKey{{Store: "bank", Prefix: append(key, opts.Genesis.Config.FeeDenom...)}},
			}}
			timer.Spec.Repeat = &types.Repeat{Remaining: 1}
			timer.HoldReason = types.Watching
		}
	})
	if err != nil {
		return Watchable{}, err
	}
	w := Watchable{Sends: sends, Rounds: rounds, Watching: watching}
	if w.PlainMicros, w.WrappedMicros, err = inTurns(sends, rounds, plain.send, wrapped.send); err != nil {
		return Watchable{}, err
	}
	w.Ratio = w.WrappedMicros / w.PlainMicros
	return w, nil
}

// Lifecycle holds the figures of what repeats and what watches.
type Lifecycle struct {
	Repeating []Repeating `json:"repeating"`
	Watchable []Watchable `json:"watchable"`
}

// MeasureLifecycle measures both.
func MeasureLifecycle(opts figure.Options) (*Lifecycle, error) {
	fires, rounds := 200, 30
	if opts.Quick {
		fires, rounds = 100, 15
	}
	l := &Lifecycle{}
	for _, pending := range opts.Pendings() {
		measured, err := MeasureRepeating(fires, rounds, pending, opts.Seed)
		if err != nil {
			return nil, err
		}
		l.Repeating = append(l.Repeating, measured)
	}
	for _, watching := range []int{0, 1, 1_000} {
		measured, err := MeasureWatchable(fires, rounds, watching)
		if err != nil {
			return nil, err
		}
		l.Watchable = append(l.Watchable, measured)
	}
	return l, nil
}

// Tables prints them.
func (l *Lifecycle) Tables() []*figure.Table {
	repeating := &figure.Table{
		Title:   "A fire of a repeating timer compared with one of a one-shot timer",
		Columns: []string{"fires", "rounds", "once us", "again us", "ratio", "pending", "nodes a fire"},
		Notes: []string{
			"Fires that send coins, without commit, in the fastest of rounds that take turns. Nodes are those that IAVL writes for the timers store,",
			"receipts and their removal included; a timer that fires once writes those of its lifetime, above.",
		},
	}
	watchable := &figure.Table{
		Title:   "A send on a bank that can be watched compared with one on a bank that can't",
		Columns: []string{"sends", "rounds", "others watch", "plain us", "wrapped us", "ratio"},
		Notes: []string{
			"The fastest of rounds that take turns; sends without ante handler and commit. No one watches who sends or receives. The gas",
			"is the same to the unit, which tests hold.",
		},
	}
	if l != nil {
		for _, m := range l.Repeating {
			repeating.Row(m.Fires, m.Rounds, m.OnceMicros, m.AgainMicros, m.Ratio, m.Pending, m.Nodes)
		}
		for _, m := range l.Watchable {
			watchable.Row(m.Sends, m.Rounds, m.Watching, m.PlainMicros, m.WrappedMicros, m.Ratio)
		}
	}
	return []*figure.Table{repeating, watchable}
}
