package contracts

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommittedContractsAreThoseOfTheChecksums(t *testing.T) {
	got := fmt.Sprintf("%x  heartbeat.wasm\n%x  hostile.wasm\n%x  listener.wasm\n%x  witness.wasm\n",
		sha256.Sum256(Heartbeat), sha256.Sum256(Hostile), sha256.Sum256(Listener), sha256.Sum256(Witness))
	require.Equal(t, checksums, got, "after a change of src/, run testutil/contracts/build.sh")
}
