package job

import (
	"fmt"

	"github.com/spf13/cobra"
)

// AtMostOne lets a command take one argument or none, and says what it is of which more are given.
func AtMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes one %s at a time, and %q is one more", cmd.CommandPath(), what, args[1])
		}
		return nil
	}
}
