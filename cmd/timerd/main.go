// Command timerd is a node of the chain that ships x/timers, and its command line.
package main

import (
	"errors"
	"fmt"
	"os"

	svrcmd "github.com/cosmos/cosmos-sdk/server/cmd"

	"github.com/cosmos-timers/timers/app"
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
		os.Exit(exitCode(err))
	}
}

// exitCode is 1, or what an error asks for.
func exitCode(err error) int {
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 1
}
