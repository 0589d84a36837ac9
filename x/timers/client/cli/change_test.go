package cli_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 9.1-timer-name
func TestTimersAreNamedByShortIds(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	for _, name := range []string{id[:6], r.Alice + "/" + id[:6], "alice/" + strings.ToUpper(id[:6]), id, "alice/" + id} {
		msg, _ := r.Printed("cancel", name)
		require.Equal(t, &types.MsgCancelTimer{Sender: r.Alice, Id: id}, msg, name)
	}
	_, notes := r.Printed("cancel", id[:6])
	require.Contains(t, notes, "timer "+r.Alice+"/"+id, "what a short id stands for is shown before it is signed")

	require.ErrorContains(t, r.Refused("cancel", "bob/"+id[:6]), "belongs to "+r.Bob)
	require.ErrorContains(t, r.Refused("cancel", "carol/"+id), `"carol" is neither an address`)
	missing := "0"
	if id[0] == '0' {
		missing = "1"
	}
	require.EqualError(t, r.Refused("cancel", "pay-rent"), "no live timer of yours has the name pay-rent")
	require.EqualError(t, r.Refused("cancel", missing), r.Alice+" has no live timer whose id begins with "+missing+": it may have fired, expired or been cancelled")

	// Among 17 timers two begin alike.
	for range 16 {
		r.Schedule(500, 5)
	}
	seen := map[byte]string{id[0]: id}
	var twins string
	out, _, err := r.Run("query", "timers", "list", "alice", "--output", "json")
	require.NoError(t, err)
	var list struct{ Timers []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list.Timers, 17)
	for _, timer := range list.Timers {
		if other, taken := seen[timer.ID[0]]; taken && other != timer.ID {
			twins = timer.ID[:1]
		}
		seen[timer.ID[0]] = timer.ID
	}
	err = r.Refused("cancel", twins)
	require.ErrorContains(t, err, "the id prefix is ambiguous: "+twins+" fits ")
	require.ErrorContains(t, err, "state more digits")
	require.NotContains(t, err.Error(), "rpc error")

	r.Node.Down = true
	_, err = r.offline("cancel", id[:6])
	require.ErrorContains(t, err, "a short id needs a node: with --offline, state its name or all 64 digits of the id")
	msg, err := r.offline("cancel", id)
	require.NoError(t, err)
	require.Equal(t, &types.MsgCancelTimer{Sender: r.Alice, Id: id}, msg)
	msg, err = r.offline("extend", id, "--until", "900")
	require.NoError(t, err)
	require.Equal(t, &types.MsgExtendTimer{Sender: r.Alice, Id: id, ExpiresAt: 900}, msg)
	msg, err = r.offline("update", id, "--gas-limit", "50000")
	require.NoError(t, err)
	require.Equal(t, &types.MsgUpdateTimer{Sender: r.Alice, Id: id, Spec: types.TimerSpec{GasLimit: 50_000}, Fields: []string{"gas_limit"}}, msg)
}

func (r *rig) offline(line ...string) (sdk.Msg, error) {
	out, _, err := r.Run(append([]string{"tx", "timers"}, append(append(line, "--from", r.Alice), offline...)...)...)
	if err != nil {
		return nil, err
	}
	return r.Tx(out)[0], nil
}

