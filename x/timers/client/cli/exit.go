package cli

import "errors"

// ExitCode is the exit status of a binary whose command ended with an error: 1, or what the error asks for. That is 3 where a
// command with --wait does not know whether its transaction is included: scripts that took this for a failure would pay twice.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 1
}
