package dashboard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOptions_URLsAreOfHTTP: the page links to one, and alerts are posted to the other.
func TestOptions_URLsAreOfHTTP(t *testing.T) {
	read := func(flag, value string) error {
		cmd := NewCommand()
		require.NoError(t, cmd.Flags().Set(flag, value))
		_, err := readOptions(cmd, "home")
		return err
	}
	for _, flag := range []string{flagWebhook, flagWallet} {
		for _, url := range []string{"", "http://127.0.0.1:8000/", "https://wallet.example/?rpc=/rpc&rest=/rest"} {
			require.NoError(t, read(flag, url))
		}
		for _, url := range []string{
			"javascript:alert(1)", "httpx://a", "wallet.example", "http://", "https:///path", "http://a b", "data:text/html,x",
		} {
			require.ErrorContains(t, read(flag, url), "--"+flag+" \"", url)
		}
	}
}
