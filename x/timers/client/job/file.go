package job

import (
	"fmt"
	"io"
	"os"

	"github.com/cosmos/cosmos-sdk/client/flags"
)

// maxFileBytes bounds what is read from a file: JSON of the largest payload is a few times its size.
const maxFileBytes = 16 << 20

// ReadFile reads a file that a flag or an argument names. The standard input can't carry both a file and the answer to
// the question whether to sign.
func (j *Job) ReadFile(path string) ([]byte, error) {
	asks := !j.SkipConfirm && !j.GenerateOnly && !j.Simulate && !j.IsAux
	if path == "-" && asks {
		return nil, fmt.Errorf("the standard input would be used up before you are asked whether to sign: name a file, or add --%s",
			flags.FlagSkipConfirmation)
	}
	return readFile(path, j.Stdin)
}

// readFile reads a whole file; "-" is the standard input.
func readFile(path string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(content) > maxFileBytes {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, maxFileBytes)
	}
	return content, nil
}
