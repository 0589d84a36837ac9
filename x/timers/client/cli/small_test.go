package cli_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// refusals runs schedule lines, each of which is refused with what is right.
func refusals(t *testing.T, r *rig, lines map[string][]string) {
	t.Helper()
	for want, line := range lines {
		require.ErrorContains(t, r.Refused(append([]string{"schedule"}, append(line, "--gas-limit", "100000")...)...), want, "%q", line)
	}
}

func TestDates_NoDateShowsWhatOneIs(t *testing.T) {
	r := newRig(t)
	for _, no := range []string{"tomorrow", "now", "9am", "31/01/2030", "01.02.2030"} {
		refusals(t, r, map[string][]string{
			`--at: "` + no + `" is no date, no time of day and no height: want a date and time such as 2030-01-31T09:00:00Z or '2030-01-31 09:00', ` +
				"or a time of day such as 09:00, or a height such as 5000": {"send", "bob", "5stake", "--at", no},
		})
	}
}

func TestDates_ADayThatThereIsNotIsNamed(t *testing.T) {
	refusals(t, newRig(t), map[string][]string{
		`"2026-02-30" is no date and time: February 2026 has the days 01 to 28`:       {"send", "bob", "5stake", "--at", "2026-02-30"},
		`"2028-02-30 09:00" is no date and time: February 2028 has the days 01 to 29`: {"send", "bob", "5stake", "--at", "2028-02-30 09:00"},
		`"2026-13-01 09:00" is no date and time: a year has the months 01 to 12`:      {"send", "bob", "5stake", "--at", "2026-13-01 09:00"},
		`it has no time of day: want one such as '2026-01-31 09:00'`:                  {"send", "bob", "5stake", "--at", "2026-01-31"},
	})
}

// A time that the clocks leave out, or show twice, is one of them: which one is said.
func TestDates_ClocksThatChangeAreTold(t *testing.T) {
	r := newRig(t)
	for text, want := range map[string]string{
		"2024-03-31 02:30": "--at 2024-03-31 02:30: 02:30 does not exist that day, since the clocks of Europe/Berlin are set over it: 2024-03-31 03:30:00 +02:00 counts\n",
		"2024-10-27 02:30": "--at 2024-10-27 02:30: 02:30 comes twice that day, since the clocks of Europe/Berlin are set back: the first, 2024-10-27 02:30:00 +02:00, counts\n",
	} {
		_, notes := r.scheduleTx("send", "bob", "5stake", "--at", text, "--zone", "Europe/Berlin", "--gas-limit", "100000", "--generate-only")
		require.Contains(t, notes, want)
	}
	_, notes := r.scheduleTx("send", "bob", "5stake", "--at", "2024-10-28 02:30", "--zone", "Europe/Berlin", "--gas-limit", "100000", "--generate-only")
	require.NotContains(t, notes, "that day")
}

func TestSchedule_NamesEveryAmongWhatIsMissing(t *testing.T) {
	refusals(t, newRig(t), map[string][]string{
		"when the timer is due is missing: want one of --at, --in, --after, --after-blocks, --watch, --every": {"send", "bob", "5stake"},
	})
}

func TestZones_OfPeopleAreNamedByTheirPlace(t *testing.T) {
	r := newRig(t)
	refusals(t, r, map[string][]string{
		"did you mean Europe/Berlin?":       {"send", "bob", "5stake", "--at", "09:00", "--zone", "CEST"},
		"did you mean America/Los_Angeles?": {"send", "bob", "5stake", "--at", "09:00", "--zone", "PST"},
	})
	require.EqualError(t, r.Refused("schedule", "send", "bob", "5stake", "--at", "09:00", "--zone", ""),
		`--zone: "" is no time zone: want a name such as Europe/Berlin, or UTC`)
}

func TestCron_AZoneWithinIsAFlag(t *testing.T) {
	refusals(t, newRig(t), map[string][]string{
		"states a zone within: want --zone Europe/Berlin beside '0 9 * * *'": {"send", "bob", "5stake", "--every", "CRON_TZ=Europe/Berlin 0 9 * * *"},
		"states a zone within: want --zone UTC beside '@daily'":              {"send", "bob", "5stake", "--every", "TZ=UTC @daily"},
	})
}

func TestAmounts_HaveNoSeparators(t *testing.T) {
	refusals(t, newRig(t), map[string][]string{
		`"1,000stake": write a number without separators: 1000stake`:         {"send", "bob", "1,000stake", "--at", "500"},
		`"1,000,000stake": write a number without separators: 1000000stake`:  {"delegate", "bob", "1,000,000stake", "--at", "500"},
		`--amount: "1_000stake": write a number without separators: 1000sta`: {"exec", "bob", "{}", "--amount", "1_000stake", "--at", "500"},
	})
}

