package types

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// AdminRuntime is a Runtime whose actors may have admins, who can replace what an actor does. So they may schedule calls
// of it, for which they pay (x/timers/README.md, "1.3 Actor").
type AdminRuntime interface {
	Runtime
	// Admin is the admin of the actor now, empty if it has none. Like all of a runtime it reads state through ctx alone.
	Admin(ctx context.Context, actor sdk.AccAddress) sdk.AccAddress
}

// IsAdmin reports whether an address is the admin of an actor now.
func IsAdmin(ctx context.Context, router Router, actor, address sdk.AccAddress) bool {
	runtime, err := router.Route(ctx, actor)
	if err != nil {
		return false
	}
	administered, ok := runtime.(AdminRuntime)
	return ok && !address.Empty() && administered.Admin(ctx, actor).Equals(address)
}
