package keeper_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// hostile are handlers that have halted chains.
func hostile() map[string]struct {
	code uint32
	run  script
} {
	type fault = struct {
		code uint32
		run  script
	}
	panics := func(value func()) fault {
		return fault{types.ErrPanicked.ABCICode(), func(sdk.Context, types.Delivery) error {
			value()
			return nil
		}}
	}
	gasPanic := func(value any) fault {
		return fault{types.ErrOutOfCycles.ABCICode(), func(sdk.Context, types.Delivery) error { panic(value) }}
	}
	var list []int
	var mapping map[string]int
	var missing *types.Timer
	return map[string]fault{
		"string":          panics(func() { panic("boom") }),
		"error":           panics(func() { panic(errors.New("boom")) }),
		"number":          panics(func() { panic(42) }),
		"nil":             panics(func() { panic(nil) }), //nolint:govet // the point of the case
		"struct":          panics(func() { panic(struct{ a, b int }{1, 2}) }),
		"index":           panics(func() { _ = list[len(list)] }),
		"nil map":         panics(func() { mapping["a"] = 1 }),
		"nil pointer":     panics(func() { missing.Seq++ }),
		"division":        panics(func() { _ = 1 / len(list) }),
		"conversion":      panics(func() { _ = any("a").(fmt.Stringer) }),
		"negative gas":    panics(func() { panic(storetypes.ErrorNegativeGasConsumed{Descriptor: "x"}) }),
		"foreign gas":     gasPanic(storetypes.ErrorOutOfGas{Descriptor: "x"}),
		"gas overflow":    gasPanic(storetypes.ErrorGasOverflow{Descriptor: "x"}),
		"all gas at once": {types.ErrOutOfCycles.ABCICode(), consume(^uint64(0))},
		"a bit too much":  {types.ErrOutOfCycles.ABCICode(), consume(gas - 20_000 + 1)},
		"endless loop": {types.ErrOutOfCycles.ABCICode(), func(ctx sdk.Context, _ types.Delivery) error {
			for {
				ctx.GasMeter().ConsumeGas(1, "loop")
			}
		}},
		"refunds more than it used": {types.ErrPanicked.ABCICode(), func(ctx sdk.Context, _ types.Delivery) error {
			ctx.GasMeter().RefundGas(1, "theft")
			return nil
		}},
		"hides that it ran out": {types.ErrOutOfCycles.ABCICode(), func(ctx sdk.Context, _ types.Delivery) error {
			defer func() { _ = recover() }()
			ctx.GasMeter().ConsumeGas(gas, "hidden")
			return nil
		}},
		"hides it behind another failure": {types.ErrOutOfCycles.ABCICode(), func(ctx sdk.Context, _ types.Delivery) (err error) {
			defer func() { err = errors.New("something else") }()
			defer func() { _ = recover() }()
			ctx.GasMeter().ConsumeGas(gas, "hidden")
			return nil
		}},
		"writes too much": {types.ErrOutOfCells.ABCICode(), func(ctx sdk.Context, _ types.Delivery) error {
			ctx.GasMeter().ConsumeGas(30*(550_000+1), storetypes.GasWritePerByteDesc)
			return nil
		}},
		"insufficient funds of its own": {types.ErrInsufficientFunds.ABCICode(), func(sdk.Context, types.Delivery) error {
			return types.ErrInsufficientFunds
		}},
		"unregistered error": {1, func(sdk.Context, types.Delivery) error { return errors.New("no code") }},
	}
}

func consume(amount uint64) script {
	return func(ctx sdk.Context, _ types.Delivery) error {
		ctx.GasMeter().ConsumeGas(amount, "test")
		return nil
	}
}

// Rule: 1.1-handler-budget, 5.2-handler-budget, 5.2-branch, 5.5-handler
func TestHandlerErrorsAreIsolated(t *testing.T) {
	for name, fault := range hostile() {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			first := f.schedule(robot, 2, f.noop())
			bad := f.schedule(robot, 2, f.script(fault.run))
			last := f.schedule(robot2, 2, f.noop())
			events := f.blocksUntil(2)
			require.Equal(t, []string{first, bad, last}, f.firedIDs(events))
			fired := eventsOf[*types.TimerFired](f, events)
			require.Equal(t, []bool{true, false, true}, []bool{fired[0].Success, fired[1].Success, fired[2].Success})
			require.Equal(t, fault.code, fired[1].Code)
			require.LessOrEqual(t, fired[1].Cycles, uint64(gas))
			require.Empty(t, eventsOf[*types.TimerLaneFailed](f, events))
			require.Empty(t, eventsOf[*types.TimerHeld](f, events))
			require.Equal(t, uint32(1), eventsOf[*types.TimerLaneSummary](f, events)[1].Failed)
		})
	}
}

func TestTheFirstOfAHundredFailsAndNinetyNineRun(t *testing.T) {
	f := newFixture(t)
	f.schedule(robot, 2, f.script(func(sdk.Context, types.Delivery) error { panic("first") }), limited(40_000))
	ran := 0
	payload := f.script(func(sdk.Context, types.Delivery) error { ran++; return nil })
	for range 99 {
		f.schedule(robot, 2, payload, limited(40_000))
	}
	fired := eventsOf[*types.TimerFired](f, f.blocksUntil(3))
	require.Len(t, fired, 100)
	for i, event := range fired {
		require.Equal(t, i > 0, event.Success, "fire %d", i)
	}
	require.Equal(t, 99, ran)
}

