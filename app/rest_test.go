package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/runtime"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/server/api"
	"github.com/cosmos/cosmos-sdk/server/config"
)

// Each mistake in a parameter is answered with its name and what it takes, and with no word of Go.
func TestMistakesInParametersAreExplained(t *testing.T) {
	description := Describe()
	server := api.New(client.Context{}.WithInterfaceRegistry(description.InterfaceRegistry()), log.NewNopLogger(), nil)
	(&App{Description: *description}).RegisterAPIRoutes(server, config.APIConfig{})
	for path, want := range map[string]string{
		"/timers/v1/estimate?tier=fastt":                       `tier "fastt" can't be read: want one of economy, standard, fast, urgent`,
		"/timers/v1/estimate?gas_limit=1e5&cell_limit=100":     `gas_limit "1e5" can't be read: want a whole number, 0 or more`,
		"/timers/v1/estimate?gas_limit=99999999999999999999":   `gas_limit "99999999999999999999" can't be read: want a smaller number`,
		"/timers/v1/due/abc":                                   `height "abc" can't be read: want a whole number, 0 or more`,
		"/timers/v1/due/time/abc":                              `time "abc" can't be read: want a whole number`,
		"/timers/v1/due/5?until=perhaps":                       `until "perhaps" can't be read: want true or false`,
		"/timers/v1/due/5?pagination.limit=%22many%22":         `pagination.limit "\"many\"" can't be read: want a whole number, 0 or more`,
		"/cosmos/gov/v1/proposals?proposal_status=yes":         `can't be read`,
		"/cosmos/tx/v1beta1/txs?query=a&order_by=ORDER_BY_ASK": "ORDER_BY_ASK",
	} {
		answer := httptest.NewRecorder()
		server.GRPCGatewayRouter.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, http.StatusBadRequest, answer.Code, path)
		var said struct{ Message string }
		require.NoError(t, new(runtime.JSONBuiltin).Unmarshal(answer.Body.Bytes(), &said))
		require.Contains(t, said.Message, want, path)
		for _, word := range []string{"strconv", "types.", "Parse"} {
			require.NotContains(t, said.Message, word, path)
		}
	}
	require.Equal(t, "funds are short", plainParameter("funds are short", nil))
}
