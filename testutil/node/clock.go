package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// clockVariable names the file that says by how much a node's clock is wrong, as a duration.
const clockVariable = "TIMERD_CLOCK"

// BuildWithClock builds timerd such that SetClock moves the clock by which a validator times its votes and blocks. It does so
// with a copy of CometBFT, changed in two places, next to the binary; the first time, all that uses CometBFT is
// compiled once more. The source is a directory of the Go module, from which the arguments are read.
func BuildWithClock(ctx context.Context, source, binary string, args ...string) error {
	var module struct{ Dir string }
	if err := goJSON(ctx, source, &module, "list", "-m", "-json", "github.com/cometbft/cometbft"); err != nil {
		return err
	}
	var main struct{ GoMod string }
	if err := goJSON(ctx, source, &main, "list", "-m", "-json"); err != nil {
		return err
	}
	// Files of the module cache are read only, and a build may not replace them.
	copied, modfile := binary+".cometbft", binary+".mod"
	if err := errors.Join(os.CopyFS(copied, os.DirFS(module.Dir)), misleadClock(copied)); err != nil {
		return err
	}
	for from, to := range map[string]string{main.GoMod: modfile, strings.TrimSuffix(main.GoMod, ".mod") + ".sum": binary + ".sum"} {
		content, err := os.ReadFile(from)
		if err := errors.Join(err, os.WriteFile(to, content, 0o600)); err != nil {
			return err
		}
	}
	if err := goRun(ctx, source, "mod", "edit", "-replace=github.com/cometbft/cometbft="+copied, modfile); err != nil {
		return err
	}
	// With -trimpath the copy's place does not count, so that the next build finds what this one compiled.
	build := []string{"build", "-trimpath", "-buildvcs=false", "-modfile", modfile, "-o", binary}
	return goRun(ctx, source, append(build, args...)...)
}

// misleadClock changes where CometBFT asks for the time: for its votes and proposals, and to refuse blocks of the future.
func misleadClock(source string) error {
	wrongBy := fmt.Sprintf(`
func wrongBy() time.Duration {
	text, err := os.ReadFile(os.Getenv(%q))
	if err != nil {
		return 0
	}
	by, err := time.ParseDuration(string(text))
	if err != nil {
		panic(err)
	}
	return by
}
`, clockVariable)
	return errors.Join(
		rewrite(filepath.Join(source, "types", "time", "time.go"), wrongBy,
			"return Canonical(time.Now())", "return Canonical(time.Now().Add(wrongBy()))",
			"import (", "import (\n\t\"os\""),
		rewrite(filepath.Join(source, "state", "validation.go"), "",
			"!block.Time.Before(time.Now().Add(tol))", "!block.Time.Before(cmttime.Now().Add(tol))",
			"import (", "import (\n\tcmttime \"github.com/cometbft/cometbft/types/time\""),
	)
}

// rewrite replaces texts of a source, each of which must be there once, and adds to its end.
func rewrite(path, end string, replacements ...string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(source)
	for i := 0; i < len(replacements); i += 2 {
		if strings.Count(text, replacements[i]) != 1 {
			return fmt.Errorf("%s: want %q once", path, replacements[i])
		}
		text = strings.Replace(text, replacements[i], replacements[i+1], 1)
	}
	return errors.Join(os.Remove(path), os.WriteFile(path, []byte(text+end), 0o600))
}

func goRun(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, out)
	}
	return nil
}

func goJSON(ctx context.Context, dir string, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go %v: %w", args, err)
	}
	return json.Unmarshal(out, into)
}

// SetClock makes the clock of a node wrong by so much, ahead or behind, while it runs. Its binary must be of BuildWithClock, and
// its clock be set once before it is started.
func (n *Node) SetClock(by time.Duration) error {
	file := filepath.Join(n.Home, "clock")
	if len(n.env) == 0 {
		n.env = []string{clockVariable + "=" + file}
	}
	// Written beside and renamed: the node never reads half of it.
	return errors.Join(os.WriteFile(file+".new", []byte(by.String()), 0o600), os.Rename(file+".new", file))
}

// BlockTime returns the time of a block.
func (n *Node) BlockTime(ctx context.Context, height int64) (time.Time, error) {
	h, err := n.header(ctx, height)
	return h.Time, err
}
