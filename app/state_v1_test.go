package app_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// State version 1 is committed, as a chain of this repository left it with a timer of every kind:
//
//	genesis.json  what the application exports
//	store.txt     the keys and values of the module's store, in hexadecimal, a line each
//	next.txt      what the timers do in the blocks that follow, a line each
//
// A change of how state is stored gets a migration, and this state is what it starts from: the files stay as they are
// once version 1 is released. Only next.txt may follow an intended change of what timers do.
const stateV1 = "testdata/state-v1"

var (
	updateState = flag.Bool("statev1.update", false, "write the files of state version 1; before its release alone")
	updateNext  = flag.Bool("statev1.next", false, "write what the timers of state version 1 do next")
)

// nextBlocks is for how many blocks the timers are followed.
const nextBlocks = 130

// everyKind runs a chain up to a block after which a timer of every kind is there. Each timer's name is its kind.
func everyKind(t *testing.T) *kinds {
	t.Helper()
	names := []string{"validator", "alice", "bob", "carol", "dave", "pauper", "poor", "mallory", "quarry", "sink"}
	l := &kinds{
		Chain: appchain.NewUnder(t, func(c *types.TimerConfig) { c.Policy = types.PolicyAuction }, names...),
		t:     t, ids: map[string]string{}, actors: map[string]string{},
	}
	hostile := l.InstantiateWithAdmin("mallory", l.StoreCode("mallory", contracts.Hostile), `{}`, 1_000_000,
		address("mallory"))
	l.bidsOfPolicies(hostile.String())
	l.triggersAndOptions(hostile.String())
	l.heldTimers()
	l.lastBlock(hostile.String())
	return l
}

// add schedules a timer of a kind, with changes.
func (l *kinds) add(kind, owner string, due uint64, changes ...func(*types.MsgScheduleTimer)) {
	l.t.Helper()
	msg := schedule(l.t, l.Chain, owner, uint64(l.App.LastBlockHeight())+due, send(owner, "sink", 1))
	msg.Spec.Name = kind
	for _, change := range changes {
		change(msg)
	}
	l.book(kind, owner, msg)
}

func bidding(bid types.Bid) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Bid = &bid }
}

func due(trigger types.Trigger, repeat ...types.Repeat) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) {
		if msg.Spec.Trigger = trigger; len(repeat) > 0 {
			msg.Spec.Repeat = &repeat[0]
		}
	}
}

// bidsOfPolicies lets each policy be in force, with a timer that bids as it is done there and one that fires.
func (l *kinds) bidsOfPolicies(agent string) {
	l.t.Helper()
	static := types.Bid{Static: &types.StaticBid{
		MaxFeePerCycle:         decimal.Of(math.LegacyNewDec(1)),
		MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(45, 5)),
	}}
	for _, c := range []struct {
		policy types.Policy
		kind   string
		bid    types.Bid
	}{
		{types.PolicyAuction, "bid of auction", types.Bid{Price: "1000"}},
		{types.PolicyScore, "bid of score", types.Bid{Price: "700"}},
		{types.PolicyTip, "bid of tip", static},
		{types.PolicyFIFO, "bid under fifo", types.Bid{Tier: types.TierEconomy}},
		{types.PolicyEIP1559, "bid of eip1559", static},
	} {
		l.setConfig(func(config *types.TimerConfig) { config.Policy = c.policy })
		l.NextBlock()
		l.add(c.kind, "alice", 120, bidding(c.bid))
		l.add("fires under "+c.kind, "bob", 2)
		l.NextBlock()
		l.NextBlock()
	}
	l.add("bid by tier", "alice", 120, bidding(types.Bid{Tier: types.TierUrgent}))
	l.add("bid by agent", "mallory", 120, bidding(types.Bid{Agent: agent}))
	l.Deliver("mallory", &types.MsgSetAgent{Sender: address("mallory"), Agent: agent})
}

