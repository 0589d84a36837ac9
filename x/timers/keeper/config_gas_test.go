package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestWhatAScheduleCostsDoesNotDependOnTheSizeOfTheConfig(t *testing.T) {
	gas := func(denied int) uint64 {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) {
			for i := range denied {
				c.DeniedMessages = append(c.DeniedMessages, fmt.Sprintf("/never.v1.MsgCalled%d", i))
			}
		}))
		return f.run(scheduleMsg(robot, 9, f.noop()))
	}
	require.Equal(t, gas(0), gas(50))
}
