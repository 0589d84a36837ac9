package keeper_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	kmultisig "github.com/cosmos/cosmos-sdk/crypto/keys/multisig"
	"github.com/cosmos/cosmos-sdk/crypto/keys/secp256k1"
	cryptotypes "github.com/cosmos/cosmos-sdk/crypto/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rules of x/timers/README.md that no test of a larger theme shows.

// TestAPricedOutTimerIsItsOwnersToResume: a block puts those on hold that are in the way of others; their owner may put them
// back, as the fall of a price does.
//
// Rule: 1.5-priced-out
func TestAPricedOutTimerIsItsOwnersToResume(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) { c.CandidateWindow = 4 }))
	for range 12 {
		f.schedule(robot, 3, f.noop(), atMost("5"))
	}
	onHold := eventsOf[*types.TimerHeld](f, f.blocksUntil(3))
	require.NotEmpty(t, onHold)
	id := onHold[0].Id
	require.Equal(t, types.PricedOut, f.timer(robot, id).Status.HoldReason)
	f.run(resume(robot, id))
	require.Equal(t, types.NotOnHold, f.timer(robot, id).Status.HoldReason)
}

// TestPoliciesThatDoNotWeighCountNoFires.
//
// Rule: 1.9-uncounted-policies
func TestPoliciesThatDoNotWeighCountNoFires(t *testing.T) {
	for policy, units := range map[types.Policy]uint64{
		types.PolicyFIFO: 0, types.PolicyAuction: 0, types.PolicyTip: 0, types.PolicyEIP1559: 1, types.PolicyScore: 1,
	} {
		if !lab.Has(policy) {
			continue
		}
		f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.Policy = policy }))
		f.schedule(robot, 3, f.noop())
		require.Len(t, f.firedIDs(f.blocksUntil(3)), 1)
		require.Equal(t, units, f.lane().Fairness.Units, policy)
		require.Len(t, f.export().Fairness, int(units), policy)
	}
}

// TestABlockFindsOutABoundedNumberOfPayers who can't cover the call of an agent: then it calls no more agents.
//
// Rule: 1.9-uncovered-bound
func TestABlockFindsOutABoundedNumberOfPayers(t *testing.T) {
	for poor, want := range map[int]int{255: 1, 256: 0} {
		f := newFixture(t, withConfig(expensive), withConfig(func(c *types.TimerConfig) { c.CandidateWindow = 300 }))
		asked := 0
		agent := f.agent("counts", func(sdk.Context, types.BidContext) (types.AgentQuote, error) {
			asked++
			return quote("9", "1", "0"), nil
		})
		for i := range poor {
			f.fund(crowdOwner(i), 1)
			f.schedule(crowdOwner(i), 3, f.noop(), byAgent(agent))
		}
		f.schedule(robot, 3, f.noop(), byAgent(agent))
		f.blocksUntil(3)
		require.Equal(t, want, asked, "after %d payers", poor)
	}
}

// TestTheOldestChangeOfAnOwnerComesFirst, wherever its key is in the order of keys.
//
// Rule: 1.10-oldest-change-first
func TestTheOldestChangeOfAnOwnerComesFirst(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, 1) }))
	early, late := sdk.AccAddress("zzzzzzzzzzzzzzzzzzzz"), sdk.AccAddress("aaaaaaaaaaaaaaaaaaaa")
	first := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(early)))
	second := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(early)))
	third := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(late)))
	f.NextBlock()
	f.run(f.send(alice, early, 1))
	require.Equal(t, []string{first}, f.firedIDs(f.NextBlock()))
	f.run(f.send(alice, late, 1))
	require.Equal(t, []string{second}, f.firedIDs(f.NextBlock()))
	require.Equal(t, []string{third}, f.firedIDs(f.NextBlock()))
}

