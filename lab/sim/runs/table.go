package runs

import (
	"fmt"
	"io"
	"strings"
)

// WriteTable writes the shown figures as a Markdown table: a line a case, means and halves of their intervals.
func WriteTable(w io.Writer, r *Results) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n| variant |", r.Heading())
	for _, name := range r.Spec.Show {
		fmt.Fprintf(&b, " %s |", name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(r.Spec.Show)) + "\n")
	for i := range r.Cases {
		fmt.Fprintf(&b, "| %s |", r.Cases[i].Name)
		for _, cell := range r.Cells(i) {
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Heading says what was run: the title, the seeds and the blocks.
func (r *Results) Heading() string {
	text := fmt.Sprintf("%s: %d seeds from %d, %d blocks each, 95 %% intervals",
		r.Spec.Title, len(r.Done), r.Spec.FirstSeed, r.Spec.Blocks)
	if len(r.Done) < r.Spec.Seeds {
		text += fmt.Sprintf("; interrupted, %d seeds are missing", r.Spec.Seeds-len(r.Done))
	}
	return text
}

// Cells are the shown figures of a case, each with its mean and the half of its interval.
func (r *Results) Cells(one int) []string {
	cells := make([]string, len(r.Spec.Show))
	for i, name := range r.Spec.Show {
		e := r.Estimate(one, name)
		cells[i] = Short(e.Mean, e.Mean) + " ± " + Short(e.Half, e.Mean)
	}
	return cells
}

// Short prints a number with as many places as a number like it needs.
func Short(value, like float64) string {
	switch like = max(like, -like); {
	case like >= 100:
		return fmt.Sprintf("%.0f", value)
	case like >= 10:
		return fmt.Sprintf("%.1f", value)
	case like >= 0.1 || like == 0:
		return fmt.Sprintf("%.3f", value)
	default:
		return fmt.Sprintf("%.2g", value)
	}
}
