package keeper_test

import (
	"flag"
	"testing"

	"github.com/cosmos-timers/timers/x/timers/testutil/draws"
)

// long runs the tests that have a long form in that form: crowds of full size, a hundred draws a property, invariants after
// every block of a crowd.
var long = flag.Bool("keeper.long", false, "run crowds of full size and more draws of each property")

func TestMain(m *testing.M) {
	flag.Parse()
	draws.Main(m, sized(25, 100))
}

// sized is the size of a test that has a long form.
func sized[N int | uint64](short, full N) N {
	if *long {
		return full
	}
	return short
}