// TestALateWatchQueuesFromItsExamination: its place is that of the block in which it was examined, so that whoever was due
// then and is older comes first; how late it is counts from the change.
//
// Rule: 1.10-place-in-queue
func TestALateWatchQueuesFromItsExamination(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.MaxFiresPerBlock = 1
		notifies(c, 1)
	}))
	older := f.schedule(robot2, 6, f.noop())
	first := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)))
	second := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)))
	f.blocksUntil(4)
	f.run(f.send(alice, bob, 1))
	require.Equal(t, []string{first}, f.firedIDs(f.NextBlock()))
	require.Equal(t, []string{older}, f.firedIDs(f.NextBlock()), "examined and due in the same block, and older")
	fired := only[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, second, fired.Id)
	require.Equal(t, uint64(2), fired.Late)
}

// TestAModulePaysForItsOwnTimers out of its account, which is not blocked.
//
// Rule: 1.11-module-accounts
func TestAModulePaysForItsOwnTimers(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	gov := authtypes.NewModuleAddress(govtypes.ModuleName)
	f.Accounts.GetModuleAccount(f.Ctx(), govtypes.ModuleName)
	f.Modules.Register(govtypes.ModuleName, types.DefaultHandler, func(context.Context, types.Delivery) error { return nil })
	require.NoError(t, f.Bank.SendCoins(f.Ctx(), alice, gov, f.coins(500_000)))
	f.schedule(gov, 3, nil)
	fired := only[*types.TimerFired](f, f.blocksUntil(3))
	require.Equal(t, gov.String(), fired.Payer)
	require.Equal(t, 500_000-number(t, fired.Paid), f.balance(gov))
	require.NoError(t, f.Feegrant.GrantAllowance(f.Ctx(), gov, robot, byMessage(t, unlimited(), &types.MsgScheduleTimer{})))
	f.refused(types.ErrInvalidFeePayer, scheduleMsg(robot, 9, f.noop(), paidBy(gov)))
}

// TestAnAccountOfManyKeysCountsItsSize: a fire reads it three times, at 3 a byte beyond 256.
//
// Rule: 1.11-large-account, 1.11-record-cycles
func TestAnAccountOfManyKeysCountsItsSize(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	keys := make([]cryptotypes.PubKey, 12)
	for i := range keys {
		keys[i] = secp256k1.GenPrivKeyFromSecret([]byte{byte(i)}).PubKey()
	}
	account := f.Accounts.GetAccount(f.Ctx(), robot)
	require.NoError(t, account.SetPubKey(kmultisig.NewLegacyAminoPubKey(2, keys)))
	f.Accounts.SetAccount(f.Ctx(), account)
	record, err := f.Codec.MarshalInterface(account)
	require.NoError(t, err)
	size := uint64(len(record) + 1 + len(robot))
	require.Greater(t, size, uint64(256))

	f.schedule(robot, 3, f.noop())
	require.Equal(t, 20_000+(size-256)*9, only[*types.TimerFired](f, f.blocksUntil(3)).Cycles)
}

// TestAnAccountWithAPostQuantumKeyPays: such a key is of 1,952 bytes, and the account takes 2,103. Here as many keys of
// today's kind are as long.
//
// Rule: 1.11-large-account, 1.11-large-record
func TestAnAccountWithAPostQuantumKeyPays(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	keys := make([]cryptotypes.PubKey, 28)
	for i := range keys {
		keys[i] = secp256k1.GenPrivKeyFromSecret([]byte{byte(i)}).PubKey()
	}
	account := f.Accounts.GetAccount(f.Ctx(), robot)
	require.NoError(t, account.SetPubKey(kmultisig.NewLegacyAminoPubKey(2, keys)))
	f.Accounts.SetAccount(f.Ctx(), account)
	record, err := f.Codec.MarshalInterface(account)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(record)+1+len(robot), 2_103)
	f.schedule(robot, 3, f.noop())
	require.Len(t, f.firedIDs(f.blocksUntil(3)), 1)
}

