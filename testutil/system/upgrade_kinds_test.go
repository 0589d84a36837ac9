package system

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	txtypes "github.com/cosmos/cosmos-sdk/types/tx"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/node"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// carried are the kinds of which an upgrade has a timer each, in the words of kindsOf: what triggers them, why they are
// held, how they bid, and what they wait with. A kind that the module gets must be added, and scheduled by scheduleKinds.
var carried = []string{
	"trigger height", "trigger interval", "trigger watch", "trigger time", "trigger after", "trigger calendar",
	"held QUARANTINED", "held UNRUNNABLE", "held SUSPENDED", "held PAUSED", "held UNFUNDED", "held TIMED", "held WATCHING",
	"bid static", "bid tier", "bid agent", "bid price",
	"policy FIFO", "policy EIP1559", "policy AUCTION", "policy SCORE", "policy TIP",
	"guard", "retry that waits", "occurrences", "answer of an agent", "locked bid", "weight under tip",
}

// passing are kinds that no upgrade can be brought to have at its height, and why.
var passing = map[string]string{
	"held PRICED_OUT": "only while more timers are ready than a block reads",
	"held NOT_ADMIN":  "only while more timers leave than a block removes",
}

// known are the kinds that the types of the module tell of.
func known() (all []string) {
	fields := func(kind string, of any) {
		record := reflect.TypeOf(of)
		for i := range record.NumField() {
			name, _, _ := strings.Cut(record.Field(i).Tag.Get("json"), ",")
			all = append(all, kind+name)
		}
	}
	fields("trigger ", types.Trigger{})
	fields("bid ", types.Bid{})
	for number, name := range types.HoldReason_name {
		if number != 0 {
			all = append(all, "held "+strings.TrimPrefix(name, "HOLD_REASON_"))
		}
	}
	for number, name := range types.Policy_name {
		if number != 0 {
			all = append(all, "policy "+strings.TrimPrefix(name, "POLICY_"))
		}
	}
	return all
}

// TestUpgradeKinds_AreAllThatTheModuleKnows: a new trigger, policy, form of bid or reason to hold a timer has to be
// carried over an upgrade, too.
func TestUpgradeKinds_AreAllThatTheModuleKnows(t *testing.T) {
	for _, kind := range known() {
		_, passes := passing[kind]
		require.NotEqual(t, slices.Contains(carried, kind), passes,
			"%q is to be among the kinds of which an upgrade has a timer, or among those that pass by themselves", kind)
	}
	for kind := range passing {
		require.Contains(t, known(), kind)
	}
	// The others follow from what else a timer can have.
	others := slices.DeleteFunc(slices.Clone(carried), func(kind string) bool { return slices.Contains(known(), kind) })
	require.Equal(t, []string{
		"guard", "retry that waits", "occurrences", "answer of an agent", "locked bid", "weight under tip",
	}, others)
}

// kinds are the timers of an upgrade.
type kinds struct {
	// ids by what they are, and all of them. What becomes of them is no stray.
	ids  map[string]string
	mine map[string]bool
	// born says that the timer of the genesis was scheduled, which no event does.
	born *node.Event
	// fired counts the fires under each policy.
	fired map[string]int
}

func newKinds() kinds {
	return kinds{ids: map[string]string{}, mine: map[string]bool{}, fired: map[string]int{}}
}

// note notes under which policy timers fired.
func (k *kinds) note(e node.Event) {
	if e.Type == "timers.v1.TimerLaneSummary" && e.Attributes["fired"] != "0" && k.fired != nil {
		k.fired[strings.TrimPrefix(e.Attributes["policy"], "POLICY_")]++
	}
}

// goesWrong reports whether an event is about a timer that failed, is held, or leaves without a fire.
func goesWrong(e node.Event) bool {
	switch e.Type {
	case "timers.v1.TimerFired":
		return e.Attributes["success"] != "true" && e.Attributes["guarded"] != "true"
	case "timers.v1.TimerHeld", "timers.v1.TimerExpired", "timers.v1.TimerCancelledInsufficientFunds":
		return true
	}
	return false
}

