package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The admin of a contract, who could migrate it, schedules calls of its sudo and pays for them. Listener has the entry
// points of a clock contract and of a callback contract, and knows nothing of timers.

// listening is a chain with a listener, whose admin alice is.
type listening struct {
	*appchain.Chain
	t        *testing.T
	contract sdk.AccAddress
	code     uint64
}

func newListening(t *testing.T, names ...string) *listening {
	t.Helper()
	c := appchain.NewUnder(t, inOrder, append([]string{"alice"}, names...)...)
	code := c.StoreCode("alice", contracts.Listener)
	return &listening{c, t, c.InstantiateWithAdmin("alice", code, `{}`, 1_000_000, address("alice")), code}
}

// call is a timer of the contract's that calls a handler in the block after the one that schedules it.
func (l *listening) call(sender, handler, payload string) *types.MsgScheduleTimer {
	return &types.MsgScheduleTimer{
		Sender: address(sender), Actor: l.contract.String(), Spec: types.TimerSpec{
			Trigger: types.Trigger{After: 1}, Call: types.TimerCall{Handler: handler, Payload: []byte(payload)},
			GasLimit: 200_000,
		},
	}
}

// heard is what the listener says that it was told.
type heard struct {
	Ticks int `json:"ticks"`
	Job   int `json:"job"`
	Last  struct {
		Delivery struct {
			Scheduler string `json:"scheduler"`
		} `json:"handle_timer"`
	} `json:"last"`
}

func (l *listening) heard() (h heard) {
	l.t.Helper()
	l.QueryContract(l.contract, `{"heard":{}}`, &h)
	return h
}

// try runs a block with one message and requires the error, or none.
func (l *listening) try(name string, want *errorsmod.Error, msg sdk.Msg) *abci.ExecTxResult {
	l.t.Helper()
	result := l.NextBlock(l.Sign(name, msg)).TxResults[0]
	if want == nil {
		require.Zero(l.t, result.Code, result.Log)
		return result
	}
	codespace, code := codeOf(want)
	require.Equal(l.t, [2]any{codespace, code}, [2]any{result.Codespace, result.Code}, result.Log)
	return result
}

func (l *listening) id() string {
	l.t.Helper()
	timers := timersOf(l.t, l.Chain, l.contract)
	require.Len(l.t, timers, 1)
	return timers[0].Id
}

// A clock contract is ticked every other block, by an interval that its admin scheduled.
//
// Rule: 1.2-scheduler, 1.2-fee-payer, 1.3-schedules-for-itself, 1.3-admin-calls-sudo, 1.3-scheduler-pays-and-changes
// Rule: 1.11-payer
func TestAClockContractIsTickedForItsAdmin(t *testing.T) {
	l := newListening(t)
	clock := l.call("alice", "clock_end_block", `{}`)
	clock.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 2}}
	alices, its := appchain.AccountOf("alice").Address, l.Balance(l.contract)
	l.Deliver("alice", clock)
	info := timersOf(t, l.Chain, l.contract)[0]
	require.Equal(t, [2]string{address("alice"), address("alice")}, [2]string{info.Scheduler, info.Status.FeePayer})
	for i := 1; i <= 3; i++ {
		before := l.Balance(alices)
		l.NextBlock()
		block := l.NextBlock()
		fired := appchain.Events(block, "timers.v1.TimerFired")
		require.Len(t, fired, 1)
		require.Equal(t, "true", fired[0]["success"], fired[0])
		require.Equal(t, address("alice"), fired[0]["payer"])
		require.Equal(t, before.SubRaw(number(t, fired[0]["paid"])), l.Balance(alices), "the admin pays")
		require.Equal(t, i, l.heard().Ticks)
	}
	require.Equal(t, its, l.Balance(l.contract), "the contract never does")
	l.Replay()
}

