package keeper_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"

	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 1.12-receipts-kept, 5.1-record, 5.2-fired-and-receipt
func TestReceiptsAreKeptForTheirRetention(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 3 }))
	good, bad := f.schedule(robot, 2, f.noop()), f.schedule(robot, 2, []byte("none such"))
	fired := eventsOf[*types.TimerFired](f, f.blocksUntil(2))
	receipts := func(height uint64) []types.ReceiptInfo {
		t.Helper()
		response, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: height})
		require.NoError(t, err)
		return response.Receipts
	}
	for range 3 {
		found := receipts(2)
		require.Len(t, found, 2)
		for i, id := range []string{good, bad} {
			require.Equal(t, types.ReceiptInfo{
				TimerId: id, DeliverId: fired[i].DeliverId, Actor: robot.String(), Success: i == 0,
				Codespace: fired[i].Codespace, Code: fired[i].Code, Cycles: fired[i].Cycles, Cells: fired[i].Cells,
				Paid: fired[i].Paid, Tip: fired[i].Tip,
			}, found[i])
		}
		f.NextBlock()
	}
	require.Empty(t, receipts(2))
	require.Empty(t, f.export().Receipts)
}

func TestNoReceiptsAreWrittenAtARetentionOfZero(t *testing.T) {
	f := newFixture(t)
	f.schedule(robot, 2, f.noop())
	f.blocksUntil(2)
	f.setConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 0 })
	f.schedule(robot, 4, f.noop())
	require.Len(t, f.firedIDs(f.blocksUntil(4)), 1)
	require.Empty(t, f.export().Receipts, "what was kept goes too")
}

// A longer retention reaches back to heights whose receipts are gone. The end of the block must not fail over that: no timer
// would fire until the chain has caught up.
func TestALongerRetentionStopsNoFires(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 1 }))
	f.schedule(robot, 0, f.noop(), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}
	})
	f.blocksUntil(6)
	f.setConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 5 })
	for height := uint64(7); height < 20; height++ {
		require.Len(t, f.firedIDs(f.NextBlock()), 1, "height %d", height)
	}
	require.Len(t, f.export().Receipts, 5, "it prunes again")
}

// recorded is a genesis with so many receipts of each of some heights, from 1 on; its fires are told apart by their
// cycles.
func recorded(perHeight ...int) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) {
		for i, n := range perHeight {
			segment := types.HeightReceipts{Height: uint64(i) + 1}
			for position := range n {
				segment.Receipts = append(segment.Receipts, types.Receipt{
					Cycles: uint64(position), Paid: opts.Genesis.Lane.Tips, Tip: opts.Genesis.Lane.Tips,
				})
			}
			opts.Genesis.Receipts = append(opts.Genesis.Receipts, segment)
		}
		opts.Height = int64(len(perHeight))
	}
}

func TestPruningOfReceiptsIsBounded(t *testing.T) {
	// Two heights have three values each, the others one.
	f := newFixture(t, recorded(5, 5, 5, 150, 129, 5, 5, 5, 5), withConfig(func(c *types.TimerConfig) { inTheEnd(c, market.Prune, 2) }))
	count := func() (n int) {
		for _, segment := range f.export().Receipts {
			n += len(segment.Receipts)
		}
		return n
	}
	f.setConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 1 })
	f.NextBlock()
	for _, want := range []int{304, 235, 149, 21, 15, 5, 0} {
		f.NextBlock()
		require.Equal(t, want, count())
	}
}

