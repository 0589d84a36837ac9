//go:build noguests

package keeper_test

import "github.com/cosmos-timers/timers/x/timers/types"

func guestConfigs() []func(*types.TimerConfig) { return nil }
