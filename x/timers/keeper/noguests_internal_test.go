//go:build noguests

package keeper

import "github.com/cosmos-timers/timers/x/timers/policies/registry"

func schemaGuests() []registry.Constructor { return nil }