// Rule: 9.1-extend
func TestExtend(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	r.Node.BlockTime = 2 * time.Second
	// The chain clamps what is beyond the longest life. So the timer is made to end sooner first.
	end := func(line ...string) uint64 {
		msg, _ := r.Printed(append([]string{"extend", id[:8]}, line...)...)
		extend, ok := msg.(*types.MsgExtendTimer)
		require.True(t, ok)
		require.Equal(t, &types.MsgExtendTimer{Sender: r.Alice, Id: id, ExpiresAt: extend.ExpiresAt}, extend)
		return extend.ExpiresAt
	}
	require.EqualValues(t, 900, end("--until", "900", "--shorten"))
	const present = "may fire until height 2592011 (2024-01-13 22:13:42 +00:00) already"
	require.ErrorContains(t, r.Refused("extend", id, "--until", "900"), present+", which is later than height 900 (2023-11-14 22:43:20 +00:00): --shorten lets it end sooner")
	require.ErrorContains(t, r.Refused("extend", id, "--until", "2023-11-14T23:15:10Z"), "--shorten lets it end sooner")
	require.ErrorContains(t, r.Refused("extend", id, "--until", "900", "-y"), "--shorten", "yes to all questions is no yes to this")
	require.ErrorContains(t, r.Refused("extend", id, "--until", "499", "--shorten"), "is before height 500 (2023-11-14 22:30:00 +00:00), when timer "+id+" is due: it would never fire")
	require.ErrorContains(t, r.Refused("extend", id, "--until", "2592011"), present+": nothing would change")
	require.ErrorContains(t, r.Refused("extend", id), "until when the timer may fire is missing: want one of --until, --by")
	require.ErrorContains(t, r.Refused("extend", id, "--until", "9", "--by", "1h"), `--until "9" and --by "1h" both state`)
	require.ErrorContains(t, r.Refused("extend", id, "--until", "1h"), `--until: "1h" is no date, no time of day and no height`)
	require.ErrorContains(t, r.Refused("extend", id, "--by", "long"), `--by: "long" is no duration`)

	r.Node.Polls = 0
	_, _, err := r.Run("tx", "timers", "extend", id, "--until", "900", "--shorten", "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	// What is added is added to the present end.
	require.EqualValues(t, 900+700, end("--by", "700"))
	msg, notes := r.Printed("extend", id[:8], "--by", "1h")
	require.Equal(t, &types.MsgExtendTimer{Sender: r.Alice, Id: id, ExpiresAt: 900 + 1800}, msg)
	require.Contains(t, notes, "may fire until height 2700 (2023-11-14 23:43:20 +00:00), not height 900 (2023-11-14 22:43:20 +00:00): in ")
	_, notes = r.Printed("extend", id[:8], "--by", "90d")
	require.Contains(t, notes, "a timer lives at most 2592000 blocks, about 60d0h at 2s a block: the chain takes height 2592013 ")
	_, err = r.offline("extend", id, "--by", "700")
	require.ErrorContains(t, err, "--by needs a node, which knows until when the timer may fire: with --offline, state a height with --until")
}

// One that shall make more fires than fit into its new life says so.
func TestExtendSaysHowManyFiresFit(t *testing.T) {
	r := newRig(t)
	_, _, err := r.Run("tx", "timers", "schedule", "send", "bob", "5stake", "--every", "10", "--count", "10", "--gas-limit", "100000", "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	r.Node.Polls = 0
	list, _, err := r.Run("query", "timers", "list", "alice", "-o", "json")
	require.NoError(t, err)
	id := regexp.MustCompile(`"id":"(\w+)"`).FindStringSubmatch(list)[1]
	_, notes := r.Printed("extend", id, "--until", "60", "--shorten")
	require.Contains(t, notes, "4 fires of the 10 that it is to make fit\n")
	_, notes = r.Printed("extend", id, "--until", "200", "--shorten")
	require.NotContains(t, notes, "fit")
}

func TestCancelTakesManyNames(t *testing.T) {
	r := newRig(t)
	require.ErrorContains(t, r.Refused("cancel", "--all"), "you have no live timers")
	ids := []string{r.Schedule(500, 5), r.Schedule(501, 5), r.Schedule(502, 5)}
	cancels := func(line ...string) ([]sdk.Msg, string) {
		out, notes, err := r.Run(append([]string{"tx", "timers", "cancel", "--from", r.Alice, "--generate-only"}, line...)...)
		require.NoError(t, err)
		return r.Tx(out), notes
	}
	msgs, _ := cancels(ids[2][:8], "alice/"+ids[0])
	require.Equal(t, []sdk.Msg{&types.MsgCancelTimer{Sender: r.Alice, Id: ids[2]}, &types.MsgCancelTimer{Sender: r.Alice, Id: ids[0]}}, msgs)
	msgs, notes := cancels("--all")
	require.Len(t, msgs, 3)
	require.Contains(t, notes, "cancels all your timers: 3\n")
	require.ErrorContains(t, r.Refused("cancel"), "the timers to cancel are missing: want ids or names, one or more, or --all")
	require.ErrorContains(t, r.Refused("cancel", ids[0], "--all"), "is stated beside --all")
	require.ErrorContains(t, r.Refused("cancel", ids[0], ids[0][:8]), "is named twice")
	_, _, err := r.Run(append([]string{"tx", "timers", "cancel", "--all", "--from", r.Alice}, offline...)...)
	require.ErrorContains(t, err, "--all needs a node")

	_, _, err = r.Run("tx", "timers", "cancel", "--all", "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	require.ErrorContains(t, r.Refused("cancel", "--all"), "you have no live timers")
	for range 101 {
		r.Schedule(900, 5)
	}
	msgs, notes = cancels("--all")
	require.Len(t, msgs, 100)
	require.Contains(t, notes, "cancels 100 of your 101 timers: repeat the command for the others\n")
}

// What would change nothing is refused before it is signed, and a payer who is still poor is warned.
func TestPauseAndResumeAreCheckedFirst(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	require.ErrorContains(t, r.Refused("resume", id), "is not on hold: it is due at height 500")
	_, _, err := r.Run("tx", "timers", "pause", id, "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	require.ErrorContains(t, r.Refused("pause", id), "is on hold already: it is paused")
	_, notes := r.Printed("resume", id)
	require.NotContains(t, notes, "warning")
	r.Sends(r.Alice, r.Bob, 9_999_500)
	const poor = "alice can spend 500stake now, less than the 1100stake pre-charged"
	require.ErrorContains(t, r.Refused("resume", id), poor)
	_, notes = r.Printed("resume", id, "--force")
	require.Contains(t, notes, "warning: "+poor)
	for _, verb := range []string{"pause", "resume"} {
		require.ErrorContains(t, r.Refused(verb, strings.Repeat("ab", 32)), "has no live timer")
		msg, err := r.offline(verb, id)
		require.NoError(t, err, "without a node it is not checked")
		require.NotNil(t, msg)
	}
}

func TestUpdate(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	send := r.Send(r.Alice, r.Bob, 9)
	path := r.File("msgs.json", "["+r.JSON(send)+"]")

	msg, notes := r.Printed("update", id[:8], "--msgs", path, "--gas-limit", "100000", "--tier", "urgent")
	require.Equal(t, &types.MsgUpdateTimer{
		Sender: r.Alice, Id: id, Spec: types.TimerSpec{
			Call: types.TimerCall{Messages: r.Messages(send)}, GasLimit: 100_000,
			Bid: &types.Bid{Tier: types.TierUrgent},
		},
		Fields: []string{"gas_limit", "bid", "call"},
	}, msg)
	require.Contains(t, notes, "pre-charges at most 800stake at the fire")
	msg, _ = r.Printed("update", id[:8], "--default-bid")
	require.Equal(t, &types.MsgUpdateTimer{Sender: r.Alice, Id: id, Fields: []string{"bid"}}, msg, "it is named, and left empty")

	require.ErrorContains(t, r.Refused("update", id), "nothing to change: want one of --msgs")
	require.ErrorContains(t, r.Refused("update", id, "--default-bid=false"), "nothing to change")
	require.ErrorContains(t, r.Refused("update", id, "--default-bid", "--tier", "fast"), "--default-bid is stated beside another bid")
	require.ErrorContains(t, r.Refused("update", id, "--handler", "tick"), `--handler "tick" replaces the payload with the handler`)
	require.ErrorContains(t, r.Refused("update", id, "--gas-limit", "1000000"), "want 40000 to 250000 cycles (policy eip1559)")
}

func TestQueryTimerShowsItsMessages(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	out, _, err := r.Run("query", "timers", "timer", "alice/"+id[:6], "--output", "json")
	require.NoError(t, err)
	var shown struct {
		Timer struct {
			ID   string
			Spec struct {
				Call struct{ Messages []json.RawMessage }
			}
			Status struct{ Phase string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &shown), out)
	require.Equal(t, id, shown.Timer.ID)
	require.Equal(t, "TIMER_PHASE_PENDING", shown.Timer.Status.Phase)
	require.Len(t, shown.Timer.Spec.Call.Messages, 1)

	// What is shown is what --msgs takes.
	path := r.File("shown.json", `{"messages": [`+string(shown.Timer.Spec.Call.Messages[0])+`]}`)
	msg, _ := r.Printed("update", id[:6], "--msgs", path)
	update, ok := msg.(*types.MsgUpdateTimer)
	require.True(t, ok)
	require.Equal(t, types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, 5))}, update.Spec.Call)
	require.Equal(t, []string{"call"}, update.Fields)

	out, _, err = r.Run("query", "timers", "timer", r.Alice+"/"+id, "--output", "text")
	require.NoError(t, err)
	require.Contains(t, out, "'@type': /cosmos.bank.v1beta1.MsgSend")

	_, _, err = r.Run("query", "timers", "timer", id)
	require.ErrorContains(t, err, "names no actor: want ACTOR/ID-PREFIX or ACTOR/NAME")
	_, _, err = r.Run("query", "timers", "timer", "bob/"+id)
	require.ErrorContains(t, err, r.Bob+" has no live timer whose id begins with "+id)
}

func TestListsOfAutoCLI(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	for _, line := range [][]string{
		{"list", "alice"}, {"list", r.Alice}, {"due", "500"}, {"due", "600", "--until"},
	} {
		out, _, err := r.Run(append([]string{"query", "timers"}, line...)...)
		require.NoError(t, err, line)
		require.Contains(t, out, id[:8], line)
		require.Contains(t, out, "send 5stake to bob", line)
	}
	for _, line := range [][]string{{"list", "bob"}, {"due", "499", "--until"}, {"due", "600"}, {"ready"}, {"on-hold"}} {
		out, _, err := r.Run(append([]string{"query", "timers"}, line...)...)
		require.NoError(t, err, line)
		require.Empty(t, out, line)
	}
	out, _, err := r.Run("query", "timers", "lane", "--output", "json")
	require.NoError(t, err)
	var lane map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &lane))
	require.Equal(t, "0.001000000000000000", lane["cycle_basefee"])
	require.Equal(t, "POLICY_EIP1559", lane["policy"])
	require.Equal(t, "0.001000000000000000", lane["next_lane_basefee"])
	require.Equal(t, "250000", lane["max_cycles_per_fire"])
	out, _, err = r.Run("query", "timers", "fairness", "alice", "--output", "json")
	require.NoError(t, err)
	var fairness map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &fairness))
	require.Equal(t, "2.000000000000000000", fairness["weight"])
	require.Equal(t, r.Alice, fairness["unit"])

	r.Blocks(489)
	require.EqualValues(t, 500, r.Chain.Height())
	out, _, err = r.Run("query", "timers", "receipts", "500", "--output", "json")
	require.NoError(t, err)
	var receipts struct {
		Receipts []struct {
			TimerID string `json:"timer_id"`
			Success bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &receipts))
	require.Len(t, receipts.Receipts, 1)
	require.Equal(t, id, receipts.Receipts[0].TimerID)
	require.True(t, receipts.Receipts[0].Success)
}

