package bench

import dbm "github.com/cosmos/cosmos-db"

// dropDB is a database in memory that can be let go of: IAVL never ends its pruning of a store that it opened, which holds
// on to the database, and a long run makes dozens of chains.
type dropDB struct{ dbm.DB }

func newDropDB() *dropDB { return &dropDB{dbm.NewMemDB()} }

// drop forgets what was written. Nobody may use the chain any more.
func (d *dropDB) drop() { d.DB = dbm.NewMemDB() }