// triggersAndOptions schedules what waits for its time or for a change.
func (l *kinds) triggersAndOptions(contract string) {
	l.t.Helper()
	height := uint64(l.App.LastBlockHeight())
	now := time.Unix(1_700_000_000+l.App.LastBlockHeight(), 0).UTC()
	at := now.Add(100 * time.Second)
	l.add("height", "alice", 100)
	l.add("after", "alice", 0, due(types.Trigger{After: 100}))
	l.add("interval from its fires", "alice", 0,
		due(types.Trigger{Interval: &types.IntervalTrigger{Every: 9, First: height + 30}}))
	l.add("interval from its schedule", "alice", 0, due(types.Trigger{Interval: &types.IntervalTrigger{
		Every: 8, First: height + 20, From: types.FromSchedule,
	}}, types.Repeat{Remaining: 12, OnFailure: types.OnFailureSuspend, MaxFailures: 2, Missed: types.MissedEach, Window: 6, Jitter: 3}))
	l.add("time", "alice", 0, due(types.Trigger{Time: &at}))
	l.add("calendar by seconds", "alice", 0, due(types.Trigger{Calendar: &types.CalendarTrigger{
		Every: &types.EveryRule{Seconds: 60},
	}}, types.Repeat{Jitter: 5, Renew: true}), func(msg *types.MsgScheduleTimer) {
		msg.Spec.ExpiresTime = now.Unix() + 1_000
	})
	l.add("calendar by a cron rule", "alice", 0, due(types.Trigger{Calendar: &types.CalendarTrigger{
		Cron: &types.CronRule{
			Minutes: 1<<60 - 1, Hours: 1<<24 - 1, LastDay: true, Days: 1<<32 - 2, Months: 1<<13 - 2, Weekdays: 1<<7 - 1,
		},
		OffsetMinutes: 60, Transitions: []types.OffsetTransition{{From: 1_700_000_040, OffsetMinutes: 120}},
	}}, types.Repeat{Remaining: 3}))
	l.add("retry that waits", "bob", 2, func(msg *types.MsgScheduleTimer) {
		msg.Spec.Call.Payload = schedule(l.t, l.Chain, "bob", 0, send("bob", "sink", appchain.Funds.Int64()*2)).Spec.Call.Payload
		msg.Spec.Retry = &types.Retry{Max: 2, After: 60, Backoff: 2, On: []types.ErrorCode{{Codespace: "sdk"}}}
	})
	l.add("guard that holds", "alice", 100, l.guarded("carol", types.ConditionGreater, "5"))
	l.add("guard that does not hold", "alice", 100, l.guarded("carol", types.ConditionLess, "5"))
	l.add("long payload", "alice", 100, l.longPayload("alice"))
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{},
		[]string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})})
	require.NoError(l.t, err)
	grant, err := feegrant.NewMsgGrantAllowance(allowance,
		appchain.AccountOf("dave").Address, appchain.AccountOf("bob").Address)
	require.NoError(l.t, err)
	l.Deliver("dave", grant)
	l.add("another pays", "bob", 100, func(msg *types.MsgScheduleTimer) { msg.Spec.FeePayer = address("dave") })
	l.add("admin's call", "mallory", 100, l.call(contract))

	balance := func(who string) string { return "bank:balance:" + address(who) + ":" + app.FeeDenom }
	watching := func(kind string, cooldown uint64, keys ...string) {
		l.t.Helper()
		msg := watch(l.t, l.Chain, "alice", 3, keys...)
		msg.Spec.Name, msg.Spec.Trigger.Watch.Cooldown = kind, cooldown
		l.book(kind, "alice", msg)
	}
	watching("watch", 0, balance("carol"), balance("dave"))
	watching("watch with a change", 0, balance("dave"))
	watching("watch of a contract", 0, "wasm:contract:"+contract)
	watching("watch that cools down", 40, balance("quarry"))
	condition := l.richer("carol")
	condition.Spec.Name = "condition"
	l.book(condition.Spec.Name, "alice", condition)
	l.Deliver("bob", send("bob", "quarry", 1))
	l.NextBlock()
}

