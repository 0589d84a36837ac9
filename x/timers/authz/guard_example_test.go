package authz_test

import (
	"fmt"

	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/types/module"
	authzmodule "github.com/cosmos/cosmos-sdk/x/authz/module"

	"github.com/cosmos-timers/timers/x/timers/authz"
)

// A chain's module manager gets the guarded module in the place of x/authz's own, under the same name.
func ExampleNewAppModule() {
	var inner authzmodule.AppModule // authzmodule.NewAppModule(...) with the chain's keepers
	manager := module.NewManager(authz.NewAppModule(inner, address.NewBech32Codec("cosmos")))
	fmt.Println(manager.ModuleNames())
	// Output: [authz]
}
