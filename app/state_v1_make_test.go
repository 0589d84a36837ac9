package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file makes the files below stateV1. It belongs to the version whose state they hold: the commit that changes the
// format of state removes this file, and keeps the files and state_v1_test.go.

// TestStateV1IsWhatThisVersionMakes runs the chain again and compares. With -update it writes the files instead.
func TestStateV1IsWhatThisVersionMakes(t *testing.T) {
	files := makeStateV1(t)
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		for _, name := range snapshotNames {
			require.NoError(t, os.RemoveAll(filepath.Join(stateV1, name)))
		}
		for name, content := range files {
			path := filepath.Join(stateV1, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, content, 0o644))
		}
		return
	}
	for name, content := range files {
		want, err := os.ReadFile(filepath.Join(stateV1, name))
		require.NoError(t, err)
		// Not require.Equal: it would print both files.
		require.True(t, bytes.Equal(want, content), "%s is not what the chain makes: see %s/README.md", name, stateV1)
	}
}

// stateMaker runs the chain whose state is kept.
type stateMaker struct {
	*appchain.Chain
	t                  *testing.T
	heartbeat, hostile sdk.AccAddress
	files              map[string][]byte
}

// makeStateV1 returns the files by their names below stateV1.
func makeStateV1(t *testing.T) map[string][]byte {
	t.Helper()
	m := &stateMaker{t: t, files: map[string][]byte{}}
	m.Chain = appchain.NewUnder(t, func(c *types.TimerConfig) {
		// Windows and budgets are small, so that few timers make a storm.
		c.CandidateWindow, c.AdmissionsPerBlock, c.SweepPerBlock, c.MaxFiresPerBlock = 8, 6, 4, 4
		c.MaxWatchHitsPerBlock, c.AgentCyclesPerBlock = 2, 150_000
		c.FairnessWindowBlocks, c.ReceiptRetentionBlocks, c.AuctionWindowBlocks = 20, 20, 5
		c.TipEpochBlocks, c.TipStarvationBlocks, c.MaxTtlBlocks = 3, 3, 5_000_000
	}, "validator", "alice", "bob", "carol", "dave", "pauper", "poor", "mallory", "sink")
	m.populate()
	m.setAside()
	m.underFIFO()
	m.underAuction()
	m.snapshot("auction")
	m.underTip()
	m.snapshot("tip")
	m.storm()
	m.snapshot("storm")
	return m.files
}

// setConfig changes the config as governance does, without the vote; it is in force from the next block on.
func (m *stateMaker) setConfig(change func(*types.TimerConfig)) {
	m.t.Helper()
	config, err := m.App.Timers.Config(m.Ctx())
	require.NoError(m.t, err)
	change(&config)
	_, err = timerskeeper.NewMsgServer(m.App.Timers).UpdateTimerConfig(m.Ctx(),
		&types.MsgUpdateTimerConfig{Authority: authtypes.NewModuleAddress(govtypes.ModuleName).String(), Config: config})
	require.NoError(m.t, err)
}

// block runs a block with transactions that succeed.
func (m *stateMaker) block(txs ...[]byte) {
	m.t.Helper()
	for _, result := range m.NextBlock(txs...).TxResults {
		require.Zero(m.t, result.Code, result.Log)
	}
}

func (m *stateMaker) blocks(n int) {
	m.t.Helper()
	for range n {
		m.block()
	}
}

// in is the height that many blocks after the last one.
func (m *stateMaker) in(blocks uint64) uint64 { return uint64(m.App.LastBlockHeight()) + blocks }

// timer is a schedule message of an owner who sends one coin; changes follow.
func (m *stateMaker) timer(owner string, blocks uint64, changes ...func(*types.MsgScheduleTimer)) *types.MsgScheduleTimer {
	m.t.Helper()
	msg := schedule(m.t, m.Chain, owner, m.in(blocks), send(owner, "sink", 1))
	for _, change := range changes {
		change(msg)
	}
	return msg
}

func bidding(bid types.Bid) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Bid = &bid }
}

func everyBlocks(every, first uint64) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) {
		msg.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: every, First: first, OnFailure: types.OnFailureRoll}}
	}
}

func suspending(msg *types.MsgScheduleTimer) { msg.OnUnfunded = types.OnUnfundedSuspend }

func statedBid(maxFee, maxPriority string) types.Bid {
	return types.Bid{Static: &types.StaticBid{
		MaxFeePerCycle: math.LegacyMustNewDecFromStr(maxFee), MaxPriorityFeePerCycle: math.LegacyMustNewDecFromStr(maxPriority),
	}}
}

