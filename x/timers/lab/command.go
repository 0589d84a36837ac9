package lab

import "github.com/spf13/cobra"

// NewCommand returns the lab's commands.
func NewCommand() *cobra.Command {
	return &cobra.Command{Use: "lab", Short: "Run timer workloads outside a node"}
}
