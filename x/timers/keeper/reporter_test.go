package keeper_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// reporting is the fixture's runtime, which reports failures too.
type reporting struct {
	*scripted
	failed func(ctx sdk.Context, cycles uint64, failure error)
}

var _ types.FailureReporter = (*reporting)(nil)

func (r *reporting) Failed(ctx context.Context, _ types.Delivery, cycles, _ uint64, failure error) {
	r.failed(sdk.UnwrapSDKContext(ctx), cycles, failure)
}

// TestFailureReporter_EmitsEvents: a runtime hears of the deliveries that failed alone, once each. Its events stay, unless it panics:
// then nothing of what it did stays, and the fire is settled as others are. Its gas meter is a copy of the fire's: what it takes
// is billed to no one.
func TestFailureReporter_EmitsEvents(t *testing.T) {
	var failures []error
	var billed uint64
	reporter := &reporting{}
	f := newFixture(t, withConfig(plain), func(opts *lab.ChainOptions) {
		reporter.scripted = opts.Runtimes[0].(*scripted)
		opts.Runtimes[0] = reporter
	})
	panics := false
	reporter.failed = func(ctx sdk.Context, cycles uint64, failure error) {
		failures = append(failures, failure)
		require.GreaterOrEqual(t, cycles, uint64(20_000))
		billed = cycles
		fire := ctx.GasMeter()
		require.LessOrEqual(t, fire.GasConsumedToLimit(), cycles-20_000)
		require.Equal(t, errors.Is(failure, types.ErrOutOfCycles), fire.GasRemaining() == 0)
		if fire.GasRemaining() > 0 {
			fire.ConsumeGas(7, "a report")
		}
		ctx.EventManager().EmitEvent(sdk.NewEvent("failed_by_test"))
		if panics {
			require.NoError(t, f.Bank.SendCoins(ctx, alice, bob, f.coins(1)))
			panic("no report today")
		}
	}
	fails := f.script(func(sdk.Context, types.Delivery) error { return types.ErrInvalidPayload })
	burns := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		ctx.GasMeter().ConsumeGas(1<<40, storetypes.GasReadCostFlatDesc)
		return nil
	})
	reports := func(events sdk.Events) (n int) {
		for _, event := range events {
			if event.Type == "failed_by_test" {
				n++
			}
		}
		return n
	}
	f.schedule(robot, 2, f.noop())
	f.schedule(robot, 2, fails)
	f.schedule(robot, 3, burns)
	f.schedule(robot, 4, fails)
	f.NextBlock()
	for range 2 {
		events := f.NextBlock()
		require.Equal(t, 1, reports(events))
		fired := eventsOf[*types.TimerFired](f, events)
		require.Equal(t, billed, fired[len(fired)-1].Cycles)
	}
	require.ErrorIs(t, failures[0], types.ErrInvalidPayload)
	require.ErrorIs(t, failures[1], types.ErrOutOfCycles)
	panics = true
	events := f.NextBlock()
	require.Zero(t, reports(events))
	require.Len(t, eventsOf[*types.TimerFired](f, events), 1)
	require.Len(t, failures, 3)
	require.Equal(t, int64(rich), f.balance(bob))
}