// populate starts what runs all the time: contracts, agents, intervals and watches, and timers of every distance.
func (m *stateMaker) populate() {
	m.t.Helper()
	m.hostile = m.Instantiate("mallory", m.StoreCode("mallory", contracts.Hostile), `{}`, 100_000_000)
	m.heartbeat = m.Instantiate("alice", m.StoreCode("alice", contracts.Heartbeat), `{"every":4,"gas_limit":210000,"start":true}`, 500_000_000)
	m.Deliver("alice", m.ExecuteMsg("alice", m.heartbeat, `{"be_agent":{}}`))
	m.Deliver("mallory", m.contractTimer("handle_timer", 300, 600))
	m.Deliver("mallory", m.contractTimer("panic", 40, 10))
	m.Deliver("bob", &types.MsgSetAgent{Sender: address("bob"), Agent: m.heartbeat.String()})
	for _, blocks := range []uint64{250, 5_000, 3_000_000} {
		m.Deliver("alice", m.timer("alice", blocks))
	}
	var long []sdk.Msg
	for i := range 12 {
		long = append(long, send("alice", "sink", int64(i+1)))
	}
	m.Deliver("alice", schedule(m.t, m.Chain, "alice", m.in(400), long...))
	m.Deliver("carol", m.timer("carol", 0, everyBlocks(5, m.in(2))))
	m.Deliver("carol", m.timer("carol", 0, everyBlocks(3_000, 0), bidding(types.Bid{Tier: types.TierFast})))
	failing := schedule(m.t, m.Chain, "dave", 0, send("dave", "sink", 2*appchain.Funds.Int64()))
	everyBlocks(2, m.in(2))(failing)
	failing.Retry = &types.Retry{Max: 10, After: 2}
	m.Deliver("dave", failing)

	// All of these are told of each change of dave's balance, two in a block; the last ones are seldom told of anything.
	for i := range 6 {
		owner := []string{"alice", "bob", "carol"}[i%3]
		m.Deliver(owner, watch(m.t, m.Chain, owner, 0, "bank:balance:"+address("dave")+":"+app.FeeDenom))
	}
	short := watch(m.t, m.Chain, "carol", 0, "bank:balance:"+address("validator")+":"+app.FeeDenom)
	short.ExpiresAt = m.in(12)
	m.Deliver("carol", short)
	m.Deliver("alice", watch(m.t, m.Chain, "alice", 5, "bank:balances:"+address("validator"), "wasm:info:"+m.hostile.String()))
	m.Deliver("bob", watch(m.t, m.Chain, "bob", 0, written(m.hostile, "blob"), "wasm:contract:"+m.heartbeat.String()))
}

// contractTimer is a call by which the hostile contract schedules a timer that calls a handler, with a payload of a size.
func (m *stateMaker) contractTimer(handler string, blocks uint64, bytes int) sdk.Msg {
	m.t.Helper()
	return m.ExecuteMsg("mallory", m.hostile, fmt.Sprintf(`{"schedule":{"height":%d,"handler":%q,"gas_limit":210000,"payload":{"pad":%q}}}`,
		m.in(blocks), handler, strings.Repeat("x", bytes)))
}

// setAside makes a timer of each reason for which one is neither in the queue nor gone.
func (m *stateMaker) setAside() {
	m.t.Helper()
	var booked types.MsgScheduleTimerResponse
	m.Response(m.Deliver("alice", m.timer("alice", 30)).TxResults[0], &booked)
	m.Deliver("alice", &types.MsgPauseTimer{Sender: address("alice"), Id: booked.Id})
	m.Deliver("alice", m.timer("alice", 9, func(msg *types.MsgScheduleTimer) { msg.GasLimit = 240_000 }))
	m.Deliver("pauper", m.timer("pauper", 4, suspending))
	m.Deliver("pauper", send("pauper", "sink", appchain.Funds.Int64()-2*appchain.TxFee[0].Amount.Int64()))
	m.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire, c.MaxCyclesPerFireAuction = 220_000, 220_000 })
	// A bank that refuses a timer's money for a reason of its own is what the module can't foresee.
	m.App.Bank.AppendSendRestriction(func(_ context.Context, from, to sdk.AccAddress, _ sdk.Coins) (sdk.AccAddress, error) {
		if from.Equals(appchain.AccountOf("mallory").Address) && to.Equals(authtypes.NewModuleAddress(types.ModuleName)) {
			return nil, errors.New("restricted")
		}
		return to, nil
	})
	m.Deliver("mallory", m.timer("mallory", 2))
	m.blocks(8)
	m.App.Bank.ClearSendRestriction()
}

// crowd schedules so many timers of each owner, with bids in turn, all due that many blocks from now.
func (m *stateMaker) crowd(each int, blocks uint64, owners []string, bids ...types.Bid) {
	m.t.Helper()
	var txs [][]byte
	for i := range each {
		for j, owner := range owners {
			msg := m.timer(owner, blocks)
			if bid := bids[(i+j)%len(bids)]; bid != (types.Bid{}) {
				msg.Bid = &bid
			}
			txs = append(txs, m.Sign(owner, msg))
		}
	}
	m.block(txs...)
}

var crowdOwners = []string{"alice", "bob", "carol"}

// underFIFO leaves receipts, and counts of fires.
func (m *stateMaker) underFIFO() {
	m.t.Helper()
	m.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
	m.crowd(2, 2, crowdOwners, types.Bid{})
	m.blocks(4)
}

