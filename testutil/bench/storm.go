package bench

import (
	"fmt"
	"runtime"
	"time"

	"github.com/cosmos-timers/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Storm compares a block in which far more is due than fits with one in which only that is due which fires: the same
// timers fire on the same state.
type Storm struct {
	Due    int `json:"due"`
	Owners int `json:"owners"`
	Fires  int `json:"fires"`
	// Ops of the end of the storm's block and of the calm one.
	Ops     storecount.Counts `json:"ops"`
	CalmOps storecount.Counts `json:"calm_ops"`
	// Micros are medians of the end of the block without commit, in microseconds.
	Micros     float64 `json:"us"`
	CalmMicros float64 `json:"calm_us"`
	// TimeRatio is the median of the rounds' own ratios.
	TimeRatio float64 `json:"time_ratio"`
	Rounds    int     `json:"rounds"`
}

// OpsRatio is how many store operations a fire costs in the storm, against the calm.
func (s Storm) OpsRatio() float64 { return float64(operations(s.Ops)) / float64(operations(s.CalmOps)) }

// stormChain is a chain on which the first `due` of `total` timers are due at height 1 and the rest much later.
type stormChain struct {
	chain  *lab.Chain
	counts *storecount.Counts
	fires  int
}

func newStormChain(total, due, owners int) (*stormChain, error) {
	genesis := types.DefaultGenesis()
	payload := make([]byte, payloadBytes)
	for i := range total {
		height := uint64(1)
		if i >= due {
			height = firstDue
		}
		addTimer(genesis, owner(i%owners), height, payload, gasLimit)
	}
	chain, counts, err := countedChain(lab.ChainOptions{Genesis: genesis, Balances: balances(owners), Runtimes: []types.Runtime{idle{}}})
	return &stormChain{chain: chain, counts: counts}, err
}

// endBlock runs the end of a block that is left open, and dropped by the next one: every round finds the same state.
func (s *stormChain) endBlock() (storecount.Counts, float64, error) {
	if err := s.chain.BeginBlock(); err != nil {
		return storecount.Counts{}, 0, err
	}
	runtime.GC()
	s.counts.Reset()
	start := time.Now()
	err := s.chain.Timers.EndBlock(s.chain.Ctx())
	took := float64(time.Since(start).Nanoseconds()) / 1_000
	s.fires = countSuccesses(s.chain.Ctx().EventManager().Events())
	return s.counts.Take(), took, err
}

// MeasureStorm has so many timers of so many owners due at once, under the default lane.
func MeasureStorm(due, owners, rounds int) (Storm, error) {
	storm, err := newStormChain(due, due, owners)
	if err != nil {
		return Storm{}, err
	}
	if _, _, err := storm.endBlock(); err != nil {
		return Storm{}, err
	}
	calm, err := newStormChain(due, storm.fires, owners)
	if err != nil {
		return Storm{}, err
	}
	if _, _, err := calm.endBlock(); err != nil {
		return Storm{}, err
	}
	s := Storm{Due: due, Owners: owners, Fires: storm.fires, Rounds: rounds}
	var times, calmTimes, ratios []float64
	for range rounds {
		var stormTook, calmTook float64
		if s.Ops, stormTook, err = storm.endBlock(); err != nil {
			return Storm{}, err
		}
		if s.CalmOps, calmTook, err = calm.endBlock(); err != nil {
			return Storm{}, err
		}
		times, calmTimes = append(times, stormTook), append(calmTimes, calmTook)
		ratios = append(ratios, stormTook/calmTook)
	}
	if calm.fires != s.Fires || s.Fires == 0 {
		return Storm{}, fmt.Errorf("%d timers fired in the storm, %d in the calm", s.Fires, calm.fires)
	}
	s.Micros, s.CalmMicros, s.TimeRatio = median(times), median(calmTimes), median(ratios)
	return s, nil
}

func measureStorm(r *Report, opts Options) error {
	dues, rounds := []int{20_000, 100_000}, 11
	if opts.Quick {
		dues, rounds = []int{20_000}, 3
	}
	for _, due := range dues {
		for _, perOwner := range []int{1_000, 10} {
			s, err := MeasureStorm(due, due/perOwner, rounds)
			if err != nil {
				return err
			}
			r.Storms = append(r.Storms, s)
		}
	}
	return nil
}

func (r *Report) stormTable() *table {
	t := &table{
		title: "A storm: the end of a block with so many due at once, beside one in which only the same fires are due",
		columns: []string{
			"due", "owners", "fires", "reads/fire", "writes/fire", "calm reads/fire", "calm writes/fire", "ops ratio", "ms", "calm ms", "time ratio",
		},
		notes: []string{"The timers store under the default lane; times without commit, medians of rounds that take turns on the same state."},
	}
	for _, s := range r.Storms {
		fires := float64(s.Fires)
		reads := func(c storecount.Counts) float64 { return float64(c.Reads()) / fires }
		writes := func(c storecount.Counts) float64 { return float64(c.Writes()) / fires }
		t.row(s.Due, s.Owners, s.Fires, reads(s.Ops), writes(s.Ops), reads(s.CalmOps), writes(s.CalmOps), s.OpsRatio(),
			s.Micros/1_000, s.CalmMicros/1_000, s.TimeRatio)
	}
	return t
}
