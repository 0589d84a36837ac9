package keeper_test

import (
	"flag"
	"os"
	"testing"
)

// long runs the tests that have a long form in that form: crowds of full size, a hundred draws a property.
var long = flag.Bool("keeper.long", false, "run crowds of full size and more draws of each property")

func TestMain(m *testing.M) {
	flag.Parse()
	stated := false
	flag.Visit(func(f *flag.Flag) { stated = stated || f.Name == "rapid.checks" })
	if !stated {
		// Each draw is a chain of many blocks.
		if err := flag.Set("rapid.checks", map[bool]string{false: "40", true: "100"}[*long]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// sized is the size of a test that has a long form.
func sized[N int | uint64](short, full N) N {
	if *long {
		return full
	}
	return short
}