// nested wraps a message into so many MsgExec of its own signer.
func nested(msg sdk.Msg, depth int) sdk.Msg {
	for range depth {
		exec := authz.NewMsgExec(alice, []sdk.Msg{msg})
		msg = &exec
	}
	return msg
}

// Rule: 1.3-account
func TestScheduleRefusesMalformedPayloads(t *testing.T) {
	f := newFixture(t)
	send := banktypes.NewMsgSend(alice, bob, f.coins(1))
	raw := func(anys ...*codectypes.Any) []byte {
		bz, err := (&types.AccountPayload{Messages: anys}).Marshal()
		require.NoError(t, err)
		return bz
	}
	good, err := codectypes.NewAnyWithValue(send)
	require.NoError(t, err)
	wide := make([]sdk.Msg, 129)
	for i := range wide {
		wide[i] = send
	}
	for name, payload := range map[string][]byte{
		"empty":               {},
		"garbage":             []byte("\x00\x01\x02"),
		"no messages":         raw(),
		"empty message":       raw(&codectypes.Any{}),
		"empty among good":    raw(good, &codectypes.Any{}),
		"unknown type":        raw(&codectypes.Any{TypeUrl: "/none.such.Msg"}),
		"not a message":       raw(&codectypes.Any{TypeUrl: "/cosmos.auth.v1beta1.BaseAccount"}),
		"garbage in message":  raw(&codectypes.Any{TypeUrl: good.TypeUrl, Value: []byte("garbage")}),
		"unsigned message":    raw(&codectypes.Any{TypeUrl: good.TypeUrl}),
		"truncated":           raw(good)[:20],
		"unknown field":       append(raw(good), 0x98, 0x06, 0x01),
		"too many messages":   f.payload(wide...),
		"nested too deep":     f.payload(nested(send, 4)),
		"nested deeper still": f.payload(nested(send, 9)),
	} {
		_, _, err := f.Tx(scheduleMsg(alice, 9, payload))
		require.ErrorIs(t, err, types.ErrInvalidPayload, name)
	}
	// What the registry itself can't unpack is refused as well.
	_, _, err = f.Tx(scheduleMsg(alice, 9, f.payload(nested(send, 60))))
	require.ErrorIs(t, err, types.ErrInvalidPayload)
	require.Zero(t, f.total(alice))
	f.schedule(alice, 9, f.payload(nested(send, 3)))
}

func TestGarbageThatReachesAFireFailsThatFire(t *testing.T) {
	// Genesis does not ask runtimes: a chain may bring timers that no runtime would accept today.
	timer := func(seq uint64, actor sdk.AccAddress, payload []byte) types.Timer {
		return types.Timer{
			Id: types.TimerID(actor, 2, payload, seq), Actor: actor,
			GasLimit: gas, ExpiresAt: ^uint64(0), Seq: seq, Due: 2,
			Spec: types.TimerSpec{Trigger: types.Trigger{Height: 2}, Call: types.TimerCall{Payload: payload}},
		}
	}
	genesis := types.DefaultGenesis()
	stranger := sdk.AccAddress("stranger____________")
	genesis.Timers = []types.Timer{
		timer(1, alice, []byte("garbage")), timer(2, alice, nil), timer(3, alice, []byte("\x0a\x00")), timer(4, robot, nil),
	}
	gone := timer(5, stranger, nil)
	gone.FeePayer, gone.Spec.FeePayer = bob, bob.String()
	genesis.Timers = append(genesis.Timers, gone)
	genesis.NextSeq = 6
	f := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis = genesis })
	f.grant(bob, stranger, unlimited())
	// The grant has made an account for its grantee.
	f.Accounts.RemoveAccount(f.Ctx(), f.Accounts.GetAccount(f.Ctx(), stranger))
	fired := eventsOf[*types.TimerFired](f, f.blocksUntil(2))
	require.Len(t, fired, 5)
	for _, event := range fired[:4] {
		require.False(t, event.Success)
		require.Equal(t, types.ErrInvalidPayload.ABCICode(), event.Code)
	}
	require.Equal(t, types.ErrActorGone.ABCICode(), fired[4].Code)
}

// Rule: 1.5-own-next-state, 5.2-moved-before-running
func TestAHandlerFindsItsOwnTimerGone(t *testing.T) {
	f := newFixture(t)
	var cancelled, updated, extended error
	payload := f.script(func(ctx sdk.Context, d types.Delivery) error {
		cancelled = f.Timers.Cancel(ctx, robot, d.TimerID)
		_, updated = f.Timers.Update(ctx, keeper.UpdateRequest{Actor: robot, ID: d.TimerID, Spec: types.TimerSpec{GasLimit: gas}, Fields: []string{"gas_limit"}})
		_, extended = f.Timers.Extend(ctx, robot, d.TimerID, keeper.End{Height: 99})
		return nil
	})
	f.schedule(robot, 2, payload, limited(400_000))
	require.True(t, only[*types.TimerFired](f, f.blocksUntil(2)).Success)
	for _, err := range []error{cancelled, updated, extended} {
		require.ErrorIs(t, err, types.ErrTimerNotFound)
	}
	require.Zero(t, f.total(robot))
}

