package app_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	upgradetypes "cosmossdk.io/x/upgrade/types"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// stateV1 holds states of a chain of the first format, from which the module's first migration starts. Its README says
// what is in it.
var stateV1 = filepath.Join("..", "x", "timers", "testdata", "state", "v1")

// snapshotNames are its states.
var snapshotNames = []string{"auction", "tip", "storm"}

// appState is the exported state of the modules except the timers, without the code of contracts.
type appState struct {
	// Height of the last block.
	Height  int64                      `json:"height"`
	Modules map[string]json.RawMessage `json:"modules"`
}

// snapshot is one state.
type snapshot struct {
	appState
	// timers is the module's exported genesis in today's form, and pairs its store as it was: key → value.
	timers json.RawMessage
	pairs  []pair
}

type pair struct{ key, value []byte }

func readStateV1(t *testing.T, name string) *snapshot {
	t.Helper()
	read := func(elements ...string) []byte {
		bz, err := os.ReadFile(filepath.Join(append([]string{stateV1}, elements...)...))
		require.NoError(t, err)
		return bz
	}
	cdc := fixtureCodec()
	s := &snapshot{timers: genesisFromV1(t, cdc, read(name, "timers.json"))}
	require.NoError(t, json.Unmarshal(read(name, "app.json"), &s.appState))
	var wasm wasmtypes.GenesisState
	cdc.MustUnmarshalJSON(s.Modules[wasmtypes.ModuleName], &wasm)
	for i := range wasm.Codes {
		wasm.Codes[i].CodeBytes = read(codeFile(&wasm.Codes[i]))
	}
	s.Modules[wasmtypes.ModuleName] = cdc.MustMarshalJSON(&wasm)
	s.Modules[govtypes.ModuleName] = proposalsFromV1(t, cdc, s.Modules[govtypes.ModuleName])
	for line := range strings.Lines(string(read(name, "timers.kv"))) {
		key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		require.True(t, found, "want KEY=VALUE: %.80s", line)
		s.pairs = append(s.pairs, pair{unhex(t, key), unhex(t, value)})
	}
	return s
}

func fixtureCodec() *codec.ProtoCodec { return codec.NewProtoCodec(codectypes.NewInterfaceRegistry()) }

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	bz, err := hex.DecodeString(text)
	require.NoError(t, err)
	return bz
}

// codeFile is the name of the file that holds a contract's code.
func codeFile(code *wasmtypes.Code) string { return fmt.Sprintf("code-%d.wasm", code.CodeID) }

// state is the exported state of the whole application.
func (s *snapshot) state(t *testing.T) []byte {
	t.Helper()
	modules := map[string]json.RawMessage{types.ModuleName: s.timers}
	for name, module := range s.Modules {
		modules[name] = module
	}
	bz, err := json.Marshal(modules)
	require.NoError(t, err)
	return bz
}

// genesis is the module's genesis.
func (s *snapshot) genesis(t *testing.T, cdc codec.JSONCodec) *types.GenesisState {
	t.Helper()
	genesis := &types.GenesisState{}
	require.NoError(t, cdc.UnmarshalJSON(s.timers, genesis))
	return genesis
}

// heartbeat is the address of the contract of that name.
func (s *snapshot) heartbeat(t *testing.T) string {
	t.Helper()
	var wasm wasmtypes.GenesisState
	fixtureCodec().MustUnmarshalJSON(s.Modules[wasmtypes.ModuleName], &wasm)
	for _, contract := range wasm.Contracts {
		if contract.ContractInfo.CodeID == 2 {
			return contract.ContractAddress
		}
	}
	require.Fail(t, "there is no heartbeat")
	return ""
}

// imported is a chain that starts from the exported state.
func (s *snapshot) imported(t *testing.T) *appchain.Chain {
	t.Helper()
	return appchain.Start(t, s.state(t), s.Height+1, simtestutil.DefaultConsensusParams)
}

// inPlace is a chain that stands where the state was exported, with the very pairs of the module's store, which it then
// changes further.
func (s *snapshot) inPlace(t *testing.T, change func(sdk.Context, *app.App)) *appchain.Chain {
	t.Helper()
	bz, err := json.Marshal(s.Modules)
	require.NoError(t, err)
	return appchain.Resume(t, bz, s.Height, simtestutil.DefaultConsensusParams, func(ctx sdk.Context, a *app.App) {
		store := ctx.KVStore(a.StoreKey(types.StoreKey))
		entries := store.Iterator(nil, nil)
		require.False(t, entries.Valid())
		require.NoError(t, entries.Close())
		for _, p := range s.pairs {
			store.Set(p.key, p.value)
		}
		change(ctx, a)
	})
}

