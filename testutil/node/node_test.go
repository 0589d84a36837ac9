package node

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgressBoundsNoWork(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	p := progress{patience: time.Minute}
	// A node that takes long to start, and then makes a block every 59 seconds.
	require.NoError(t, p.see(0, now))
	require.NoError(t, p.see(0, now.Add(59*time.Second)))
	for height := range int64(100) {
		now = now.Add(59 * time.Second)
		require.NoError(t, p.see(height+1, now))
		require.NoError(t, p.see(0, now.Add(time.Second)), "one question without an answer is no lost block")
	}
	// That is not progress: the same height, one below it, and no answer.
	require.NoError(t, p.see(100, now.Add(40*time.Second)))
	require.NoError(t, p.see(99, now.Add(60*time.Second)))
	require.ErrorContains(t, p.see(0, now.Add(61*time.Second)), "no block after height 100 for 1m1s")
	require.NoError(t, p.see(101, now.Add(62*time.Second)))
}

// fakeNode answers as a node that is at the height which the function returns, and has one transaction at height 7.
func fakeNode(t *testing.T, height func() int64) *Node {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/abci_info":
			fmt.Fprintf(w, `{"result":{"response":{"last_block_height":"%d"}}}`, height())
		case r.URL.Path == "/status":
			fmt.Fprintf(w, `{"result":{"sync_info":{"catching_up":%t}}}`, height() < 5)
		case strings.Contains(r.URL.RawQuery, "0xKNOWN") && height() >= 7:
			fmt.Fprint(w, `{"result":{"height":"7","tx_result":{"code":3,"codespace":"timers"}}}`)
		default:
			fmt.Fprint(w, `{"error":{"data":"not found"}}`)
		}
	}))
	t.Cleanup(server.Close)
	return &Node{Name: "fake", RPC: server.URL, Home: t.TempDir()}
}

func TestWaitingEndsWithTheHeightOrWithAStuckChain(t *testing.T) {
	var at atomic.Int64
	n := fakeNode(t, func() int64 { return at.Add(1) })
	require.NoError(t, n.WaitHeight(t.Context(), 5))
	tx, err := n.waitTx(t.Context(), "KNOWN")
	require.NoError(t, err)
	require.Equal(t, TxResult{Hash: "KNOWN", Height: 7, Code: 3, Codespace: "timers", Events: []Event{}}, tx)

	stuck := fakeNode(t, func() int64 { return 6 })
	stuck.patience = 200 * time.Millisecond
	require.ErrorContains(t, stuck.WaitHeight(t.Context(), 7), "fake: waiting for height 7: no block after height 6")
	_, err = stuck.waitTx(t.Context(), "KNOWN")
	require.ErrorContains(t, err, "waiting for transaction KNOWN: no block after height 6")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, stuck.WaitHeight(ctx, 7), context.Canceled)
}

func TestATransactionThatNoBlockTakesIsGivenUp(t *testing.T) {
	var at atomic.Int64
	n := fakeNode(t, func() int64 { return at.Add(60) })
	_, err := n.waitTx(t.Context(), "LOST")
	require.ErrorContains(t, err, "transaction LOST is in none of the blocks")
}

func TestNode_TakesTransactionsAfterABlock(t *testing.T) {
	var at atomic.Int64
	n := fakeNode(t, func() int64 { return at.Add(1) / 3 })
	require.NoError(t, n.waitTaking(t.Context()))
	require.GreaterOrEqual(t, at.Load()/3, int64(5), "it had caught up")

	restarted := fakeNode(t, func() int64 { return 9 })
	restarted.patience = 200 * time.Millisecond
	_, err := restarted.Tx(t.Context(), "alice", "bank", "send")
	require.ErrorContains(t, err, "fake: waiting until it takes transactions: no block after height 9")
	_, err = restarted.Send(t.Context(), "alice", 1)
	require.ErrorContains(t, err, "fake: waiting until it takes transactions: no block after height 9")
}

func TestWaitingEndsWithTheProcess(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "timerd")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	n := &Node{Name: "short", RPC: "http://127.0.0.1:1", Home: t.TempDir(), binary: binary}
	require.NoError(t, n.Start())
	require.ErrorContains(t, n.WaitHeight(t.Context(), 1), "the process ended; see "+n.LogFile())
}

func TestNetworksDoNotShareAPort(t *testing.T) {
	var (
		wait    sync.WaitGroup
		claimed = make([]*ports, 16)
		errs    = make([]error, len(claimed))
	)
	for i := range claimed {
		wait.Go(func() { claimed[i], errs[i] = claimPorts(1 + i%4) })
	}
	wait.Wait()
	owner := map[int]int{}
	for i, p := range claimed {
		require.NoError(t, errs[i])
		for port := p.base; port < p.base+(1+i%4)*portsPerNode; port++ {
			other, taken := owner[port]
			require.False(t, taken, "port %d is of network %d and of network %d", port, other, i)
			owner[port] = i
		}
		require.Nil(t, claimAt(p.base, 1), "it is claimed")
	}
	for _, p := range claimed {
		p.release()
	}
}

func TestPortsInUseAreLeftAlone(t *testing.T) {
	p, err := claimPorts(2)
	require.NoError(t, err)
	p.release()
	// One of the second node's, which no guard shows.
	used, err := listen(p.base + portsPerNode + 3)
	require.NoError(t, err)
	require.Nil(t, claimAt(p.base, 2))
	require.NoError(t, used.Close())
}

func TestConfigureSetsOneOptionOfOneSection(t *testing.T) {
	n := &Node{Home: t.TempDir()}
	path := filepath.Join(n.Home, "config", "app.toml")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("enable = 1\n# enable = 2\n[a]\nenable=2\n[a.b]\nenable = 3 # 4\nenabled = 5\n"), 0o600))
	require.NoError(t, n.Configure("app.toml", "a", "enable", `"x"`))
	require.NoError(t, n.Configure("app.toml", "", "enable", "true"))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "enable = true\n# enable = 2\n[a]\nenable = \"x\"\n[a.b]\nenable = 3 # 4\nenabled = 5\n", string(raw))
	require.ErrorContains(t, n.Configure("app.toml", "b", "enable", "true"), `no option "enable" in section "b"`)
	require.Error(t, n.Configure("none.toml", "b", "enable", "true"))
}
