// Package bench measures what timers cost, and says under which workload: nodes written per timer, store operations of
// blocks, time beside that of a plain message, bytes and gas. Counts are the same on every machine, and tests assert
// them; times are printed beside those of something known, in turns, and nothing asserts them.
package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cosmos-timers/timers/testutil/bench/blocks"
	"github.com/cosmos-timers/timers/testutil/bench/contracts"
	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/fires"
	"github.com/cosmos-timers/timers/testutil/bench/growth"
	"github.com/cosmos-timers/timers/testutil/bench/lifetime"
	"github.com/cosmos-timers/timers/testutil/bench/overhead"
	"github.com/cosmos-timers/timers/testutil/bench/prices"
	"github.com/cosmos-timers/timers/testutil/bench/storm"
	"github.com/cosmos-timers/timers/testutil/bench/worst"
)

// Options say what to measure.
type Options struct {
	figure.Options
	// Only names the figures to measure, separated by commas; all if empty.
	Only string
}

// Report is everything that was measured.
type Report struct {
	Machine   figure.Machine       `json:"machine"`
	Lifetimes []lifetime.Lifetime  `json:"lifetimes"`
	Layouts   []lifetime.Compared  `json:"layouts"`
	Growth    []growth.Point       `json:"growth,omitempty"`
	Empties   []blocks.Empty       `json:"empty_blocks"`
	Overheads []overhead.Overhead  `json:"overheads"`
	Lifecycle *overhead.Lifecycle  `json:"lives,omitempty"`
	Storms    []storm.Storm        `json:"storms"`
	Newcomers []storm.Newcomers    `json:"newcomers"`
	Sizes     *blocks.Sizes        `json:"sizes,omitempty"`
	Contracts *contracts.Contracts `json:"contracts,omitempty"`
	Prices    *prices.Prices       `json:"prices,omitempty"`
	Worst     []worst.Found        `json:"worst,omitempty"`
	Fires     *fires.Fires         `json:"fires,omitempty"`
}

// part is one part of the report.
type part struct {
	name    string
	measure func(*Report, figure.Options) error
}

// parts are in the order in which they are measured. Those that time short rounds come first: garbage is collected before each,
// which takes long where others have left much in memory.
var parts = []part{
	{"contracts", func(r *Report, o figure.Options) (err error) { r.Contracts, err = contracts.Measure(o); return err }},
	{"prices", func(r *Report, o figure.Options) (err error) { r.Prices, err = prices.Measure(o); return err }},
	{"worst", func(r *Report, o figure.Options) (err error) { r.Worst, err = worst.Measure(o); return err }},
	{"fires", func(r *Report, o figure.Options) (err error) { r.Fires, err = fires.MeasureAll(o); return err }},
	{"nodes", func(r *Report, o figure.Options) (err error) { r.Lifetimes, err = lifetime.Measure(o); return err }},
	{"layouts", func(r *Report, o figure.Options) (err error) { r.Layouts, err = lifetime.Compare(o); return err }},
	{"growth", func(r *Report, o figure.Options) (err error) { r.Growth, err = growth.Measure(o); return err }},
	{"empty", func(r *Report, o figure.Options) (err error) { r.Empties, err = blocks.MeasureEmpties(o); return err }},
	{"overhead", func(r *Report, o figure.Options) (err error) { r.Overheads, err = overhead.Measure(o); return err }},
	{"lifecycle", func(r *Report, o figure.Options) (err error) {
		r.Lifecycle, err = overhead.MeasureLifecycle(o)
		return err
	}},
	{"storm", func(r *Report, o figure.Options) (err error) { r.Storms, err = storm.Measure(o); return err }},
	{"newcomers", func(r *Report, o figure.Options) (err error) {
		r.Newcomers, err = storm.MeasureAllNewcomers(o)
		return err
	}},
	{"sizes", func(r *Report, _ figure.Options) (err error) { r.Sizes, err = blocks.MeasureSizes(); return err }},
}

// Figures names all figures.
func Figures() string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return strings.Join(names, ",")
}

// Run measures.
func Run(opts Options) (*Report, error) {
	report := &Report{Machine: figure.ThisMachine()}
	wanted := strings.Split(opts.Only, ",")
	if opts.Only == "" {
		wanted = strings.Split(Figures(), ",")
	}
	for _, name := range wanted {
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no figure %q, want some of %s", name, Figures())
		}
		p := parts[at]
		opts.Tell("%s", p.name)
		if err := p.measure(report, opts.Options); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return report, nil
}

// WriteText prints the report as tables.
func (r *Report) WriteText(w io.Writer) error {
	m := r.Machine
	if _, err := fmt.Fprintf(w, "%s, %d cores, %s, %s\n", m.CPU, m.Cores, m.GoVersion, m.Platform); err != nil {
		return err
	}
	tables := []*figure.Table{lifetime.Table(r.Lifetimes), lifetime.CompareTable(r.Layouts), lifetime.SharesTable(r.Layouts), growth.Table(r.Growth), blocks.EmptyTable(r.Empties), overhead.Table(r.Overheads)}
	if r.Fires != nil {
		tables = append(tables, r.Fires.Tables()...)
	}
	if r.Lifecycle != nil {
		tables = append(tables, r.Lifecycle.Tables()...)
	}
	tables = append(tables, storm.Table(r.Storms), storm.NewcomersTable(r.Newcomers))
	if r.Sizes != nil {
		tables = append(tables, r.Sizes.Table())
	}
	if r.Contracts != nil {
		tables = append(tables, r.Contracts.Table())
	}
	if r.Prices != nil {
		tables = append(tables, r.Prices.Table())
	}
	tables = append(tables, worst.Table(r.Worst))
	for _, t := range tables {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}