func TestWords_MistypedSwappedOrMissing(t *testing.T) {
	refusals(t, newRig(t), map[string][]string{
		`"bbo" is neither an address of this chain nor the name of a key: did you mean bob?`:                {"send", "bbo", "5stake", "--at", "500"},
		`"5stake" is an amount, and the recipient comes first: did you mean bob 5stake?`:                    {"send", "5stake", "bob", "--at", "500"},
		`"5stake" is an amount, and the validator comes first: did you mean bob 5stake?`:                    {"delegate", "5stake", "bob", "--at", "500"},
		`says what the timer does first: did you mean send bob 5stake?`:                                     {"bob", "5stake", "--at", "500"},
		`knows no "sned": did you mean send?`:                                                               {"sned", "bob", "5stake", "--at", "500"},
		`knows no "pay": want one of send, exec, delegate, withdraw-rewards, or --msgs`:                     {"pay", "--at", "500"},
		`accepts 2 arg(s), received 1`:                                                                      {"send", "bob", "--at", "500"},
		`accepts 1 arg(s), received 2`:                                                                      {"withdraw-rewards", "bob", "5stake", "--at", "500"},
		`recipient: "zzzzzz" is neither an address of this chain nor the name of a key`:                     {"send", "zzzzzz", "5stake", "--at", "500"},
		`--agent: "alcie" is neither an address of this chain nor the name of a key: did you mean alice?`:   {"send", "bob", "5stake", "--at", "500", "--agent", "alcie"},
		`--fee-granter: "bbo" is neither an address of this chain nor the name of a key: did you mean bob?`: {"send", "bob", "5stake", "--at", "500", "--fee-granter", "bbo"},
		`--name: "Miete für März": character 8, 'ü', is not one of a name: want letters, digits and signs`:  {"send", "bob", "5stake", "--at", "500", "--name", "Miete für März"},
		`has 70 characters: want at most 64`:                                                                {"send", "bob", "5stake", "--at", "500", "--name", "0123456789012345678901234567890123456789012345678901234567890123456789"},
	})
}

func TestFeeGranter_MayBeTheNameOfAKey(t *testing.T) {
	r := newRig(t)
	out, _, err := r.Run("tx", "timers", "schedule", "send", "bob", "5stake", "--at", "500", "--gas-limit", "100000", "--from", r.Alice, "--fee-granter", "bob", "--generate-only")
	require.NoError(t, err)
	require.Contains(t, out, `"granter":"`+r.Bob+`"`)
}

// TestFeeGranter_RefusalIsInWords: x/auth writes both addresses as bytes, and says neither who is meant nor what would help.
func TestFeeGranter_RefusalIsInWords(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	line := []string{"tx", "timers", "schedule", "send", "bob", "5stake", "--at", "500", "--gas-limit", "100000", "--from", "alice", "-y", "--fee-granter", "bob"}
	for _, gas := range []string{"auto", "300000"} {
		r.Node.Refuse, r.Node.Log = true, fmt.Sprintf("%s does not allow to pay fees for %s: fee-grant not found: not found", []byte(r.address(r.Bob)), []byte(r.address(r.Alice)))
		_, _, err := r.Run(append(line, "--gas", gas)...)
		require.ErrorContains(t, err, "--fee-granter: bob has granted alice no fee allowance, so alice can't have this transaction paid by it: "+
			"bob would have to send tx feegrant grant "+r.Bob+" "+r.Alice, gas)
	}
	grant := func(allowance feegrant.FeeAllowanceI) {
		require.NoError(t, r.Chain.BeginBlock())
		require.NoError(t, r.Chain.Feegrant.GrantAllowance(r.Chain.Ctx(), r.address(r.Bob), r.address(r.Alice), allowance))
		require.NoError(t, r.End())
	}
	named, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{sdk.MsgTypeURL(&types.MsgCancelTimer{})})
	require.NoError(t, err)
	grant(named)
	_, _, err = r.Run(append(line, "--gas", "auto")...)
	require.ErrorContains(t, err, "--fee-granter: the fee allowance that bob has granted alice does not cover this transaction: message does not exist in allowed messages: message not allowed")
}

// TestFeeGranter_PaysTheTransactionAlone: the pre-charge of a fire is tried against the owner's balance, without the granter's fee.
func TestFeeGranter_PaysTheTransactionAlone(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	require.NoError(t, r.Chain.BeginBlock())
	require.NoError(t, r.Chain.Feegrant.GrantAllowance(r.Chain.Ctx(), r.address(r.Bob), r.address(r.Alice), &feegrant.BasicAllowance{}))
	require.NoError(t, r.End())
	spendable := r.Chain.Bank.GetBalance(r.Chain.Ctx(), r.address(r.Alice), "stake").Amount.Int64()
	r.Sends(r.Alice, r.Bob, spendable-10_000)
	line := func(amount string) []string {
		return []string{"send", "bob", amount, "--at", "500", "--gas-limit", "100000", "--fees", "5000stake", "--fee-granter", "bob"}
	}
	_, notes := r.scheduleTx(append(line("9200stake"), "--generate-only")...)
	require.Contains(t, notes, "it would succeed if it ran now, the pre-charge debited\n")
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, line("9201stake")...)...), "it would fail if it ran now, once the 800stake pre-charged are debited")
}

