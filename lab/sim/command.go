package sim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/lab/sim/spec"
	"github.com/cosmos-timers/timers/lab/sim/strict"
)

// NewCommand returns the command `run`, for below `lab`. The error of bad input is a *strict.Error, whose ExitCode is 2.
func NewCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "run SIM.json",
		Short: "Simulate agents that bid, and compare policies",
		Long: "Simulate agents that bid for their timers, on the module's own rules and on models of other chains', and print a " +
			"table with 95 % confidence intervals over seeds.\n\nThe file is checked whole before the first run. If it is wrong, " +
			"the error names the place in it, and the exit status is 2. An interrupted simulation prints the seeds that are done.",
		Example: "  timerd lab run window.json\n  timerd lab run window.json --html window.html --csv window.csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.SilenceUsage = true
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return o.run(ctx, cmd, args[0])
		},
	}
	cmd.Flags().StringVar(&o.html, "html", "", "write a report with plots to this file")
	cmd.Flags().StringVar(&o.csv, "csv", "", "write all figures of all seeds to this file")
	cmd.Flags().IntVar(&o.seeds, "seeds", 0, "run so many seeds, and not as many as the file says")
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print no progress")
	return cmd
}

type options struct {
	html, csv string
	seeds     int
	quiet     bool
}

func (o *options) run(ctx context.Context, cmd *cobra.Command, name string) error {
	data, err := read(cmd.InOrStdin(), name)
	if err != nil {
		return err
	}
	dir := "."
	if name != "-" {
		dir = filepath.Dir(name)
	}
	s, cases, err := spec.Parse(data, os.DirFS(dir))
	if err != nil {
		return err
	}
	if o.seeds != 0 {
		if o.seeds < 0 || o.seeds > spec.MaxSeeds {
			return strict.Failf("--seeds", "want 1 to %d, not %d", spec.MaxSeeds, o.seeds)
		}
		s.Seeds = o.seeds
	}
	progress := func(string) {}
	if !o.quiet {
		progress = func(done string) { fmt.Fprintln(cmd.ErrOrStderr(), done) }
	}
	results := Run(ctx, s, cases, progress)
	if len(results.Done) == 0 {
		return errors.New("interrupted before the first seed was done")
	}
	if err := WriteTable(cmd.OutOrStdout(), results); err != nil {
		return err
	}
	if o.csv != "" {
		if err := writeFile(o.csv, func(w io.Writer) error { return WriteCSV(w, results) }); err != nil {
			return err
		}
	}
	if o.html != "" {
		return writeFile(o.html, func(w io.Writer) error { return WriteHTML(w, results, string(data)) })
	}
	return nil
}

// read reads a file, or the standard input for -.
func read(stdin io.Reader, name string) ([]byte, error) {
	source := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, strict.Failf("", "%v", err)
		}
		defer file.Close()
		source = file
	}
	return io.ReadAll(io.LimitReader(source, spec.MaxBytes+1))
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	return errors.Join(write(buffered), buffered.Flush(), file.Close())
}

// WriteTable writes the shown figures as a Markdown table: a line a case, means and halves of their intervals.
func WriteTable(w io.Writer, r *Results) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d seeds from %d, %d blocks each, 95 %% intervals", r.Spec.Title, len(r.Done), r.Spec.FirstSeed, r.Spec.Blocks)
	if len(r.Done) < r.Spec.Seeds {
		fmt.Fprintf(&b, "; interrupted, %d seeds are missing", r.Spec.Seeds-len(r.Done))
	}
	b.WriteString("\n\n| variant |")
	for _, name := range r.Spec.Show {
		fmt.Fprintf(&b, " %s |", name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(r.Spec.Show)) + "\n")
	for i := range r.Cases {
		fmt.Fprintf(&b, "| %s |", r.Cases[i].Name)
		for _, name := range r.Spec.Show {
			e := r.Estimate(i, name)
			fmt.Fprintf(&b, " %s ± %s |", short(e.Mean, e.Mean), short(e.Half, e.Mean))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// short prints a number with as many places as a number like it needs.
func short(value, like float64) string {
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
