package contracts

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContracts_AreThoseOfTheChecksums(t *testing.T) {
	var got strings.Builder
	for _, contract := range []struct {
		name string
		code []byte
	}{
		{"auction", Auction},
		{"council", Council},
		{"dca", DCA},
		{"heartbeat", Heartbeat},
		{"hostile", Hostile},
		{"keeper", Keeper},
		{"listener", Listener},
		{"pool", Pool},
		{"subscription", Subscription},
		{"switch", Switch},
		{"treasury", Treasury},
		{"vault", Vault},
		{"vesting", Vesting},
	} {
		fmt.Fprintf(&got, "%x  %s.wasm\n", sha256.Sum256(contract.code), contract.name)
	}
	require.Equal(t, checksums, got.String(), "after a change of sources, run clients/rust/build.sh")
}
