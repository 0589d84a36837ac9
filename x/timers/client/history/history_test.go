package history_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// tell runs messages as a transaction in a block of their own.
func (r *rig) tell(msgs ...sdk.Msg) []*sdk.Result {
	r.T.Helper()
	require.NoError(r.T, r.Chain.BeginBlock())
	results, _, err := r.Chain.Tx(msgs...)
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
	return results
}

// repeating schedules a timer of alice's that repeats, and returns its id.
func (r *rig) repeating(every uint64) string {
	r.T.Helper()
	msg := &types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{
			Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: every}},
			Call:    types.TimerCall{Payload: r.Payload(r.Send(r.Alice, r.Bob, 1))}, GasLimit: 100_000,
		},
	}
	response, ok := r.tell(msg)[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	require.True(r.T, ok)
	return response.Id
}

// historyLines is the table that history prints, without its head, each line as its fields.
func (r *rig) historyLines(line ...string) (rows [][]string, notes string) {
	r.T.Helper()
	out, notes, err := r.Run(append([]string{"query", "timers", "history"}, line...)...)
	require.NoError(r.T, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) > 1 {
		require.Equal(r.T, []string{"HEIGHT", "TIMER", "WHAT", "RESULT", "PAID", "NEXT", "DUE", "MORE"}, strings.Fields(lines[0]))
	}
	for _, text := range lines[1:] {
		rows = append(rows, strings.Fields(text))
	}
	return rows, notes
}

// Rule: 9.1-history
func TestHistoryOfOneTimerAndOfAnActor(t *testing.T) {
	r := newRig(t)
	id := r.repeating(3)                                                   // scheduled at 11: due at 14, 17, ...
	other := r.repeating(100)                                              // at 12
	r.Blocks(6)                                                            // 13 to 18
	r.tell(&types.MsgPauseTimer{Sender: r.Alice, Id: id})                  // 19
	r.tell(&types.MsgResumeTimer{Sender: r.Alice, Id: id})                 // 20
	r.Blocks(1)                                                            // 21
	r.tell(&types.MsgExtendTimer{Sender: r.Alice, Id: id, ExpiresAt: 900}) // 22
	r.tell(&types.MsgCancelTimer{Sender: r.Alice, Id: id})                 // 23

	rows, notes := r.historyLines("alice/" + id[:8])
	var got []string
	for _, row := range rows {
		require.Equal(t, id[:12], row[1])
		got = append(got, row[0]+" "+row[2])
	}
	require.Equal(t, []string{"23 cancelled", "22 extended", "21 fired", "20 released", "19 held", "17 fired", "14 fired", "11 scheduled"}, got)
	require.NotContains(t, notes, "older")
	require.Equal(t, []string{"17", id[:12], "fired", "ok", "79", "20"}, rows[5][:6])

	rows, _ = r.historyLines(r.Alice)
	require.Len(t, rows, 9)
	require.Equal(t, []string{"12", other[:12], "scheduled"}, rows[7][:3])
	rows, _ = r.historyLines("alice/" + other)
	require.Len(t, rows, 1)
}

func TestHistoryIsPaged(t *testing.T) {
	r := newRig(t)
	id := r.repeating(1) // at 11; fires from 12 on
	r.Blocks(30)         // to 41
	var heights []string
	before := ""
	for range 10 {
		line := []string{r.Alice + "/" + id, "--page-limit", "7"}
		if before != "" {
			line = append(line, "--before", before)
		}
		rows, notes := r.historyLines(line...)
		for _, row := range rows {
			heights = append(heights, row[0]+" "+row[2])
		}
		_, after, more := strings.Cut(strings.TrimSpace(notes), "older: --before ")
		if !more {
			break
		}
		before = after
	}
	var want []string
	for height := 41; height > 11; height-- {
		want = append(want, fmt.Sprintf("%d fired", height))
	}
	require.Equal(t, append(want, "11 scheduled"), heights, "nothing twice, nothing left out")
}

