package schedule_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// At height 12 a block reads what is due in pages of two. Where one page ends, the next begins. What is not due is not
// read.
func ExampleReadDue() {
	timers := []schedule.Entry[string]{
		{Key: schedule.Key{Due: 10, Seq: 2}, Value: "backup"},
		{Key: schedule.Key{Due: 12, Seq: 1}, Value: "rent"},
		{Key: schedule.Key{Due: 12, Seq: 3}, Value: "salary"},
		{Key: schedule.Key{Due: 20, Seq: 4}, Value: "report"},
	}
	var from schedule.Key
	for complete := false; !complete; {
		room := 2
		page, next, last, err := schedule.ReadDue(12, func(schedule.Entry[string]) schedule.Decision {
			if room == 0 {
				return schedule.Stop
			}
			room--
			return schedule.Take
		}, func(fn func(schedule.Entry[string]) bool) error {
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
