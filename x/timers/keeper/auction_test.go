//go:build !noguests

package keeper_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
	auctionpolicy "github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// inAuction puts policy auction in force. A fire costs nothing beside its bid, and the lane holds one of them.
func inAuction(c *types.TimerConfig) {
	c.Policy = types.PolicyAuction
	c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
	c.MaxFiresPerBlock = 1
}

func firstPrice(c *types.TimerConfig) {
	inAuction(c)
	setAuction(c, func(p *auctionpolicy.Params) { p.PaymentRule = auctionpolicy.PaymentFirstPrice })
}

// settled returns what became of bids, as "bid paid returned locked".
func settled(f *fixture, events sdk.Events) (all []string) {
	for _, e := range eventsOf[*types.TimerBidSettled](f, events) {
		all = append(all, fmt.Sprintf("%s %s %s %s", e.Bid, e.Paid, e.Returned, e.Locked))
	}
	return all
}

// Rule: 1.8-price, 1.8-auction-locks, 1.8-price-bounds, 1.11-nothing-escrowed, 3.1-bid-errors, 6-bid-locked
func TestABidIsLockedWhenItIsStated(t *testing.T) {
	f := newFixture(t, withConfig(inAuction))
	for _, text := range []string{"79228162514264337593543950336", "1" + fmt.Sprintf("%077d", 0)} {
		f.refused(types.ErrInvalidBid, scheduleMsg(robot, 50, f.noop(), bidding(price(text))))
	}
	f.refused(types.ErrInvalidBid, scheduleMsg(robot, 50, f.noop(), bidding(price("-1"))))
	f.refused(types.ErrBidNotCovered, scheduleMsg(robot, 50, f.noop(), bidding(price("1000000001"))))
	// The bid is the actor's own, whoever pays for the fire.
	f.grant(alice, robot, unlimited())
	id := f.schedule(robot, 50, f.noop(), bidding(price("0700")), paidBy(alice))
	require.Equal(t, "700", f.timer(robot, id).Status.BidLocked)
	require.Equal(t, price("700"), f.timer(robot, id).Spec.Bid)
	require.Equal(t, int64(rich-700), f.balance(robot))
	require.Equal(t, int64(rich), f.balance(alice))
	require.Equal(t, int64(700), f.balance(vault))
	for _, bid := range []*types.Bid{nil, {}, price("0"), price("000"), {Tier: types.TierFast}, stated("1", "1")} {
		require.Empty(t, f.timer(robot, f.schedule(robot, 50, f.noop(), bidding(bid))).Status.BidLocked)
	}
	events := f.NextBlock()
	require.Equal(t, types.TimerBidLocked{Id: id, Actor: robot.String(), Amount: "700", Locked: "700"}, *only[*types.TimerBidLocked](f, events))

	// A transaction that fails takes nothing.
	f.refused(types.ErrTimerNotFound, scheduleMsg(robot, 50, f.noop(), bidding(price("5"))), &types.MsgCancelTimer{Sender: robot.String(), Id: id[:62] + "ff"})
	require.Equal(t, int64(700), f.balance(vault))
}

func TestAModuleLocksItsOwnBid(t *testing.T) {
	f := newFixture(t, withConfig(inAuction))
	gov := authtypes.NewModuleAddress(govtypes.ModuleName)
	f.Accounts.GetModuleAccount(f.Ctx(), govtypes.ModuleName)
	require.NoError(t, f.Bank.SendCoins(f.Ctx(), alice, gov, f.coins(500)))
	f.Modules.Register(govtypes.ModuleName, types.DefaultHandler, func(context.Context, types.Delivery) error { return nil })
	f.grant(alice, gov, unlimited())
	f.refused(types.ErrBidNotCovered, scheduleMsg(gov, 50, nil, paidBy(alice), bidding(price("501"))))
	id := f.schedule(gov, 50, nil, paidBy(alice), bidding(price("5")))
	require.Equal(t, int64(495), f.balance(gov))
	f.run(&types.MsgCancelTimer{Sender: gov.String(), Id: id})
	require.Equal(t, int64(500), f.balance(gov))
}