// migrated is such a chain, of which the module's state was migrated.
func (s *snapshot) migrated(t *testing.T) *appchain.Chain {
	t.Helper()
	return s.inPlace(t, func(ctx sdk.Context, a *app.App) {
		require.NoError(t, keeper.NewMigrator(a.Timers).Migrate1to2(ctx))
	})
}

// TestStateV1HoldsEveryKind: each thing that the module keeps is in one of the states at least, so that a migration meets
// it; what can be there in a storm is in that state all at once.
func TestStateV1HoldsEveryKind(t *testing.T) {
	cdc := fixtureCodec()
	seen := map[string]map[string]int{}
	for _, name := range snapshotNames {
		s := readStateV1(t, name)
		seen[name] = kindsOf(s.genesis(t, cdc), uint64(s.Height))
		for _, p := range s.pairs {
			seen[name][fmt.Sprintf("region %d", p.key[0])]++
		}
	}
	storm := []string{
		"pending near", "pending epoch", "pending far", "ready", "ready, not admitted", "under a weight", "under a score", "with a quote",
		"watch bank", "watch wasm", "watch hits", "round under way", "next round", "turn of watches", "expiry of watches",
		types.Watching.String(), types.Paused.String(), types.Suspended.String(), types.Quarantined.String(), types.Unrunnable.String(),
		"interval that succeeded", "interval that failed", "retries", "long payload", "bid locked", "bid of an agent", "bid static",
		"bid tier", "bid price", "timer of a contract", "default agent", "receipts", "receipt of a failure",
		"receipt of a watch", "receipt with a score bid", "fires", "tip weights", "next config",
		"lane head", "lane live", "lane burned", "lane tips", "lane basefee", "market since", "lane admit", "score epoch", "tip epoch",
	}
	for _, kind := range storm {
		require.Positive(t, seen["storm"][kind], "storm has no %s: %v", kind, seen["storm"])
	}
	// The regions of the store: 6 is that of the pages of actors, the others are as types/keys.go numbers them.
	for _, region := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25, 26, 34, 35} {
		require.Positive(t, seen["storm"][fmt.Sprintf("region %d", region)], "storm has nothing in region %d", region)
	}
	for kind, name := range map[string]string{
		"auction": "auction", "receipt with a bid": "auction", "ready": "auction", "bid locked": "auction",
		"unfunded": "tip", "agent turn": "tip", "tip weights of several epochs": "tip",
		"tip round": "tip", "tip checked": "tip", "lane clean": "auction", "sweep of those set aside": "storm",
	} {
		require.Positive(t, seen[name][kind], "%s has no %s: %v", name, kind, seen[name])
	}
}

// kindsOf counts what there is of each kind in a state after the block of that height.
func kindsOf(g *types.GenesisState, height uint64) map[string]int {
	seen := map[string]int{}
	count := func(kind string, is bool) {
		if is {
			seen[kind]++
		}
	}
	for i := range g.Timers {
		countTimer(count, &g.Timers[i], &g.Config, height)
	}
	for _, pending := range g.WatchPending {
		count("round under way", len(pending.Pending.Round.Changes) > 0)
		count("next round", pending.Pending.Next != nil)
	}
	for _, segment := range g.Receipts {
		for i := range segment.Receipts {
			receipt := &segment.Receipts[i]
			count("receipts", true)
			count("receipt of a failure", !receipt.Success)
			count("receipt of a watch", len(receipt.Matched) > 0)
			count("receipt with a bid", receipt.Bid != "")
			count("receipt with a score bid", receipt.ScoreBid != nil)
		}
	}
	epochs := map[uint64]bool{}
	for _, weight := range g.TipWeights {
		epochs[weight.Weight.Epoch] = true
	}
	count("tip weights", len(g.TipWeights) > 0)
	count("tip weights of several epochs", len(epochs) > 1)
	count("watch hits", len(g.WatchHits) > 0)
	count("turn of watches", g.WatchCursors.Turn.Store != "")
	count("expiry of watches", g.WatchCursors.Expiry != types.QueueKey{})
	count("default agent", len(g.Agents) > 0)
	count("fires", len(g.Fairness) > 0)
	count("next config", g.NextConfig != nil)
	countLane(count, &g.Lane)
	return seen
}

