package keeper_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

type change = func(*types.MsgScheduleTimer)

func trigger(trigger types.Trigger) change {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Trigger = trigger }
}

func at(height uint64) change { return trigger(types.Trigger{Height: height}) }

func payload(payload []byte) change {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Payload = payload }
}

func handler(name string) change {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Handler = name }
}

func bid(bid types.Bid) change {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Bid = &bid }
}

func static(maxFee, priority math.LegacyDec) change {
	return bid(types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(maxFee), MaxPriorityFeePerCycle: decimal.Of(priority)}})
}

// Rule: 1.2-trigger-one-of, 1.2-handler, 1.2-gas-limit, 1.2-cell-limit, 1.2-expires-at, 1.2-name, 1.4-height-above
// Rule: 1.4-after, 1.4-time-off, 3-bad-address, 3.1-trigger-errors, 3.1-height-errors, 3.1-gas-limit-error
// Rule: 3.1-call-errors, 3.1-payload-errors, 3.1-payer-errors, 3.1-bid-errors
func TestScheduleRefusesEachWithItsOwnError(t *testing.T) {
	f := newFixture(t)
	f.blocksUntil(4)
	config := f.config()
	last := f.Height() + config.MaxTtlBlocks
	send := f.pays(alice, bob, 1)
	now := time.Unix(1, 0)
	one := math.LegacyOneDec()
	for name, tc := range map[string]struct {
		want   error
		change func(*types.MsgScheduleTimer)
	}{
		"current height":     {types.ErrHeightNotInFuture, at(f.Height())},
		"past height":        {types.ErrHeightNotInFuture, at(f.Height() - 1)},
		"no trigger":         {types.ErrHeightNotInFuture, at(0)},
		"height 1":           {types.ErrHeightNotInFuture, at(1)},
		"after too long":     {types.ErrTTLTooLong, trigger(types.Trigger{After: config.MaxTtlBlocks + 1})},
		"longest after":      {types.ErrTTLTooLong, trigger(types.Trigger{After: ^uint64(0)})},
		"after and height":   {types.ErrUnsupportedTimerType, trigger(types.Trigger{After: 1, Height: 50})},
		"after and interval": {types.ErrInvalidInterval, trigger(types.Trigger{After: 1, Interval: &types.IntervalTrigger{Every: 1}})},
		"after and watch":    {types.ErrUnsupportedTimerType, trigger(types.Trigger{After: 1, Watch: &types.WatchTrigger{}})},
		"long name":          {types.ErrInvalidName, func(msg *types.MsgScheduleTimer) { msg.Spec.Name = strings.Repeat("x", 65) }},
		"name of two lines":  {types.ErrInvalidName, func(msg *types.MsgScheduleTimer) { msg.Spec.Name = "a\nb" }},
		"due too late":       {types.ErrTTLTooLong, at(last + 1)},
		"largest height":     {types.ErrTTLTooLong, at(^uint64(0))},
		"lives too long":     {types.ErrTTLTooLong, expiring(last + 1)},
		"lives for ever":     {types.ErrTTLTooLong, expiring(^uint64(0))},
		"expires before due": {types.ErrExpiresTooSoon, expiring(f.Height() + 4)},
		"expires at 1":       {types.ErrExpiresTooSoon, expiring(1)},
		"time":               {types.ErrUnsupportedTimerType, trigger(types.Trigger{Height: 50, Time: &now})},
		"interval":           {types.ErrInvalidInterval, trigger(types.Trigger{Height: 50, Interval: &types.IntervalTrigger{Every: 1}})},
		"watch and height":   {types.ErrUnsupportedTimerType, trigger(types.Trigger{Height: 50, Watch: &types.WatchTrigger{}})},
		"gas too low":        {types.ErrGasLimitOutOfBounds, limited(config.MinGasLimit - 1)},
		"gas of 1":           {types.ErrGasLimitOutOfBounds, limited(1)},
		"gas too high":       {types.ErrGasLimitOutOfBounds, limited(config.MaxCyclesPerFire + 1)},
		"largest gas":        {types.ErrGasLimitOutOfBounds, limited(^uint64(0))},
		"cells too high": {types.ErrCellLimitOutOfBounds, func(msg *types.MsgScheduleTimer) {
			msg.Spec.CellLimit = config.MaxCellsPerFire + 1
		}},
		"largest cells":     {types.ErrCellLimitOutOfBounds, func(msg *types.MsgScheduleTimer) { msg.Spec.CellLimit = ^uint64(0) }},
		"long payload":      {types.ErrPayloadTooLong, payload(make([]byte, config.MaxPayloadBytes+1))},
		"empty payload":     {types.ErrInvalidPayload, payload(nil)},
		"garbage payload":   {types.ErrInvalidPayload, payload([]byte("garbage"))},
		"long handler":      {types.ErrHandlerTooLong, handler(strings.Repeat("h", types.MaxHandlerBytes+1))},
		"handler not UTF-8": {types.ErrInvalidHandler, handler("\xff")},
		"unknown handler":   {types.ErrInvalidHandler, handler("other")},
		"foreign signer":    {types.ErrForeignSigner, payload(f.pays(bob, alice, 1))},
		"sender":            {sdkerrors.ErrInvalidAddress, func(msg *types.MsgScheduleTimer) { msg.Sender = "alice" }},
		"no sender":         {sdkerrors.ErrInvalidAddress, func(msg *types.MsgScheduleTimer) { msg.Sender = "" }},
		"fee payer's form":  {sdkerrors.ErrInvalidAddress, func(msg *types.MsgScheduleTimer) { msg.Spec.FeePayer = "bob" }},
		"stranger's money":  {types.ErrInvalidFeePayer, paidBy(bob)},
		"two bids":          {types.ErrInvalidBid, bid(types.Bid{Tier: types.TierFast, Price: "1"})},
		"unknown tier":      {types.ErrInvalidBid, bid(types.Bid{Tier: 9})},
		"negative price":    {types.ErrInvalidBid, bid(types.Bid{Price: "-1"})},
		"fractional price":  {types.ErrInvalidBid, bid(types.Bid{Price: "1.5"})},
		"negative max fee":  {types.ErrInvalidBid, static(one.Neg(), one)},
		"negative priority": {types.ErrInvalidBid, static(one, one.Neg())},
		"absurd max fee":    {types.ErrInvalidBid, static(one.MulInt64(1e18).Add(one), one)},
		"agent":             {types.ErrInvalidAgent, bid(types.Bid{Agent: bob.String()})},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := f.Tx(scheduleMsg(alice, f.Height()+5, send, tc.change))
			require.ErrorIs(t, err, tc.want)
		})
	}
	require.Zero(t, f.total(alice), "what is refused leaves nothing")

	stranger := sdk.AccAddress("stranger____________")
	f.refused(types.ErrUnknownActor, scheduleMsg(stranger, 50, f.pays(stranger, bob, 1)))
}

