package history_test

import (
	"testing"

	"github.com/cosmos-timers/timers/x/timers/testutil/clienttest"
)

// rig is a command line before a chain.
type rig struct{ *clienttest.Rig }

func newRig(t *testing.T) *rig {
	t.Helper()
	return &rig{clienttest.New(t)}
}
