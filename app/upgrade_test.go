package app_test

import (
	"context"
	"testing"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	"github.com/stretchr/testify/require"

	upgradetypes "cosmossdk.io/x/upgrade/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// kinds holds a timer of each kind in docs/operate/lifecycle.md, and one that watches a contract's storage, on a chain that is
// about to be upgraded.
type kinds struct {
	*appchain.Chain
	t    *testing.T
	ids  map[string]string
	seen map[string]types.TimerInfo
	// actors are those of the timers that are not alice's.
	actors map[string]string
}

// setConfig changes the config as governance does, without the vote; it is in force from the next block on.
func (l *kinds) setConfig(change func(*types.TimerConfig)) {
	l.t.Helper()
	config, err := l.App.Timers.Config(l.Ctx())
	require.NoError(l.t, err)
	change(&config)
	msg, err := l.App.Timers.ReplaceConfig(l.Ctx(), config)
	require.NoError(l.t, err)
	_, err = timerskeeper.NewMsgServer(l.App.Timers).UpdateTimerConfig(l.Ctx(), msg)
	require.NoError(l.t, err)
}

// book schedules the timer of a kind.
func (l *kinds) book(kind, owner string, msg *types.MsgScheduleTimer) {
	l.t.Helper()
	var booked types.MsgScheduleTimerResponse
	l.Response(l.Deliver(owner, msg).TxResults[0], &booked)
	l.ids[kind] = booked.Id
}

// bookByProxy has a contract schedule messages of its own.
func (l *kinds) bookByProxy(proxy sdk.AccAddress) {
	l.t.Helper()
	pay := banktypes.NewMsgSend(proxy, appchain.AccountOf("sink").Address, utmr(1))
	l.Deliver("alice", reflectMsg(l.t, l.Chain, proxy, &types.MsgScheduleTimer{
		Sender: proxy.String(), Spec: types.TimerSpec{Trigger: types.Trigger{After: 100}, Call: types.TimerCall{Messages: packed(l.t, pay)}, GasLimit: 200_000},
	}))
	l.ids["contract's messages"] = timersOf(l.t, l.Chain, proxy)[0].Id
}

// richer is a timer of alice's that waits until somebody has more than at the start.
func (l *kinds) richer(who string) *types.MsgScheduleTimer {
	l.t.Helper()
	msg := watch(l.t, l.Chain, "alice", 1, "bank:balance:"+address(who)+":"+app.FeeDenom)
	msg.Spec.Trigger.Watch.Keys[0].When = &types.WatchCondition{Op: types.ConditionGreater, Value: appchain.Funds.String()}
	return msg
}

// info is what queries say of a timer.
func (l *kinds) info(kind string) types.TimerInfo {
	l.t.Helper()
	actor, ok := l.actors[kind]
	if !ok {
		actor = address("alice")
	}
	response, err := timerskeeper.NewQueryServer(l.App.Timers).Timer(l.Ctx(), &types.QueryTimerRequest{Actor: actor, Id: l.ids[kind]})
	require.NoError(l.t, err, kind)
	return response.Timer
}

func newKinds(t *testing.T) (*kinds, sdk.AccAddress) {
	t.Helper()
	l := &kinds{
		Chain: appchain.New(t, "validator", "alice", "bob", "carol", "dave", "pauper", "mallory", "sink"),
		t:     t, ids: map[string]string{}, seen: map[string]types.TimerInfo{},
	}
	hostile := l.InstantiateWithAdmin("mallory", l.StoreCode("mallory", contracts.Hostile), `{}`, 1_000_000, address("mallory"))
	proxy := l.Instantiate("alice", l.StoreCode("alice", wasmdata.ReflectContractWasm()), `{}`, 1_000_000)
	l.actors = map[string]string{"suspended": address("pauper"), "admin's call": hostile.String(), "contract's messages": proxy.String()}
	at := func(blocks uint64) *types.MsgScheduleTimer {
		return schedule(t, l.Chain, "alice", uint64(l.App.LastBlockHeight())+blocks, send("alice", "sink", 1))
	}
	broke := schedule(t, l.Chain, "pauper", uint64(l.App.LastBlockHeight())+3, send("pauper", "sink", 1))
	broke.Spec.OnUnfunded, broke.Spec.CellLimit = types.OnUnfundedSuspend, 550_000
	l.book("suspended", "pauper", broke)
	l.Deliver("pauper", send("pauper", "bob", appchain.Funds.Int64()-3*appchain.TxFee[0].Amount.Int64()))
	l.NextBlock()
	l.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })

	l.book("height, pending", "alice", at(100))
	l.book("height, ready", "alice", at(2))
	interval := at(0)
	interval.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 200, First: uint64(l.App.LastBlockHeight()) + 100}}
	l.book("interval", "alice", interval)
	l.book("watch, waiting", "alice", watch(t, l.Chain, "alice", 1, "bank:balance:"+address("carol")+":"+app.FeeDenom))
	l.book("watch, triggered", "alice", watch(t, l.Chain, "alice", 1, "bank:balance:"+address("dave")+":"+app.FeeDenom))
	l.book("contract watch", "alice", watch(t, l.Chain, "alice", 1, "wasm:contract:"+hostile.String()))
	l.book("condition, waiting", "alice", l.richer("carol"))
	l.book("condition, triggered", "alice", l.richer("dave"))
	l.book("admin's call", "mallory", &types.MsgScheduleTimer{
		Sender: address("mallory"), Actor: hostile.String(), Spec: types.TimerSpec{Trigger: types.Trigger{After: 100}, Call: types.TimerCall{Handler: "nothing", Payload: []byte(`{}`)}},
	})
	l.bookByProxy(proxy)
	l.Deliver("bob", send("bob", "dave", 1))
	l.book("paused", "alice", at(2))
	l.Deliver("alice", &types.MsgPauseTimer{Sender: address("alice"), Id: l.ids["paused"]})
	for kind, status := range map[string]types.TimerPhase{
		"height, pending": types.PhasePending, "height, ready": types.PhaseReady, "interval": types.PhasePending,
		"watch, waiting": types.PhaseWatching, "watch, triggered": types.PhaseReady, "contract watch": types.PhaseWatching,
		"paused": types.PhaseOnHold, "suspended": types.PhaseOnHold,
		"condition, waiting": types.PhaseWatching, "condition, triggered": types.PhaseReady,
		"admin's call": types.PhasePending, "contract's messages": types.PhasePending,
	} {
		l.seen[kind] = l.info(kind)
		require.Equal(t, status, l.seen[kind].Status.Phase, kind)
	}
	return l, hostile
}

