package cli_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// offline is what a machine without a node signs with.
var offline = []string{"--generate-only", "--offline", "--account-number", "1", "--sequence", "2"}

// scheduleTx runs schedule and returns the one message that it would send.
func (r *rig) scheduleTx(line ...string) (*types.MsgScheduleTimer, string) {
	r.T.Helper()
	out, notes, err := r.Run(append([]string{"tx", "timers", "schedule", "--from", r.Alice}, line...)...)
	require.NoError(r.T, err)
	msgs := r.Tx(out)
	require.Len(r.T, msgs, 1)
	msg, ok := msgs[0].(*types.MsgScheduleTimer)
	require.True(r.T, ok)
	return msg, notes
}

func TestScheduleOfflineNeedsNoNode(t *testing.T) {
	r := newRig(t)
	r.Node.Down = true
	send := r.Send(r.Alice, r.Bob, 5)
	path := r.File("msgs.json", "["+r.JSON(send)+"]")
	msg, notes := r.scheduleTx(append([]string{
		"--msgs", path, "--at", "500", "--gas-limit", "100000", "--expires-at", "900",
		"--fee-payer", "bob", "--max-fee", "0.002", "--max-priority", "0.0005",
	}, offline...)...)
	require.Equal(t, &types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{
			Trigger: types.Trigger{Height: 500}, Call: types.TimerCall{Messages: r.Messages(send)}, FeePayer: r.Bob,
			GasLimit: 100_000, ExpiresAt: 900,
			Bid: &types.Bid{Static: &types.StaticBid{
				MaxFeePerCycle: decimal.Of(math.LegacyMustNewDecFromStr("0.002")), MaxPriorityFeePerCycle: decimal.Of(math.LegacyMustNewDecFromStr("0.0005")),
			}},
		},
	}, msg)
	require.Equal(t, noPriceKnown, notes)
	require.Zero(t, r.Node.Asked)
}

func TestSchedulePrintedWithoutANodeIsUncheckedAndSaysSo(t *testing.T) {
	r := newRig(t)
	r.Node.Down = true
	path := r.File("msgs.json", r.JSON(r.Send(r.Alice, r.Bob, 5)))
	_, _, err := r.Run("tx", "timers", "schedule", "--from", r.Alice, "--msgs", path, "--at", "500", "--generate-only")
	require.ErrorContains(t, err, "no messages in it", "one message alone is no list")

	path = r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	msg, notes := r.scheduleTx("--msgs", path, "--at", "500", "--gas-limit", "100000", "--generate-only")
	require.EqualValues(t, 500, msg.Spec.Trigger.Height)
	require.Contains(t, notes, "not checked against the chain's config")
}

func TestScheduleSentWithoutANodeFailsOnceAndSaysNothingBefore(t *testing.T) {
	r := newRig(t)
	r.Node.Down = true
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	_, notes, err := r.Run("tx", "timers", "schedule", "--from", r.Alice, "--msgs", path, "--at", "500", "--gas-limit", "100000")
	require.Error(t, err)
	require.NotContains(t, notes, "not checked")
}

func TestScheduleTakesMessagesAsPeopleHaveThem(t *testing.T) {
	r := newRig(t)
	first, second := r.Send(r.Alice, r.Bob, 5), r.Send(r.Alice, r.Bob, 6)
	list := "[" + r.JSON(first) + ", " + r.JSON(second) + "]"
	want := r.Payload(first, second)
	line := append([]string{"--at", "500", "--gas-limit", "100000"}, offline...)

	for name, content := range map[string]string{
		"an array":             list,
		"an object":            `{"messages": ` + list + `}`,
		"an unsigned tx":       `{"body": {"messages": ` + list + `, "memo": ""}, "auth_info": {}, "signatures": []}`,
		"an array with spaces": "\n\t " + list + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			msg, _ := r.scheduleTx(append([]string{"--msgs", r.File("msgs.json", content)}, line...)...)
			require.Equal(t, r.Messages(first, second), msg.Spec.Call.Messages)
			require.Empty(t, msg.Spec.Call.Payload)
			out, _, err := r.RunWith(content, append([]string{"tx", "timers", "schedule", "--from", r.Alice, "--msgs", "-"}, line...)...)
			require.NoError(t, err)
			require.Equal(t, msg, r.Tx(out)[0])
		})
	}
	t.Run("bytes", func(t *testing.T) {
		for _, given := range [][]string{
			{"--payload", hex.EncodeToString(want)},
			{"--payload", "0x" + hex.EncodeToString(want)},
			{"--payload-file", r.File("payload.bin", string(want))},
		} {
			msg, _ := r.scheduleTx(append(given, line...)...)
			require.Equal(t, want, msg.Spec.Call.Payload, given[0])
		}
		msg, _ := r.scheduleTx(append([]string{"--payload", "/+8=", "--handler", "other"}, line...)...)
		require.Equal(t, []byte{0xff, 0xef}, msg.Spec.Call.Payload)
		require.Equal(t, "other", msg.Spec.Call.Handler)
	})
}

