package score_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/score"
)

// At these weights a bid of 100 is worth a block of waiting. Of equal scores each actor gets one turn before any gets a
// second.
func ExampleRules_Order() {
	rules := score.Rules{Age: math.LegacyOneDec(), Bid: math.LegacyNewDecWithPrec(1, 2), Rank: math.LegacyZeroDec()}
	candidates := []market.Candidate{
		{ID: "first of a", Due: 9, Seq: 1, Actor: "a", Unit: "a"},
		{ID: "second of a", Due: 9, Seq: 2, Actor: "a", Unit: "a"},
		{ID: "first of b", Due: 9, Seq: 3, Actor: "b", Unit: "b"},
		{ID: "due later, bids 200", Due: 10, Seq: 4, Actor: "c", Unit: "c", Ask: market.Ask{Price: math.NewInt(200)}},
	}
	for _, i := range rules.Order(market.Prices{Height: 12}, candidates) {
		fmt.Println(candidates[i].ID)
	}
	// Output:
	// due later, bids 200
	// first of a
	// first of b
	// second of a
}
