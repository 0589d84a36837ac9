package cli_test

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// balanceKey is the key of a balance in bank's store.
func (r *rig) balanceKey(owner, denom string) types.WatchKey {
	addr, err := sdk.AccAddressFromBech32(owner)
	require.NoError(r.T, err)
	return types.WatchKey{Store: "bank", Prefix: append(append([]byte{2, 20}, addr...), denom...)}
}

func TestScheduleWatches(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := []string{"--msgs", path, "--gas-limit", "100000", "--generate-only"}

	text := "bank:balance:" + r.Bob + ":stake"
	msg, notes := r.scheduleTx(append(line, "--watch", text)...)
	key := r.balanceKey(r.Bob, "stake")
	require.Equal(t, types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}}}, msg.Spec.Trigger)
	require.Equal(t, &types.Repeat{Remaining: 1}, msg.Spec.Repeat)
	require.Contains(t, notes, "watches "+text+": bank:"+hex.EncodeToString(key.Prefix)+"\n")
	require.Contains(t, notes, "pre-charges at most 800stake at the fire")

	// Several, as people and as programs write them, with a number of times and an expiry.
	msg, notes = r.scheduleTx(append(line, "--watch", "bank:"+hex.EncodeToString(key.Prefix), "--watch", "bank:balances:"+r.Alice,
		"--count", "0", "--expires-in", "50")...)
	require.Equal(t, types.WatchTrigger{Keys: []types.WatchKey{key, r.balanceKey(r.Alice, "")}}, *msg.Spec.Trigger.Watch)
	require.Nil(t, msg.Spec.Repeat)
	require.EqualValues(t, 60, msg.Spec.ExpiresAt)
	require.Contains(t, notes, ", when bank:"+hex.EncodeToString(key.Prefix)+" changes or bank:balances:"+r.Alice+" changes, until it expires\n")

	// Conditions go with what is watched, in their order.
	msg, notes = r.scheduleTx(append(line, "--watch", text, "--when", "< 1000000", "--cooldown", "20")...)
	require.Contains(t, notes, ", when "+text+" falls below 1000000, once\n")
	key.When = &types.WatchCondition{Op: types.ConditionLess, Value: "1000000"}
	require.Equal(t, types.WatchTrigger{Keys: []types.WatchKey{key}, Cooldown: 20}, *msg.Spec.Trigger.Watch)
	key.When = &types.WatchCondition{Op: types.ConditionExists}
	msg, _ = r.scheduleTx(append(line, "--watch", "bank:balances:"+r.Alice, "--when", "", "--watch", text, "--when", "exists")...)
	require.Equal(t, []types.WatchKey{r.balanceKey(r.Alice, ""), key}, msg.Spec.Trigger.Watch.Keys)

	for _, c := range []struct {
		says string
		line []string
	}{
		{"both state when the timer is due", []string{"--watch", text, "--in", "20"}},
		{"--count \"3\" is stated without --every", []string{"--in", "20", "--count", "3"}},
		{"--when is stated 1 times and --watch 2 times", []string{"--watch", text, "--watch", "bank:00", "--when", "< 1"}},
		{"--when: < orders numbers", []string{"--watch", text, "--when", "< many"}},
		{"--when: \"about 5\": want exists, absent", []string{"--watch", text, "--when", "about 5"}},
		{"is stated without --watch", []string{"--in", "20", "--when", "< 5"}},
		{"--cooldown \"5\" is stated without --watch", []string{"--in", "20", "--cooldown", "5"}},
		{"gov can't be watched on this chain: want bank", []string{"--watch", "gov:00"}},
		{"want bank:balance:ADDRESS:DENOM", []string{"--watch", "bank:balance:" + r.Bob}},
	} {
		_, _, err := r.Run(append(append([]string{"tx", "timers", "schedule", "--from", r.Alice}, line...), c.line...)...)
		require.ErrorContains(t, err, c.says)
	}
}

func TestWatchesTakeNamesOfKeys(t *testing.T) {
	r := newRig(t)
	msg, notes := r.scheduleTx("send", "bob", "5stake", "--watch", "bank:balance:bob:stake", "--gas-limit", "100000", "--generate-only")
	require.Equal(t, []types.WatchKey{r.balanceKey(r.Bob, "stake")}, msg.Spec.Trigger.Watch.Keys)
	require.Contains(t, notes, "watches bank:balance:"+r.Bob+":stake: bank:02")
	require.Contains(t, notes, "will send 5stake to bob ("+r.Bob+"), when bank:balance:bob:stake changes, once\n")
	for text, want := range map[string]string{
		"foo:bar":                  `--watch: "foo:bar": `,
		"bank:balance:carol:stake": `--watch: "bank:balance:carol:stake": "carol" is neither an address of this chain`,
	} {
		err := r.Refused("schedule", "send", "bob", "5stake", "--watch", text)
		require.ErrorContains(t, err, want)
		require.Contains(t, err.Error(), "want ")
		require.NotContains(t, err.Error(), "rpc error")
	}
}

