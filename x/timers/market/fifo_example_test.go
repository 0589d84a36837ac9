package market_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// The timer that became due first fires first. Of two that became due at one height, the one inserted first does.
func ExampleFIFO_Order() {
	candidates := []market.Candidate{
		{ID: "inserted later", Due: 7, Seq: 3},
		{ID: "due later", Due: 8, Seq: 1},
		{ID: "first", Due: 7, Seq: 2},
	}
	for _, i := range (market.FIFO{}).Order(market.Prices{}, candidates) {
		fmt.Println(candidates[i].ID)
	}
	// Output:
	// first
	// inserted later
	// due later
}
