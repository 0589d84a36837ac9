// Package figure is what the figures of the benchmark have in common: the options they are measured with, and the tables
// they are printed as.
package figure

import "fmt"

// Options say what to measure.
type Options struct {
	// Quick keeps to 10,000 pending timers. Million adds a million where that is not measured in any case.
	Quick, Million bool
	// Seed of the workloads.
	Seed uint64
	// Kind keeps to the kinds of work, and to the layouts, whose names contain it.
	Kind string
	// Progress is told what is measured next, unless it is nil.
	Progress func(string)
}

// Tell tells what is measured next.
func (o Options) Tell(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// Pendings are the sizes at which a figure is measured.
func (o Options) Pendings() []int {
	sizes := []int{10_000}
	if !o.Quick {
		sizes = append(sizes, 100_000)
	}
	if o.Million {
		sizes = append(sizes, 1_000_000)
	}
	return sizes
}
