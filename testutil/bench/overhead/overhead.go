// Package overhead times fires, repetitions and watched stores beside the sends that they make.
package overhead

import (
	"fmt"
	"runtime"
	"time"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
)

// Overhead compares fires of a bank send with the same sends as transactions would run them: the end of a block, without
// its commit, against the message router, each send in a branch of its own.
type Overhead struct {
	Fires  int `json:"fires"`
	Rounds int `json:"rounds"`
	// FireMicros and SendMicros are medians over the rounds, per fire and per send, in microseconds.
	FireMicros float64 `json:"fire_us"`
	SendMicros float64 `json:"send_us"`
	// FreeMicros is FireMicros on a chain whose basefees are 0, the lane's among them, where no money moves for the fire itself.
	FreeMicros float64 `json:"free_fire_us"`
	// Ratio is the median of the rounds' own ratios, which is steadier than the ratio of the medians.
	Ratio     float64 `json:"ratio"`
	FreeRatio float64 `json:"free_ratio"`
}

// sends is a chain on which n accounts each have a timer due at height 1 that sends one coin to an account of its own.
type sends struct {
	chain *lab.Chain
	msgs  []sdk.Msg
}

// newSends makes the chain; free takes the basefees away, and changes are made to what it starts from.
func newSends(n int, free bool, changes ...func(*lab.ChainOptions)) (*sends, error) {
	genesis := workload.WideGenesis()
	if free {
		genesis.Config.CycleBasefee, genesis.Config.CellBasefee = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
		genesis.Config.Eip1559.LaneFeeMultiplier = decimal.Of(math.LegacyZeroDec())
	}
	s := &sends{}
	all := workload.Balances(n)
	for i := range n {
		to := workload.Owner(workload.FirstRecipient + i)
		all = append(all, lab.Balance{Address: to, Amount: math.OneInt()})
		msg := banktypes.NewMsgSend(workload.Owner(i), to, sdk.NewCoins(sdk.NewInt64Coin(genesis.Config.FeeDenom, 1)))
		payload, err := workload.SendPayload(msg)
		if err != nil {
			return nil, err
		}
		s.msgs = append(s.msgs, msg)
		workload.AddTimer(genesis, workload.Owner(i), 1, payload, workload.SendGasLimit)
	}
	opts := lab.ChainOptions{Genesis: genesis, Balances: all}
	for _, change := range changes {
		change(&opts)
	}
	var err error
	s.chain, err = lab.NewChain(opts)
	return s, err
}

// fire times the end of a block in which every timer fires. The block is left open, and dropped by the next BeginBlock:
// all rounds find the same state.
func (s *sends) fire() (time.Duration, error) {
	if err := s.open(); err != nil {
		return 0, err
	}
	start := time.Now()
	err := s.chain.Timers.EndBlock(s.chain.Ctx())
	took := time.Since(start)
	if fired := workload.CountSuccesses(s.chain.Ctx().EventManager().Events()); err == nil && fired != len(s.msgs) {
		err = fmt.Errorf("%d of %d timers fired well", fired, len(s.msgs))
	}
	return took, err
}

// send times the same messages through the router, in a block that is dropped too.
func (s *sends) send() (time.Duration, error) {
	if err := s.open(); err != nil {
		return 0, err
	}
	start := time.Now()
	for _, msg := range s.msgs {
		if err := s.sendOne(s.chain.Ctx(), msg); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func (s *sends) sendOne(ctx sdk.Context, msg sdk.Msg) error {
	branch, commit := ctx.CacheContext()
	result, err := s.chain.Messages.Handler(msg)(branch.WithGasMeter(storetypes.NewGasMeter(workload.SendGasLimit)), msg)
	if err != nil {
		return err
	}
	branch.EventManager().EmitEvents(result.GetEvents())
	commit()
	return nil
}

func (s *sends) open() error {
	err := s.chain.BeginBlock()
	runtime.GC()
	return err
}

// MeasureOverhead times rounds of fires and sends in turn, so that what else the machine does falls on both.
func MeasureOverhead(fires, rounds int) (Overhead, error) {
	paid, err := newSends(fires, false)
	if err != nil {
		return Overhead{}, err
	}
	free, err := newSends(fires, true)
	if err != nil {
		return Overhead{}, err
	}
	steps := []func() (time.Duration, error){paid.fire, paid.send, free.fire}
	times := make([][]float64, len(steps))
	var ratios, freeRatios []float64
	// The first round warms caches and is not counted.
	for round := range rounds + 1 {
		took := make([]float64, len(steps))
		for i, step := range steps {
			d, err := step()
			if err != nil {
				return Overhead{}, err
			}
			took[i] = float64(d.Nanoseconds()) / 1_000 / float64(fires)
		}
		if round == 0 {
			continue
		}
		for i := range steps {
			times[i] = append(times[i], took[i])
		}
		ratios = append(ratios, took[0]/took[1])
		freeRatios = append(freeRatios, took[2]/took[1])
	}
	return Overhead{
		Fires: fires, Rounds: rounds, FireMicros: workload.Median(times[0]), SendMicros: workload.Median(times[1]), FreeMicros: workload.Median(times[2]),
		Ratio: workload.Median(ratios), FreeRatio: workload.Median(freeRatios),
	}, nil
}

// Measure measures blocks of different sizes.
func Measure(opts figure.Options) ([]Overhead, error) {
	var all []Overhead
	sizes, rounds := []int{100, 500}, 15
	if opts.Quick {
		sizes, rounds = []int{100}, 7
	}
	for _, fires := range sizes {
		o, err := MeasureOverhead(fires, rounds)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// Table prints them.
func Table(overheads []Overhead) *figure.Table {
	t := &figure.Table{
		Title:   "The same where fires are charged by the bank's transfers, as by default: a send without commit, on the simulator's chain",
		Columns: []string{"fires", "rounds", "send us", "fire us", "ratio", "fire us at basefee 0", "its ratio"},
	}
	for _, o := range overheads {
		t.Row(o.Fires, o.Rounds, o.SendMicros, o.FireMicros, o.Ratio, o.FreeMicros, o.FreeRatio)
	}
	t.Notes = []string{
		"Medians of rounds that take turns on the same state. A fire moves money twice beside its own send: pre-charge and refund. timerd",
		"has WithBalances and WithAccountStore instead, as above.",
	}
	return t
}