// Rule: 1.2-handler, 1.2-payload, 1.2-gas-limit, 1.2-cell-limit, 1.2-expires-at, 1.4-height-above
func TestScheduleAcceptsTheBounds(t *testing.T) {
	f := newFixture(t, withConfig(vast))
	config := f.config()
	last := f.Height() + config.MaxTtlBlocks
	send := f.pays(alice, bob, 1)
	for _, change := range []func(*types.MsgScheduleTimer){
		func(msg *types.MsgScheduleTimer) { msg.Spec.Trigger.Height = f.Height() + 1 },
		func(msg *types.MsgScheduleTimer) { msg.Spec.Trigger.Height, msg.Spec.ExpiresAt = last, last },
		expiring(10), expiring(last),
		limited(config.MinGasLimit), limited(config.MaxCyclesPerFire),
		func(msg *types.MsgScheduleTimer) { msg.Spec.CellLimit = config.MaxCellsPerFire },
		func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Handler = types.DefaultHandler },
	} {
		f.schedule(alice, 10, send, change)
	}
	f.schedule(robot, 10, make([]byte, config.MaxPayloadBytes), limited(config.MaxCyclesPerFire))
	f.schedule(robot, 10, nil, func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Handler = strings.Repeat("h", types.MaxHandlerBytes) })
}

