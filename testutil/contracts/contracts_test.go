package contracts

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommittedContractsAreThoseOfTheChecksums(t *testing.T) {
	var got strings.Builder
	for _, contract := range []struct {
		name string
		code []byte
	}{
		{"council", Council}, {"heartbeat", Heartbeat}, {"hostile", Hostile}, {"listener", Listener}, {"treasury", Treasury}, {"witness", Witness},
	} {
		fmt.Fprintf(&got, "%x  %s.wasm\n", sha256.Sum256(contract.code), contract.name)
	}
	require.Equal(t, checksums, got.String(), "after a change of src/, run testutil/contracts/build.sh")
}
