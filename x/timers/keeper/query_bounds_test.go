package keeper_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdkquery "github.com/cosmos/cosmos-sdk/types/query"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// bulky fills a record: a named handler, the longest payload that a record holds, and a bid.
func bulky(timer *types.Timer) {
	timer.Spec.Call.Handler, timer.Spec.Call.Payload = strings.Repeat("h", types.MaxHandlerBytes), make([]byte, types.InlinePayloadBytes)
}

// list is one of the module's lists.
type list func(ctx context.Context, q types.QueryServer, page *sdkquery.PageRequest) (proto.Message, *sdkquery.PageResponse, []string, error)

func ids(timers []types.TimerInfo) (ids []string) {
	for i := range timers {
		ids = append(ids, timers[i].Id)
	}
	return ids
}

// timerLists are the lists of timers. One of them may be of the timers on hold.
var timerLists = map[string]list{
	"of an actor": func(ctx context.Context, q types.QueryServer, page *sdkquery.PageRequest) (proto.Message, *sdkquery.PageResponse, []string, error) {
		r, err := q.TimersByActor(ctx, &types.QueryTimersByActorRequest{Actor: robot.String(), Pagination: page})
		return r, r.GetPagination(), ids(r.GetTimers()), err
	},
	"due": func(ctx context.Context, q types.QueryServer, page *sdkquery.PageRequest) (proto.Message, *sdkquery.PageResponse, []string, error) {
		r, err := q.Due(ctx, &types.QueryDueRequest{Height: 1, Pagination: page})
		return r, r.GetPagination(), ids(r.GetTimers()), err
	},
	"ready": func(ctx context.Context, q types.QueryServer, page *sdkquery.PageRequest) (proto.Message, *sdkquery.PageResponse, []string, error) {
		r, err := q.Ready(ctx, &types.QueryReadyRequest{Pagination: page})
		return r, r.GetPagination(), ids(r.GetTimers()), err
	},
	"on hold": func(ctx context.Context, q types.QueryServer, page *sdkquery.PageRequest) (proto.Message, *sdkquery.PageResponse, []string, error) {
		r, err := q.OnHold(ctx, &types.QueryOnHoldRequest{Pagination: page})
		return r, r.GetPagination(), ids(r.GetTimers()), err
	},
	"receipts": func(ctx context.Context, q types.QueryServer, page *sdkquery.PageRequest) (proto.Message, *sdkquery.PageResponse, []string, error) {
		r, err := q.Receipts(ctx, &types.QueryReceiptsRequest{Height: 1, Pagination: page})
		var cycles []string
		for i := range r.GetReceipts() {
			cycles = append(cycles, fmt.Sprint(r.Receipts[i].Cycles))
		}
		return r, r.GetPagination(), cycles, err
	},
}

// TestPagesAreBoundedInBytes: each page of a list of long entries holds at most MaxPageBytes of them, and more than half of
// that if another follows; the pages together hold each entry once, and what is returned is charged.
//
// Rule: 9.2-pages
func TestPagesAreBoundedInBytes(t *testing.T) {
	const n = 1_400
	for _, policy := range []types.Policy{types.PolicyFIFO, types.PolicyEIP1559} {
		f := newFixture(t, func(opts *lab.ChainOptions) {
			crowd(2*n, func(timer *types.Timer) {
				bulky(timer)
				timer.Actor, timer.Due = robot, 1
				if timer.Seq > n {
					timer.Actor, timer.HoldReason = robot2, types.Paused
				}
			})(opts)
			opts.Genesis.Config.Policy, opts.Genesis.Config.LanePaused = policy, true
			receipts := types.HeightReceipts{Height: 1, Receipts: make([]types.Receipt, n)}
			for i := range receipts.Receipts {
				receipts.Receipts[i] = types.Receipt{
					Cycles: uint64(i), Paid: math.ZeroInt(), Tip: math.ZeroInt(),
					Matched: []types.WatchedKey{{Store: "bank", Key: make([]byte, 1_500)}},
				}
			}
			opts.Genesis.Receipts, opts.Height = []types.HeightReceipts{receipts}, 1
		})
		for range 8 { // Until all are admitted.
			f.endBlock()
		}
		for name, read := range timerLists {
			t.Run(policy.String()+" "+name, func(t *testing.T) {
				seen, pages := map[string]bool{}, 0
				for page := (&sdkquery.PageRequest{Limit: largest}); ; pages++ {
					meter := storetypes.NewInfiniteGasMeter()
					response, next, ids, err := read(f.Ctx().WithGasMeter(meter), f.query(), page)
					require.NoError(t, err)
					size := proto.Size(response)
					require.LessOrEqual(t, size, keeper.MaxPageBytes+8*keeper.MaxPageEntries)
					require.LessOrEqual(t, len(ids), keeper.MaxPageEntries)
					require.GreaterOrEqual(t, meter.GasConsumed(), uint64(keeper.GasPerByte*(size-8*len(ids)-64)))
					for _, id := range ids {
						require.False(t, seen[id])
						seen[id] = true
					}
					if len(next.GetNextKey()) == 0 {
						break
					}
					require.Greater(t, size, keeper.MaxPageBytes/2, "a page that another follows is full")
					page = &sdkquery.PageRequest{Limit: largest, Key: next.NextKey}
				}
				require.Len(t, seen, n)
				require.GreaterOrEqual(t, pages, 1, "bytes cut the list")
			})
		}
	}
}

