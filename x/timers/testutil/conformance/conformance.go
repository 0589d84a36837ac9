// Package conformance tests that a policy keeps what the module promises under every policy: no coin and no timer is lost,
// blocks do bounded work under overload, a config change or an export in the middle of a backlog loses nothing, and the same
// blocks give the same state. A chain that brings a policy along runs it with its own (x/timers/docs/policy.md).
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Subject{Policy: mine.ID, Keeper: []keeper.Option{keeper.WithPolicy(mine.New)}})
//	}
//
// What is drawn at random is drawn by rapid: -rapid.checks runs more histories than the default 100, and -conformance.scale
// runs larger backlogs.
package conformance

import (
	"flag"
	"testing"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var scale = flag.Int("conformance.scale", 1, "multiplies the size of the backlogs that policies are tested with")

// Subject is a policy under test.
type Subject struct {
	// Policy is its id.
	Policy types.Policy
	// Keeper are the options that wire it; none for a policy of the module.
	Keeper []keeper.Option
	// Config sets what the policy needs of the config in addition; it may be nil.
	Config func(*types.TimerConfig)
	// Moves is how many timers a block of a storm may give another place in the ready index, in addition to those that it
	// admits, sweeps and fires: policies.MaxIndexReads for a policy whose weights change, otherwise 0. Over a whole storm they
	// must not count.
	Moves int
}

// Run runs the whole suite.
func Run(t *testing.T, s Subject) {
	t.Helper()
	t.Run("random histories", s.testHistories)
	t.Run("policy changes under a backlog", s.testChanges)
	t.Run("a storm is bounded", s.testStorm)
	t.Run("an idle block is free", s.testIdle)
	t.Run("timers that can't fire stop no others", s.testObstacles)
	t.Run("a paused lane", s.testPaused)
}
