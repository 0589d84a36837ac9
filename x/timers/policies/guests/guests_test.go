package guests_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/policies/guests"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestRegisterInterfaces_LetsToolsReadWhatGuestsKeep: a registry without a keeper resolves parameters and state of each guest.
func TestRegisterInterfaces_LetsToolsReadWhatGuestsKeep(t *testing.T) {
	registry := codectypes.NewInterfaceRegistry()
	types.RegisterInterfaces(registry)
	for _, url := range []string{"/timers.auction.v1.Params", "/timers.score.v1.Params", "/timers.tip.v1.Params", "/timers.auction.v1.State"} {
		_, err := registry.Resolve(url)
		require.Error(t, err, url)
	}
	guests.RegisterInterfaces(registry)
	for _, url := range []string{"/timers.auction.v1.Params", "/timers.score.v1.Params", "/timers.tip.v1.Params", "/timers.auction.v1.State"} {
		message, err := registry.Resolve(url)
		require.NoError(t, err)
		require.NotNil(t, message, url)
	}
	require.Len(t, guests.All(), 3)
}
