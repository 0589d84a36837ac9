//go:build !noguests

package lab

import (
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
)

func init() { guestPolicies, guestAgents = guests.All, agents.New }
