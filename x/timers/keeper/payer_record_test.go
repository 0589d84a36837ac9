package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	vesting "github.com/cosmos/cosmos-sdk/x/auth/vesting/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// vests makes an account one whose coins vest in so many periods, and returns the size of its record with its key.
func (f *fixture) vests(address sdk.AccAddress, periods int) uint64 {
	f.t.Helper()
	vesting.RegisterInterfaces(f.Codec.InterfaceRegistry())
	base := authtypes.NewBaseAccount(address, nil, f.Accounts.GetAccount(f.Ctx(), address).GetAccountNumber(), 0)
	all := make(vesting.Periods, periods)
	for i := range all {
		all[i] = vesting.Period{Length: 1, Amount: sdk.NewCoins(sdk.NewInt64Coin("vested", 1))}
	}
	account, err := vesting.NewPeriodicVestingAccount(base, sdk.NewCoins(sdk.NewInt64Coin("vested", int64(periods))), 1, all)
	require.NoError(f.t, err)
	f.Accounts.SetAccount(f.Ctx(), account)
	record, err := f.Codec.MarshalInterface(account)
	require.NoError(f.t, err)
	return uint64(len(record) + 1 + len(address))
}

// naming is an allowance for the module's message that is as long as wanted.
func naming(t testingT, extra int) feegrant.FeeAllowanceI {
	urls := []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})}
	for i := range extra {
		urls = append(urls, fmt.Sprintf("/cosmos.bank.v1beta1.Msg%05d", i))
	}
	allowance, err := feegrant.NewAllowedMsgAllowance(unlimited(), urls)
	require.NoError(t, err)
	return allowance
}

// TestALargeAccountPaysForNoTimer: a periodic vesting account of 600 kB took 38 ms at each check of its funds, and 47 ms
// at each transfer, for the 20,000 cycles of every fire.
//
// Rule: 1.11-large-record, 1.11-large-record-refused, 1.11-large-record-at-a-fire
func TestALargeAccountPaysForNoTimer(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	first := f.schedule(alice, 3, f.pays(alice, bob, 1))
	size := f.vests(alice, 40_000)
	_, gasUsed, err := f.Tx(scheduleMsg(alice, 3, f.pays(alice, bob, 1)))
	require.ErrorIs(t, err, types.ErrInvalidFeePayer)
	require.ErrorContains(t, err, fmt.Sprintf("account takes %d bytes in state, want at most 2560", size))
	require.Greater(t, gasUsed, 3*size, "the transaction pays for the bytes that were read")

	// At the fire it is a payer that lacks funds.
	unfunded := only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(3))
	require.Equal(t, types.TimerCancelledInsufficientFunds{
		Id: first, Actor: alice.String(), Payer: alice.String(), Required: "200000", Available: "0",
	}, *unfunded)
	require.Equal(t, int64(rich), f.balance(alice))
}

// TestALargeAccountIsNotDecoded: 40,000 periods would take as many allocations and more, in the check of a message and at a
// fire.
//
// Rule: 1.11-large-record-not-decoded
func TestALargeAccountIsNotDecoded(t *testing.T) {
	f := newFixture(t)
	f.vests(alice, 40_000)
	config, payers := f.config(), f.Timers.Engine().Fees
	require.Less(t, testing.AllocsPerRun(3, func() {
		_, err := payers.CheckPayer(f.Ctx(), &config, alice, alice)
		require.ErrorIs(t, err, types.ErrInvalidFeePayer)
		require.True(t, payers.Spendable(f.Ctx(), &config, alice).IsZero())
	}), 1_000.0)
	require.Greater(t, testing.AllocsPerRun(1, func() { f.Accounts.GetAccount(f.Ctx(), alice) }), 40_000.0)
}

// TestAPlainAccountIsNotDecoded: where the module knows the accounts' store, it finds the same of every payer, for the same gas,
// and decodes no plain account.
func TestAPlainAccountIsNotDecoded(t *testing.T) {
	f := newFixture(t, withPayerStores)
	f.vests(bob, 3)
	f.vests(carol, 40_000)
	config, known := f.config(), f.Timers.Engine().Fees
	require.NotNil(t, known.AccountStore)
	decoding := *known
	decoding.AccountStore = nil
	type found struct {
		cycles    uint64
		err       string
		spendable math.Int
		gas       uint64
	}
	look := func(payers *fees.Fees, payer sdk.AccAddress) found {
		ctx := f.Ctx().WithGasMeter(storetypes.NewInfiniteGasMeter())
		cycles, err := payers.CheckPayer(ctx, &config, payer, payer)
		return found{cycles, fmt.Sprint(err), payers.Spendable(ctx, &config, payer), ctx.GasMeter().GasConsumed()}
	}
	for name, payer := range map[string]sdk.AccAddress{
		"plain": alice, "vesting": bob, "large": carol, "none": sdk.AccAddress("nobody______________"),
		"a module's": authtypes.NewModuleAddress(types.ModuleName),
	} {
		require.Equal(t, look(&decoding, payer), look(known, payer), name)
	}
	allocs := func(payers *fees.Fees) float64 {
		return testing.AllocsPerRun(20, func() { payers.Spendable(f.Ctx(), &config, alice) })
	}
	require.Less(t, allocs(known), allocs(&decoding)*2/3)
}

