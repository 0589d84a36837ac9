package recurrence_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestResume_BeforeItsTimeWaits: a timer whose time has not come waits for it, however long it was on hold. One that was tried is
// tried again at once, and so is one whose time has come.
func TestResume_BeforeItsTimeWaits(t *testing.T) {
	at := time.Unix(1_000, 0)
	for name, c := range map[string]struct {
		tried      bool
		time, want int64
	}{"before": {time: 900, want: 1_000}, "tried": {tried: true, time: 900, want: 900}, "after": {time: 1_100, want: 1_000}} {
		timer := types.Timer{Trigger: types.Trigger{Time: &at}, HoldReason: types.Paused, Due: 2, DueTime: 1_000, Tried: c.tried}
		_, err := recurrence.Resume(&timer, types.ResumeNow, types.Moment{Height: 7, Time: c.time})
		require.NoError(t, err)
		require.Equal(t, c.want, timer.DueTime, name)
	}
}
