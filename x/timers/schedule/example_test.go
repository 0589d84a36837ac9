package schedule_test

import (
	"fmt"
	"time"

	"github.com/cosmos-timers/timers/x/timers/schedule"
)

func utc(second int64) string { return time.Unix(second, 0).UTC().Format("2006-01-02 15:04") }

func second(text string) int64 {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t.Unix()
}

// Every day at 02:30 in Berlin, in the nights of 2026 in which clocks change: on March 29 they leave 02:30 out, and are set
// from 02:00 to 03:00 at 01:00 UTC; on October 25 they show it twice.
func ExampleCalendar_Next() {
	c := schedule.Calendar{
		Rule: schedule.Cron{
			Minutes: 1 << 30, Hours: 1 << 2, Days: schedule.AllDays, Months: schedule.AllMonths, Weekdays: schedule.AllWeekdays,
		},
		OffsetMinutes: 60,
		Transitions: []schedule.Transition{
			{From: second("2026-03-29 01:00"), OffsetMinutes: 120},
			{From: second("2026-10-25 01:00"), OffsetMinutes: 60},
		},
	}
	for _, from := range []string{"2026-03-28 00:00", "2026-10-24 00:00"} {
		after := second(from)
		for range 3 {
			after, _ = c.Next(after, schedule.MaxTime)
			fmt.Println(utc(after))
		}
	}
	// Output:
	// 2026-03-28 01:30
	// 2026-03-29 01:00
	// 2026-03-30 00:30
	// 2026-10-24 00:30
	// 2026-10-25 00:30
	// 2026-10-26 01:30
}

// A timer for every 100 heights from 1,000 on fired last at 1,100. The chain's lane was full until 1,450.
func ExampleResolve() {
	every := schedule.Interval{First: 1000, Every: 100}
	for _, c := range []struct {
		name  string
		terms schedule.Terms[uint64]
	}{
		{"once after an outage", schedule.Terms[uint64]{Missed: schedule.Latest, End: 2000}},
		{"all of them", schedule.Terms[uint64]{Missed: schedule.Each, End: 2000}},
		{"never 20 late", schedule.Terms[uint64]{Missed: schedule.Latest, Window: 19, End: 2000}},
	} {
		r := schedule.Resolve(every, c.terms, 1100, 1450)
		fmt.Printf("%s: fires %t %d, passed %d, next %d\n", c.name, r.Open, r.Fire.At, r.Passed.Count, r.Next.At)
	}
	// Output:
	// once after an outage: fires true 1400, passed 2, next 1500
	// all of them: fires true 1200, passed 0, next 1300
	// never 20 late: fires false 0, passed 3, next 1500
}
