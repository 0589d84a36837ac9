package plain_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
)

// TestApp_NamesTheBinary: as its build does, and without that as it is called; never "<appd>".
func TestApp_NamesTheBinary(t *testing.T) {
	stated := version.AppName
	t.Cleanup(func() { version.AppName = stated })
	version.AppName = "chaind"
	require.Equal(t, "chaind", plain.App())
	version.AppName = "<appd>"
	require.Equal(t, filepath.Base(os.Args[0]), plain.App())
}
