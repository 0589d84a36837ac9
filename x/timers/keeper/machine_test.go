package keeper_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// machine drives the chain and the model side by side.
type machine struct {
	*fixture
	model  *model
	actors []sdk.AccAddress
	// ids of every timer that ever was.
	ids []string
}

// TestLaneMatchesTheModel runs random histories of messages, config changes, funds and faults on the chain and
// on the model, and compares what every message answers and what every block does.
//
// Rule: 1.4-retries-counted, 1.5-failed-handler-changes-nothing, 2.2-one-record
func TestLaneMatchesTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		for range rapid.IntRange(3, 25).Draw(t, "blocks") {
			for range rapid.IntRange(0, 6).Draw(t, "ops") {
				m.op(t)
			}
			m.block()
		}
	})
}

func newMachine(t testingT) *machine {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) {
		c.LaneTimerCycles, c.MaxCyclesPerFire = 200_000, 100_000
		lab.SetRemovals(c, removalsPerBlock)
		c.MaxTtlBlocks, c.MaxTimersPerActor = 12, 20
	}))
	m := &machine{fixture: f, actors: []sdk.AccAddress{robot, robot2, sdk.AccAddress("robot_and_poor______")}}
	m.fund(m.actors[2], 150_000)
	m.model = &model{height: f.Height(), nextSeq: 1, config: f.config(), balances: map[string]int64{}}
	for _, actor := range m.actors {
		m.model.balances[string(actor)] = f.balance(actor)
	}
	for payload, handler := range modelHandlers {
		f.robots.scripts[payload] = func(ctx sdk.Context, d types.Delivery) error {
			ctx.GasMeter().ConsumeGas(handler.cycles, "model")
			if payload == "respawns" {
				m.respawn(ctx, d)
			}
			m.actOnItself(ctx, d, payload)
			if handler.fails {
				return types.ErrInvalidPayload
			}
			return nil
		}
	}
	return m
}

// respawn schedules from inside a handler, on a meter of its own, so that the model need not know what stores charge.
func (m *machine) respawn(ctx sdk.Context, d types.Delivery) {
	_, err := m.Timers.Schedule(ctx.WithGasMeter(storetypes.NewInfiniteGasMeter()), keeper.ScheduleRequest{
		Actor: d.Actor, Spec: types.TimerSpec{Trigger: types.Trigger{Height: d.Height + 2}, Call: types.TimerCall{Payload: []byte("idle")}, GasLimit: 40_000},
	})
	_ = err // refused by the limits that the model knows too
}

// op does one random thing to both, which must agree on whether it may be done.
func (m *machine) op(t *rapid.T) {
	actor := rapid.SampledFrom(m.actors).Draw(t, "actor")
	switch rapid.SampledFrom([]string{
		"schedule", "schedule", "schedule", "repeat", "repeat", "update", "extend", "cancel", "pause", "resume",
		"sys cancel", "sys extend", "config", "spend", "fund",
	}).Draw(t, "op") {
	case "schedule":
		m.scheduleOp(t, actor)
	case "repeat":
		m.repeatOp(t, actor)
	case "pause":
		id := m.anyID(t)
		m.agree(m.model.pause(actor, id), &types.MsgPauseTimer{Sender: actor.String(), Id: id})
	case "resume":
		id := m.anyID(t)
		m.agree(m.model.resume(actor, id), &types.MsgResumeTimer{Sender: actor.String(), Id: id})
	case "update":
		id, gasLimit := m.anyID(t), m.anyGas(t)
		m.agree(m.model.update(actor, id, gasLimit), &types.MsgUpdateTimer{Sender: actor.String(), Id: id, Spec: types.TimerSpec{GasLimit: gasLimit}, Fields: []string{"gas_limit"}})
	case "extend":
		id, last := m.anyID(t), m.anyLast(t)
		m.agree(m.model.extend(actor, id, last), &types.MsgExtendTimer{Sender: actor.String(), Id: id, ExpiresAt: last})
	case "sys extend":
		id, last := m.anyID(t), m.anyLast(t)
		m.agree(m.model.extend(actor, id, last),
			&types.MsgSysExtendTimer{Authority: m.Authority, Actor: actor.String(), Id: id, ExpiresAt: last})
	case "cancel":
		id := m.anyID(t)
		m.agree(m.model.cancel(actor, id), &types.MsgCancelTimer{Sender: actor.String(), Id: id})
	case "sys cancel":
		id := m.anyID(t)
		_ = m.model.cancel(actor, id) // what is gone already is a success
		m.agree(nil, &types.MsgSysCancelTimer{Authority: m.Authority, Actor: actor.String(), Id: id})
	case "config":
		m.configOp(t)
	case "spend":
		amount := rapid.Int64Range(0, m.model.balances[string(actor)]).Draw(t, "amount")
		if amount > 0 {
			m.model.balances[string(actor)] -= amount
			m.agree(nil, banktypes.NewMsgSend(actor, carol, m.coins(amount)))
		}
	case "fund":
		m.model.balances[string(actor)] += 90_000
		m.fund(actor, 90_000)
	}
}

// agree runs a message, which must answer what the model did.
func (m *machine) agree(want error, msg sdk.Msg) {
	m.t.Helper()
	_, _, err := m.Tx(msg)
	if want == nil {
		require.NoError(m.t, err)
		return
	}
	require.ErrorIs(m.t, err, want)
}