// longPayload has messages that are stored in an entry of their own.
func (l *kinds) longPayload(owner string) func(*types.MsgScheduleTimer) {
	var sends []sdk.Msg
	for i := range int64(4) {
		sends = append(sends, send(owner, "sink", i+1))
	}
	payload := schedule(l.t, l.Chain, owner, 0, sends...).Spec.Call.Payload
	require.Greater(l.t, len(payload), types.InlinePayloadBytes)
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Call.Payload, msg.Spec.GasLimit = payload, 190_000 }
}

// guarded is a guard on a balance.
func (l *kinds) guarded(who string, op types.ConditionOp, value string) func(*types.MsgScheduleTimer) {
	key := watch(l.t, l.Chain, "alice", 1, "bank:balance:"+address(who)+":"+app.FeeDenom).Spec.Trigger.Watch.Keys[0]
	key.When = &types.WatchCondition{Op: op, Value: value}
	return func(msg *types.MsgScheduleTimer) { msg.Spec.OnlyIf = []types.WatchKey{key} }
}

// call makes the admin of a contract have it called.
func (l *kinds) call(contract string) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) {
		msg.Actor, msg.Spec.Call.Handler, msg.Spec.Call.Payload = contract, "nothing", []byte(`{}`)
	}
}

// drained schedules timers whose payer cannot cover them: of all that it has one fee is left.
func (l *kinds) drained(owner string, after uint64, which ...string) {
	l.t.Helper()
	for i, kind := range which {
		l.add(kind, owner, after-uint64(i), func(msg *types.MsgScheduleTimer) {
			msg.Spec.CellLimit = 550_000
			if kind == "suspended" {
				msg.Spec.OnUnfunded = types.OnUnfundedSuspend
			}
		})
	}
	fees := int64(len(which)+2) * appchain.TxFee[0].Amount.Int64()
	l.Deliver(owner, send(owner, "sink", appchain.Funds.Int64()-fees))
}

// heldTimers brings timers out of the queue for what does not pass by itself: paused, suspended, quarantined,
// unrunnable, and priced out.
func (l *kinds) heldTimers() {
	l.t.Helper()
	l.add("paused", "alice", 100)
	l.Deliver("alice", &types.MsgPauseTimer{Sender: address("alice"), Id: l.ids["paused"]})
	l.drained("pauper", 2, "suspended")
	l.NextBlock()

	// That the payload is not where it was stored is an error that the module does not expect.
	payload := l.longPayload("quarry")
	l.add("quarantined", "quarry", 2, payload)
	store := func() storetypes.KVStore { return l.Ctx().KVStore(l.App.StoreKey(types.StoreKey)) }
	var scheduled types.MsgScheduleTimer
	payload(&scheduled)
	var lost []byte
	entries := store().Iterator(nil, nil)
	for ; entries.Valid(); entries.Next() {
		if bytes.Contains(entries.Value(), scheduled.Spec.Call.Payload) {
			require.Empty(l.t, lost, "it is stored once")
			lost = entries.Key()
		}
	}
	require.NoError(l.t, entries.Close())
	require.NotEmpty(l.t, lost)
	value := store().Get(lost)
	store().Delete(lost)
	l.UncheckedBlock()
	store().Set(lost, value)

	l.add("unrunnable", "alice", 3, func(msg *types.MsgScheduleTimer) { msg.Spec.GasLimit = 240_000 })
	window := uint32(0)
	l.setConfig(func(c *types.TimerConfig) {
		window, c.CandidateWindow = c.CandidateWindow, 4
		c.Policy = types.PolicyFIFO
		c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 200_000, 200_000
	})
	l.NextBlock()
	var txs [][]byte
	for i := range 12 {
		msg := schedule(l.t, l.Chain, "alice", uint64(l.App.LastBlockHeight())+2, send("alice", "sink", 1))
		msg.Spec.MaxCharge, msg.Spec.Name = "5", fmt.Sprintf("priced out %d", i)
		txs = append(txs, l.Sign("alice", msg))
	}
	for _, result := range l.NextBlock(txs...).TxResults {
		require.Zero(l.t, result.Code, result.Log)
	}
	l.NextBlock()
	l.setConfig(func(c *types.TimerConfig) { c.CandidateWindow, c.Policy = window, types.PolicyEIP1559 })
	l.NextBlock()
}

