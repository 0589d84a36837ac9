package main

import (
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"
)

// What help and documents name is what the binary has for the application; CometBFT has goleveldb, and others by tags of a build.
func TestStart_NamesTheDatabasesThatItHas(t *testing.T) {
	start, _, err := newRootCmd(t.TempDir()).Find([]string{"start"})
	require.NoError(t, err)
	usage := start.Flags().Lookup("db_backend").Usage
	for _, name := range []string{"goleveldb", "pebbledb", "cleveldb", "boltdb", "rocksdb", "badgerdb"} {
		_, err = dbm.NewDB("x", dbm.BackendType(name), t.TempDir())
		if err == nil {
			require.Contains(t, usage, name)
		} else {
			require.NotContains(t, usage, name)
		}
	}
}