// A callback contract is called back once, at a height that its admin chose; one that fails is paid and left.
func TestACallbackContractIsCalledBackForItsAdmin(t *testing.T) {
	l := newListening(t)
	for job, success := range map[int]string{1: "true", 0: "false"} {
		l.Deliver("alice", l.call("alice", "callback", fmt.Sprintf(`{"job_id":%d}`, job)))
		fired := appchain.Events(l.NextBlock(), "timers.v1.TimerFired")
		require.Len(t, fired, 1)
		require.Equal(t, success, fired[0]["success"], fired[0])
		require.NotEqual(t, "0", fired[0]["paid"])
		require.Empty(t, timersOf(t, l.Chain, l.contract))
	}
	require.Equal(t, 1, l.heard().Job)
}

// Rule: 1.3-delivery-names-scheduler, 6-scheduled
func TestTheDeliveryNamesTheScheduler(t *testing.T) {
	l := newListening(t)
	block := l.Deliver("alice", l.call("alice", "", "beat"))
	var scheduled string
	for _, event := range block.TxResults[0].Events {
		if event.Type == "timers.v1.TimerScheduled" {
			for _, attribute := range event.Attributes {
				if attribute.Key == "scheduler" {
					scheduled = attribute.Value
				}
			}
		}
	}
	require.Equal(t, fmt.Sprintf("%q", address("alice")), scheduled)
	l.NextBlock()
	require.Equal(t, address("alice"), l.heard().Last.Delivery.Scheduler)
}

// Rule: 1.3-schedules-for-itself, 1.3-admin-calls-sudo, 1.11-payer, 3.1-returns-id, 3.1-admin-errors
func TestAnAdminSchedulesCallsAlone(t *testing.T) {
	l := newListening(t, "bob")
	change := func(change func(*types.MsgScheduleTimer)) *types.MsgScheduleTimer {
		msg := l.call("alice", "clock_end_block", `{}`)
		change(msg)
		return msg
	}
	l.try("bob", types.ErrNotAdmin, l.call("bob", "clock_end_block", `{}`))
	l.try("alice", types.ErrNotAdmin, change(func(m *types.MsgScheduleTimer) { m.Actor = address("bob") }))
	l.try("alice", types.ErrForeignSigner, change(func(m *types.MsgScheduleTimer) {
		m.Spec.Call.Handler, m.Spec.Call.Payload, m.Spec.Call.Messages = "", nil, packed(t, ownSend(l.contract))
	}))
	l.try("alice", types.ErrInvalidFeePayer, change(func(m *types.MsgScheduleTimer) { m.Spec.FeePayer = l.contract.String() }))
	l.try("alice", types.ErrInvalidFeePayer, change(func(m *types.MsgScheduleTimer) { m.Spec.FeePayer = address("bob") }))
	l.try("alice", types.ErrNotAdmin, change(func(m *types.MsgScheduleTimer) { m.Actor = sdk.AccAddress("nobody______________").String() }))

	// Messages encoded as a payload are a payload.
	encoded, err := (&types.AccountPayload{Messages: packed(t, ownSend(l.contract))}).Marshal()
	require.NoError(t, err)
	bobs := l.Balance(appchain.AccountOf("bob").Address)
	l.try("alice", nil, change(func(m *types.MsgScheduleTimer) { m.Spec.Call.Handler, m.Spec.Call.Payload = "", encoded }))
	l.NextBlock()
	require.Equal(t, bobs, l.Balance(appchain.AccountOf("bob").Address))
	l.try("alice", nil, change(func(m *types.MsgScheduleTimer) { m.Spec.Trigger = types.Trigger{After: 50} }))
	l.try("alice", types.ErrForeignSigner, &types.MsgUpdateTimer{
		Sender: address("alice"), Actor: l.contract.String(), Id: l.id(), Spec: types.TimerSpec{Call: types.TimerCall{Messages: packed(t, ownSend(l.contract))}}, Fields: []string{"call"},
	})
	// Code without sudo.
	without := l.InstantiateWithAdmin("alice", l.StoreCode("alice", wasmdata.ReflectContractWasm()), `{}`, 0, address("alice"))
	l.try("alice", types.ErrInvalidHandler, change(func(m *types.MsgScheduleTimer) { m.Actor = without.String() }))
}