// TestEveryWayOutSettlesTheBid: a timer that has locked 700 of 1,000,000,000 leaves, and the module's account is empty.
//
// Rule: 2.2-account-holds-locked-bids, 3.5-cancel, 5.2-bid-beside-charge, 5.2-bid-kept
func TestEveryWayOutSettlesTheBid(t *testing.T) {
	cancel := func(f *fixture, id string) { f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id}) }
	failing := func(f *fixture) []byte { return f.failing(9) }
	for name, way := range map[string]struct {
		config  func(*types.TimerConfig)
		payload func(f *fixture) []byte
		changes []func(*types.MsgScheduleTimer)
		// out brings the timer out; it is due in block 3.
		out  func(f *fixture, id string)
		paid int64
	}{
		"fires, with no rival": {},
		"fires, at a reserve price": {config: func(c *types.TimerConfig) {
			setAuction(c, func(p *auctionpolicy.Params) { p.ReservePrice = decimal.IntOf(math.NewInt(30)) })
		}, paid: 30},
		"fires, at a reserve above its bid": {config: func(c *types.TimerConfig) {
			setAuction(c, func(p *auctionpolicy.Params) { p.ReservePrice = decimal.IntOf(math.NewInt(3_000)) })
		}, paid: 700},
		"fires, at first price":     {config: firstPrice, paid: 700},
		"fails":                     {config: firstPrice, payload: failing, paid: 700},
		"fails, and its last retry": {config: firstPrice, payload: failing, changes: []func(*types.MsgScheduleTimer){retried(1, 2)}, paid: 1_400},
		"fails, which ends its interval": {config: firstPrice, payload: failing, paid: 700, changes: []func(*types.MsgScheduleTimer){
			every(2, 0), func(msg *types.MsgScheduleTimer) { msg.Spec.Repeat = &types.Repeat{OnFailure: types.OnFailureStop} },
		}},
		"fires thrice": {config: firstPrice, changes: []func(*types.MsgScheduleTimer){every(2, 3)}, paid: 2_100},
		"its handler cancels it": {
			config: firstPrice, changes: []func(*types.MsgScheduleTimer){every(2, 0)}, paid: 700,
			payload: func(f *fixture) []byte {
				return f.script(func(ctx sdk.Context, d types.Delivery) error { return f.Timers.Cancel(ctx, robot, d.TimerID) })
			},
		},
		"expires":                 {config: func(c *types.TimerConfig) { c.LanePaused = true }},
		"is cancelled":            {out: cancel},
		"is cancelled when ready": {config: func(c *types.TimerConfig) { c.LanePaused = true }, out: func(f *fixture, id string) { f.blocksUntil(5); cancel(f, id) }},
		"is cancelled by the authority": {out: func(f *fixture, id string) {
			f.run(&types.MsgSysCancelTimer{Authority: f.Authority, Actor: robot.String(), Id: id})
		}},
		"is paused, and expires":   {out: func(f *fixture, id string) { f.run(pause(robot, id)) }},
		"is paused, and cancelled": {out: func(f *fixture, id string) { f.run(pause(robot, id)); f.blocksUntil(5); cancel(f, id) }},
		"is unfunded": {out: func(f *fixture, id string) {
			f.setConfig(func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(math.LegacyNewDec(1_000_000)) })
			f.blocksUntil(3)
		}},
		"is suspended, and expires": {changes: []func(*types.MsgScheduleTimer){suspending}, out: func(f *fixture, id string) {
			f.setConfig(func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(math.LegacyNewDec(1_000_000)) })
			f.blocksUntil(4)
			require.Equal(f.t, "700", f.timer(robot, id).Status.BidLocked)
			f.setConfig(func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(math.LegacyZeroDec()) })
		}},
		"becomes unrunnable, and expires": {out: func(f *fixture, id string) {
			f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = gas - 1 })
			f.blocksUntil(4)
			require.Equal(f.t, types.Unrunnable, f.timer(robot, id).Status.HoldReason)
		}},
		"is quarantined, and cancelled by the authority": {
			config: func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(math.LegacyNewDecWithPrec(1, 5)) },
			out: func(f *fixture, id string) {
				f.quarantine()
				f.blocksUntil(4)
				require.Equal(f.t, types.Quarantined, f.timer(robot, id).Status.HoldReason)
				require.Equal(f.t, "700", f.timer(robot, id).Status.BidLocked)
				f.run(&types.MsgSysCancelTimer{Authority: f.Authority, Actor: robot.String(), Id: id})
				f.Bank.ClearSendRestriction()
			},
		},
		"fires under fifo": {config: firstPrice, out: func(f *fixture, _ string) {
			f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
		}},
		"fires under eip1559": {config: firstPrice, out: func(f *fixture, _ string) {
			f.setConfig(func(c *types.TimerConfig) {
				c.Policy, c.Eip1559.MinLaneBasefee = types.PolicyEIP1559, decimal.Of(math.LegacyZeroDec())
			})
		}},
		"fires under fifo and goes on": {config: firstPrice, changes: []func(*types.MsgScheduleTimer){every(2, 2)}, out: func(f *fixture, id string) {
			f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
			f.blocksUntil(4)
			require.Equal(f.t, "700", f.timer(robot, id).Status.BidLocked, "it fired once, and keeps what it has")
		}},
		"bids nothing more, and fires": {config: firstPrice, out: func(f *fixture, id string) {
			f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Bid: &types.Bid{}}, Fields: []string{"bid"}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(func(c *types.TimerConfig) {
				inAuction(c)
				if way.config != nil {
					way.config(c)
				}
			}))
			payload := f.noop()
			if way.payload != nil {
				payload = way.payload(f)
			}
			id := f.schedule(robot, 3, payload, append([]func(*types.MsgScheduleTimer){bidding(price("700")), expiring(9)}, way.changes...)...)
			require.Equal(t, int64(700), f.balance(vault))
			if way.out != nil {
				way.out(f, id)
			}
			f.blocksUntil(12)
			require.Zero(t, f.total(robot), "it left")
			require.Zero(t, f.balance(vault))
			require.Equal(t, way.paid, f.balance(collector))
			require.Equal(t, way.paid, f.lane().Tips.Int64())
			require.Equal(t, rich-way.paid-f.lane().Burned.Int64(), f.balance(robot))
		})
	}
}

