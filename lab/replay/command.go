package replay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cosmos-timers/timers/lab/scenario"
)

// NewCommand returns the command `lab`. The error of bad input is a *scenario.InputError, whose ExitCode is 2. Any
// other error is a fault of the module, the lab or the machine.
func NewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Run timer workloads outside a node",
		Long: "Run timer workloads outside a node: the real module on a real bank and a real IAVL store, without " +
			"consensus and signatures.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newReplayCommand())
	return cmd
}

func newReplayCommand() *cobra.Command {
	var quiet, verbose bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Run a scenario file and print one JSON object a block",
		Long: "Run a scenario file, or the standard input if FILE is -, and print one JSON object a line, one line a block.\n\n" +
			"The file is checked whole before the first block runs. If it is wrong, the error names the place in it, the " +
			"exit status is 2, and nothing is printed to standard output.\n\n" +
			"With --verbose each line has timers, those that live after the block: where each is (queued, timed, watching, on " +
			"hold), when it is or became due, and what it counts.",
		Example: "  timerd lab replay storm.json\n  timerd lab replay - < storm.json | jq .fired\n" +
			"  timerd lab replay -v storm.json | jq -c '.timers[]'",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			// From here on a failure is not one of usage.
			cmd.SilenceUsage = true
			s, err := readFile(cmd, args[0])
			if err != nil {
				return err
			}
			for _, note := range s.Notes {
				fmt.Fprintln(cmd.ErrOrStderr(), note)
			}
			progress := io.Discard
			if stderr, ok := cmd.ErrOrStderr().(*os.File); ok && !quiet && isTerminal(stderr) {
				progress = stderr
			}
			return replay(s, verbose, cmd.OutOrStdout(), progress)
		},
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no progress of long runs to the terminal")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print where each timer is after the block")
	return cmd
}

func readFile(cmd *cobra.Command, name string) (*scenario.Scenario, error) {
	if name == "-" {
		return scenario.Read(cmd.InOrStdin())
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, &scenario.InputError{Reason: err.Error()}
	}
	defer file.Close()
	return scenario.Read(file)
}

// progressBlocks is how often a long run says how far it is.
const progressBlocks = 1_000

// replay prints the lines of a run as its blocks run.
func replay(s *scenario.Scenario, verbose bool, out, progress io.Writer) error {
	lines := bufio.NewWriter(out)
	encoder := json.NewEncoder(lines)
	encoder.SetEscapeHTML(false)
	r, err := NewRunner(s)
	if err != nil {
		return err
	}
	r.Verbose = verbose
	return r.Run(func(line *Line) error {
		if line.Height%progressBlocks == 0 {
			fmt.Fprintf(progress, "block %d of %d\n", line.Height, s.Blocks)
		}
		if err := encoder.Encode(line); err != nil {
			return err
		}
		return lines.Flush()
	})
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
