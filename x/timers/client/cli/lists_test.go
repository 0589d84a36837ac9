package cli_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/clienttest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// listed runs a list and returns the fields of its rows, and what was said beside it.
func (r *rig) listed(line ...string) (rows [][]string, notes string) {
	r.T.Helper()
	out, notes, err := r.Run(append([]string{"query", "timers"}, line...)...)
	require.NoError(r.T, err)
	for _, text := range strings.Split(strings.TrimSpace(out), "\n") {
		rows = append(rows, regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(text), -1))
	}
	return rows, notes
}

// atTime schedules a transfer at a time, and returns the timer's id.
func (r *rig) atTime(at string) (id string) {
	r.T.Helper()
	moment, err := time.Parse("2006-01-02 15:04", at)
	require.NoError(r.T, err)
	require.NoError(r.T, r.Chain.BeginBlock())
	results, _, err := r.Chain.Tx(&types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{Time: &moment}, Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, 7))}, GasLimit: 250_000},
	})
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
	var response types.MsgScheduleTimerResponse
	require.NoError(r.T, r.Chain.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	return response.Id
}

// What waits for a time is listed by it, in the zone of who asks, and not among what is due at a height.
func TestDue_ListsWhatWaitsForATime(t *testing.T) {
	r := newRig(t)
	later, sooner := r.atTime("2023-11-15 09:00"), r.atTime("2023-11-14 23:00")
	all, notes := r.listed("due", "2023-11-15 09:00", "--until")
	require.Empty(t, notes)
	require.Len(t, all, 3)
	require.Equal(t, []string{sooner[:8], later[:8]}, []string{all[1][0], all[2][0]})
	one, _ := r.listed("due", "09:00")
	require.Len(t, one, 2)
	require.Equal(t, later[:8], one[1][0])
	r.TZ = "Europe/Berlin"
	berlin, _ := r.listed("due", "10:00")
	require.Equal(t, one[1][0], berlin[1][0])
	for _, none := range [][]string{{"due", "09:01"}, {"due", "1000000", "--until"}} {
		out, _, err := r.Run(append([]string{"query", "timers"}, none...)...)
		require.NoError(t, err)
		require.Empty(t, out, none)
	}
	_, _, err := r.Run("query", "timers", "due", "2023-11-14 22:00")
	require.ErrorContains(t, err, "has passed")
}

func TestListsAreTables(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	require.NoError(t, r.Chain.BeginBlock())
	_, _, err := r.Chain.Tx(&types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{
			Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 3000, First: 400}}, Name: "rent, monthly",
			Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, 9), r.Send(r.Alice, r.Bob, 1))}, Bid: &types.Bid{Tier: types.TierFast}, FeePayer: r.Alice, Repeat: &types.Repeat{Remaining: 7},
		},
	})
	require.NoError(t, err)
	require.NoError(t, r.End())

	rows, notes := r.listed("list", "alice")
	require.Empty(t, notes)
	require.Equal(t, []string{"ID", "NAME", "DUE", "EVERY", "DOES", "BID", "STATUS"}, rows[0])
	require.Equal(t, [][]string{
		{rows[1][0], "rent, monthly", "400, in 6m28s", "3,000 blocks, 7 left", "send 9stake to bob, then send 1stake to bob", "fast", "pending"},
		{id[:8], "-", "500, in 8m8s", "-", "send 5stake to bob", "default", "pending"},
	}, rows[1:])
	same, _ := r.listed("list", "--from", "alice")
	require.Equal(t, rows, same)

	wide, _ := r.listed("due", "500", "-o", "wide")
	require.Equal(t, []string{"ID", "ACTOR", "NAME", "DUE", "EVERY", "DOES", "BID", "STATUS", "GAS LIMIT", "EXPIRES", "PAYER"}, wide[0])
	require.Equal(t, []string{id, "alice", "-"}, wide[1][:3])
	require.Regexp(t, `^500, 2023-11-1\d \d\d:\d\d:40 [+-]\d\d:\d\d$`, wide[1][3])
	require.Equal(t, []string{"250,000", "alice"}, []string{wide[1][8], wide[1][10]})

	// Pages, and how to continue.
	rows, notes = r.listed("list", "alice", "--page-limit", "1")
	require.Len(t, rows, 2)
	key := regexp.MustCompile(`there are more: --page-key (\S+)`).FindStringSubmatch(notes)
	require.NotNil(t, key, notes)
	rest, notes := r.listed("list", "alice", "--page-limit", "1", "--page-key", key[1])
	require.NotEqual(t, rows[1], rest[1])
	require.Empty(t, notes)

	// By status.
	_, _, err = r.Run("tx", "timers", "pause", id, "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	rows, notes = r.listed("list", "alice", "--status", "on-hold")
	require.Len(t, rows, 2)
	require.Equal(t, []string{id[:8], "-", "-", "-", "send 5stake to bob", "default", "on hold: paused"}, rows[1])
	require.Equal(t, "1 of another status on this page\n", notes)

	for want, line := range map[string][]string{
		"whose timers? want an actor":                         {"list"},
		`timers of "carol": "carol" is neither an address`:    {"list", "carol"},
		`"abc" is no height: want a whole number`:             {"due", "abc"},
		`--status "late" is unknown: want one of pending, re`: {"list", "alice", "--status", "late"},
		`--output "xml" is unknown: want text, wide, json or`: {"list", "alice", "-o", "xml"},
		`--page-key "?" is none that a page before has named`: {"ready", "--page-key", "?"},
		"--page-limit: want a whole number from 1 on":         {"ready", "--page-limit", "0"},
	} {
		_, _, err := r.Run(append([]string{"query", "timers"}, line...)...)
		require.ErrorContains(t, err, want)
	}
}

