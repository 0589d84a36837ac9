package keeper_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// busy brings a chain into a state with timers of every kind: pending, ready, expired and not removed yet, quarantined,
// unrunnable, with payloads here and apart, with receipts and a config that waits. Its prices are zero, so that the
// balances of the robots do not matter.
func busy(f *fixture) {
	f.setConfig(func(c *types.TimerConfig) {
		c.MaxFiresPerBlock = 3
		lab.SetRemovals(c, 2)
		c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyOneDec()), decimal.Of(math.LegacyZeroDec())
	})
	f.NextBlock()
	noop := f.noop()
	for i := range 40 {
		height := 4 + uint64(i)%7
		f.schedule(robot, height, noop, limited(100_000))
		f.schedule(robot2, height, make([]byte, 400+10*i), expiring(height+uint64(i)%5))
		f.schedule(alice, height+20, f.pays(alice, bob, int64(i)+1), limited(100_000), expiring(200))
	}
	f.schedule(robot2, 5, noop, limited(550_000))
	f.schedule(alice, 1_000_000, f.pays(alice, bob, 1), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Bid = &types.Bid{Tier: types.TierUrgent}
	})
	f.schedule(alice, 0, f.pays(alice, bob, 1), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger, msg.Spec.Name = types.Trigger{After: 900}, "after 900"
	})
	f.quarantine()
	f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = 500_000 })
	f.blocksUntil(6)
	f.Bank.ClearSendRestriction()
	f.blocksUntil(9)
}

// imported starts a second chain from what the first one exports at the end of its last block. Nothing was sent in the
// first one's open block but what pending does.
func imported(t *testing.T, f *fixture, genesis *types.GenesisState) *fixture {
	t.Helper()
	g := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis, opts.Height = genesis, int64(f.Height())
		for i, balance := range opts.Balances {
			opts.Balances[i].Amount = math.NewInt(f.balance(balance.Address))
		}
	})
	g.robots.scripts = f.robots.scripts
	return g
}

// Rule: 2.1-round-trip
func TestExportAndImportRoundTripEverything(t *testing.T) {
	f := newFixture(t)
	busy(f)
	f.setConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock = 4 })
	_, err := f.EndBlock()
	require.NoError(t, err)
	genesis := f.export()
	require.NoError(t, f.Timers.ValidateGenesis(genesis))

	kinds := map[string]int{}
	for i := range genesis.Timers {
		timer := &genesis.Timers[i]
		switch {
		case timer.HoldReason != types.NotOnHold:
			kinds[timer.HoldReason.String()]++
		case timer.ExpiredAt(types.MomentOf(f.Ctx()).Next()):
			kinds["expired"]++
		case timer.Due <= f.Height():
			kinds["ready"]++
		default:
			kinds["pending"]++
		}
		if len(timer.Spec.Call.Payload) > types.InlinePayloadBytes {
			kinds["long payload"]++
		}
	}
	for _, kind := range []string{
		"expired", "ready", "pending", "long payload", types.Quarantined.String(), types.Unrunnable.String(),
	} {
		require.Positive(t, kinds[kind], "%s of %v", kind, kinds)
	}
	require.NotNil(t, genesis.NextConfig)
	require.NotEmpty(t, genesis.Receipts)
	require.True(t, genesis.Lane.Burned.IsPositive())

	// By way of JSON, as a chain's genesis file has it.
	var read types.GenesisState
	f.Codec.MustUnmarshalJSON(f.Codec.MustMarshalJSON(genesis), &read)
	g := imported(t, f, &read)
	require.NoError(t, f.BeginBlock())
	require.Equal(t, uint32(4), f.config().MaxFiresPerBlock)
	require.Equal(t, f.config(), g.config(), "the config that waited is in force in both")
	for range 60 {
		want, got := f.NextBlock(), g.NextBlock()
		// Delivery ids name the parent block's hash, which differs between chains.
		require.Equal(t, strip(eventsOf[*types.TimerFired](f, want)), strip(eventsOf[*types.TimerFired](g, got)))
		require.Equal(t, eventsOf[*types.TimerExpired](f, want), eventsOf[*types.TimerExpired](g, got))
		require.Equal(t, eventsOf[*types.TimerHeld](f, want), eventsOf[*types.TimerHeld](g, got))
		require.Equal(t, eventsOf[*types.TimerLaneSummary](f, want), eventsOf[*types.TimerLaneSummary](g, got))
		for _, account := range []sdk.AccAddress{alice, bob, robot, robot2} {
			require.Equal(t, f.balance(account), g.balance(account))
		}
		require.Equal(t, comparableState(f), comparableState(g))
	}
	left := len(f.export().Timers)
	require.Equal(t, kinds[types.Quarantined.String()]+kinds[types.Unrunnable.String()]+2, left, "the rest waits for the authority, or for long")
}

