// Package admins says who may schedule for an actor besides the actor itself (x/timers/README.md, "1.3 Actor").
package admins

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Runtime is a types.Runtime whose actors may have admins, who can replace what an actor does. So they may schedule calls
// of it, for which they pay.
type Runtime interface {
	types.Runtime
	// Admin is the admin of the actor now, empty if it has none. Like all of a runtime it reads state through ctx alone.
	Admin(ctx context.Context, actor sdk.AccAddress) sdk.AccAddress
}

// IsAdmin reports whether an address is the admin of an actor now.
func IsAdmin(ctx context.Context, router types.Router, actor, address sdk.AccAddress) bool {
	runtime, err := router.Route(ctx, actor)
	if err != nil {
		return false
	}
	administered, ok := runtime.(Runtime)
	return ok && !address.Empty() && administered.Admin(ctx, actor).Equals(address)
}
