package system

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/tx"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/node"
	"github.com/cosmos-timers/timers/x/timers/client/remote"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// restBlock are the commands of docs/use/clients.md for REST.
var restBlock = regexp.MustCompile("(?s)## REST.*?```sh\n(.*?)```")

// TestClients: a Go program schedules on a real node, waits for the outcome and follows, and the REST examples of
// docs/use/clients.md answer.
func TestClients(t *testing.T) {
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")
	modules := app.New(log.NewNopLogger(), dbm.NewMemDB(), nil, false, simtestutil.NewAppOptionsWithFlagHome(t.TempDir()))
	ring, err := keyring.New(sdk.KeyringServiceName(), keyring.BackendTest, n.Home, nil, modules.AppCodec())
	require.NoError(t, err)
	rpc, err := client.NewClientFromNode(n.RPC)
	require.NoError(t, err)
	var status struct {
		NodeInfo struct{ Network string } `json:"node_info"`
	}
	cli(ctx, t, n, &status, "status")
	from, err := sdk.AccAddressFromBech32(alice)
	require.NoError(t, err)
	clientCtx := client.Context{}.WithCodec(modules.AppCodec()).WithInterfaceRegistry(modules.InterfaceRegistry()).
		WithTxConfig(modules.TxConfig()).WithKeyring(ring).WithAccountRetriever(authtypes.AccountRetriever{}).WithClient(rpc).
		WithChainID(status.NodeInfo.Network).WithFromName("alice").WithFromAddress(from)
	factory := tx.Factory{}.WithChainID(status.NodeInfo.Network).WithKeybase(ring).WithTxConfig(modules.TxConfig()).
		WithAccountRetriever(clientCtx.AccountRetriever).WithSignMode(signing.SignMode_SIGN_MODE_DIRECT).
		WithGasAdjustment(1.4).WithSimulateAndExecute(true).WithGasPrices("0.001utmr").WithFromName("alice")

	payload, err := types.NewAccountPayload(banktypes.NewMsgSend(from, sdk.MustAccAddressFromBech32(bob), sdk.NewCoins(sdk.NewInt64Coin("utmr", 5))))
	require.NoError(t, err)
	timer, height, err := remote.Schedule(ctx, clientCtx, factory, &types.MsgScheduleTimer{
		Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{After: 3}, Call: types.TimerCall{Messages: payload.Messages}, Name: "rent"},
	})
	require.NoError(t, err)
	outcome, err := remote.Outcome(ctx, rpc, alice, timer.Id, height)
	require.NoError(t, err)
	fired, ok := outcome.Event.(*types.TimerFired)
	require.True(t, ok)
	require.True(t, fired.Success)
	var seen []string
	require.NoError(t, remote.Follow(ctx, rpc, alice, height, func(h remote.Happening) error {
		seen = append(seen, h.ID)
		if h.Event.String() == outcome.Event.String() {
			return remote.ErrStop
		}
		return nil
	}))
	require.Equal(t, []string{timer.Id, timer.Id}, seen)

	page, err := os.ReadFile("../../x/timers/docs/use/clients.md")
	require.NoError(t, err)
	commands := strings.Split(strings.TrimSpace(string(restBlock.FindSubmatch(page)[1])), "\n")
	require.Greater(t, len(commands), 3)
	for _, command := range commands {
		cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
		cmd.Env = append(os.Environ(), "RPC="+n.RPC, "API="+n.API, "ALICE="+alice, fmt.Sprintf("HEIGHT=%d", outcome.Height))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", command, out)
		require.True(t, json.Valid(out), "%s\n%s", command, out)
	}
}