func (m *machine) anyID(t *rapid.T) string {
	if len(m.ids) == 0 {
		return hex.EncodeToString(make([]byte, types.IDBytes))
	}
	// Of late, so that most are there.
	from := max(0, len(m.ids)-15)
	return m.ids[rapid.IntRange(from, len(m.ids)-1).Draw(t, "id")]
}

func (m *machine) anyGas(t *rapid.T) uint64 {
	return rapid.SampledFrom([]uint64{39_999, 40_000, 60_000, 80_000, 100_000, 100_001}).Draw(t, "gas")
}

func (m *machine) anyLast(t *rapid.T) uint64 {
	return rapid.OneOf(
		rapid.Uint64Range(max(m.Height(), 2)-2, m.Height()+13), rapid.SampledFrom([]uint64{0, 1, largest}),
	).Draw(t, "last height")
}

func (m *machine) scheduleOp(t *rapid.T, actor sdk.AccAddress) {
	payload := rapid.SampledFrom([]string{"idle", "works", "toils", "fails", "respawns"}).Draw(t, "payload")
	due := rapid.OneOf(
		rapid.Uint64Range(m.Height()+1, m.Height()+3), rapid.Uint64Range(m.Height()-1, m.Height()+13),
		rapid.SampledFrom([]uint64{0, 1, largest}),
	).Draw(t, "due")
	last, gasLimit := m.anyLast(t), m.anyGas(t)
	timer, want := m.model.schedule(actor, payload, due, last, gasLimit)
	results, _, err := m.Tx(scheduleMsg(actor, due, []byte(payload), limited(gasLimit), expiring(last)))
	if want != nil {
		require.ErrorIs(m.t, err, want)
		return
	}
	require.NoError(m.t, err)
	var response types.MsgScheduleTimerResponse
	require.NoError(m.t, m.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	timer.id = response.Id
	m.ids = append(m.ids, response.Id)
}

func (m *machine) configOp(t *rapid.T) {
	next := m.model.config
	switch rapid.IntRange(0, 4).Draw(t, "parameter") {
	case 0:
		next.LanePaused = !next.LanePaused
	case 1:
		next.MaxCyclesPerFire = rapid.SampledFrom([]uint64{50_000, 70_000, 100_000}).Draw(t, "cap")
	case 2:
		next.MaxFiresPerBlock = rapid.SampledFrom([]uint32{0, 1, 3}).Draw(t, "fires")
	case 3:
		next.MaxFiresPerActor = rapid.SampledFrom([]uint32{0, 1}).Draw(t, "fires of an actor")
	case 4:
		next.CycleBasefee = decimal.Of(math.LegacyNewDec(rapid.Int64Range(0, 3).Draw(t, "price")))
	}
	m.model.next = &next
	m.agree(nil, m.replaces(next))
}

// block ends the block on both and compares.
func (m *machine) block() {
	want := m.model.endBlock()
	events := m.NextBlock()
	var got modelBlock
	for _, e := range eventsOf[*types.TimerFired](m.fixture, events) {
		paid, ok := math.NewIntFromString(e.Paid)
		require.True(m.t, ok)
		got.fired = append(got.fired, modelFire{e.Id, e.Success, paid.Int64(), modelNext{e.NextDue, e.FireSeq, e.Retries}})
	}
	for _, e := range eventsOf[*types.TimerExpired](m.fixture, events) {
		got.expired = append(got.expired, e.Id)
	}
	for _, e := range eventsOf[*types.TimerCancelledInsufficientFunds](m.fixture, events) {
		got.unfunded = append(got.unfunded, e.Id)
	}
	for _, e := range eventsOf[*types.TimerHeld](m.fixture, events) {
		if e.Reason == types.Paused {
			continue // by a message or a handler, whose answer or state is compared
		}
		got.onHold = append(got.onHold, e.Id)
	}
	for _, e := range eventsOf[*types.TimerReleased](m.fixture, events) {
		if e.Reason != types.Unrunnable && e.Reason != types.Unfunded {
			continue
		}
		got.release = append(got.release, e.Id)
	}
	for _, release := range [][]string{want.release, got.release} {
		slices.Sort(release)
	}
	require.Equal(m.t, want, got, "block %d", m.model.height)
	m.model.beginBlock()
	m.compareState()
}

// compareState compares every timer and every balance: nothing is lost, nothing is left over.
func (m *machine) compareState() {
	genesis := m.export()
	require.Len(m.t, genesis.Timers, len(m.model.timers))
	all := m.model.inOrder(func(*modelTimer) bool { return true })
	for i, timer := range all {
		got := &genesis.Timers[i]
		if timer.id == "" {
			timer.id = got.IDHex()
			m.ids = append(m.ids, timer.id)
		}
		require.Equal(m.t, *timer, modelTimer{
			id: got.IDHex(), actor: string(got.Actor), payload: string(got.Spec.Call.Payload),
			due: got.Due, seq: got.Seq, gas: got.GasLimit, last: got.ExpiresAt, since: got.Since, onHold: got.HoldReason != types.NotOnHold,
			modelRecurrence: recurrenceOf(got),
		})
	}
	require.Equal(m.t, m.model.nextSeq, genesis.NextSeq)
	for _, actor := range m.actors {
		require.Equal(m.t, m.model.balances[string(actor)], m.balance(actor))
	}
	require.True(m.t, slices.IsSortedFunc(genesis.Receipts, func(a, b types.HeightReceipts) int { return int(a.Height) - int(b.Height) }))
}