// TestAVestingAccountCountsItsSize: 80 periods took 250 µs at each fire, as long as ten transfers.
//
// Rule: 1.11-record-cycles, 1.11-vesting-account
func TestAVestingAccountCountsItsSize(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.schedule(alice, 2, f.pays(alice, bob, 1))
	base := only[*types.TimerFired](f, f.blocksUntil(2)).Cycles
	size := f.vests(alice, 40)
	require.Greater(t, size, uint64(256))
	f.schedule(alice, 4, f.pays(alice, bob, 1))
	fired := only[*types.TimerFired](f, f.blocksUntil(4))
	require.True(t, fired.Success)
	// The handler's own transfer reads the account too, at the price of the store.
	own := (size - 256) * 120
	require.GreaterOrEqual(t, fired.Cycles, base+own)
	require.Less(t, fired.Cycles, base+own+10_000)
	payload := f.pays(alice, bob, 1)
	shape, err := types.ScanPayload(payload, func([]byte) error { return nil })
	require.NoError(t, err)
	before := market.FireWork{PayloadBytes: uint64(len(payload)), MessageBytes: shape.Weight(), PayerCycles: own}.Cycles()
	f.refused(types.ErrGasLimitOutOfBounds, scheduleMsg(alice, 9, payload, limited(before)))
	f.schedule(alice, 9, payload, limited(before+1))
}

// TestWhatCostsNothingNeedsNoFunds: a payer with more coins locked than it has, as after a slash, lacked funds for a fire at
// prices of 0. An allowance is needed at any price.
func TestWhatCostsNothingNeedsNoFunds(t *testing.T) {
	f := newFixture(t)
	base := authtypes.NewBaseAccount(alice, nil, f.Accounts.GetAccount(f.Ctx(), alice).GetAccountNumber(), 0)
	vesting.RegisterInterfaces(f.Codec.InterfaceRegistry())
	locked, err := vesting.NewPermanentLockedAccount(base, f.coins(2*rich))
	require.NoError(t, err)
	f.Accounts.SetAccount(f.Ctx(), locked)
	config, payers := f.config(), f.Timers.Engine().Fees
	covers := func(timer types.Timer, amount int64) bool {
		return payers.Covers(f.Ctx(), &config, &timer, math.NewInt(amount))
	}
	own, sponsored := types.Timer{Actor: alice}, types.Timer{Actor: alice, FeePayer: bob}
	require.True(t, covers(own, 0))
	require.False(t, covers(own, 1))
	require.False(t, covers(sponsored, 0))
}

// TestAnAllowanceCountsItsSize: one of 100 kB was read and rewritten at each fire, for 3.8 million gas that no one paid.
//
// Rule: 1.1-intrinsic-counted, 1.11-large-record, 1.11-large-record-refused, 1.11-record-cycles
// Rule: 1.11-allowance-record
func TestAnAllowanceCountsItsSize(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	cyclesWith := func(extra int) uint64 {
		height := f.Height() + 1
		f.grantAny(bob, robot, naming(t, extra))
		f.schedule(robot, height, f.noop(), limited(200_000), paidBy(bob))
		fired := only[*types.TimerFired](f, f.blocksUntil(height))
		require.True(t, fired.Success)
		revoke := feegrant.NewMsgRevokeAllowance(bob, robot)
		f.run(&revoke)
		return fired.Cycles - 20_000
	}
	// 3 reads at 1,000 + 3 a byte, and one write at 2,000 + 30 a byte.
	short, long := cyclesWith(0), cyclesWith(30)
	require.Zero(t, (short-5_000)%39)
	require.Zero(t, (long-5_000)%39)
	require.Greater(t, long, short+39*30*28)

	f.grantAny(bob, robot, naming(t, 100))
	_, _, err := f.Tx(scheduleMsg(robot, 9, f.noop(), paidBy(bob)))
	require.ErrorIs(t, err, types.ErrInvalidFeePayer)
	require.ErrorContains(t, err, "allowance takes")
	require.ErrorContains(t, err, "want at most 2560")
}

