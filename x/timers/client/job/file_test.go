package job

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long")
	require.NoError(t, os.WriteFile(path, make([]byte, maxFileBytes+1), 0o600))
	_, err := readFile(path, nil)
	require.ErrorContains(t, err, "is longer than")
	require.NoError(t, os.Truncate(path, maxFileBytes))
	content, err := readFile(path, nil)
	require.NoError(t, err)
	require.Len(t, content, maxFileBytes)
	content, err = readFile("-", strings.NewReader("in"))
	require.NoError(t, err)
	require.Equal(t, "in", string(content))
	_, err = readFile(t.TempDir(), nil)
	require.Error(t, err)
}
