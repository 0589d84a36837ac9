package envelope_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/envelope"
)

// A payload that is a JSON object of exactly these two members names the handler. Any other is delivered as it is.
func ExampleUnwrap() {
	handler, payload, ok := envelope.Unwrap([]byte(`{"_handler": "tick", "_payload": "eyJuIjogMX0="}`))
	fmt.Println(ok, handler, string(payload))
	_, _, ok = envelope.Unwrap([]byte(`{"n": 1}`))
	fmt.Println(ok)
	// Output:
	// true tick {"n": 1}
	// false
}