// quarantined adds a timer to the genesis that is held since the module failed at it, until governance releases it.
func (s *stage) quarantined(alice string) func(map[string]json.RawMessage) error {
	s.t.Helper()
	actor, err := sdk.GetFromBech32(alice, app.Bech32Prefix)
	require.NoError(s.t, err)
	sends := &banktypes.MsgSend{
		FromAddress: alice, ToAddress: alice, Amount: sdk.NewCoins(sdk.NewInt64Coin("utmr", 1)),
	}
	packed, err := codectypes.NewAnyWithValue(sends)
	require.NoError(s.t, err)
	payload, err := (&txtypes.TxBody{Messages: []*codectypes.Any{packed}}).Marshal()
	require.NoError(s.t, err)
	id := sha256.Sum256([]byte("quarantined"))
	const expires = 1_000_000
	s.add("quarantined", fmt.Sprintf("%x", id))
	s.kinds.born = &node.Event{Type: "timers.v1.TimerScheduled", Attributes: map[string]string{
		"id": s.kinds.ids["quarantined"], "actor": alice, "due": "2", "expires_at": fmt.Sprint(expires),
	}}
	timer := map[string]any{
		"id": base64.StdEncoding.EncodeToString(id[:]), "actor": base64.StdEncoding.EncodeToString(actor),
		"spec": map[string]any{
			"name": "quarantined", "trigger": map[string]string{"height": "2"},
			"call": map[string]any{"payload": base64.StdEncoding.EncodeToString(payload)},
		},
		"gas_limit": "100000", "cell_limit": "20000", "expires_at": fmt.Sprint(expires), "seq": "1", "due": "2",
		"hold_reason": "HOLD_REASON_QUARANTINED",
	}
	return func(state map[string]json.RawMessage) error {
		var genesis map[string]any
		if err := json.Unmarshal(state["timers"], &genesis); err != nil {
			return err
		}
		genesis["timers"], genesis["next_seq"] = []any{timer}, "2"
		state["timers"], err = json.Marshal(genesis)
		return err
	}
}

func (s *stage) add(kind, id string) {
	require.Empty(s.t, s.kinds.ids[kind], "%s twice", kind)
	s.kinds.ids[kind], s.kinds.mine[id] = id, true
}

// book schedules the timer of a kind through the command line.
func (s *stage) book(kind, owner string, args ...string) {
	s.t.Helper()
	id, _ := schedule(s.ctx, s.t, s.Nodes[0], owner, append([]string{"--name", kind}, args...)...)
	s.add(kind, id)
}

// inForce has governance put a policy in force, with other parameters too, and waits for a block in which timers fire
// under it.
func (s *stage) inForce(policy string, settings ...string) {
	s.t.Helper()
	first := s.Nodes[0]
	args := []string{"timers", "update-timer-config", "--title", policy, "--summary", policy, "--deposit", "1000000utmr"}
	for _, setting := range append([]string{"policy=POLICY_" + policy}, settings...) {
		args = append(args, "--set", setting)
	}
	s.proposals++
	for _, sent := range [][]string{args, {"gov", "vote", fmt.Sprint(s.proposals), "yes"}} {
		result, err := first.Tx(s.ctx, "node0", sent...)
		require.NoError(s.t, err)
		require.Zero(s.t, result.Code, result.Log)
	}
	s.until(s.height(), func(e node.Event) bool {
		a := e.Attributes
		return e.Type == "timers.v1.TimerLaneSummary" && a["policy"] == "POLICY_"+policy && a["fired"] != "0"
	})
}

// until reads blocks from a height on until an event comes.
func (s *stage) until(from int64, is func(node.Event) bool) {
	s.t.Helper()
	eachBlock(s.ctx, s.t, s.Nodes[0], from, func(_ int64, events []node.Event) bool {
		return slices.ContainsFunc(events, is)
	})
}

