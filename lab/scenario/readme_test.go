package scenario

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme_NamesTheWordsOfTheFile: each kind of op and of trigger, and what a file or an occurrence may state of times.
func TestReadme_NamesTheWordsOfTheFile(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	others := []string{"start_time", "block_seconds", "missed", "window", "jitter", "resume_at", "seconds", "count", "expires_time"}
	for _, word := range slices.Concat(blockOps, triggerNames, others) {
		require.Contains(t, string(page), "`"+word+"`")
	}
}
