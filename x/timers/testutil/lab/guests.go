//go:build !noguests

package lab

import (
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
	"github.com/cosmos-timers/timers/x/timers/policies/registry"
)

// HasGuests reports whether lab chains have the policies of package guests. Tests built with the tag noguests link none of them.
const HasGuests = true

func guestPolicies() []registry.Constructor { return guests.All() }
