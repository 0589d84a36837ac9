package app

import (
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// wireWatcher makes the watcher of the chain. A store that its keeper opens through watcher.Service can be watched by timers:
// the bank's, staking's and that of contracts are, declared in x/timers/watch/stores.go. A store of another module is made
// watchable in the same way, by declaring its name and which prefixes of its keys are of use where its keeper is wired.
func (app *App) wireWatcher() *watch.Watcher {
	return watch.New(app.keys[timerstypes.StoreKey])
}
