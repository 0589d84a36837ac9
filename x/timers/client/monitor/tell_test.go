package monitor

import (
	"testing"

	gogoproto "github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cosmos-timers/timers/x/timers/testutil/eventtest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Every event of the module is told; the summary of a block is its own line.
func TestTell_EveryEvent(t *testing.T) {
	eventtest.Each(t, func(name protoreflect.FullName, event gogoproto.Message) {
		if _, summary := event.(*types.TimerLaneSummary); summary {
			return
		}
		h, told := tell(event)
		require.True(t, told, name)
		require.NotEmpty(t, h.kind, name)
	})
}

func TestTell_AnAllowanceThatRefused(t *testing.T) {
	h, told := tell(&types.TimerCancelledInsufficientFunds{Required: "800", Available: "9999998664", AllowanceRefused: true})
	require.True(t, told)
	require.Equal(t, "unfunded height=0 required=800 allowance=refused", h.line())
	h, _ = tell(&types.TimerFired{Success: true, Ended: types.EndOfLife, Missing: 11})
	require.Contains(t, h.line(), " ended=end_of_life missing=11")
}
