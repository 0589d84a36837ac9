package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Options say what to measure.
type Options struct {
	// Quick keeps to 10,000 pending timers, Million adds a run with a million.
	Quick, Million bool
	// Calendar under which lifetimes are measured.
	Calendar types.Calendar
	// Seed of the workloads.
	Seed uint64
	// Only names the figures to measure, separated by commas; all if empty.
	Only string
	// Progress is told what is measured next, unless it is nil.
	Progress func(string)
}

func (o Options) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// figure is one part of the report.
type figure struct {
	name    string
	measure func(*Report, Options) error
}

var figures = []figure{
	{"nodes", measureNodes},
	{"empty", measureEmpty},
	{"overhead", measureOverhead},
	{"lifecycle", measureLifecycle},
	{"storm", measureStorm},
	{"newcomers", measureNewcomers},
	{"sizes", measureSizes},
	{"contracts", measureContracts},
}

// Figures names all figures.
func Figures() string {
	names := make([]string, len(figures))
	for i, f := range figures {
		names[i] = f.name
	}
	return strings.Join(names, ",")
}

// Run measures.
func Run(opts Options) (*Report, error) {
	report := &Report{Machine: ThisMachine()}
	wanted := strings.Split(opts.Only, ",")
	if opts.Only == "" {
		wanted = strings.Split(Figures(), ",")
	}
	for _, name := range wanted {
		at := slices.IndexFunc(figures, func(f figure) bool { return f.name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no figure %q, want some of %s", name, Figures())
		}
		f := figures[at]
		opts.progress("%s", f.name)
		if err := f.measure(report, opts); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return report, nil
}

// pendings are the sizes at which a figure is measured.
func (o Options) pendings() []int {
	sizes := []int{10_000}
	if !o.Quick {
		sizes = append(sizes, 100_000)
	}
	if o.Million {
		sizes = append(sizes, 1_000_000)
	}
	return sizes
}

func measureNodes(r *Report, opts Options) error {
	for _, pending := range opts.pendings() {
		for _, policy := range []Policy{FIFO, EIP1559} {
			receipts := []uint64{0, 4}
			if opts.Quick {
				receipts = receipts[1:]
			}
			for _, receiptBlocks := range receipts {
				w := DefaultWorkload(pending, policy, receiptBlocks, opts.Seed)
				w.Calendar = opts.Calendar
				l, err := MeasureLifetime(w)
				if err != nil {
					return err
				}
				r.Lifetimes = append(r.Lifetimes, l)
			}
		}
	}
	return nil
}

func measureOverhead(r *Report, opts Options) error {
	sizes, rounds := []int{100, 500}, 15
	if opts.Quick {
		sizes, rounds = []int{100}, 7
	}
	for _, fires := range sizes {
		o, err := MeasureOverhead(fires, rounds)
		if err != nil {
			return err
		}
		r.Overheads = append(r.Overheads, o)
	}
	return nil
}
