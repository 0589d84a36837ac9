package monitor

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var update = flag.Bool("update-views", false, "rewrite testdata/*.txt")

const someActor = "cosmos1zrx0nnt256dcqhjm5jkvrqsm79k3zn7ysdk09r"

func somewords() words.Writer {
	registry := codectypes.NewInterfaceRegistry()
	banktypes.RegisterInterfaces(registry)
	return words.Writer{Codec: codec.NewProtoCodec(registry), Who: func(address string) string { return plain.Elide(address, 16) }}
}

func noon() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// busyBoard is a lane with something of everything.
func busyBoard() *board {
	b := &board{
		words: somewords(), keyName: func(string) string { return "" }, now: noon,
		chainID: "lab", clock: timespan.Clock{Height: 1_234, Time: noon().Add(-1_200 * time.Millisecond), Pace: timespan.Pace{Blocks: 100, Time: 100_200 * time.Millisecond}},
		lane: &types.QueryLaneResponse{
			Height: 1_234, Policy: types.PolicyEIP1559, CycleBasefee: "0.001000000000000000", CellBasefee: "0.030000000000000000",
			LaneBasefee: "0.001125000000000000", NextLaneBasefee: "0.001265625000000000", P50: "0.000500000000000000",
			Cycles: 1_234_567, LaneTimerCycles: 2_000_000, Cells: 12_345, LaneTimerCells: 2_000_000, GcCyclesPerBlock: 5_000_000,
			FeeDenom: "utmr", Admitted: 2_048, MaxCyclesPerFire: 250_000,
		},
	}
	for i := range int64(30) {
		b.take(&report{height: uint64(1_204 + i), summary: &types.TimerLaneSummary{LaneBasefee: math.LegacyNewDecWithPrec(1_000+i%12*12, 6).String()}})
	}
	b.take(&report{height: 1_234, summary: &types.TimerLaneSummary{
		Height: 1_234, Fired: 11, Failed: 1, Expired: 2, Unfunded: 1, Deferred: 1_999, GcCycles: 30_000, LaneBasefee: "0.001125", Storm: true,
	}, happenings: []happening{
		{height: 1_234, kind: "scheduled", actor: someActor, id: strings.Repeat("0a", 32), facts: []fact{{"due", uint64(1_300)}, {"gas_limit", uint64(250_000)}}},
		{height: 1_234, kind: "fired", actor: someActor, id: strings.Repeat("1b", 32), facts: []fact{{"paid", "17"}, {"tip", "0"}, {"cycles", uint64(45_123)}}},
		{height: 1_234, kind: "fired", actor: someActor, id: strings.Repeat("1c", 32), facts: []fact{{"paid", "9"}, {"tip", "0"}, {"cycles", uint64(45_125)}}},
		{height: 1_234, kind: "fired", actor: someActor, id: strings.Repeat("1d", 32), facts: []fact{{"paid", "18"}, {"tip", "0"}, {"cycles", uint64(45_124)}}},
		{
			height: 1_234, kind: "failed", actor: someActor, id: strings.Repeat("2c", 32), name: "rent, monthly", code: "sdk/5",
			meaning: "insufficient funds", facts: []fact{{"paid", "17"}},
		},
		{height: 1_234, kind: "unfunded", actor: someActor, id: strings.Repeat("3d", 32), facts: []fact{{"required", "17000"}, {"available", "5"}}},
		{height: 1_234, kind: "lane_failed", code: "timers/9", meaning: "a text that says in so many words what the cause was, and whole"},
	}})
	send := &banktypes.MsgSend{FromAddress: someActor, ToAddress: someActor, Amount: sdk.NewCoins(sdk.NewInt64Coin("utmr", 5))}
	payload, err := types.NewAccountPayload(send)
	if err != nil {
		panic(err)
	}
	aSend, err := payload.Marshal()
	if err != nil {
		panic(err)
	}
	static := &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(3, 3)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(1, 3))}}
	for i, bid := range []*types.Bid{{Tier: types.TierUrgent}, static, nil, nil, nil, nil, nil, nil} {
		b.ready = append(b.ready, types.TimerInfo{
			Id: strings.Repeat(fmt.Sprintf("%02x", 0xa0+i), 32), Actor: someActor, Status: types.TimerStatus{
				Due: uint64(1_200 + min(i, 4)), GasLimit: 100_000,
				PayloadBytes: uint64(len(aSend)),
			},
			Spec: types.TimerSpec{Bid: bid, Call: types.TimerCall{Handler: "handle_timer", Payload: aSend}},
		})
	}
	for i, due := range []uint64{1_235, 1_240, 1_240, 1_240, 1_255, 1_260, 9_999, 50_000} {
		b.coming = append(b.coming, types.TimerInfo{
			Id: strings.Repeat(fmt.Sprintf("%02x", 0xb0+i), 32), Actor: someActor, Status: types.TimerStatus{
				Due: due, GasLimit: 1_000_000,
				PayloadBytes: uint64(len(aSend)),
			}, Spec: types.TimerSpec{
				Name: "rent, monthly",
				Call: types.TimerCall{Handler: "handle_timer", Payload: aSend},
			},
		})
	}
	b.moreReady, b.moreComing = true, true
	return b
}