func TestReceiptsOfAHeightArePagedByPosition(t *testing.T) {
	const n = 150
	f := newFixture(t, recorded(1, n, 1))
	page := func(request *sdkquery.PageRequest) (cycles []uint64, next []byte) {
		t.Helper()
		response, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: 2, Pagination: request})
		require.NoError(t, err)
		for i := range response.Receipts {
			cycles = append(cycles, response.Receipts[i].Cycles)
		}
		return cycles, response.Pagination.NextKey
	}
	var all []uint64
	for i := range uint64(n) {
		all = append(all, i)
	}
	for _, limit := range []uint64{1, 7, 63, 64, 65, 128, n - 1, n, n + 1} {
		var paged []uint64
		request := &sdkquery.PageRequest{Limit: limit}
		for {
			cycles, next := page(request)
			require.LessOrEqual(t, uint64(len(cycles)), limit)
			paged = append(paged, cycles...)
			if len(next) == 0 {
				break
			}
			request.Key = next
		}
		require.Equal(t, all, paged, "limit %d", limit)
	}
	for _, from := range []uint64{0, 63, 64, 65, n - 1, n, n + 1, 191, 192, largest} {
		cycles, next := page(&sdkquery.PageRequest{Offset: from})
		want := all[min(from, n):]
		require.Len(t, cycles, min(len(want), 100), "from %d", from)
		require.Equal(t, len(want) > 100, len(next) > 0, "from %d", from)
		for i := range cycles {
			require.Equal(t, want[i], cycles[i], "from %d", from)
		}
	}
	exported := f.export().Receipts
	require.Len(t, exported, 3)
	require.Len(t, exported[1].Receipts, n, "an export has them in one piece")
}

// Rule: 1.2-id-prefix
func TestATimerIsFoundByTheShortestUniquePrefix(t *testing.T) {
	f := newFixture(t)
	var ids []string
	for range 40 {
		ids = append(ids, f.schedule(robot, 9, nil))
	}
	ask := func(actor, id string) (string, error) {
		response, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: actor, Id: id})
		if err != nil {
			return "", err
		}
		return response.Timer.Id, nil
	}
	for _, id := range ids {
		for n := 1; n <= len(id); n++ {
			alike := 0
			for _, other := range ids {
				if strings.HasPrefix(other, id[:n]) {
					alike++
				}
			}
			found, err := ask(robot.String(), strings.ToUpper(id[:n]))
			if alike == 1 {
				require.NoError(t, err)
				require.Equal(t, id, found)
				continue
			}
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			require.ErrorContains(t, err, types.ErrAmbiguousTimerID.Error())
		}
	}
	for name, tc := range map[string]struct {
		actor, id string
		want      codes.Code
	}{
		"another's":     {robot2.String(), ids[0], codes.NotFound},
		"unknown":       {robot.String(), hex.EncodeToString(make([]byte, 32)), codes.NotFound},
		"empty":         {robot.String(), "", codes.InvalidArgument},
		"not hex":       {robot.String(), "xyz", codes.InvalidArgument},
		"too long":      {robot.String(), ids[0] + "0", codes.InvalidArgument},
		"no actor":      {"", ids[0], codes.InvalidArgument},
		"odd actor":     {"robot", ids[0], codes.InvalidArgument},
		"other network": {"osmo1wfhkymm5ta047h6lta047h6lta047h6lqck5pe", ids[0], codes.InvalidArgument},
	} {
		_, err := ask(tc.actor, tc.id)
		require.Equal(t, tc.want, status.Code(err), name)
	}
}

// pages reads a list page by page and returns the ids in order.
func pages(t *testing.T, limit uint64, read func(*sdkquery.PageRequest) ([]types.TimerInfo, *sdkquery.PageResponse, error)) (ids []string) {
	t.Helper()
	request := &sdkquery.PageRequest{Limit: limit}
	for {
		timers, page, err := read(request)
		require.NoError(t, err)
		require.LessOrEqual(t, len(timers), int(limit))
		for i := range timers {
			ids = append(ids, timers[i].Id)
		}
		if page.NextKey == nil {
			return ids
		}
		require.Len(t, timers, int(limit), "a page that is followed by another is full")
		request = &sdkquery.PageRequest{Limit: limit, Key: page.NextKey}
	}
}