// TestAnUpgradeChangesNoTimer: governance plans an upgrade, the old binary stops at its height, and a new one that
// knows it continues with the data: every timer is as it was, and fires once.
//
// Rule: 2.5-consensus-version, 2.5-no-timer-leaves
func TestAnUpgradeChangesNoTimer(t *testing.T) {
	l, hostile := newKinds(t)
	height := l.App.LastBlockHeight() + 8
	gov := authtypes.NewModuleAddress(govtypes.ModuleName).String()
	proposal, err := govv1.NewMsgSubmitProposal([]sdk.Msg{
		&upgradetypes.MsgSoftwareUpgrade{Authority: gov, Plan: upgradetypes.Plan{Name: "next", Height: height}},
	}, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1)), address("validator"), "", "upgrade", "upgrade", false)
	require.NoError(t, err)
	l.Deliver("validator", proposal)
	l.Deliver("validator", govv1.NewMsgVote(appchain.AccountOf("validator").Address, 1, govv1.OptionYes, ""))
	for l.App.LastBlockHeight() < height-1 {
		l.NextBlock()
	}
	before, err := l.App.Timers.ExportGenesis(l.Ctx())
	require.NoError(t, err)
	require.ErrorContains(t, l.TryBlock(), `UPGRADE "next" NEEDED`, "the old binary stops")

	var migrated module.VersionMap
	l.SwapBinary(func(next *app.App) {
		next.Upgrade.SetUpgradeHandler("next", func(ctx context.Context, _ upgradetypes.Plan, from module.VersionMap) (module.VersionMap, error) {
			var err error
			migrated, err = next.Modules().RunMigrations(ctx, next.Configurator(), from)
			return migrated, err
		})
	})
	l.NextBlock()
	require.Equal(t, uint64(1), migrated[types.ModuleName])
	after, err := l.App.Timers.ExportGenesis(l.Ctx())
	require.NoError(t, err)
	// The lane stays paused, so its pause is a block longer.
	require.Equal(t, before.Lane.Pause.LastHeight+1, after.Lane.Pause.LastHeight)
	before.Lane.Pause.LastHeight, before.Lane.Pause.LastTime = after.Lane.Pause.LastHeight, after.Lane.Pause.LastTime
	require.Equal(t, before, after)
	for kind, want := range l.seen {
		require.Equal(t, want, l.info(kind), kind)
	}

	l.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	fired := map[string]int{}
	block := func(txs ...[]byte) {
		response := l.NextBlock(txs...)
		for _, result := range response.TxResults {
			require.Zero(t, result.Code, result.Log)
		}
		for _, event := range appchain.Events(response, "timers.v1.TimerFired") {
			require.Equal(t, "true", event["success"], event)
			fired[event["id"]]++
		}
	}
	block(l.Sign("alice", &types.MsgResumeTimer{Sender: address("alice"), Id: l.ids["paused"]}),
		l.Sign("bob", send("bob", "carol", 1), send("bob", "pauper", 1_000_000)),
		l.Sign("mallory", l.ExecuteMsg("mallory", hostile, `{"nothing":{}}`)))
	block(l.Sign("pauper", &types.MsgResumeTimer{Sender: address("pauper"), Id: l.ids["suspended"]}))
	for range 130 {
		block()
	}
	for kind, id := range l.ids {
		require.Equal(t, 1, fired[id], kind)
	}
	require.Len(t, fired, len(l.ids))
}
