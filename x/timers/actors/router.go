package actors

import (
	"context"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Router asks its runtimes in order which of them serves an actor. A contract or a module is also an account, so the
// account runtime is registered last.
type Router struct{ runtimes []types.Runtime }

var _ types.Router = (*Router)(nil)

// NewRouter returns a router over the runtimes, most specific first.
func NewRouter(runtimes ...types.Runtime) *Router { return &Router{runtimes} }

// Prepend puts runtimes before those that the router has, while a chain is wired. Of two that serve an actor, the first is
// asked.
func (r *Router) Prepend(runtimes ...types.Runtime) {
	r.runtimes = slices.Concat(runtimes, r.runtimes)
}

// Route implements types.Router: the first runtime that serves the actor, or types.ErrUnknownActor.
func (r *Router) Route(ctx context.Context, actor sdk.AccAddress) (types.Runtime, error) {
	for _, runtime := range r.runtimes {
		if runtime.Serves(ctx, actor) {
			return runtime, nil
		}
	}
	return nil, types.ErrUnknownActor.Wrapf("there is no account or module %s", actor)
}
