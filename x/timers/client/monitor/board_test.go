package monitor

import (
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

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var update = flag.Bool("update-views", false, "rewrite testdata/*.txt")

const someActor = "cosmos1zrx0nnt256dcqhjm5jkvrqsm79k3zn7ysdk09r"

// busyBoard is a lane with something of everything.
func busyBoard() *board {
	b := &board{
		chainID: "lab", clock: timespan.Clock{Height: 1_234, Pace: timespan.Pace{Blocks: 100, Time: 100_200 * time.Millisecond}},
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
		{height: 1_234, kind: "scheduled", actor: someActor, id: strings.Repeat("0a", 32), facts: []fact{{"due", "1300"}, {"gas_limit", "250000"}}},
		{height: 1_234, kind: "fired", actor: someActor, id: strings.Repeat("1b", 32), facts: []fact{{"paid", "17"}, {"tip", "0"}, {"cycles", "45123"}}},
		{height: 1_234, kind: "failed", actor: someActor, id: strings.Repeat("2c", 32), facts: []fact{{"code", "sdk/5"}, {"paid", "17"}}},
		{height: 1_234, kind: "unfunded", actor: someActor, id: strings.Repeat("3d", 32), facts: []fact{{"required", "17000"}, {"available", "5"}}},
		{height: 1_234, kind: "lane_failed", facts: []fact{{"code", "timers/9"}}},
	}})
	send := &codectypes.Any{TypeUrl: "/cosmos.bank.v1beta1.MsgSend"}
	twoSends, err := (&types.AccountPayload{Messages: []*codectypes.Any{send, send}}).Marshal()
	if err != nil {
		panic(err)
	}
	static := &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(3, 3)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(1, 3))}}
	for i, bid := range []*types.Bid{{Tier: types.TierUrgent}, static, nil, nil, nil, nil, nil, nil} {
		b.ready = append(b.ready, types.TimerInfo{
			Id: strings.Repeat(fmt.Sprintf("%02x", 0xa0+i), 32), Actor: someActor, Due: uint64(1_200 + i), GasLimit: 100_000, Bid: bid,
			Handler: "handle_timer", Payload: twoSends,
		})
	}
	b.more = true
	return b
}

// ownBoard is the same lane as one actor sees it.
func ownBoard() *board {
	b := busyBoard()
	b.actor, b.total, b.ready, b.lately = someActor, 3, nil, b.lately[:1]
	b.trouble = "no news from the node, asked again every 500ms: connection refused \x1b[31m"
	b.summary.Storm = false
	for i, status := range []types.TimerStatus{types.TimerStatusReady, types.TimerStatusPending, types.TimerStatusSetAside} {
		b.timers = append(b.timers, types.TimerInfo{
			Id: strings.Repeat(fmt.Sprintf("%02x", 0xc0+i), 32), Actor: someActor, Due: uint64(1_230 + 600*i), ExpiresAt: 9_999, GasLimit: 250_000,
			Status: status, Handler: "handle_timer",
		})
	}
	return b
}

func quietBoard() *board {
	return &board{
		clock: timespan.Clock{PaceErr: os.ErrNotExist},
		lane: &types.QueryLaneResponse{
			Height: 1, Policy: types.PolicyFIFO, Paused: true, LaneBasefee: "0.001", NextLaneBasefee: "0.001",
			CycleBasefee: "0.001", CellBasefee: "0.03", P50: "0", FeeDenom: "utmr", LaneTimerCycles: 2_000_000, LaneTimerCells: 2_000_000, GcCyclesPerBlock: 5_000_000,
		},
	}
}

func TestTheViewReadsWellAtItsWidths(t *testing.T) {
	for name, b := range map[string]*board{"busy": busyBoard(), "own": ownBoard(), "quiet": quietBoard()} {
		for _, size := range [][2]int{{80, 24}, {120, 32}} {
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
		board.ready = append(board.ready, types.TimerInfo{Id: "aa", Actor: "a", Handler: text.Draw(t, "handler"), Due: rapid.Uint64().Draw(t, "due")})
		board.remember(happening{kind: "failed", actor: "a", id: "bb", facts: []fact{{"code", text.Draw(t, "code")}}})
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

func TestWhatATimerDoes(t *testing.T) {
	messages := func(urls ...string) (payload []byte) {
		var account types.AccountPayload
		for _, url := range urls {
			account.Messages = append(account.Messages, &codectypes.Any{TypeUrl: url, Value: []byte{1}})
		}
		payload, err := account.Marshal()
		require.NoError(t, err)
		return payload
	}
	for want, timer := range map[string]types.TimerInfo{
		"MsgSend":                    {Handler: "handle_timer", Payload: messages("/cosmos.bank.v1beta1.MsgSend")},
		"MsgA +2":                    {Handler: "handle_timer", Payload: messages("/x.MsgA", "/x.MsgB", "/x.MsgC")},
		"tick":                       {Handler: "tick", Payload: messages("/x.MsgA")},
		"handle_timer":               {Handler: "handle_timer", Payload: messages("/x.MsgA", "no type")},
		"handle_timer, 48,092 bytes": {Handler: "handle_timer", PayloadBytes: 48_092},
	} {
		timer.PayloadBytes = max(timer.PayloadBytes, uint64(len(timer.Payload)))
		require.Equal(t, want, does(&timer))
	}
	for _, payload := range []string{"", "beat", `{"a":1}`, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		require.Equal(t, "handle_timer", does(&types.TimerInfo{Handler: "handle_timer", Payload: []byte(payload)}))
	}
}

// TestThePagesOfAListAreJoined: a page that its bytes cut short is followed by the next, until the rows are full.
func TestThePagesOfAListAreJoined(t *testing.T) {
	for name, tc := range map[string]struct {
		all, perPage int
		rows         int
		more         bool
	}{
		"one page":      {all: 7, perPage: 30, rows: 7},
		"cut pages":     {all: 25, perPage: 4, rows: 25},
		"more than fit": {all: 90, perPage: 4, rows: 30, more: true},
		"none":          {rows: 0, perPage: 1},
	} {
		t.Run(name, func(t *testing.T) {
			timers, more, err := rows(func(page *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
				from := 0
				if len(page.Key) > 0 {
					from = int(page.Key[0])
				}
				to := min(tc.all, from+min(tc.perPage, int(page.Limit)))
				var found []types.TimerInfo
				for i := from; i < to; i++ {
					found = append(found, types.TimerInfo{Seq: uint64(i)})
				}
				response := &query.PageResponse{}
				if to < tc.all {
					response.NextKey = []byte{byte(to)}
				}
				return found, response, nil
			})
			require.NoError(t, err)
			require.Len(t, timers, tc.rows)
			for i := range timers {
				require.Equal(t, uint64(i), timers[i].Seq)
			}
			require.Equal(t, tc.more, more)
		})
	}
	_, _, err := rows(func(*query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		return nil, nil, os.ErrClosed
	})
	require.ErrorIs(t, err, os.ErrClosed)
}
