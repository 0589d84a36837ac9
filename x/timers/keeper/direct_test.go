package keeper_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// directDebits runs the whole package with it: what holds with transfers holds without, but for send restrictions.
var directDebits = flag.Bool("keeper.direct", false, "debit payers without transfers")

func withDirectDebits(opts *lab.ChainOptions) { opts.DirectDebits = true }

// withPayerStores debits payers directly too, by the stores of x/bank and x/auth.
func withPayerStores(opts *lab.ChainOptions) { opts.PayerStores = true }

// underEachDebit runs a test under all ways in which payers are debited.
func underEachDebit(t *testing.T, test func(*testing.T, func(*lab.ChainOptions))) {
	t.Helper()
	for name, debits := range map[string]func(*lab.ChainOptions){
		"transfers": func(*lab.ChainOptions) {}, "direct debits": withDirectDebits, "payer stores": withPayerStores,
	} {
		t.Run(name, func(t *testing.T) { test(t, debits) })
	}
}

// tracked are the changes of balances that events tell, as an indexer adds them up.
type tracked map[string]math.Int

func (b tracked) add(t testingT, events sdk.Events) {
	t.Helper()
	for i := range events {
		var party string
		sign := int64(1)
		switch events[i].Type {
		case banktypes.EventTypeCoinSpent:
			party, sign = banktypes.AttributeKeySpender, -1
		case banktypes.EventTypeCoinReceived:
			party = banktypes.AttributeKeyReceiver
		default:
			continue
		}
		who, found := events[i].GetAttribute(party)
		require.True(t, found)
		amount, found := events[i].GetAttribute(sdk.AttributeKeyAmount)
		require.True(t, found)
		coins, err := sdk.ParseCoinsNormalized(amount.Value)
		require.NoError(t, err)
		if _, seen := b[who.Value]; !seen {
			b[who.Value] = math.ZeroInt()
		}
		for _, coin := range coins {
			b[who.Value] = b[who.Value].Add(coin.Amount.MulRaw(sign))
		}
	}
}

// ofTimers are the module's own events.
func ofTimers(events sdk.Events) (others []string) {
	for _, event := range events {
		if strings.HasPrefix(event.Type, "timers.") {
			others = append(others, fmt.Sprint(event))
		}
	}
	return others
}

// twins are a chain whose payers are debited by transfers and one whose payers are debited directly.
type twins struct {
	both      [2]*fixture
	addresses []sdk.AccAddress
	// byStores: the second chain debits by the stores. It does not write what stays as it is, on which the app hash depends, and
	// on that the ids of deliveries, and the account numbers of later lines of the SDK.
	byStores bool
	// before are the balances of the addresses after the block before.
	before [2][]math.Int
}

func newTwins(t testingT, byStores bool, addresses []sdk.AccAddress, changes ...func(*lab.ChainOptions)) *twins {
	t.Helper()
	w := &twins{byStores: byStores, addresses: addresses}
	for i := range w.both {
		own := slices.Clone(changes)
		if byStores {
			// Receipts hold the ids of deliveries.
			own = append(own, withConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 0 }))
		}
		switch {
		case i == 1 && byStores:
			own = append(own, withPayerStores)
		case i == 1:
			own = append(own, withDirectDebits)
		}
		w.both[i] = newFixture(t, own...)
		w.both[i].agent("agent", answers(3_000, "0.01", "0.002", "1"))
		w.both[i].agent("spender", answers(30_000, "0.01", "0.0001", "1"))
	}
	return w
}

// tx runs the same transaction on both.
func (w *twins) tx(t testingT, msg func(*fixture) sdk.Msg) {
	t.Helper()
	var failures [2]string
	for i, f := range w.both {
		_, _, err := f.Tx(msg(f))
		failures[i] = fmt.Sprint(err)
	}
	require.Equal(t, failures[0], failures[1])
}

