package keeper_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func atMost(amount string) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.MaxCharge = amount }
}

// Rule: 1.13-range, 1.13-update, 3-modules-same-checks, 3.1-bid-errors, 3.2-replaces
func TestMaxChargeIsStatedAndCleared(t *testing.T) {
	f := newFixture(t)
	stored := func(id string) string { return f.timer(robot, id).Spec.MaxCharge }
	id := f.schedule(robot, 100, f.noop(), atMost("0900"))
	require.Equal(t, "900", stored(id))
	for _, none := range []string{"", "0", "000"} {
		require.Empty(t, stored(f.schedule(robot, 100, f.noop(), atMost(none))))
	}
	for _, bad := range []string{"-1", "1.5", "5utmr", "79228162514264337593543950336", " 5"} {
		f.refused(types.ErrInvalidBid, scheduleMsg(robot, 100, f.noop(), atMost(bad)))
		f.refused(types.ErrInvalidBid, &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{MaxCharge: bad}, Fields: []string{"max_charge"}})
	}
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: 50_000}, Fields: []string{"gas_limit"}})
	require.Equal(t, "900", stored(id), "what is not stated stays")
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{MaxCharge: "79228162514264337593543950335"}, Fields: []string{"max_charge"}})
	require.Equal(t, "79228162514264337593543950335", stored(id))
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{MaxCharge: "0"}, Fields: []string{"max_charge"}})
	require.Empty(t, stored(id))

	timer, err := f.Timers.Schedule(f.Ctx(), keeper.ScheduleRequest{
		Actor: robot, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 100}, Call: types.TimerCall{Payload: f.noop()}, MaxCharge: "77"},
	})
	require.NoError(t, err)
	require.Equal(t, "77", timer.Spec.MaxCharge)
	_, err = f.Timers.Update(f.Ctx(), keeper.UpdateRequest{Actor: robot, ID: timer.Id, Spec: types.TimerSpec{MaxCharge: "-1"}, Fields: []string{"max_charge"}})
	require.ErrorIs(t, err, types.ErrInvalidBid)
	f.check()
}

// TestMaxChargeLowersTheTip: a fire tips what its max_charge leaves, and no fire is charged more.
//
// Rule: 1.13-bounds-all, 1.13-lowers-the-tip
func TestMaxChargeLowersTheTip(t *testing.T) {
	for _, p := range lab.Policies(types.PolicyEIP1559, types.PolicyTip) {
		f := newFixture(t)
		f.setConfig(func(c *types.TimerConfig) { c.Policy = p })
		f.NextBlock()
		id := f.schedule(robot, f.Height()+1, f.noop(), limited(100_000), atMost("850"), func(msg *types.MsgScheduleTimer) {
			msg.Spec.Bid = &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyOneDec()), MaxPriorityFeePerCycle: decimal.Of(math.LegacyOneDec())}}
		})
		f.NextBlock()
		for _, event := range f.NextBlock() {
			if fired, ok := f.parse(event).(*types.TimerFired); ok && fired.Id == id {
				paid, _ := math.NewIntFromString(fired.Paid)
				refunded, _ := math.NewIntFromString(fired.Refunded)
				require.Equal(t, "850", paid.Add(refunded).String(), p.String())
				require.NotEqual(t, "0", fired.Tip)
				id = ""
			}
		}
		require.Empty(t, id, "it fired")
	}
}

// TestMaxChargeBoundsAgents: an agent is not called where the call could cost more than the fire may, or where no answer
// could let the timer fire.
//
// Rule: 1.13-bounds-all, 1.13-agent-not-called
func TestMaxChargeBoundsAgents(t *testing.T) {
	f := newFixture(t)
	f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyEIP1559 })
	f.NextBlock()
	calls := 0
	agent := f.agent("counts", func(sdk.Context, types.BidContext) (types.AgentQuote, error) {
		calls++
		return types.AgentQuote{
			MaxFeePerCycle: math.LegacyOneDec(), MaxPriorityFeePerCycle: math.LegacyOneDec(), MaxFeePerCell: math.LegacyOneDec(),
		}, nil
	})
	bid := func(msg *types.MsgScheduleTimer) { msg.Spec.Bid = &types.Bid{Agent: agent.String()} }
	for _, most := range []string{"5", "149", "600"} {
		f.schedule(robot, f.Height()+1, f.noop(), atMost(most), bid)
	}
	before := f.balance(robot)
	f.NextBlock()
	f.NextBlock()
	require.Zero(t, calls)
	require.Equal(t, before, f.balance(robot))
	f.schedule(robot, f.Height()+1, f.noop(), atMost("1000"), bid)
	f.NextBlock()
	before = f.balance(robot)
	f.NextBlock()
	require.Equal(t, 1, calls)
	require.LessOrEqual(t, before-f.balance(robot), int64(1_000), "call and fire together")
}

// TestMaxChargeBoundsTheBid: what is bid for one fire counts, whether it is locked or paid with the fire.
//
// Rule: 1.13-bounds-all, 1.13-keeps-the-bid
func TestMaxChargeBoundsTheBid(t *testing.T) {
	for _, p := range lab.Policies(types.PolicyAuction, types.PolicyScore) {
		f := newFixture(t)
		f.setConfig(func(c *types.TimerConfig) { c.Policy = p })
		f.NextBlock()
		// 100,000 cycles at 0.001 and 20,000 cells at 0.03.
		const preCharge, bid = 700, 500
		fires := map[string]bool{}
		for _, most := range []string{"1199", "1200"} {
			fires[f.schedule(robot, f.Height()+1, f.noop(), limited(100_000), atMost(most), func(msg *types.MsgScheduleTimer) {
				msg.Spec.Bid = &types.Bid{Price: "500"}
			})] = most == "1200"
		}
		f.NextBlock()
		fired := f.firedIDs(f.NextBlock())
		for id, want := range fires {
			require.Equal(t, want, slices.Contains(fired, id), "%s: %d and %d", p, preCharge, bid)
		}
	}
}