// ownBoard is the same lane as one actor sees it.
func ownBoard() *board {
	b := busyBoard()
	b.actor, b.total, b.ready, b.coming, b.lately = someActor, 7, nil, nil, b.lately[:1]
	b.trouble = "no news from the node, asked again every 500ms: connection refused \x1b[31m"
	b.summary.Storm = false
	for i, status := range []types.TimerPhase{types.PhaseReady, types.PhasePending, types.PhasePending, types.PhaseWatching} {
		b.timers = append(b.timers, types.TimerInfo{
			Id: strings.Repeat(fmt.Sprintf("%02x", 0xc0+i), 32), Actor: someActor, Status: types.TimerStatus{
				Due: uint64(1_230 + 600*i), ExpiresAt: 9_999, GasLimit: 250_000,
				Phase: status,
			},
			Spec: types.TimerSpec{Call: types.TimerCall{Handler: "handle_timer"}},
		})
	}
	return b
}

func quietBoard() *board {
	return &board{
		words: somewords(), keyName: func(string) string { return "" }, now: noon,
		clock: timespan.Clock{PaceErr: os.ErrNotExist},
		lane: &types.QueryLaneResponse{
			Height: 1, Policy: types.PolicyFIFO, Paused: true, LaneBasefee: "0.001", NextLaneBasefee: "0.001",
			CycleBasefee: "0.001", CellBasefee: "0.03", P50: "0", FeeDenom: "utmr", LaneTimerCycles: 2_000_000, LaneTimerCells: 2_000_000, GcCyclesPerBlock: 5_000_000,
		},
	}
}

func TestTheViewReadsWellAtItsWidths(t *testing.T) {
	for name, b := range map[string]*board{"busy": busyBoard(), "own": ownBoard(), "quiet": quietBoard()} {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			file := filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, size[0]))
			got := strings.Join(b.lines(size[0], size[1]), "\n") + "\n"
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o750))
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), got, file)
		}
	}
}

// TestTheViewNeverLeavesTheTerminal draws whatever a node may answer on terminals of any size.
func TestTheViewNeverLeavesTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		b := rapid.SampledFrom([]func() *board{busyBoard, ownBoard, quietBoard})
		board := b.Draw(t, "board")()
		board.chainID, board.trouble, board.lane.FeeDenom = text.Draw(t, "chain"), text.Draw(t, "trouble"), text.Draw(t, "denom")
		board.lane.LaneBasefee, board.lane.P50 = text.Draw(t, "basefee"), text.Draw(t, "p50")
		board.lane.Cycles, board.lane.LaneTimerCycles = rapid.Uint64().Draw(t, "cycles"), rapid.Uint64().Draw(t, "budget")
		board.ready = append(board.ready, types.TimerInfo{Id: "aa", Actor: "a", Spec: types.TimerSpec{Call: types.TimerCall{Handler: text.Draw(t, "handler")}}, Status: types.TimerStatus{Due: rapid.Uint64().Draw(t, "due")}})
		board.coming = append(board.coming, types.TimerInfo{Id: text.Draw(t, "id"), Actor: text.Draw(t, "actor"), Spec: types.TimerSpec{Name: text.Draw(t, "name")}, Status: types.TimerStatus{Due: rapid.Uint64().Draw(t, "due")}})
		board.remember(&happening{kind: "failed", actor: "a", id: "bb", code: text.Draw(t, "code"), name: text.Draw(t, "name"), facts: []fact{{text.Draw(t, "key"), text.Draw(t, "value")}}})
		width, height := rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 80).Draw(t, "height")
		lines := board.lines(width, height)
		require.LessOrEqual(t, len(lines), height)
		for _, line := range lines {
			require.LessOrEqual(t, utf8.RuneCountInString(line), width)
			for _, r := range line {
				require.True(t, r >= ' ' && r <= '~' || r >= '▁' && r <= '█', "%q in %q", r, line)
			}
		}
	})
}

