package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestAPlacementCostsWhatAPartOfTheRecordCosts: to write, read, page and remove a record with a placement costs the gas of one
// that is stored whole, under both calendars. None is left when its record is gone.
//
// Rule: 2.4-placements-gas
func TestAPlacementCostsWhatAPartOfTheRecordCosts(t *testing.T) {
	for _, tiered := range []bool{false, true} {
		q := newWaitingQueue(t, tiered)
		prices := storetypes.KVGasConfig()
		placed := types.Timer{Id: []byte{1}, Due: 1, Seq: 1, AdmittedWeight: 16}
		whole := storetypes.Gas(queueKeyBytes + placed.Size())
		cost := func(do func()) storetypes.Gas {
			before := q.ctx.GasMeter().GasConsumed()
			do()
			return q.ctx.GasMeter().GasConsumed() - before
		}
		require.Equal(t, prices.WriteCostFlat+prices.WriteCostPerByte*whole, cost(func() {
			require.NoError(t, q.calendar.Insert(q.ctx, &placed))
		}))
		require.Equal(t, prices.ReadCostFlat+prices.ReadCostPerByte*whole, cost(func() {
			got, found, err := q.calendar.Get(q.ctx, placeOf(&placed))
			require.NoError(t, err)
			require.True(t, found)
			require.True(t, placed.Equal(got), "%v", got)
		}))
		page := func() storetypes.Gas {
			return cost(func() {
				found, _, _, err := q.calendar.Page(q.ctx, calendar.Key{}, 1, func(calendar.Entry[types.Timer]) calendar.Verdict { return calendar.Take })
				require.NoError(t, err)
				require.Len(t, found, 1)
			})
		}
		withPlacement, bare := page(), placed
		put(&types.Timer{}, &bare)
		require.NoError(t, q.calendar.Replace(q.ctx, &bare))
		steps := (withPlacement - page()) / (prices.ReadCostPerByte * storetypes.Gas(placed.Size()-bare.Size()))
		require.EqualValues(t, 1, steps, "each byte once")
		require.NoError(t, q.calendar.Place(q.ctx, []types.Timer{placed}))
		require.Equal(t, prices.DeleteCost, cost(func() { require.NoError(t, q.calendar.Remove(q.ctx, placeOf(&placed))) }))
		require.NoError(t, q.calendar.Check(q.ctx))
	}
}
