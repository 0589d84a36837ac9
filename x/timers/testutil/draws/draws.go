// Package draws sets how often properties are drawn in packages whose draws are whole chains.
package draws

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// Main is a TestMain with so many draws a property, where rapid's default is 100, and always the same ones, so that whether a change
// passes does not depend on luck. Who states -rapid.checks looks further: then the draws are new ones each time.
func Main(m *testing.M, checks int) {
	flag.Parse()
	stated := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { stated[f.Name] = true })
	set := func(name string, value int) {
		if !stated["rapid.checks"] && !stated[name] {
			if err := flag.Set(name, fmt.Sprint(value)); err != nil {
				panic(err)
			}
		}
	}
	set("rapid.seed", 1)
	set("rapid.checks", checks)
	os.Exit(m.Run())
}
