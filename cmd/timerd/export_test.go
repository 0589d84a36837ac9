package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/version"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// busyChain has timers.
func busyChain(t *testing.T) *appchain.Chain {
	t.Helper()
	c := appchain.New(t, "alice")
	alice := appchain.AccountOf("alice").Address
	payload, err := types.NewAccountPayload(&banktypes.MsgSend{
		FromAddress: alice.String(), ToAddress: alice.String(), Amount: appchain.TxFee,
	})
	require.NoError(t, err)
	raw, err := payload.Marshal()
	require.NoError(t, err)
	for height := range uint64(2) {
		c.Deliver("alice", &types.MsgScheduleTimer{
			Sender: alice.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: 1_000 + height}, Call: types.TimerCall{Payload: raw}},
		})
	}
	return c
}

// bySDK is the genesis that the SDK's own command makes of what the module manager exports.
func bySDK(t *testing.T, c *appchain.Chain, document genutiltypes.AppGenesis, modules []string) *genutiltypes.AppGenesis {
	t.Helper()
	states, err := c.App.Modules().ExportGenesisForModules(c.Ctx(), c.App.AppCodec(), modules)
	require.NoError(t, err)
	document.AppState, err = json.MarshalIndent(states, "", "  ")
	require.NoError(t, err)
	exported, err := c.App.ExportAppStateAndValidators(false, nil, modules)
	require.NoError(t, err)
	document.AppName, document.AppVersion, document.InitialHeight = version.AppName, version.Version, exported.Height
	document.Consensus = genutiltypes.NewConsensusGenesis(exported.ConsensusParams, exported.Validators)
	return &document
}

// Rule: 2.1-export-streams
func TestTheExportIsTheSDKs(t *testing.T) {
	c := busyChain(t)
	document := genutiltypes.AppGenesis{ChainID: "a-1", AppHash: []byte{1}}
	for _, modules := range [][]string{nil, {types.ModuleName}, {"timers", "bank", "timers"}, {"vesting"}} {
		want := bySDK(t, c, document, modules)
		compact, err := json.Marshal(want)
		require.NoError(t, err)
		var got bytes.Buffer
		require.NoError(t, writeExport(&got, c.App, &document, false, modules))
		require.Equal(t, string(compact), got.String(), "%v", modules)

		file := filepath.Join(t.TempDir(), "want.json")
		require.NoError(t, want.SaveAs(file))
		spread, err := os.ReadFile(file)
		require.NoError(t, err)
		got.Reset()
		require.NoError(t, writeExport(&indenter{to: &got}, c.App, &document, false, modules))
		require.Equal(t, string(spread), got.String(), "%v", modules)
	}
	require.ErrorContains(t, writeExport(io.Discard, c.App, &document, false, []string{"none"}), "none")
	require.ErrorIs(t, writeExport(io.Discard, c.App, &document, true, nil), app.ErrZeroHeight)
}

// A node logs while it loads its state. What the command prints is the genesis alone.
func TestTheExportPrintsNoLogs(t *testing.T) {
	user := t.TempDir()
	net := filepath.Join(user, "net")
	home := filepath.Join(net, "node0")
	must(t, user, "testnet", "init-files", "--v", "1", "--single-host", "--output-dir", net, "--chain-id", "one-1")
	out, err := timerd(t, user, "export", "--home", home)
	require.Error(t, err)
	require.Contains(t, out, "the node of "+home+" has committed no block yet")

	runUntil(t, user, "committed state", "start", "--home", home, "--p2p.laddr", "tcp://127.0.0.1:0",
		"--rpc.laddr", "tcp://127.0.0.1:0", "--rpc.pprof_laddr", "", "--grpc.enable=false", "--api.enable=false")
	var stdout, stderr bytes.Buffer
	cmd := command(user, "export", "--home", home, "--log_level", "debug")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	require.NotEmpty(t, stderr.String(), "it does log")
	var exported genutiltypes.AppGenesis
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &exported), stdout.String())
	require.Equal(t, "one-1", exported.ChainID)
	require.Positive(t, exported.InitialHeight)
}

// runUntil runs a command until a line of its output holds a text, and then interrupts it.
func runUntil(t *testing.T, home, text string, args ...string) {
	t.Helper()
	cmd := command(home, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var seen strings.Builder
	lines := bufio.NewScanner(out)
	for found := false; lines.Scan(); {
		fmt.Fprintln(&seen, lines.Text())
		if !found && strings.Contains(lines.Text(), text) {
			found = true
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	require.Contains(t, seen.String(), text)
	require.NoError(t, cmd.Wait(), seen.String())
}

func FuzzIndent(f *testing.F) {
	for _, raw := range []string{`{}`, `[[],{}]`, `{"a":[1,{"b":"\\\"{"}],"c":{}}`, `"}"`, `[[[0]],""]`} {
		f.Add([]byte(raw), 3)
	}
	f.Fuzz(func(t *testing.T, raw []byte, step int) {
		var compact, want, got bytes.Buffer
		if json.Compact(&compact, raw) != nil {
			return
		}
		require.NoError(t, json.Indent(&want, compact.Bytes(), "", "  "))
		x := &indenter{to: &got}
		for piece := compact.Bytes(); len(piece) > 0; {
			n := min(max(step, 1), len(piece))
			_, err := x.Write(piece[:n])
			require.NoError(t, err)
			piece = piece[n:]
		}
		require.Equal(t, want.String(), got.String())
	})
}

func TestAFileThatCannotBeWrittenIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	failed := errors.New("failed")
	require.ErrorIs(t, writeFile(path, func(io.Writer) error { return failed }), failed)
	require.NoFileExists(t, path)
	require.NoError(t, writeFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }))
	require.FileExists(t, path)
}

func TestTheFrameOfAGenesisLeavesTheStateOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "genesis.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"chain_id":"a-1","app_state":{"timers":{}},"initial_height":7,"consensus":{"params":null}}`), 0o600))
	frame, err := genesisFrame(path)
	require.NoError(t, err)
	require.Equal(t, "a-1", frame.ChainID)
	require.Equal(t, int64(7), frame.InitialHeight)
	require.Empty(t, frame.AppState)
	require.NoError(t, os.WriteFile(path, []byte(`{`), 0o600))
	_, err = genesisFrame(path)
	require.ErrorContains(t, err, path)
}
