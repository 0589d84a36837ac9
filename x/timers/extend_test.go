package timers_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostFilesOfAField is how many files of the module a field more of the spec may touch by hand.
const mostFilesOfAField = 8

// TestExtend_AFieldOfTheSpec: the difference of docs/extend/extend.md applies to the files of today, touches few of them, and what is
// written by hand builds once the message has the field.
func TestExtend_AFieldOfTheSpec(t *testing.T) {
	page, err := os.ReadFile("docs/extend/extend.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```diff\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, block)
	files := strings.Split(string(block[1]), "--- ")[1:]
	require.NotEmpty(t, files)
	require.LessOrEqual(t, len(files), mostFilesOfAField)

	dir, overlay := t.TempDir(), map[string]string{}
	place := func(path, text string) {
		absolute, err := filepath.Abs(path)
		require.NoError(t, err)
		overlay[absolute] = filepath.Join(dir, filepath.Base(path))
		require.NoError(t, os.WriteFile(overlay[absolute], []byte(text), 0o600))
	}
	var message string
	for _, file := range files {
		path, hunk, _ := strings.Cut(file, "\n")
		inModule, isGo := strings.CutPrefix(path, "x/timers/")
		if !isGo {
			inModule = "../../" + path
		}
		before, err := os.ReadFile(inModule)
		require.NoError(t, err)
		var old, changed strings.Builder
		for _, line := range strings.SplitAfter(hunk, "\n") {
			if line == "" {
				continue
			}
			if sign := line[0]; sign == '+' {
				changed.WriteString(line[1:])
				continue
			} else if sign == '-' {
				old.WriteString(line[1:])
				continue
			}
			old.WriteString(line[1:])
			changed.WriteString(line[1:])
		}
		require.Equal(t, 1, strings.Count(string(before), old.String()), "%s has once:\n%s", path, old.String())
		after := strings.Replace(string(before), old.String(), changed.String(), 1)
		if isGo {
			place(inModule, after)
		} else {
			message = changed.String()
		}
	}

	// What make proto generates of the field, as far as other code sees it.
	field := regexp.MustCompile(`string (\w+) = (\d+);`).FindStringSubmatch(message)
	require.NotNil(t, field, "the field in the message:\n%s", message)
	generated, err := os.ReadFile("types/core.pb.go")
	require.NoError(t, err)
	name := strings.ToUpper(field[1][:1]) + field[1][1:]
	place("types/core.pb.go", strings.Replace(string(generated), "type TimerSpec struct {\n",
		"type TimerSpec struct {\n\t"+name+" string `protobuf:\"bytes,"+field[2]+",opt,name="+field[1]+",proto3\"`\n", 1))
	bz, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	list := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(list, bz, 0o600))
	out, err := exec.Command("go", "build", "-overlay", list, "./types").CombinedOutput()
	require.NoError(t, err, string(out))
}