// Who scheduled a timer alone changes it. The contract may cancel it, and so may who scheduled it; then it is gone for both.
//
// Rule: 1.3-admin-names-contract, 1.3-scheduler-pays-and-changes, 1.3-both-cancel, 1.5-leaves-by-cancellation
// Rule: 3.1-same-actor, 3.2-errors, 3.3-errors, 3.4-pause-errors, 3.5-contract-or-scheduler, 3.5-errors
func TestBothTheContractAndItsAdminCancel(t *testing.T) {
	l := newListening(t, "bob")
	later := l.call("alice", "clock_end_block", `{}`)
	later.Spec.Trigger = types.Trigger{After: 100}
	contract := l.contract.String()
	cancel := func(sender, id string) *types.MsgCancelTimer {
		return &types.MsgCancelTimer{Sender: address(sender), Actor: contract, Id: id}
	}
	l.Deliver("alice", later)
	id := l.id()
	l.try("bob", types.ErrNotScheduler, cancel("bob", id))
	l.try("bob", types.ErrNotScheduler, &types.MsgUpdateTimer{Sender: address("bob"), Actor: contract, Id: id, Spec: types.TimerSpec{GasLimit: 99_000}, Fields: []string{"gas_limit"}})
	l.try("bob", types.ErrNotScheduler, &types.MsgPauseTimer{Sender: address("bob"), Actor: contract, Id: id})
	l.try("alice", types.ErrTimerNotFound, &types.MsgCancelTimer{Sender: address("alice"), Id: id})
	l.try("alice", nil, &types.MsgUpdateTimer{Sender: address("alice"), Actor: contract, Id: id, Spec: types.TimerSpec{GasLimit: 99_000}, Fields: []string{"gas_limit"}})
	expires := uint64(l.App.LastBlockHeight()) + 200
	l.try("alice", nil, &types.MsgExtendTimer{Sender: address("alice"), Actor: contract, Id: id, ExpiresAt: expires})
	l.try("alice", nil, &types.MsgPauseTimer{Sender: address("alice"), Actor: contract, Id: id})
	l.try("alice", nil, &types.MsgResumeTimer{Sender: address("alice"), Actor: contract, Id: id})
	info := timersOf(t, l.Chain, l.contract)[0]
	require.Equal(t, [2]uint64{99_000, expires}, [2]uint64{info.Status.GasLimit, info.Status.ExpiresAt})

	// The contract cancels, and the admin comes too late.
	result := l.Execute("bob", l.contract, fmt.Sprintf(`{"cancel":{"id":%q}}`, id))
	require.Zero(t, result.Code, result.Log)
	require.Empty(t, timersOf(t, l.Chain, l.contract))
	l.try("alice", types.ErrTimerNotFound, cancel("alice", id))
	// The admin cancels, even one that is the admin no more, and the contract comes too late.
	l.Deliver("alice", later)
	id = l.id()
	l.try("alice", nil, &wasmtypes.MsgClearAdmin{Sender: address("alice"), Contract: contract})
	l.try("alice", types.ErrNotAdmin, &types.MsgUpdateTimer{Sender: address("alice"), Actor: contract, Id: id, Spec: types.TimerSpec{GasLimit: 98_000}, Fields: []string{"gas_limit"}})
	l.try("alice", types.ErrNotAdmin, &types.MsgExtendTimer{Sender: address("alice"), Actor: contract, Id: id, ExpiresAt: expires + 9})
	l.try("alice", nil, cancel("alice", id))
	require.NotZero(t, l.Execute("bob", l.contract, fmt.Sprintf(`{"cancel":{"id":%q}}`, id)).Code)
}

