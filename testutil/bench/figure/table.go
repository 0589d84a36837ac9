package figure

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table is one printed table.
type Table struct {
	Title   string
	Columns []string
	Notes   []string
	rows    [][]string
}

// Row adds a row; numbers that are not whole are printed with two digits.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		if number, ok := cell.(float64); ok {
			cell = fmt.Sprintf("%.2f", number)
		}
		row[i] = fmt.Sprint(cell)
	}
	t.rows = append(t.rows, row)
}

// Write prints the table, and nothing if it has no rows.
func (t *Table) Write(w io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n\n", t.Title); err != nil {
		return err
	}
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{t.Columns}, t.rows...) {
		if _, err := fmt.Fprintln(aligned, strings.Join(row, "\t")+"\t"); err != nil {
			return err
		}
	}
	if err := aligned.Flush(); err != nil {
		return err
	}
	for _, note := range t.Notes {
		if _, err := fmt.Fprintf(w, "  %s\n", note); err != nil {
			return err
		}
	}
	return nil
}