// lastBlock runs the block after which the state is kept: of its timers one fires, one leaves, and the rest waits for
// later blocks. It accepts a config that is not in force yet.
func (l *kinds) lastBlock(contract string) {
	l.t.Helper()
	l.setConfig(func(c *types.TimerConfig) {
		lab.SetRemovals(c, 1)
		c.MaxFiresPerBlock = 1
	})
	l.NextBlock()
	at := uint64(l.App.LastBlockHeight()) + 9
	left := func() uint64 { return at - uint64(l.App.LastBlockHeight()) }
	for i := range 3 {
		l.add(fmt.Sprintf("not admin %d", i), "mallory", left(), l.call(contract), due(types.Trigger{After: left() - 1}),
			bidding(types.Bid{Tier: types.TierUrgent}))
	}
	for i := range 2 {
		l.add(fmt.Sprintf("ready %d", i), "alice", left(), bidding(types.Bid{Tier: types.TierFast}))
	}
	l.drained("poor", left(), "unfunded 0", "unfunded 1")
	require.Equal(l.t, uint64(1), left(), "the block that comes is the last")
	leaves := &wasmtypes.MsgUpdateAdmin{Sender: address("mallory"), NewAdmin: address("bob"), Contract: contract}
	// What bob sends triggers two watches, of which one waits for its turn.
	block := l.NextBlock(l.Sign("mallory", leaves), l.Sign("bob", send("bob", "dave", 1)))
	for _, result := range block.TxResults {
		require.Zero(l.t, result.Code, result.Log)
	}
	l.setConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, 50); c.MaxFiresPerBlock = 64 })
}

// next follows the timers, with what owners and others do about them: a line for each that fires or leaves, and at the
// end one for each that is still there.
func next(t *testing.T, c *appchain.Chain, known []types.Timer) string {
	t.Helper()
	kinds := map[string]string{}
	var paused, suspended string
	for _, timer := range known {
		id := hex.EncodeToString(timer.Id)
		kinds[id] = timer.Spec.Name
		switch timer.Spec.Name {
		case "paused":
			paused = id
		case "suspended":
			suspended = id
		}
	}
	var out strings.Builder
	block := func(txs ...[]byte) {
		t.Helper()
		response := c.NextBlock(txs...)
		for _, result := range response.TxResults {
			require.Zero(t, result.Code, result.Log)
		}
		for _, event := range response.Events {
			name, ours := strings.CutPrefix(event.Type, "timers.v1.")
			if !ours || !slices.Contains(followed, name) {
				continue
			}
			attributes := map[string]string{}
			for _, attribute := range event.Attributes {
				attributes[attribute.Key] = strings.Trim(attribute.Value, `"`)
			}
			kind, there := kinds[attributes["id"]]
			require.True(t, there, "%s of a timer that is not in the state: %v", name, attributes)
			fmt.Fprintf(&out, "%d %s: %s", c.App.LastBlockHeight(), kind, name)
			if name == "TimerFired" {
				fmt.Fprintf(&out, " success=%s guarded=%s", attributes["success"], attributes["guarded"])
			}
			out.WriteString("\n")
		}
	}
	block() // A chain knows its accounts when its first block has ended.
	block(c.Sign("alice", &types.MsgResumeTimer{Sender: address("alice"), Id: paused}),
		c.Sign("bob", send("bob", "carol", 1), send("bob", "pauper", 1_000_000), send("bob", "poor", 1_000_000)),
		c.Sign("dave", send("dave", "quarry", 7)))
	block(c.Sign("pauper", &types.MsgResumeTimer{Sender: address("pauper"), Id: suspended}))
	for range nextBlocks {
		block()
	}
	genesis, err := c.App.Timers.ExportGenesis(c.Ctx())
	require.NoError(t, err)
	for _, timer := range genesis.Timers {
		fmt.Fprintf(&out, "left %s: %s\n", timer.Spec.Name, timer.HoldReason.Word())
	}
	return out.String()
}

