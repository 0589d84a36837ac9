// Package guests lists the policies that come with the module and are not its own: auction, score and tip. A chain that imports
// this package and passes them to keeper.WithPolicy can select them; another one does not link them.
package guests

import (
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/registry"
	"github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
)

// All returns their constructors. The order is that in which they keep state in a genesis file.
func All() []registry.Constructor { return []registry.Constructor{auction.New, score.New, tip.New} }
