package system

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
	"github.com/cosmos-timers/timers/x/timers/client/proof"
)

// retention is that of receipts in a genesis.
var retention = regexp.MustCompile(`("receipt_retention_blocks":\s*)"\d+"`)

// TestProofs_OfRealNodes: a delivery is proved on one node, and absence too, and both are verified under the header of another,
// after both have stopped. The node that proves keeps as little state as it can. A chain that keeps receipts for 30 blocks proves
// them no longer after that.
func TestProofs_OfRealNodes(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := start(ctx, t, node.Options{
		Accounts: []string{"alice", "bob"}, Validators: 2,
		Genesis: func(state map[string]json.RawMessage) error {
			state["timers"] = retention.ReplaceAll(state["timers"], []byte(`${1}"30"`))
			return nil
		},
	})
	n, other := network.Nodes[0], network.Nodes[1]
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")
	var params struct {
		Config struct {
			Retention string `json:"receipt_retention_blocks"`
		}
	}
	cli(ctx, t, n, &params, "query", "timers", "params")
	require.Equal(t, "30", params.Config.Retention)

	n.Stop()
	require.NoError(t, n.Configure("app.toml", "", "pruning", `"everything"`))
	require.NoError(t, n.Start())
	require.NoError(t, n.WaitHeight(ctx, 5))
	id, due := scheduleSoon(ctx, t, n, "alice", "--msgs", sendFile(t, alice, bob, 5), "--name", "rent")
	_, at := waitFired(ctx, t, n, due, id)
	dir := t.TempDir()
	delivered, absent, header := filepath.Join(dir, "delivered.json"), filepath.Join(dir, "absent.json"), filepath.Join(dir, "header.json")
	_, notes, err := n.Run(ctx, "query", "timers", "proof", "alice/"+id[:8], "--output-document", delivered)
	require.NoError(t, err, string(notes))
	require.NoError(t, other.WaitHeight(ctx, at+1))
	_, notes, err = other.Run(ctx, "query", "timers", "proof", alice+"/"+id, "--absent", "--height", fmt.Sprint(at+1), "--output-document", absent)
	require.NoError(t, err, string(notes))
	latest, err := n.Status(ctx)
	require.NoError(t, err)
	_, notes, err = n.Run(ctx, "query", "timers", "proof", alice+"/"+id, "--absent", "--height", fmt.Sprint(latest))
	require.NoError(t, err, "the receipts of the latest block are under the next header, which is waited for: %s", notes)
	_, notes, err = n.Run(ctx, "query", "timers", "proof", alice+"/"+id, "--absent", "--height", fmt.Sprint(at))
	require.Error(t, err)
	require.Contains(t, string(notes), "the timer was delivered at height")

	headers := map[string][]byte{
		delivered: headerOf(ctx, t, other, delivered),
		absent:    headerOf(ctx, t, n, absent),
	}
	require.NoError(t, n.WaitHeight(ctx, at+45))
	_, notes, err = n.Run(ctx, "query", "timers", "proof", alice+"/"+id, "--height", fmt.Sprint(at))
	require.Error(t, err)
	require.Contains(t, string(notes), "not all its receipts are kept: all are kept of heights above")
	none := strings.Repeat("0", 64)
	_, notes, err = n.Run(ctx, "query", "timers", "proof", alice+"/"+none, "--absent", "--height", fmt.Sprint(at))
	require.Error(t, err)
	require.Contains(t, string(notes), "not all its receipts are kept: all are kept of heights above")
	n.Stop()
	other.Stop()

	for file, text := range headers {
		require.NoError(t, os.WriteFile(header, text, 0o600))
		var shown struct {
			TimerID   string `json:"timer_id"`
			Height    string
			Delivered bool
			Receipt   struct{ Success bool }
		}
		cli(ctx, t, n, &shown, "query", "timers", "verify", file, "--header", header)
		require.Equal(t, id, shown.TimerID)
		require.Equal(t, file == delivered, shown.Delivered)
		require.Equal(t, file == delivered, shown.Receipt.Success)
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Less(t, len(raw), proof.MaxDeliveryBytes)
		t.Logf("%s: %d bytes", filepath.Base(file), len(raw))

		require.NoError(t, os.WriteFile(header, []byte(strings.Replace(string(text), node.ChainID, "other-1", 1)), 0o600))
		_, notes, err := n.Run(ctx, "query", "timers", "verify", file, "--header", header)
		require.Error(t, err)
		require.Contains(t, string(notes), `the header of "other-1"`)
	}
	require.NoError(t, os.WriteFile(header, headers[absent], 0o600))
	_, notes, err = n.Run(ctx, "query", "timers", "verify", delivered, "--header", header)
	require.Error(t, err)
	require.Contains(t, string(notes), "the proof is for the header of height")
}

// headerOf is what a node answers of the header that a proof names.
func headerOf(ctx context.Context, t *testing.T, n *node.Node, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := proof.Parse(text)
	require.NoError(t, err)
	require.NoError(t, n.WaitHeight(ctx, int64(file.HeaderHeight)))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/commit?height=%d", n.RPC, file.HeaderHeight), http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer
}
