package lab

import (
	"slices"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Has reports whether lab chains have a policy: without guests (HasGuests) of the module's those that are its own.
func Has(p types.Policy) bool {
	return HasGuests || p <= types.PolicyEIP1559 || p >= types.FirstCustomPolicy
}

// Policies are those of the stated policies that lab chains have; of all that come with the module if none is stated.
func Policies(stated ...types.Policy) []types.Policy {
	if len(stated) == 0 {
		stated = []types.Policy{types.PolicyFIFO, types.PolicyEIP1559, types.PolicyAuction, types.PolicyScore, types.PolicyTip}
	}
	return slices.DeleteFunc(slices.Clone(stated), func(p types.Policy) bool { return !Has(p) })
}

// SkipWithout skips a test of a policy that lab chains do not have.
func SkipWithout(t interface {
	Skipf(format string, args ...any)
}, p types.Policy) {
	if !Has(p) {
		t.Skipf("built without guests, of which %s is one", p)
	}
}
