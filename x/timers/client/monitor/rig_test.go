package monitor_test

import (
	"context"
	"testing"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/testutil/clienttest"
)

// rig is a command line before a chain.
type rig struct{ *clienttest.Rig }

func newRig(t *testing.T) *rig {
	t.Helper()
	return &rig{clienttest.New(t)}
}

// at is a context on the rig's machine.
func (r *rig) at() context.Context {
	return timespan.OnMachine(context.Background(), timespan.Machine{Now: r.Now})
}