// TestNoValueGrowsWithTheTimers, but the directories of the owner index, which grow too slowly to show here (package
// logmap).
//
// Rule: 2-no-growing-values
func TestNoValueGrowsWithTheTimers(t *testing.T) {
	longest := func(n int) (longest int) {
		var service corestore.KVStoreService
		f := crowded(t, n, func(timer *types.Timer) {
			timer.Due = 3 + timer.Seq%50
			if timer.Seq%3 == 0 {
				waitForBob(timer)
			}
		}, withConfig(inMarket), func(opts *lab.ChainOptions) {
			opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService { service = s; return s }
		})
		for f.Height() < 8 {
			f.endBlock()
		}
		iterator, err := service.OpenKVStore(f.Ctx()).Iterator(nil, nil)
		require.NoError(t, err)
		defer iterator.Close()
		for ; iterator.Valid(); iterator.Next() {
			longest = max(longest, len(iterator.Value()))
		}
		return longest
	}
	// A chunk of records has as many as 16 KiB.
	require.LessOrEqual(t, longest(300), 17_000)
	require.LessOrEqual(t, longest(6_000), 17_000)
}

// recorder is a meter that keeps what is consumed for the owner index.
type recorder struct {
	storetypes.GasMeter
	amounts []uint64
}

// ConsumeGas implements storetypes.GasMeter.
func (r *recorder) ConsumeGas(amount storetypes.Gas, descriptor string) {
	if descriptor == "owner index" {
		r.amounts = append(r.amounts, amount)
	}
	r.GasMeter.ConsumeGas(amount, descriptor)
}

// TestWhatTheOwnerIndexCosts: the same whatever is merged, and however many timers there are.
//
// Rule: 2.3-gas-independent, 2.3-gas-of-an-entry
func TestWhatTheOwnerIndexCosts(t *testing.T) {
	f := newFixture(t)
	runs := func(msg sdk.Msg) []uint64 {
		meter := &recorder{GasMeter: storetypes.NewInfiniteGasMeter()}
		branch, commit := f.Ctx().CacheContext()
		_, err := f.Messages.Handler(msg)(branch.WithGasMeter(meter), msg)
		require.NoError(t, err)
		commit()
		return meter.amounts
	}
	// Seqs of two bytes, so that records and entries are equally long.
	for range 300 {
		f.schedule(robot, 5_000, nil)
	}
	gas := f.run(scheduleMsg(robot, 5_000, nil))
	for i := range 400 {
		require.Equal(t, gas, f.run(scheduleMsg(robot, 5_000, nil)), "timer %d", i)
		if i%50 == 0 {
			f.NextBlock()
		}
	}
	id := f.schedule(robot2, 5_000, nil)
	require.Equal(t, []uint64{10_000}, runs(scheduleMsg(robot2, 5_000, nil)))
	require.Equal(t, []uint64{8_000, 50, 5_000}, runs(&types.MsgUpdateTimer{Sender: robot2.String(), Id: id, Spec: types.TimerSpec{GasLimit: 60_000}, Fields: []string{"gas_limit"}}))
	require.Equal(t, []uint64{8_000, 50}, runs(&types.MsgExtendTimer{Sender: robot2.String(), Id: id, ExpiresAt: 6_000}))

	meter := &recorder{GasMeter: storetypes.NewInfiniteGasMeter()}
	_, err := f.query().TimersByActor(f.Ctx().WithGasMeter(meter), &types.QueryTimersByActorRequest{Actor: robot.String()})
	require.NoError(t, err)
	require.Equal(t, []uint64{8_000, 50 * 701}, meter.amounts)
}