// Rule: 3.2-bid-relocked
func TestAnUpdateAdjustsTheLock(t *testing.T) {
	f := newFixture(t, withConfig(inAuction))
	id := f.schedule(robot, 50, f.noop(), bidding(price("700")))
	update := func(bid *types.Bid) *types.MsgUpdateTimer {
		msg := &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Bid: bid, GasLimit: gas}, Fields: []string{"gas_limit"}}
		if bid != nil {
			msg.Fields = append(msg.Fields, "bid")
		}
		return msg
	}
	for _, step := range []struct {
		bid    *types.Bid
		locked string
		held   int64
	}{
		{price("900"), "900", 900},
		{nil, "900", 900},
		{price("100"), "100", 100},
		{price("100"), "100", 100},
		{stated("1", "1"), "", 0},
		{price("50"), "50", 50},
		{&types.Bid{}, "", 0},
		{price("60"), "60", 60},
		{price("0"), "", 0},
	} {
		f.run(update(step.bid))
		require.Equal(t, step.locked, f.timer(robot, id).Status.BidLocked)
		require.Equal(t, step.held, f.balance(vault))
		require.Equal(t, rich-step.held, f.balance(robot))
	}
	f.refused(types.ErrBidNotCovered, update(price("1000000001")))
	require.Equal(t, []string{"900 0 800 100", "100 0 100 0", "50 0 50 0", "60 0 60 0"}, settled(f, f.NextBlock()))

	// Under another policy a price locks nothing, and stating one gives back what is locked.
	f.run(update(price("60")))
	f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
	f.NextBlock()
	f.run(update(nil))
	require.Equal(t, int64(60), f.balance(vault), "a gas limit says nothing of the bid")
	f.run(update(price("80")))
	require.Zero(t, f.balance(vault))
}

// TestWinnersPayTheRunnersUpPrice: of three with equal gas limits, one fires in each block; those who stay have a bias
// of 1 more or less than those before. λ is fixed.
//
// Rule: 5.2-locked-bid-settled, 5.2-bid-beside-charge, 6-bid-settled, 6-payment-of-locked-bid
func TestWinnersPayTheRunnersUpPrice(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		inAuction(c)
		setAuction(c, func(p *auctionpolicy.Params) { p.LambdaStep = decimal.Of(math.LegacyZeroDec()) })
	}))
	low := f.schedule(alice, 3, f.pays(alice, carol, 1), bidding(price("100")))
	high := f.schedule(robot, 3, f.noop(), bidding(price("700")))
	middle := f.schedule(robot2, 3, f.failing(1), bidding(price("500")))
	require.Equal(t, []string{high}, f.firedIDs(f.blocksUntil(3)))
	require.Equal(t, int64(500), f.balance(collector), "as much as the second, which would have come later at a tie")
	receipts, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: 3})
	require.NoError(t, err)
	require.Equal(t, "700", receipts.Receipts[0].Bid)
	require.Equal(t, "500", receipts.Receipts[0].BidPaid)
	require.Equal(t, int64(rich-500), f.balance(robot))

	events := f.NextBlock()
	require.Equal(t, []string{middle}, f.firedIDs(events))
	require.Equal(t, []string{"500 101 399 0"}, settled(f, events), "a failed fire pays too; at a tie low is older")
	events = f.NextBlock()
	require.Equal(t, []string{low}, f.firedIDs(events))
	require.Equal(t, []string{"100 0 100 0"}, settled(f, events))
	require.Equal(t, "0", eventsOf[*types.TimerFired](f, events)[0].Tip, "the bid is settled apart")
}

