// Package sim is the command that runs simulations: agents with valuations play against the module's own policies, and
// against models of other chains' rules, on the same drawn jobs (x/timers/docs/operate/economics.md).
//
//   - lab/sim/spec reads simulation files, lab/sim/simconfig the fields of a config in them.
//   - lab/sim/workload draws jobs.
//   - lab/sim/market and lab/sim/peers run them.
//   - lab/sim/measure makes figures of one run, lab/sim/runs of all.
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

	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/lab/sim/runs"
	"github.com/cosmos-timers/timers/lab/sim/simconfig"
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
	s, cases, err := spec.Parse(data, os.DirFS(dir), simconfig.Read)
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
	results := runs.Run(ctx, s, cases, progress)
	if len(results.Done) == 0 {
		return errors.New("interrupted before the first seed was done")
	}
	if err := runs.WriteTable(cmd.OutOrStdout(), results); err != nil {
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
