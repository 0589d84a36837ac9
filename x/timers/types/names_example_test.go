package types_test

import (
	"fmt"

	"github.com/cosmos/cosmos-sdk/codec/address"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// A message names a timer by the address of its actor and its id.
func ExampleAddresses_ParseName() {
	addresses := types.NewAddresses(address.NewBech32Codec("cosmos"))
	id := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	actor, key, err := addresses.ParseName("actor", "cosmos1qyqszqgpqyqszqgpqyqszqgpqyqszqgpjnp7du", id)
	fmt.Println(len(actor), len(key), err)
	_, _, err = addresses.ParseName("actor", "osmo1qyqszqgp", id)
	fmt.Println(err != nil)
	// Output:
	// 20 32 <nil>
	// true
}
