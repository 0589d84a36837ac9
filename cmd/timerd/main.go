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
	if err := svrcmd.Execute(newRootCmd(homeOf(os.Args[1:])), envPrefix, app.DefaultNodeHome); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
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
