//go:build noguests

package keeper_test

import "github.com/cosmos-timers/timers/x/timers/types"

func setAgents(*types.TimerConfig, uint64, uint64) {}

func defaultAgents(*types.GenesisState) []struct{} { return nil }

func guestConfigs() []func(*types.TimerConfig) { return nil }
