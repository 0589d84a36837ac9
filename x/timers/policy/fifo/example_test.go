package fifo_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/fifo"
)

// The timer that became due first fires first. Of two that became due at one height, the one inserted first does.
func ExampleRules_Order() {
	candidates := []policy.Candidate{
		{ID: "inserted later", Due: 7, Seq: 3},
		{ID: "due later", Due: 8, Seq: 1},
		{ID: "first", Due: 7, Seq: 2},
	}
	for _, i := range (fifo.Rules{}).Order(policy.Prices{}, candidates) {
		fmt.Println(candidates[i].ID)
	}
	// Output:
	// first
	// inserted later
	// due later
}
