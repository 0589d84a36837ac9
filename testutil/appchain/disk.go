package appchain

import (
	"os"
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/app"
)

// disk is what an application leaves behind when its process ends: the database, and the home with the contracts' code.
type disk struct {
	db   dbm.DB
	home string
}

func newDisk(tb testing.TB) disk {
	tb.Helper()
	return disk{dbm.NewMemDB(), tb.TempDir()}
}

// copied is another disk with the same data.
func (d disk) copied(tb testing.TB) disk {
	tb.Helper()
	other := newDisk(tb)
	entries, err := d.db.Iterator(nil, nil)
	require.NoError(tb, err)
	for ; entries.Valid(); entries.Next() {
		require.NoError(tb, other.db.Set(entries.Key(), entries.Value()))
	}
	require.NoError(tb, entries.Close())
	require.NoError(tb, os.CopyFS(other.home, os.DirFS(d.home)))
	return other
}

// SwapBinary stops the application and continues with another one on what it left, as a node does whose operator starts a
// new binary. The new one is prepared with what the old one did not know.
func (c *Chain) SwapBinary(prepare func(*app.App)) {
	c.tb.Helper()
	c.disk = c.disk.copied(c.tb)
	height := c.App.LastBlockHeight()
	c.App = newApp(c.disk)
	require.Equal(c.tb, height, c.App.LastBlockHeight())
	prepare(c.App)
}

// TryBlock is what the application answers to the next block, without transactions; the block is not committed.
func (c *Chain) TryBlock() error {
	c.tb.Helper()
	_, err := c.App.FinalizeBlock(c.nextRequest())
	return err
}

// Image is a copy of what the chain's application has on disk, for applications that are made otherwise than here.
func (c *Chain) Image(tb testing.TB) (db dbm.DB, home string) {
	tb.Helper()
	image := c.disk.copied(tb)
	return image.db, image.home
}
