package outlook_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestWaitNote_OfAStormWithNobodyKnownAhead: what a storm has not admitted yet is ahead too, and nobody counted it.
func TestWaitNote_OfAStormWithNobodyKnownAhead(t *testing.T) {
	require.Equal(t, "if it were due now: a storm: more timers are ready than compete at once, and how many are ahead is not known",
		outlook.WaitNote(&types.QueryEstimateResponse{Basis: types.BasisStorm}, timespan.Clock{}))
}

// TestWaitNote_OfACrowd: who is behind timers that return in every block does not fire next, though their room is counted once.
func TestWaitNote_OfACrowd(t *testing.T) {
	says := func(wait, returning uint64) string {
		return outlook.WaitNote(&types.QueryEstimateResponse{
			Basis: types.BasisCrowded, Ahead: 82, AheadSize: 2_000_000, Returning: returning, WaitBlocks: wait,
		}, timespan.Clock{PaceErr: errors.New("unknown")})
	}
	require.Equal(t, "if it were due now: 82 ready timers (2,000,000 cycles) ahead, of which 81 return in every block, so that no room is left; "+
		"wait: until timers ahead end or can't pay any more", says(0, 81))
	require.Equal(t, "if it were due now: 82 ready timers (2,000,000 cycles) ahead, of which 1 returns in every block, so that no room is left; "+
		"wait at least: 3 blocks", says(3, 1))
}
