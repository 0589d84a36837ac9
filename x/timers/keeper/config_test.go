package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 3.7-config, 4-config-next-block, 4-one-config, 6-config-updated, 7-next-block
func TestAConfigIsInForceFromTheNextBlock(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	id := f.schedule(robot, 3, f.noop())
	late := f.schedule(robot, 4, f.noop())
	f.blocksUntil(2)
	f.setConfig(func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(math.LegacyNewDec(7)); c.MinGasLimit = 150_000 })
	// The rest of this block, its end included, goes by the old config.
	f.schedule(robot, 9, f.noop(), limited(100_000))
	params, err := f.query().Params(f.Ctx(), &types.QueryParamsRequest{})
	require.NoError(t, err)
	require.Equal(t, math.LegacyOneDec(), params.Config.CycleBasefee.LegacyDec)
	require.Equal(t, math.LegacyNewDec(7), params.NextConfig.CycleBasefee.LegacyDec)
	events := f.NextBlock()
	fired := only[*types.TimerFired](f, events)
	require.Equal(t, id, fired.Id)
	require.Equal(t, "20000", fired.Paid)
	updated := only[*types.TimerConfigUpdatedByGovernance](f, events)
	require.Equal(t, uint32(49), updated.Opcode)
	require.Equal(t, params.NextConfig.String(), updated.Config.String())

	require.Equal(t, math.LegacyNewDec(7), f.config().CycleBasefee.LegacyDec)
	f.refused(types.ErrGasLimitOutOfBounds, scheduleMsg(robot, 9, f.noop(), limited(100_000)))
	params, err = f.query().Params(f.Ctx(), &types.QueryParamsRequest{})
	require.NoError(t, err)
	require.Nil(t, params.NextConfig)
	fired = only[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, late, fired.Id)
	require.Equal(t, "140000", fired.Paid, "the price of the block in which it fires")
}

// Rule: 3.7-config, 7-replaced-whole
func TestTheLastOfSeveralChangesHolds(t *testing.T) {
	f := newFixture(t)
	f.setConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock = 1 })
	f.setConfig(func(c *types.TimerConfig) { c.MaxFiresPerActor = 2 })
	f.NextBlock()
	require.Zero(t, f.config().MaxFiresPerBlock, "a config replaces the one in force whole, not the one that waits")
	require.Equal(t, uint32(2), f.config().MaxFiresPerActor)
}

// Rule: 3.7-config, 7-replaced-whole
func TestAChangeThatContradictsItselfIsRefused(t *testing.T) {
	f := newFixture(t)
	before := f.config()
	for name, change := range map[string]func(*types.TimerConfig){
		"fee denom":               func(c *types.TimerConfig) { c.FeeDenom = "other" },
		"no fee denom":            func(c *types.TimerConfig) { c.FeeDenom = "" },
		"no policy":               func(c *types.TimerConfig) { c.Policy = types.PolicyUnspecified },
		"policy to come":          func(c *types.TimerConfig) { c.Policy = 99 },
		"unknown policy":          func(c *types.TimerConfig) { c.Policy = 99 },
		"fire above lane":         func(c *types.TimerConfig) { c.MaxCyclesPerFire = c.LaneTimerCycles + 1 },
		"lane below fire":         func(c *types.TimerConfig) { c.LaneTimerCycles = c.MaxCyclesPerFire - 1 },
		"cells above lane":        func(c *types.TimerConfig) { c.MaxCellsPerFire = c.LaneTimerCells + 1 },
		"intrinsic is all":        func(c *types.TimerConfig) { c.MinGasLimit = market.FireBaseCycles },
		"least above most":        func(c *types.TimerConfig) { c.MinGasLimit = c.MaxCyclesPerFire + 1 },
		"removals above overhead": func(c *types.TimerConfig) { c.GcCyclesPerBlock = c.OverheadCyclesPerBlock + 1 },
		"no removal":              func(c *types.TimerConfig) { c.GcCyclesPerBlock = market.RemovalCycles - 1 },
		"no window":               func(c *types.TimerConfig) { c.CandidateWindow = 0 },
		"vast window":             func(c *types.TimerConfig) { c.CandidateWindow = ^uint32(0) },
		"no overhead":             func(c *types.TimerConfig) { c.OverheadCyclesPerBlock = 0 },
		"no TTL":                  func(c *types.TimerConfig) { c.MaxTtlBlocks = 0 },
		"overflowing TTL":         func(c *types.TimerConfig) { c.MaxTtlBlocks = ^uint64(0) },
		"overflowing lane":        func(c *types.TimerConfig) { c.LaneTimerCycles = ^uint64(0) },
		"overflowing retention":   func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = ^uint64(0) },
		"vast payload":            func(c *types.TimerConfig) { c.MaxPayloadBytes = 1<<20 + 1 },
		"no timers":               func(c *types.TimerConfig) { c.MaxTimersPerActor = 0 },
		"negative price":          func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(math.LegacyNewDec(-1)) },
		"absurd price":            func(c *types.TimerConfig) { c.CellBasefee = decimal.Of(math.LegacyNewDec(1e18).MulInt64(2)) },
		"bad type URL":            func(c *types.TimerConfig) { c.AllowedMessages = []string{"cosmos.bank.v1beta1.MsgSend"} },
	} {
		config := before
		change(&config)
		_, _, err := f.Tx(f.replaces(config))
		require.ErrorIs(t, err, types.ErrInvalidConfig, name)
	}
	f.NextBlock()
	require.Equal(t, before, f.config())
}

