//go:build noguests

package types_test

import (
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	hasGuests  = false
	guestField = "lane_timer_cycles"
)

func registerGuests(codectypes.InterfaceRegistry) {}

func addGuestParams(*types.TimerConfig) {}
