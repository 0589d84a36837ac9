package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
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

const (
	sendGasLimit = 100_000
	// recipients begin where the owners end.
	firstRecipient = 1 << 20
)

// newSends makes the chain; free takes the basefees away, and changes are made to what it starts from.
func newSends(n int, free bool, changes ...func(*lab.ChainOptions)) (*sends, error) {
	genesis := wideGenesis()
	if free {
		genesis.Config.CycleBasefee, genesis.Config.CellBasefee = math.LegacyZeroDec(), math.LegacyZeroDec()
		genesis.Config.Eip1559.LaneFeeMultiplier = math.LegacyZeroDec()
	}
	s := &sends{}
	all := balances(n)
	for i := range n {
		to := owner(firstRecipient + i)
		all = append(all, lab.Balance{Address: to, Amount: math.OneInt()})
		msg := banktypes.NewMsgSend(owner(i), to, sdk.NewCoins(sdk.NewInt64Coin(genesis.Config.FeeDenom, 1)))
		payload, err := sendPayload(msg)
		if err != nil {
			return nil, err
		}
		s.msgs = append(s.msgs, msg)
		addTimer(genesis, owner(i), 1, payload, sendGasLimit)
	}
	opts := lab.ChainOptions{Genesis: genesis, Balances: all}
	for _, change := range changes {
		change(&opts)
	}
	var err error
	s.chain, err = lab.NewChain(opts)
	return s, err
}

func sendPayload(msgs ...sdk.Msg) ([]byte, error) {
	payload, err := types.NewAccountPayload(msgs...)
	if err != nil {
		return nil, err
	}
	return payload.Marshal()
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
	if fired := countSuccesses(s.chain.Ctx().EventManager().Events()); err == nil && fired != len(s.msgs) {
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
	result, err := s.chain.Messages.Handler(msg)(branch.WithGasMeter(storetypes.NewGasMeter(sendGasLimit)), msg)
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

// countSuccesses counts the fires whose handler succeeded.
func countSuccesses(events sdk.Events) int {
	n := 0
	for i := range events {
		if attribute, found := events[i].GetAttribute("success"); found && attribute.Value == "true" {
			n++
		}
	}
	return n
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
		Fires: fires, Rounds: rounds, FireMicros: median(times[0]), SendMicros: median(times[1]), FreeMicros: median(times[2]),
		Ratio: median(ratios), FreeRatio: median(freeRatios),
	}, nil
}

// median is the lower middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
