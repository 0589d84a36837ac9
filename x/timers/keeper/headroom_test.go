package keeper_test

import (
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// sleepy is a lane that seven default timers use to 92 %, below a target of 95 %, and that has no room for an eighth.
func sleepy(c *types.TimerConfig) {
	inMarket(c)
	c.LaneTimerCycles, c.Eip1559.Target = 1_900_000, decimal.Of(dec("0.95"))
}

// besiegedLane runs 40 blocks in which seven timers that tip a little, and pay at most ten times the least basefee, return in
// every block. Five others wait that pay up to 25 times as much and do not tip. It returns how many of the five fired, and the
// highest lane basefee.
func besiegedLane(t *testing.T, change func(*types.TimerConfig), harness ...func(*lab.ChainOptions)) (fired int, highest math.LegacyDec) {
	t.Helper()
	f := newFixture(t, append(harness, withConfig(change))...)
	payload := f.burner(230_000)
	often := func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1, First: 2}}
	}
	for range 7 {
		f.schedule(robot, 0, payload, limited(250_000), often, bidding(stated("0.01", "0.001")))
	}
	for range 5 {
		f.schedule(robot2, 2, payload, limited(250_000), bidding(stated("0.025", "0")))
	}
	highest = math.LegacyZeroDec()
	for f.Height() <= 41 {
		for _, event := range eventsOf[*types.TimerFired](f, f.NextBlock()) {
			if event.Actor == robot2.String() {
				fired++
			}
		}
		highest = math.LegacyMaxDec(highest, *f.lane().LaneBasefee)
	}
	return fired, highest
}

// TestHeadroom_ACrowdPaysForTheRoomItTakes: without headroom a crowd keeps others out while the basefee sleeps at its floor;
// such a config is refused. With the target that the refusal names the basefee rises until the crowd pays for the room.
//
// Rule: 7.2-headroom-enforced, 7.2-headroom-on-hold
func TestHeadroom_ACrowdPaysForTheRoomItTakes(t *testing.T) {
	fired, highest := besiegedLane(t, sleepy, withoutHeadroom)
	require.Equal(t, 0, fired, "what the rule prevents")
	require.Equal(t, "0.001000000000000000", highest.String())

	_, err := lab.NewChain(lab.ChainOptions{Genesis: genesisWith(sleepy)})
	require.ErrorIs(t, err, types.ErrInvalidConfig)
	require.ErrorContains(t, err, "eip1559.target at most 0.625 would do")
	fired, highest = besiegedLane(t, func(c *types.TimerConfig) {
		sleepy(c)
		c.Eip1559.Target = decimal.Of(dec("0.625"))
	})
	require.Equal(t, 5, fired)
	require.True(t, highest.GT(dec("0.01")), "the crowd is priced out: %s", highest)
}

// TestHeadroom_HoldsForEachWayIn: a config comes in by genesis, by genesis as the next one, and by a message. A lane
// without a target has no need of headroom; one whose policy starts later has.
//
// Rule: 7.2-headroom-enforced
func TestHeadroom_HoldsForEachWayIn(t *testing.T) {
	later := func(c *types.TimerConfig) {
		sleepy(c)
		c.Eip1559.AuctionActivationHeight = 1_000
	}
	for name, change := range map[string]func(*types.TimerConfig){"in force": sleepy, "by activation": later} {
		genesis := genesisWith(change)
		_, err := lab.NewChain(lab.ChainOptions{Genesis: genesis})
		require.ErrorIs(t, err, types.ErrInvalidConfig, name)
		next := genesis.Config
		_, err = lab.NewChain(lab.ChainOptions{Genesis: genesisWith(inMarket, func(g *types.GenesisState) { g.NextConfig = &next })})
		require.ErrorIs(t, err, types.ErrInvalidConfig, name)
		f := newFixture(t)
		config := f.config()
		change(&config)
		f.refused(types.ErrInvalidConfig, f.replaces(config))
		for _, p := range f.Timers.Engine().Policies.All() {
			if p.ID() == types.PolicyEIP1559 {
				continue
			}
			config.Policy = p.ID()
			f.run(f.replaces(config))
		}
	}
	// By default 0.9 of the lane less 550,000 of 2,000,000.
	exact := newFixture(t, withConfig(inMarket))
	exact.setConfig(func(c *types.TimerConfig) { c.Eip1559.Target = decimal.Of(dec("0.625")) })
	config := exact.config()
	config.Eip1559.Target = decimal.Of(dec("0.625000000000000001"))
	exact.refused(types.ErrInvalidConfig, exact.replaces(config))
}

// TestHeadroom_AConfigInForceStays: a chain whose config is older than the rule continues.
//
// Rule: 7.2-headroom-of-old
func TestHeadroom_AConfigInForceStays(t *testing.T) {
	db := dbm.NewMemDB()
	before, err := lab.NewChain(lab.ChainOptions{DB: db, Genesis: genesisWith(sleepy), NoHeadroom: true})
	require.NoError(t, err)
	block := func(chain *lab.Chain) {
		require.NoError(t, chain.BeginBlock())
		_, err := chain.EndBlock()
		require.NoError(t, err)
	}
	block(before)
	after, err := lab.NewChain(lab.ChainOptions{DB: db, Height: int64(before.Height())})
	require.NoError(t, err)
	block(after)
	config, err := after.Timers.Config(after.Ctx())
	require.NoError(t, err)
	require.Equal(t, "0.95", config.Eip1559.Target.Text())
}

func genesisWith(change func(*types.TimerConfig), more ...func(*types.GenesisState)) *types.GenesisState {
	genesis := types.NewGenesis("stake")
	change(&genesis.Config)
	for _, change := range more {
		change(genesis)
	}
	return genesis
}

// withoutHeadroom lets lanes be so small that few fires fill them.
func withoutHeadroom(opts *lab.ChainOptions) { opts.NoHeadroom = true }