// proposed runs a command of the authority's and returns the message within the proposal.
func (r *rig) proposed(line ...string) sdk.Msg {
	r.T.Helper()
	msg, _ := r.Printed(append(line, "--title", "A title", "--summary", "Why", "--deposit", "7stake")...)
	proposal, ok := msg.(*govv1.MsgSubmitProposal)
	require.True(r.T, ok)
	require.Equal(r.T, "A title", proposal.Title)
	require.Equal(r.T, r.Alice, proposal.Proposer)
	require.Equal(r.T, "7stake", sdk.NewCoins(proposal.InitialDeposit...).String())
	msgs, err := proposal.GetMsgs()
	require.NoError(r.T, err)
	require.Len(r.T, msgs, 1)
	return msgs[0]
}

func TestAuthorityMessagesBecomeProposals(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	gov := authtypes.NewModuleAddress("gov").String()
	require.Equal(t, &types.MsgSysCancelTimer{Authority: gov, Actor: r.Alice, Id: id}, r.proposed("sys-cancel-timer", "alice", id))
	require.Equal(t, &types.MsgSysExtendTimer{Authority: gov, Actor: r.Alice, Id: id, ExpiresAt: 900}, r.proposed("sys-extend-timer", r.Alice, id, "900"))
	require.Equal(t, &types.MsgSysReleaseTimer{Authority: gov, Actor: r.Alice, Id: id}, r.proposed("sys-release-timer", r.Alice, id))
}

