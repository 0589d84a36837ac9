package replay_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/lab/replay"
	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// verdicts are those on all timers of a scenario, by their ids.
func verdicts(t *rapid.T, r *replay.Runner) map[string]types.TimerInfo {
	found := map[string]types.TimerInfo{}
	for _, name := range accountNames {
		answer, err := keeper.NewQueryServer(r.Chain().Timers).TimersByActor(r.Chain().Ctx(),
			&types.QueryTimersByActorRequest{Actor: scenario.AccountAddress(name).String(), Verdict: true})
		require.NoError(t, err)
		for _, timer := range answer.Timers {
			found[timer.Id] = timer
		}
	}
	return found
}

// firedAt are the timers that fired at a height, by their ids, and whether they were guarded; none where no receipts are kept.
func firedAt(t *rapid.T, r *replay.Runner, height uint64) map[string]bool {
	answer, err := keeper.NewQueryServer(r.Chain().Timers).Receipts(r.Chain().Ctx(), &types.QueryReceiptsRequest{Height: height})
	require.NoError(t, err)
	fired := map[string]bool{}
	for _, receipt := range answer.Receipts {
		fired[receipt.TimerId] = receipt.Guarded
	}
	return fired
}

// foreseeable reports whether a block did what its preview said: no one sent anything, no agent was asked, no handler changed timers,
// and time made nothing due and let nothing pass.
func foreseeable(s *scenario.Scenario, line *replay.Line, before map[string]types.TimerInfo) bool {
	fired := map[string]bool{}
	for i := range line.Fired {
		fired[line.Fired[i].Timer] = true
	}
	for i := range s.Ops {
		op := &s.Ops[i]
		if op.At == line.Height || op.Do != nil && len(op.Do.Ops) > 0 && (fired[op.As] || fired[op.Timer]) {
			return false
		}
	}
	for _, timer := range before {
		if timer.Spec.Bid != nil && timer.Spec.Bid.Agent != "" || timer.Spec.Trigger.Calendar != nil && timer.Status.HoldReason == types.NotOnHold ||
			timer.Status.HoldReason == types.Timed && timer.Status.DueTime <= line.Time || timer.Status.ExpiresTime > 0 && timer.Status.ExpiresTime < line.Time {
			return false
		}
	}
	return true
}

// TestVerdict_IsWhatTheNextBlockDoes: in random scenarios, whatever a block does with a timer, the verdict before it said.
//
// Rule: 5.6-verdict
func TestVerdict_IsWhatTheNextBlockDoes(t *testing.T) {
	seen := map[types.Verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		data, _ := drawScenario(t, false)
		s, err := scenario.Parse(data)
		require.NoError(t, err)
		r, err := replay.NewRunner(s)
		require.NoError(t, err)
		before := map[string]types.TimerInfo{}
		for !r.Done() {
			line, err := r.Step()
			require.NoError(t, err)
			if fired := firedAt(t, r, line.Height); len(fired) == len(line.Fired) && foreseeable(s, line, before) {
				compareVerdicts(t, before, fired, seen, fmt.Appendf(nil, "%+v %s", *line, data))
			}
			before = verdicts(t, r)
		}
	})
	for _, verdict := range []types.Verdict{
		types.VerdictFires, types.VerdictPending, types.VerdictOnHold, types.VerdictExpired, types.VerdictLanePaused, types.VerdictNoRoom,
		types.VerdictNoFunds,
	} {
		require.NotZero(t, seen[verdict], verdict)
	}
}

// compareVerdicts compares the verdicts on timers with what the block did. Where some do not fire for want of room or funds, what
// those before them left unused may be enough after all: then it is compared alone who can't fire.
func compareVerdicts(t *rapid.T, before map[string]types.TimerInfo, fired map[string]bool, seen map[types.Verdict]int, data []byte) {
	exact := true
	for _, timer := range before {
		seen[timer.Status.Verdict]++
		switch timer.Status.Verdict {
		case types.VerdictNoRoom, types.VerdictCapped, types.VerdictNotRead, types.VerdictNoFunds, types.VerdictPassed:
			exact = false
		default:
		}
	}
	for id, timer := range before {
		guarded, fires := fired[id]
		switch timer.Status.Verdict {
		case types.VerdictFires, types.VerdictGuarded:
			if exact {
				require.True(t, fires, "%s: %s at %d among %s of %s", timer.Status.Verdict, id, timer.Status.Due, among(before), data)
				require.Equal(t, timer.Status.Verdict == types.VerdictGuarded, guarded, "%s of %s", id, data)
			}
		case types.VerdictPending, types.VerdictExpired, types.VerdictLanePaused, types.VerdictPassed:
			require.False(t, fires, "%s: %s at %d of %s", timer.Status.Verdict, id, timer.Status.Due, data)
		case types.VerdictUnspecified:
			require.Fail(t, "a timer without a verdict", id)
		default: // What it comes to depends on what others leave.
		}
	}
}

// among says what the verdicts on all timers are.
func among(timers map[string]types.TimerInfo) (text string) {
	for id, timer := range timers {
		text += fmt.Sprintf("%.8s %s due %d, on hold %s; ", id, timer.Status.Verdict, timer.Status.Due, timer.Status.HoldReason)
	}
	return text
}
