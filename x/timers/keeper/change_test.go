package keeper_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// byOwner are the owner's messages about a timer, each of which its owner may send; resuming wants a pause
// before it.
func byOwner(f *fixture, sender sdk.AccAddress, id string) map[string]sdk.Msg {
	return map[string]sdk.Msg{
		"update": &types.MsgUpdateTimer{Sender: sender.String(), Id: id, Spec: types.TimerSpec{GasLimit: 100_000}, Fields: []string{"gas_limit"}},
		"extend": &types.MsgExtendTimer{Sender: sender.String(), Id: id, ExpiresAt: f.Height() + 100},
		"cancel": &types.MsgCancelTimer{Sender: sender.String(), Id: id},
		"pause":  &types.MsgPauseTimer{Sender: sender.String(), Id: id},
		"resume": &types.MsgResumeTimer{Sender: sender.String(), Id: id},
	}
}

// byAuthority are the authority's messages about a timer.
func byAuthority(f *fixture, signer string, actor sdk.AccAddress, id string) map[string]sdk.Msg {
	config := f.replaces(f.config())
	config.Authority = signer
	return map[string]sdk.Msg{
		"cancel":  &types.MsgSysCancelTimer{Authority: signer, Actor: actor.String(), Id: id},
		"extend":  &types.MsgSysExtendTimer{Authority: signer, Actor: actor.String(), Id: id, ExpiresAt: f.Height() + 100},
		"release": &types.MsgSysReleaseTimer{Authority: signer, Actor: actor.String(), Id: id},
		"config":  config,
	}
}

// Rule: 1.2-actor, 1.2-whole-ids, 3-bad-id, 3-bad-address, 3.2-errors, 3.3-errors, 3.4-pause-errors, 3.5-errors
func TestOnlyTheOwnerNamesItsTimers(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(alice, 50, f.pays(alice, bob, 1))
	before := f.timer(alice, id)
	f.NextBlock()
	for _, msg := range byOwner(f, bob, id) {
		f.refused(types.ErrTimerNotFound, msg)
	}
	for _, bad := range []string{"", "zz", id[:62], id + "00", "0x" + id[:62], id[:63]} {
		for _, msg := range byOwner(f, alice, bad) {
			f.refused(types.ErrInvalidTimerID, msg)
		}
	}
	nobody := strings.Repeat("ab", 32)
	for _, msg := range byOwner(f, alice, nobody) {
		f.refused(types.ErrTimerNotFound, msg)
	}
	for _, msg := range byOwner(f, nil, id) {
		f.refused(sdkerrors.ErrInvalidAddress, msg)
	}
	require.Equal(t, before, f.timer(alice, id))
	f.run(&types.MsgCancelTimer{Sender: alice.String(), Id: strings.ToUpper(id)})
	require.Zero(t, f.total(alice))
}

// Rule: 3-bad-id, 3.7-authority, 3.7-unauthorized
func TestOnlyTheAuthoritySendsItsMessages(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(alice, 50, f.pays(alice, bob, 1))
	for _, signer := range []string{alice.String(), bob.String(), "", "gov"} {
		for _, msg := range byAuthority(f, signer, alice, id) {
			f.refused(types.ErrUnauthorized, msg)
		}
	}
	for name, msg := range byAuthority(f, f.Authority, nil, id) {
		if name != "config" {
			f.refused(sdkerrors.ErrInvalidAddress, msg)
		}
	}
	for name, msg := range byAuthority(f, f.Authority, alice, "12") {
		if name != "config" {
			f.refused(types.ErrInvalidTimerID, msg)
		}
	}
	require.Equal(t, uint32(1), f.total(alice))
}

