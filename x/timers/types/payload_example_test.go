package types_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// A payload that is a JSON object of exactly these two members names the handler. Any other is delivered as it is.
func ExampleUnwrapPayload() {
	handler, payload, ok := types.UnwrapPayload([]byte(`{"_handler": "tick", "_payload": "eyJuIjogMX0="}`))
	fmt.Println(ok, handler, string(payload))
	_, _, ok = types.UnwrapPayload([]byte(`{"n": 1}`))
	fmt.Println(ok)
	// Output:
	// true tick {"n": 1}
	// false
}