// TestScheduleAfterInclusion: --after-blocks needs no node, since it counts from a block that no one knows yet.
func TestScheduleAfterInclusion(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	msg, _ := r.scheduleTx(append([]string{"--msgs", path, "--after-blocks", "20", "--name", "rent, monthly", "--expires-at", "7", "--gas-limit", "100000"}, offline...)...)
	require.Equal(t, types.Trigger{After: 20}, msg.Spec.Trigger)
	require.Equal(t, "rent, monthly", msg.Spec.Name)

	// On line, what can't be is refused before it is signed.
	msg, _ = r.scheduleTx("--msgs", path, "--after-blocks", "1", "--gas-limit", "100000", "--generate-only")
	require.Equal(t, types.Trigger{After: 1}, msg.Spec.Trigger)
	for want, line := range map[string][]string{
		"--after-blocks: ":                        {"--after-blocks", "0"},
		"is too far: a timer lives 2592000 block": {"--after-blocks", "2592010"},
		"--after-blocks \"3\"":                    {"--after-blocks", "3", "--in", "3"},
		"--name: \"a\\nb\": character 2, ":        {"--after-blocks", "3", "--name", "a\nb"},
		"want at most 64":                         {"--after-blocks", "3", "--name", strings.Repeat("x", 65)},
		"it would never fire":                     {"--after-blocks", "3", "--expires-at", "4"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"schedule", "--msgs", path, "--gas-limit", "100000"}, line...)...), want)
	}
}

// A time stays one, whatever blocks do: rounded up to whole seconds, so that nothing is early.
// Rule: 1.4-time
func TestSchedule_KeepsTimes(t *testing.T) {
	r := newRig(t)
	r.Blocks(100)
	r.Node.BlockTime = 1002 * time.Millisecond
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := []string{"--msgs", path, "--gas-limit", "100000", "--generate-only"}

	// The latest block, 110, is of second 110.22.
	msg, notes := r.scheduleTx(append(line, "--after", "10m", "--expires-in", "1h")...)
	due := time.Unix(1_700_000_711, 0).UTC()
	require.Equal(t, types.Trigger{Time: &due}, msg.Spec.Trigger)
	require.Zero(t, msg.Spec.ExpiresAt)
	require.EqualValues(t, 1_700_003_711, msg.Spec.ExpiresTime)
	require.Contains(t, notes, ", at 2023-11-14 22:25:11 +00:00\n")
	require.Contains(t, notes, "pre-charges at most 800stake at the fire")

	msg, notes = r.scheduleTx(append(line, "--in", "20", "--expires-in", "50")...)
	require.EqualValues(t, 130, msg.Spec.Trigger.Height)
	require.EqualValues(t, 160, msg.Spec.ExpiresAt)
	require.Contains(t, notes, "due at height 130: in 20 blocks, about 20s at 1.002s a block; expected at ")

	// Less than two blocks away, the time is kept to by the first block that can fire it: 112.224 s.
	msg, notes = r.scheduleTx(append(line, "--after", "1s")...)
	require.EqualValues(t, 1_700_000_113, msg.Spec.Trigger.Time.Unix())
	require.Contains(t, notes, "800stake")

	msg, notes = r.scheduleTx("--msgs", path, "--at", "120", "--tier", "fast", "--generate-only")
	require.Zero(t, msg.Spec.GasLimit, "the chain's default")
	require.Equal(t, &types.Bid{Tier: types.TierFast}, msg.Spec.Bid)
	require.Contains(t, notes, "pre-charges at most 1100stake at the fire, and gives back what is not used\n"+
		"pays 0.002stake a cycle now (chain 0.001, lane 0.001, tip 0), 500stake if it uses all of them\n"+
		"if it were due now: no ready timer ahead; wait: none\n")
	require.NotContains(t, notes, "warning")
}