func TestTheBoardForgets(t *testing.T) {
	b := quietBoard()
	for height := range uint64(10_000) {
		b.take(&report{height: height, summary: &types.TimerLaneSummary{LaneBasefee: "1"}, happenings: []happening{{height: height, kind: "fired"}}})
	}
	require.Len(t, b.lately, keptHappenings)
	require.Len(t, b.basefees, keptBasefees)
	require.LessOrEqual(t, cap(b.lately), 2*keptHappenings)
	require.EqualValues(t, 9_999, b.lately[keptHappenings-1].height)
}

func TestChangesOfPrice(t *testing.T) {
	for _, tc := range [][3]string{
		{"0.001", "0.001125", " (+12.5%)"},
		{"0.008", "0.007", " (-12.5%)"},
		{"1", "1", " (steady)"},
		{"1", "1.0004", " (steady)"},
		{"0", "1", ""},
		{"x", "1", ""},
		{"1", "x", ""},
		{"0.000000000000000001", "1000000000000000000", ""},
	} {
		require.Equal(t, tc[2], change(tc[0], tc[1]), "%s to %s", tc[0], tc[1])
	}
}

// TestWhatIsAlikeIsOne: a crowd of one actor's is a line, which says between which numbers they are.
func TestWhatIsAlikeIsOne(t *testing.T) {
	b := quietBoard()
	of := func(kind, actor, id string, paid int) happening {
		return happening{height: 7, kind: kind, actor: actor, id: id, facts: []fact{{"paid", fmt.Sprint(paid)}, {"reason", "r"}}}
	}
	r := report{height: 7}
	for i := range 500 {
		r.happenings = append(r.happenings, of("fired", "a", fmt.Sprint(i), 100+i%7), of("fired", "b", fmt.Sprint(i), 5))
	}
	other := of("fired", "a", "x", 100)
	other.facts[1].value = "another"
	r.happenings = append(r.happenings, of("failed", "a", "x", 100), other)
	b.take(&r)
	next := of("fired", "a", "x", 100)
	next.height = 8
	b.take(&report{height: 8, happenings: []happening{next}})
	var got []string
	for i := range b.lately {
		g := &b.lately[i]
		got = append(got, fmt.Sprintf("%d %s %s %d: %s", g.height, g.kind, g.actor, g.count, g.words()))
	}
	require.Equal(t, []string{
		"7 fired a 500: paid 100 to 106, reason r", "7 fired b 500: paid 5, reason r", "7 failed a 1: paid 100, reason r",
		"7 fired a 1: paid 100, reason another", "8 fired a 1: paid 100, reason r",
	}, got)
	extended := group{happening: happening{facts: ends(0, noon().Unix())}, most: ends(0, noon().Unix())}
	require.Equal(t, "expires time "+noon().UTC().Format("2006-01-02 15:04:05 -07:00"), extended.words(), "in the form that times have everywhere")
}

// TestAStormIsARow: so many timers that are alike are one row, and the row tells how many.
func TestAStormIsARow(t *testing.T) {
	b := quietBoard()
	for i := range 100 {
		b.coming = append(b.coming, types.TimerInfo{Id: fmt.Sprintf("%064d", i), Actor: someActor, Status: types.TimerStatus{Due: 9, GasLimit: 1}, Spec: types.TimerSpec{Call: types.TimerCall{Handler: "tick"}}})
	}
	_, _, rows := b.table(80)
	require.Len(t, rows, 1)
	require.Contains(t, rows[0], "100 timers")
	b.coming[50].Spec.Name = "another"
	_, _, rows = b.table(80)
	require.Len(t, rows, 3)
	require.Contains(t, rows[1], "another: tick")
}