// TestTimersThatAreNoRunnerUp: a timer that could not have fired in the winner's place, or that its actor's cap kept
// out, does not set the winner's price.
func TestTimersThatAreNoRunnerUp(t *testing.T) {
	for name, tc := range map[string]struct {
		config func(*types.TimerConfig)
		rival  func(f *fixture) string
		winner func(f *fixture, rival string) []byte
		paid   int64
	}{
		"one that fits in nowhere": {paid: 500},
		"one whose payer is poor": {config: func(c *types.TimerConfig) { c.CycleBasefee = decimal.Of(math.LegacyOneDec()) }, rival: func(f *fixture) string {
			f.fund(pauper, 500)
			return f.schedule(pauper, 3, f.noop(), bidding(price("500")))
		}},
		"one that the winner's handler cancels": {winner: func(f *fixture, rival string) []byte {
			return f.script(func(ctx sdk.Context, _ types.Delivery) error {
				id, err := types.ParseID(rival)
				require.NoError(f.t, err)
				return f.Timers.Cancel(ctx, robot2, id)
			})
		}},
		"one of the same actor, above its cap": {
			config: func(c *types.TimerConfig) { c.MaxFiresPerActor = 1 },
			rival:  func(f *fixture) string { return f.schedule(robot, 3, f.noop(), bidding(price("500"))) },
		},
		"one that the lane's cycles keep out": {paid: 500, config: func(c *types.TimerConfig) {
			c.MaxFiresPerBlock, c.LaneTimerCycles, c.MaxCyclesPerFire = 0, gas, gas
		}},
		"one that the lane's cells keep out": {paid: 500, config: func(c *types.TimerConfig) {
			c.MaxFiresPerBlock, c.LaneTimerCells, c.MaxCellsPerFire = 0, 1_000, 1_000
		}, winner: func(f *fixture, _ string) []byte {
			return f.script(func(ctx sdk.Context, _ types.Delivery) error {
				return f.Accounts.AccountNumber.Set(ctx, 1_000)
			})
		}},
		"one that fits beside it": {config: func(c *types.TimerConfig) { c.MaxFiresPerBlock = 2 }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(func(c *types.TimerConfig) {
				inAuction(c)
				if tc.config != nil {
					tc.config(c)
				}
			}))
			schedule := tc.rival
			if schedule == nil {
				schedule = func(f *fixture) string { return f.schedule(robot2, 3, f.noop(), bidding(price("500"))) }
			}
			rival := schedule(f)
			payload := f.noop()
			if tc.winner != nil {
				payload = tc.winner(f, rival)
			}
			winner := f.schedule(robot, 3, payload, bidding(price("700")))
			events := f.blocksUntil(3)
			require.Equal(t, winner, f.firedIDs(events)[0])
			// The rival is older: it takes one more to come before it.
			want := tc.paid
			if want > 0 {
				want++
			}
			require.Equal(t, want, f.balance(collector))
		})
	}
}

// TestARepeatingTimerTopsItsBidUp: it pays for each fire, and locks again what it states if its actor can spend as
// much.
//
// Rule: 5.2-bid-kept, 6-bid-settled
func TestARepeatingTimerTopsItsBidUp(t *testing.T) {
	f := newFixture(t, withConfig(firstPrice))
	f.fund(pauper, 1_700)
	id := f.schedule(pauper, 3, f.noop(), bidding(price("700")), every(2, 0))
	require.Equal(t, []string{"700 700 0 700"}, settled(f, f.blocksUntil(3)))
	require.Equal(t, "700", f.timer(pauper, id).Status.BidLocked)
	require.Equal(t, int64(1_700-2*700), f.balance(pauper))
	require.Equal(t, []string{"700 700 0 0"}, settled(f, f.blocksUntil(5)), "300 are not enough")
	require.Empty(t, f.timer(pauper, id).Status.BidLocked)
	require.Equal(t, price("700"), f.timer(pauper, id).Spec.Bid, "it states it all the same")
	f.fund(pauper, 1_000)
	events := f.blocksUntil(7)
	require.Len(t, f.firedIDs(events), 1, "it competes with what it has: nothing")
	require.Equal(t, []string{"0 0 0 700"}, settled(f, events))
}

// TestAHandlerCanTouchItsBid as little as that of any timer whose fire is to be settled.
//
// Rule: 5.2-bid-out-of-reach
func TestAHandlerCanTouchItsBid(t *testing.T) {
	f := newFixture(t, withConfig(firstPrice))
	var before, after int64
	id := f.schedule(robot, 3, f.script(func(ctx sdk.Context, d types.Delivery) error {
		before = f.Bank.GetBalance(ctx, robot, f.FeeDenom).Amount.Int64()
		_, err := f.Timers.Update(ctx, keeperUpdate(d, price("300")))
		after = f.Bank.GetBalance(ctx, robot, f.FeeDenom).Amount.Int64()
		return err
	}), bidding(price("700")), every(2, 0))
	require.Equal(t, []string{"700 700 0 0"}, settled(f, f.blocksUntil(3)))
	require.Equal(t, int64(rich-700), before)
	require.Equal(t, int64(rich-1_000), after)
	require.Equal(t, "300", f.timer(robot, id).Status.BidLocked)
	require.Equal(t, int64(700), f.balance(collector))
}

