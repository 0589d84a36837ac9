package cli_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// place schedules a timer of alice's that sends bob an amount, and returns its id.
func (r *rig) place(amount int64, change func(*types.MsgScheduleTimer)) string {
	r.T.Helper()
	msg := &types.MsgScheduleTimer{Sender: r.Alice, Spec: types.TimerSpec{Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, amount))}, GasLimit: 100_000, CellLimit: 1_000}}
	change(msg)
	require.NoError(r.T, r.Chain.BeginBlock())
	results, _, err := r.Chain.Tx(msg)
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
	var response types.MsgScheduleTimerResponse
	require.NoError(r.T, r.Chain.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	return response.Id
}

// balanceCondition is the balance of an address, as a condition.
func (r *rig) balanceCondition(address string, op types.ConditionOp, value string) types.WatchKey {
	r.T.Helper()
	out, _, err := r.Run("query", "timers", "watch-key", "bank:balance:"+address+":stake", "-o", "json")
	require.NoError(r.T, err)
	var answer types.QueryWatchKeyResponse
	require.NoError(r.T, r.Ctx.Codec.UnmarshalJSON([]byte(out), &answer))
	answer.Key.When = &types.WatchCondition{Op: op, Value: value}
	return answer.Key
}

// TestDescribe_SaysWhatAnOwnerAsks: when it is due next in the zone of who asks, what it does, what it did, what it costs, when it
// ends and what it waits for.
func TestDescribe_SaysWhatAnOwnerAsks(t *testing.T) {
	r := newRig(t)
	rent := r.place(5, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600}}}
		m.Spec.Name, m.Spec.Repeat = "rent", &types.Repeat{Remaining: 12, Renew: true}
		m.Spec.OnlyIf = []types.WatchKey{r.balanceCondition(r.Bob, types.ConditionLess, "100")}
	})
	out, _, err := r.Run("query", "timers", "describe", "alice/rent", "--zone", "Europe/Berlin")
	require.NoError(t, err)
	for _, want := range []string{
		"Timer:", rent, "Name:", "rent", "Owner:", "alice", "Does:", "send 5stake to bob", "When:", "every hour, 12 left",
		"Only if:", "bank:balance:bob:stake is below 100", "Status:", "pending", "Waits for:", "its turn at 2023-11-15 00:13:31 +01:00",
		"Next:", "2023-11-15 02:13:31 +01:00", "…", "Fires so far:", "0", "A fire costs:", "at most 230stake", "Funds:", "balance lasts for all 12 fires",
		"Ends:", "after 2024-12-14 23:13:31 +01:00; each fire renews that",
	} {
		require.Contains(t, out, want, out)
	}
	out, _, err = r.Run("query", "timers", "describe", "alice/rent", "-o", "json")
	require.NoError(t, err)
	var said map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &said))
	require.Equal(t, rent, said["timer"])
	require.Len(t, said["next"], 6)

	// It is not paid by bob's means: the guard does not hold.
	r.run(&types.MsgRunTimer{Sender: r.Alice, Id: rent})
	r.Blocks(1)
	out, _, err = r.Run("query", "timers", "describe", "alice/rent")
	require.NoError(t, err)
	require.Regexp(t, `Last fires: +height \d+: guarded, \d+ paid`, out)
	require.Regexp(t, `Paid lately: +\d+ for 1 fire since height`, out)

	out, _, err = r.Run("query", "timers", "occurrences", "alice/rent", "--count", "3", "--zone", "UTC")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "+00:00")
	out, _, err = r.Run("query", "timers", "occurrences", "alice/rent", "-o", "json")
	require.NoError(t, err)
	require.Contains(t, out, `"by_time":true`)
	require.ErrorContains(t, second(r.Run("query", "timers", "occurrences", "alice/rent", "--count", "0")), "want a number from 1 to 100")
	require.ErrorContains(t, second(r.Run("query", "timers", "occurrences", "rent")), "names no actor")
	require.ErrorContains(t, second(r.Run("query", "timers", "describe", "alice/none")), "no live timer")
}

