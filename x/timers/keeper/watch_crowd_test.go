package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// watchCrowd is an attack: a crowd of watches, of which every block changes many keys. The sizes are those of 1,000
// timers with 8 keys each and 600 changes a block against the default bound, divided by crowdPart.
type watchCrowd struct {
	*fixture
	accounts []sdk.AccAddress
	block    int
}

// crowdPart is 4 in the long form.
func crowdPart() int { return sized(20, 4) }

const crowdKeys = 8

func crowdTimers() int  { return 1_000 / crowdPart() }
func crowdChanges() int { return 600 / crowdPart() }
func crowdHits() int    { return 256 / crowdPart() }

// inTheEnd makes a config under which a block has room for n works of a kind when it has done all else.
func inTheEnd(c *types.TimerConfig, work market.Work, n int) {
	c.OverheadCyclesPerBlock = c.GcCyclesPerBlock + uint64(2*n+1)*work.Cycles/2
}

// notifies makes a config under which a block notifies n watches, and has a little left for an owner and some conditions.
func notifies(c *types.TimerConfig, n int) {
	lab.SetOverhead(c, market.Work{Share: market.Watches, Cycles: uint64(n+1)*market.Notify.Cycles - 100}, 1)
}

// newWatchCrowd schedules the crowd's timers, of so many owners in turn. shared: each also watches bob's balance.
func newWatchCrowd(t *testing.T, owners int, shared bool, change func(*types.TimerConfig)) *watchCrowd {
	t.Helper()
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, crowdHits()); change(c) }))
	for i := range owners {
		f.fund(crowdOwner(i), 10*rich)
	}
	c := &watchCrowd{fixture: f}
	payload := f.noop()
	for timer := range crowdTimers() {
		keys := make([]types.WatchKey, crowdKeys)
		for i := range keys {
			account := sdk.AccAddress(fmt.Sprintf("crowd_%014d", crowdKeys*timer+i))
			c.accounts, keys[i] = append(c.accounts, account), f.balanceOf(account)
		}
		if shared {
			keys[0] = f.balanceOf(bob)
		}
		f.schedule(crowdOwner(timer%owners), 0, payload, watching(keys...), times(0), limited(40_000))
	}
	f.endBlock()
	return c
}

func crowdOwner(i int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("robot_%014d", i)) }

// next changes some of the crowd's keys and ends the block.
func (c *watchCrowd) next() sdk.Events {
	msgs := make([]sdk.Msg, crowdChanges())
	for i := range msgs {
		msgs[i] = c.send(alice, c.accounts[(crowdChanges()*c.block+i)%len(c.accounts)], 1)
	}
	c.run(msgs...)
	c.block++
	return c.endBlock()
}

// TestACrowdOfWatchesDelaysItselfOnly: a bystander's changes fire in their blocks, whatever the crowd of one owner does,
// even on the bystander's key. With very many owners, all wait for as many blocks as it takes to give each owner a
// turn. A fire that came late says so.
//
// Rule: 1.10-owners-take-turns, 1.10-crowd-delays-itself
func TestACrowdOfWatchesDelaysItselfOnly(t *testing.T) {
	owners := 800 / crowdPart()
	for name, c := range map[string]struct {
		owners int
		shared bool
		change func(*types.TimerConfig)
		// latest is how late a fire of the bystander may be.
		latest uint64
	}{
		"fifo":                            {1, false, func(*types.TimerConfig) {}, 0},
		"eip1559":                         {1, false, inMarket, 0},
		"fifo, on the bystander's key":    {1, true, func(*types.TimerConfig) {}, 0},
		"eip1559, on the bystander's key": {1, true, inMarket, 0},
		"fifo, of many owners":            {owners, false, func(*types.TimerConfig) {}, uint64(owners/crowdHits()) + 1},
	} {
		t.Run(name, func(t *testing.T) {
			crowd := newWatchCrowd(t, c.owners, c.shared, c.change)
			mine := crowd.schedule(robot2, 0, crowd.noop(), watching(crowd.balanceOf(bob)), times(0), limited(40_000))
			for range 20 {
				crowd.next()
			}
			var changed []uint64
			var fires, latest, crowdFires, crowdLatest uint64
			for block := range 40 {
				if block < 15 && block%5 == 0 {
					crowd.run(crowd.send(alice, bob, 1))
					changed = append(changed, crowd.Height())
				}
				height := crowd.Height()
				for _, fired := range eventsOf[*types.TimerFired](crowd.fixture, crowd.next()) {
					if fired.Id != mine {
						crowdFires, crowdLatest = crowdFires+1, max(crowdLatest, fired.Late)
						continue
					}
					require.Equal(t, height-changed[fires], fired.Late, "lateness counts from the change")
					require.Equal(t, []types.WatchedKey{matched(crowd.balanceOf(bob))}, fired.Matched)
					fires, latest = fires+1, max(latest, fired.Late)
				}
			}
			t.Logf("%d changes, %d fires of the bystander, the latest %d blocks late; %d fires of the crowd, the latest %d blocks late",
				len(changed), fires, latest, crowdFires, crowdLatest)
			require.EqualValues(t, len(changed), fires, "each of the bystander's changes makes a fire")
			require.LessOrEqual(t, latest, c.latest)
			require.Greater(t, crowdLatest, uint64(5), "what the crowd's number delays says so")
			require.NoError(t, crowd.Check())
		})
	}
}

