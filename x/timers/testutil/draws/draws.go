// Package draws sets how often properties are drawn in packages whose draws are whole chains.
package draws

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// Main is a TestMain with so many draws a property, where rapid's default is 100. The flag -rapid.checks goes before it.
func Main(m *testing.M, checks int) {
	flag.Parse()
	stated := false
	flag.Visit(func(f *flag.Flag) { stated = stated || f.Name == "rapid.checks" })
	if !stated {
		if err := flag.Set("rapid.checks", fmt.Sprint(checks)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
