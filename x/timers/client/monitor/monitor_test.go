package monitor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/monitor"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// monitor runs monitor --blocks; a block goes by between two looks at the node.
func (r *rig) monitor(blocks int, line ...string) (lines []string, notes string) {
	r.T.Helper()
	first := r.Chain.Height()
	looks := 0
	act := r.Node.OnLook
	r.Node.OnLook = func() {
		if looks++; looks > 1 {
			r.Blocks(1)
		}
		if act != nil {
			act()
		}
	}
	out, notes, err := r.Run(append([]string{"query", "timers", "monitor", "--blocks", fmt.Sprint(blocks), "--interval", "50ms"}, line...)...)
	r.Node.OnLook = nil
	require.NoError(r.T, err)
	lines = strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var heights []string
	for _, line := range lines {
		require.NotContains(r.T, line, "\x1b")
		if height, found := strings.CutPrefix(line, "block height="); found {
			height, _, _ = strings.Cut(height, " ")
			heights = append(heights, height)
		}
	}
	var want []string
	for i := range blocks {
		want = append(want, fmt.Sprint(first+uint64(i)))
	}
	require.Equal(r.T, want, heights, "every block once, in order")
	return lines, notes
}

// Rule: 9.1-monitor
func TestMonitorPrintsALineForEachBlockAndHappening(t *testing.T) {
	r := newRig(t)
	at := r.Chain.Height()
	fires := r.Schedule(at+4, 5)
	fails := r.Schedule(at+4, 99_000_000)
	lines, notes := r.monitor(4)
	require.Empty(t, notes)
	text := strings.Join(lines, "\n")
	name := func(id string) string { return regexp.QuoteMeta(r.Alice + "/" + id) }
	for _, want := range []string{
		`(?m)^scheduled height=12 timer=` + name(fails) + ` due=14 gas_limit=250000$`,
		`(?m)^block height=13 policy=eip1559 basefee=0\.001 p50=0 cycles=0 cells=0 gc_cycles=0 fired=0 failed=0 guarded=0 expired=0 unfunded=0 on_hold=0 deferred=0 storm=false$`,
		`(?m)^fired height=14 timer=` + name(fires) + ` paid=\d+ tip=0 cycles=\d+ cells=\d+ late=0$`,
		`(?m)^failed height=14 timer=` + name(fails) + ` code=sdk/5 paid=\d+ `,
	} {
		require.Regexp(t, want, text)
	}
	require.True(t, strings.HasPrefix(lines[len(lines)-1], "block height=15 "), "the last block counts, too")
}

// The former name of the command is an alias, and does the same.
func TestMonitorIsAlsoCalledWatch(t *testing.T) {
	r := newRig(t)
	want, _, err := r.Run("query", "timers", "monitor", "--blocks", "1")
	require.NoError(t, err)
	require.Contains(t, want, "block height=10 policy=")
	got, _, err := r.Run("query", "timers", "watch", "--blocks", "1")
	require.NoError(t, err)
	require.Equal(t, want, got)
	help, _, err := r.Run("query", "timers", "watch", "--help")
	require.NoError(t, err)
	require.Contains(t, help, "query timers monitor [actor]")
}

// Rule: 9.1-monitor
func TestMonitorOfOneActor(t *testing.T) {
	r := newRig(t)
	at := r.Chain.Height()
	id := r.Schedule(at+3, 5)
	lines, _ := r.monitor(3, "bob")
	require.Len(t, lines, 3, "bob has no timer, and sees the blocks")
	r.Schedule(at+9, 5)
	lines, _ = r.monitor(2, "alice")
	require.Contains(t, lines[1], "scheduled height=14")
	require.NotContains(t, strings.Join(lines, "\n"), id, "what was before the latest block is past")
}

func TestMonitorTellsOfExpiryAndLackOfFunds(t *testing.T) {
	r := newRig(t)
	at := r.Chain.Height()
	r.Schedule(at+3, 5)
	r.Sends(r.Alice, r.Bob, 9_999_900)
	lines, _ := r.monitor(3)
	require.Contains(t, strings.Join(lines, "\n"), "unfunded height=13 timer="+r.Alice)
	require.Contains(t, strings.Join(lines, "\n"), "required=1100 available=100\n")
}