// TestBidRefundRefusedByTheBank: no coins are lost, and the block continues.
//
// Rule: 3.5-bank-refuses
func TestBidRefundRefusedByTheBank(t *testing.T) {
	refuse := func(f *fixture) {
		f.Bank.AppendSendRestriction(func(_ context.Context, from, to sdk.AccAddress, _ sdk.Coins) (sdk.AccAddress, error) {
			if from.Equals(vault) && to.Equals(robot) {
				return to, errRestricted
			}
			return to, nil
		})
	}
	t.Run("a cancellation fails", func(t *testing.T) {
		f := newFixture(t, withConfig(inAuction))
		id := f.schedule(robot, 3, f.noop(), bidding(price("700")))
		refuse(f)
		f.refused(errRestricted, &types.MsgCancelTimer{Sender: robot.String(), Id: id})
		require.Equal(t, "700", f.timer(robot, id).Status.BidLocked)
	})
	t.Run("one that expires is quarantined, and keeps its lock", func(t *testing.T) {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) { inAuction(c); c.LanePaused = true }))
		id := f.schedule(robot, 3, f.noop(), bidding(price("700")), expiring(4))
		refuse(f)
		f.blocksUntil(8)
		require.Equal(t, types.Quarantined, f.timer(robot, id).Status.HoldReason)
		require.Equal(t, int64(700), f.balance(vault))
		f.Bank.ClearSendRestriction()
		f.blocksUntil(9)
		require.Zero(t, f.total(robot))
		require.Equal(t, int64(rich), f.balance(robot))
	})
	t.Run("one that has fired leaves it to the tips", func(t *testing.T) {
		f := newFixture(t, withConfig(inAuction))
		f.schedule(robot, 3, f.noop(), bidding(price("700")))
		other := f.schedule(robot2, 3, f.noop(), bidding(price("300")))
		refuse(f)
		require.Equal(t, []string{"700 700 0 0"}, settled(f, f.blocksUntil(3)))
		require.Equal(t, int64(700), f.balance(collector))
		require.Equal(t, []string{other}, f.firedIDs(f.NextBlock()))
	})
	t.Run("one that goes on keeps it", func(t *testing.T) {
		f := newFixture(t, withConfig(inAuction))
		f.schedule(robot, 3, f.noop(), bidding(price("700")), every(2, 0))
		refuse(f)
		require.Equal(t, []string{"700 0 0 700"}, settled(f, f.blocksUntil(3)))
		f.Bank.ClearSendRestriction()
	})
}

// TestThePolicyChangesUnderABacklog and back, with locks: no one loses a unit or a timer, and what was locked competes
// again.
func TestThePolicyChangesUnderABacklog(t *testing.T) {
	f := newFixture(t, withConfig(inAuction))
	var ids []string
	for i := range 12 {
		ids = append(ids, f.schedule(robot, 3, f.noop(), bidding(price(fmt.Sprint(100*(1+i))))))
	}
	plain := f.schedule(robot2, 11, f.noop())
	require.Equal(t, []string{ids[11]}, f.firedIDs(f.blocksUntil(3)))
	f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
	require.Equal(t, []string{ids[10]}, f.firedIDs(f.NextBlock()), "a change is in force from the next block on")
	require.NotNil(t, auctionState(f.lane()))
	events := f.blocksUntil(6)
	require.Equal(t, []string{ids[0], ids[1]}, f.firedIDs(events))
	require.Equal(t, []string{"100 0 100 0", "200 0 200 0"}, settled(f, events))
	require.Nil(t, auctionState(f.lane()))
	f.setConfig(func(c *types.TimerConfig) {
		c.Policy, c.Eip1559.MinLaneBasefee = types.PolicyEIP1559, decimal.Of(math.LegacyZeroDec())
	})
	f.blocksUntil(8)
	f.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyAuction })
	f.NextBlock()
	require.Equal(t, []string{ids[9]}, f.firedIDs(f.NextBlock()), "what is locked competes again")
	f.run(&types.MsgUpdateTimer{Sender: robot2.String(), Id: plain, Spec: types.TimerSpec{Bid: price("5000")}, Fields: []string{"bid"}})
	require.Equal(t, []string{plain}, f.firedIDs(f.NextBlock()))
	f.blocksUntil(30)
	require.Zero(t, f.total(robot))
	require.Zero(t, f.balance(vault))
	require.Equal(t, 2*rich-f.lane().Tips.Add(f.lane().Burned).Int64(), f.balance(robot)+f.balance(robot2))
}