// Rule: 1.2-id, 1.2-handler, 1.2-fee-payer, 1.2-cell-limit, 1.2-expires-at, 1.2-seq, 1.2-scheduler
// Rule: 1.11-nothing-escrowed, 3.1-returns-id, 6-scheduled
func TestScheduleFillsInDefaults(t *testing.T) {
	f := newFixture(t)
	config := f.config()
	payload := f.pays(alice, bob, 1)
	id := f.schedule(alice, 9, payload, limited(0))
	seq := f.timer(alice, id).Status.Seq
	require.Equal(t, hex.EncodeToString(types.TimerID(alice, 9, payload, seq)), id)

	info := f.timer(alice, id)
	require.Equal(t, types.TimerSpec{Trigger: types.Trigger{Height: 9}, Call: info.Spec.Call}, info.Spec, "as stated")
	require.Equal(t, config.MaxCyclesPerFire, info.Status.GasLimit)
	require.Equal(t, f.Height()+config.MaxTtlBlocks, info.Status.ExpiresAt)
	require.Equal(t, alice.String(), info.Status.FeePayer)
	require.Equal(t, f.Height(), info.Status.ScheduleHeight)
	require.Equal(t, uint64(9), info.Status.Due)
	require.Nil(t, info.Spec.Bid)
	require.Zero(t, info.Status.FireSeq)
	require.Len(t, info.Spec.Call.Messages, 1)

	scheduled := only[*types.TimerScheduled](f, f.NextBlock())
	require.Equal(t, types.TimerScheduled{
		Id: id, Actor: alice.String(), Due: 9, ExpiresAt: info.Status.ExpiresAt, GasLimit: info.Status.GasLimit, CellLimit: config.DefaultCellLimit, Seq: seq, FeePayer: alice.String(),
		Tier: types.TimerTierNear,
	}, *scheduled)
	require.Equal(t, int64(rich), f.balance(alice), "nothing is escrowed")
}

func TestEveryTimerHasAnIDOfItsOwn(t *testing.T) {
	f := newFixture(t)
	payload := f.pays(alice, bob, 1)
	one, two := f.schedule(alice, 9, payload), f.schedule(alice, 9, payload)
	require.NotEqual(t, one, two)
	f.run(&types.MsgCancelTimer{Sender: alice.String(), Id: two})
	require.NotEqual(t, two, f.schedule(alice, 9, payload), "an id does not come back")
}

// Rule: 1.8-price-ignored, 1.8-bid-stored
func TestBidsAreKeptAndPriceIgnoredUnderFIFO(t *testing.T) {
	f := newFixture(t)
	static := &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyNewDec(2)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyZeroDec())}}
	for _, tc := range []struct{ stated, kept *types.Bid }{
		{static, static},
		{&types.Bid{Tier: types.TierUrgent}, &types.Bid{Tier: types.TierUrgent}},
		{&types.Bid{Tier: types.TierEconomy}, &types.Bid{Tier: types.TierEconomy}},
		{&types.Bid{Price: "1000000000000"}, nil},
		{&types.Bid{Price: "0"}, nil},
		{&types.Bid{}, nil},
	} {
		id := f.schedule(robot, 3, f.noop(), func(msg *types.MsgScheduleTimer) { msg.Spec.Bid = tc.stated })
		require.Equal(t, tc.kept, f.timer(robot, id).Spec.Bid)
	}
	// All pay the same, whatever they stated: policy fifo has one price.
	for _, fired := range eventsOf[*types.TimerFired](f, f.blocksUntil(3)) {
		require.True(t, fired.Success)
		require.Equal(t, "20", fired.Paid)
		require.Equal(t, "0", fired.Tip)
	}
}

