package lab

import (
	"slices"
	"sync"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// guestPolicies are those of package guests: nil if this is built with the tag noguests, and links none of them (guests.go).
var guestPolicies func() []policies.Constructor

// guestAgents are the bidding agents of package agents; nil as guestPolicies is.
var guestAgents func(*policies.Parts) policies.Agents

// registered are the policies of a lab chain to which none is added.
var registered = sync.OnceValue(func() (ids []types.Policy) {
	chain, err := NewChain(ChainOptions{})
	if err != nil {
		panic(err)
	}
	for _, p := range chain.Timers.Engine().Policies.All() {
		ids = append(ids, p.ID())
	}
	return ids
})

// Has reports whether lab chains have a policy: without guests, of those that come with the module its own. A policy that a test
// adds is there.
func Has(p types.Policy) bool {
	_, ofModule := types.Policy_name[int32(p)]
	return !ofModule || slices.Contains(registered(), p)
}

// Policies are those of the stated policies that lab chains have, or all that they have if none is stated.
func Policies(stated ...types.Policy) []types.Policy {
	if len(stated) == 0 {
		return slices.Clone(registered())
	}
	return slices.DeleteFunc(slices.Clone(stated), func(p types.Policy) bool { return !Has(p) })
}

// skipper is a test that can be skipped.
type skipper interface {
	Skipf(format string, args ...any)
}

// SkipWithoutAgents skips a test of bidding agents where lab chains have none.
func SkipWithoutAgents(t skipper) {
	if guestAgents == nil {
		t.Skipf("built without guests, as which bidding agents come")
	}
}

// SkipWithout skips a test of a policy that lab chains do not have.
func SkipWithout(t skipper, p types.Policy) {
	if !Has(p) {
		t.Skipf("built without guests, of which %s is one", p)
	}
}