// TestALargeListStopsWhereItsGasEnds: an answer is charged entry by entry, so that a caller without gas causes little work.
//
// Rule: 9.2-gas
func TestALargeListStopsWhereItsGasEnds(t *testing.T) {
	var counts *storecount.Counts
	f := newFixture(t, crowd(1_000, func(timer *types.Timer) { bulky(timer); timer.Actor = robot }), counted(&counts))
	all := func(gas storetypes.Gas) (used storetypes.Gas, ended bool) {
		meter := storetypes.NewGasMeter(gas)
		defer func() {
			used, ended = meter.GasConsumed(), recover() == nil
		}()
		_, err := f.query().TimersByActor(f.Ctx().WithGasMeter(meter), &types.QueryTimersByActorRequest{
			Actor: robot.String(), Pagination: &sdkquery.PageRequest{Limit: keeper.MaxPageEntries},
		})
		require.NoError(t, err)
		return 0, true
	}
	counts.Reset()
	used, ended := all(1 << 40)
	require.True(t, ended)
	require.Greater(t, used, storetypes.Gas(40_000_000))
	require.Less(t, counts.Gets, 150, "some dozens of records to a value")
	whole := counts.Gets
	counts.Reset()
	used, ended = all(2_000_000)
	require.False(t, ended, "it runs out of gas")
	require.Less(t, used, storetypes.Gas(2_100_000))
	require.Less(t, counts.Gets, whole/2)
}

// TestAListDecodesNothing: a list shows a short payload as it is, and of a long one its length; the query of one timer has
// the whole, and its messages if they are not too long.
//
// Rule: 9.2-lists-decode-nothing, 9.2-one-timer-decoded, 9.2-gas
func TestAListDecodesNothing(t *testing.T) {
	f := newFixture(t, withConfig(vast))
	large := func(outputs int) []byte {
		return f.payload(&banktypes.MsgMultiSend{
			Inputs: []banktypes.Input{{Address: alice.String()}}, Outputs: make([]banktypes.Output, outputs),
		})
	}
	payloads := [][]byte{f.pays(alice, bob, 1), large(20_000), make([]byte, 70_000)}
	for i, payload := range payloads {
		actor := alice
		if i == 2 {
			actor = robot
		}
		f.schedule(actor, 100+uint64(i), payload, limited(8_000_000))
	}
	due, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: 200, Until: true})
	require.NoError(t, err)
	require.Len(t, due.Timers, len(payloads))
	for i := range due.Timers {
		listed := due.Timers[i]
		require.Empty(t, listed.Spec.Call.Messages)
		require.Equal(t, uint64(len(payloads[i])), listed.Status.PayloadBytes)
		require.Equal(t, i == 0, len(listed.Spec.Call.Payload) > 0)

		meter := storetypes.NewInfiniteGasMeter()
		whole, err := f.query().Timer(f.Ctx().WithGasMeter(meter), &types.QueryTimerRequest{Actor: listed.Actor, Id: listed.Id})
		require.NoError(t, err)
		require.Equal(t, i >= 2, len(whole.Timer.Spec.Call.Payload) > 0)
		require.Equal(t, i < 2, len(whole.Timer.Spec.Call.Messages) == 1)
		paid := keeper.GasPerByte * whole.Timer.Size()
		if i < 2 {
			paid += keeper.DecodeGasPerByte * len(payloads[i])
		}
		require.GreaterOrEqual(t, meter.GasConsumed(), uint64(paid))
		whole.Timer.Spec.Call = listed.Spec.Call // A list decodes nothing.
		require.Equal(t, listed, whole.Timer)
	}
	// What is left of the gas does not pay for decoding: nothing is decoded.
	limited := f.Ctx().WithGasMeter(storetypes.NewGasMeter(1_000_000))
	require.PanicsWithValue(t, storetypes.ErrorOutOfGas{Descriptor: "decode messages"}, func() {
		_, _ = f.query().Timer(limited, &types.QueryTimerRequest{Actor: alice.String(), Id: due.Timers[1].Id})
	})
}