func TestConfigIsProposedAsItIsPrinted(t *testing.T) {
	r := newRig(t)
	out, _, err := r.Run("query", "timers", "params", "--output", "json")
	require.NoError(t, err)
	path := r.File("params.json", out)
	require.ErrorContains(t, r.Refused("update-timer-config", path), "nothing would change")

	want, err := r.Chain.Timers.Config(r.Chain.Ctx())
	require.NoError(t, err)
	current := want
	want.LaneTimerCycles = 3_000_000
	wider := strings.Replace(out, `"lane_timer_cycles": "2000000"`, `"lane_timer_cycles": "3000000"`, 1)
	require.NotEqual(t, out, wider)
	gov := authtypes.NewModuleAddress("gov").String()
	change, err := types.ChangeConfig(gov, &current, &want, nil)
	require.NoError(t, err)
	require.Equal(t, change.String(), r.proposed("update-timer-config", r.File("wider.json", wider)).(*types.MsgUpdateTimerConfig).String())

	var params struct {
		Config   json.RawMessage
		Expected string
	}
	require.NoError(t, json.Unmarshal([]byte(wider), &params))
	require.ErrorContains(t, r.Refused("update-timer-config", r.File("config.json", string(params.Config))), "does not say which config it was made from")
	stale := strings.Replace(wider, params.Expected, strings.Repeat("A", 43)+"=", 1)
	require.ErrorContains(t, r.Refused("update-timer-config", r.File("stale.json", stale)), "the config has changed: make it from what the params query prints now")

	for content, reason := range map[string]string{
		"":   "want a config as a JSON object",
		"[]": "want a config as a JSON object",
		"{}": "policy 0 is unknown",
		`{"config": {"policy": "POLICY_FIFO", "fee_denom": "stake"}}`: "max_ttl_blocks: 0 is out of range",
		strings.Replace(wider, `"stake"`, `"other"`, 1):               "fee_denom is fixed at genesis",
		strings.Replace(wider, "lane_timer_cycles", "lane_cycles", 1): "lane_cycles",
	} {
		require.ErrorContains(t, r.Refused("update-timer-config", r.File("bad.json", content)), reason)
	}
}

