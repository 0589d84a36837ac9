package calendar_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// At height 12 a block reads what is due in pages of two. Where one page ends, the next begins. What is not due is not
// read.
func ExampleRead() {
	timers := []calendar.Entry[string]{
		{Key: calendar.Key{Due: 10, Seq: 2}, Value: "backup"},
		{Key: calendar.Key{Due: 12, Seq: 1}, Value: "rent"},
		{Key: calendar.Key{Due: 12, Seq: 3}, Value: "salary"},
		{Key: calendar.Key{Due: 20, Seq: 4}, Value: "report"},
	}
	var from calendar.Key
	for complete := false; !complete; {
		room := 2
		page, next, last, err := calendar.Read(12, func(calendar.Entry[string]) calendar.Verdict {
			if room == 0 {
				return calendar.Stop
			}
			room--
			return calendar.Take
		}, func(fn func(calendar.Entry[string]) bool) error {
			for _, timer := range timers {
				if timer.Key.Compare(from) >= 0 && !fn(timer) {
					break
				}
			}
			return nil
		})
		if err != nil {
			panic(err)
		}
		for _, entry := range page {
			fmt.Println(entry.Value, "due at", entry.Key.Due)
		}
		fmt.Println("complete:", last)
		from, complete = next, last
	}
	// Output:
	// backup due at 10
	// rent due at 12
	// complete: false
	// salary due at 12
	// complete: true
}