// A script that reads JSON reads some where nothing was sent, too.
func TestJSON_OfWhatWasNeverSent(t *testing.T) {
	r := newRig(t)
	said := func(line ...string) (answer map[string]string, err error) {
		out, _, err := r.Run(append([]string{"tx", "timers", "schedule", "send", "bob", "5stake", "--from", "alice", "-y"}, line...)...)
		if out != "" {
			require.NoError(t, json.Unmarshal([]byte(out), &answer))
		}
		return answer, err
	}
	answer, err := said("--at", "500", "--bid", "5", "-o", "json", "--wait")
	require.ErrorContains(t, err, "Nothing was sent")
	require.Equal(t, "not_sent", answer["status"])
	require.Contains(t, answer["reason"], "--bid has no use under policy eip1559")
	answer, err = said("--at", "tomorrow", "-o", "json")
	require.ErrorContains(t, err, "is no date")
	require.Equal(t, "not_sent", answer["status"])
	answer, _ = said("--at", "tomorrow")
	require.Empty(t, answer, "people read the error")
	answer, _ = said("--at", "tomorrow", "-o", "json", "--generate-only")
	require.Empty(t, answer, "what prints a transaction prints no other JSON")
}

func TestLane_IsForPeople(t *testing.T) {
	r := newRig(t)
	out, _, err := r.Run("query", "timers", "lane")
	require.NoError(t, err)
	for _, want := range []string{
		`block +10; policy eip1559`, `lane +open`, `chain's price +0.001stake a cycle, 0.03stake a byte written`,
		`lane's basefee +0.001stake a cycle; 0.001stake in the next block`, `room in a block +2,000,000 cycles and 2,000,000 cells`,
		`largest fire +250,000 cycles`, `burned in all +0stake, of it 0stake by the lane's fee`,
	} {
		require.Regexp(t, want, out)
	}
	out, _, err = r.Run("query", "timers", "lane", "-o", "json")
	require.NoError(t, err)
	var lane map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &lane))
	require.Equal(t, "0.001000000000000000", lane["next_lane_basefee"])
	r.Configure(func(c *types.TimerConfig) { c.LanePaused = true })
	out, _, err = r.Run("query", "timers", "lane")
	require.NoError(t, err)
	require.Regexp(t, `lane +paused by governance: nothing fires`, out)
}

// The zone whose clocks a timer follows is named, whoever asks, and not the offset of the day beside dates of another.
func TestDescribe_NamesTheZone(t *testing.T) {
	r := newRig(t)
	r.TZ = "Europe/Berlin"
	msg, _ := r.scheduleTx("send", "bob", "5stake", "--every", "month@1 09:00", "--gas-limit", "100000", "--name", "rent", "--generate-only")
	r.send(msg)
	out, _, err := r.Run("query", "timers", "describe", "alice/rent")
	require.NoError(t, err)
	require.Regexp(t, `When: +on the first of each month at 09:00 Europe/Berlin\n`, out)
	require.Contains(t, out, "2024-04-01 09:00:00 +02:00")
	out, _, err = r.Run("query", "timers", "describe", "alice/rent", "--zone", "Asia/Tokyo")
	require.NoError(t, err)
	require.Regexp(t, `When: +on the first of each month at 09:00 as in Europe/Berlin\n`, out)

	// One whose clocks stay follows none that change.
	r.place(5, func(m *types.MsgScheduleTimer) {
		m.Spec.Name = "fixed"
		m.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{
			Cron: &types.CronRule{Minutes: 1, Hours: 1 << 9, Days: 1 << 1, Months: 0x1ffe, Weekdays: 0x7f}, OffsetMinutes: 60,
		}}
	})
	out, _, err = r.Run("query", "timers", "describe", "alice/fixed")
	require.NoError(t, err)
	require.Regexp(t, `at 09:00 \+01:00\n`, out)
}

// What is paused spends nothing.
func TestList_APausedTimerDoesNotRunDry(t *testing.T) {
	r := newRig(t)
	id := r.place(1, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 500}}
	})
	r.Sends(r.Alice, r.Bob, 10_000_000-400-r.spent())
	list := func() string {
		out, _, err := r.Run("query", "timers", "list", "alice")
		require.NoError(t, err)
		return out
	}
	require.Contains(t, list(), "RUNS DRY")
	r.run(&types.MsgPauseTimer{Sender: r.Alice, Id: id})
	require.NotContains(t, list(), "RUNS DRY")
}