// Rule: 1.2-seq, 3.2-id-stays, 3.2-new-seq, 6-updated
func TestUpdateKeepsTheIDAndGoesToTheBack(t *testing.T) {
	f := newFixture(t)
	first := f.schedule(robot, 4, f.noop())
	second := f.schedule(robot, 4, f.noop())
	before := f.timer(robot, first)
	f.NextBlock()

	called := false
	payload := f.script(func(_ sdk.Context, delivery types.Delivery) error {
		called = delivery.Handler == "other"
		return nil
	})
	results, _, err := f.Tx(&types.MsgUpdateTimer{
		Sender: robot.String(), Id: first, Spec: types.TimerSpec{
			GasLimit: 60_000,
			Call:     types.TimerCall{Handler: "other", Payload: payload}, Bid: &types.Bid{Tier: types.TierFast},
		},
		Fields: []string{"gas_limit", "call", "bid"},
	})
	require.NoError(t, err)
	var response types.MsgUpdateTimerResponse
	require.NoError(t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	want := before
	want.Spec.Call.Handler, want.Spec.Call.Payload, want.Status.GasLimit, want.Spec.GasLimit, want.Spec.Bid = "other", payload, 60_000, 60_000, &types.Bid{Tier: types.TierFast}
	want.Status.PayloadBytes = uint64(len(payload))
	want.Status.Seq = f.timer(robot, second).Status.Seq + 1
	require.Equal(t, want, f.timer(robot, first))
	require.Equal(t, want.Status.Seq, response.Seq)

	events := f.NextBlock()
	require.Equal(t, types.TimerUpdated{Id: first, Actor: robot.String(), Seq: want.Status.Seq, Due: 4}, *only[*types.TimerUpdated](f, events))
	require.Equal(t, []string{second, first}, f.firedIDs(f.blocksUntil(4)))
	require.True(t, called)
}

// Rule: 3.2-replaces, 3.2-left-out-stays, 3.2-empty-bid
func TestUpdateChangesOnlyWhatIsStated(t *testing.T) {
	f := newFixture(t)
	long := make([]byte, 10_000)
	id := f.schedule(robot, 50, long, func(msg *types.MsgScheduleTimer) {
		msg.Spec.Call.Handler, msg.Spec.Bid = "mine", &types.Bid{Tier: types.TierFast}
	})
	step := func(msg types.MsgUpdateTimer, change func(*types.TimerInfo)) {
		t.Helper()
		want := f.timer(robot, id)
		change(&want)
		want.Status.PayloadBytes = uint64(len(want.Spec.Call.Payload))
		msg.Sender, msg.Id = robot.String(), id
		f.run(&msg)
		got := f.timer(robot, id)
		require.Greater(t, got.Status.Seq, want.Status.Seq)
		want.Status.Seq = got.Status.Seq
		require.Equal(t, want, got)
		f.NextBlock()
	}
	step(types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: 70_000}, Fields: []string{"gas_limit"}}, func(i *types.TimerInfo) { i.Status.GasLimit, i.Spec.GasLimit = 70_000, 70_000 })
	step(types.MsgUpdateTimer{Spec: types.TimerSpec{CellLimit: 7_000}, Fields: []string{"cell_limit"}}, func(i *types.TimerInfo) { i.Status.CellLimit, i.Spec.CellLimit = 7_000, 7_000 })
	step(types.MsgUpdateTimer{Spec: types.TimerSpec{Bid: &types.Bid{Tier: types.TierUrgent}}, Fields: []string{"bid"}}, func(i *types.TimerInfo) { i.Spec.Bid.Tier = types.TierUrgent })
	step(types.MsgUpdateTimer{Spec: types.TimerSpec{Bid: &types.Bid{}}, Fields: []string{"bid"}}, func(i *types.TimerInfo) { i.Spec.Bid = nil })
	step(types.MsgUpdateTimer{Spec: types.TimerSpec{Call: types.TimerCall{Payload: []byte("short")}}, Fields: []string{"call"}}, func(i *types.TimerInfo) {
		i.Spec.Call.Handler, i.Spec.Call.Payload = "", []byte("short")
	})
	step(types.MsgUpdateTimer{Spec: types.TimerSpec{Call: types.TimerCall{Payload: make([]byte, 600)}}, Fields: []string{"call"}}, func(i *types.TimerInfo) { i.Spec.Call.Payload = make([]byte, 600) })
	step(types.MsgUpdateTimer{Spec: types.TimerSpec{Call: types.TimerCall{Payload: make([]byte, 700)}}, Fields: []string{"call"}}, func(i *types.TimerInfo) { i.Spec.Call.Payload = make([]byte, 700) })
	step(types.MsgUpdateTimer{Spec: types.TimerSpec{Call: types.TimerCall{}}, Fields: []string{"call"}}, func(i *types.TimerInfo) { i.Spec.Call.Payload = nil })
}