// Rule: 1.5-unrunnable, 5.1-returns, 5.1-unrunnable-on-hold, 6-released
func TestUnrunnable_IsPutOnHoldAndComesBack(t *testing.T) {
	for name, tc := range map[string]struct{ shrink, restore func(*types.TimerConfig) }{
		"above the cap": {
			func(c *types.TimerConfig) { c.MaxCyclesPerFire = 100_000 },
			func(c *types.TimerConfig) { c.MaxCyclesPerFire = 300_000 },
		},
		"more cells than the cap": {
			func(c *types.TimerConfig) { c.MaxCellsPerFire = 10_000 },
			func(c *types.TimerConfig) { c.MaxCellsPerFire = 550_000 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			comesBack := f.schedule(robot, 3, f.noop())
			expires := f.schedule(robot, 3, make([]byte, 1_000), expiring(6))
			shrinks := f.schedule(robot, 3, f.noop())
			f.setConfig(tc.shrink)
			events := f.blocksUntil(5)
			require.Empty(t, f.firedIDs(events))
			onHold := eventsOf[*types.TimerHeld](f, events)
			require.Len(t, onHold, 3)
			for i, id := range []string{comesBack, expires, shrinks} {
				require.Equal(t, types.TimerHeld{Id: id, Actor: robot.String(), Reason: types.Unrunnable}, *onHold[i])
			}
			f.refused(types.ErrNotQuarantined, &types.MsgSysReleaseTimer{Authority: f.Authority, Actor: robot.String(), Id: expires})

			// One is given limits that can run; its owner need not wait for a config.
			f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: shrinks, Spec: types.TimerSpec{GasLimit: 100_000, CellLimit: 10_000}, Fields: []string{"gas_limit", "cell_limit"}})
			require.Empty(t, f.firedIDs(f.NextBlock()))
			events = f.NextBlock()
			require.Equal(t, []string{shrinks}, f.firedIDs(events), "it competes in the next block")
			require.Positive(t, only[*types.TimerFired](f, events).Late, "since it was due")
			require.Equal(t, expires, only[*types.TimerExpired](f, events).Id, "its TTL went on")

			f.setConfig(tc.restore)
			events = f.blocksUntil(f.Height() + 1)
			require.Equal(t, comesBack, only[*types.TimerReleased](f, events).Id)
			require.Equal(t, []string{comesBack}, f.firedIDs(events))
			require.Zero(t, f.total(robot))
		})
	}
}

// TestUnrunnable_NotAboveWhatEveryFireCounts: no config lets one be scheduled, but a genesis may have one.
//
// Rule: 1.5-unrunnable
func TestUnrunnable_NotAboveWhatEveryFireCounts(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 5, f.noop())
	genesis := f.export()
	genesis.Timers[0].GasLimit, genesis.Timers[0].Spec.GasLimit = market.FireBaseCycles, market.FireBaseCycles
	g := imported(t, f, genesis)
	held := only[*types.TimerHeld](g, g.blocksUntil(6))
	require.Equal(t, types.TimerHeld{Id: id, Actor: robot.String(), Reason: types.Unrunnable}, *held)
	g.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: g.config().MinGasLimit}, Fields: []string{"gas_limit"}})
	require.Empty(t, g.firedIDs(g.NextBlock()))
	require.Equal(t, []string{id}, g.firedIDs(g.NextBlock()))
}