func countTimer(count func(string, bool), timer *types.Timer, config *types.TimerConfig, height uint64) {
	count(timer.SetAside.String(), timer.SetAside != types.NotSetAside)
	queued, admitted := timer.SetAside == types.NotSetAside, timer.AdmittedWeight > 0
	if queued && timer.Due > height {
		count("pending "+strings.ToLower(strings.TrimPrefix(config.TierOf(timer.Due, height).String(), "TIMER_TIER_")), true)
	}
	count("ready", queued && timer.Due <= height)
	count("ready, not admitted", queued && timer.Due <= height && !admitted)
	count("under a score", len(timer.AdmittedScore) > 0)
	count("under a weight", admitted && len(timer.AdmittedScore) == 0)
	count("with a quote", timer.Quote != nil)
	if timer.Trigger.Watch != nil {
		for _, key := range timer.Trigger.Watch.Keys {
			count("watch "+key.Store, true)
		}
	}
	if timer.Trigger.Interval != nil && timer.LastOutcome != nil {
		count("interval that succeeded", timer.LastOutcome.Success)
		count("interval that failed", !timer.LastOutcome.Success)
	}
	count("retries", timer.Retries > 0)
	count("long payload", len(timer.Payload) > types.InlinePayloadBytes)
	count("bid locked", timer.Locked().IsPositive())
	if timer.Bid != nil {
		count("bid of an agent", timer.Bid.Agent != "")
		count("bid static", timer.Bid.Static != nil)
		count("bid tier", timer.Bid.Tier != types.TierUnspecified)
		count("bid price", timer.Bid.Price != "")
	}
	count("timer of a contract", len(timer.Actor) == wasmtypes.ContractAddrLen)
	count("unfunded", timer.UnfundedSince > 0)
}

func countLane(count func(string, bool), lane *types.LaneState) {
	count("lane head", lane.HeadCursor != types.QueueKey{})
	count("lane live", lane.LiveCursor != types.QueueKey{})
	count("lane burned", lane.Burned.IsPositive())
	count("lane tips", lane.Tips.IsPositive())
	count("lane basefee", lane.LaneBasefee != nil && lane.LaneBasefee.IsPositive())
	count("market since", lane.MarketSince > 0)
	count("lane admit", lane.AdmitCursor != types.QueueKey{})
	count("score epoch", lane.ScoreEpoch > 0)
	count("tip epoch", lane.TipMarket.Epoch > 0)
	count("tip round", lane.TipMarket.Round != types.QueueKey{})
	count("tip checked", lane.TipMarket.Checked > 0)
	count("lane clean", lane.SweepCursor != types.QueueKey{})
	count("sweep of those set aside", lane.AsideCursor > 0)
	count("agent turn", lane.AgentTurn != types.QueueKey{})
	count("auction", lane.Auction != nil)
}

// TestStateV1IsMigrated: the migration takes the pairs of the store, and what is exported then is what an import of the
// exported state gives. Both chains go on alike.
//
// Rule: 2.5-in-place, 2.5-no-timer-leaves
func TestStateV1IsMigrated(t *testing.T) {
	for _, name := range snapshotNames {
		t.Run(name, func(t *testing.T) {
			s := readStateV1(t, name)
			resumed := s.migrated(t)
			require.NoError(t, resumed.App.Timers.CheckInvariants(resumed.Ctx()))
			requireExports(t, s.timers, resumed.App, resumed.Ctx())
			again := appchain.Resume(t, s.state(t), s.Height, simtestutil.DefaultConsensusParams, func(sdk.Context, *app.App) {})
			requireExports(t, s.timers, again.App, again.Ctx())

			imported, total, beats := s.imported(t), 0, 0
			for range 40 {
				want, got := firesOf(resumed), firesOf(imported)
				require.Equal(t, want, got, "height %d", resumed.App.LastBlockHeight())
				total += len(got)
				for _, event := range got {
					if event["success"] == "true" && event["actor"] == s.heartbeat(t) {
						beats++
					}
				}
			}
			require.Equal(t, imported.App.Bank.ExportGenesis(imported.Ctx()), resumed.App.Bank.ExportGenesis(resumed.Ctx()))
			require.Greater(t, total, 40, "timers fire")
			require.Positive(t, beats, "the heartbeat's contract runs and goes on")
		})
	}
}

