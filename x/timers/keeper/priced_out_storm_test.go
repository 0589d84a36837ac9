package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// pricedOutCrowd is a chain on which n timers are due at once that are priced out. Their payers could pay.
func pricedOutCrowd(t *testing.T, p types.Policy, n int, change func(*types.Timer), more ...func(*lab.ChainOptions)) *fixture {
	t.Helper()
	f := newFixture(t, append(more, func(opts *lab.ChainOptions) {
		config := opts.Genesis.Config
		crowd(n, func(timer *types.Timer) {
			timer.Due, timer.CellLimit = crowdDue, config.DefaultCellLimit
			change(timer)
		})(opts)
		opts.Genesis.Config = config
		opts.Genesis.Config.Policy = p
		for i := 0; i < n; i += 100 {
			opts.Balances = append(opts.Balances, lab.Balance{Address: robotOf(i), Amount: math.NewInt(rich)})
		}
	})...)
	f.robots.scripts["noop"] = func(sdk.Context, types.Delivery) error { return nil }
	return f
}

// floorBid is below what the lane charges at least.
func floorBid(timer *types.Timer) {
	timer.Spec.Bid = &types.Bid{Static: &types.StaticBid{
		MaxFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(1, 7)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(1, 7)),
	}}
}

// TestPricedOutTimersKeepNobodyOut: a crowd of timers is priced out, by bids below the lane's fee or by a max_charge. Nothing
// of it fires, and timers that can pay wait no longer than they do behind a crowd without funds.
//
// Rule: 1.13-priced-out, 1.13-on-hold-under-others
func TestPricedOutTimersKeepNobodyOut(t *testing.T) {
	n := *crowdSize
	for _, c := range []struct {
		name     string
		change   func(*types.Timer)
		policies []types.Policy
	}{
		{"floor bids", floorBid, lab.Policies(types.PolicyEIP1559, types.PolicyTip)},
		{"max charge", func(timer *types.Timer) {
			// Best bids, so that they would come first.
			timer.Spec.MaxCharge, timer.Spec.Bid = "5", unpayable(types.PolicyEIP1559)
		}, lab.Policies(types.PolicyFIFO, types.PolicyEIP1559, types.PolicyAuction, types.PolicyTip)},
		{"max charge with a score", func(timer *types.Timer) {
			timer.Spec.MaxCharge, timer.Spec.Bid = "5", unpayable(types.PolicyScore)
		}, lab.Policies(types.PolicyScore)},
		{"max charge of the lane's fee", func(timer *types.Timer) { timer.Spec.MaxCharge = "650" }, []types.Policy{types.PolicyEIP1559}},
	} {
		for _, p := range c.policies {
			t.Run(c.name+"/"+p.String(), func(t *testing.T) {
				f := pricedOutCrowd(t, p, n, c.change)
				before := f.balance(robotOf(0))
				window := uint64(f.config().CandidateWindow)
				passed := window
				if p == types.PolicyTip {
					passed -= window / 4 // What is kept for timers that become due in the block.
				}
				seen := f.weather(t, 20)
				t.Logf("newcomers wait %d blocks, others %d; a block takes out %d", seen.newcomers, seen.others, seen.left)
				require.LessOrEqual(t, seen.newcomers, uint64(1))
				require.LessOrEqual(t, seen.others, uint64(n)/passed+1)
				require.LessOrEqual(t, seen.left, int(window)+256)
				require.Equal(t, before, f.balance(robotOf(0)))
				require.Equal(t, uint32(100), f.total(robotOf(0)), "they stay")
			})
		}
	}
}

// TestPricedOutNewcomersKeepNobodyOut: in each of ten blocks a tenth of the crowd becomes due before those who can pay.
//
// Rule: 1.13-newcomers-before-them
func TestPricedOutNewcomersKeepNobodyOut(t *testing.T) {
	n := *crowdSize
	for _, p := range lab.Policies(types.PolicyEIP1559, types.PolicyTip) {
		t.Run(p.String(), func(t *testing.T) {
			f := pricedOutCrowd(t, p, n, func(timer *types.Timer) {
				floorBid(timer)
				timer.Due = crowdDue + timer.Seq%10
			})
			seen := f.weather(t, 20)
			t.Logf("newcomers wait %d blocks", max(seen.newcomers, seen.others))
			require.LessOrEqual(t, max(seen.newcomers, seen.others), uint64(2))
		})
	}
}