// block ends the block of both, and compares what it did.
func (w *twins) block(t testingT) {
	t.Helper()
	var after [2][]math.Int
	var others [2][]string
	for i, f := range w.both {
		events := f.NextBlock()
		others[i], after[i] = ofTimers(w.comparable(events)), balancesOf(f, w.addresses)
		if w.before[i] != nil {
			w.compareTold(t, i, events, after[i])
		}
	}
	require.Equal(t, others[0], others[1])
	require.Equal(t, fmt.Sprint(after[0]), fmt.Sprint(after[1]))
	require.Equal(t, w.stateOf(0), w.stateOf(1))
	w.before = after
}

// comparable are events without the ids of deliveries, where these differ.
func (w *twins) comparable(events sdk.Events) sdk.Events {
	if !w.byStores {
		return events
	}
	for _, event := range events {
		for i := range event.Attributes {
			if event.Attributes[i].Key == "deliver_id" {
				event.Attributes[i].Value = ""
			}
		}
	}
	return events
}

// compareTold compares what the events of a block tell of balances with how they changed.
func (w *twins) compareTold(t testingT, chain int, events sdk.Events, after []math.Int) {
	t.Helper()
	told := tracked{}
	told.add(t, events)
	for i, address := range w.addresses {
		change, some := told[address.String()]
		if !some {
			change = math.ZeroInt()
		}
		require.Equal(t, after[i].Sub(w.before[chain][i]).String(), change.String(), "%s on chain %d", address, chain)
	}
}

// stateOf is the app hash of a chain. If that differs, it is the hash of all that is stored but the accounts.
func (w *twins) stateOf(chain int) string {
	f := w.both[chain]
	if !w.byStores {
		return fmt.Sprintf("%X", f.AppHash())
	}
	all := sha256.New()
	f.WalkState(func(store string, key, value []byte) {
		if store != authtypes.StoreKey {
			fmt.Fprintf(all, "%s %X %X\n", store, key, value)
		}
	})
	return fmt.Sprintf("%X", all.Sum(nil))
}

func balancesOf(f *fixture, addresses []sdk.AccAddress) (all []math.Int) {
	for _, address := range addresses {
		all = append(all, f.Bank.GetBalance(f.Ctx(), address, f.FeeDenom).Amount)
	}
	return all
}

var errOnPurpose = errors.New("on purpose")

// handlers of the robots: what may come between a pre-charge and its refund.
var handlers = []func(*fixture, sdk.Context, types.Delivery) error{
	func(*fixture, sdk.Context, types.Delivery) error { return nil },
	func(*fixture, sdk.Context, types.Delivery) error { return errOnPurpose },
	func(*fixture, sdk.Context, types.Delivery) error { panic("on purpose") },
	func(f *fixture, ctx sdk.Context, d types.Delivery) error {
		// All that the payer has left.
		return f.Bank.SendCoins(ctx, d.Actor, carol, f.coins(f.Bank.GetBalance(ctx, d.Actor, f.FeeDenom).Amount.Int64()))
	},
	func(f *fixture, ctx sdk.Context, d types.Delivery) error {
		return f.Bank.SendCoins(ctx, carol, d.Actor, f.coins(50_000))
	},
}

func directDebitsProperty(t *rapid.T) {
	policy := rapid.SampledFrom(lab.Policies()).Draw(t, "policy")
	dave := sdk.AccAddress("dave________________")
	parties := []sdk.AccAddress{alice, bob, carol, robot, robot2, dave}
	module, collector := authtypes.NewModuleAddress(types.ModuleName), authtypes.NewModuleAddress(authtypes.FeeCollectorName)
	w := newTwins(t, rapid.Bool().Draw(t, "by stores"), append([]sdk.AccAddress{module, collector}, parties...), withConfig(func(c *types.TimerConfig) { c.Policy = policy }))
	for _, f := range w.both {
		f.fund(dave, 30_000)
		f.grant(dave, robot, unlimited())
		f.grant(dave, alice, f.basic(20_000))
	}
	w.block(t)
	for range rapid.IntRange(1, 12).Draw(t, "blocks") {
		for range rapid.IntRange(0, 4).Draw(t, "transactions") {
			w.tx(t, drawTx(t, parties))
		}
		w.block(t)
	}
}

