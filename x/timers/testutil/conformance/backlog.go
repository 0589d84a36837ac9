package conformance

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// A block under overload fires so many timers at most, which is less than wait in its window.
	backlogFires  = 32
	backlogWindow = 64
	// backlogExpiry is when those timers of a backlog expire that do not wait for long.
	backlogExpiry = 12
	// crowdActor is how many timers of a crowd belong to one actor.
	crowdActor = 40
)

func crowdAddress(n int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("robot_%014d", n)) }

// withCrowd brings timers by genesis, of actors that can pay: due at once, with gas limits and bids of all kinds. Every
// eighth expires early. change may change each.
func withCrowd(opts *lab.ChainOptions, n int, change func(*types.Timer)) {
	genesis := opts.Genesis
	choices, gasLimits := affordable(), []uint64{40_000, 60_000, 120_000, 200_000}
	for i := range n {
		timer := types.Timer{
			Actor: crowdAddress(i / crowdActor), GasLimit: gasLimits[i*7%len(gasLimits)],
			ExpiresAt: 100_000, Seq: uint64(i) + 1, Due: 2,
			Spec: types.TimerSpec{
				Call: types.TimerCall{Payload: []byte("noop")},
				Bid:  choices[i*5%len(choices)],
			},
		}
		if i%8 == 7 {
			timer.ExpiresAt = backlogExpiry
		}
		if change != nil {
			change(&timer)
		}
		if timer.Spec.Trigger.Interval == nil {
			timer.Spec.Trigger.Height = timer.Due
		}
		timer.Id = types.TimerID(timer.Actor, timer.Due, timer.Spec.Call.Payload, timer.Seq)
		genesis.Timers = append(genesis.Timers, timer)
	}
	genesis.NextSeq = uint64(n) + 1
	for i := range (n + crowdActor - 1) / crowdActor {
		opts.Balances = append(opts.Balances, lab.Balance{Address: crowdAddress(i), Amount: math.NewInt(rich)})
	}
}

// affordable are the bids that can pay in a calm market, and those that a timer may have kept from another policy.
func affordable() []*types.Bid {
	static := func(fee, tip string) *types.Bid {
		return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(dec(fee)), MaxPriorityFeePerCycle: decimal.Of(dec(tip))}}
	}
	return []*types.Bid{
		nil,
		{Tier: types.TierEconomy},
		{Tier: types.TierStandard},
		{Tier: types.TierFast},
		{Tier: types.TierUrgent},
		static("0.5", "0.002"), static("0.4", "0.0003"),
		{Price: "700"},
		{Price: "90"},
	}
}

// backlog is a chain with a backlog of n timers, of which few fit a block.
func (s Subject) backlog(t *testing.T, n int, change func(*types.TimerConfig)) *chain {
	t.Helper()
	opts := s.options()
	c := &opts.Genesis.Config
	c.MaxFiresPerBlock, c.CandidateWindow, c.ReceiptRetentionBlocks = backlogFires, backlogWindow, 2
	lab.SetRemovals(c, 16)
	lab.SetOverhead(c, market.Admit, 2*backlogWindow)
	if change != nil {
		change(c)
	}
	withCrowd(&opts, n, nil)
	return start(t, opts)
}

// drained is what it took to drain a backlog.
type drained struct {
	fires, expired, blocks int
	all, most              storecount.Counts
}