func TestListsArePagedInTheOrderOfTheQueue(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LanePaused = true
		lab.SetRemovals(c, 1)
	}))
	var first, second []string
	for range 7 {
		second = append(second, f.schedule(robot, 4, nil))
		first = append(first, f.schedule(robot, 3, nil))
	}
	f.schedule(robot2, 3, nil, expiring(3))
	f.schedule(robot2, 3, nil, expiring(3))
	future := f.schedule(robot, 50, nil)
	f.blocksUntil(3)
	all := append(append([]string{}, first...), second...)
	for limit := uint64(1); limit < 9; limit++ {
		require.Equal(t, append(all[:14:14], future), pages(t, limit, func(page *sdkquery.PageRequest) ([]types.TimerInfo, *sdkquery.PageResponse, error) {
			r, err := f.query().TimersByActor(f.Ctx(), &types.QueryTimersByActorRequest{Actor: robot.String(), Pagination: page})
			return r.Timers, r.Pagination, err
		}))
		require.Equal(t, second, pages(t, limit, func(page *sdkquery.PageRequest) ([]types.TimerInfo, *sdkquery.PageResponse, error) {
			r, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: 4, Pagination: page})
			return r.Timers, r.Pagination, err
		}))
		require.Len(t, pages(t, limit, func(page *sdkquery.PageRequest) ([]types.TimerInfo, *sdkquery.PageResponse, error) {
			r, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: 49, Until: true, Pagination: page})
			return r.Timers, r.Pagination, err
		}), 16)
	}
	f.NextBlock() // one of the expired ones leaves, the other does not
	for limit := uint64(1); limit < 9; limit++ {
		require.Equal(t, all, pages(t, limit, func(page *sdkquery.PageRequest) ([]types.TimerInfo, *sdkquery.PageResponse, error) {
			r, err := f.query().Ready(f.Ctx(), &types.QueryReadyRequest{Pagination: page})
			return r.Timers, r.Pagination, err
		}), "those that can fire")
	}
	offset, err := f.query().Ready(f.Ctx(), &types.QueryReadyRequest{Pagination: &sdkquery.PageRequest{Offset: 12}})
	require.NoError(t, err)
	require.Len(t, offset.Timers, 2)
	require.Nil(t, offset.Pagination.NextKey)
}

func TestBadPagesAreInvalidArguments(t *testing.T) {
	f := newFixture(t)
	for name, page := range map[string]*sdkquery.PageRequest{
		"key of 3 bytes": {Key: []byte{1, 2, 3}},
		"key and offset": {Key: make([]byte, 16), Offset: 1},
	} {
		_, err := f.query().TimersByActor(f.Ctx(), &types.QueryTimersByActorRequest{Actor: robot.String(), Pagination: page})
		require.Equal(t, codes.InvalidArgument, status.Code(err), name)
		_, err = f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: 5, Pagination: page})
		require.Equal(t, codes.InvalidArgument, status.Code(err), name)
		_, err = f.query().Ready(f.Ctx(), &types.QueryReadyRequest{Pagination: page})
		require.Equal(t, codes.InvalidArgument, status.Code(err), name)
	}
	both := &sdkquery.PageRequest{Key: make([]byte, 8), Offset: 1}
	_, err := f.query().OnHold(f.Ctx(), &types.QueryOnHoldRequest{Pagination: both})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: 2, Pagination: both})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	for _, height := range []uint64{0, largest} {
		_, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: height})
		require.Equal(t, codes.InvalidArgument, status.Code(err))
	}
	_, err = f.query().TimersByActor(f.Ctx(), &types.QueryTimersByActorRequest{Actor: "robot"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = f.query().Ready(f.Ctx(), &types.QueryReadyRequest{Pagination: &sdkquery.PageRequest{Limit: largest, Offset: largest}})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	vast, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: f.Height(), Pagination: &sdkquery.PageRequest{Limit: largest, Offset: largest}})
	require.NoError(t, err)
	require.Empty(t, vast.Receipts)
}

func TestNilRequestsAreRefused(t *testing.T) {
	f := newFixture(t)
	q := f.query()
	require.NotPanics(t, func() {
		_, _ = q.Params(f.Ctx(), nil)
		_, _ = q.Timer(f.Ctx(), nil)
		_, _ = q.TimersByActor(f.Ctx(), nil)
		_, _ = q.Due(f.Ctx(), nil)
		_, _ = q.Ready(f.Ctx(), nil)
		_, _ = q.Lane(f.Ctx(), nil)
		_, _ = q.OnHold(f.Ctx(), nil)
		_, _ = q.Receipts(f.Ctx(), nil)
	})
}