// followed are the events of what becomes of a timer.
var followed = []string{
	"TimerFired", "TimerExpired", "TimerHeld", "TimerReleased", "TimerOccurrencesSkipped",
	"TimerCancelledInsufficientFunds", "TimerDeferredInsufficientFunds", "TimerCancelledNotAdmin", "TimerCancelled",
}

// dump writes the module's store: a line for each key, with its value.
func dump(c *appchain.Chain) []byte {
	var out bytes.Buffer
	entries := c.Ctx().KVStore(c.App.StoreKey(types.StoreKey)).Iterator(nil, nil)
	defer func() { _ = entries.Close() }()
	for ; entries.Valid(); entries.Next() {
		fmt.Fprintf(&out, "%x %x\n", entries.Key(), entries.Value())
	}
	return out.Bytes()
}

// load makes the module's store what a dump says.
func load(t *testing.T, store storetypes.KVStore, dump []byte) {
	t.Helper()
	var keys [][]byte
	entries := store.Iterator(nil, nil)
	for ; entries.Valid(); entries.Next() {
		keys = append(keys, entries.Key())
	}
	require.NoError(t, entries.Close())
	for _, key := range keys {
		store.Delete(key)
	}
	for line := range strings.Lines(string(dump)) {
		key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		require.True(t, found, "%q", line)
		decodedKey, err := hex.DecodeString(key)
		require.NoError(t, err)
		decodedValue, err := hex.DecodeString(value)
		require.NoError(t, err)
		store.Set(decodedKey, decodedValue)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(stateV1, name))
	require.NoError(t, err)
	return content
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(stateV1, name), content, 0o600))
}

// exported is the state of the application as it is committed, and that of the module in it.
type exported struct {
	Height int64                      `json:"height"`
	State  map[string]json.RawMessage `json:"state"`
	timers types.GenesisState
}

func readExported(t *testing.T, c *appchain.Chain) exported {
	t.Helper()
	var e exported
	require.NoError(t, json.Unmarshal(read(t, "genesis.json"), &e))
	c.App.AppCodec().MustUnmarshalJSON(e.State[types.ModuleName], &e.timers)
	return e
}

// start begins a chain from the exported state. Its first block is for the caller to run.
func (e exported) start(t *testing.T) *appchain.Chain {
	t.Helper()
	raw, err := json.Marshal(e.State)
	require.NoError(t, err)
	return appchain.Start(t, raw, e.Height+1, simtestutil.DefaultConsensusParams)
}

// writeStateV1 writes the files. What a later version stores is not state version 1.
func writeStateV1(t *testing.T) {
	t.Helper()
	require.Equal(t, 1, timers.ConsensusVersion, "-statev1.update is for version 1; the files stay as they are")
	l := everyKind(t)
	state, err := l.App.ExportAppStateAndValidators(false, nil, nil)
	require.NoError(t, err)
	e := exported{Height: l.App.LastBlockHeight()}
	require.NoError(t, json.Unmarshal(state.AppState, &e.State))
	text, err := json.MarshalIndent(e, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(stateV1, 0o700))
	write(t, "genesis.json", append(text, '\n'))
	write(t, "store.txt", dump(l.Chain))
	write(t, "next.txt", []byte(next(t, l.Chain, readExported(t, l.Chain).timers.Timers)))
}