// JSON has all fields of its message, whatever their values, and an empty list is one.
func TestListsAsJSON(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	for _, line := range [][]string{{"list", "bob"}, {"ready"}, {"due", "499"}, {"on-hold"}, {"list", "alice", "--status", "ready"}} {
		out, notes, err := r.Run(append([]string{"query", "timers", "-o", "json"}, line...)...)
		require.NoError(t, err)
		require.Contains(t, out, `"timers":[]`, line)
		require.Empty(t, notes)
	}
	out, _, err := r.Run("query", "timers", "list", "alice", "-o", "json")
	require.NoError(t, err)
	var list struct {
		Timers []map[string]any
		Total  int
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Equal(t, 1, list.Total)
	require.Equal(t, id, list.Timers[0]["id"])
	spec, ok := list.Timers[0]["spec"].(map[string]any)
	require.True(t, ok)
	require.Contains(t, spec, "name", "fields without a value are there too")
	out, _, err = r.Run("query", "timers", "list", "alice", "-o", "yaml")
	require.NoError(t, err)
	require.Contains(t, out, "id: "+id)
}

// What a timer does is in every list and in every form: its messages as timer prints them, and words.
func TestWhatATimerDoesIsInEveryOutput(t *testing.T) {
	r := newRig(t)
	short := r.Schedule(500, 5)
	// More than the 512 bytes of a payload that lists have.
	sends := make([]sdk.Msg, 6)
	for i := range sends {
		sends[i] = r.Send(r.Alice, r.Bob, int64(i+1))
	}
	all := make([]string, len(sends))
	for i, send := range sends {
		all[i] = r.JSON(send)
	}
	_, _, err := r.Run("tx", "timers", "schedule", "--msgs", r.File("six.json", "["+strings.Join(all, ",")+"]"), "--name", "long",
		"--watch", "bank:balance:bob:stake", "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	r.Node.Polls = 0
	const six = "send 1stake to bob, then send 2stake to bob, then send 3stake to bob, then send 4stake to bob, then send 5stake to bob, then send 6stake to bob"
	type shown struct {
		ID   string
		Does string
		Spec struct {
			Call struct{ Messages []json.RawMessage }
		}
	}
	var list struct {
		Timers, Watches []shown
		Timer           shown
		Pagination      *struct{ Total string }
	}
	read := func(line ...string) {
		t.Helper()
		out, _, err := r.Run(append([]string{"query", "timers", "-o", "json"}, line...)...)
		require.NoError(t, err)
		list.Timers, list.Watches, list.Pagination = nil, nil, nil
		require.NoError(t, json.Unmarshal([]byte(out), &list), out)
	}
	read("due", "500")
	require.NotNil(t, list.Pagination)
	require.Len(t, list.Timers, 1)
	due := list.Timers[0]
	require.Equal(t, "send 5stake to bob", due.Does)
	require.Len(t, due.Spec.Call.Messages, 1)
	read("timer", "alice/"+short)
	require.Equal(t, due, list.Timer, "as the query of one prints it")
	read("timer", "alice/long")
	long := list.Timer
	require.Equal(t, six, long.Does)
	require.Len(t, long.Spec.Call.Messages, 6)
	read("list", "alice")
	require.ElementsMatch(t, []shown{due, long}, list.Timers)
	read("watches", "--actor", "alice")
	require.Len(t, list.Watches, 1)
	require.Equal(t, six, list.Watches[0].Does)

	for _, line := range [][]string{{"list", "alice", "-o", "wide"}, {"list", "alice", "-o", "yaml"}, {"watches", "--actor", "alice", "-o", "wide"}, {"watches", "--actor", "alice", "-o", "yaml"}} {
		out, _, err := r.Run(append([]string{"query", "timers"}, line...)...)
		require.NoError(t, err)
		require.Contains(t, strings.Join(strings.Fields(out), " "), six, line)
	}
}

func TestATimerThatIsGonePointsToItsHistory(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(13, 5)
	r.Blocks(5)
	_, _, err := r.Run("query", "timers", "timer", "alice/"+id[:8])
	require.ErrorContains(t, err, r.Alice+" has no live timer whose id begins with "+id[:8])
	require.ErrorContains(t, err, "what happened to those that are gone: chaind query timers history alice/"+id[:8])
	out, notes, err := r.Run("query", "timers", "history", "alice/"+id[:8])
	require.NoError(t, err)
	require.Contains(t, out, "fired")
	require.Regexp(t, `on this page: 1 fire, 0 of them failed, \d+ paid in all\n`, notes)
}

func TestHistoryTellsWhyAFireFailed(t *testing.T) {
	r := newRig(t)
	r.Schedule(13, 50_000_000) // more than alice has
	r.Blocks(5)
	out, notes, err := r.Run("query", "timers", "history", "alice")
	require.NoError(t, err)
	require.Contains(t, out, "sdk/5 (insufficient funds)")
	require.Contains(t, notes, "1 fire, 1 of them failed")
	out, _, err = r.Run("query", "timers", "history", "alice", "-o", "json")
	require.NoError(t, err)
	require.Regexp(t, `"totals":{"fired":1,"failed":1,"guarded":0,"paid":"\d+"}`, out)
}

// Before, each row asked the key ring for each of its addresses: 20 rows were 60 questions.
func TestLists_AskOnceForTheNameOfAnAddress(t *testing.T) {
	r := newRig(t)
	for range 20 {
		r.Schedule(500, 5)
	}
	keys := r.CountKeys()
	out, _, err := r.Run("query", "timers", "list", "alice", "-o", "wide")
	require.NoError(t, err)
	require.Equal(t, 20, strings.Count(out, "send 5stake to bob"))
	require.Equal(t, 2, keys.Asked, "alice and bob")

	keys.Asked, keys.Locked = 0, true
	_, notes, err := r.Run("query", "timers", "list", r.Alice)
	require.NoError(t, err)
	require.Equal(t, 1, keys.Asked, "a password is asked once")
	require.Contains(t, notes, "addresses are shown without the names of keys: the key ring (--keyring-backend memory) can't be read: too many")
}

// TestWatchable_IsAListWhereNothingCanBeWatched, not null.
func TestWatchable_IsAListWhereNothingCanBeWatched(t *testing.T) {
	r := clienttest.NewUnwatched(t)
	for output, want := range map[string]string{"json": `{"stores":[]}` + "\n", "text": "stores: []\n"} {
		out, _, err := r.Run("query", "timers", "watchable", "-o", output)
		require.NoError(t, err)
		require.Equal(t, want, out)
	}
}
