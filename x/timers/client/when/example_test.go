package when_test

import (
	"fmt"
	"time"

	"github.com/cosmos-timers/timers/x/timers/client/when"
)

// The last day of each month in Berlin, and what a chain is told of it.
func ExampleParse() {
	zone, err := when.Zone("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	plan, err := when.Parse("month@last 18:00", zone, now, now.AddDate(1, 0, 0))
	if err != nil {
		panic(err)
	}
	fmt.Println(when.Words(plan.Calendar, "Europe/Berlin"))
	fmt.Println(plan.Calendar.OffsetMinutes, plan.Calendar.Transitions)
	fmt.Println("right until", plan.Until.UTC())
	// Output:
	// on the last day of each month at 18:00 Europe/Berlin
	// 60 [{1774746000 120} {1792890000 60}]
	// right until 2027-03-28 01:00:00 +0000 UTC
}
