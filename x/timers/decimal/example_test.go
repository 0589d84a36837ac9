package decimal_test

import (
	"encoding/json"
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
)

// What a person writes is what is signed and shown.
func ExampleParse() {
	price, err := decimal.Parse("0.0107")
	fmt.Println(err)
	text, err := json.Marshal([]decimal.Dec{price, decimal.Of(math.LegacyNewDecWithPrec(25, 1))})
	fmt.Println(string(text), err)
	// Output:
	// <nil>
	// ["0.0107","2.5"] <nil>
}