func strip(fired []*types.TimerFired) []*types.TimerFired {
	for _, event := range fired {
		event.DeliverId = ""
	}
	return fired
}

// comparable is the module's whole state as bytes, without what names the parent block.
func comparableState(f *fixture) string {
	genesis := f.export()
	for i := range genesis.Receipts {
		for j := range genesis.Receipts[i].Receipts {
			genesis.Receipts[i].Receipts[j].DeliverId = nil
		}
	}
	return string(f.Codec.MustMarshalJSON(genesis))
}

// Rule: 2.1-derived-recomputed
func TestExportOfAnImportIsTheSame(t *testing.T) {
	f := newFixture(t)
	busy(f)
	_, err := f.EndBlock()
	require.NoError(t, err)
	genesis := f.export()
	want := string(f.Codec.MustMarshalJSON(genesis))
	g := imported(t, f, genesis)
	ctx, _ := g.Ctx().CacheContext()
	again, err := g.Timers.ExportGenesis(ctx)
	require.NoError(t, err)
	require.Equal(t, want, string(f.Codec.MustMarshalJSON(again)))
	require.NoError(t, f.BeginBlock())
}

func TestGenesisThatContradictsItselfIsRefused(t *testing.T) {
	good := func() *types.GenesisState {
		genesis := types.DefaultGenesis()
		genesis.NextSeq = 3
		for seq := uint64(1); seq <= 2; seq++ {
			genesis.Timers = append(genesis.Timers, types.Timer{
				Id: types.TimerID(robot, 5, nil, seq), Actor: robot,
				GasLimit: gas, ExpiresAt: 50, Seq: seq, Due: 5,
				Spec: types.TimerSpec{Trigger: types.Trigger{Height: 5}},
			})
		}
		return genesis
	}
	start := func(genesis *types.GenesisState) error {
		_, err := lab.NewChain(lab.ChainOptions{Genesis: genesis})
		return err
	}
	require.NoError(t, start(good()))
	for name, change := range map[string]func(*types.GenesisState){
		"seq twice":          func(g *types.GenesisState) { g.Timers[1].Seq = 1 },
		"id twice":           func(g *types.GenesisState) { g.Timers[1].Id = g.Timers[0].Id },
		"seq to come":        func(g *types.GenesisState) { g.NextSeq = 2 },
		"seq 0":              func(g *types.GenesisState) { g.Timers[0].Seq = 0 },
		"due 0":              func(g *types.GenesisState) { g.Timers[0].Due = 0 },
		"next_seq 0":         func(g *types.GenesisState) { g.NextSeq, g.Timers = 0, nil },
		"short id":           func(g *types.GenesisState) { g.Timers[0].Id = []byte{1} },
		"payload key":        func(g *types.GenesisState) { g.Timers[0].PayloadSeq = 1 },
		"before the head":    func(g *types.GenesisState) { g.Lane.HeadCursor = types.QueueKey{Due: 6} },
		"before the cursor":  func(g *types.GenesisState) { g.Lane.LiveCursor = types.QueueKey{Due: 6} },
		"no actor":           func(g *types.GenesisState) { g.Timers[0].Actor = nil },
		"no gas":             func(g *types.GenesisState) { g.Timers[0].GasLimit = 0 },
		"on hold for naught": func(g *types.GenesisState) { g.Timers[0].HoldReason = 9 },
		"no total":           func(g *types.GenesisState) { g.Lane.Burned = math.Int{} },
		"negative total":     func(g *types.GenesisState) { g.Lane.Tips = math.NewInt(-1) },
		"total at its end": func(g *types.GenesisState) {
			g.Lane.Burned = math.NewIntFromBigInt(new(big.Int).Lsh(big.NewInt(1), 255))
		},
		"next_seq at its end": func(g *types.GenesisState) { g.NextSeq = 1<<62 + 1 },
		"fire_seq at its end": func(g *types.GenesisState) { g.Timers[0].FireSeq = 1<<31 + 1 },
		"no denom":            func(g *types.GenesisState) { g.Config.FeeDenom = "1/" },
		"an outcome to come": func(g *types.GenesisState) {
			g.Timers[0].Spec.Trigger, g.Timers[0].FireSeq = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}, 1
			g.Timers[0].LastOutcome = &types.Outcome{Height: 9, Paid: math.ZeroInt()}
		},
		"an outcome of no fire": func(g *types.GenesisState) {
			g.Timers[0].Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}
			g.Timers[0].LastOutcome = &types.Outcome{Paid: math.ZeroInt()}
		},
		"beyond all heights": func(g *types.GenesisState) {
			g.Timers[0].Due, g.Timers[0].Spec.Trigger.Height = 1<<56, 1<<56
		},
		"unfunded in future": func(g *types.GenesisState) { g.Timers[0].UnfundedSince = 9 },
		"admission ahead":    func(g *types.GenesisState) { g.Lane.AdmitCursor = types.QueueKey{Due: 6} },
		"receipts ahead":     func(g *types.GenesisState) { g.Lane.ReceiptsFrom = 6 },
		"receipts out of order": func(g *types.GenesisState) {
			g.Receipts = []types.HeightReceipts{{Height: 2}, {Height: 2}}
		},
	} {
		genesis := good()
		change(genesis)
		err := start(genesis)
		require.Error(t, err, name)
		require.True(t, errors.Is(err, types.ErrInvalidGenesis), "%s: %v", name, err)
	}
	genesis := good()
	genesis.Config.MaxTtlBlocks = 0
	require.ErrorIs(t, start(genesis), types.ErrInvalidConfig)
}

func TestGenesisTimersAtTheEdgesOfHeight(t *testing.T) {
	const last, largest = uint64(1)<<56 - 1, ^uint64(0)
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis.NextSeq = 1 << 62
		for i, due := range []uint64{1, 1, last, last - 1} {
			opts.Genesis.Timers = append(opts.Genesis.Timers, types.Timer{
				Id: types.TimerID(robot, due, nil, uint64(i)+1), Actor: robot,
				GasLimit: gas, ExpiresAt: largest, Seq: uint64(i) + 1, Due: due,
				Spec: types.TimerSpec{Trigger: types.Trigger{Height: due}},
			})
		}
		opts.Genesis.Timers[1].ExpiresAt, opts.Genesis.Timers[1].ExpiresTime = 0, 1
	})
	events := f.NextBlock()
	require.Len(t, f.firedIDs(events), 1)
	require.Len(t, eventsOf[*types.TimerExpired](f, events), 1)
	require.Empty(t, f.firedIDs(f.blocksUntil(5)))
	require.Equal(t, uint32(2), f.total(robot))
	for _, height := range []uint64{last, largest - 1} {
		response, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: height, Until: true})
		require.NoError(t, err)
		require.Len(t, response.Timers, 2)
	}
}