// Every command says what became of its transaction, in a sentence, and fails where the chain refuses it.
func TestEveryCommandWaits(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	text := []string{"--from", "alice", "-y", "-o", "text"}
	run := func(line ...string) (string, string, error) {
		return r.Run(append(append([]string{"tx", "timers"}, line...), text...)...)
	}
	_, notes, err := run("schedule", "--msgs", path, "--in", "50")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(notes, "is broadcast"))
	out, _, err := run("schedule", "--msgs", path, "--in", "50", "--wait")
	require.NoError(t, err)
	said := regexp.MustCompile(`^timer ` + r.Alice + `/([0-9a-f]{64}) is scheduled, due at height \d+: transaction [0-9A-F]{64} is included at height \d+\n$`)
	require.Regexp(t, said, out)
	id := said.FindStringSubmatch(out)[1]

	out, notes, err = run("pause", id[:16], "--wait")
	require.NoError(t, err)
	require.Regexp(t, `^transaction [0-9A-F]{64} is included at height \d+\ntimer `+r.Alice+`/`+id+` held, paused\n$`, out)
	require.NotContains(t, notes, "gas_used", "the answer to the broadcast is no news")
	out, _, err = r.Run("tx", "timers", "cancel", id, "--from", "alice", "-y", "-o", "json", "--wait")
	require.NoError(t, err)
	require.Regexp(t, `^{"status":"included","height":\d+,"txhash":"[0-9A-F]{64}","events":\[{"height":\d+,"timer":"`+id+`","type":"TimerCancelled","event":{[^}]*}}\]}\n$`, out)
	_, _, err = run("cancel", id, "--wait")
	require.ErrorContains(t, err, "failed at height")
	require.ErrorContains(t, err, "(timers, code")
	require.NotContains(t, err.Error(), ".go:")
	inJSON := func() string {
		t.Helper()
		out, notes, err := r.Run("tx", "timers", "cancel", id, "--from", "alice", "-y", "-o", "json", "--wait")
		require.Error(t, err)
		require.NotContains(t, notes, "txhash", "the answer is on standard output alone")
		return out
	}
	require.Regexp(t, `^{"status":"failed","height":[1-9]\d*,"txhash":"[0-9A-F]{64}","code":[1-9]\d*,"codespace":"timers","raw_log":".+"}\n$`, inJSON())

	r.Node.Refuse = true
	out, _, err = run("cancel", id)
	require.ErrorContains(t, err, "the node refused transaction")
	require.Empty(t, out)
	require.Regexp(t, `^{"status":"failed","height":0,"txhash":"[0-9A-F]{64}","code":[1-9]\d*,"codespace":".+","raw_log":".+"}\n$`, inJSON())
}

// TestProposal_IsWaitedFor: without its number no one can vote. What is not broadcast is not waited for, unless that is asked for.
func TestProposal_IsWaitedFor(t *testing.T) {
	r := newRig(t)
	run := func(flags ...string) (string, error) {
		_, notes, err := r.Run(append([]string{
			"tx", "timers", "update-timer-config", "--set", "lane_paused=true", "--title", "t", "--summary", "s",
			"--from", "alice", "-y",
		}, flags...)...)
		return notes, err
	}
	notes, err := run()
	require.Contains(t, notes, "is broadcast, and waited for")
	require.ErrorContains(t, err, "failed at height", "this chain has no x/gov")
	notes, err = run("--wait=false")
	require.NoError(t, err)
	require.Contains(t, notes, "is broadcast: once it is included")
	_, err = run("--generate-only")
	require.NoError(t, err)
	_, err = run("--generate-only", "--wait")
	require.ErrorContains(t, err, "--wait waits for a broadcast, and --generate-only prints the transaction instead")
}

