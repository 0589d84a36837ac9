package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Configure sets an option in a file of the node's configuration, app.toml or config.toml, before the node starts. The
// value is as TOML writes it. An option that the file does not state in that section is an error.
func (n *Node) Configure(file, section, option, value string) error {
	return n.edit(file, section, option, func(string) (string, error) { return value, nil })
}

// edit changes the value of an option.
func (n *Node) edit(file, section, option string, change func(value string) (string, error)) error {
	path := filepath.Join(n.Home, "config", file)
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines, in, found := strings.Split(string(raw), "\n"), "", false
	for i, line := range lines {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
			in = strings.Trim(text, "[]")
		}
		name, before, stated := strings.Cut(text, "=")
		if stated && in == section && strings.TrimSpace(name) == option {
			value, err := change(strings.TrimSpace(before))
			if err != nil {
				return err
			}
			lines[i], found = option+" = "+value, true
		}
	}
	if !found {
		return fmt.Errorf("%s: no option %q in section %q", path, option, section)
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600)
}
