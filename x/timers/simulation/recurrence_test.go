package simulation

import (
	"context"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	simtypes "github.com/cosmos/cosmos-sdk/types/simulation"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestDrawRecurrence_DrawsEveryKindAndNothingMalformed: what is drawn passes the checks that need no state, and each kind of
// trigger, retry and answer to missing funds comes up, so that a simulation leaves out none.
func TestDrawRecurrence_DrawsEveryKindAndNothingMalformed(t *testing.T) {
	r := rand.New(rand.NewSource(1)) //nolint:gosec // a seed makes the draws the same each time
	account := simtypes.RandomAccounts(r, 1)[0]
	account.AddressBech32 = account.Address.String()
	data := simsx.NewChainDataSource(context.Background(), r, nil, nil, nil, account)
	config := types.DefaultTimerConfig("stake")
	const now = 1_700_000_000
	drawn := map[string]int{}
	for range 2_000 {
		msg := types.MsgScheduleTimer{Spec: types.TimerSpec{Trigger: types.Trigger{Height: 10}}}
		drawRecurrence(data, &config, now, &msg)
		require.NoError(t, msg.Spec.Trigger.Validate(), "%v", msg.Spec.Trigger)
		if interval := msg.Spec.Trigger.Interval; interval != nil {
			require.NoError(t, interval.Validate(&config))
			drawn["interval"]++
		}
		if msg.Spec.Retry != nil {
			require.NoError(t, msg.Spec.Retry.Validate(&config, msg.Spec.Trigger.ByTime()))
			drawn["retry"]++
		}
		require.NoError(t, msg.Spec.OnUnfunded.Validate())
		drawn[msg.Spec.OnUnfunded.String()]++
		switch {
		case msg.Spec.Trigger.Height > 0:
			drawn["height"]++
		case msg.Spec.Trigger.After > 0:
			drawn["after"]++
		case msg.Spec.Trigger.Time != nil:
			require.Greater(t, msg.Spec.Trigger.Time.Unix(), int64(now))
			drawn["time"]++
		case msg.Spec.Trigger.Calendar != nil:
			drawn["calendar"]++
		}
	}
	for _, kind := range []string{"height", "after", "interval", "time", "calendar", "retry", types.OnUnfundedSkip.String()} {
		require.Greater(t, drawn[kind], 20, kind)
	}
}