// TestAnEntryOfTheOwnerIndexNamesOwnerIDAndSeq: ten bytes of the hash of the owner, and four of the id.
//
// Rule: 2.3-entry
func TestAnEntryOfTheOwnerIndexNamesOwnerIDAndSeq(t *testing.T) {
	var service corestore.KVStoreService
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService { service = s; return s }
	})
	id, err := types.ParseID(f.schedule(robot, 300, nil))
	require.NoError(t, err)
	hash := sha256.Sum256(robot)
	key := slices.Concat(hash[:10], id[:4], []byte{1})
	// The first chunk of the log, which all ranges share.
	log, err := service.OpenKVStore(f.Ctx()).Get(append(types.PrefixOwners.Bytes(), 1, 0, 0, 0, 0, 0))
	require.NoError(t, err)
	require.Contains(t, string(log), string(key))
}

// TestABlockBurnsAndTipsOnce, however many timers fire.
//
// Rule: 5.1-after-fires, 5.2-burned-in-one
func TestABlockBurnsAndTipsOnce(t *testing.T) {
	f := newTipping(t)
	for range 4 {
		f.schedule(robot, 3, f.noop(), bidding(stated("9", "0.5")))
	}
	f.blocksUntil(2)
	events := f.NextBlock()
	require.Len(t, f.firedIDs(events), 4)
	burns, tips := 0, 0
	for _, event := range events {
		recipient, found := event.GetAttribute(banktypes.AttributeKeyRecipient)
		switch {
		case event.Type == banktypes.EventTypeCoinBurn:
			burns++
		case event.Type == banktypes.EventTypeTransfer && found && recipient.Value == collector.String():
			tips++
		}
	}
	require.Equal(t, [2]int{1, 1}, [2]int{burns, tips})
}

// TestRequiredIsThePriceThatDecided: of a timer that leaves the lowest, of one that waits the one that its bid came to.
//
// Rule: 5.2-required
func TestRequiredIsThePriceThatDecided(t *testing.T) {
	f := newFixture(t, withConfig(expensive))
	poor, poorer := sdk.AccAddress("robot_poor__________"), sdk.AccAddress("robot_poorer________")
	f.fund(poor, 300_000)
	f.fund(poorer, 100_000)
	// The chain and the lane take 1 a cycle each, the tip is 3.
	for _, actor := range []sdk.AccAddress{poor, poorer} {
		f.schedule(actor, 3, f.noop(), limited(100_000), bidding(stated("9", "3")))
	}
	events := f.blocksUntil(3)
	left, waits := only[*types.TimerCancelledInsufficientFunds](f, events), only[*types.TimerHeld](f, events)
	require.Equal(t, [2]string{poorer.String(), "200000"}, [2]string{left.Actor, left.Required})
	require.Equal(t, [2]string{poor.String(), "500000"}, [2]string{waits.Actor, waits.Required})
}

// TestTheOrderOfTheCleanUp: one removal a block, of timers that have all expired.
//
// Rule: 5.3-watches-first, 5.3-queue-next, 5.3-on-hold-last, 5.3-rest-later
func TestTheOrderOfTheCleanUp(t *testing.T) {
	f := newFixture(t, withConfig(oneRemoval), withConfig(func(c *types.TimerConfig) { c.LanePaused = true }))
	paused := f.schedule(robot, 3, f.noop(), expiring(4))
	f.run(pause(robot, paused))
	later := f.schedule(robot, 4, f.noop(), expiring(4))
	older := f.schedule(robot, 3, f.noop(), expiring(4))
	watch := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)), expiring(4))
	sooner := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)), expiring(3))
	soon := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)), expiring(3))
	var gone []string
	for _, expired := range eventsOf[*types.TimerExpired](f, f.blocksUntil(12)) {
		gone = append(gone, expired.Id)
	}
	require.Equal(t, []string{sooner, soon, watch, older, later, paused}, gone)
}

// TestSummary_SaysThatThereIsAStorm.
//
// Rule: 5.4-storm-flag
func TestSummary_SaysThatThereIsAStorm(t *testing.T) { requireStormInSummary(t, inMarket) }

