package calendar_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// shelf is an ordered store of names. The module's own is a collection.
type shelf struct{ entries []calendar.Entry[string] }

func (s *shelf) find(key calendar.Key) (int, bool) {
	return slices.BinarySearchFunc(s.entries, key, func(e calendar.Entry[string], k calendar.Key) int { return e.Key.Compare(k) })
}

func (s *shelf) Set(_ context.Context, key calendar.Key, name string) error {
	i, found := s.find(key)
	if !found {
		s.entries = slices.Insert(s.entries, i, calendar.Entry[string]{})
	}
	s.entries[i] = calendar.Entry[string]{Key: key, Value: name}
	return nil
}

func (s *shelf) Get(_ context.Context, key calendar.Key) (string, bool, error) {
	i, found := s.find(key)
	if !found {
		return "", false, nil
	}
	return s.entries[i].Value, true, nil
}

func (s *shelf) Remove(_ context.Context, key calendar.Key) error {
	if i, found := s.find(key); found {
		s.entries = slices.Delete(s.entries, i, i+1)
	}
	return nil
}

func (s *shelf) Scan(_ context.Context, from calendar.Key, fn func(calendar.Entry[string]) bool) error {
	i, _ := s.find(from)
	for i < len(s.entries) && fn(s.entries[i]) {
		i++
	}
	return nil
}

// At height 12 a block reads what is due in pages of two. Where one page ends, the next begins. What is not due is not
// read.
func ExampleFlat_Page() {
	ctx := context.Background()
	timers := calendar.NewFlat[string](&shelf{})
	for seq, timer := range []struct {
		name string
		due  uint64
	}{{"rent", 12}, {"backup", 10}, {"salary", 12}, {"report", 20}} {
		if err := timers.Insert(ctx, calendar.Key{Due: timer.due, Seq: uint64(seq)}, timer.name); err != nil {
			panic(err)
		}
	}
	var from calendar.Key
	for complete := false; !complete; {
		room := 2
		page, next, last, err := timers.Page(ctx, from, 12, func(calendar.Entry[string]) calendar.Verdict {
			if room == 0 {
				return calendar.Stop
			}
			room--
			return calendar.Take
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