func second(_, _ string, err error) error { return err }

// run runs messages in a block of their own.
func (r *rig) run(msgs ...sdk.Msg) {
	r.T.Helper()
	require.NoError(r.T, r.Chain.BeginBlock())
	_, _, err := r.Chain.Tx(msgs...)
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
}

// TestDescribe_SaysWhatItWaitsFor: each status has its answer.
func TestDescribe_SaysWhatItWaitsFor(t *testing.T) {
	r := newRig(t)
	every := types.Trigger{Interval: &types.IntervalTrigger{Every: 3}}
	ids := map[string]string{
		"a change of what it watches": r.place(1, func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{r.balanceCondition(r.Bob, types.ConditionLess, "5")}}}
		}),
		"its turn at height":                      r.place(2, func(m *types.MsgScheduleTimer) { m.Spec.Trigger = types.Trigger{Height: 900} }),
		"its owner, who paused it and resumes it": r.place(3, func(m *types.MsgScheduleTimer) { m.Spec.Trigger = every }),
		"its retry 1": r.place(99_000_000, func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger, m.Spec.Retry = types.Trigger{After: 1}, &types.Retry{Max: 1, After: 50}
		}),
	}
	r.run(&types.MsgPauseTimer{Sender: r.Alice, Id: ids["its owner, who paused it and resumes it"]})
	r.Blocks(1)
	for want, id := range ids {
		out, _, err := r.Run("query", "timers", "describe", "alice/"+id)
		require.NoError(t, err)
		require.Contains(t, out, want)
	}
	_, notes, err := r.Run("query", "timers", "occurrences", "alice/"+ids["a change of what it watches"])
	require.NoError(t, err)
	require.Contains(t, notes, "none: a change of what it watches")
	failing, _, err := r.Run("query", "timers", "describe", "alice/"+ids["its retry 1"])
	require.NoError(t, err)
	require.Regexp(t, `Status: +pending, FAILING`, failing)
	require.Contains(t, failing, "sdk/5 (insufficient funds)")

	r.Configure(func(c *types.TimerConfig) { c.LanePaused = true })
	waiting := r.place(4, func(m *types.MsgScheduleTimer) { m.Spec.Trigger = types.Trigger{After: 1} })
	r.Blocks(4)
	out, _, err := r.Run("query", "timers", "describe", "alice/"+waiting)
	require.NoError(t, err)
	require.Regexp(t, `Status: +ready: lane paused, OVERDUE`, out)
	require.Contains(t, out, "the lane, which governance has paused; ready for 4 blocks\n")
}

// TestList_SaysWhatNeedsAnOwner: what is overdue, what fails, and whose payer runs dry.
func TestList_SaysWhatNeedsAnOwner(t *testing.T) {
	r := newRig(t)
	r.place(1, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger, m.Spec.Name = types.Trigger{Interval: &types.IntervalTrigger{Every: 500}}, "steady"
	})
	r.place(99_000_000, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger, m.Spec.Name = types.Trigger{Interval: &types.IntervalTrigger{Every: 1_000, First: r.Chain.Height() + 2}}, "failing"
	})
	r.Blocks(3)
	list := func() string {
		out, _, err := r.Run("query", "timers", "list", "alice")
		require.NoError(t, err)
		return out
	}
	require.Regexp(t, `failing .* pending, FAILING, RUNS DRY in 0\n`, list()+"\n")
	require.NotRegexp(t, `steady .* RUNS DRY`, list())
	r.Sends(r.Alice, r.Bob, 10_000_000-400-r.spent())
	require.Regexp(t, `steady .* RUNS DRY in \d`, list())
}

// spent is what alice's fires have cost.
func (r *rig) spent() int64 {
	r.T.Helper()
	alice := sdk.MustAccAddressFromBech32(r.Alice)
	return 10_000_000 - r.Chain.Bank.GetBalance(r.Chain.Ctx(), alice, "stake").Amount.Int64()
}

