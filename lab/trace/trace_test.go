package trace_test

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	bidding "github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const committed = "testdata/*.itf.json"

// traces are the files that the test replays; `make model-traces` replays fresh ones.
var traces = flag.String("traces", committed, "traces to replay, a pattern of file names")

// TestTheModuleFollowsTheModel replays each trace: after each step every timer is where the model says, whoever fired
// or left is who fired or left there, and every balance is equal.
//
// The committed traces have fires under every policy, of every condition of the model, by time and of occurrences, guarded ones too.
//
// Rule: 1.5-leaves-once
func TestTheModuleFollowsTheModel(t *testing.T) {
	files, err := filepath.Glob(*traces)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	fired, met, kinds, guarded := map[types.Policy]int{}, map[string]int{}, map[string]int{}, 0
	agents, asked, unasked := map[string]int{}, map[bool]int{}, 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			tr := read(t, file)
			c := newChain(t, tr.Meta, tr.States[0])
			when, kind := map[int]string{}, map[int]string{}
			for i := range tr.States[1:] {
				want := &tr.States[i+1]
				where := fmt.Sprintf("state %d, height %d, %+v", i+1, want.Height, want.Step)
				config, err := c.Timers.Config(c.Ctx())
				require.NoError(t, err)
				fired[config.Policy] += len(want.Fires)
				for _, f := range want.Fires {
					met[when[f.ID]]++
					kinds[kind[f.ID]]++
					if f.Guarded {
						guarded++
					}
				}
				for _, made := range want.Calls {
					agents[c.plans[made.ID].Agent]++
				}
				for _, q := range want.Questions {
					asked[q.Fires]++
				}
				switch op := want.Step.Op; op {
				case "watch":
					when[want.Step.ID] = want.Step.When
				case "time", "calendar", "rhythm":
					kind[want.Step.ID] = op
				}
				events := c.do(&want.Step)
				require.Equal(t, want.Height, c.Height(), where)
				require.Equal(t, c.at(want.Minute), c.now(), where)
				genesis, err := c.Timers.ExportGenesis(c.Ctx())
				require.NoError(t, err)
				require.Equal(t, want.Timers, c.timers(genesis), where)
				c.compareMoney(want, genesis, where)
				c.compareBlock(want, events, where)
				if calls := types.MessageOf[bidding.State](genesis.Lane.Policies); calls != nil {
					unasked += int(calls.Unasked)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	if *traces != committed {
		return
	}
	for name, policy := range policies {
		require.NotZero(t, fired[policy], "fires under %s", name)
	}
	for condition := range conditions {
		require.NotZero(t, met[condition], "fires of watches for %s", condition)
	}
	for _, kind := range []string{"time", "calendar", "rhythm"} {
		require.Greater(t, kinds[kind], 5, "fires of a %s", kind)
	}
	require.NotZero(t, guarded, "guarded fires")
	for _, does := range []string{"answers", "errs", "panics", "writes", "spends", "nonsense"} {
		require.NotZero(t, agents[does], "calls of an agent that %s", does)
	}
	require.Greater(t, asked[true], 50, "questions of handlers")
	require.Greater(t, asked[false], 50, "questions of agents")
	require.NotZero(t, unasked, "agents for which a block had no room")
}

// timers are those that live, as the model writes them.
func (c *chain) timers(genesis *types.GenesisState) mapOf[modeled] {
	found := mapOf[modeled]{}
	for i := range genesis.Timers {
		t := &genesis.Timers[i]
		m := modeled{
			Place: "onHold", Reason: t.HoldReason.Word(), Due: t.Due, Seq: t.Seq, Gas: t.GasLimit / unit, Expires: t.ExpiresAt,
			Remaining: t.Left(), Retries: t.Retries, FireSeq: t.FireSeq,
			Deferred: t.UnfundedSince > 0, Since: t.Since, Tried: t.Tried, Deliveries: t.Deliveries, Failures: t.Failures,
		}
		if t.Spec.Trigger.ByTime() {
			m.At, m.Ends = c.minutes(t.DueTime), c.minutes(t.ExpiresTime)
		}
		if r := t.Recurrence; r != nil {
			m.Lapses, m.After, m.Trying, m.Forced = r.Lapses, c.instant(t, r.After), c.instant(t, r.Trying), c.instant(t, r.Forced)
		}
		if t.Spec.Bid != nil && t.Spec.Bid.Price != "" {
			m.Bid = amount(c, t.Spec.Bid.Price)
		}
		if answer := t.LastAnswer; answer != nil {
			m.LastMax, m.LastTip = inUnits(answer.MaxFeePerCycle), inUnits(answer.MaxPriorityFeePerCycle)
		}
		if t.BidLocked != "" {
			m.Lock = amount(c, t.BidLocked)
		}
		switch t.HoldReason {
		case types.NotOnHold:
			m.Place, m.Reason = "queue", ""
		case types.Watching:
			m.Place, m.Reason = "watching", ""
		case types.Timed:
			m.Place, m.Reason = "waiting", ""
		default:
		}
		found[c.numbers[t.IDHex()]] = m
	}
	require.Len(c.t, found, len(genesis.Timers))
	return found
}

// inUnits is a price as the model counts it.
func inUnits(price math.LegacyDec) int64 {
	return price.MulInt64(1_000_000_000).MulInt64(1_000_000_000).TruncateInt64()
}

// instant is an occurrence of a timer: a minute or a height.
func (c *chain) instant(t *types.Timer, at uint64) int64 {
	if t.Spec.Trigger.Calendar != nil {
		return c.minutes(int64(at))
	}
	return int64(at)
}

// compareMoney compares the balances, and what was burned and tipped so far.
func (c *chain) compareMoney(want *state, genesis *types.GenesisState, where string) {
	for i := range len(want.Balances) {
		balance := c.Bank.GetBalance(c.Ctx(), owner(i), c.FeeDenom).Amount.Int64()
		require.Equal(c.t, want.Balances[i], balance, "owner %d, %s", i, where)
	}
	require.Equal(c.t, want.Burned, genesis.Lane.Burned.Int64(), where)
	require.Equal(c.t, want.Tips, genesis.Lane.Tips.Int64(), where)
}

// compareBlock compares what the end of a block did.
func (c *chain) compareBlock(want *state, events sdk.Events, where string) {
	var fires []fire
	settled := map[int]*types.TimerBidSettled{}
	var exits []exit
	failed := 0
	calls := map[int]call{}
	for _, event := range events {
		typed, err := sdk.ParseTypedEvent(abci.Event(event))
		if err != nil {
			continue // An event of another module.
		}
		switch e := typed.(type) {
		case *types.TimerFired:
			f := fire{
				ID: c.numbers[e.Id], N: e.FireSeq, OK: e.Success, Guarded: e.Guarded, Paid: amount(c, e.Paid), Tip: amount(c, e.Tip), Next: e.NextDue,
				Occurrence: int64(e.Occurrence), Index: e.Index, Retries: e.Retries,
			}
			if f.Occurrence > c.started {
				f.Occurrence = c.minutes(f.Occurrence)
			}
			fires = append(fires, f)
			if e.AgentCycles > 0 {
				made := calls[f.ID]
				made.Used, made.Followed = e.AgentCycles/callUnit, true
				calls[f.ID] = made
			}
			if e.NextDue == 0 {
				exits = append(exits, exit{f.ID, "fired"})
			}
		case *types.TimerBidSettled:
			settled[c.numbers[e.Id]] = e
		case *types.TimerOccurrencesSkipped:
			if e.Ended != types.EndUnspecified {
				exits = append(exits, exit{c.numbers[e.Id], "passed"})
			}
		case *types.TimerExpired:
			exits = append(exits, exit{c.numbers[e.Id], "expired"})
		case *types.TimerCancelledInsufficientFunds:
			exits = append(exits, exit{c.numbers[e.Id], "unfunded"})
		case *types.TimerAgentFailed:
			made := calls[c.numbers[e.Id]]
			made.Failed = true
			calls[c.numbers[e.Id]] = made
		case *types.TimerAgentBilled:
			made := calls[c.numbers[e.Id]]
			require.False(c.t, made.Followed, "%s, timer %s fired and its call is billed", where, e.Id)
			made.Used = e.Cycles / callUnit
			require.Equal(c.t, int64(made.Used), amount(c, e.Paid), where)
			calls[c.numbers[e.Id]] = made
		case *types.TimerLaneFailed:
			failed++
		}
	}
	if want.Step.Op != "end" && want.Step.Op != "fail" {
		return
	}
	for i := range fires {
		if e := settled[fires[i].ID]; e != nil {
			fires[i].Locked, fires[i].BidPaid = amount(c, e.Bid), amount(c, e.Paid)
		}
	}
	require.Equal(c.t, want.Step.Op == "fail", failed == 1, where)
	require.Equal(c.t, want.Fires, append([]fire{}, fires...), where)
	made := []call{}
	for _, id := range c.called {
		one := calls[id]
		one.ID = id
		made = append(made, one)
	}
	require.Equal(c.t, want.Calls, made, where)
	require.Equal(c.t, want.Questions, append([]question{}, c.asked...), where)
	byID := func(a, b exit) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(exits, byID)
	slices.SortFunc(want.Exits, byID)
	require.Equal(c.t, want.Exits, append([]exit{}, exits...), where)
}

func amount(c *chain, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(c.t, err)
	return n
}
