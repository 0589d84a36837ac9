package keeper_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// receiptOf is a receipt of the nth delivery; the timer's id begins with a digit that differs from timer to timer.
func receiptOf(actor sdk.AccAddress, timer byte, n int) types.Receipt {
	id := append([]byte{timer << 4}, make([]byte, types.IDBytes-1)...)
	return types.Receipt{
		TimerId: id, DeliverId: []byte{byte(n >> 8), byte(n)}, Actor: actor, Paid: math.ZeroInt(), Tip: math.ZeroInt(),
	}
}

// deliveryPages follows a list to its end, and returns "height/delivery" of each entry.
func deliveryPages(ctx context.Context, t require.TestingT, q types.QueryServer, req *types.QueryDeliveriesRequest) (all []string, pages int) {
	for pages = 1; ; pages++ {
		response, err := q.Deliveries(ctx, req)
		require.NoError(t, err)
		if limit := req.Pagination.Limit; limit > 0 {
			require.LessOrEqual(t, uint64(len(response.Deliveries)), limit)
		}
		for _, d := range response.Deliveries {
			require.Equal(t, req.Actor, d.Receipt.Actor)
			all = append(all, fmt.Sprint(d.Height, "/", d.Receipt.DeliverId))
		}
		if response.Pagination.NextKey == nil {
			return all, pages
		}
		req.Pagination.Key = response.Pagination.NextKey
	}
}

// The pages of deliveries are what a plain list of all receipts holds, in either order, for an actor and for one timer.
//
// Rule: 9.2-reverse-and-total, 9.2-deliveries, 9.2-deliveries-page
func TestDeliveriesAreThoseOfAPlainList(t *testing.T) {
	actors := []sdk.AccAddress{robot, robot2, alice}
	rapid.Check(t, func(t *rapid.T) {
		f := newFixture(t)
		q := keeper.NewQueryServer(f.Timers)
		type entry struct {
			actor  string
			timer  byte
			listed string
		}
		var plain []entry
		height, n := uint64(0), 0
		for range rapid.IntRange(0, 8).Draw(t, "blocks") {
			height += uint64(rapid.IntRange(1, 3).Draw(t, "gap"))
			var receipts []types.Receipt
			for range rapid.SampledFrom([]int{1, 2, 5, 63, 64, 65, 130}).Draw(t, "fires") {
				actor, timer := rapid.SampledFrom(actors).Draw(t, "actor"), byte(rapid.IntRange(0, 2).Draw(t, "timer"))
				receipt := receiptOf(actor, timer, n)
				if n%7 == 0 {
					receipt.Matched = []types.WatchedKey{{Store: "bank", Key: make([]byte, 3000)}} // Six of these fill a segment.
				}
				receipts = append(receipts, receipt)
				plain = append(plain, entry{actor.String(), timer, fmt.Sprint(height, "/", hex.EncodeToString([]byte{byte(n >> 8), byte(n)}))})
				n++
			}
			_, err := f.Timers.Engine().Receipts.Put(f.Ctx(), height, receipts)
			require.NoError(t, err)
		}
		actor, timer := rapid.SampledFrom(actors).Draw(t, "of"), byte(rapid.IntRange(0, 3).Draw(t, "id"))
		var want []string
		for _, e := range plain {
			if e.actor == actor.String() && (timer == 3 || e.timer == timer) {
				want = append(want, e.listed)
			}
		}
		req := &types.QueryDeliveriesRequest{Actor: actor.String(), Pagination: &sdkquery.PageRequest{
			Limit: uint64(rapid.SampledFrom([]int{0, 1, 3, 64, 1000}).Draw(t, "limit")), Reverse: rapid.Bool().Draw(t, "reverse"),
		}}
		if timer < 3 {
			req.Id = fmt.Sprintf("%x0", timer)
		}
		if !req.Pagination.Reverse {
			slices.Reverse(want)
		}
		got, _ := deliveryPages(f.Ctx(), t, q, req)
		require.Equal(t, want, got)
	})
}

// A page reads a bounded number of segments, whoever they belong to, and continues where it stopped.
//
// Rule: 9.2-deliveries-page, 9.2-gas
func TestAPageOfDeliveriesReadsABoundedNumberOfReceipts(t *testing.T) {
	f := newFixture(t)
	const blocks = 3*keeper.MaxDeliverySegments - 1
	for height := uint64(1); height <= blocks; height++ {
		actor := robot
		if height == 5 {
			actor = robot2
		}
		_, err := f.Timers.Engine().Receipts.Put(f.Ctx(), height, []types.Receipt{receiptOf(actor, 1, int(height))})
		require.NoError(t, err)
	}
	q := keeper.NewQueryServer(f.Timers)
	req := func() *types.QueryDeliveriesRequest {
		return &types.QueryDeliveriesRequest{Actor: robot2.String(), Pagination: &sdkquery.PageRequest{}}
	}
	first, err := q.Deliveries(f.Ctx(), req())
	require.NoError(t, err)
	require.Empty(t, first.Deliveries)
	require.NotEmpty(t, first.Pagination.NextKey, "there is more, although the page is empty")

	all, pages := deliveryPages(f.Ctx(), t, q, req())
	require.Len(t, all, 1)
	require.Equal(t, 3, pages)

	meter := storetypes.NewInfiniteGasMeter()
	_, err = q.Deliveries(f.Ctx().WithGasMeter(meter), req())
	require.NoError(t, err)
	scanned := meter.GasConsumed() - keeper.QueryGas
	require.Greater(t, scanned, uint64(keeper.MaxDeliverySegments*100), "what is read for it is charged")
	short := f.Ctx().WithGasMeter(storetypes.NewGasMeter(keeper.QueryGas + scanned/2))
	require.Panics(t, func() { _, _ = q.Deliveries(short, req()) }, "as it goes on")
}

