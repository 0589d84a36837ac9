package campaign

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// history is what a failure takes. Its file is text: the seed, and a line for each operation. The format of scenarios has no
// contracts, no faults of neighbours and no governance, so that it can't state one.
type history struct {
	seed uint64
	ops  []op
}

func (h history) write(path string) error {
	text := fmt.Sprintf("seed %d\n", h.seed)
	for _, o := range h.ops {
		text += fmt.Sprintf("%d %d %#x %s\n", o.number, o.target, o.dice, o.kind)
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func readHistory(path string) (h history, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return h, err
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if _, err := fmt.Sscanf(lines[0], "seed %d", &h.seed); err != nil {
		return h, fmt.Errorf("%s, line 1: want the seed, not %q", path, lines[0])
	}
	known := append([]string{"restart", "export", "sabotage"}, kinds...)
	for i, line := range lines[1:] {
		var o op
		parts := strings.SplitN(line, " ", 4)
		if n, err := fmt.Sscan(strings.Join(parts[:min(len(parts), 3)], " "), &o.number, &o.target, &o.dice); n < 3 || err != nil || len(parts) < 4 {
			return h, fmt.Errorf("%s, line %d: want number, target, dice and kind, not %q", path, i+2, line)
		}
		if o.kind = parts[3]; !slices.Contains(known, o.kind) {
			return h, fmt.Errorf("%s, line %d: no kind %q", path, i+2, o.kind)
		}
		h.ops = append(h.ops, o)
	}
	return h, nil
}
