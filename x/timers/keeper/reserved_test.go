package keeper_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// besieged is a chain under a policy with a crowd of 600 timers that are due at height 2, and of which a block fires 16. A
// later timer with the same bid comes after them. The crowd is a storm if the window is 32.
func besieged(
	t *testing.T, policy types.Policy, window uint32, change func(*types.TimerConfig), more ...func(*lab.ChainOptions),
) *fixture {
	t.Helper()
	return crowded(t, 600, func(timer *types.Timer) { timer.Due = 2 }, append(more, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
		c.Policy, c.CandidateWindow = policy, window
		lab.SetOverhead(c, market.Admit, int(window))
		c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 340_000, 200_000, 200_000
		c.ReservedActors, c.WeightMax = []string{robot2.String()}, c.WeightMin
		c.Eip1559.MinLaneBasefee, c.Eip1559.LaneFeeMultiplier = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
		change(c)
	}))...)
}

// TestReservedActorsAreNotKeptOut: under every policy and in a storm, the timer of a reserved actor
// fires in the block in which it is due. Without a share it waits.
//
// Rule: 1.6-reserved-share
func TestReservedActorsAreNotKeptOut(t *testing.T) {
	for _, policy := range lab.Policies() {
		for _, window := range []uint32{32, 2_048} {
			name := strings.ToLower(strings.TrimPrefix(policy.String(), "POLICY_"))
			t.Run(name, func(t *testing.T) {
				wait := func(share string) (blocks int) {
					f := besieged(t, policy, window, func(c *types.TimerConfig) { c.ReservedShare = decimal.Of(dec(share)) })
					f.endBlock()
					id := f.schedule(robot2, f.Height()+1, f.noop())
					f.endBlock()
					for blocks = range 100 {
						if slices.Contains(f.firedIDs(f.endBlock()), id) {
							break
						}
					}
					require.NoError(t, f.Check())
					return blocks
				}
				require.Zero(t, wait("0.1"))
				if policy != types.PolicyTip {
					require.Positive(t, wait("0"), "only slices of the lane help a newcomer without a share")
				}
			})
		}
	}
}

// TestTheReservedShareIsBounded: reserved timers come first while they used less than the share, the last of them may exceed
// it, and the lane is for all then. What they leave goes to all.
//
// Rule: 1.6-reserved-first, 1.6-reserved-may-exceed, 1.6-reserved-pay
func TestTheReservedShareIsBounded(t *testing.T) {
	f := besieged(t, types.PolicyFIFO, 2_048, func(c *types.TimerConfig) { c.ReservedShare = decimal.Of(dec("0.3")) })
	f.endBlock()
	var reserved []string
	for range 4 {
		reserved = append(reserved, f.schedule(robot2, f.Height()+1, f.burner(50_000), limited(100_000)))
	}
	f.endBlock()
	// 0.3 of 340,000 is 102,000: after two fires of 70,000 each the share is used up. The crowd has the rest: nine of 20,000,
	// as the last needs room for its limit of 40,000.
	fired := f.firedIDs(f.endBlock())
	require.Equal(t, reserved[:2], fired[:2])
	require.Len(t, fired, 11)
	require.NotContains(t, fired, reserved[2])
	require.Equal(t, reserved[2:], f.firedIDs(f.endBlock())[:2], "they come first in the next block")
	require.Len(t, f.firedIDs(f.endBlock()), 16, "without reserved timers the lane is for all")
	require.NoError(t, f.Check())
}

// TestReservedActorsPayLikeAllOthers: the share is a place, no gift. One who can't pay or is priced out does not fire.
//
// Rule: 1.6-reserved-pay
func TestReservedActorsPayLikeAllOthers(t *testing.T) {
	f := newFixture(t, withConfig(expensive), withConfig(func(c *types.TimerConfig) { c.ReservedActors = []string{robot.String()} }))
	low := f.schedule(robot, 3, f.noop(), bidding(stated("1.05", "0")))
	id := f.schedule(robot, 3, f.noop(), bidding(stated("9", "0.5")))
	f.setConfig(func(c *types.TimerConfig) { c.Eip1559.MinLaneBasefee = decimal.Of(dec("1.2")) })
	before := f.balance(robot)
	events := f.blocksUntil(3)
	require.Equal(t, []string{id}, f.firedIDs(events))
	require.Equal(t, "54000", only[*types.TimerFired](f, events).Paid, "20,000 at 1, 1.2 and a tip of 0.5")
	require.Equal(t, before-54_000, f.balance(robot))
	require.Equal(t, types.PhaseReady, f.timer(robot, low).Status.Phase)
}

// TestTheAuthoritysTimerIsNotKeptOut where the config names no reserved actors.
//
// Rule: 1.6-reserved-share
func TestTheAuthoritysTimerIsNotKeptOut(t *testing.T) {
	wait := func(share string) (blocks int) {
		f := besieged(t, types.PolicyFIFO, 2_048, func(c *types.TimerConfig) {
			c.ReservedActors, c.ReservedShare = nil, decimal.Of(dec(share))
		})
		gov := authtypes.NewModuleAddress(govtypes.ModuleName)
		f.Accounts.GetModuleAccount(f.Ctx(), govtypes.ModuleName)
		f.Modules.Register(govtypes.ModuleName, types.DefaultHandler, func(context.Context, types.Delivery) error { return nil })
		f.endBlock()
		id := f.schedule(gov, f.Height()+1, nil)
		f.endBlock()
		for blocks = range 100 {
			if slices.Contains(f.firedIDs(f.endBlock()), id) {
				break
			}
		}
		return blocks
	}
	require.Zero(t, wait("0.1"))
	require.Positive(t, wait("0"))
}

// TestABlockReadsTheOldestTimersOfReservedActors: 64 of them, and tries the others in the policy's order.
//
// Rule: 1.6-reserved-reads
func TestABlockReadsTheOldestTimersOfReservedActors(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LaneTimerCycles, c.ReservedShare, c.ReservedActors = 50_000_000, decimal.Of(dec("0.5")), []string{robot2.String()}
	}))
	var others, reserved []string
	for range 5 {
		others = append(others, f.schedule(robot, 3, f.noop()))
	}
	for range 70 {
		reserved = append(reserved, f.schedule(robot2, 3, f.noop()))
	}
	want := slices.Concat(reserved[:64], others, reserved[64:])
	require.Equal(t, want, f.firedIDs(f.blocksUntil(3)))
}

func TestReservedActorsMustBeAddresses(t *testing.T) {
	f := newFixture(t)
	config := f.config()
	config.ReservedActors = []string{govtypes.ModuleName}
	f.refused(types.ErrInvalidConfig, f.replaces(config))
}