func TestScheduleWatchesOffline(t *testing.T) {
	r := newRig(t)
	r.Node.Down = true
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := append([]string{"--msgs", path, "--gas-limit", "100000", "--expires-at", "900"}, offline...)
	msg, _ := r.scheduleTx(append(line, "--watch", "bank:02ff")...)
	require.Equal(t, []types.WatchKey{{Store: "bank", Prefix: []byte{2, 0xff}}}, msg.Spec.Trigger.Watch.Keys)
	require.Zero(t, r.Node.Asked)
	for _, text := range []string{"bank:balances:" + r.Bob, "bank", "bank:", ":02", "bank:0"} {
		_, _, err := r.Run(append(append([]string{"tx", "timers", "schedule", "--from", r.Alice}, line...), "--watch", text)...)
		require.ErrorContains(t, err, "with --offline, want STORE:HEX", text)
	}
}

func TestWatchesAreListed(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	text := "bank:balance:" + r.Bob + ":stake"
	out, _, err := r.Run("tx", "timers", "schedule", "--msgs", path, "--watch", text, "--count", "3", "--gas-limit", "100000",
		"--from", "alice", "--gas", "500000", "-y", "--wait", "--output", "text")
	require.NoError(t, err)
	require.Contains(t, out, r.Alice+"/")
	require.Contains(t, out, "is scheduled, due when "+text+" changes, 3 times: transaction")

	out, _, err = r.Run("query", "timers", "watchable", "--output", "json")
	require.NoError(t, err)
	require.Contains(t, out, "bank:balance:ADDRESS:DENOM")

	out, _, err = r.Run("query", "timers", "watch-key", text, "--output", "json")
	require.NoError(t, err)
	prefix := base64.StdEncoding.EncodeToString(r.balanceKey(r.Bob, "stake").Prefix)
	require.Contains(t, out, prefix)

	for _, line := range [][]string{{"--actor", r.Alice}, {"--actor", "alice"}, {"--store", "bank"}, {"--store", "bank", "--prefix", prefix}} {
		out, _, err = r.Run(append([]string{"query", "timers", "watches", "--output", "json"}, line...)...)
		require.NoError(t, err)
		require.Contains(t, out, `"TIMER_PHASE_WATCHING"`)
		require.Contains(t, out, `"remaining":"3"`)
	}
	out, _, err = r.Run("query", "timers", "watches", "--actor", "alice", "--output", "text")
	require.NoError(t, err)
	require.Regexp(t, `^ID +ACTOR +DUE WHEN +DOES +FIRES LEFT +STATUS +EXPIRES\n[0-9a-f]{8} +alice +`+text+` changes +send 5stake to bob +3 +watching +\d+\n$`, out)
	// A list names what is watched: short, and whole in a wide table.
	out, _, err = r.Run("query", "timers", "list", "alice")
	require.NoError(t, err)
	require.Contains(t, out, "  when bank:balance:bob:stake changes  each change, 3 left  ")
	out, _, err = r.Run("query", "timers", "list", "alice", "-o", "wide")
	require.NoError(t, err)
	require.Contains(t, out, "  when "+text+" changes  ")
	_, _, err = r.Run("query", "timers", "watches", "--actor", "carol")
	require.ErrorContains(t, err, "--actor: ")
	_, _, err = r.Run("query", "timers", "watches", "--store", "bank", "--prefix", "%")
	require.ErrorContains(t, err, "is no base64: want what watch-key prints")
	for _, flags := range [][]string{{}, {"--store", "bank", "--actor", "alice"}} {
		_, _, err = r.Run(append([]string{"query", "timers", "watches"}, flags...)...)
		require.EqualError(t, err, "--store and --actor: want one of them")
	}
}

// What --watch takes, watch-key shows: names of keys too.
func TestWatchKeyTakesNames(t *testing.T) {
	r := newRig(t)
	named, _, err := r.Run("query", "timers", "watch-key", "bank:balance:bob:stake", "-o", "json")
	require.NoError(t, err)
	stated, _, err := r.Run("query", "timers", "watch-key", "bank:balance:"+r.Bob+":stake", "-o", "json")
	require.NoError(t, err)
	require.Equal(t, stated, named)
	require.Contains(t, named, `"store":"bank"`)
	_, _, err = r.Run("query", "timers", "watch-key", "bank:balance:carol:stake")
	require.ErrorContains(t, err, `"carol" is neither an address of this chain nor the name of a key`)
}