// Rule: 9.2-kept-from, 1.12-receipts-all-kept
func TestWhichReceiptsAreKept(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 3 }))
	q := keeper.NewQueryServer(f.Timers)
	req := &types.QueryDeliveriesRequest{Actor: robot.String()}
	_, err := f.Timers.Schedule(f.Ctx(), keeper.ScheduleRequest{
		Actor: robot, Spec: types.TimerSpec{Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}, Call: types.TimerCall{Payload: f.noop()}, GasLimit: gas},
	})
	require.NoError(t, err)
	// A query is answered as of the end of a block.
	ask := func() *types.QueryDeliveriesResponse {
		response, err := q.Deliveries(f.Ctx().WithBlockHeight(f.Ctx().BlockHeight()-1), req)
		require.NoError(t, err)
		return response
	}
	for range 8 {
		f.NextBlock()
		response := ask()
		for i, d := range response.Deliveries {
			require.GreaterOrEqual(t, d.Height, response.KeptFrom)
			require.True(t, i == 0 || d.Height < response.Deliveries[i-1].Height)
		}
	}
	response := ask()
	require.Len(t, response.Deliveries, 3)
	require.Equal(t, response.KeptFrom, response.Deliveries[2].Height)

	// A chain that keeps none for some blocks, and then many, does not say that it kept those blocks' receipts.
	f.setConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 0 })
	for range 3 {
		f.NextBlock()
	}
	f.setConfig(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 100 })
	unkept := f.Height()
	for range 3 {
		f.NextBlock()
	}
	lane, err := f.Timers.Engine().Lane.Get(f.Ctx())
	require.NoError(t, err)
	require.LessOrEqual(t, lane.ReceiptsUnkept, unkept)
	response = ask()
	require.Equal(t, lane.ReceiptsUnkept+1, response.KeptFrom)
	require.Len(t, response.Deliveries, int(f.Height()-response.KeptFrom), "one a block, from there on")
	require.GreaterOrEqual(t, len(response.Deliveries), 2)
}

func TestMalformedDeliveriesRequests(t *testing.T) {
	f := newFixture(t)
	q := keeper.NewQueryServer(f.Timers)
	for name, req := range map[string]*types.QueryDeliveriesRequest{
		"no actor":    {},
		"bad actor":   {Actor: "alice"},
		"bad id":      {Actor: robot.String(), Id: "xyz"},
		"offset":      {Actor: robot.String(), Pagination: &sdkquery.PageRequest{Offset: 1}},
		"count":       {Actor: robot.String(), Pagination: &sdkquery.PageRequest{CountTotal: true}},
		"short key":   {Actor: robot.String(), Pagination: &sdkquery.PageRequest{Key: []byte{1}}},
		"another key": {Actor: robot.String(), Pagination: &sdkquery.PageRequest{Key: make([]byte, 17)}},
	} {
		_, err := q.Deliveries(f.Ctx(), req)
		require.Equal(t, codes.InvalidArgument, status.Code(err), "%s: %v", name, err)
	}
	_, err := q.Deliveries(f.Ctx(), nil)
	require.Error(t, err)
}

// Lists are given in reverse, and counted, where that needs no more than the list itself; elsewhere the request is refused.
//
// Rule: 9.2-reverse-and-total
func TestReverseAndCountAreHonouredOrRefused(t *testing.T) {
	f := newFixture(t)
	for range 5 {
		f.schedule(robot, 9, f.noop())
	}
	q := keeper.NewQueryServer(f.Timers)
	for name, of := range timerLists {
		forward, _, all, err := of(f.Ctx(), q, nil)
		require.NoError(t, err, name)
		require.NotNil(t, forward)
		_, page, _, err := of(f.Ctx(), q, &sdkquery.PageRequest{CountTotal: true})
		if name == "of an actor" {
			require.NoError(t, err)
			require.Equal(t, uint64(5), page.Total)
		} else {
			require.Equal(t, codes.InvalidArgument, status.Code(err), name)
			require.ErrorContains(t, err, "count_total")
		}
		_, _, back, err := of(f.Ctx(), q, &sdkquery.PageRequest{Reverse: true})
		switch name {
		case "of an actor", "receipts":
			require.NoError(t, err)
			slices.Reverse(back)
			require.Equal(t, all, back, name)
		default:
			require.Equal(t, codes.InvalidArgument, status.Code(err), name)
			require.ErrorContains(t, err, "reverse")
		}
	}
	// By page keys, from the end.
	var paged []string
	for page := (&sdkquery.PageRequest{Reverse: true, Limit: 2}); ; {
		_, next, some, err := timerLists["of an actor"](f.Ctx(), q, page)
		require.NoError(t, err)
		paged = append(paged, some...)
		if page.Key = next.NextKey; page.Key == nil {
			break
		}
	}
	_, _, all, err := timerLists["of an actor"](f.Ctx(), q, nil)
	require.NoError(t, err)
	slices.Reverse(paged)
	require.Equal(t, all, paged)
}