// scheduleKinds leaves a timer of each kind that is carried over, in so far as the load has none: under each policy in
// turn, which leaves its state.
func (s *stage) scheduleKinds() {
	s.t.Helper()
	first := s.Nodes[0]
	alice, bob := addressOf(s.ctx, s.t, first, "alice"), addressOf(s.ctx, s.t, first, "bob")
	poor := addressOf(s.ctx, s.t, first, "poor")
	sent, fails := sendFile(s.t, bob, alice, 1), sendFile(s.t, bob, alice, 1_000_000_000_000_000)
	pays := func(args ...string) []string { return append(args, "--msgs", sent) }
	guard := "bank:balance:" + bob + ":utmr"

	s.inForce("AUCTION")
	s.book("locked bid", "bob", pays("--in", "80000", "--bid", "1000")...)
	s.inForce("SCORE")
	s.book("bid under score", "bob", pays("--in", "80000", "--bid", "700")...)
	s.inForce("TIP")
	s.book("static bid", "bob", pays("--in", "80000", "--max-fee", "1", "--max-priority", "0.5")...)
	s.book("fires under tip", "bob", pays("--every", "2")...)
	s.inForce("FIFO")
	s.book("tier", "bob", pays("--in", "80000", "--tier", "urgent")...)
	s.book("unrunnable", "bob", pays("--in", "40", "--gas-limit", "240000")...)
	s.inForce("EIP1559", "max_cycles_per_fire=200000", "eip1559.max_cycles_per_fire_auction=200000")

	s.book("time", "bob", pays("--after", "24h")...)
	s.book("after blocks", "bob", pays("--after-blocks", "80000")...)
	s.book("guard that holds", "bob", pays("--in", "80000", "--only-if", guard+" > 5")...)
	s.book("guard that does not hold", "bob", pays("--every", "3", "--only-if", guard+" < 1")...)
	s.book("retry", "bob", "--force", "--msgs", fails, "--in", "8", "--retries", "1", "--retry-after", "70000")
	s.book("suspended", "bob", "--force", "--msgs", fails, "--every", "1", "--on-failure", "suspend")
	s.book("rhythm", "bob", pays("--every", "4", "--every-from", "schedule", "--missed", "each")...)
	s.book("calendar by a rule", "bob", pays("--every", "day@09:00")...)
	s.book("agent", "alice", "--msgs", sendFile(s.t, alice, bob, 1), "--every", "2", "--agent", s.agent)
	s.book("paused", "bob", pays("--every", "2")...)
	s.owns("bob", "pause", "paused")
	s.book("unfunded", "poor", "--msgs", sendFile(s.t, poor, alice, 1), "--in", "12",
		"--max-fee", "2000", "--max-priority", "2000")
	result, err := first.Tx(s.ctx, "poor", "bank", "send", poor, alice, "9990000000utmr")
	require.NoError(s.t, err)
	require.Zero(s.t, result.Code, result.Log)
	s.until(result.Height, func(e node.Event) bool {
		return e.Type == "timers.v1.TimerHeld" && e.Attributes["id"] == s.kinds.ids["unfunded"]
	})
}

// owns has an owner send a message about the timer of a kind, and returns the height of its block.
func (s *stage) owns(owner, what, kind string, flags ...string) int64 {
	s.t.Helper()
	first := s.Nodes[0]
	name := addressOf(s.ctx, s.t, first, owner) + "/" + s.kinds.ids[kind]
	result, err := first.Tx(s.ctx, owner, append([]string{"timers", what, name}, flags...)...)
	require.NoError(s.t, err)
	require.Zero(s.t, result.Code, result.Log)
	return result.Height
}

// exported is the module's state at a height, as a stopped node's binary exports it.
func (s *stage) exported(n *node.Node, height int64) (state map[string]any) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "state.json")
	_, err := n.CLI(s.ctx, "export", "--height", fmt.Sprint(height), "--modules-to-export", "timers",
		"--output-document", file)
	require.NoError(s.t, err)
	var genesis struct {
		State struct {
			Timers map[string]any `json:"timers"`
		} `json:"app_state"`
	}
	raw, err := os.ReadFile(file)
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(raw, &genesis))
	return genesis.State.Timers
}

// kindsOf counts the timers of each kind in an exported state.
func (k *kinds) kindsOf(state map[string]any) map[string]int {
	found := map[string]int{}
	is := func(kind string, value any) {
		if stated(value) {
			found[kind]++
		}
	}
	for _, one := range listOf(state["timers"]) {
		timer := one.(map[string]any)
		spec := mapOf(timer["spec"])
		for _, part := range []string{"trigger", "bid"} {
			for name, value := range mapOf(spec[part]) {
				is(part+" "+name, value)
			}
		}
		if reason := strings.TrimPrefix(fmt.Sprint(timer["hold_reason"]), "HOLD_REASON_"); reason != "UNSPECIFIED" {
			found["held "+reason]++
		}
		is("guard", spec["only_if"])
		is("retry that waits", timer["retries"])
		is("occurrences", timer["recurrence"])
		is("answer of an agent", timer["last_answer"])
		is("locked bid", timer["bid_locked"])
	}
	for policy, blocks := range k.fired {
		found["policy "+policy] = blocks
	}
	found["weight under tip"] = len(listOf(deep(mapOf(state)["policies"], "weights")))
	return found
}