// TestAnAllowanceThatGrowsIsRefusedAtTheFire: it was short when the timer was scheduled.
//
// Rule: 1.11-large-record-at-a-fire
func TestAnAllowanceThatGrowsIsRefusedAtTheFire(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.grantAny(bob, robot, naming(t, 0))
	f.schedule(robot, 3, f.noop(), limited(200_000), paidBy(bob))
	f.NextBlock()
	revoke := feegrant.NewMsgRevokeAllowance(bob, robot)
	f.run(&revoke)
	f.grantAny(bob, robot, naming(t, 3_000))
	require.True(t, only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(3)).AllowanceRefused)
	require.Equal(t, int64(rich), f.balance(bob))
}

// Rule: 1.11-everything-does-not-count
func TestAnAllowanceForEverythingDoesNotCount(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.grantAny(bob, robot, unlimited())
	_, _, err := f.Tx(scheduleMsg(robot, 9, f.noop(), paidBy(bob)))
	require.ErrorIs(t, err, types.ErrInvalidFeePayer)
	require.ErrorContains(t, err, "the allowance does not name the message")
}

// TestAnAllowanceIsNotTurnedIntoTips: a grantee that is allied with the proposer states any tip, which the payer's
// allowance used to pay in full: 50 a cycle, 1,000,000 for a fire that does nothing.
//
// Rule: 1.11-tips-capped
func TestAnAllowanceIsNotTurnedIntoTips(t *testing.T) {
	for name, storm := range map[string]bool{"calm": false, "overload": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(func(c *types.TimerConfig) {
				inMarket(c)
				plain(c)
				c.Eip1559.MinLaneBasefee = decimal.Of(math.LegacyOneDec())
				if storm {
					c.CandidateWindow = 2
				}
			}))
			f.grant(bob, robot, unlimited())
			static := &types.Bid{Static: &types.StaticBid{
				MaxFeePerCycle: decimal.Of(math.LegacyNewDec(1_000)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDec(50)),
			}}
			sponsored := f.schedule(robot, 3, f.noop(), limited(100_000), paidBy(bob), bidding(static))
			modest := &types.Bid{Static: &types.StaticBid{
				MaxFeePerCycle: decimal.Of(math.LegacyNewDec(1_000)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDec(12)),
			}}
			own := f.schedule(carol, 3, f.pays(carol, bob, 1), limited(100_000), bidding(modest))
			for range 4 {
				f.schedule(robot2, 3, f.noop(), limited(100_000))
			}
			events := f.blocksUntil(3)
			require.Equal(t, []string{own, sponsored}, f.firedIDs(events)[:2], "it ranks with the tip that it pays")
			for _, fired := range eventsOf[*types.TimerFired](f, events) {
				cycles := int64(fired.Cycles)
				switch fired.Id {
				case sponsored:
					// The lane basefee is 1, and TIER_TIP_CAP 10.
					require.Equal(t, 10*cycles, number(t, fired.Tip))
				case own:
					require.Equal(t, 12*cycles, number(t, fired.Tip), "who pays for itself tips what it states")
				}
			}
		})
	}
}

// TestACappedTipIsIndexedAtThePricesOfItsAdmission, and of the scan that comes by later.
//
// Rule: 1.11-capped-tip-in-the-index
func TestACappedTipIsIndexedAtThePricesOfItsAdmission(t *testing.T) {
	f := newFixture(t, withConfig(expensive), withConfig(func(c *types.TimerConfig) {
		c.LanePaused, c.CandidateWindow = true, 2
	}))
	f.grant(bob, robot, unlimited())
	for range 5 {
		f.schedule(robot2, 3, f.noop())
	}
	id := f.schedule(robot, 3, f.noop(), paidBy(bob), bidding(stated("1000", "50")))
	indexed := func() string {
		for _, entry := range f.export().Ready {
			if entry.Seq == f.timer(robot, id).Status.Seq {
				return entry.Price.TruncateInt().String()
			}
		}
		return ""
	}
	f.blocksUntil(3)
	require.Equal(t, "10", indexed(), "TIER_TIP_CAP is 10, and the lane basefee 1")
	f.setConfig(func(c *types.TimerConfig) { c.Eip1559.MinLaneBasefee = decimal.Of(math.LegacyNewDec(3)) })
	f.NextBlock()
	f.NextBlock()
	require.Equal(t, "3.000000000000000000", f.lane().LaneBasefee.String())
	for blocks := 0; indexed() != "30"; blocks++ {
		require.Less(t, blocks, 12)
		f.NextBlock()
	}
}