// Rule: 9.2-pages
func TestAPageIsBoundedWhateverIsAskedFor(t *testing.T) {
	const n = keeper.MaxPageEntries + 1
	f := crowded(t, 2*n, func(timer *types.Timer) {
		if timer.Seq > n {
			timer.HoldReason = types.Quarantined
		}
	}, func(opts *lab.ChainOptions) {
		receipts := types.HeightReceipts{Height: 1, Receipts: make([]types.Receipt, n)}
		for i := range receipts.Receipts {
			receipts.Receipts[i].Paid, receipts.Receipts[i].Tip = math.ZeroInt(), math.ZeroInt()
		}
		opts.Genesis.Receipts = []types.HeightReceipts{receipts}
	})
	page := &sdkquery.PageRequest{Limit: largest}
	due, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: 500, Pagination: page})
	require.NoError(t, err)
	require.Len(t, due.Timers, keeper.MaxPageEntries)
	require.NotNil(t, due.Pagination.NextKey)
	onHold, err := f.query().OnHold(f.Ctx(), &types.QueryOnHoldRequest{Pagination: page})
	require.NoError(t, err)
	require.Len(t, onHold.Timers, keeper.MaxPageEntries)
	receipts, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: 1, Pagination: page})
	require.NoError(t, err)
	require.Len(t, receipts.Receipts, keeper.MaxPageEntries)
	rest, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{
		Height: 1, Pagination: &sdkquery.PageRequest{Key: receipts.Pagination.NextKey},
	})
	require.NoError(t, err)
	require.Len(t, rest.Receipts, 1)
}

// Rule: 3.7-opcodes, 5.1-record
func TestParamsAndLane(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	params, err := f.query().Params(f.Ctx(), &types.QueryParamsRequest{})
	require.NoError(t, err)
	require.Equal(t, f.config(), params.Config)
	require.Equal(t, types.Opcodes{SysCancelTimer: 48, SysUpdateTimerConfig: 49, SysExtendTimer: 50}, params.Opcodes)
	require.Equal(t, f.Authority, params.Authority)

	f.schedule(robot, 2, f.burner(5_000))
	f.blocksUntil(2)
	lane, err := f.query().Lane(f.Ctx(), &types.QueryLaneRequest{})
	require.NoError(t, err)
	config := f.config()
	require.Equal(t, types.QueryLaneResponse{
		Height: f.Height(), Policy: types.PolicyFIFO,
		CycleBasefee: "1.000000000000000000", CellBasefee: "0.000000000000000000",
		LaneBasefee: "1.000000000000000000", NextLaneBasefee: "1.000000000000000000",
		UsedSize: 25_000, Cycles: 25_000, LaneTimerCycles: config.LaneTimerCycles, LaneTimerCells: config.LaneTimerCells,
		GcCyclesPerBlock: config.GcCyclesPerBlock, Burned: "25000", LaneBurned: "0", AgentsBilled: "0", Tips: "0", FeeDenom: f.FeeDenom,
		P50: "0.000000000000000000", MaxCyclesPerFire: config.MaxCyclesPerFire,
	}, *lane)
}

// Rule: 1.5-pending, 1.5-ready, 1.5-expired, 2.4-tier-of-a-timer
func TestStatusAndTierOfATimer(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.LanePaused = true }))
	near, epoch := f.schedule(robot, 257, nil), f.schedule(robot, 258, nil)
	far := f.schedule(robot, 1+3_600*24*30+1-2, nil)
	due := f.schedule(robot, 3, nil, expiring(5))
	require.Equal(t, types.TimerTierNear, f.timer(robot, near).Status.Tier)
	require.Equal(t, types.TimerTierEpoch, f.timer(robot, epoch).Status.Tier)
	require.Equal(t, types.TimerTierEpoch, f.timer(robot, far).Status.Tier)
	require.Equal(t, types.PhasePending, f.timer(robot, due).Status.Phase)
	f.blocksUntil(3)
	require.Equal(t, types.PhaseReady, f.timer(robot, due).Status.Phase)
	f.blocksUntil(4)
	require.Equal(t, types.PhaseExpired, f.timer(robot, due).Status.Phase, "after block 5 it will not fire any more")
}

// What has not happened yet has no receipts, which is no list of none.
func TestReceiptsOfTheFutureAreRefused(t *testing.T) {
	f := newFixture(t)
	_, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: f.Height() + 1_000})
	require.ErrorContains(t, err, "is in the future: the latest is")
}