// TestWaitingTimerPassesAHighBidder that bids every block, in the keeper as in the policy's own tests.
func TestWaitingTimerPassesAHighBidder(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		inAuction(c)
		setAuction(c, func(p *auctionpolicy.Params) {
			p.LambdaStart, p.LambdaMin, p.LambdaMax = decimal.Of(dec("0.5")), decimal.Of(dec("0.5")), decimal.Of(dec("0.5"))
		})
	}))
	poor := f.schedule(robot2, 3, f.noop())
	noop := f.noop()
	f.schedule(robot, 3, noop, bidding(price("10000")), expiring(3))
	for height := uint64(3); ; height++ {
		f.schedule(robot, height+1, noop, bidding(price("10000")), expiring(height+1))
		if f.firedIDs(f.blocksUntil(height))[0] == poor {
			// e^(0.5 n) > 10,001 from n = 19 on.
			require.Equal(t, uint64(3+19), height)
			return
		}
	}
}

// TestLambdaFollowsTheBidders in state, in the query, and through a genesis file.
func TestLambdaFollowsTheBidders(t *testing.T) {
	f := newFixture(t, withConfig(inAuction))
	require.Equal(t, "0.050000000000000000", f.auctionStanding().Lambda)
	f.NextBlock()
	require.Equal(t, "0.050000000000000000", auctionState(f.lane()).Lambda.String())
	// Bids of 1 that live for 100 blocks: value decays by a hundredth a block, bias grows by e^0.05 − 1.
	for i := range 10 {
		f.schedule(robot, 3+uint64(i), f.noop(), bidding(price("1")), expiring(102+uint64(i)))
	}
	f.blocksUntil(7)
	want := auction.LambdaState{Lambda: dec("0.05"), ValueDecay: math.LegacyZeroDec(), Deferral: math.LegacyZeroDec()}
	loop := f.config()
	for range 5 {
		var seen auction.Observation
		seen.Add(10, market.Candidate{Due: 10, Locked: math.OneInt()}, 109)
		want = auctionpolicy.RulesOf(types.ParamsOf[auctionpolicy.Params](&loop), nil).Loop.Next(want, seen)
	}
	require.Equal(t, auctionpolicy.State{Lambda: want.Lambda, ValueDecay: want.ValueDecay, Deferral: want.Deferral, Blocks: 5}, *auctionState(f.lane()))
	require.Equal(t, want.Lambda.String(), f.auctionStanding().Lambda)
	require.Equal(t, "0.010000000000000000", f.auctionStanding().ValueDecay)
	require.True(t, want.Lambda.LT(dec("0.05")))

	_, err := f.EndBlock()
	require.NoError(t, err)
	genesis := f.export()
	require.NoError(t, f.Timers.ValidateGenesis(genesis))
	var read types.GenesisState
	f.Codec.MustUnmarshalJSON(f.Codec.MustMarshalJSON(genesis), &read)
	g := imported(t, f, &read)
	require.NoError(t, f.BeginBlock())
	for range 6 {
		require.Equal(t, eventsOf[*types.TimerBidSettled](f, f.NextBlock()), eventsOf[*types.TimerBidSettled](g, g.NextBlock()))
		require.Equal(t, comparableState(f), comparableState(g))
		require.Equal(t, f.balance(robot), g.balance(robot))
		require.Equal(t, f.balance(vault), g.balance(vault))
	}
	require.Zero(t, f.balance(vault))
	// Bounds that a config moves hold at once.
	f.setConfig(func(c *types.TimerConfig) {
		setAuction(c, func(p *auctionpolicy.Params) {
			p.LambdaStart, p.LambdaMin = decimal.Of(dec("0.2")), decimal.Of(dec("0.2"))
		})
	})
	require.Equal(t, "0.200000000000000000", f.auctionStanding().Lambda)
}

