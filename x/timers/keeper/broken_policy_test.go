package keeper_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// brokenPolicy is a policy of a chain's own whose rules a test breaks.
type brokenPolicy struct {
	policies.Base
	open func(market.Rules) (market.Rules, error)
}

func (*brokenPolicy) ID() types.Policy { return types.FirstCustomPolicy }

func (*brokenPolicy) Rules(*types.TimerConfig, *types.LaneState) market.Rules { return market.FIFO{} }

func (p *brokenPolicy) Open(_ sdk.Context, b *policies.Block) (market.Rules, error) {
	return p.open(b.Rules)
}

// brokenRules are broken in one place.
type brokenRules struct {
	market.Rules
	order func([]int) []int
	tried func(policies.Attempt) bool
	close func() error
}

func (r brokenRules) Order(prices market.Prices, candidates []market.Candidate) []int {
	order := r.Rules.Order(prices, candidates)
	if r.order != nil {
		return r.order(order)
	}
	return order
}

func (r brokenRules) Tried(_ sdk.Context, a policies.Attempt) bool {
	return r.tried != nil && r.tried(a)
}

func (r brokenRules) Close(sdk.Context) (math.Int, error) {
	if r.close != nil {
		return math.ZeroInt(), r.close()
	}
	return math.ZeroInt(), nil
}

func withBroken(p *brokenPolicy) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) {
		opts.Genesis.Config.Policy = types.FirstCustomPolicy
		opts.Keeper = append(opts.Keeper, keeper.WithPolicy(func(*policies.Parts) policies.Policy { return p }))
	}
}

// opening is a policy whose rules are broken.
func opening(r brokenRules) *brokenPolicy {
	return &brokenPolicy{open: func(rules market.Rules) (market.Rules, error) {
		r.Rules = rules
		return r, nil
	}}
}

// TestABrokenPolicyHaltsItsLaneAndNothingElse: whatever rules do, a block ends, its step leaves no trace, transactions go
// on, and when the authority selects another policy every timer fires.
func TestABrokenPolicyHaltsItsLaneAndNothingElse(t *testing.T) {
	for name, p := range map[string]*brokenPolicy{
		"the same timer twice": opening(brokenRules{order: func(order []int) []int { return append(order, order...) }}),
		"an order of more":     opening(brokenRules{order: func(order []int) []int { return append(order, len(order)) }}),
		"a panic after a fire": opening(brokenRules{tried: func(a policies.Attempt) bool { panic(a.Verdict.Word()) }}),
		"an error at the end":  opening(brokenRules{close: func() error { return errors.New("closed") }}),
		"no rules":             {open: func(market.Rules) (market.Rules, error) { return nil, errors.New("closed") }},
		"a panic for rules":    {open: func(market.Rules) (market.Rules, error) { panic("closed") }},
	} {
		t.Run(name, func(t *testing.T) {
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
	f := newFixture(t, withBroken(opening(brokenRules{order: func(order []int) []int { return append(order, order...) }})))
	f.schedule(robot, 2, f.noop())
	f.blocksUntil(3)
	_, err := f.query().Ready(f.Ctx(), &types.QueryReadyRequest{})
	require.ErrorIs(t, err, types.ErrInternal)
}

// TestFollower_ThatAlwaysWantsMore: it is told of each timer that has no room once, and of none that a handler has cancelled.
func TestFollower_ThatAlwaysWantsMore(t *testing.T) {
	var told []string
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock = 1 }), withBroken(opening(brokenRules{tried: func(a policies.Attempt) bool {
		told = append(told, a.Verdict.Word()+" "+a.Timer.IDHex())
		return true
	}})))
	first := f.schedule(robot, 2, f.script(func(ctx sdk.Context, _ types.Delivery) error {
		timers, err := f.Timers.TimersOf(ctx, robot2)
		if err != nil {
			return err
		}
		return f.Timers.Cancel(ctx, robot2, timers[0].Id)
	}))
	f.schedule(robot2, 2, f.noop())
	third := f.schedule(robot, 2, f.noop())
	require.Equal(t, []string{first}, f.firedIDs(f.blocksUntil(2)))
	require.Equal(t, []string{"fires " + first, "no_room " + third}, told)
	require.Zero(t, f.total(robot2))
}