// TestSeveralChangesMakeOneLateFire: a timer that could not be notified at once delivers all that changed meanwhile, and
// is as late as the first of it. Its receipt and its delivery say the same.
//
// Rule: 1.10-lateness, 1.12-delivery-content
func TestSeveralChangesMakeOneLateFire(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, 1) }))
	var delivered types.Delivery
	payload := f.script(func(_ sdk.Context, d types.Delivery) error {
		delivered = d
		return nil
	})
	// All watches are of one owner, who waits for itself.
	for range 4 {
		f.schedule(robot, 0, f.noop(), watching(f.key("bank:balances:"+bob.String())))
	}
	prefix := f.key("bank:balances:" + carol.String())
	id := f.schedule(robot, 0, payload, watching(prefix), times(0))
	f.NextBlock()
	first := f.Height()
	give := func(denom string) types.WatchedKey {
		coins := sdk.NewCoins(sdk.NewInt64Coin(denom, 1))
		require.NoError(t, f.Bank.MintCoins(f.Ctx(), "mint", coins))
		require.NoError(t, f.Bank.SendCoinsFromModuleToAccount(f.Ctx(), "mint", carol, coins))
		return matched(f.key("bank:balance:" + carol.String() + ":" + denom))
	}
	f.run(f.send(alice, bob, 1))
	want := []types.WatchedKey{give("one")}
	f.NextBlock()
	want = append(want, give("two"))
	var height uint64
	for delivered.Height == 0 {
		height = f.Height()
		require.Less(t, height, first+10)
		f.NextBlock()
	}
	require.Equal(t, first, delivered.Due)
	require.Equal(t, want, delivered.Matched)
	receipts, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: height})
	require.NoError(t, err)
	require.Len(t, receipts.Receipts, 1)
	require.Equal(t, id, receipts.Receipts[0].TimerId)
	require.Equal(t, height-first, receipts.Receipts[0].Late)
	require.NotZero(t, receipts.Receipts[0].Late)
	f.blocksUntil(height + 5)
	require.Equal(t, height, delivered.Height, "nothing changed since")
}

// TestAChangeStoresABoundedNumberOfRounds: what a change makes the chain store does not grow with who watches, beyond a
// constant for the block.
//
// Rule: 1.10-change-stores-bounded
func TestAChangeStoresABoundedNumberOfRounds(t *testing.T) {
	const owners, hits = 60, 4
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LanePaused = true
		notifies(c, hits)
	}))
	for i := range owners {
		f.fund(crowdOwner(i), rich)
		f.schedule(crowdOwner(i), 0, f.noop(), watching(f.balanceOf(bob), f.balanceOf(carol)))
	}
	f.NextBlock()
	f.run(f.send(alice, bob, 1), f.send(alice, carol, 1))
	f.NextBlock()
	state := f.export()
	require.Len(t, state.WatchPending, 2)
	require.LessOrEqual(t, len(state.WatchRounds), 2+3*hits)
	for range 2 * owners {
		f.NextBlock()
	}
	state = f.export()
	require.Empty(t, state.WatchPending)
	require.Empty(t, state.WatchRounds)
	require.Len(t, state.WatchHits, owners)
}
