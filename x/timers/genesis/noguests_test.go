//go:build noguests

package genesis_test

import (
	"testing"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func registerGuests(codectypes.InterfaceRegistry) {}

func addGuests(*types.GenesisState, []byte) {}

func addGuestEpoch(*types.GenesisState) func(*testing.T, *types.GenesisState, uint64) {
	return func(*testing.T, *types.GenesisState, uint64) {}
}