// A delay by jitter, for which the owner asked, is no lateness: what is late counts from the delayed due.
func TestDescribe_JitterIsNoLateness(t *testing.T) {
	for name, trigger := range map[string]types.Trigger{
		"blocks": {Interval: &types.IntervalTrigger{Every: 300, First: 300, From: types.FromSchedule}},
		"time":   {Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 300}}},
	} {
		r := newRig(t)
		id := r.place(1, func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger, m.Spec.Repeat = trigger, &types.Repeat{Jitter: 250}
		})
		describe := func() string {
			t.Helper()
			out, _, err := r.Run("query", "timers", "describe", "alice/"+id)
			require.NoError(t, err)
			return out
		}
		ahead := func() int {
			t.Helper()
			out, _, err := r.Run("query", "timers", "timer", "alice/"+id, "-o", "json")
			require.NoError(t, err)
			var found struct {
				Timer struct {
					Status struct {
						Due     uint64 `json:"due,string"`
						DueTime int64  `json:"due_time,string"`
					}
				}
			}
			require.NoError(t, json.Unmarshal([]byte(out), &found))
			if at := found.Timer.Status.DueTime; at > 0 {
				return int(at - r.Now().Unix())
			}
			return int(found.Timer.Status.Due - r.Chain.Height())
		}
		first := ahead()
		require.GreaterOrEqual(t, first+int(r.Chain.Height()), 300, "%s: it is due no sooner than its occurrence", name)
		r.Blocks(first - 1)
		require.Regexp(t, `Status: +pending\n`, describe(), name)
		r.Blocks(1)
		out, _, err := r.Run("query", "timers", "monitor", "--blocks", "1")
		require.NoError(t, err)
		require.Regexp(t, fmt.Sprintf(`fired height=%d .* late=0\b`, r.Chain.Height()), out, name)
		require.Regexp(t, `Fires so far: +1\n`, describe(), name)
		// What it then waits for its turn is late, from the delayed due on.
		r.Configure(func(c *types.TimerConfig) { c.LanePaused = true })
		r.Blocks(ahead())
		require.Contains(t, describe(), "; ready for 1 block\n", name)
	}
}

// TestDescribe_PricesATipAsItIsPaid: a tip beyond what the max fee left when it was stated is capped, and stays so when the lane's
// fee falls; what a fire costs at most is reckoned with the cap.
func TestDescribe_PricesATipAsItIsPaid(t *testing.T) {
	r := newRig(t)
	lane, err := r.Chain.Timers.Engine().Lane.Get(r.Chain.Ctx())
	require.NoError(t, err)
	high := math.LegacyNewDecWithPrec(1, 2)
	lane.LaneBasefee = &high
	require.NoError(t, r.Chain.BeginBlock())
	require.NoError(t, r.Chain.Timers.Engine().Lane.Set(r.Chain.Ctx(), lane))
	require.NoError(t, r.End())
	stated := func(priority math.LegacyDec) func(*types.MsgScheduleTimer) {
		return func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger = types.Trigger{Height: 900}
			m.Spec.Bid = &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(high), MaxPriorityFeePerCycle: decimal.Of(priority)}}
		}
	}
	capped := r.place(1, stated(high))
	out, _, err := r.Run("query", "timers", "timer", "alice/"+capped, "-o", "json")
	require.NoError(t, err)
	left := regexp.MustCompile(`"tip_cap":"([0-9.]+)"`).FindStringSubmatch(out)
	require.NotNil(t, left, out)
	paid := r.place(1, stated(math.LegacyMustNewDecFromStr(left[1])))
	r.Blocks(20)
	costs := func(id string) string {
		out, _, err := r.Run("query", "timers", "describe", "alice/"+id)
		require.NoError(t, err)
		return regexp.MustCompile(`A fire costs: +.*`).FindString(out)
	}
	require.NotEmpty(t, costs(paid))
	require.Equal(t, costs(paid), costs(capped))
}