func TestMonitorOutlivesItsNode(t *testing.T) {
	r := newRig(t)
	looks := 0
	r.Node.OnLook = func() {
		looks++
		r.Node.Down = looks > 2 && looks < 6
	}
	_, notes := r.monitor(8)
	require.Equal(t, 1, strings.Count(notes, "no news from the node, asked again every 50ms: ask the node for its height: connection refused"), "%q", notes)
	require.Equal(t, 1, strings.Count(notes, "the node answers again, at height"), notes)

	r.Node.Down = true
	_, _, err := r.Run("query", "timers", "monitor")
	require.ErrorContains(t, err, "connection refused", "a node that never answered is a mistake")
}

func TestMonitorSaysWhatTheNodeDoesNotKeep(t *testing.T) {
	r := newRig(t)
	r.Node.ResultsFrom = int64(r.Chain.Height()) + 2
	lines, notes := r.monitor(4)
	require.Empty(t, notes)
	require.Equal(t, `block height=11 results=missing reason="the node has pruned them"`, lines[1])
	require.Contains(t, lines[2], "block height=12 policy=")
}

func TestMonitorRefusesWhatItCanNotDo(t *testing.T) {
	r := newRig(t)
	for want, line := range map[string][]string{
		"--interval 10ms is too short: want at least 50ms":   {"--interval", "10ms"},
		"--blocks 0 would show nothing":                      {"--blocks", "0"},
		"--height says nothing here":                         {"--height", "5"},
		`--output "yaml" is unknown: want text or json`:      {"--output", "yaml"},
		`"carol" is neither an address of this chain`:        {"carol"},
		`takes one account at a time, and "bob" is one more`: {"alice", "bob"},
	} {
		out, _, err := r.Run(append([]string{"query", "timers", "monitor"}, line...)...)
		require.ErrorContains(t, err, want)
		require.Empty(t, out)
	}
}

// onScreen watches for so many looks at the node, and returns all that the terminal was sent.
func (r *rig) onScreen(looks int, actor string, act func(look int)) string {
	r.T.Helper()
	ctx, cancel := context.WithCancel(r.at())
	defer cancel()
	look := 0
	r.Node.OnLook = func() {
		if look++; look > looks {
			cancel()
		}
		act(look)
	}
	var out bytes.Buffer
	require.NoError(r.T, monitor.OnScreen(ctx, r.Ctx, &out, func() (int, int) { return 100, 30 }, actor))
	r.Node.OnLook = nil
	return out.String()
}

func TestMonitorDrawsInPlaceAndRestoresTheTerminal(t *testing.T) {
	r := newRig(t)
	r.Crowd(12)
	shown := r.onScreen(6, "", func(look int) {
		r.Node.Down = look == 4
		r.Blocks(1)
	})
	const enter, leave = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
	require.True(t, strings.HasPrefix(shown, enter))
	require.Equal(t, 1, strings.Count(shown, enter))
	require.Equal(t, 1, strings.Count(shown, leave))
	_, after, _ := strings.Cut(shown, leave)
	require.NotContains(t, after, "\x1b", "what stays behind is plain")
	require.Contains(t, after, "timers of lab, height ")
	require.Contains(t, after, "fired ", "what happened before it was started is shown, too")
	require.Contains(t, after, "scheduled ")
	require.NotContains(t, after, "no news")
	require.Contains(t, shown, "! no news from the node")
	require.NotContains(t, shown, "the node answers again", "the view says it all")
	before, _, _ := strings.Cut(shown, leave)
	for _, frame := range strings.Split(before, "\x1b[H") {
		require.LessOrEqual(t, strings.Count(frame, "\n"), 30)
	}
	for _, line := range strings.Split(after, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 100)
	}
}

func TestMonitorShowsTheReadyAndOnesOwn(t *testing.T) {
	r := newRig(t)
	r.Crowd(12)
	ids := map[string]string{}
	// Eight of the largest gas limit fit in a block: the others wait.
	shown := r.onScreen(2, "", func(look int) {
		if look == 1 {
			r.Blocks(1)
		}
	})
	require.Contains(t, shown, "NEXT: the ready in the order of the next block")
	ids["later"] = r.Schedule(500, 5)
	shown = r.onScreen(2, r.Alice, func(int) {})
	require.Contains(t, shown, "TIMERS OF alice")
	require.Regexp(t, `500  \dm\d+s +`+ids["later"][:8]+` +default +250,000  send 5`, shown)
	require.Regexp(t, `coming    \|[.▁-█]+\| [\d,]+ blocks, \dm\d+s`, shown)
}

