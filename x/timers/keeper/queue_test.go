package keeper_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// backlogged is a timer of the model of a fifo backlog, and what its handler does: cancel another, or update it, which
// moves it to the back of its bucket.
type backlogged struct {
	types.Timer
	cycles uint64
	// cancels and moves name others by their payloads.
	cancels, moves string
	gone           bool
}

// TestFIFOBacklogMatchesAFullRead holds the pages of a fifo backlog to a model that reads everything.
//
// Rule: 5.1-execute, 5.4-fifo-pages, 5.4-not-fitting
func TestFIFOBacklogMatchesAFullRead(t *testing.T) {
	rapid.Check(t, backlogProperty)
}

func FuzzABacklogFiresWhatReadingAllOfItWouldFire(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(backlogProperty))
}

func backlogProperty(t *rapid.T) {
	m := drawBacklog(t)
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis.Config = m.config
		opts.Genesis.Config.LanePaused, opts.Genesis.Config.MaxCyclesPerFire = true, 300_000
		for _, b := range m.timers {
			opts.Genesis.Timers = append(opts.Genesis.Timers, b.Timer)
		}
		opts.Genesis.NextSeq = uint64(len(m.timers)) + 1
		for i := range backlogActors {
			opts.Balances = append(opts.Balances, lab.Balance{Address: backlogActor(i), Amount: math.NewInt(rich)})
		}
	})
	for _, b := range m.timers {
		f.robots.scripts[b.Spec.Call.Handler] = func(ctx sdk.Context, _ types.Delivery) error { return m.handle(ctx, f, b) }
	}
	f.endBlock()
	f.setConfig(func(c *types.TimerConfig) { *c = m.config })
	f.endBlock()
	want := m.block(f.Height())
	got := f.firedIDs(f.NextBlock())
	for i := range min(len(want), len(got)) {
		require.Equal(t, want[i], got[i], "fire %d", i)
	}
	require.Len(t, got, len(want))
}

const backlogActors = 40

func backlogActor(i int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("robot_%014d", i)) }

// backlog is a queue of timers that are due, in order.
type backlog struct {
	config types.TimerConfig
	timers []*backlogged
}

func drawBacklog(t *rapid.T) *backlog {
	m := &backlog{config: types.DefaultTimerConfig("stake"), timers: make([]*backlogged, rapid.IntRange(250, 450).Draw(t, "timers"))}
	c := &m.config
	c.Policy = types.PolicyFIFO
	c.CandidateWindow = uint32(rapid.IntRange(60, 600).Draw(t, "window"))
	c.LaneTimerCycles = uint64(rapid.IntRange(2, 40).Draw(t, "lane")) * 250_000
	c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction, c.MaxCellsPerFire = 250_000, 250_000, 1
	c.MaxFiresPerActor = rapid.SampledFrom([]uint32{0, 0, 3}).Draw(t, "fires of an actor")
	// The clean-up has hardly anything to spend: expired timers stand in the way as long as they can.
	lab.SetRemovals(c, 1)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	// What was cancelled before its page was read takes no place in the window: the model's, which is read at once, is
	// the same only if it holds all.
	acts := rapid.Bool().Draw(t, "handlers act")
	if acts {
		c.CandidateWindow = 600
	}
	for i := range m.timers {
		b := &backlogged{Timer: types.Timer{
			Actor: backlogActor(i % backlogActors), Seq: uint64(i) + 1,
			GasLimit: []uint64{40_000, 50_000, 200_000}[r.IntN(3)], Due: 2, ExpiresAt: 1_000,
			Spec: types.TimerSpec{
				Call:    types.TimerCall{Handler: fmt.Sprint(i)},
				Trigger: types.Trigger{Height: 2},
			},
		}, cycles: uint64(r.IntN(3)) * 10_000}
		b.Id = types.TimerID(b.Actor, b.Due, nil, b.Seq)
		// Another timer of the same actor, whose turn comes later.
		other := i + backlogActors*(1+r.IntN(8))
		switch {
		case i%13 == 5:
			b.ExpiresAt = 2
		case i%13 == 6:
			b.GasLimit = 300_000
		case acts && r.IntN(3) == 0 && other < len(m.timers):
			b.cancels = fmt.Sprint(other)
		case acts && r.IntN(3) == 0 && other < len(m.timers):
			b.moves = fmt.Sprint(other)
		}
		m.timers[i] = b
	}
	return m
}