// Rule: 2.1-locked-bids-backed
func TestAGenesisWhoseBidsAreNotBackedIsRefused(t *testing.T) {
	f := newFixture(t, withConfig(inAuction))
	f.schedule(robot, 50, f.noop(), bidding(price("700")))
	f.NextBlock()
	genesis := f.export()
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: robot, Amount: math.OneInt()}}})
	require.NoError(t, err)
	ctx := chain.Ctx().WithBlockHeight(int64(f.Height()))
	err = chain.Timers.InitGenesis(ctx, genesis)
	require.ErrorIs(t, err, types.ErrInvalidGenesis)
	require.ErrorContains(t, err, "holds 0stake, its timers have locked 700")
	// No less, and no more: in the first block no one could say whose the rest is.
	for _, held := range []int64{699, 701, 700} {
		chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: robot, Amount: math.OneInt()}}})
		require.NoError(t, err)
		branch, coins := chain.Ctx().WithBlockHeight(int64(f.Height())), f.coins(held)
		require.NoError(t, chain.Bank.MintCoins(branch, minttypes.ModuleName, coins))
		require.NoError(t, chain.Bank.SendCoinsFromModuleToModule(branch, minttypes.ModuleName, types.ModuleName, coins))
		if err := chain.Timers.InitGenesis(branch, genesis); held == 700 {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, fmt.Sprintf("holds %dstake, its timers have locked 700 (bid_locked): want as much", held))
		}
	}
	for _, lock := range []string{"0", "-5", "0700", "x", "79228162514264337593543950336"} {
		genesis.Timers[0].BidLocked = lock
		require.ErrorContains(t, f.Timers.ValidateGenesis(genesis), fmt.Sprintf("bid_locked %q, want 1 to 2^96 - 1, or nothing", lock))
	}
	genesis.Timers[0].BidLocked = ""
	for _, bid := range [][2]string{{"x", "0"}, {"5", "-1"}, {"5", "6"}, {"", "6"}} {
		broken := *genesis
		broken.Receipts = []types.HeightReceipts{{Height: 1, Receipts: []types.Receipt{
			{Paid: math.ZeroInt(), Tip: math.ZeroInt(), Bid: bid[0], BidPaid: bid[1]},
		}}}
		require.ErrorContains(t, f.Timers.ValidateGenesis(&broken), "receipts 0: receipt 0: ", "%v", bid)
	}
	for want, change := range map[string]func(*auctionpolicy.State){
		"auction.State: lambda is -":      func(s *auctionpolicy.State) { s.Lambda = dec("-1") },
		"auction.State: lambda is 11":     func(s *auctionpolicy.State) { s.Lambda = dec("11") },
		"auction.State: value_decay is -": func(s *auctionpolicy.State) { s.ValueDecay = dec("-1") },
		"auction.State: deferral is 1":    func(s *auctionpolicy.State) { s.Deferral = dec("1000000000000000001") },
		"auction.State: blocks is":        func(s *auctionpolicy.State) { s.Blocks = ^uint64(0) },
	} {
		state := *auctionState(genesis.Lane)
		change(&state)
		broken := *genesis
		broken.Lane.SetPolicy(&state)
		require.ErrorContains(t, f.Timers.ValidateGenesis(&broken), want)
	}
}

func TestAnEstimateSaysWhatToBid(t *testing.T) {
	f := newFixture(t, withConfig(inAuction))
	ask := func(bid string) *types.QueryEstimateResponse {
		estimate, err := f.query().Estimate(f.Ctx(), &types.QueryEstimateRequest{GasLimit: gas, Bid: bid})
		require.NoError(t, err)
		return estimate
	}
	require.Equal(t, "0", ask("").LeastBid, "no one competes")
	for i := range 3 {
		f.schedule(robot, 3, f.noop(), bidding(price(fmt.Sprint(100*(1+i)))))
	}
	require.Equal(t, []string{"300 201 99 0"}, settled(f, f.blocksUntil(3)), "ids differ")
	// In block 4 the others bid 200 and 100, and have waited for one block: e^0.05 is 1.05.
	estimate := ask("")
	require.Equal(t, "201", estimate.LeastBid)
	require.Empty(t, estimate.BidPayment, "it would not fire")
	require.Equal(t, uint64(2), estimate.Ahead)
	require.Equal(t, uint64(1), ask("150").Ahead)
	require.Equal(t, uint64(0), ask("500").Ahead)
	require.Equal(t, "201", ask("500").BidPayment)
	winner := f.schedule(robot2, 4+1, f.noop(), bidding(price("500")))
	require.Len(t, f.firedIDs(f.NextBlock()), 1)
	require.Equal(t, []string{winner}, f.firedIDs(f.NextBlock()))
	for _, bad := range []*types.QueryEstimateRequest{
		{Bid: "x"}, {Bid: "79228162514264337593543950336"}, {Bid: "5", Tier: types.TierFast}, {Bid: "5", MaxFee: "1"},
	} {
		_, err := f.query().Estimate(f.Ctx(), bad)
		require.ErrorContains(t, err, "InvalidArgument")
	}
}

func keeperUpdate(d types.Delivery, bid *types.Bid) keeper.UpdateRequest {
	return keeper.UpdateRequest{Actor: d.Actor, ID: d.TimerID, Spec: types.TimerSpec{Bid: bid}, Fields: []string{"bid"}}
}