func TestHistoryAsJSON(t *testing.T) {
	r := newRig(t)
	id := r.repeating(3)
	r.Blocks(3)
	out, _, err := r.Run("query", "timers", "history", r.Alice, "--output", "json")
	require.NoError(t, err)
	var printed struct {
		Events []struct {
			Height int64
			Timer  string
			Type   string
			Event  map[string]any
		}
		NextBefore int64 `json:"next_before"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &printed), out)
	require.Len(t, printed.Events, 2)
	require.Equal(t, "TimerFired", printed.Events[0].Type)
	require.Equal(t, id, printed.Events[0].Timer)
	require.Equal(t, true, printed.Events[0].Event["success"])
	require.Zero(t, printed.NextBefore)

	out, notes, err := r.Run("query", "timers", "history", r.Bob)
	require.NoError(t, err)
	require.Empty(t, out)
	require.Contains(t, notes, "nothing is found")
}

func TestHistorySaysWhatTheNodeLacks(t *testing.T) {
	r := newRig(t)
	r.repeating(2)
	r.Blocks(5)
	r.Node.Index.Pruned = 14
	_, _, err := r.Run("query", "timers", "history", "alice")
	require.ErrorContains(t, err, "the events of block 13")
	require.ErrorContains(t, err, "it may have pruned them")
	for _, answer := range []string{
		"block indexing is disabled", "transaction indexing is disabled", "block search is not supported via the postgres event sink",
	} {
		r.Node.Index.Off = fmt.Errorf("error in json rpc client: %s", answer)
		_, _, err = r.Run("query", "timers", "history", "alice")
		require.ErrorContains(t, err, "this node keeps no event index that can be searched")
		require.ErrorContains(t, err, "--node")
	}
	r.Node.Index.Off = fmt.Errorf("timed out")
	_, _, err = r.Run("query", "timers", "history", "alice")
	require.ErrorContains(t, err, "search the node's event index: timed out")
	r.Node.Index.Off = nil
	for name, line := range map[string][]string{
		`"carol" is neither an address`: {"carol"},
		"alice has no live timer with the name xyz, and this node knows of none that is gone": {"alice/xyz"},
		"--page-limit 0 is out of bounds":        {"alice", "--page-limit", "0"},
		"--page-limit 101 is out of bounds":      {"alice", "--page-limit", "101"},
		"invalid argument \"-1\" for \"--before": {"alice", "--before", "-1"},
	} {
		_, _, err := r.Run(append([]string{"query", "timers", "history"}, line...)...)
		require.ErrorContains(t, err, name)
	}
}

// TestHistory_WritesTimesAsThePreview: the day, the time of day and the offset, in the zone of who asks.
func TestHistory_WritesTimesAsThePreview(t *testing.T) {
	r := newRig(t)
	when := r.Now().Add(time.Hour).Truncate(time.Second).UTC()
	r.tell(&types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{Time: &when}, Call: types.TimerCall{Payload: r.Payload(r.Send(r.Alice, r.Bob, 1))}, GasLimit: 100_000},
	})
	rows, _ := r.historyLines("alice")
	shown, err := time.Parse("2006-01-02 15:04:05 -07:00", strings.Join(rows[0][5:8], " "))
	require.NoError(t, err, rows)
	require.True(t, when.Equal(shown), rows)
}

// acts is what a transaction of a command with --wait prints behind its first line.
func (r *rig) acts(line ...string) []string {
	r.T.Helper()
	out, _, err := r.Run(append(append([]string{"tx", "timers"}, line...), "--from", "alice", "-y", "--wait", "-o", "text")...)
	require.NoError(r.T, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Regexp(r.T, "^transaction [0-9A-F]{64} is included at height [0-9]+$", lines[0])
	return lines[1:]
}

// Each act of an owner is in the history with its dates, and the answer to it says them too.
// Rule: 9.1-history
func TestHistory_TellsWhatItsOwnerDid(t *testing.T) {
	r := newRig(t)
	id := r.repeating(50) // at 11: due at 61, 111, ...
	name := "alice/" + id[:8]
	began := "timer " + r.Alice + "/" + id + " "
	require.Equal(t, []string{began + "skipped, requested, 1 occurrence: height 61; next due at height 111"}, r.acts("skip", name))
	require.Equal(t, []string{began + "skipped, requested, 2 occurrences: height 111 to height 161; next due at height 211"}, r.acts("skip", name, "--count", "2"))
	require.Equal(t, []string{began + "held, paused"}, r.acts("pause", name))
	require.Equal(t, []string{began + "released, paused; next due at height 65"}, r.acts("resume", name, "--next"))
	require.Equal(t, []string{began + "updated, by its owner; it goes to the back of those due at its height; next due at height 65"},
		r.acts("update", name, "--gas-limit", "90000"))
	require.Contains(t, r.acts("extend", name, "--until", "900", "--shorten")[0], began+"extended, until 900, not ")
	require.Contains(t, r.acts("run", name)[0], "; next due at height ")
	require.Equal(t, []string{began + "cancelled, by its owner"}, r.acts("cancel", name))

	rows, _ := r.historyLines(name)
	var got []string
	for _, row := range rows {
		got = append(got, row[2])
	}
	require.Equal(t, []string{"cancelled", "updated", "extended", "updated", "released", "held", "skipped", "skipped", "scheduled"}, got)
	require.Equal(t, "requested - 211 2 occurrences: height 111 to height 161", strings.Join(rows[6][3:], " "))
	require.Equal(t, "requested - 111 1 occurrence: height 61", strings.Join(rows[7][3:], " "))
	require.Equal(t, "65", rows[3][5])

	out, _, err := r.Run("tx", "timers", "skip", r.repeating(50), "--from", "alice", "-y", "--wait", "-o", "json")
	require.NoError(t, err)
	require.Contains(t, out, `"type":"TimerOccurrencesSkipped","event":{"id":`)
}

// A timer that is gone is found by its name, and of several that had it the newest.
func TestHistory_FindsByItsNameWhatIsGone(t *testing.T) {
	r := newRig(t)
	named := func(name string) string {
		r.T.Helper()
		msg := &types.MsgScheduleTimer{
			Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: r.Chain.Height() + 4}, Call: types.TimerCall{Payload: r.Payload(r.Send(r.Alice, r.Bob, 1))}, GasLimit: 100_000, Name: name},
		}
		response, ok := r.tell(msg)[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
		require.True(r.T, ok)
		return response.Id
	}
	first, odd := named("rent"), named(`it's "<rent>"`)
	r.Blocks(5)
	second, other := named("rent"), named("rents")
	r.Blocks(5)

	rows, notes := r.historyLines("alice/rent")
	require.Len(t, rows, 2)
	require.Equal(t, []string{second[:12], "fired"}, rows[0][1:3])
	require.Contains(t, notes, "timer "+r.Alice+"/"+second+" had the name rent, and is gone\n")
	require.Contains(t, notes, "1 timer before it had the name too: "+first+"\n")
	rows, _ = r.historyLines("alice/rents")
	require.Equal(t, other[:12], rows[0][1])
	rows, _ = r.historyLines(`alice/it's "<rent>"`)
	require.Equal(t, odd[:12], rows[0][1])
}

// A node that joined by state sync knows nothing of what was before.
func TestHistory_SaysFromWhenTheNodeKnows(t *testing.T) {
	r := newRig(t)
	r.repeating(2)
	r.Blocks(5)
	_, notes := r.historyLines("alice")
	require.NotContains(t, notes, "first block")
	r.Node.Earliest = 15
	_, notes = r.historyLines("alice", "--page-limit", "1")
	require.NotContains(t, notes, "first block", "there are older pages")
	_, notes = r.historyLines("alice")
	require.Contains(t, notes, "this node knows nothing of what was before height 15, its first block")
	out, _, err := r.Run("query", "timers", "history", "alice", "-o", "json")
	require.NoError(t, err)
	require.Contains(t, out, `"known_from":15`)
}