// What waits for a time stands among what is due at heights, as it is expected.
func TestMonitor_ShowsWhatWaitsForATime(t *testing.T) {
	r := newRig(t)
	height := r.Schedule(500, 5)
	require.NoError(t, r.Chain.BeginBlock())
	soon := r.Chain.Ctx().BlockTime().Add(100 * time.Second).Truncate(time.Second)
	_, _, err := r.Chain.Tx(&types.MsgScheduleTimer{
		Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{Time: &soon}, Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, 7))}, GasLimit: 250_000},
	})
	require.NoError(t, err)
	require.NoError(t, r.End())
	shown := r.onScreen(2, "", func(int) {})
	require.Regexp(t, `(?s)then the others, soonest first.*send 7.*`+height[:8]+`.*send 5`, shown)
	require.NotContains(t, shown, "nothing after this height")
}

func TestMonitorOnScreenEndsIfItCanNotBegin(t *testing.T) {
	r := newRig(t)
	r.Node.NoQueries = true
	var out bytes.Buffer
	err := monitor.OnScreen(r.at(), r.Ctx, &out, func() (int, int) { return 80, 24 }, "")
	require.ErrorContains(t, err, "ask for the lane: unknown query path")
	require.True(t, strings.HasSuffix(out.String(), "\x1b[?25h\x1b[?1049l"), "the terminal is restored")
}

func TestMonitorPassesOverWhatItMissedAndSaysSo(t *testing.T) {
	r := newRig(t)
	shown := r.onScreen(4, "", func(look int) {
		if look == 3 {
			r.Blocks(60)
		}
	})
	require.Contains(t, shown, "results: not asked for since height 11")
}

// What a block costs: its results, the lane and three lists; and the headers of twenty blocks at once.
func TestMonitorAsksLittleOfANode(t *testing.T) {
	r := newRig(t)
	r.Blocks(100)
	r.Schedule(500, 5)
	var asked, firstDrawn int
	var out countingWriter
	ctx, cancel := context.WithCancel(r.at())
	defer cancel()
	looks := 0
	r.Node.OnLook = func() {
		if looks++; looks == 3 {
			firstDrawn, asked = out.firstAsked, r.Node.Asked
		}
		if looks > 3 {
			r.Blocks(1)
		}
		if looks == 3+60 {
			cancel()
		}
	}
	out.asked = &r.Node.Asked
	require.NoError(t, monitor.OnScreen(ctx, r.Ctx, &out, func() (int, int) { return 80, 24 }, ""))
	require.LessOrEqual(t, firstDrawn, 7, "requests before the first screen")
	perBlock := float64(r.Node.Asked-asked) / 60
	require.Less(t, perBlock, 6.2, "requests a block, one for the height among them")
	require.Greater(t, perBlock, 5.0)
}

// countingWriter notes how many requests were made when the first line of the view was written.
type countingWriter struct {
	asked      *int
	firstAsked int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.firstAsked == 0 && bytes.Contains(p, []byte("basefee")) {
		w.firstAsked = *w.asked
	}
	return len(p), nil
}

// What the page key of the queue means is the server's: the list begins after the latest height, whoever is ready.
func TestMonitorShowsWhatComesBehindAStorm(t *testing.T) {
	r := newRig(t)
	r.Crowd(250)
	r.Blocks(1)
	shown := r.onScreen(1, "", func(int) {})
	require.Contains(t, shown, "nothing after this height")
	r.Schedule(800, 5)
	shown = r.onScreen(1, "", func(int) {})
	require.Regexp(t, `1 late        100\+ timers`, shown)
	require.Regexp(t, `coming    \|\.+▄\.*\|`, shown)
}

func TestMonitorWritesObjects(t *testing.T) {
	r := newRig(t)
	at := r.Chain.Height()
	fires, fails := r.Schedule(at+4, 5), r.Schedule(at+4, 99_000_000)
	r.Node.OnLook = func() { r.Blocks(1) }
	out, _, err := r.Run("query", "timers", "monitor", "--blocks", "3", "-o", "json", "--interval", "50ms")
	require.NoError(t, err)
	byKind := map[string]map[string]any{}
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &object), line)
		kind, ok := object["kind"].(string)
		require.True(t, ok, line)
		byKind[kind] = object
	}
	require.Len(t, byKind, 3)
	require.Subset(t, byKind["block"], map[string]any{"policy": "eip1559", "storm": false, "fired": 0.0})
	require.Subset(t, byKind["fired"], map[string]any{"height": 14.0, "actor": r.Alice, "id": fires, "tip": "0", "late": 0.0})
	require.Subset(t, byKind["failed"], map[string]any{"id": fails, "code": "sdk/5", "meaning": "insufficient funds"})
}