// TestStateV1IsUpgraded: timerd's upgrade migrates the state of a running chain, in the block that governance planned. Timers
// fire in that very block, and a proposal with a config of version 1 can be read and exported.
//
// Rule: 2.5-consensus-version, 2.5-proposals
func TestStateV1IsUpgraded(t *testing.T) {
	s := readStateV1(t, "storm")
	upgraded := s.inPlace(t, func(ctx sdk.Context, a *app.App) {
		versions := a.Modules().GetVersionMap()
		versions[types.ModuleName] = 1
		s.putProposal(t, ctx, a)
		require.NoError(t, a.Upgrade.SetModuleVersionMap(ctx, versions))
		require.NoError(t, a.Upgrade.ScheduleUpgrade(ctx, upgradetypes.Plan{Name: app.UpgradeV2, Height: s.Height + 1}))
	})
	imported, total := s.imported(t), 0
	for range 10 {
		want, got := firesOf(imported), firesOf(upgraded)
		require.Equal(t, want, got, "height %d", upgraded.App.LastBlockHeight())
		total += len(got)
	}
	require.Greater(t, total, 10, "timers fire")
	require.NoError(t, upgraded.App.Timers.CheckInvariants(upgraded.Ctx()))
	versions, err := upgraded.App.Upgrade.GetModuleVersionMap(upgraded.Ctx())
	require.NoError(t, err)
	require.Equal(t, uint64(2), versions[types.ModuleName])

	proposal, err := upgraded.App.Gov.Proposals.Get(upgraded.Ctx(), 1)
	require.NoError(t, err)
	require.Equal(t, govv1.StatusPassed, proposal.Status)
	msg, is := proposal.Messages[0].GetCachedValue().(*types.MsgUpdateTimerConfig)
	require.True(t, is)
	config := s.genesis(t, fixtureCodec()).Config
	require.Equal(t, string(jsonOf(t, fixtureCodec(), &types.MsgUpdateTimerConfig{Authority: msg.Authority, Config: config})),
		string(jsonOf(t, fixtureCodec(), msg)))
	_, err = upgraded.App.ExportAppStateAndValidators(false, nil, []string{govtypes.ModuleName})
	require.NoError(t, err)
}

// TestAProposalThatCannotBeConvertedStays: it does not stop the upgrade.
func TestAProposalThatCannotBeConvertedStays(t *testing.T) {
	s := readStateV1(t, "storm")
	key, broken := append(govtypes.ProposalsKeyPrefix.Bytes(), sdk.Uint64ToBigEndian(99)...), []byte{0xff}
	upgraded := s.inPlace(t, func(ctx sdk.Context, a *app.App) {
		versions := a.Modules().GetVersionMap()
		versions[types.ModuleName] = 1
		ctx.KVStore(a.StoreKey(govtypes.StoreKey)).Set(key, broken)
		require.NoError(t, a.Upgrade.SetModuleVersionMap(ctx, versions))
		require.NoError(t, a.Upgrade.ScheduleUpgrade(ctx, upgradetypes.Plan{Name: app.UpgradeV2, Height: s.Height + 1}))
	})
	upgraded.NextBlock()
	require.Equal(t, broken, upgraded.Ctx().KVStore(upgraded.App.StoreKey(govtypes.StoreKey)).Get(key))
	versions, err := upgraded.App.Upgrade.GetModuleVersionMap(upgraded.Ctx())
	require.NoError(t, err)
	require.Equal(t, uint64(2), versions[types.ModuleName])
}

// putProposal gives the first proposal of governance the bytes of the config that was in force, as version 1 wrote them.
func (s *snapshot) putProposal(t *testing.T, ctx sdk.Context, a *app.App) {
	t.Helper()
	proposal, err := a.Gov.Proposals.Get(ctx, 1)
	require.NoError(t, err)
	at := slices.IndexFunc(s.pairs, func(p pair) bool { return bytes.Equal(p.key, types.PrefixConfig.Bytes()) })
	value := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), authtypes.NewModuleAddress(govtypes.ModuleName).String())
	value = protowire.AppendBytes(protowire.AppendTag(value, 2, protowire.BytesType), s.pairs[at].value)
	proposal.Messages = []*codectypes.Any{{TypeUrl: sdk.MsgTypeURL(&types.MsgUpdateTimerConfig{}), Value: value}}
	require.NoError(t, a.Gov.Proposals.Set(ctx, 1, proposal))
	_, err = a.Gov.Proposals.Get(ctx, 1)
	require.Error(t, err, "it can't be read as it is")
}

// requireExports: the module's state is exported as the JSON says.
func requireExports(t *testing.T, want json.RawMessage, a *app.App, ctx sdk.Context) {
	t.Helper()
	genesis, err := a.Timers.ExportGenesis(ctx)
	require.NoError(t, err)
	require.Equal(t, string(want), string(jsonOf(t, a.AppCodec(), genesis)))
}

// firesOf runs a block and returns its fires, without what names the block before.
func firesOf(c *appchain.Chain) []map[string]string {
	fired := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
	for _, event := range fired {
		delete(event, "deliver_id")
	}
	return fired
}
