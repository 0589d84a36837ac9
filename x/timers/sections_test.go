package timers_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// cited is where a comment names sections of the module's README: one, or several joined by commas and "and".
	cited = regexp.MustCompile(`x/timers/README\.md[,:]? ((?:(?:, |,? and )?"[^"]+")+)`)
	// quoted is one of them.
	quoted = regexp.MustCompile(`"([^"]+)"`)
	// lineOfComment is the end of a line of a comment, and the beginning of the next.
	lineOfComment = regexp.MustCompile(`\n\s*// ?`)
)

// TestCommentsCiteSectionsThatExist: comments say where in README.md a rule is stated, by the heading of the section.
func TestCommentsCiteSectionsThatExist(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	require.NoError(t, err)
	headings := map[string]bool{}
	for _, line := range strings.Split(string(raw), "\n") {
		if heading, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); found && strings.HasPrefix(line, "#") {
			headings[heading] = true
		}
	}
	found := 0
	for _, dir := range []string{".", filepath.Join("..", "..", "wasmbinding"), filepath.Join("..", "..", "evmbinding")} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			code, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, cite := range cited.FindAllStringSubmatch(lineOfComment.ReplaceAllString(string(code), " "), -1) {
				for _, section := range quoted.FindAllStringSubmatch(cite[1], -1) {
					require.True(t, headings[section[1]], "%s: README.md has no section %q", path, section[1])
					found++
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
	require.Greater(t, found, 20, "sections that comments cite")
}
