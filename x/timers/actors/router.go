// Package actors holds the router and the runtimes that serve actors: accounts, contracts and Go modules
// (x/timers/README.md, Actor). A chain registers those that it uses when it wires the module.
package actors

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Router asks its runtimes in order which of them serves an actor. A contract or a module is also an account, so the
// account runtime is registered last.
type Router struct{ runtimes []types.Runtime }

var _ types.Router = (*Router)(nil)

// NewRouter returns a router over the runtimes, most specific first.
func NewRouter(runtimes ...types.Runtime) *Router { return &Router{runtimes} }

// Route implements types.Router.
func (r *Router) Route(ctx context.Context, actor sdk.AccAddress) (types.Runtime, error) {
	for _, runtime := range r.runtimes {
		if runtime.Serves(ctx, actor) {
			return runtime, nil
		}
	}
	return nil, types.ErrUnknownActor.Wrapf("there is no account or module %s", actor)
}
