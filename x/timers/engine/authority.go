package engine

import (
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// Authority is who may send the Sys messages. Its timers have the reserved share unless the config names other actors.
type Authority struct {
	// Wired is the bech32 address that holds where the chain's consensus params name none.
	Wired string
	// Named is the one that they name, empty if they name none. It is nil where they can't: before SDK 0.54.
	Named func(sdk.Context) string
}

// In is the bech32 address of the authority now. One that consensus params name replaces the wired one, whatever it is: if it
// is no address of this chain, nobody is the authority.
func (a *Authority) In(ctx sdk.Context) string {
	if a.Named != nil {
		if named := a.Named(ctx); named != "" {
			return named
		}
	}
	return a.Wired
}
