// Command timerd is a node of the chain that ships x/timers, and its command line.
package main

import (
	"fmt"
	"os"

	svrcmd "github.com/cosmos/cosmos-sdk/server/cmd"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/x/timers/client/cli"
)

// envPrefix is that of environment variables that stand for flags: TIMERD_HOME for --home.
const envPrefix = "TIMERD"

func main() {
	root := newRootCmd(homeOf(os.Args[1:]))
	err := knownCommand(root, os.Args[1:])
	if err == nil {
		err = svrcmd.Execute(root, envPrefix, app.DefaultNodeHome)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", explain(root, os.Args[1:], err))
		os.Exit(cli.ExitCode(err))
	}
}