// Rule: 3.2-errors
func TestUpdateRefusesEachWithItsOwnError(t *testing.T) {
	f := newFixture(t)
	config := f.config()
	id := f.schedule(alice, 50, f.pays(alice, bob, 1))
	before := f.timer(alice, id)
	call := func(handler string, payload []byte) types.MsgUpdateTimer {
		return types.MsgUpdateTimer{Spec: types.TimerSpec{Call: types.TimerCall{Handler: handler, Payload: payload}}, Fields: []string{"call"}}
	}
	for name, tc := range map[string]struct {
		want error
		msg  types.MsgUpdateTimer
	}{
		"nothing":         {types.ErrNothingToUpdate, types.MsgUpdateTimer{}},
		"low gas":         {types.ErrGasLimitOutOfBounds, types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: config.MinGasLimit - 1}, Fields: []string{"gas_limit"}}},
		"high gas":        {types.ErrGasLimitOutOfBounds, types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: config.MaxCyclesPerFire + 1}, Fields: []string{"gas_limit"}}},
		"largest gas":     {types.ErrGasLimitOutOfBounds, types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: ^uint64(0)}, Fields: []string{"gas_limit"}}},
		"high cells":      {types.ErrCellLimitOutOfBounds, types.MsgUpdateTimer{Spec: types.TimerSpec{CellLimit: config.MaxCellsPerFire + 1}, Fields: []string{"cell_limit"}}},
		"long payload":    {types.ErrPayloadTooLong, call("", make([]byte, config.MaxPayloadBytes+1))},
		"long handler":    {types.ErrHandlerTooLong, call(strings.Repeat("h", 257), f.pays(alice, bob, 1))},
		"unknown handler": {types.ErrInvalidHandler, call("other", f.pays(alice, bob, 1))},
		"garbage":         {types.ErrInvalidPayload, call("", []byte{1})},
		"foreign signer":  {types.ErrForeignSigner, call("", f.pays(bob, alice, 1))},
		"stated twice":    {types.ErrHandlerConflict, call("x", []byte(`{"_handler":"y","_payload":""}`))},
		"two bids":        {types.ErrInvalidBid, types.MsgUpdateTimer{Spec: types.TimerSpec{Bid: &types.Bid{Tier: 1, Price: "1"}}, Fields: []string{"bid"}}},
		"agent":           {types.ErrInvalidAgent, types.MsgUpdateTimer{Spec: types.TimerSpec{Bid: &types.Bid{Agent: "a"}}, Fields: []string{"bid"}}},
	} {
		tc.msg.Sender, tc.msg.Id = alice.String(), id
		_, _, err := f.Tx(&tc.msg)
		require.ErrorIs(t, err, tc.want, name)
	}
	require.Equal(t, before, f.timer(alice, id))
}

// Rule: 3.3-above-now, 3.3-clamped, 3.3-may-shorten, 3.3-errors
func TestExtendClampsAndMayShorten(t *testing.T) {
	f := newFixture(t)
	config := f.config()
	id := f.schedule(alice, 10, f.pays(alice, bob, 1), expiring(20))
	extend := func(expiresAt uint64) *types.MsgExtendTimer {
		return &types.MsgExtendTimer{Sender: alice.String(), Id: id, ExpiresAt: expiresAt}
	}
	for _, tc := range []struct{ stated, set uint64 }{
		{30, 30}, {^uint64(0), f.Height() + config.MaxTtlBlocks}, {10, 10}, {20, 20},
	} {
		f.run(extend(tc.stated))
		require.Equal(t, tc.set, f.timer(alice, id).Status.ExpiresAt)
	}
	for _, tooSoon := range []uint64{0, 1, f.Height(), 9} {
		f.refused(types.ErrExpiresTooSoon, extend(tooSoon))
	}
	events := f.NextBlock()
	extended := eventsOf[*types.TimerExtended](f, events)
	require.Len(t, extended, 4)
	require.Equal(t, types.TimerExtended{Id: id, Actor: alice.String(), ExpiresAt: 20, PreviousExpiresAt: extended[2].ExpiresAt}, *extended[3])
}

// Rule: 1.5-expired, 3.2-errors, 3.3-errors, 3.4-pause-errors, 3.5-cancel, 5.3-rest-later
func TestAnExpiredTimerIsCancelledNotRevived(t *testing.T) {
	// Removals are scarce, so that expired timers wait for their clean-up.
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LanePaused = true
		lab.SetRemovals(c, 1)
	}))
	var ids []string
	for range 4 {
		ids = append(ids, f.schedule(alice, 2, f.pays(alice, bob, 1), expiring(3)))
	}
	f.blocksUntil(4)
	require.Equal(t, uint32(3), f.total(alice))
	last := ids[3]
	require.Equal(t, types.PhaseExpired, f.timer(alice, last).Status.Phase)
	for name, msg := range byOwner(f, alice, last) {
		if name != "cancel" {
			f.refused(types.ErrTimerExpired, msg)
		}
	}
	for name, msg := range byAuthority(f, f.Authority, alice, last) {
		if name == "extend" || name == "release" {
			f.refused(types.ErrTimerExpired, msg)
		}
	}
	f.run(&types.MsgCancelTimer{Sender: alice.String(), Id: last})
	require.Equal(t, uint32(2), f.total(alice))
}