// Rule: 1.3-payload-convention, 1.3-handler-conflict, 1.3-other-payloads, 3.1-payload-errors
func TestPayloadConvention(t *testing.T) {
	f := newFixture(t)
	wrap := func(handler, payload string) []byte {
		encoded := base64.StdEncoding.EncodeToString([]byte(payload))
		return fmt.Appendf(nil, `{"_handler": %q, "_payload": %q}`, handler, encoded)
	}
	var delivered []types.Delivery
	inner := f.script(func(_ sdk.Context, delivery types.Delivery) error {
		delivered = append(delivered, delivery)
		return nil
	})
	wrapped := f.schedule(robot, 3, wrap("other", string(inner)))
	plain := f.schedule(robot, 3, nil, func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Handler, msg.Spec.Call.Payload = "stated", inner })
	info := f.timer(robot, wrapped)
	require.Equal(t, "other", info.Spec.Call.Handler)
	require.Equal(t, inner, info.Spec.Call.Payload)
	require.Equal(t, hex.EncodeToString(types.TimerID(robot, 3, inner, info.Status.Seq)), wrapped, "the id is over what is delivered")

	conflict := func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Handler = "other" }
	f.refused(types.ErrHandlerConflict, scheduleMsg(robot, 3, wrap("other", "x"), conflict))
	f.refused(types.ErrHandlerTooLong, scheduleMsg(robot, 3, wrap(strings.Repeat("h", types.MaxHandlerBytes+1), "x")))
	f.refused(types.ErrInvalidHandler, scheduleMsg(alice, 3, wrap("other", string(f.pays(alice, bob, 1)))))

	f.blocksUntil(3)
	require.Len(t, delivered, 2)
	require.Equal(t, "other", delivered[0].Handler)
	require.Equal(t, inner, delivered[0].Payload)
	require.Equal(t, wrapped, hex.EncodeToString(delivered[0].TimerID))
	require.Equal(t, plain, hex.EncodeToString(delivered[1].TimerID))
	require.Equal(t, "stated", delivered[1].Handler)

	near := []byte(`{"_handler":"a","_payload":"not base64!"}`)
	id := f.schedule(robot, f.Height()+5, near)
	require.Equal(t, near, f.timer(robot, id).Spec.Call.Payload, "what is not the convention is delivered as it is")
}

// Rule: 3-cost, 3-payload-cost
func TestScheduleCostsItsCyclesAndACellPerPayloadByte(t *testing.T) {
	cost := func(scheduleCycles uint64, bytes int) uint64 {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.ScheduleCycles = scheduleCycles }))
		// A first timer, so that both runs write to an actor's page that exists.
		f.schedule(robot, 9, nil)
		return f.run(scheduleMsg(robot, 9, make([]byte, bytes)))
	}
	// 1,000 and 1,777 are written in as many bytes, so that reading the config costs the same.
	require.Equal(t, uint64(777), cost(1_777, 100)-cost(1_000, 100), "SCHEDULE_CYCLES")

	// Both payloads lie apart and their lengths take as many bytes, so that the store charges its 30 a byte for the
	// difference; the module charges as much again.
	perByte := cost(1_000, 3_000) - cost(1_000, 2_000)
	require.Equal(t, uint64(1_000*(30+30)), perByte)
}

// Rule: 3-cost, 3-payload-cost, 3-cancel-cost
func TestUpdateExtendAndCancelCostTheirCycles(t *testing.T) {
	cost := func(change func(*types.TimerConfig), msg func(id string) sdk.Msg) uint64 {
		f := newFixture(t, withConfig(change))
		id := f.schedule(robot, 9, make([]byte, 2_000))
		return f.run(msg(id))
	}
	dearSchedule := func(c *types.TimerConfig) { c.ScheduleCycles += 777 }
	dearCancel := func(c *types.TimerConfig) { c.CancelCycles += 333 }
	same := func(*types.TimerConfig) {}
	for name, tc := range map[string]struct {
		msg              func(id string) sdk.Msg
		schedule, cancel uint64
	}{
		"update": {func(id string) sdk.Msg {
			return &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: 100_000}, Fields: []string{"gas_limit"}}
		}, 777, 0},
		"extend": {func(id string) sdk.Msg {
			return &types.MsgExtendTimer{Sender: robot.String(), Id: id, ExpiresAt: 500}
		}, 777, 0},
		"cancel": {func(id string) sdk.Msg { return &types.MsgCancelTimer{Sender: robot.String(), Id: id} }, 0, 333},
		"pause":  {func(id string) sdk.Msg { return &types.MsgPauseTimer{Sender: robot.String(), Id: id} }, 777, 0},
		"set agent": {func(string) sdk.Msg {
			return &types.MsgSetAgent{Sender: robot.String()}
		}, 777, 0},
		"sys cancel": {func(id string) sdk.Msg {
			return &types.MsgSysCancelTimer{Authority: authority, Actor: robot.String(), Id: id}
		}, 0, 333},
	} {
		base := cost(same, tc.msg)
		require.Equal(t, tc.schedule, cost(dearSchedule, tc.msg)-base, name)
		require.Equal(t, tc.cancel, cost(dearCancel, tc.msg)-base, name)
	}
	resumed := func(change func(*types.TimerConfig)) uint64 {
		f := newFixture(t, withConfig(change))
		id := f.schedule(robot, 9, nil)
		f.run(&types.MsgPauseTimer{Sender: robot.String(), Id: id})
		return f.run(&types.MsgResumeTimer{Sender: robot.String(), Id: id})
	}
	require.Equal(t, uint64(777), resumed(dearSchedule)-resumed(same), "resume")
	update := func(bytes int) func(id string) sdk.Msg {
		return func(id string) sdk.Msg {
			return &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Call: types.TimerCall{Payload: make([]byte, bytes)}}, Fields: []string{"call"}}
		}
	}
	require.Equal(t, uint64(1_000*(30+30)), cost(same, update(3_100))-cost(same, update(2_100)), "a cell per byte of a new payload")
}