// TestStateV1_HoldsEveryKind: the files are of use for what they hold alone.
func TestStateV1_HoldsEveryKind(t *testing.T) {
	if *updateState {
		writeStateV1(t)
	}
	e := readExported(t, appchain.New(t, "alice"))
	found := map[string]bool{}
	has := func(what string, there bool) { found[what] = found[what] || there }
	for _, timer := range e.timers.Timers {
		found[timer.HoldReason.String()] = true
		trigger := timer.Spec.Trigger
		has("height", trigger.Height > 0)
		has("interval from its fires", trigger.Interval != nil && trigger.Interval.From != types.FromSchedule)
		has("interval from its schedule", trigger.Interval != nil && trigger.Interval.From == types.FromSchedule)
		has("time", trigger.Time != nil)
		has("calendar by seconds", trigger.Calendar != nil && trigger.Calendar.Every != nil)
		has("calendar by a cron rule", trigger.Calendar != nil && trigger.Calendar.Cron != nil)
		has("watch", trigger.Watch != nil && trigger.Watch.Keys[0].When == nil)
		has("condition", trigger.Watch != nil && trigger.Watch.Keys[0].When != nil)
		has("guard", len(timer.Spec.OnlyIf) > 0)
		has("retry that waits", timer.Retries > 0)
		has("recurrence", timer.Recurrence != nil)
		has("renewal", timer.Renewal != nil)
		has("last outcome", timer.LastOutcome != nil)
		has("long payload", len(timer.Spec.Call.Payload) > types.InlinePayloadBytes)
		has("another pays", !bytes.Equal(timer.FeePayer, timer.Scheduler) && len(timer.FeePayer) > 0)
		has("admin's call", !bytes.Equal(timer.Scheduler, timer.Actor) && len(timer.Scheduler) > 0)
		has("max charge", timer.Spec.MaxCharge != "")
		has("locked bid", timer.BidLocked != "")
		has("ready", timer.HoldReason == types.NotOnHold && timer.Due <= uint64(e.Height))
		if timer.Spec.Bid != nil {
			has("price", timer.Spec.Bid.Price != "" && timer.BidLocked == "")
			has("static bid", timer.Spec.Bid.Static != nil)
			has("tier", timer.Spec.Bid.Tier != types.TierUnspecified)
			has("agent", len(timer.Spec.Bid.Agent) > 0)
		}
	}
	for what, is := range found {
		require.True(t, is, what)
	}
	for _, reason := range types.HoldReason_name {
		require.True(t, found[reason], "no timer has the reason %s", reason)
	}
	require.NotNil(t, e.timers.NextConfig)
	require.NotEmpty(t, e.timers.Receipts)
	require.NotEmpty(t, e.timers.Fairness)
	require.NotEmpty(t, types.PoliciesOf[agents.DefaultAgents](&e.timers))
	require.NotEmpty(t, tip.WeightsIn(&e.timers))
	require.NotEmpty(t, e.timers.WatchHits)
	require.NotEmpty(t, e.timers.WatchValues)
}

// TestStateV1_GoesOn: what is stored, and what was exported, both are the same state for the code as it is now: it
// keeps the invariants, is exported as it was, and its timers do what they did in the chain that left it.
func TestStateV1_GoesOn(t *testing.T) {
	for name, prepare := range map[string]func(storetypes.KVStore){
		"from the export": func(storetypes.KVStore) {},
		"from the store":  func(store storetypes.KVStore) { load(t, store, read(t, "store.txt")) },
	} {
		t.Run(name, func(t *testing.T) {
			e := readExported(t, appchain.New(t, "alice"))
			c := e.start(t)
			// The chain's first block begins with it.
			ctx := c.App.NewContextLegacy(false, cmtproto.Header{ChainID: appchain.ChainID, Height: e.Height})
			prepare(ctx.KVStore(c.App.StoreKey(types.StoreKey)))
			require.NoError(t, c.App.Timers.CheckInvariants(ctx))
			genesis, err := c.App.Timers.ExportGenesis(ctx)
			require.NoError(t, err)
			genesis.Height = uint64(e.Height) // The application states it, and not the module.
			require.JSONEq(t, string(e.State[types.ModuleName]), string(c.App.AppCodec().MustMarshalJSON(genesis)))
			does := next(t, c, e.timers.Timers)
			if *updateNext {
				write(t, "next.txt", []byte(does))
			}
			require.Equal(t, string(read(t, "next.txt")), does)
		})
	}
}