func TestAcceptedTimersStayUnderTighterBounds(t *testing.T) {
	f := newFixture(t)
	var ids []string
	for range 3 {
		ids = append(ids, f.schedule(robot, 8, f.noop(), expiring(500)))
	}
	f.setConfig(func(c *types.TimerConfig) {
		c.MaxTtlBlocks, c.MaxTimersPerActor, c.MaxPayloadBytes, c.MinGasLimit = 2, 2, 1, 300_000
	})
	f.NextBlock()
	f.refused(types.ErrTooManyTimers, scheduleMsg(robot, 4, nil, limited(300_000)))
	require.Equal(t, ids, f.firedIDs(f.blocksUntil(8)))
	f.schedule(robot, 10, nil, limited(300_000))
}

// Rule: 1.3-lists-checked-twice, 3.1-payload-errors
func TestADeniedMessageFailsAtTheFire(t *testing.T) {
	send := sdk.MsgTypeURL(&banktypes.MsgSend{})
	for name, deny := range map[string]func(*types.TimerConfig){
		"denied":           func(c *types.TimerConfig) { c.DeniedMessages = []string{send} },
		"all denied":       func(c *types.TimerConfig) { c.DeniedMessages = []string{"*"} },
		"not allowed":      func(c *types.TimerConfig) { c.AllowedMessages = []string{"/cosmos.bank.v1beta1.MsgMultiSend"} },
		"nothing allowed":  func(c *types.TimerConfig) { c.AllowedMessages = nil },
		"denied both ways": func(c *types.TimerConfig) { c.AllowedMessages, c.DeniedMessages = []string{send}, []string{send} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.schedule(alice, 3, f.pays(alice, bob, 5))
			f.schedule(alice, 3, f.payload(nested(banktypes.NewMsgSend(alice, bob, f.coins(5)), 1)))
			f.setConfig(deny)
			f.NextBlock()
			f.refused(types.ErrMessageNotAllowed, scheduleMsg(alice, 9, f.pays(alice, bob, 5)))
			f.refused(types.ErrMessageNotAllowed, scheduleMsg(alice, 9, f.payload(nested(banktypes.NewMsgSend(alice, bob, f.coins(5)), 2))))
			fired := eventsOf[*types.TimerFired](f, f.blocksUntil(3))
			require.Len(t, fired, 2)
			for _, event := range fired {
				require.Equal(t, types.ErrMessageNotAllowed.ABCICode(), event.Code)
			}
			require.Equal(t, int64(rich), f.balance(bob))
		})
	}
}

// Rule: 1.6-lane-budget
func TestTheLaneIsNeverOverfilled(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LaneTimerCycles, c.MaxCyclesPerFire = 500_000, 300_000
		c.LaneTimerCells, c.MaxCellsPerFire = 900, 300
	}))
	greedy := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		for {
			ctx.GasMeter().ConsumeGas(7_777, "greedy")
		}
	})
	for range 6 {
		f.schedule(robot, 2, greedy, limited(300_000))
		f.schedule(robot, 2, f.noop(), limited(60_000))
	}
	f.NextBlock()
	fires := 0
	for f.total(robot) > 0 {
		summary := only[*types.TimerLaneSummary](f, f.NextBlock())
		require.LessOrEqual(t, summary.Cycles, uint64(500_000))
		require.LessOrEqual(t, summary.Cells, uint64(900))
		require.Positive(t, summary.Fired)
		fires += int(summary.Fired)
	}
	require.Equal(t, 12, fires)
}

// Rule: 1.6-fits, 1.6-used-is-actual, 1.6-passed-over
func TestASmallerTimerPassesOneThatDoesNotFit(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.LaneTimerCycles, c.MaxCyclesPerFire = 500_000, 400_000 }))
	first := f.schedule(robot, 2, f.burner(180_000), limited(400_000))
	large := f.schedule(robot, 2, f.noop(), limited(301_000))
	exact := f.schedule(robot, 2, f.noop(), limited(300_000))
	f.NextBlock()
	require.Equal(t, []string{first, exact}, f.firedIDs(f.NextBlock()), "use counts, not limits; what fits exactly fits")
	require.Equal(t, []string{large}, f.firedIDs(f.NextBlock()))
}

