package policies_test

import (
	"strings"
	"testing"

	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/testutil/conformance"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestThePoliciesOfTheModuleConform: each of them keeps what the module promises under every policy.
//
// Rule: 5.1-order, 5.4-index-reads
func TestThePoliciesOfTheModuleConform(t *testing.T) {
	for _, s := range []conformance.Subject{
		{Policy: types.PolicyFIFO},
		{Policy: types.PolicyAuction},
		{Policy: types.PolicyScore},
		{Policy: types.PolicyTip},
		// Fires change the weights of their actors, and with them where their timers lie in the index.
		{Policy: types.PolicyEIP1559, Moves: contest.MaxIndexReads},
	} {
		t.Run(strings.ToLower(strings.TrimPrefix(s.Policy.String(), "POLICY_")), func(t *testing.T) {
			lab.SkipWithout(t, s.Policy)
			conformance.Run(t, s)
		})
	}
}
