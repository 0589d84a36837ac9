//go:build !noguests

package types_test

import (
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/policies/guests"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	hasGuests  = true
	guestField = "tip.decay"
)

func registerGuests(registry codectypes.InterfaceRegistry) { guests.RegisterInterfaces(registry) }

// addGuestParams adds the parameters of a guest to a config that is signed.
func addGuestParams(config *types.TimerConfig) {
	policy := tip.DefaultParams()
	config.SetParams(&policy)
}
