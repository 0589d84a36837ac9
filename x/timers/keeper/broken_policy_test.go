package keeper_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// brokenPolicy is a policy of a chain's own whose round a test breaks.
type brokenPolicy struct {
	policies.Base
	parts *policies.Parts
	rules market.Rules
	open  func(policies.Window) (policies.Round, error)
}

func (*brokenPolicy) ID() types.Policy { return types.FirstCustomPolicy }

func (p *brokenPolicy) Rules(*types.TimerConfig, *types.LaneState) market.Rules { return p.rules }

func (p *brokenPolicy) Open(_ sdk.Context, b *policies.Block) (policies.Round, error) {
	return p.open(policies.Window{Block: b, Parts: p.parts, Rules: p.rules})
}

// brokenRound is a window that is broken in one place.
type brokenRound struct {
	policies.Window
	next func(*brokenRound, sdk.Context) (policies.Turn, bool, error)
}

func (r *brokenRound) Next(ctx sdk.Context) (policies.Turn, bool, error) { return r.next(r, ctx) }

func brokenNext(next func(*brokenRound, sdk.Context) (policies.Turn, bool, error)) func(policies.Window) (policies.Round, error) {
	return func(w policies.Window) (policies.Round, error) { return &brokenRound{w, next}, nil }
}

// wrongOrder names a candidate that there is not.
type wrongOrder struct{ market.FIFO }

func (wrongOrder) Order(_ market.Prices, candidates []market.Candidate) []int {
	return []int{len(candidates)}
}

func withBroken(p *brokenPolicy) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) {
		opts.Genesis.Config.Policy = types.FirstCustomPolicy
		opts.Keeper = append(opts.Keeper, keeper.WithPolicy(func(parts *policies.Parts) policies.Policy {
			p.parts = parts
			return p
		}))
	}
}

// TestABrokenPolicyHaltsItsLaneAndNothingElse: whatever a round does, a block ends, its step leaves no trace, transactions go
// on, and when the authority selects another policy every timer fires.
func TestABrokenPolicyHaltsItsLaneAndNothingElse(t *testing.T) {
	take := func(r *brokenRound) (policies.Turn, bool, error) {
		turn, found := r.Take()
		return turn, found, nil
	}
	for name, p := range map[string]*brokenPolicy{
		"the same timer for ever": {open: brokenNext(func(r *brokenRound, _ sdk.Context) (policies.Turn, bool, error) {
			r.Turn = 0
			return take(r)
		})},
		"a fired timer, said to be fresh": {open: brokenNext(func(r *brokenRound, _ sdk.Context) (policies.Turn, bool, error) {
			r.Turn = 0
			turn, found, err := take(r)
			turn.Fresh = true
			return turn, found, err
		})},
		"a timer before its time": {open: brokenNext(func(r *brokenRound, ctx sdk.Context) (policies.Turn, bool, error) {
			all, err := r.Parts.Records.Of(ctx, robot2)
			if err != nil || len(all) == 0 {
				return policies.Turn{}, false, err
			}
			return policies.Turn{Timer: &all[0]}, true, nil
		})},
		"an error after a fire": {open: brokenNext(func(r *brokenRound, _ sdk.Context) (policies.Turn, bool, error) {
			if r.Turn > 0 {
				return policies.Turn{}, false, errors.New("no next one")
			}
			return take(r)
		})},
		"a panic after a fire": {open: brokenNext(func(r *brokenRound, _ sdk.Context) (policies.Turn, bool, error) {
			if r.Turn > 0 {
				panic("no next one")
			}
			return take(r)
		})},
		"no round":         {open: func(policies.Window) (policies.Round, error) { return nil, errors.New("closed") }},
		"a panic for one":  {open: func(policies.Window) (policies.Round, error) { panic("closed") }},
		"an order of more": {rules: wrongOrder{}, open: func(w policies.Window) (policies.Round, error) { return &w, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			if p.rules == nil {
				p.rules = market.FIFO{}
			}
			f := newFixture(t, withBroken(p))
			due := []string{f.schedule(robot, 2, f.noop()), f.schedule(robot, 2, f.noop())}
			later := f.schedule(robot2, 50, f.noop())
			f.NextBlock()
			before := f.export()
			for range 3 {
				events := f.NextBlock()
				require.Len(t, eventsOf[*types.TimerLaneFailed](f, events), 1)
				require.Empty(t, f.firedIDs(events))
				require.Equal(t, before.Timers, f.export().Timers)
			}
			due = append(due, f.schedule(robot, f.Height()+1, f.noop()))
			f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
			f.NextBlock()
			require.Equal(t, due, f.firedIDs(f.NextBlock()))
			require.Equal(t, types.PhasePending, f.timer(robot2, later).Status.Phase)
		})
	}
}

// TestAQueryOfABrokenPolicyEnds: what blocks do not do, queries do not do either.
func TestAQueryOfABrokenPolicyEnds(t *testing.T) {
	f := newFixture(t, withBroken(&brokenPolicy{rules: market.FIFO{}, open: brokenNext(
		func(r *brokenRound, _ sdk.Context) (policies.Turn, bool, error) {
			r.Turn = 0
			turn, found := r.Take()
			return turn, found, nil
		},
	)}))
	f.schedule(robot, 2, f.noop())
	f.blocksUntil(3)
	_, err := f.query().Ready(f.Ctx(), &types.QueryReadyRequest{})
	require.ErrorIs(t, err, types.ErrInternal)
}

// TestATimerThatIsGoneDoesNotFire: a policy says of a timer that it is fresh, and a handler has cancelled it meanwhile.
func TestATimerThatIsGoneDoesNotFire(t *testing.T) {
	f := newFixture(t, withBroken(&brokenPolicy{rules: market.FIFO{}, open: brokenNext(
		func(r *brokenRound, _ sdk.Context) (policies.Turn, bool, error) {
			turn, found := r.Take()
			turn.Fresh = true
			return turn, found, nil
		},
	)}))
	var second string
	first := f.schedule(robot, 2, f.script(func(ctx sdk.Context, _ types.Delivery) error {
		timers, err := f.Timers.TimersOf(ctx, robot2)
		if err != nil {
			return err
		}
		return f.Timers.Cancel(ctx, robot2, timers[0].Id)
	}))
	second = f.schedule(robot2, 2, f.noop())
	third := f.schedule(robot, 2, f.noop())
	require.Equal(t, []string{first, third}, f.firedIDs(f.blocksUntil(2)), "%s is gone", second)
	require.Zero(t, f.total(robot2))
}
