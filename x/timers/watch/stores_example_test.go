package watch_test

import (
	"fmt"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/watch"
)

// A chain makes the store of x/bank watchable. People then name its keys in words, and triggers hold the bytes.
func ExampleBank() {
	keys := storetypes.NewKVStoreKeys("timers", "bank")
	watcher := watch.New(keys["timers"])
	addresses := address.NewBech32Codec("cosmos")
	// The keeper of x/bank is made with the service that is returned.
	_ = watcher.Service(runtime.NewKVStoreService(keys["bank"]), watch.Bank(addresses))

	alice := sdk.AccAddress("alice_______________")
	balance, err := watcher.Parse("bank:balance:" + alice.String() + ":stake")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %q\n", balance.Store, balance.Prefix)
	for _, form := range watcher.Watchable()[0].Forms {
		fmt.Printf("%s: %s\n", form.Usage, form.Watches)
	}
	// Output:
	// bank "\x02\x14alice_______________stake"
	// bank:balances:ADDRESS: all balances of an address
	// bank:balance:ADDRESS:DENOM: the balance of an address in one denom
	// bank:supply:DENOM: the supply of a denom
}
