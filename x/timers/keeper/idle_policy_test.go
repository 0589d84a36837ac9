package keeper_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// idlePolicy is a policy that is never in force. It notes which of its methods are called.
type idlePolicy struct {
	policies.Base
	called []string
}

var _ policies.Locker = (*idlePolicy)(nil)

func (p *idlePolicy) note(method string) { p.called = append(p.called, method) }

func (p *idlePolicy) ID() types.Policy {
	p.note("ID")
	return types.FirstCustomPolicy
}

func (p *idlePolicy) Traits(*types.TimerConfig) market.Traits {
	p.note("Traits")
	return market.Traits{}
}

func (p *idlePolicy) Rules(*types.TimerConfig, *types.LaneState) market.Rules {
	p.note("Rules")
	return market.FIFO{}
}

func (p *idlePolicy) Messages() policies.Messages {
	p.note("Messages")
	return policies.Messages{}
}

func (p *idlePolicy) Accept(context.Context, *types.TimerConfig, *types.Bid) (policies.Accepted, error) {
	p.note("Accept")
	return policies.Accepted{}, nil
}

func (p *idlePolicy) Relock(context.Context, *types.TimerConfig, *types.Timer, bool) error {
	p.note("Relock")
	return nil
}

func (p *idlePolicy) Open(sdk.Context, *policies.Block) (market.Rules, error) {
	p.note("Open")
	return nil, nil
}

func (p *idlePolicy) Follow(*policies.Block) policies.Follower {
	p.note("Follow")
	return nil
}

func (p *idlePolicy) Quote(*policies.Block, market.Candidate, *market.Candidate, *types.QueryEstimateResponse) {
	p.note("Quote")
}

func (p *idlePolicy) Return(context.Context, *types.Timer) error {
	p.note("Return")
	return nil
}

func (p *idlePolicy) Maintain(sdk.Context, *policies.Block, bool) error {
	p.note("Maintain")
	return nil
}

// TestPolicies_OneThatIsNotInForceIsNotCalled: neither by what owners do, nor by blocks, fires and removals, as long as nothing is
// left of a time in which it was in force.
//
// Rule: 1.7-not-in-force
func TestPolicies_OneThatIsNotInForceIsNotCalled(t *testing.T) {
	for _, inForce := range lab.Policies() {
		t.Run(inForce.String(), func(t *testing.T) {
			idle := &idlePolicy{}
			f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.Policy = inForce }), func(opts *lab.ChainOptions) {
				opts.Keeper = append(opts.Keeper, keeper.WithPolicy(func(*policies.Parts) policies.Policy { return idle }))
			})
			f.NextBlock()
			idle.called = nil
			once := f.schedule(robot, f.Height()+2, f.noop(), bidding(stated("50", "0.1")))
			every := f.schedule(robot2, 0, f.noop(), func(msg *types.MsgScheduleTimer) {
				msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 2}}
			})
			cancelled := f.schedule(robot, f.Height()+50, f.noop())
			f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: once, Spec: types.TimerSpec{Bid: stated("60", "0.2")}, Fields: []string{"bid"}})
			f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: cancelled})
			var fired []string
			for range 6 {
				fired = append(fired, f.firedIDs(f.NextBlock())...)
			}
			require.Contains(t, fired, once)
			require.Contains(t, fired, every)
			require.Empty(t, idle.called)
			require.NoError(t, f.Check())
		})
	}
}
