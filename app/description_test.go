package app_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
)

// TestTheDescriptionIsThatOfTheApplication: command lines see what the application with its keepers would show them.
func TestTheDescriptionIsThatOfTheApplication(t *testing.T) {
	whole, described := appchain.New(t, "alice").App, app.Describe()
	want, got := whole.InterfaceRegistry(), described.InterfaceRegistry()
	require.ElementsMatch(t, want.ListAllInterfaces(), got.ListAllInterfaces())
	for _, name := range want.ListAllInterfaces() {
		require.ElementsMatch(t, want.ListImplementations(name), got.ListImplementations(name), name)
	}
	require.JSONEq(t, text(t, whole.DefaultGenesis()), text(t, described.DefaultGenesis()))
	a, b := whole.AutoCLIOptions(), described.AutoCLIOptions()
	require.JSONEq(t, text(t, a.ModuleOptions), text(t, b.ModuleOptions))
	require.Equal(t, a.AddressCodec, b.AddressCodec)
	require.Len(t, b.Modules, len(a.Modules))
}

func text(t *testing.T, value any) string {
	t.Helper()
	bz, err := json.Marshal(value)
	require.NoError(t, err)
	return string(bz)
}
