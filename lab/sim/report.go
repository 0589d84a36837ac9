package sim

import (
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/runs"
)

// WriteCSV writes all figures: a line for each seed, case and figure.
func WriteCSV(w io.Writer, r *runs.Results) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"seed", "variant", "figure", "value"}); err != nil {
		return err
	}
	for i, seed := range r.Done {
		for one, figures := range r.Figures[i] {
			for _, name := range slices.Sorted(maps.Keys(figures)) {
				value := strconv.FormatFloat(figures[name], 'g', -1, 64)
				if err := out.Write([]string{strconv.FormatUint(seed, 10), r.Cases[one].Name, name, value}); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

//nolint:gosec // The template escapes what comes from the file; the plots are made here.
var page = template.Must(template.New("").Parse(`<!doctype html>
<meta charset="utf-8"><title>{{.Title}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .7rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}pre{background:#f6f6f6;padding:1rem;overflow:auto}svg{max-width:100%}
</style>
<h1>{{.Title}}</h1>
<p>{{.Seeds}} seeds from {{.First}}, {{.Blocks}} blocks each. Means and 95 % confidence intervals. {{.Missing}}Version {{.Version}}.</p>
<table><tr><th>variant</th>{{range .Show}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table>
{{range .Plots}}<h2>{{.Title}}</h2>
{{.SVG}}
{{end}}<h2>Configuration</h2>
<pre>{{.File}}</pre>
`))

// plot of a report.
type plot struct {
	Title string
	SVG   template.HTML
}

// WriteHTML writes a report that needs no other file. source is the text of the simulation's file.
func WriteHTML(w io.Writer, r *runs.Results, source string) error {
	data := struct {
		Title, Missing, Version, File string
		Seeds                         int
		First, Blocks                 uint64
		Show                          []string
		Rows                          [][]string
		Plots                         []plot
	}{
		Title: r.Spec.Title, Version: version(), File: source, Seeds: len(r.Done), First: r.Spec.FirstSeed, Blocks: r.Spec.Blocks,
		Show: r.Spec.Show,
	}
	if missing := r.Spec.Seeds - len(r.Done); missing > 0 {
		data.Missing = fmt.Sprintf("Interrupted: %d seeds are missing. ", missing)
	}
	for i := range r.Cases {
		row := []string{r.Cases[i].Name}
		for _, name := range r.Spec.Show {
			e := r.Estimate(i, name)
			row = append(row, runs.Short(e.Mean, e.Mean)+" ± "+runs.Short(e.Half, e.Mean))
		}
		data.Rows = append(data.Rows, row)
	}
	for _, name := range r.Spec.Show {
		data.Plots = append(data.Plots, plot{name, bars(r, name)})
	}
	if len(r.Series) > 0 {
		data.Plots = append(data.Plots,
			plot{"Lane basefee, first seed", lines(r, func(p market.Point) float64 { return p.Basefee })},
			plot{"Timers that stay ready, first seed", lines(r, func(p market.Point) float64 { return float64(p.Ready) })},
		)
	}
	return page.Execute(w, data)
}

// version of the program, as its build says.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return info.Main.Version
}

// colours of cases, which repeat.
var colours = []string{"#1f6f8b", "#c8553d", "#588b3a", "#8d5a97", "#d99a2b", "#4a4e69", "#2a9d8f", "#b23a6f"}

// bars draws a figure of all cases, with intervals.
func bars(r *runs.Results, name string) template.HTML {
	const left, width, line = 260.0, 520.0, 24.0
	top := 0.0
	for i := range r.Cases {
		e := r.Estimate(i, name)
		top = max(top, e.Mean+e.Half)
	}
	if top == 0 {
		top = 1
	}
	x := func(value float64) float64 { return left + width*min(1, max(0, value/top)) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 880 %.0f" width="880" role="img">`, line*float64(len(r.Cases))+8)
	for i := range r.Cases {
		e, y := r.Estimate(i, name), line*float64(i)+4
		fmt.Fprintf(&b, `<text x="%.0f" y="%.1f" font-size="12" text-anchor="end">%s</text>`, left-8, y+15, template.HTMLEscapeString(r.Cases[i].Name))
		fmt.Fprintf(&b, `<rect x="%.0f" y="%.1f" width="%.1f" height="16" fill="%s"/>`, left, y+2, x(e.Mean)-left, colours[i%len(colours)])
		fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="#222" stroke-width="1.5"/>`, x(e.Mean-e.Half), y+10, x(e.Mean+e.Half))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="12">%s</text>`,
			x(e.Mean+e.Half)+6, y+15, runs.Short(e.Mean, e.Mean))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// lines draws a figure of each block, a line a case.
func lines(r *runs.Results, of func(market.Point) float64) template.HTML {
	const left, width, height = 60.0, 800.0, 220.0
	top := 0.0
	for _, series := range r.Series {
		for _, p := range series {
			top = max(top, of(p))
		}
	}
	if top == 0 || math.IsNaN(top) {
		top = 1
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 880 %.0f" width="880" role="img">`, height+20+18*float64(len(r.Series)))
	fmt.Fprintf(&b, `<path d="M%.0f 5V%.0fH%.0f" fill="none" stroke="#888"/>`, left, height, left+width)
	fmt.Fprintf(&b, `<text x="%.0f" y="14" font-size="12" text-anchor="end">%s</text>`, left-4, runs.Short(top, top))
	for i, series := range r.Series {
		colour := colours[i%len(colours)]
		fmt.Fprintf(&b, `<path fill="none" stroke="%s" stroke-width="1.2" d="`, colour)
		// Long series are thinned: a plot has no more columns than points.
		step := max(1, len(series)/800)
		for n := 0; n < len(series); n += step {
			command := "L"
			if n == 0 {
				command = "M"
			}
			fmt.Fprintf(&b, "%s%.1f %.1f", command, left+width*float64(n)/float64(len(series)), height-(height-5)*of(series[n])/top)
		}
		b.WriteString(`"/>`)
		y := height + 18 + 18*float64(i)
		fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="12" height="4" fill="%s"/>`, left, y-4, colour)
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="12">%s</text>`, left+18, y, template.HTMLEscapeString(r.Cases[i].Name))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