// TestUpdate_NamesWhatFlagsStateOfRepetitions: that and nothing else; the chain takes it, and all else of the timer
// stays, as when it is due.
func TestUpdate_NamesWhatFlagsStateOfRepetitions(t *testing.T) {
	r := newRig(t)
	ids := map[string]string{}
	for name, spec := range map[string]types.TimerSpec{
		"clock": {
			Trigger: types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600}}},
			Repeat:  &types.Repeat{Remaining: 9, OnFailure: types.OnFailureStop, Window: 60},
		},
		"blocks": {Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 20}}, Repeat: &types.Repeat{Remaining: 4}},
		"grid":   {Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 20, First: 40, From: types.FromSchedule}}},
	} {
		ids[name] = r.place(5, func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger, m.Spec.Repeat, m.Spec.Name = spec.Trigger, spec.Repeat, name
		})
	}
	live := func(name string) types.TimerInfo {
		answer, err := types.NewQueryClient(r.Ctx).Timer(context.Background(), &types.QueryTimerRequest{Actor: r.Alice, Id: ids[name]})
		require.NoError(t, err)
		return answer.Timer
	}
	r.Blocks(2)
	for _, c := range []struct {
		name   string
		line   []string
		fields []string
		says   types.Repeat
		// repeat is what the timer has then.
		repeat types.Repeat
	}{
		{
			"clock",
			[]string{"--missed", "each"},
			[]string{"repeat.missed"},
			types.Repeat{Missed: types.MissedEach},
			types.Repeat{Remaining: 9, OnFailure: types.OnFailureStop, Window: 60, Missed: types.MissedEach},
		},
		{
			"clock",
			[]string{"--count", "3"},
			[]string{"repeat.remaining"},
			types.Repeat{Remaining: 3},
			types.Repeat{Remaining: 3, OnFailure: types.OnFailureStop, Window: 60, Missed: types.MissedEach},
		},
		{
			"clock",
			[]string{"--window", "10m", "--count", "4"},
			[]string{"repeat.remaining", "repeat.window"},
			types.Repeat{Remaining: 4, Window: 600},
			types.Repeat{Remaining: 4, OnFailure: types.OnFailureStop, Window: 600, Missed: types.MissedEach},
		},
		{
			"clock",
			[]string{"--on-failure", "suspend", "--max-failures", "5"},
			[]string{"repeat.max_failures", "repeat.on_failure"},
			types.Repeat{OnFailure: types.OnFailureSuspend, MaxFailures: 5},
			types.Repeat{Remaining: 4, OnFailure: types.OnFailureSuspend, MaxFailures: 5, Window: 600, Missed: types.MissedEach},
		},
		{
			"clock",
			[]string{"--on-failure", "stop"},
			[]string{"repeat.on_failure", "repeat.max_failures"},
			types.Repeat{OnFailure: types.OnFailureStop},
			types.Repeat{Remaining: 4, OnFailure: types.OnFailureStop, Window: 600, Missed: types.MissedEach},
		},
		{
			"clock",
			[]string{"--renew", "--jitter", "30s"},
			[]string{"repeat.jitter", "repeat.renew"},
			types.Repeat{Renew: true, Jitter: 30},
			types.Repeat{Remaining: 4, OnFailure: types.OnFailureStop, Window: 600, Missed: types.MissedEach, Renew: true, Jitter: 30},
		},
		{
			"clock",
			[]string{"--renew=false"},
			[]string{"repeat.renew"},
			types.Repeat{},
			types.Repeat{Remaining: 4, OnFailure: types.OnFailureStop, Window: 600, Missed: types.MissedEach, Jitter: 30},
		},
		{
			"blocks",
			[]string{"--on-failure", "stop"},
			[]string{"repeat.on_failure", "repeat.max_failures"},
			types.Repeat{OnFailure: types.OnFailureStop},
			types.Repeat{Remaining: 4, OnFailure: types.OnFailureStop},
		},
		{
			"blocks",
			[]string{"--on-failure", "roll"},
			[]string{"repeat.on_failure", "repeat.max_failures"},
			types.Repeat{OnFailure: types.OnFailureRoll},
			types.Repeat{Remaining: 4},
		},
		{"grid", []string{"--window", "7"}, []string{"repeat.window"}, types.Repeat{Window: 7}, types.Repeat{Window: 7}},
	} {
		msg, _ := r.Printed(append([]string{"update", c.name}, c.line...)...)
		change, ok := msg.(*types.MsgUpdateTimer)
		require.True(t, ok)
		want := &types.MsgUpdateTimer{Sender: r.Alice, Id: ids[c.name], Name: c.name, Fields: c.fields}
		if c.says != (types.Repeat{}) {
			want.Spec.Repeat = &c.says
		}
		require.Equal(t, want, change, c.line)
		before := live(c.name)
		r.run(change)
		after := live(c.name)
		require.Equal(t, &c.repeat, after.Spec.Repeat, c.line)
		before.Spec.Repeat = after.Spec.Repeat
		require.Equal(t, before.Spec, after.Spec, c.line)
		if !slices.Contains(c.fields, "repeat.jitter") { // Which is by chance how much later it is due.
			require.Equal(t, before.Status.DueTime, after.Status.DueTime, c.line)
		}
		if before.Status.DueTime == 0 {
			require.Equal(t, before.Status.Due, after.Status.Due, c.line)
		}
	}
	r.place(50, func(m *types.MsgScheduleTimer) { m.Spec.Name, m.Spec.Trigger.Height = "once", 90 })
	require.ErrorContains(t, r.Refused("update", "once", "--missed", "each"), "for a timer that repeats, and this one does not")
	require.ErrorContains(t, r.Refused("update", "blocks", "--window", "5"), "an interval that counts from its fires has none that could be late")
	require.ErrorContains(t, r.Refused("update", "clock", "--max-failures", "5"), "without --on-failure suspend")
	require.ErrorContains(t, r.Refused("update", "once", "--renew"), "for a timer that repeats, and this one does not")
	require.ErrorContains(t, r.Refused("update", "once", "--after", "1h", "--renew"), "repeat is stated for a timer that fires once")
	require.ErrorContains(t, r.Refused("update", "grid", "--every", "30"), "missed, window and jitter are for occurrences that are known in advance")
	require.ErrorContains(t, r.Refused("update", "clock", "--count", "3", "--every-from", "schedule"), `--every-from "schedule" is stated without --every`)
	require.ErrorContains(t, r.Refused("update", "clock", "--count", "3", "--first", "500"), `--first "500" is stated without --every`)
	require.ErrorContains(t, r.Refused("update", "clock", "--count", "3", "--cooldown", "5"), `--cooldown "5" is stated without --watch`)
	r.place(60, func(m *types.MsgScheduleTimer) {
		m.Spec.Name, m.Spec.Trigger = "changes", types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{r.balanceKey(r.Bob, "stake")}}}
	})
	require.ErrorContains(t, r.Refused("update", "changes", "--on-failure", "stop"), "on_failure is for a calendar or an interval: a watch goes back to watching")
	msg, _ := r.Printed("update", "changes", "--count", "3")
	require.Equal(t, &types.Repeat{Remaining: 3}, msg.(*types.MsgUpdateTimer).Spec.Repeat)
	require.Equal(t, []string{"repeat.remaining"}, msg.(*types.MsgUpdateTimer).Fields)
}