// Rule: 1.4-not-in-its-block, 5.2-handler-changes-others
func TestAHandlerSchedulesForLaterBlocksOnly(t *testing.T) {
	f := newFixture(t)
	var sameBlock error
	var next types.Timer
	request := keeper.ScheduleRequest{Actor: robot, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 2}, Call: types.TimerCall{Payload: f.noop()}, GasLimit: gas}}
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) (err error) {
		_, sameBlock = f.Timers.Schedule(ctx, request)
		request.Spec.Trigger.Height = 3
		next, err = f.Timers.Schedule(ctx, request)
		return err
	})
	f.schedule(robot, 2, payload, limited(400_000))
	require.Len(t, f.firedIDs(f.blocksUntil(2)), 1)
	require.ErrorIs(t, sameBlock, types.ErrHeightNotInFuture)
	require.Equal(t, []string{next.IDHex()}, f.firedIDs(f.blocksUntil(3)))
}

// Rule: 5.2-handler-changes-others
func TestAHandlerChangesTheTimersAfterIt(t *testing.T) {
	f := newFixture(t)
	var cancel, update, extend, expire types.Timer
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		_, updateErr := f.Timers.Update(ctx, keeper.UpdateRequest{Actor: robot, ID: update.Id, Spec: types.TimerSpec{GasLimit: 60_000}, Fields: []string{"gas_limit"}})
		_, extendErr := f.Timers.Extend(ctx, robot, extend.Id, keeper.End{Height: 50})
		return errors.Join(f.Timers.Cancel(ctx, robot, cancel.Id), updateErr, extendErr)
	})
	first := f.schedule(robot, 2, payload, limited(400_000))
	for _, timer := range []*types.Timer{&cancel, &update, &extend, &expire} {
		var err error
		*timer, err = f.Timers.Schedule(f.Ctx(), keeper.ScheduleRequest{
			Actor: robot, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 2}, Call: types.TimerCall{Payload: f.noop()}, GasLimit: gas},
		})
		require.NoError(t, err)
	}
	events := f.blocksUntil(2)
	require.Equal(t, []string{first, extend.IDHex(), expire.IDHex()}, f.firedIDs(events), "the updated one went to the back")
	require.True(t, eventsOf[*types.TimerFired](f, events)[0].Success)
	require.Equal(t, []string{update.IDHex()}, f.firedIDs(f.blocksUntil(3)))
	require.Zero(t, f.total(robot))
}

func TestAFailedHandlerUndoesWhatItDidToOtherTimers(t *testing.T) {
	f := newFixture(t)
	var victim types.Timer
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		if err := f.Timers.Cancel(ctx, robot, victim.Id); err != nil {
			return err
		}
		panic("after all")
	})
	first := f.schedule(robot, 2, payload)
	victim, err := f.Timers.Schedule(f.Ctx(), keeper.ScheduleRequest{
		Actor: robot, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 2}, Call: types.TimerCall{Payload: f.noop()}, GasLimit: gas},
	})
	require.NoError(t, err)
	events := f.blocksUntil(2)
	require.Equal(t, []string{first, victim.IDHex()}, f.firedIDs(events))
	require.Empty(t, eventsOf[*types.TimerCancelled](f, events))
}

// Rule: 5.2-no-reentry
func TestTimersCannotRunTimers(t *testing.T) {
	f := newFixture(t)
	var inner error
	payload := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		branch, _ := ctx.CacheContext()
		inner = f.Timers.EndBlock(branch)
		return f.Timers.EndBlock(ctx)
	})
	f.schedule(robot, 2, payload)
	second := f.schedule(robot, 2, f.noop())
	events := f.blocksUntil(2)
	fired := eventsOf[*types.TimerFired](f, events)
	require.Len(t, fired, 2)
	require.Equal(t, types.ErrReentered.ABCICode(), fired[0].Code)
	require.ErrorIs(t, inner, types.ErrReentered)
	require.Equal(t, second, fired[1].Id)
}

// Rule: 5.2-fired-and-receipt
func TestAReceiptIsWrittenAfterItsFire(t *testing.T) {
	f := newFixture(t)
	receipts := func(ctx sdk.Context) int {
		response, err := f.query().Receipts(ctx, &types.QueryReceiptsRequest{Height: 2})
		require.NoError(t, err)
		return len(response.Receipts)
	}
	during := -1
	f.schedule(robot, 2, f.script(func(ctx sdk.Context, _ types.Delivery) error {
		during = receipts(ctx.WithGasMeter(storetypes.NewInfiniteGasMeter()))
		return nil
	}))
	f.blocksUntil(2)
	require.Zero(t, during, "nothing says that it fired before it has")
	require.Equal(t, 1, receipts(f.Ctx()))
}