func TestScheduleRefusesWhatCouldNotSucceed(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	foreign := r.File("foreign.json", "["+r.JSON(r.Send(r.Bob, r.Alice, 5))+"]")
	wrapped := r.File("wrapped", `{"_handler": "tick", "_payload": "AAAA"}`)
	large := r.File("large", string(make([]byte, 1<<20+1)))
	for name, tc := range map[string]struct {
		line []string
		want []string
	}{
		"no due":        {[]string{"--msgs", path}, []string{"when the timer is due is missing", "--at, --in, --after"}},
		"two dues":      {[]string{"--msgs", path, "--at", "50", "--in", "3"}, []string{`--at "50" and --in "3"`, "want one of them"}},
		"no payload":    {[]string{"--at", "50"}, []string{"what the timer does is missing", "--msgs, --payload-file, --payload"}},
		"two payloads":  {[]string{"--at", "50", "--msgs", path, "--payload", "00"}, []string{"--msgs", `--payload "00"`, "want one"}},
		"two expiries":  {[]string{"--at", "50", "--msgs", path, "--expires-at", "60", "--expires-in", "1d"}, []string{`--expires-at "60" and --expires-in "1d"`}},
		"height":        {[]string{"--at", "1O", "--msgs", path}, []string{`--at: "1O" is no date, no time of day and no height`, "or a height such as 5000"}},
		"height 0":      {[]string{"--at", "0", "--msgs", path}, []string{`--at: "0" is no height`}},
		"time as --in":  {[]string{"--in", "10m", "--msgs", path}, []string{`--in: "10m" is no number of blocks`, "--after takes a time"}},
		"--in too soon": {[]string{"--in", "1", "--msgs", path}, []string{"--in 1 is too soon", "want at least 2"}},
		"--at too soon": {[]string{"--at", "11", "--msgs", path}, []string{"due height 11 is too soon", "latest block is 10", "at least 12"}},
		"--at past":     {[]string{"--at", "3", "--msgs", path}, []string{"due height 3 is too soon"}},
		"no unit":       {[]string{"--after", "10", "--msgs", path}, []string{`--after: "10" has no unit`, "--in takes a number of blocks"}},
		"no duration":   {[]string{"--after", "soon", "--msgs", path}, []string{`--after: "soon" is no time`, "want a time such as"}},
		"past duration": {[]string{"--after", "-5m", "--msgs", path}, []string{`--after: "-5m" does not lie ahead`}},
		"too far":       {[]string{"--at", "3000000", "--msgs", path}, []string{"height 3000000 (2023-12-19 15:33:20 +00:00) is too far: a timer lives 2592000 blocks at most, from here until height 2592010 (", "2592000 blocks at most"}},
		"expires early": {[]string{"--at", "500", "--expires-at", "400", "--msgs", path}, []string{"--expires-at 400", "below the due height 500"}},
		"gas limit":     {[]string{"--at", "500", "--gas-limit", "39999", "--msgs", path}, []string{"--gas-limit 39999", "want 40000 to 250000"}},
		"gas limit 0":   {[]string{"--at", "500", "--gas-limit", "0", "--msgs", path}, []string{`--gas-limit: "0" is no number of cycles`}},
		"tier":          {[]string{"--at", "500", "--tier", "warp", "--msgs", path}, []string{`--tier "warp"`, "economy, standard, fast, urgent"}},
		"tier nothing":  {[]string{"--at", "500", "--tier", "unspecified", "--msgs", path}, []string{`--tier "unspecified"`}},
		"tier & price":  {[]string{"--at", "500", "--tier", "fast", "--max-fee", "1", "--max-priority", "1", "--msgs", path}, []string{"want a tier or prices"}},
		"half a bid":    {[]string{"--at", "500", "--max-fee", "1", "--msgs", path}, []string{"--max-fee and --max-priority go together"}},
		"no decimal":    {[]string{"--at", "500", "--max-fee", "1e3", "--max-priority", "1", "--msgs", path}, []string{`--max-fee "1e3"`, "no decimal such as"}},
		"negative bid":  {[]string{"--at", "500", "--max-fee", "1", "--max-priority", "-1", "--msgs", path}, []string{"max_priority_fee_per_cycle", "want 0 to"}},
		"payer":         {[]string{"--at", "500", "--fee-payer", "carol", "--msgs", path}, []string{`--fee-payer: "carol" is neither an address`, "nor the name of a key"}},
		"handler":       {[]string{"--at", "500", "--handler", "tick", "--msgs", path}, []string{`--handler "tick"`, `"handle_timer"`}},
		"two handlers":  {[]string{"--at", "500", "--handler", "tock", "--payload-file", wrapped}, []string{`--handler "tock"`, `"tick"`}},
		"no bytes":      {[]string{"--at", "500", "--payload", "héx"}, []string{"--payload", "neither hexadecimal nor base64"}},
		"no file":       {[]string{"--at", "500", "--msgs", path + "x"}, []string{"--msgs", "no such file"}},
		"large":         {[]string{"--at", "500", "--payload-file", large}, []string{"1048577 bytes, want at most 1048576"}},
		"foreign":       {[]string{"--at", "500", "--msgs", foreign}, []string{"message 0, /cosmos.bank.v1beta1.MsgSend", "only signer must be --from, " + r.Alice}},
		"wait & print":  {[]string{"--at", "500", "--msgs", path, "--wait"}, []string{"--wait waits for a broadcast", "--generate-only"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := r.Run(append([]string{"tx", "timers", "schedule", "--from", r.Alice, "--generate-only"}, tc.line...)...)
			require.Error(t, err)
			require.Empty(t, out, "nothing is printed that could be signed by mistake")
			for _, want := range tc.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	_, _, err := r.Run("tx", "timers", "schedule", "--msgs", path, "--at", "500", "--generate-only")
	require.ErrorContains(t, err, "--from is missing")
}

func TestScheduleRefusesMessagesThatTheChainBars(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	r.Configure(func(c *types.TimerConfig) { c.DeniedMessages = []string{"/cosmos.bank.v1beta1.MsgSend"} })
	_, _, err := r.Run("tx", "timers", "schedule", "--from", r.Alice, "--generate-only", "--msgs", path, "--at", "500")
	require.ErrorContains(t, err, "message 0: this chain lets no timer run /cosmos.bank.v1beta1.MsgSend")
}

func TestDistancesNeedANodeThatKnowsNow(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := []string{"tx", "timers", "schedule", "--from", r.Alice, "--msgs", path}
	_, _, err := r.Run(append(append(line, "--in", "20"), offline...)...)
	require.ErrorContains(t, err, "--in 20: distances from now need a node: with --offline, state a height")

	r.Node.Catching = true
	_, _, err = r.Run(append(line, "--in", "20", "--generate-only")...)
	require.ErrorContains(t, err, "still catching up at height 10")

	r.Node.Catching, r.Node.Earliest = false, 10
	_, _, err = r.Run(append(line, "--every", "20", "--every-from", "schedule", "--window", "10m", "--generate-only")...)
	require.ErrorContains(t, err, "--window 10m: the node has too few blocks to tell the block time: it is at height 10 and has blocks from height 10 on")
	timed, _ := r.scheduleTx("--msgs", path, "--after", "10m", "--generate-only")
	require.EqualValues(t, 1_700_000_610, timed.Spec.Trigger.Time.Unix(), "a time needs no block time")
	msg, notes := r.scheduleTx("--msgs", path, "--in", "20", "--generate-only")
	require.EqualValues(t, 30, msg.Spec.Trigger.Height)
	require.Contains(t, notes, "due at height 30: in 20 blocks\n", "a number of blocks needs no block time")

	r.Node.Earliest, r.Node.BlockTime = 1, 0
	_, _, err = r.Run(append(line, "--every", "20", "--every-from", "schedule", "--window", "10m", "--generate-only")...)
	require.ErrorContains(t, err, "carry no time that grows")
}

func TestScheduleBroadcastsWhatTheChainTakes(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := []string{"tx", "timers", "schedule", "--from", "alice", "--msgs", path, "--in", "5", "--gas-limit", "100000", "-y"}
	out, notes, err := r.Run(line...)
	require.NoError(t, err)
	require.Contains(t, out, `"txhash"`)
	require.Len(t, r.Node.Sent, 1)
	for hash := range r.Node.Sent {
		require.Contains(t, notes, fmt.Sprintf("transaction %X is broadcast: once it is included, its event timers.v1.TimerScheduled", hash))
	}

	r.Node.Refuse = true
	out, notes, err = r.Run(line...)
	require.ErrorContains(t, err, "the node refused transaction")
	require.ErrorContains(t, err, "insufficient fee")
	require.Contains(t, out, `"code":13`, "who asks for JSON gets the answer too")
	require.NotContains(t, notes, "once it is included")
	r.Node.Refuse = false

	out, notes, err = r.Run(append(line, "--expires-in", "100", "--wait")...)
	require.NoError(t, err)
	require.NotContains(t, notes, `"txhash"`, "the answer to the broadcast is no news")
	var printed struct {
		Name      string
		Due       uint64
		ExpiresAt uint64 `json:"expires_at"`
		GasLimit  uint64 `json:"gas_limit"`
		Height    int64
		TxHash    string `json:"txhash"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &printed), out)
	require.EqualValues(t, 15, printed.Due)
	require.EqualValues(t, 110, printed.ExpiresAt)
	require.EqualValues(t, 100_000, printed.GasLimit)
	require.EqualValues(t, 11, printed.Height)
	require.Len(t, printed.TxHash, 64)

	// The name that is printed is one that the other commands take, and the timer fires.
	shown, _, err := r.Run("query", "timers", "timer", printed.Name)
	require.NoError(t, err)
	require.Contains(t, shown, "gas_limit: \"100000\"")
	before := r.balance(r.Bob)
	r.Blocks(4)
	require.Equal(t, before.AddRaw(5), r.balance(r.Bob))
}

func TestStandardInputIsNotReadTwice(t *testing.T) {
	r := newRig(t)
	content := "[" + r.JSON(r.Send(r.Alice, r.Bob, 5)) + "]"
	line := []string{"tx", "timers", "schedule", "--from", "alice", "--msgs", "-", "--in", "5"}
	_, _, err := r.RunWith(content, line...)
	require.ErrorContains(t, err, "--msgs -: the standard input would be used up before you are asked whether to sign")
	_, _, err = r.RunWith(content, append(line, "--yes")...)
	require.NoError(t, err)
	require.Len(t, r.Node.Sent, 1)
}

func (r *rig) balance(addr string) math.Int {
	return r.Chain.Bank.GetBalance(r.Chain.Ctx(), sdk.MustAccAddressFromBech32(addr), r.Chain.FeeDenom).Amount
}

func TestWaitTellsWhyThereIsNoTimer(t *testing.T) {
	r := newRig(t)
	line := []string{"tx", "timers", "schedule", "--from", "alice", "--in", "5", "--gas-limit", "100000", "-y", "--wait"}
	// The account has as many timers as it may, which only the chain says.
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	r.Configure(func(c *types.TimerConfig) { c.MaxTimersPerActor = 1 })
	id := r.Schedule(500, 5)
	out, _, err := r.Run(append(line, "--msgs", path)...)
	require.ErrorContains(t, err, fmt.Sprintf("failed at height %d", r.Chain.Height()))
	require.ErrorContains(t, err, "(timers, code ")
	require.NotContains(t, err.Error(), ".go:")
	require.Contains(t, out, `"codespace":"timers"`)
	require.NotContains(t, out, `"name"`)
	r.send(&types.MsgCancelTimer{Sender: r.Alice, Id: id})

	r.Node.Refuse = true
	_, _, err = r.Run(append(line, "--msgs", path)...)
	require.ErrorContains(t, err, "the node refused transaction")
	require.ErrorContains(t, err, "insufficient fee")

	r.Node.Refuse, r.Node.Polls = false, 0
	_, _, err = r.Run(append(line, "--msgs", path, "--wait-timeout", "1ns")...)
	require.ErrorContains(t, err, "is not included yet: context deadline exceeded; --wait-timeout 1ns is over")
}

// TestSchedule_OfRecurrencesThatLiveOn: what goes with them is in the message, and what makes no sense is refused.
//
// Rule: 1.2-renew, 1.4-suspend-after-failures, 1.4-retry-backoff, 1.4-retry-on
func TestSchedule_OfRecurrencesThatLiveOn(t *testing.T) {
	r := newRig(t)
	msg, _ := r.Printed("schedule", "send", "bob", "5stake", "--every", "day@09:00", "--zone", "UTC", "--renew", "--on-failure", "suspend",
		"--max-failures", "5", "--on-unfunded", "skip", "--retries", "3", "--retry-after", "2s", "--retry-backoff", "3", "--retry-on", "bank/5,wasm")
	scheduled := msg.(*types.MsgScheduleTimer)
	require.Equal(t, &types.Repeat{OnFailure: types.OnFailureSuspend, MaxFailures: 5, Renew: true}, scheduled.Spec.Repeat)
	require.Equal(t, types.OnUnfundedSkip, scheduled.Spec.OnUnfunded)
	require.Equal(t, &types.Retry{Max: 3, After: 2, Backoff: 3, On: []types.ErrorCode{{Codespace: "bank", Code: 5}, {Codespace: "wasm"}}}, scheduled.Spec.Retry)
	for want, args := range map[string][]string{
		"--max-failures \"2\" is stated without --on-failure suspend": {"--every", "20", "--max-failures", "2"},
		"--retry-backoff \"5\": want 1 to 4":                          {"--in", "20", "--retries", "1", "--retry-after", "2", "--retry-backoff", "5"},
		"want CODESPACE, or CODESPACE/CODE":                           {"--in", "20", "--retries", "1", "--retry-after", "2", "--retry-on", "bank/x"},
		"--retry-backoff \"2\" is stated without --retries":           {"--in", "20", "--retry-backoff", "2"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"schedule", "send", "bob", "5stake"}, args...)...), want)
	}
}