func TestTheTimeLine(t *testing.T) {
	b := quietBoard()
	b.lane.Height = 100
	for want, dues := range map[string][]uint64{
		"coming    nothing after this height":                            nil,
		"coming    |▄...........................| 28 blocks":             {101},
		"coming    |▁..▁.........█▁.............| 56 blocks; 1 later":    {101, 107, 128, 128, 129, 900},
		"coming    |.▄.........................▄| 56 blocks":             {103, 155},
		"coming    |........................▄...| 2,800 blocks":          {2_501},
		"coming    |...▄......▄.........▄.......| 1,400 blocks; 1 later": {251, 630, 1_150, 5_000},
	} {
		b.coming = nil
		for _, due := range dues {
			b.coming = append(b.coming, types.TimerInfo{Status: types.TimerStatus{Due: due}})
		}
		require.Equal(t, want, b.timeLine(80))
	}
	b.coming, b.moreComing = []types.TimerInfo{{Status: types.TimerStatus{Due: 101}}, {Status: types.TimerStatus{Due: 99}}, {Status: types.TimerStatus{Due: 500, Phase: types.PhaseWatching}}}, true
	require.Equal(t, "coming    |▄...........................| 28 blocks and more", b.timeLine(80))
}

// TestBoard_CountsLatenessSinceItWasDue: an update or a return from hold places what was due at a later height.
func TestBoard_CountsLatenessSinceItWasDue(t *testing.T) {
	b := busyBoard()
	late := types.TimerInfo{Status: types.TimerStatus{Phase: types.PhaseReady, Due: 1_230, Since: 1_100}}
	require.Equal(t, []string{"1100", "134 late"}, b.columns(&late, 16)[:2])
	late.Status.Due = 1_234
	require.Equal(t, "134 late", b.until(&late))
	late.Status.Due, late.Status.Phase = 1_240, types.PhasePending
	require.Equal(t, "1240", b.columns(&late, 16)[0], "where it stands is what it waits for")
	require.Equal(t, "6s", b.until(&late))
}

func TestObjectsAreJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		h := happening{height: 5, kind: "failed", actor: text.Draw(t, "actor"), id: "x", name: text.Draw(t, "name"), code: "sdk/5", meaning: text.Draw(t, "meaning"), facts: []fact{{"late", uint64(7)}, {"storm", true}}}
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(h.object()), &got), h.object())
		require.Equal(t, []any{5.0, "failed", 7.0, true, "sdk/5"}, []any{got["height"], got["kind"], got["late"], got["storm"], got["code"]})
		require.NotContains(t, h.object(), "\n")
	})
}

// Timers that wait for a time are shown with it, in the zone of who looks, and lie on the time line among those of heights.
func TestBoard_ShowsTimersByTime(t *testing.T) {
	b := busyBoard()
	b.zone = time.FixedZone("", 3600)
	at := func(after time.Duration) *types.TimerInfo {
		return &types.TimerInfo{
			Actor: someActor, Status: types.TimerStatus{HoldReason: types.Timed, Phase: types.PhasePending, Due: 1_235, DueTime: noon().Add(after).Unix()}, Spec: types.TimerSpec{Call: types.TimerCall{Handler: "tick"}},
		}
	}
	for after, want := range map[time.Duration][2]string{
		90 * time.Second: {"13:01:30", "1m30s"}, 30 * 24 * time.Hour: {"Apr  1", "30d0h"}, 400 * 24 * time.Hour: {"Apr 2027", "400d0h"},
		-time.Second: {"12:59:59", "0s"},
	} {
		columns := b.columns(at(after), 12)
		require.Equal(t, want[:], columns[:2], after)
	}
	b.actor, b.total = someActor, 2
	b.timers = []types.TimerInfo{*at(100 * time.Second), {Status: types.TimerStatus{Due: 1_300, Phase: types.PhasePending}}}
	dues, more := b.later()
	require.False(t, more)
	// A block takes 1.002 s, and the latest is 1.2 s old: 101.2 s are 101 blocks.
	require.Equal(t, []uint64{1_300, 1_335}, dues)
}