// TestWaitingInTheAuctionWritesNothing: a block's writes follow its fires and not what it leaves, and the order among the
// window is exact whatever lies behind it. The window is read where it is packed.
//
// Rule: 5.1-deferral-writes-nothing, 5.4-auction-oldest
func TestWaitingInTheAuctionWritesNothing(t *testing.T) {
	cost := func(waiting int) (writes, gets, nexts int) {
		var counts *storecount.Counts
		f := crowded(t, waiting, func(timer *types.Timer) {
			timer.Due, timer.BidLocked = 2, fmt.Sprint(1+timer.Seq*7_919%5_000)
			timer.Spec.Bid = price(timer.BidLocked)
		}, counted(&counts), withConfig(func(c *types.TimerConfig) {
			inAuction(c)
			c.MaxFiresPerBlock, c.CandidateWindow, c.ReceiptRetentionBlocks = 2, 400, 0
		}))
		f.endBlock()
		f.endBlock()
		for range 5 {
			counts.Reset()
			events := f.endBlock()
			settled := eventsOf[*types.TimerBidSettled](f, events)
			require.Len(t, settled, 2)
			for _, event := range settled {
				bid, ok := math.NewIntFromString(event.Bid)
				require.True(t, ok)
				require.True(t, bid.GT(math.NewInt(4_000)), "one of the best of the window, not %s", bid)
			}
			writes, gets, nexts = max(writes, counts.Writes()), max(gets, counts.Gets), max(nexts, counts.Nexts)
		}
		return writes, gets, nexts
	}
	writes, gets, nexts := cost(600)
	manyWrites, manyGets, manyNexts := cost(6_000)
	require.Equal(t, writes, manyWrites)
	// The logs, which are merged the sooner the more timers there are, and a chunk of each run of the queue. Nothing is looked up
	// in the owner index to settle the bid of a timer that has left.
	require.LessOrEqual(t, manyGets, gets+24)
	require.LessOrEqual(t, nexts, 16)
	require.LessOrEqual(t, manyNexts, 16)
	require.LessOrEqual(t, manyWrites, 4+2*4)
	require.LessOrEqual(t, manyGets, 8+2*2+8+40, "the window, and what the sweep looks at beyond it, some dozens to a value")
}

// TestABlockReadsABoundedNumberOfRunnersUp: 64 of them. The next timer that did not fit is taken as it was read, although
// its payer could not have paid for its fire.
//
// Rule: 5.4-auction-runner-up
func TestABlockReadsABoundedNumberOfRunnersUp(t *testing.T) {
	for poor, paid := range map[int]int64{64: 0, 65: 501} {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) {
			inAuction(c)
			c.CycleBasefee = decimal.Of(math.LegacyOneDec())
		}))
		for i := range poor {
			f.fund(crowdOwner(i), 500)
			f.schedule(crowdOwner(i), 3, f.noop(), bidding(price("500")))
		}
		winner := f.schedule(robot, 3, f.noop(), bidding(price("700")))
		require.Equal(t, []string{winner}, f.firedIDs(f.blocksUntil(3)))
		require.Equal(t, paid, f.balance(collector), "of %d whose payers are poor", poor)
	}
}

// TestInvariants_NoticeCoinsThatAreMissing: the module's account holds what its timers have locked, no more and no less.
//
// Rule: 2.2-account-holds-locked-bids
func TestInvariants_NoticeCoinsThatAreMissing(t *testing.T) {
	f, _ := inUse(t, 2, types.PolicyAuction)
	for _, pair := range [][2]sdk.AccAddress{{vault, bob}, {bob, vault}} {
		ctx, _ := f.Ctx().CacheContext()
		require.NoError(t, f.Bank.SendCoins(ctx, pair[0], pair[1], f.coins(1)))
		require.Error(t, f.Timers.CheckInvariants(ctx))
	}
}

// TestReserved_PayNoOutsidersBid: a reserved fire came before all others, whatever it bid, so that the first timer that did
// not fit behind it does not say what it pays.
//
// Rule: 1.6-reserved-bid
func TestReserved_PayNoOutsidersBid(t *testing.T) {
	for reserved, paid := range map[string]string{robot2.String(): "0", bob.String(): "90"} {
		f := newFixture(t, withoutHeadroom, withConfig(func(c *types.TimerConfig) {
			inAuction(c)
			c.LaneTimerCycles, c.MaxCyclesPerFire = 140_000, 100_000
			c.ReservedActors, c.ReservedShare = []string{reserved}, decimal.Of(dec("0.5"))
		}))
		first := f.schedule(robot2, 3, f.burner(50_000), limited(100_000), bidding(price("100")))
		f.schedule(robot, 3, f.burner(50_000), limited(100_000), bidding(price("90")))
		f.blocksUntil(2)
		events := f.NextBlock()
		require.Equal(t, []string{first}, f.firedIDs(events))
		require.Equal(t, paid, only[*types.TimerBidSettled](f, events).Paid)
	}
}
