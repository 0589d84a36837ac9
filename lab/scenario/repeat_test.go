package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestUpdate_NamesWhatItStates: the fields of a spec by the keys of the file, one that states a default too, and no other.
func TestUpdate_NamesWhatItStates(t *testing.T) {
	for members, want := range map[string][]string{
		`"gas_limit": 0`: {"gas_limit"},
		`"do": {}, "bid": {"tier": "fast"}, "cell_limit": 3, "max_charge": 0`:   {"cell_limit", "bid", "max_charge", "call"},
		`"renew": false, "remaining": 0`:                                        {"repeat.remaining", "repeat.renew"},
		`"watch": ["k"]`:                                                        {"trigger"},
		`"retry": {"max": 1, "after": 1}, "on_unfunded": "skip", "only_if": []`: {"retry", "on_unfunded", "only_if"},
	} {
		s, err := scenario.Parse([]byte(scenarioWith(scheduleT1 + `, {"at": 3, "op": "update", "timer": "t1", "by": "alice", ` + members + `}`)))
		require.NoError(t, err, members)
		require.Equal(t, want, s.Ops[1].Fields, members)
		require.Nil(t, s.Ops[1].Repeat, members)
	}
}

// TestRepeat_IsReadBesideTheTrigger: and within a calendar too, as in files of before; what is beside it goes first. A watch fires
// once unless its schedule says otherwise.
func TestRepeat_IsReadBesideTheTrigger(t *testing.T) {
	for members, want := range map[string]*types.Repeat{
		`"every": 2`: nil,
		`"every": 2, "remaining": 3, "missed": "each", "window": 4, "jitter": 1, "on_failure": "suspend", "max_failures": 2, "renew": true`: {
			Remaining: 3, Missed: types.MissedEach, Window: 4, Jitter: 1, OnFailure: types.OnFailureSuspend, MaxFailures: 2, Renew: true,
		},
		`"watch": ["k"]`:                 {Remaining: 1},
		`"watch": ["k"], "remaining": 0`: nil,
		`"calendar": {"every": {"seconds": "60"}, "remaining": "5", "on_failure": "ON_FAILURE_STOP", "occurrences": {"window": "7"}}, "remaining": 2`: {
			Remaining: 2, OnFailure: types.OnFailureStop, Window: 7,
		},
	} {
		s, err := scenario.Parse([]byte(scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob", ` + members + `}`)))
		require.NoError(t, err, members)
		require.Equal(t, want, s.Ops[0].Repeat, members)
	}
	for _, members := range []string{`"height": 5, "remaining": 1`, `"watch": ["k"], "window": 1`} {
		_, err := scenario.Parse([]byte(scenarioWith(`{"at": 1, "op": "schedule", "as": "t1", "actor": "bob", ` + members + `}`)))
		require.ErrorContains(t, err, "unknown field", members)
	}
}