// A timer whose scheduler is the admin no more leaves when its turn comes, and no one is charged.
//
// Rule: 1.3-former-admin-leaves, 1.5-leaves-by-former-admin, 5.2-former-admin, 6-cancelled-not-admin, 6-summary
func TestATimerOfAFormerAdminLeavesUncharged(t *testing.T) {
	for name, drop := range map[string]func(contract string) sdk.Msg{
		"another admin": func(contract string) sdk.Msg {
			return &wasmtypes.MsgUpdateAdmin{Sender: address("alice"), NewAdmin: address("bob"), Contract: contract}
		},
		"no admin": func(contract string) sdk.Msg {
			return &wasmtypes.MsgClearAdmin{Sender: address("alice"), Contract: contract}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newListening(t, "bob")
			tick := l.call("alice", "clock_end_block", `{}`)
			tick.Spec.Trigger = types.Trigger{After: 2}
			l.Deliver("alice", tick)
			id := l.id()
			l.Deliver("alice", drop(l.contract.String()))
			alices, its := l.Balance(appchain.AccountOf("alice").Address), l.Balance(l.contract)
			block := l.NextBlock()
			require.Empty(t, appchain.Events(block, "timers.v1.TimerFired"))
			left := appchain.Events(block, "timers.v1.TimerCancelledNotAdmin")
			require.Equal(t, []map[string]string{{
				"id": id, "actor": l.contract.String(), "scheduler": address("alice"), "name": "", "mode": "EndBlock",
			}}, left)
			require.Equal(t, "1", appchain.Events(block, "timers.v1.TimerLaneSummary")[0]["not_admin"])
			require.Equal(t, alices, l.Balance(appchain.AccountOf("alice").Address))
			require.Equal(t, its, l.Balance(l.contract))
			require.Empty(t, timersOf(t, l.Chain, l.contract))
			require.Zero(t, l.heard().Ticks)
			l.Replay()
		})
	}
}

// A migration that takes sudo away leaves the admin with fires that fail, which it pays for.
func TestAnAdminWhoMigratesAwayFromSudoPaysForTheFailure(t *testing.T) {
	l := newListening(t)
	next := l.StoreCode("alice", wasmdata.BurnerContractWasm())
	tick := l.call("alice", "clock_end_block", `{}`)
	tick.Spec.Trigger = types.Trigger{After: 2}
	l.Deliver("alice", tick)
	l.Deliver("alice", &wasmtypes.MsgMigrateContract{
		Sender: address("alice"), Contract: l.contract.String(), CodeID: next, Msg: fmt.Appendf(nil, `{"payout":%q,"delete":0}`, address("alice")),
	})
	block := l.NextBlock()
	requireFailed(t, l.Chain, block, l.contract, wasmtypes.ErrVMError)
	require.NotEqual(t, "0", appchain.Events(block, "timers.v1.TimerFired")[0]["paid"])
}

// An admin leaves the contract's own timers half of the room.
//
// Rule: 1.3-admins-half
func TestAnAdminDoesNotFillTheContractsList(t *testing.T) {
	l := newListening(t)
	s := &stage{Chain: l.Chain, t: t}
	s.setConfig(func(config *types.TimerConfig) { config.MaxTimersPerActor = 4 })
	later := l.call("alice", "clock_end_block", `{}`)
	later.Spec.Trigger = types.Trigger{After: 100}
	l.Deliver("alice", later)
	l.Deliver("alice", later)
	l.try("alice", types.ErrTooManyTimers, later)
}

func TestAdminsTimersOutliveAnExport(t *testing.T) {
	l := newListening(t)
	tick := l.call("alice", "clock_end_block", `{}`)
	tick.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 2}}
	l.Deliver("alice", tick)
	next := l.Restart()
	for range 4 {
		want, got := l.NextBlock(), next.NextBlock()
		wantFired, gotFired := appchain.Events(want, "timers.v1.TimerFired"), appchain.Events(got, "timers.v1.TimerFired")
		require.Equal(t, len(wantFired), len(gotFired))
		for i := range wantFired {
			require.Equal(t, wantFired[i]["payer"], gotFired[i]["payer"])
			require.Equal(t, readFired(t, wantFired[i]), readFired(t, gotFired[i]))
		}
	}
	raw, err := json.Marshal(timersOf(t, next, l.contract)[0].Scheduler)
	require.NoError(t, err)
	require.Contains(t, string(raw), address("alice"))
}