// underAuction leaves locked bids: of timers that lost so far, and of one that is due much later.
func (m *stateMaker) underAuction() {
	m.t.Helper()
	m.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyAuction })
	m.block()
	m.Deliver("carol", m.timer("carol", 500, bidding(types.Bid{Price: "12345"})))
	m.crowd(6, 2, crowdOwners, types.Bid{Price: "700"}, types.Bid{Price: "1500"}, types.Bid{}, types.Bid{Price: "90"})
	m.blocks(3)
}

// underTip leaves weights of several epochs, and a timer that waits for its payer.
func (m *stateMaker) underTip() {
	m.t.Helper()
	m.setConfig(func(c *types.TimerConfig) { c.Policy = types.PolicyTip })
	m.block()
	m.Deliver("poor", m.timer("poor", 4, bidding(statedBid("0.01", "0.002"))))
	m.Deliver("poor", send("poor", "sink", appchain.Funds.Int64()-2*appchain.TxFee[0].Amount.Int64()))
	m.crowd(2, 2, []string{"alice"}, statedBid("0.01", "0.001"))
	m.blocks(7)
	m.Deliver("carol", send("carol", "dave", 1))
	agent := types.Bid{Agent: m.heartbeat.String()}
	m.crowd(4, 2, crowdOwners, statedBid("0.01", "0.0005"), agent, types.Bid{Tier: types.TierUrgent})
	m.blocks(2)
}

// storm has more timers due than a block reads, under policy score first. Its lists are still there when policy eip1559
// has admitted others. Then changes come that watches are not yet told of, and governance accepts another config.
func (m *stateMaker) storm() {
	m.t.Helper()
	m.setConfig(func(c *types.TimerConfig) { c.Policy, c.MaxFiresPerBlock = types.PolicyScore, 2 })
	m.block()
	agent := types.Bid{Agent: m.heartbeat.String()}
	m.crowd(6, 2, crowdOwners, types.Bid{}, types.Bid{Price: "400"}, statedBid("0.02", "0.001"), types.Bid{Price: "50"}, agent)
	m.crowd(12, 2, crowdOwners, agent, types.Bid{Tier: types.TierEconomy}, agent, statedBid("0.003", "0.0001"), types.Bid{Price: "9"})
	m.blocks(5)
	// Other weights begin a list of their own.
	m.setConfig(func(c *types.TimerConfig) { c.WBid = math.LegacyNewDecWithPrec(5, 2) })
	m.blocks(2)
	config, err := m.App.Timers.Config(m.Ctx())
	require.NoError(m.t, err)
	config.Policy, config.AgentCyclesPerBlock, config.MaxFiresPerBlock = types.PolicyEIP1559, 600_000, 3
	gov := authtypes.NewModuleAddress(govtypes.ModuleName).String()
	proposal, err := govv1.NewMsgSubmitProposal([]sdk.Msg{&types.MsgUpdateTimerConfig{Authority: gov, Config: config}},
		sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1)), address("validator"), "", "config", "config", false)
	require.NoError(m.t, err)
	m.setConfig(func(c *types.TimerConfig) { c.Policy, c.AgentCyclesPerBlock = types.PolicyEIP1559, 600_000 })
	m.block(m.Sign("validator", proposal), m.Sign("carol", send("carol", "dave", 2)))
	m.block(m.Sign("validator", govv1.NewMsgVote(appchain.AccountOf("validator").Address, 1, govv1.OptionYes, "")), m.Sign("carol", send("carol", "dave", 3)))
	m.block(m.Sign("carol", send("carol", "dave", 4)), m.Sign("mallory", m.ExecuteMsg("mallory", m.hostile, `{"write":{"bytes":9}}`)))
	m.block(m.Sign("carol", send("carol", "dave", 5)))
}

// snapshot keeps the state as it is after the last block.
func (m *stateMaker) snapshot(name string) {
	m.t.Helper()
	exported, err := m.App.ExportAppStateAndValidators(false, nil, nil)
	require.NoError(m.t, err)
	var modules map[string]json.RawMessage
	require.NoError(m.t, json.Unmarshal(exported.AppState, &modules))
	m.files[name+"/timers.json"] = pretty(m.t, modules[types.ModuleName])
	delete(modules, types.ModuleName)
	m.files[name+"/app.json"] = pretty(m.t, appState{Height: exported.Height - 1, Modules: m.cutCode(modules)})

	m.files[name+"/timers.kv"] = dumpTimers(m.Ctx(), m.App)
}

// cutCode takes the contracts' code out of x/wasm's genesis, into files that all snapshots share.
func (m *stateMaker) cutCode(modules map[string]json.RawMessage) map[string]json.RawMessage {
	m.t.Helper()
	var wasm wasmtypes.GenesisState
	m.App.AppCodec().MustUnmarshalJSON(modules[wasmtypes.ModuleName], &wasm)
	for i := range wasm.Codes {
		m.files[codeFile(&wasm.Codes[i])] = wasm.Codes[i].CodeBytes
		wasm.Codes[i].CodeBytes = nil
	}
	modules[wasmtypes.ModuleName] = m.App.AppCodec().MustMarshalJSON(&wasm)
	return modules
}

func pretty(t *testing.T, value any) []byte {
	t.Helper()
	bz, err := json.MarshalIndent(value, "", " ")
	require.NoError(t, err)
	return append(bz, '\n')
}
