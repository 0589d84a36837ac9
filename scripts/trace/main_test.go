package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContributing_StatesTheLimits: the table of CONTRIBUTING.md has the limits.
func TestContributing_StatesTheLimits(t *testing.T) {
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	require.NoError(t, err)
	for _, p := range passes {
		require.Contains(t, string(page), fmt.Sprintf("| %s | %d | %d | %d | %d |\n", p.what, p.limit.functions, p.limit.lines, p.limit.files, p.limit.packages))
	}
}