// A crowd of timers whose admin dropped its role is removed at the rate of the GC lane, and keeps no bystander out.
//
// Rule: 1.5-leaves-by-former-admin, 5.2-former-admin, 5.2-former-admins-crowd
func TestACrowdOfFormerAdminsKeepsNobodyOut(t *testing.T) {
	const crowd, removable = 12, 3
	l := newListening(t, "bob")
	s := &stage{Chain: l.Chain, t: t}
	s.setConfig(func(config *types.TimerConfig) { lab.SetRemovals(config, removable) })
	tick := l.call("alice", "clock_end_block", `{}`)
	tick.Spec.Trigger = types.Trigger{After: 3}
	msgs := make([]sdk.Msg, crowd)
	for i := range msgs {
		msgs[i] = tick
	}
	l.Deliver("alice", msgs...)
	l.Deliver("bob", schedule(t, l.Chain, "bob", uint64(l.App.LastBlockHeight())+3, send("bob", "alice", 1)))
	l.Deliver("alice", &wasmtypes.MsgClearAdmin{Sender: address("alice"), Contract: l.contract.String()})
	alices := l.Balance(appchain.AccountOf("alice").Address)
	block := l.NextBlock()
	require.Len(t, appchain.Events(block, "timers.v1.TimerCancelledNotAdmin"), removable)
	require.Len(t, appchain.Events(block, "timers.v1.TimerHeld"), crowd-removable)
	fired := appchain.Events(block, "timers.v1.TimerFired")
	require.Len(t, fired, 1, "the bystander's, in the block in which it is due")
	require.Equal(t, address("bob"), fired[0]["actor"])
	for left := crowd - removable; left > 0; left -= removable {
		require.Len(t, timersOf(t, l.Chain, l.contract), left)
		require.Len(t, appchain.Events(l.NextBlock(), "timers.v1.TimerCancelledNotAdmin"), removable)
	}
	require.Empty(t, timersOf(t, l.Chain, l.contract))
	require.Equal(t, alices, l.Balance(appchain.AccountOf("alice").Address).SubRaw(1), "no one was charged; bob's coin came")
}

// A contract that names a default agent prices its own timers, and not those that its admin pays for.
//
// Rule: 1.3-scheduler-pays-and-changes
func TestTheSchedulersAgentPricesItsTimers(t *testing.T) {
	l := newListening(t, "mallory")
	s := &stage{Chain: l.Chain, t: t}
	s.setConfig(func(config *types.TimerConfig) { config.Policy = types.PolicyEIP1559 })
	hostile := l.Instantiate("mallory", l.StoreCode("mallory", contracts.Hostile), `{}`, 1_000_000)
	dear := `{"max_fee_per_cycle":"9","max_priority_fee_per_cycle":"9","max_fee_per_cell":"9"}`
	bid, err := json.Marshal(map[string]any{"bid": map[string]string{"do": "", "answer": dear}})
	require.NoError(t, err)
	require.Zero(t, l.Execute("mallory", hostile, string(bid)).Code)
	require.NoError(t, l.App.Timers.SetAgent(l.Ctx(), l.contract, hostile))
	l.Deliver("alice", l.call("alice", "clock_end_block", `{}`))
	fired := appchain.Events(l.NextBlock(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "0", fired[0]["tip"], fired[0])
	require.Equal(t, "0", fired[0]["agent_cycles"], "the contract's agent was not asked")
}

// Governance as cron: x/gov's account owns timers through a proposal, and a sponsor pays, who granted it an allowance that
// names the message. It can neither pay itself nor be refunded: it is blocked.
func TestGovernanceOwnsATimerThatASponsorPaysFor(t *testing.T) {
	l := newListening(t, "bob")
	gov := l.App.Wasm.GetAuthority()
	account, err := sdk.AccAddressFromBech32(gov)
	require.NoError(t, err)
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})})
	require.NoError(t, err)
	grant, err := feegrant.NewMsgGrantAllowance(allowance, appchain.AccountOf("bob").Address, account)
	require.NoError(t, err)
	l.Deliver("bob", grant)
	l.Deliver("alice", &wasmtypes.MsgUpdateAdmin{Sender: address("alice"), NewAdmin: gov, Contract: l.contract.String()})
	passProposal(t, l.Chain, 1, &types.MsgScheduleTimer{
		Sender: gov, Spec: types.TimerSpec{
			FeePayer: address("bob"), Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 3}}, GasLimit: 300_000,
			Call: types.TimerCall{Messages: packed(t, &wasmtypes.MsgSudoContract{Authority: gov, Contract: l.contract.String(), Msg: []byte(`{"clock_end_block":{}}`)})},
		},
	})
	require.Len(t, timersOf(t, l.Chain, account), 1)
	ticked := 0
	for range 6 {
		before := l.Balance(appchain.AccountOf("bob").Address)
		for _, fired := range appchain.Events(l.NextBlock(), "timers.v1.TimerFired") {
			require.Equal(t, "true", fired["success"], fired)
			require.Equal(t, before.SubRaw(number(t, fired["paid"])), l.Balance(appchain.AccountOf("bob").Address), "the sponsor pays")
			ticked++
		}
	}
	require.Equal(t, 2, ticked)
	require.GreaterOrEqual(t, l.heard().Ticks, ticked)
	// A second proposal ends it.
	passProposal(t, l.Chain, 2, &types.MsgCancelTimer{Sender: gov, Id: timersOf(t, l.Chain, account)[0].Id})
	require.Empty(t, timersOf(t, l.Chain, account))
}

