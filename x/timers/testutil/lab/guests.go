//go:build !noguests

package lab

import "github.com/cosmos-timers/timers/x/timers/policies/guests"

func init() { guestPolicies = guests.All }