// TestUpdate_NamesWhatFlagsStateOfTheRest: the trigger, which is stated as schedule does, and how it bears bad moments;
// what is stated as empty goes.
func TestUpdate_NamesWhatFlagsStateOfTheRest(t *testing.T) {
	r := newRig(t)
	rent := r.place(5, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600}}}
		m.Spec.Name, m.Spec.Retry, m.Spec.OnUnfunded = "rent", &types.Retry{Max: 2, After: 3}, types.OnUnfundedSkip
	})
	update := func(line ...string) (*types.MsgUpdateTimer, string) {
		t.Helper()
		msg, notes := r.Printed(append([]string{"update", "rent"}, line...)...)
		change, ok := msg.(*types.MsgUpdateTimer)
		require.True(t, ok)
		require.Equal(t, rent, change.Id)
		return change, notes
	}
	msg, notes := update("--every", "day@09:00", "--zone", "UTC", "--count", "3")
	require.Equal(t, &types.CronRule{Minutes: 1, Hours: 1 << 9, Days: 1<<32 - 2, Months: 1<<13 - 2, Weekdays: 127}, msg.Spec.Trigger.Calendar.Cron)
	require.Equal(t, &types.Repeat{Remaining: 3}, msg.Spec.Repeat)
	require.Equal(t, []string{"trigger", "repeat.remaining"}, msg.Fields)
	require.Empty(t, msg.Spec.Beyond(msg.Fields))
	require.Contains(t, notes, "next at\n")

	msg, notes = update("--only-if", "bank:balance:bob:stake < 100")
	key := r.balanceCondition(r.Bob, types.ConditionLess, "100")
	require.Equal(t, &types.MsgUpdateTimer{Sender: r.Alice, Id: rent, Name: "rent", Spec: types.TimerSpec{OnlyIf: []types.WatchKey{key}}, Fields: []string{"only_if"}}, msg)
	require.Contains(t, notes, "only if bank:balance:bob:stake < 100: does not hold now")

	msg, _ = update("--retries", "0", "--on-unfunded", "destroy", "--renew", "--only-if", "")
	require.Equal(t, &types.MsgUpdateTimer{
		Sender: r.Alice, Id: rent, Name: "rent", Spec: types.TimerSpec{OnUnfunded: types.OnUnfundedDestroy, Repeat: &types.Repeat{Renew: true}},
		Fields: []string{"repeat.renew", "retry", "on_unfunded", "only_if"},
	}, msg)
	msg, _ = update("--every", "3h")
	require.Equal(t, &types.MsgUpdateTimer{
		Sender: r.Alice, Id: rent, Name: "rent", Spec: types.TimerSpec{Trigger: types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 10_800}}}},
		Fields: []string{"trigger"},
	}, msg)
	msg, notes = update("--every", "2h", "--retries", "1", "--retry-after", "9m")
	require.Equal(t, &types.Retry{Max: 1, After: 540}, msg.Spec.Retry)
	require.EqualValues(t, 7_200, msg.Spec.Trigger.Calendar.Every.Seconds)
	require.Equal(t, []string{"trigger", "retry"}, msg.Fields)
	require.Contains(t, notes, "every 2 hours")

	require.ErrorContains(t, r.Refused("update", "rent", "--zone", "UTC", "--every", "2h"), "heights, blocks and distances have no zone")
	require.ErrorContains(t, r.Refused("update", "rent", "--only-if", "bank:balance:bob:stake"), "want KEY OP VALUE")
	require.ErrorContains(t, r.Refused("update", "rent", "--only-if", "bank:balance:bob:stake < 1", "--only-if", "bank:balance:bob:stake > 1", "--only-if", "bank:balance:bob:stake exists"), "want at most 2")
	require.ErrorContains(t, r.Refused("update", "rent", "--retries", "3"), "go together")
	require.ErrorContains(t, r.Refused("update", "rent", "--every", "500d"), "too long")
	_, err := r.offline("update", rent, "--renew")
	require.ErrorContains(t, err, "needs a node")
	msg2, err := r.offline("update", rent, "--at", "900")
	require.NoError(t, err)
	require.Equal(t, &types.MsgUpdateTimer{Sender: r.Alice, Id: rent, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 900}}, Fields: []string{"trigger"}}, msg2)
}