// drain runs blocks until no timer is left. Each fires once or expires, and what the fires cost is what their payers lost:
// the actors of a crowd of so many.
func (c *chain) drain(crowd int) (d drained) {
	c.t.Helper()
	n := len(c.export().Timers)
	before, burned, collected := c.crowdBalance(crowd), c.burned, c.collected
	gone := map[string]bool{}
	leaves := func(id string) {
		require.False(c.t, gone[id], "%s left twice", id)
		gone[id] = true
	}
	for len(gone) < n {
		c.counts.Reset()
		events := c.end()
		counts := c.counts.Take()
		d.all.Add(counts)
		d.most.Max(counts)
		d.blocks++
		if d.blocks > 100+2*n/backlogFires {
			require.Fail(c.t, "the backlog does not drain", "%d of %d timers are still there", n-len(gone), n)
		}
		for _, fired := range eventsOf[*types.TimerFired](c.t, events) {
			leaves(fired.Id)
			d.fires++
		}
		for _, expired := range eventsOf[*types.TimerExpired](c.t, events) {
			leaves(expired.Id)
			d.expired++
		}
		require.NoError(c.t, c.BeginBlock())
		if d.blocks%50 == 1 {
			require.NoError(c.t, c.Check(), "height %d", c.Height())
		}
	}
	require.NoError(c.t, c.Check())
	require.Empty(c.t, c.export().Timers)
	spent := c.burned.Sub(burned).Add(c.collected.Sub(collected))
	require.Equal(c.t, spent.String(), before.Sub(c.crowdBalance(crowd)).String(), "pre-charges less refunds are burns and tips")
	return d
}

func (c *chain) crowdBalance(n int) math.Int {
	sum := math.ZeroInt()
	for i := range (n + crowdActor - 1) / crowdActor {
		sum = sum.Add(c.balance(crowdAddress(i)))
	}
	return sum
}

// testBacklog: a backlog far larger than the window costs a block no more store operations than a small one does, and drains.
func (s Subject) testBacklog(t *testing.T) {
	size := *scale
	few, many := 800*size, 3_200*size
	small := s.backlog(t, few, nil).drain(few)
	large := s.backlog(t, many, nil).drain(many)
	t.Logf("a block of %d timers does at most %+v, of %d at most %+v", few, small.most, many, large.most)
	for _, d := range []drained{small, large} {
		require.Positive(t, d.fires)
		require.Positive(t, d.expired)
	}
	// Moving a timer costs two reads and six writes at most.
	require.LessOrEqual(t, large.most.Reads(), small.most.Reads()*5/4+64+2*s.Moves, "what a block reads follows the backlog")
	require.LessOrEqual(t, large.most.Writes(), small.most.Writes()*5/4+64+6*s.Moves, "what a block writes follows the backlog")
	// The window, admissions and the sweep bound what a block reads in addition to its fires and its clean-up.
	const removals, sweep = 16, 16
	require.LessOrEqual(t, large.most.Reads(), 4*(backlogWindow+sweep)+10*(backlogFires+removals)+2*s.Moves)
	require.LessOrEqual(t, large.most.Writes(), 4*(backlogWindow+sweep)+6*(backlogFires+removals)+6*s.Moves)
	operations := func(d drained) int { return (d.all.Reads() + d.all.Writes()) / (d.fires + d.expired) }
	t.Logf("%d operations for a timer of %d, %d for one of %d", operations(small), few, operations(large), many)
	require.LessOrEqual(t, operations(large), operations(small)*5/4+2, "what a fire costs follows the backlog")
}

// testIdle: a block with nothing due reads a constant, however many timers are pending, and writes nothing.
func (s Subject) testIdle(t *testing.T) {
	idle := func(n int) storecount.Counts {
		opts := s.options()
		withCrowd(&opts, n, func(timer *types.Timer) { timer.Due, timer.ExpiresAt = 500, 1_000 })
		c := start(t, opts)
		c.quick()
		c.counts.Reset()
		c.quick()
		return c.counts.Take()
	}
	size := *scale
	few, many := idle(10), idle(2_000*size)
	require.Equal(t, few, many)
	require.Zero(t, many.Writes())
	require.LessOrEqual(t, many.Reads(), 24, "%+v", many)
}