// Rule: 1.6-fire-caps
func TestCapsOnFires(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock, c.MaxFiresPerActor = 3, 2 }))
	var a, b []string
	for range 4 {
		a = append(a, f.schedule(robot, 2, f.noop()))
	}
	for range 3 {
		b = append(b, f.schedule(robot2, 2, f.noop()))
	}
	f.NextBlock()
	require.Equal(t, []string{a[0], a[1], b[0]}, f.firedIDs(f.NextBlock()))
	require.Equal(t, []string{a[2], a[3], b[1]}, f.firedIDs(f.NextBlock()))
	require.Equal(t, []string{b[2]}, f.firedIDs(f.NextBlock()))
}

// TestTheSweepComesToEachTimer: however few it looks at in a block, it continues behind the last one that it looked at.
func TestTheSweepComesToEachTimer(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { lab.SetOverhead(c, market.VisitHeld, 1) }))
	stays := f.schedule(robot, 4, f.noop(), limited(gas+1))
	var ids []string
	for range 3 {
		ids = append(ids, f.schedule(robot, 4, f.noop()))
	}
	capped := func(cycles uint64) {
		f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = cycles, cycles })
	}
	capped(gas - 1)
	f.blocksUntil(9)
	for _, id := range ids {
		require.Equal(t, types.Unrunnable, f.timer(robot, id).Status.HoldReason)
	}
	capped(gas)
	f.NextBlock()
	var fired []string
	// A round is a block for each of them and one in which the end is found; one may be under way.
	for range 2 * (len(ids) + 2) {
		fired = append(fired, f.firedIDs(f.NextBlock())...)
	}
	require.ElementsMatch(t, ids, fired)
	require.Equal(t, types.Unrunnable, f.timer(robot, stays).Status.HoldReason)
}

// TestConfigChange_UndoesNoOther: two changes that were made from the same config, of other parameters, both apply, in one block
// too; of the same one the second fails, and so does one of the whole config.
//
// Rule: 3.7-changed, 3.7-in-one-block, 3.7-whole-valid
func TestConfigChange_UndoesNoOther(t *testing.T) {
	f := newFixture(t)
	current := f.config()
	setting := func(field string, change func(*types.TimerConfig)) *types.MsgUpdateTimerConfig {
		next := current
		change(&next)
		msg, err := types.ChangeConfig(f.Authority, &current, &next, []string{field})
		require.NoError(t, err)
		answer, err := f.query().Params(f.Ctx(), &types.QueryParamsRequest{Fields: []string{field}})
		require.NoError(t, err)
		require.Equal(t, msg.Expected, answer.Expected)
		return msg
	}
	wide := setting("lane_timer_cycles", func(c *types.TimerConfig) { c.LaneTimerCycles = 3_000_000 })
	wider := setting("lane_timer_cycles", func(c *types.TimerConfig) { c.LaneTimerCycles = 4_000_000 })
	target := setting("eip1559.target", func(c *types.TimerConfig) { c.Eip1559.Target = decimal.Of(dec("0.4")) })
	narrow := setting("lane_timer_cycles", func(c *types.TimerConfig) { c.LaneTimerCycles = 100_000 })
	whole := f.replaces(current)
	f.refused(types.ErrInvalidConfig, narrow)
	f.run(wide)
	f.run(target)
	for _, stale := range []*types.MsgUpdateTimerConfig{wider, whole} {
		f.refused(types.ErrConfigChanged, stale)
	}
	again := f.replaces(f.config())
	f.NextBlock()
	current.LaneTimerCycles, current.Eip1559.Target = 3_000_000, decimal.Of(dec("0.4"))
	require.Equal(t, current, f.config())
	for _, stale := range []*types.MsgUpdateTimerConfig{wide, wider, target, whole} {
		f.refused(types.ErrConfigChanged, stale)
	}
	// It was made from the change that waited.
	f.run(again)

	missing := f.replaces(current)
	missing.Expected = nil
	f.refused(types.ErrInvalidConfig, missing)
}
