package keeper_test

import (
	"fmt"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// robotOf is an actor of a crowd, a hundred timers each.
func robotOf(n int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("robot_%014d", n/100)) }

// unpayable is a bid above all others, under each policy that has bids.
func unpayable(p types.Policy) *types.Bid {
	switch p {
	case types.PolicyEIP1559, types.PolicyTip:
		return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: math.LegacyNewDec(1_000), MaxPriorityFeePerCycle: math.LegacyNewDec(999)}}
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
			timer.Due, timer.Bid, timer.CellLimit = 3, unpayable(p), config.DefaultCellLimit
		})(opts)
		opts.Genesis.Config = config
		opts.Genesis.Config.Policy = p
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

// waits runs blocks in each of which three timers of an actor that can pay become due, and returns the longest wait of
// one of them.
func (f *fixture) waits(t *testing.T, blocks int) (longest uint64) {
	waiting := map[string]uint64{}
	for n := 0; n < blocks || len(waiting) > 0 && n < 100; n++ {
		if n < blocks {
			for range 3 {
				waiting[f.schedule(robot, f.Height()+1, []byte("noop"))] = f.Height() + 1
			}
		}
		start, fired, unfunded, aside := time.Now(), 0, 0, 0
		height := f.Height()
		for _, e := range f.endBlock() {
			switch event := f.parse(e).(type) {
			case *types.TimerFired:
				delete(waiting, event.Id)
				longest = max(longest, event.Late)
				fired++
			case *types.TimerCancelledInsufficientFunds:
				unfunded++
			case *types.TimerSetAside:
				aside++
			}
		}
		t.Logf("height %d: %d fired, %d removed, %d set aside, %d newcomers wait, %s", height, fired, unfunded, aside, len(waiting), time.Since(start))
	}
	return longest
}

func TestUnpayableBidsKeepNobodyOut(t *testing.T) {
	for _, p := range []types.Policy{types.PolicyFIFO, types.PolicyEIP1559, types.PolicyAuction, types.PolicyScore, types.PolicyTip} {
		t.Run(p.String(), func(t *testing.T) {
			f := unpayableCrowd(t, p, 20_000, 1)
			longest := f.waits(t, 45)
			f.check()
			require.LessOrEqual(t, longest, uint64(2))
		})
	}
}