var authority = authtypes.NewModuleAddress("gov").String()

// Rule: 3-transaction-undone
func TestAFailedTransactionUndoesEverything(t *testing.T) {
	f := newFixture(t)
	kept := f.schedule(alice, 50, f.pays(alice, bob, 1))
	before := f.timer(alice, kept)
	f.NextBlock()
	f.refused(types.ErrTimerNotFound,
		scheduleMsg(alice, 60, f.pays(alice, bob, 2)),
		&types.MsgUpdateTimer{Sender: alice.String(), Id: kept, Spec: types.TimerSpec{GasLimit: 100_000}, Fields: []string{"gas_limit"}},
		&types.MsgExtendTimer{Sender: alice.String(), Id: kept, ExpiresAt: 70},
		&types.MsgCancelTimer{Sender: alice.String(), Id: kept},
		&types.MsgCancelTimer{Sender: alice.String(), Id: kept},
	)
	require.Equal(t, before, f.timer(alice, kept))
	require.Equal(t, uint32(1), f.total(alice))
	require.Equal(t, before.Status.Seq+1, f.timer(alice, f.schedule(alice, 60, f.pays(alice, bob, 2))).Status.Seq, "the number was not used up")
}

// Rule: 1.12-delivery-content, 1.12-handlers-are-told, 3-modules-same-checks
func TestAModuleSchedulesThroughTheHostAPI(t *testing.T) {
	f := newFixture(t)
	oracle := authtypes.NewModuleAddress("oracle")
	var got types.Delivery
	f.Modules.Register("oracle", types.DefaultHandler, func(_ context.Context, delivery types.Delivery) error {
		got = delivery
		return nil
	})
	f.grant(alice, oracle, unlimited())
	request := keeper.ScheduleRequest{
		Actor: oracle, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 3}, Call: types.TimerCall{Payload: []byte("tick")}, FeePayer: alice.String(), GasLimit: gas},
	}
	timer, err := f.Timers.Schedule(f.Ctx(), request)
	require.NoError(t, err)
	unknown := request
	unknown.Spec.Call.Handler = "none such"
	_, err = f.Timers.Schedule(f.Ctx(), unknown)
	require.ErrorIs(t, err, types.ErrInvalidHandler)

	fired := only[*types.TimerFired](f, f.blocksUntil(3))
	require.True(t, fired.Success)
	require.Equal(t, alice.String(), fired.Payer)
	require.Equal(t, types.Delivery{
		Call:    types.Call{Actor: oracle, Handler: types.DefaultHandler, Payload: []byte("tick")},
		TimerID: timer.Id, DeliverID: got.DeliverID, Height: 3, Due: 3, Trigger: "height",
	}, got)
	require.Equal(t, hex.EncodeToString(got.DeliverID), fired.DeliverId)
}

// Rule: 1.12-deliver-id
func TestDeliverIDNamesHeightParentTimerAndFire(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 4, f.noop())
	f.blocksUntil(3)
	parent := f.AppHash()
	timerID, err := hex.DecodeString(id)
	require.NoError(t, err)
	fired := only[*types.TimerFired](f, f.blocksUntil(4))
	require.Equal(t, hex.EncodeToString(types.DeliverID(4, parent, timerID, 0)), fired.DeliverId)
}