func (m *backlog) named(name string) *backlogged {
	for _, b := range m.timers {
		if b.Spec.Call.Handler == name {
			return b
		}
	}
	return nil
}

// handle is what a timer's handler does on the chain. What it acts on may be gone: that is no failure of its own.
func (m *backlog) handle(ctx sdk.Context, f *fixture, b *backlogged) error {
	ctx.GasMeter().ConsumeGas(b.cycles, "test")
	ctx = ctx.WithGasMeter(storetypes.NewInfiniteGasMeter())
	if other := m.named(b.cancels); other != nil {
		_ = f.Timers.Cancel(ctx, other.Actor, other.Id)
	}
	if other := m.named(b.moves); other != nil {
		_, _ = f.Timers.Update(ctx, keeper.UpdateRequest{Actor: other.Actor, ID: other.Id, Spec: types.TimerSpec{GasLimit: 60_000}, Fields: []string{"gas_limit"}})
	}
	return nil
}

// page is where a page ends that begins at a place: what has expired or is gone when it is read takes no place in it.
func (m *backlog) page(from int, height uint64, size int) (end int) {
	for end = from; end < len(m.timers) && size > 0; end++ {
		if b := m.timers[end]; b.ExpiresAt >= height && !b.gone {
			size--
		}
	}
	return end
}

// block is what fires at the height: every timer is looked at, in order.
func (m *backlog) block(height uint64) (ids []string) {
	window, end, passedOver := int(m.config.CandidateWindow), 0, 0
	used, fires := uint64(0), map[string]uint32{}
	for i, b := range m.timers {
		if i == end {
			if passedOver > 32 {
				break // A nearly full lane reads no further page.
			}
			end = m.page(i, height, min(128, window))
		}
		if b.ExpiresAt < height {
			continue
		}
		if window--; window < 0 {
			break
		}
		most := m.config.MaxFiresPerActor
		switch {
		case b.gone || b.GasLimit > m.config.MaxCyclesPerFire:
			continue
		case used+b.GasLimit > m.config.LaneTimerCycles:
			passedOver++
			continue
		case most > 0 && fires[string(b.Actor)] == most:
			continue
		}
		b.gone = true
		used += market.FireBaseCycles + b.cycles
		fires[string(b.Actor)]++
		ids = append(ids, b.IDHex())
		for _, name := range []string{b.cancels, b.moves} {
			if other := m.named(name); other != nil && other.ExpiresAt >= height {
				other.gone = true
			}
		}
	}
	return ids
}

// TestQueue_TakesNothingBelowWhatABlockHasRead: a node may try a transaction at the height of the block before, while it stores the
// next one: the error says what to do.
func TestQueue_TakesNothingBelowWhatABlockHasRead(t *testing.T) {
	f := newFixture(t)
	for i := range uint64(4) {
		f.schedule(robot, f.Height()+1+i, f.noop())
	}
	f.schedule(robot, f.Height()+50, f.noop())
	f.blocksUntil(f.Height() + 4)
	before, _ := f.Ctx().WithBlockHeight(int64(f.Height()) - 2).CacheContext() // What a failed call has written is dropped.
	_, err := f.Timers.Schedule(before, keeper.ScheduleRequest{
		Actor: robot, Spec: types.TimerSpec{Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Payload: f.noop()}},
	})
	require.ErrorIs(t, err, types.ErrHeightNotInFuture)
	require.ErrorContains(t, err, "a block was stored while this was tried: try again")
}