// stated reports whether a field of an export has another value than its default.
func stated(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case string:
		return v != "" && v != "0" && !strings.HasSuffix(v, "_UNSPECIFIED")
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	}
	return true
}

func listOf(value any) []any { list, _ := value.([]any); return list }

func mapOf(value any) map[string]any { fields, _ := value.(map[string]any); return fields }

// deep finds a field by its name, however deep it is.
func deep(value any, name string) any {
	if list := listOf(value); list != nil {
		for _, one := range list {
			if found := deep(one, name); found != nil {
				return found
			}
		}
	}
	fields := mapOf(value)
	if found, ok := fields[name]; ok && stated(found) {
		return found
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if found := deep(fields[key], name); found != nil {
			return found
		}
	}
	return nil
}

// carriesOver holds that a stopped node's state at a height has a timer of each kind, and that the next release reads
// the same timers from it as the last one did.
func (s *stage) carriesOver(height int64) {
	s.t.Helper()
	first := s.Nodes[0]
	before := s.exported(first, height)
	found := s.kinds.kindsOf(before)
	for _, kind := range carried {
		require.NotZero(s.t, found[kind], "no timer at height %d has: %s; there are %v", height, kind, found)
	}
	first.Swap(s.newer.binary)
	after := s.exported(first, height)
	was, is := listOf(before["timers"]), listOf(after["timers"])
	require.Len(s.t, is, len(was))
	for i := range was {
		for name, value := range mapOf(was[i]) {
			require.Equal(s.t, value, mapOf(is[i])[name], "%s of timer %d of %d", name, i, len(was))
		}
	}
	s.t.Logf("at height %d %d timers are carried over from %s to %s, by kind: %v", height, len(was), s.older.version,
		s.newer.version, found)
}

// livesOn has owners and governance move on what was held over the upgrade.
func (s *stage) livesOn() {
	s.t.Helper()
	first := s.Nodes[0]
	about := func(kind, name string) func(node.Event) bool {
		return func(e node.Event) bool { return e.Type == "timers.v1."+name && e.Attributes["id"] == s.kinds.ids[kind] }
	}
	s.until(s.owns("bob", "resume", "paused"), about("paused", "TimerFired"))
	s.until(s.owns("bob", "resume", "suspended", "--force"), about("suspended", "TimerFired"))
	require.Equal(s.t, "1000", s.locked())
	s.owns("bob", "cancel", "locked bid")
	require.Equal(s.t, "0", s.locked(), "what was locked is returned")
	asked := s.height()
	alice, poor := addressOf(s.ctx, s.t, first, "alice"), addressOf(s.ctx, s.t, first, "poor")
	s.propose("release", map[string]any{
		"@type": "/timers.v1.MsgSysReleaseTimer", "actor": alice, "id": s.kinds.ids["quarantined"],
	})
	s.until(asked, func(e node.Event) bool {
		return about("quarantined", "TimerFired")(e) && e.Attributes["success"] == "true"
	})
	result, err := first.Tx(s.ctx, "alice", "bank", "send", alice, poor, "900000000utmr")
	require.NoError(s.t, err)
	require.Zero(s.t, result.Code, result.Log)
	s.until(result.Height, func(e node.Event) bool {
		return about("unfunded", "TimerFired")(e) && e.Attributes["success"] == "true"
	})
}

// locked is what the module's account holds: the bids that are locked.
func (s *stage) locked() string {
	s.t.Helper()
	var account struct {
		Account struct {
			Value struct{ Address string }
		}
	}
	cli(s.ctx, s.t, s.Nodes[0], &account, "query", "auth", "module-account", "timers")
	var balance struct{ Balance struct{ Amount string } }
	cli(s.ctx, s.t, s.Nodes[0], &balance, "query", "bank", "balance", account.Account.Value.Address, "utmr")
	return balance.Balance.Amount
}