// Rule: 1.5-leaves-by-cancellation, 3.5-errors, 6-cancelled
func TestCancel(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(alice, 3, f.pays(alice, bob, 1))
	kept := f.schedule(alice, 3, f.pays(alice, bob, 2))
	f.NextBlock()
	f.run(&types.MsgCancelTimer{Sender: alice.String(), Id: id})
	f.refused(types.ErrTimerNotFound, &types.MsgCancelTimer{Sender: alice.String(), Id: id})
	events := f.blocksUntil(3)
	require.Equal(t, types.TimerCancelled{Id: id, Actor: alice.String()}, *only[*types.TimerCancelled](f, events))
	require.Equal(t, []string{kept}, f.firedIDs(events))
	for _, msg := range byOwner(f, alice, kept) {
		f.refused(types.ErrTimerNotFound, msg)
	}
}

// Rule: 1.5-leaves-by-cancellation, 3.7-cancel, 3.7-extend, 3.7-release, 6-extended, 6-cancelled
func TestTheAuthorityCancelsAndExtendsAnyTimer(t *testing.T) {
	f := newFixture(t)
	config := f.config()
	id := f.schedule(alice, 10, f.pays(alice, bob, 1), expiring(20))
	cancel := &types.MsgSysCancelTimer{Authority: f.Authority, Actor: alice.String(), Id: id}
	extend := func(expiresAt uint64) *types.MsgSysExtendTimer {
		return &types.MsgSysExtendTimer{Authority: f.Authority, Actor: alice.String(), Id: id, ExpiresAt: expiresAt}
	}
	f.run(extend(^uint64(0)))
	last := f.Height() + config.MaxTtlBlocks
	require.Equal(t, last, f.timer(alice, id).Status.ExpiresAt)
	f.refused(types.ErrExpiresTooSoon, extend(f.Height()))
	f.refused(types.ErrNotQuarantined, &types.MsgSysReleaseTimer{Authority: f.Authority, Actor: alice.String(), Id: id})
	extended := only[*types.TimerExtendedByGovernance](f, f.NextBlock())
	require.Equal(t, types.TimerExtendedByGovernance{Id: id, Actor: alice.String(), ExpiresAt: last, Opcode: 50, PreviousExpiresAt: 20}, *extended)

	for _, cancelled := range []bool{true, false} {
		results, _, err := f.Tx(cancel)
		require.NoError(t, err, "a timer already gone is a success")
		var response types.MsgSysCancelTimerResponse
		require.NoError(t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
		require.Equal(t, cancelled, response.Cancelled)
	}
	f.refused(types.ErrTimerNotFound, extend(50))
	f.refused(types.ErrTimerNotFound, &types.MsgSysReleaseTimer{Authority: f.Authority, Actor: alice.String(), Id: id})
	cancelled := only[*types.TimerCancelledByGovernance](f, f.NextBlock())
	require.Equal(t, types.TimerCancelledByGovernance{Id: id, Actor: alice.String(), Opcode: 48}, *cancelled)
}

// TestUpdate_AnOverdueTimerCompetesInTheNextBlock: what enters the queue is never due already; its rank and its lateness go on from
// when it was. One that is due in this block keeps its height, at the back of its bucket.
//
// Rule: 3.2-overdue
func TestUpdate_AnOverdueTimerCompetesInTheNextBlock(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.LanePaused = true }))
	overdue, second, third := f.schedule(robot, 2, f.noop()), f.schedule(robot, 4, f.noop()), f.schedule(robot, 4, f.noop())
	f.blocksUntil(3)
	require.Equal(t, uint64(4), f.Height())
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	for _, id := range []string{overdue, second} {
		f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: 90_000}, Fields: []string{"gas_limit"}})
	}
	require.Equal(t, []uint64{5, 4}, []uint64{f.timer(robot, overdue).Status.Due, f.timer(robot, second).Status.Due})
	f.NextBlock()
	events := f.NextBlock()
	require.Equal(t, []string{overdue, third, second}, f.firedIDs(events))
	require.Equal(t, uint64(3), eventsOf[*types.TimerFired](f, events)[0].Late)
}

// TestUpdate_OfOneLimitKeepsTheOther: a gas limit that was the default when the timer was scheduled stays when the default is another.
func TestUpdate_OfOneLimitKeepsTheOther(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 50, f.noop(), limited(0))
	before := f.timer(robot, id).Status
	f.setConfig(func(c *types.TimerConfig) {
		c.MaxCyclesPerFire, c.DefaultCellLimit = before.GasLimit/2, before.CellLimit/2
	})
	f.NextBlock()
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{CellLimit: 900}, Fields: []string{"cell_limit"}})
	after := f.timer(robot, id).Status
	require.Equal(t, [2]uint64{before.GasLimit, 900}, [2]uint64{after.GasLimit, after.CellLimit})
}