// TestNewcomersAreCountedAmongTheReady: a block takes its whole window out as priced out, and a newcomer fires in addition. The
// summary counted it as no longer ready and not as ready before.
func TestNewcomersAreCountedAmongTheReady(t *testing.T) {
	for _, p := range everyPolicy {
		t.Run(p.String(), func(t *testing.T) {
			const n = 12
			f := pricedOutCrowd(t, p, n, func(timer *types.Timer) { timer.Spec.MaxCharge, timer.Spec.Bid = "5", unpayable(p) }, func(opts *lab.ChainOptions) {
				opts.Genesis.Config.CandidateWindow = n / 3
			})
			for f.Height() < crowdDue+6 {
				f.schedule(robot, f.Height()+1, []byte("noop"))
				ready := uint32(n + f.Height())
				for _, event := range f.endBlock() {
					if summary, ok := f.parse(event).(*types.TimerLaneSummary); ok {
						require.LessOrEqual(t, summary.Deferred, ready, "%+v", summary)
					}
				}
			}
		})
	}
}

// firesOfCrowd runs blocks and returns how many of the crowd fired in each.
func (f *fixture) firesOfCrowd(blocks int) (fires []int) {
	for range blocks {
		n := 0
		for _, event := range f.endBlock() {
			if e, ok := f.parse(event).(*types.TimerFired); ok && e.Actor != robot.String() {
				n++
			}
		}
		fires = append(fires, n)
	}
	return fires
}

// TestPricedOutTimersFireWhenPricesFall: a crowd in the ready index waits for the lane basefee, and fires in the first block
// at which it is low enough, without being read before.
//
// Rule: 1.13-placed-by-fee
func TestPricedOutTimersFireWhenPricesFall(t *testing.T) {
	const n = 4_000
	high := math.LegacyNewDecWithPrec(8, 3)
	f := pricedOutCrowd(t, types.PolicyEIP1559, n, func(timer *types.Timer) {
		// 640 are the chain's; 40,000 of size leave 0.002 of the lane's fee.
		timer.Spec.MaxCharge = "720"
	}, func(opts *lab.ChainOptions) { opts.Genesis.Lane.LaneBasefee = &high })
	for {
		basefee := math.LegacyMustNewDecFromStr(f.prices().NextLaneBasefee)
		fires := f.firesOfCrowd(1)[0]
		if basefee.GT(math.LegacyNewDecWithPrec(2, 3)) {
			require.Zero(t, fires)
			continue
		}
		require.Positive(t, fires)
		return
	}
}

// TestPricedOutTimersReturnWhenTheChainsPricesFall: governance trebles the chain's price of a cell, so that a max_charge
// exceeds it no more, and lowers it again. What was on hold or placed behind comes back with the sweep.
//
// Rule: 1.13-return-with-the-sweep
func TestPricedOutTimersReturnWhenTheChainsPricesFall(t *testing.T) {
	const n = 3_000
	for _, p := range everyPolicy {
		t.Run(p.String(), func(t *testing.T) {
			f := pricedOutCrowd(t, p, n, func(timer *types.Timer) { timer.Spec.MaxCharge = "1000" },
				func(opts *lab.ChainOptions) {
					opts.Genesis.Config.CellBasefee = decimal.Of(math.LegacyNewDecWithPrec(9, 2))
				})
			for _, fires := range f.firesOfCrowd(6) {
				require.Zero(t, fires)
			}
			f.setConfig(func(c *types.TimerConfig) { c.CellBasefee = decimal.Of(math.LegacyNewDecWithPrec(3, 2)) })
			f.endBlock()
			total := 0
			for _, fires := range f.firesOfCrowd(20) {
				total += fires
			}
			f.check()
			t.Logf("%d fires in 20 blocks", total)
			require.Greater(t, total, 800)
		})
	}
}