// What an admin schedules counts for the contract: its fires are bounded with those of the contract, and not with the
// admin's own or those of another contract.
//
// Rule: 1.3-contracts-in-all-else
func TestFiresOfAnAdminsTimersCountForTheContract(t *testing.T) {
	l := newListening(t)
	s := &stage{Chain: l.Chain, t: t}
	s.setConfig(func(config *types.TimerConfig) { config.MaxFiresPerActor = 1 })
	other := *l
	other.contract = l.InstantiateWithAdmin("alice", l.code, `{}`, 1_000_000, address("alice"))
	own := schedule(t, l.Chain, "alice", uint64(l.App.LastBlockHeight())+2, send("alice", "alice", 1))
	first, second := l.call("alice", "clock_end_block", `{}`), other.call("alice", "clock_end_block", `{}`)
	l.Deliver("alice", own, first, first, second)
	actors := func() (actors []string) {
		for _, event := range appchain.Events(l.NextBlock(), "timers.v1.TimerFired") {
			actors = append(actors, event["actor"])
		}
		return actors
	}
	require.Equal(t, []string{address("alice"), l.contract.String(), other.contract.String()}, actors())
	require.Equal(t, []string{l.contract.String()}, actors())
}

// A timer that was on hold because its scheduler was the admin no more is resumed by one who is the admin again.
//
// Rule: 1.5-not-admin
func TestAnAdminWhoReturnsResumesItsTimers(t *testing.T) {
	l := newListening(t, "bob")
	s := &stage{Chain: l.Chain, t: t}
	s.setConfig(func(config *types.TimerConfig) { lab.SetRemovals(config, 1) })
	tick := l.call("alice", "clock_end_block", `{}`)
	tick.Spec.Trigger = types.Trigger{After: 2}
	l.Deliver("alice", tick, tick, tick, tick)
	admin := func(from, to string) sdk.Msg {
		return &wasmtypes.MsgUpdateAdmin{Sender: address(from), NewAdmin: address(to), Contract: l.contract.String()}
	}
	l.Deliver("alice", admin("alice", "bob"))
	l.NextBlock()
	left := timersOf(t, l.Chain, l.contract)
	require.Len(t, left, 3)
	for _, timer := range left {
		require.Equal(t, types.NotAdmin, timer.Status.HoldReason)
	}
	resume := &types.MsgResumeTimer{Sender: address("alice"), Actor: l.contract.String(), Id: left[2].Id}
	l.try("alice", types.ErrNotAdmin, resume)
	for _, result := range l.NextBlock(l.Sign("bob", admin("bob", "alice")), l.Sign("alice", resume)).TxResults {
		require.Zero(t, result.Code, result.Log)
	}
	fired := appchain.Events(l.NextBlock(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, [2]string{left[2].Id, "true"}, [2]string{fired[0]["id"], fired[0]["success"]})
}
