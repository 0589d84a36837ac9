// Package guests lists the policies that come with the module and are not its own: auction, score and tip. A chain that imports
// this package and passes them to keeper.WithPolicy can select them; another one does not link them. Bidding agents, which price
// timers under eip1559 and tip, are the guest of package agents.
package guests

import (
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
)

// RegisterInterfaces makes their messages known to a registry, for tools that decode state without a keeper, which does so itself.
func RegisterInterfaces(reg codectypes.InterfaceRegistry) {
	for _, p := range []policies.Policy{&auction.Policy{}, &score.Policy{}, &tip.Policy{}} {
		policies.RegisterInterfaces(reg, p)
	}
}

// All returns their constructors. The order is that in which they keep state in a genesis file.
func All() []policies.Constructor { return []policies.Constructor{auction.New, score.New, tip.New} }
