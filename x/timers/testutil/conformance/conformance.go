// Package conformance tests that a policy keeps what the module promises under every policy: no coin and no timer is lost,
// blocks do bounded work under overload, a config change or an export in the middle of a backlog loses nothing, and the same
// blocks give the same state. A chain that brings a policy along runs it with its own (x/timers/docs/extend/policy.md).
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Subject{Policy: mine.ID, Keeper: []keeper.Option{keeper.WithPolicy(mine.New)}})
//	}
//
// What is drawn at random is drawn by rapid: -rapid.checks runs more histories than the default 100, and -conformance.scale
// runs larger backlogs.
package conformance

import "testing"

// Run runs the whole suite.
func Run(t *testing.T, s Subject) {
	t.Helper()
	t.Run("random histories", s.testHistories)
	t.Run("questions change nothing", s.testQuestions)
	t.Run("policy changes under a backlog", s.testChanges)
	t.Run("a backlog is bounded", s.testBacklog)
	t.Run("an idle block is free", s.testIdle)
	t.Run("timers that can't fire stop no others", s.testObstacles)
	t.Run("a paused lane", s.testPaused)
	t.Run("max_charge", s.testMaxCharge)
}
