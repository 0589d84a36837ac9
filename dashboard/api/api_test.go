package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	codectestutil "github.com/cosmos/cosmos-sdk/codec/testutil"

	"github.com/cosmos-timers/timers/dashboard/api"
	"github.com/cosmos-timers/timers/dashboard/store"
)

// served starts a server over a store with so many blocks, each with one event whose strings are hostile.
func served(t *testing.T, blocks int) (*httptest.Server, *api.Server) {
	t.Helper()
	ctx := context.Background()
	history, err := store.Open(ctx, filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = history.Close() })
	for height := range int64(blocks) {
		require.NoError(t, history.Put(ctx, &store.Block{Height: height + 1, UsedSize: height, Basefee: 0.5}, []store.Event{{
			Kind: "fired", Timer: strings.Repeat("a", 64), Actor: "alice", Paid: "2", Why: hostile, Body: fmt.Sprintf("{%q:%q}", "name", hostile),
		}}))
	}
	s := &api.Server{Store: history, Codec: codectestutil.CodecOptions{}.NewCodec()}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server, s
}

const hostile = `</script><img src=x onerror="alert(1)">`

func ask(t *testing.T, server *httptest.Server, method, path, host string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, server.URL+path, http.NoBody)
	require.NoError(t, err)
	if host != "" {
		request.Host = host
	}
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(body)
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	server, _ := served(t, 1)
	for _, path := range []string{"/", "/page.js", "/style.css", "/api/status", "/nothing"} {
		response, _ := ask(t, server, http.MethodGet, path, "")
		policy := response.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'", path)
		require.Contains(t, policy, "script-src 'self';", path)
		require.NotContains(t, policy, "unsafe", path)
		require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"), path)
	}
}

// TestThePageHasNoInlineCode: the policy above would block it.
func TestThePageHasNoInlineCode(t *testing.T) {
	server, _ := served(t, 0)
	_, html := ask(t, server, http.MethodGet, "/", "")
	require.Contains(t, html, `<script src="page.js" type="module"></script>`)
	require.Equal(t, 1, strings.Count(html, "<script"))
	for _, forbidden := range []string{"style=", "onclick", "onload", "javascript:", "http://", "https://"} {
		require.NotContains(t, html, forbidden)
	}
	for _, file := range []string{"/page.js", "/parts.js", "/charts.js"} {
		response, script := ask(t, server, http.MethodGet, file, "")
		require.Equal(t, http.StatusOK, response.StatusCode, file)
		for _, forbidden := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
			require.NotContains(t, script, forbidden, "%s: text of the chain must not become markup", file)
		}
	}
}

// TestForeignNamesAreRefused: a page of another site must not read the dashboard through a name that it makes point here.
func TestForeignNamesAreRefused(t *testing.T) {
	server, s := served(t, 1)
	for host, want := range map[string]int{
		"evil.example": 421, "evil.example:8090": 421, "10.0.0.1": 421, "localhost.evil.example": 421,
		"localhost": 200, "localhost:1": 200, "127.0.0.1:8090": 200, "[::1]:8090": 200, "": 200,
	} {
		response, _ := ask(t, server, http.MethodGet, "/api/status", host)
		require.Equal(t, want, response.StatusCode, host)
	}
	s.Hosts = []string{"timers.example"}
	response, _ := ask(t, server, http.MethodGet, "/api/status", "timers.example")
	require.Equal(t, 200, response.StatusCode)
}

// TestStatus_NamesTheWallet that the page links to.
func TestStatus_NamesTheWallet(t *testing.T) {
	server, s := served(t, 1)
	s.Wallet = "https://wallet.example/?rpc=/rpc&rest=/rest"
	_, body := ask(t, server, http.MethodGet, "/api/status", "")
	var status struct{ Wallet string }
	require.NoError(t, json.Unmarshal([]byte(body), &status))
	require.Equal(t, s.Wallet, status.Wallet)
}

func TestItOnlyReads(t *testing.T) {
	server, _ := served(t, 1)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		response, _ := ask(t, server, method, "/api/status", "")
		require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode, method)
	}
}

func TestStringsOfTheChainAreEscaped(t *testing.T) {
	server, _ := served(t, 1)
	response, body := ask(t, server, http.MethodGet, "/api/events", "")
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.NotContains(t, body, "<")
	var events []store.Event
	require.NoError(t, json.Unmarshal([]byte(body), &events))
	require.Equal(t, hostile, events[0].Why)
}

func TestAnswersAreBounded(t *testing.T) {
	server, _ := served(t, 900)
	var points []store.Point
	_, body := ask(t, server, http.MethodGet, "/api/series?blocks=1000000", "")
	require.NoError(t, json.Unmarshal([]byte(body), &points))
	require.LessOrEqual(t, len(points), 401)
	var fired int64
	for _, p := range points {
		fired += p.Blocks
	}
	require.Equal(t, int64(900), fired, "no block is missing")
	var events []store.Event
	_, body = ask(t, server, http.MethodGet, "/api/events", "")
	require.NoError(t, json.Unmarshal([]byte(body), &events))
	require.Len(t, events, 100)
	for _, path := range []string{
		"series?blocks=0", "series?blocks=1000001", "series?blocks=x", "events?before=-1", "timer?id=abc", "timer?id=%27OR%201=1",
		"timer?actor=UPPER&id=" + strings.Repeat("a", 64), "actor?actor=" + strings.Repeat("a", 129), "actor", "estimate?gas=1", "calendar?span=0",
	} {
		response, body := ask(t, server, http.MethodGet, "/api/"+path, "")
		require.Equal(t, http.StatusBadRequest, response.StatusCode, "%s: %s", path, body)
	}
}

func TestBlocksAreStreamed(t *testing.T) {
	server, s := served(t, 0)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/stream", http.NoBody)
	require.NoError(t, err)
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	require.True(t, lines.Scan())
	require.Equal(t, ": hello", lines.Text(), "it is heard from here on")
	s.Publish(&store.Block{Height: 6}, nil)
	require.True(t, lines.Scan())
	for lines.Text() == "" {
		require.True(t, lines.Scan())
	}
	require.Contains(t, lines.Text(), `"events":[]`)
	s.Publish(&store.Block{Height: 7}, make([]store.Event, 300))
	for lines.Scan() {
		if data, found := strings.CutPrefix(lines.Text(), "data: "); found {
			var message struct {
				Block  store.Block   `json:"block"`
				Events []store.Event `json:"events"`
			}
			require.NoError(t, json.Unmarshal([]byte(data), &message))
			require.Equal(t, int64(7), message.Block.Height)
			require.Len(t, message.Events, 100, "a large block is cut")
			return
		}
	}
	t.Fatal("the stream ended")
}
