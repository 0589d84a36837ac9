package bids_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestHeadroomIsExact: a lane of 1,000,000 cycles, half of it the target and a tenth reserved, has room for fires of 400,000.
func TestHeadroomIsExact(t *testing.T) {
	for name, tt := range map[string]struct {
		cycles, cells uint64
		problem       string
	}{
		"by cycles":          {400_000, 1, ""},
		"too many cycles":    {400_001, 1, "largest size of a fire (400001 cycles) is 900001, want at most (1 - reserved_share) × lane_timer_cycles, which is 900000"},
		"by cells":           {1, 200_000, ""},
		"too many cells":     {1, 200_001, "largest size of a fire (400002 cycles) is 900002"},
		"larger than a lane": {2_000_000, 1, "largest size of a fire (2000000 cycles)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := types.DefaultTimerConfig("stake")
			require.NoError(t, bids.CheckHeadroom(&c))
			c.LaneTimerCycles, c.LaneTimerCells = 1_000_000, 500_000
			c.Eip1559.MaxCyclesPerFireAuction, c.MaxCellsPerFire = tt.cycles, tt.cells
			if err := bids.CheckHeadroom(&c); tt.problem == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.problem)
			}
		})
	}
}