// drawTx draws a transaction that schedules a timer or moves coins.
func drawTx(t *rapid.T, parties []sdk.AccAddress) func(*fixture) sdk.Msg {
	from, to := rapid.SampledFrom(parties).Draw(t, "from"), rapid.SampledFrom(parties).Draw(t, "to")
	amount := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, 2*rich)).Draw(t, "amount")
	if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		return func(f *fixture) sdk.Msg { return f.send(from, to, amount) }
	}
	due := uint64(rapid.IntRange(1, 3).Draw(t, "blocks ahead"))
	repeats := rapid.Bool().Draw(t, "repeats")
	sponsored := rapid.IntRange(0, 3).Draw(t, "payer") == 0
	bid := rapid.SampledFrom([]string{"none", "none", "static", "agent", "spender"}).Draw(t, "bid")
	handler := rapid.IntRange(0, len(handlers)-1).Draw(t, "handler")
	return func(f *fixture) sdk.Msg {
		payload := f.pays(from, to, amount)
		if from.Equals(robot) || from.Equals(robot2) {
			payload = f.script(func(ctx sdk.Context, d types.Delivery) error { return handlers[handler](f, ctx, d) })
		}
		msg := scheduleMsg(from, f.Height()+due, payload)
		if repeats {
			every(2, 3)(msg)
		}
		if sponsored {
			paidBy(sdk.AccAddress("dave________________"))(msg)
		}
		switch bid {
		case "static":
			msg.Spec.Bid = stated("0.01", "0.0005")
		case "agent", "spender":
			byAgent(sdk.AccAddress(fmt.Sprintf("%-20.20s", "robot "+bid)))(msg)
		}
		return msg
	}
}

// TestDirectDebits_LeaveTheSameState: the same blocks with transfers and without leave the same state, to the bit unless
// payers are debited by the stores. Fires and their events are the same, and both tell an indexer exactly what balances
// are.
//
// Rule: 5.2-out-of-reach
func TestDirectDebits_LeaveTheSameState(t *testing.T) {
	lab.SkipWithoutAgents(t)
	rapid.Check(t, directDebitsProperty)
}

// TestADirectDebitIsOneCharge: the payer has spent what the fire cost, and nothing came back.
//
// Rule: 5.2-out-of-reach
func TestADirectDebitIsOneCharge(t *testing.T) {
	for _, debits := range []func(*lab.ChainOptions){withDirectDebits, withPayerStores} {
		aDirectDebitIsOneCharge(t, newFixture(t, debits, withConfig(plain)))
	}
}

func aDirectDebitIsOneCharge(t *testing.T, f *fixture) {
	t.Helper()
	f.schedule(robot, 2, f.script(func(ctx sdk.Context, _ types.Delivery) error {
		require.Equal(t, int64(rich-gas), f.Bank.GetBalance(ctx, robot, f.FeeDenom).Amount.Int64(), "the pre-charge is out of reach")
		return nil
	}))
	events := f.blocksUntil(2)
	fired := only[*types.TimerFired](f, events)
	require.True(t, fired.Success)
	var told []string
	for _, event := range events {
		switch event.Type {
		case banktypes.EventTypeCoinSpent, banktypes.EventTypeCoinReceived, banktypes.EventTypeTransfer:
			told = append(told, event.Type+" "+event.Attributes[0].Value+" "+event.Attributes[1].Value)
		}
	}
	module := authtypes.NewModuleAddress(types.ModuleName).String()
	amount := fired.Paid + f.FeeDenom
	require.Equal(t, []string{
		"coin_spent " + robot.String() + " " + amount,
		"coin_received " + module + " " + amount,
		"coin_spent " + module + " " + amount,
	}, told, "the charge, what the block collects, and the burn")
}