// TestTheLengthOfAPayloadFollowsIt: through updates and export.
//
// Rule: 2.1-derived-recomputed
func TestTheLengthOfAPayloadFollowsIt(t *testing.T) {
	f := newFixture(t)
	id := f.schedule(robot, 100, make([]byte, 4_000))
	length := func(f *fixture) uint64 {
		r, err := f.query().TimersByActor(f.Ctx(), &types.QueryTimersByActorRequest{Actor: robot.String()})
		require.NoError(t, err)
		return r.Timers[0].Status.PayloadBytes
	}
	require.Equal(t, uint64(4_000), length(f))
	for _, size := range []int{513, 512, 0, 9_000} {
		f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Call: types.TimerCall{Payload: make([]byte, size)}}, Fields: []string{"call"}})
		require.Equal(t, uint64(size), length(f))
	}
	exported := f.export()
	require.Zero(t, exported.Timers[0].PayloadBytes)
	again := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis = exported })
	require.Equal(t, uint64(9_000), length(again))
}

// TestAnOffsetIsBounded: what is skipped is read, so that lists are gone through by their next_key.
//
// Rule: 9.2-offset
func TestAnOffsetIsBounded(t *testing.T) {
	f := newFixture(t)
	for offset, want := range map[uint64]codes.Code{keeper.MaxPageOffset: codes.OK, keeper.MaxPageOffset + 1: codes.InvalidArgument, largest: codes.InvalidArgument} {
		page := &sdkquery.PageRequest{Offset: offset}
		_, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: 9, Pagination: page})
		require.Equal(t, want, status.Code(err))
		_, err = f.query().OnHold(f.Ctx(), &types.QueryOnHoldRequest{Pagination: page})
		require.Equal(t, want, status.Code(err))
		_, err = f.query().Watches(f.Ctx(), &types.QueryWatchesRequest{Store: "bank", Pagination: page})
		require.Equal(t, want, status.Code(err))
	}
}

// TestSafeQueriesAreCharged: an answer that contracts and modules may ask for costs gas, at least by its length.
//
// Rule: 9.2-gas
func TestSafeQueriesAreCharged(t *testing.T) {
	f := newFixture(t, withConfig(inMarket))
	id := f.schedule(robot, 100, []byte("beat"))
	q := f.query()
	for name, ask := range map[string]func(context.Context) (proto.Message, error){
		"params": func(ctx context.Context) (proto.Message, error) { return q.Params(ctx, &types.QueryParamsRequest{}) },
		"lane":   func(ctx context.Context) (proto.Message, error) { return q.Lane(ctx, &types.QueryLaneRequest{}) },
		"agent": func(ctx context.Context) (proto.Message, error) {
			return q.Agent(ctx, &types.QueryAgentRequest{Actor: robot.String()})
		},
		"fairness": func(ctx context.Context) (proto.Message, error) {
			return q.Fairness(ctx, &types.QueryFairnessRequest{Actor: robot.String()})
		},
		"estimate": func(ctx context.Context) (proto.Message, error) {
			return q.Estimate(ctx, &types.QueryEstimateRequest{})
		},
		"timer": func(ctx context.Context) (proto.Message, error) {
			r, err := q.Timer(ctx, &types.QueryTimerRequest{Actor: robot.String(), Id: id})
			return &r.Timer, err
		},
	} {
		meter := storetypes.NewInfiniteGasMeter()
		response, err := ask(f.Ctx().WithGasMeter(meter))
		require.NoError(t, err, name)
		require.GreaterOrEqual(t, meter.GasConsumed(), uint64(keeper.QueryGas+keeper.GasPerByte*proto.Size(response)), name)
		// A query is charged before it does anything.
		require.PanicsWithValue(t, storetypes.ErrorOutOfGas{Descriptor: "query"}, func() {
			_, _ = ask(f.Ctx().WithGasMeter(storetypes.NewGasMeter(keeper.QueryGas - 1)))
		}, name)
	}
	// An answer without an entry, and none at all, are charged too: they took as long as 630 times their gas.
	for _, request := range []*types.QueryTimersByActorRequest{{Actor: alice.String()}, {Actor: "nobody"}} {
		meter := storetypes.NewInfiniteGasMeter()
		_, _ = q.TimersByActor(f.Ctx().WithGasMeter(meter), request)
		require.GreaterOrEqual(t, meter.GasConsumed(), uint64(keeper.QueryGas))
	}
	meter := storetypes.NewInfiniteGasMeter()
	_, err := q.Estimate(f.Ctx().WithGasMeter(meter), &types.QueryEstimateRequest{MaxCharge: "much"})
	require.Error(t, err)
	require.GreaterOrEqual(t, meter.GasConsumed(), uint64(keeper.QueryGas))
}
