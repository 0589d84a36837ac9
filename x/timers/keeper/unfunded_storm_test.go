package keeper_test

import (
	"flag"
	"fmt"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// crowdDue is when the timers of an unpayable crowd are due.
const crowdDue = 3

// robotOf is an actor of a crowd, a hundred timers each.
func robotOf(n int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("robot_%014d", n/100)) }

// unpayable is a bid above all others, under each policy that has bids.
func unpayable(p types.Policy) *types.Bid {
	switch p {
	case types.PolicyEIP1559, types.PolicyTip:
		return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyNewDec(1_000)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDec(999))}}
	case types.PolicyScore:
		return &types.Bid{Price: "1000000000"}
	default:
		return nil
	}
}

// unpayableCrowd is a chain on which n timers are due at once. Their bids are above all others, and each of their payers
// has so much.
func unpayableCrowd(t *testing.T, p types.Policy, n int, balance int64) *fixture {
	t.Helper()
	f := newFixture(t, func(opts *lab.ChainOptions) {
		config := opts.Genesis.Config
		crowd(n, func(timer *types.Timer) {
			timer.Due, timer.Spec.Bid, timer.CellLimit = crowdDue, unpayable(p), config.DefaultCellLimit
		})(opts)
		opts.Genesis.Config = config
		opts.Genesis.Config.Policy = p
		// A smaller crowd storms a smaller window.
		window := min(config.CandidateWindow, uint32(n)*2/5)
		opts.Genesis.Config.CandidateWindow = window
		for i := 0; i < n; i += 100 {
			opts.Balances = append(opts.Balances, lab.Balance{Address: robotOf(i), Amount: math.NewInt(balance)})
		}
	})
	f.robots.scripts["noop"] = func(sdk.Context, types.Delivery) error { return nil }
	return f
}

// parse is the typed event, nil if it is none.
func (f *fixture) parse(event sdk.Event) proto.Message {
	parsed, err := sdk.ParseTypedEvent(abci.Event(event))
	if err != nil {
		return nil
	}
	return parsed
}

// stormOf is what a storm did to others.
type stormOf struct {
	// newcomers is the longest wait of a timer that became due after the storm began, others of one that became due with it.
	newcomers, others uint64
	// left is the most timers without funds that one block took out of the contest.
	left int
}

// weather runs blocks in each of which three timers of an actor that can pay become due, until all of them have fired.
func (f *fixture) weather(t *testing.T, blocks int) (seen stormOf) {
	t.Helper()
	waiting := map[string]bool{}
	for n := 0; n < blocks || len(waiting) > 0; n++ {
		require.Less(t, n, 60+blocks+*crowdSize/100, "%d timers that could be paid did not fire", len(waiting))
		for range 3 {
			if n < blocks {
				waiting[f.schedule(robot, f.Height()+1, []byte("noop"))] = true
			}
		}
		left := 0
		for _, event := range f.endBlock() {
			switch e := f.parse(event).(type) {
			case *types.TimerFired:
				if !waiting[e.Id] {
					continue
				}
				delete(waiting, e.Id)
				if f.Height()-1-e.Late == crowdDue {
					seen.others = max(seen.others, e.Late)
				} else {
					seen.newcomers = max(seen.newcomers, e.Late)
				}
			case *types.TimerHeld, *types.TimerCancelledInsufficientFunds, *types.TimerDeferredInsufficientFunds:
				left++
			}
		}
		seen.left = max(seen.left, left)
	}
	f.check()
	return seen
}

var everyPolicy = lab.Policies()

// crowdSize is the number of timers whose payers lack funds.
var crowdSize = flag.Int("keeper.crowd", 1_250, "how many timers whose payers lack funds storm the lane; at least 1,000")

// TestUnpayableBidsKeepNobodyOut: a crowd of timers has the best bids, and payers with one unit each. Before a timer without
// funds left the contest, newcomers waited at 20,000 for 36 blocks under fifo, 21 under eip1559, 36 under auction and 32
// under score.
//
// Rule: 5.2-one-try, 5.2-newcomers, 5.4-lack-of-funds
func TestUnpayableBidsKeepNobodyOut(t *testing.T) {
	n := *crowdSize
	for _, p := range everyPolicy {
		t.Run(p.String(), func(t *testing.T) {
			f := unpayableCrowd(t, p, n, 1)
			config := f.config()
			seen := f.weather(t, 20)
			t.Logf("newcomers wait %d blocks, others %d; a block takes out %d", seen.newcomers, seen.others, seen.left)
			require.LessOrEqual(t, seen.newcomers, uint64(2))
			require.LessOrEqual(t, uint64(seen.left), config.OverheadCyclesPerBlock/market.Try.Cycles)
			window := config.CandidateWindow
			if p == types.PolicyTip {
				window -= window / 4 // What is kept for timers that become due in the block.
			}
			require.LessOrEqual(t, seen.others, uint64(n)/uint64(window)+1)
		})
	}
}

// TestBidsBeyondTheirFundsKeepNobodyOut: the payers could cover a fire at the lowest price, and bid far more than they
// have. Their timers wait for funds; none is removed, and none has a second try while nothing changes.
//
// Rule: 5.2-one-try, 5.2-unfunded, 5.2-on-hold-unfunded
func TestBidsBeyondTheirFundsKeepNobodyOut(t *testing.T) {
	for _, p := range lab.Policies(types.PolicyEIP1559, types.PolicyScore, types.PolicyTip) {
		t.Run(p.String(), func(t *testing.T) {
			const blocks = 12
			n := *crowdSize * 4 / 5
			f := unpayableCrowd(t, p, n, 100_000)
			tries := map[string]int{}
			var newcomers uint64
			for range blocks {
				f.schedule(robot, f.Height()+1, []byte("noop"))
				for _, event := range f.endBlock() {
					switch e := f.parse(event).(type) {
					case *types.TimerFired:
						require.Equal(t, robot.String(), e.Actor)
						if f.Height()-1-e.Late != crowdDue {
							newcomers = max(newcomers, e.Late)
						}
					case *types.TimerHeld:
						tries[e.Id]++
					case *types.TimerCancelledInsufficientFunds:
						require.Fail(t, "removed", e.Id)
					}
				}
			}
			f.check()
			require.LessOrEqual(t, newcomers, uint64(2))
			for id, tried := range tries {
				require.Equal(t, 1, tried, id)
			}
			if p != types.PolicyTip {
				require.Len(t, tries, n)
			}
		})
	}
}

// TestDrainedPayersKeepNobodyOut: timers whose payers can pay are admitted under overload, and then the payers move their
// funds. The ready index is full of them.
func TestDrainedPayersKeepNobodyOut(t *testing.T) {
	for _, p := range everyPolicy {
		t.Run(p.String(), func(t *testing.T) {
			n := *crowdSize * 2 / 5
			f := unpayableCrowd(t, p, n, rich)
			f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
			for range 6 {
				f.endBlock()
			}
			for i := 0; i < n; i += 100 {
				f.run(banktypes.NewMsgSend(robotOf(i), carol, f.coins(rich)))
			}
			f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
			f.endBlock()
			seen := f.weather(t, 8)
			t.Logf("newcomers wait %d blocks", seen.newcomers)
			require.LessOrEqual(t, seen.newcomers, uint64(2))
		})
	}
}