// testPaused: while the lane is paused nothing fires, what expires leaves, and a block does no more for a larger backlog.
// When it continues, every other timer fires.
func (s Subject) testPaused(t *testing.T) {
	const blocks = 40
	var most [2]storecount.Counts
	size := *scale
	for i, n := range []int{200 * size, 800 * size} {
		c := s.backlog(t, n, func(c *types.TimerConfig) { c.LanePaused = true })
		c.quick()
		c.counts.Reset()
		expired := 0
		for range blocks {
			events := c.end()
			most[i].Max(c.counts.Take())
			require.Empty(t, eventsOf[*types.TimerFired](t, events))
			expired += len(eventsOf[*types.TimerExpired](t, events))
			require.NoError(t, c.BeginBlock())
		}
		require.NoError(t, c.Check())
		require.Positive(t, expired)
		require.Len(t, c.export().Timers, n-expired, "nothing else leaves")
		c.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
		d := c.drain(n)
		require.Equal(t, n-n/8, d.fires, "those that do not expire")
	}
	require.LessOrEqual(t, most[1].Reads(), most[0].Reads()*5/4+64)
	require.LessOrEqual(t, most[1].Writes(), most[0].Writes()*5/4+64)
}

// testMaxCharge: a timer fires if its pre-charge is within its max_charge, and waits at no cost while it is not.
func (s Subject) testMaxCharge(t *testing.T) {
	c := start(t, s.options())
	schedule := func(most string) string {
		results, _, err := c.Tx(&types.MsgScheduleTimer{
			Sender: robot.String(), Spec: types.TimerSpec{
				Trigger: types.Trigger{Height: c.Height() + 1}, Call: types.TimerCall{Payload: []byte("noop")},
				GasLimit: 100_000, ExpiresAt: 1_000, MaxCharge: most,
			},
		})
		require.NoError(t, err)
		response, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
		require.True(t, ok)
		return response.Id
	}
	// fired is what the fires of two blocks were charged in advance, by timer.
	fired := func() map[string]math.Int {
		charges := map[string]math.Int{}
		for range 2 {
			for _, event := range eventsOf[*types.TimerFired](t, c.next()) {
				charges[event.Id] = amount(t, event.Paid).Add(amount(t, event.Refunded))
			}
		}
		return charges
	}
	probe := schedule("")
	cost := fired()[probe]
	require.True(t, cost.IsPositive())
	within, below := schedule(cost.String()), schedule(cost.SubRaw(1).String())
	charges := fired()
	require.Equal(t, cost, charges[within])
	require.NotContains(t, charges, below)
	balance := c.balance(robot)
	fired()
	require.Equal(t, balance, c.balance(robot), "it waits at no cost")
	c.must(&types.MsgUpdateTimer{Sender: robot.String(), Id: below, Spec: types.TimerSpec{MaxCharge: "0"}, Fields: []string{"max_charge"}})
	require.Contains(t, fired(), below, "0 removes the bound")
}

// testObstacles: timers whose payers have nothing, timers whose bids are too low, and timers whose max_charge is, come
// first; those behind them fire all the same.
func (s Subject) testObstacles(t *testing.T) {
	const window, obstacles, good, removals = 16, 96, 20, 8
	opts := s.options()
	config := &opts.Genesis.Config
	config.MaxFiresPerBlock, config.CandidateWindow = 8, window
	lab.SetRemovals(config, removals)
	lab.SetOverhead(config, market.Admit, window)
	low := &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(dec("0.0000001")), MaxPriorityFeePerCycle: decimal.Of(dec("0"))}}
	withCrowd(&opts, obstacles+good, func(timer *types.Timer) {
		timer.Spec.Bid, timer.ExpiresAt = nil, 100_000
		switch {
		case timer.Seq > obstacles:
			timer.Actor = robot
		case timer.Seq%3 == 0:
			timer.Actor = pauper
		case timer.Seq%3 == 1:
			timer.Spec.MaxCharge = "5"
		default:
			timer.Spec.Bid = low
		}
	})
	c := start(t, opts)
	fired := 0
	for range 20 + 2*(obstacles+good)/removals {
		for _, event := range eventsOf[*types.TimerFired](t, c.next()) {
			require.NotEqual(t, pauper.String(), event.Actor)
			if event.Actor == robot.String() {
				fired++
			}
		}
	}
	require.Equal(t, good, fired)
	require.Zero(t, c.balance(pauper).Int64())
}
