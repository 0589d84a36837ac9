package logmap_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// A map is used as any other. A module calls Maintain in each block, which merges what has gathered.
func ExampleMap() {
	m := logmap.New(newStore(), logmap.Options{})
	for _, name := range []string{"carol", "alice", "bob"} {
		if err := m.Insert(ctx, []byte(name), []byte(name[:1])); err != nil {
			panic(err)
		}
	}
	if err := m.Delete(ctx, []byte("bob")); err != nil {
		panic(err)
	}
	if _, err := m.Maintain(ctx, 1); err != nil {
		panic(err)
	}
	page, err := m.Page(ctx, []byte("a"), nil, 10)
	for _, entry := range page {
		fmt.Printf("%s: %s\n", entry.Key, entry.Value)
	}
	fmt.Println(err)
	// Output:
	// alice: a
	// carol: c
	// <nil>
}