func requireStormInSummary(t *testing.T, policy func(*types.TimerConfig)) {
	t.Helper()
	f := newFixture(t, withConfig(policy), withConfig(func(c *types.TimerConfig) { c.CandidateWindow, c.MaxFiresPerBlock = 3, 1 }))
	for range 5 {
		f.schedule(robot, 3, f.noop())
	}
	f.blocksUntil(2)
	for _, want := range []bool{true, true, false} {
		require.Equal(t, want, only[*types.TimerLaneSummary](f, f.NextBlock()).Storm, "at height %d", f.Height()-1)
	}
}

// TestNoTextOfAnErrorIsKept: neither in state nor in events, whatever a handler says.
//
// Rule: 5.5-no-text
func TestNoTextOfAnErrorIsKept(t *testing.T) {
	const text = "forty-two words"
	f := newFixture(t, withConfig(inMarket))
	agent := f.agent("talks", func(sdk.Context, types.BidContext) (types.AgentQuote, error) {
		return types.AgentQuote{}, errors.New(text)
	})
	f.schedule(robot, 3, f.script(func(sdk.Context, types.Delivery) error { return errors.New(text) }), every(1, 3), byAgent(agent))
	f.schedule(robot, 3, f.script(func(sdk.Context, types.Delivery) error { panic(text) }))
	f.schedule(robot2, 3, f.noop())
	f.Bank.AppendSendRestriction(func(_ context.Context, from, to sdk.AccAddress, _ sdk.Coins) (sdk.AccAddress, error) {
		if from.Equals(robot2) {
			return to, errors.New(text)
		}
		return to, nil
	})
	events := f.blocksUntil(3)
	f.Bank.ClearSendRestriction()
	failed := 0
	for _, fired := range eventsOf[*types.TimerFired](f, events) {
		if !fired.Success {
			failed++
		}
	}
	require.Equal(t, 2, failed)
	require.Len(t, eventsOf[*types.TimerAgentFailed](f, events), 1)
	require.Len(t, eventsOf[*types.TimerHeld](f, events), 1)
	require.NotContains(t, fmt.Sprint(events), text)
	require.NotContains(t, string(f.Codec.MustMarshalJSON(f.export())), text)
}

// TestNames_AreInWhatEndsATimer, and in what puts it on hold.
//
// Rule: 6-name
func TestNames_AreInWhatEndsATimer(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	f.fund(poorRobot, 1)
	named := func(name string) func(*types.MsgScheduleTimer) {
		return func(msg *types.MsgScheduleTimer) { msg.Spec.Name = name }
	}
	f.schedule(robot, 3, f.noop(), named("fires"))
	f.schedule(poorRobot, 3, f.noop(), named("lacks funds"))
	f.schedule(robot, 0, f.noop(), named("expires"), watching(f.balanceOf(bob)), expiring(3))
	paused := f.schedule(robot, 9, f.noop(), named("is paused"))
	cancelled := f.schedule(robot, 9, f.noop(), named("is cancelled"))
	governed := f.schedule(robot, 9, f.noop(), named("is cancelled by governance"))
	f.run(pause(robot, paused), &types.MsgCancelTimer{Sender: robot.String(), Id: cancelled},
		&types.MsgSysCancelTimer{Authority: f.Authority, Actor: robot.String(), Id: governed})
	events := f.blocksUntil(5)
	require.Equal(t, []string{"fires", "lacks funds", "expires", "is paused", "is cancelled", "is cancelled by governance"}, []string{
		only[*types.TimerFired](f, events).Name, only[*types.TimerCancelledInsufficientFunds](f, events).Name,
		only[*types.TimerExpired](f, events).Name, only[*types.TimerHeld](f, events).Name,
		only[*types.TimerCancelled](f, events).Name, only[*types.TimerCancelledByGovernance](f, events).Name,
	})
	require.Len(t, eventsOf[*types.TimerScheduled](f, events), 6)
	for _, scheduled := range eventsOf[*types.TimerScheduled](f, events) {
		require.NotEmpty(t, scheduled.Name)
	}
}