// TestSchedule_OnlyIf: the condition is read as --when reads it, and the preview says whether it holds.
func TestSchedule_OnlyIf(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	msg, notes := r.scheduleTx("--msgs", path, "--at", "500", "--gas-limit", "100000", "--generate-only",
		"--only-if", "bank:balance:bob:stake < 100", "--only-if", "bank:balance:alice:stake > 5")
	require.Equal(t, []types.WatchKey{
		r.balanceCondition(r.Bob, types.ConditionLess, "100"), r.balanceCondition(r.Alice, types.ConditionGreater, "5"),
	}, msg.Spec.OnlyIf)
	require.Contains(t, notes, "only if bank:balance:bob:stake < 100: does not hold now")
	require.Contains(t, notes, "only if bank:balance:alice:stake > 5: holds now")
	require.Contains(t, notes, ", only if bank:balance:bob:stake is below 100 and bank:balance:alice:stake is above 5")
}

// What a timer does already may fail now: that is no reason to refuse a change of something else, as of what becomes of it
// without funds. A change of what it does, or when, is refused as a new timer is.
func TestUpdate_OfWhatDoesNotRunNeedsNoDryRun(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 50_000_000)
	r.Simulates(45_000)
	msg, notes := r.Printed("update", id[:8], "--on-unfunded", "suspend")
	require.Equal(t, types.OnUnfundedSuspend, msg.(*types.MsgUpdateTimer).Spec.OnUnfunded)
	require.Equal(t, []string{"on_unfunded"}, msg.(*types.MsgUpdateTimer).Fields)
	require.Regexp(t, `warning: it would fail if it ran now: .*insufficient funds\. This change is no cause of it\n`, notes)
	_, notes = r.Printed("update", id[:8], "--gas-limit", "90000")
	require.Contains(t, notes, "This change is no cause of it\n")
	for _, line := range [][]string{
		{"--at", "600"},
		{"--at", "600", "--on-unfunded", "suspend"},
		{"--gas-limit", "auto"},
		{"--msgs", r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 60_000_000))+"]")},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"update", id[:8]}, line...)...), "it would fail if it ran now: ", line)
	}
}
