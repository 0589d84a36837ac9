package timers_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// architecture is ARCHITECTURE.md, and the cells of the table under a heading, without the head.
func architecture(t *testing.T, heading string) (text string, rows [][]string) {
	t.Helper()
	raw, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(raw), "\n## "+heading+"\n")
	require.True(t, found, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, line := range strings.Split(section, "\n") {
		if strings.HasPrefix(line, "|") {
			cells := strings.Split(strings.Trim(line, "|"), " | ")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	require.Greater(t, len(rows), 2, heading)
	return section, rows[2:]
}

// TestArchitecture_NamesThePackages: each directory of the module with code is in the table, and nothing else; doc.go names no
// package that is gone.
func TestArchitecture_NamesThePackages(t *testing.T) {
	_, rows := architecture(t, "The picture")
	var named, there []string
	for _, row := range rows {
		named = append(named, strings.Trim(row[0], "`"))
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, entry := range entries {
		code := false
		err := filepath.WalkDir(entry.Name(), func(path string, _ os.DirEntry, err error) error {
			code = code || filepath.Ext(path) == ".go"
			return err
		})
		require.NoError(t, err)
		if entry.IsDir() && code {
			there = append(there, entry.Name())
		}
	}
	slices.Sort(named)
	require.Equal(t, there, named)

	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^//   - ([a-z, ]+):`).FindAllStringSubmatch(string(doc), -1)
	require.NotEmpty(t, names)
	for _, list := range names {
		for _, name := range strings.FieldsFunc(list[1], func(r rune) bool { return r == ',' || r == ' ' }) {
			if name != "and" {
				require.Contains(t, there, name, "doc.go")
			}
		}
	}
}

// TestArchitecture_NamesTheStepsOfASend: each function of the life of a send is where the page says, and so are the steps of a block,
// in their order.
func TestArchitecture_NamesTheStepsOfASend(t *testing.T) {
	text, rows := architecture(t, "The life of a send")
	require.Len(t, rows, 12)
	for i, row := range rows {
		require.True(t, strings.HasPrefix(row[0], strconv.Itoa(i+1)+". "), row[0])
		place := regexp.MustCompile("^`([a-z_/]+\\.go)` `([A-Za-z]+)`$").FindStringSubmatch(row[1])
		require.NotNil(t, place, row[1])
		code, err := os.ReadFile(place[1])
		require.NoError(t, err)
		require.Regexp(t, `(?m)^func (\([a-zA-Z]+ \*?[a-zA-Z]+\) )?`+place[2]+`\(`, string(code), place[1])
	}
	code, err := os.ReadFile("engine/steps.go")
	require.NoError(t, err)
	var steps []string
	for _, step := range regexp.MustCompile(`(?m)^\t\{"([a-z_]+)", \(\*Engine\)`).FindAllStringSubmatch(string(code), -1) {
		steps = append(steps, "`"+step[1]+"`")
	}
	last := len(steps) - 1
	require.Contains(t, strings.ReplaceAll(text, "\n", " "), strings.Join(steps[:last], ", ")+" and "+steps[last]+", in this order")
}

// TestArchitecture_NamesTheOwnerOfEachPrefix: each region of the store is in the table once, and its owner's code makes it.
func TestArchitecture_NamesTheOwnerOfEachPrefix(t *testing.T) {
	keys, err := os.ReadFile("types/keys.go")
	require.NoError(t, err)
	names := map[string]string{}
	for _, prefix := range regexp.MustCompile(`(?m)^\t(Prefix\w+) += (?:collections\.NewPrefix\()?(\d+)`).FindAllStringSubmatch(string(keys), -1) {
		names[prefix[2]] = prefix[1]
	}
	require.Greater(t, len(names), 20)
	_, rows := architecture(t, "What is stored, and by whom")
	for _, row := range rows {
		var code strings.Builder
		files, err := filepath.Glob(filepath.Join(strings.Trim(row[1], "`"), "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			bz, err := os.ReadFile(file)
			require.NoError(t, err)
			code.Write(bz)
		}
		for _, number := range strings.Split(row[0], ", ") {
			require.Contains(t, names, number, "a prefix that is not there, or twice in the table")
			require.Contains(t, code.String(), "types."+names[number], row[1])
			delete(names, number)
		}
	}
	require.Empty(t, names)
}

// TestArchitecture_NamesWhatIsThere: each file and directory that the page names exists, and each test that it names alone.
func TestArchitecture_NamesWhatIsThere(t *testing.T) {
	raw, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	require.LessOrEqual(t, len(strings.Fields(string(raw))), 1_400, "two pages")
	for _, path := range regexp.MustCompile(` \./([a-z/]+)`).FindAllStringSubmatch(string(raw), -1) {
		path := strings.TrimSuffix(path[1], "/")
		if path != "testutil/system" { // It is of the root module.
			require.DirExists(t, path)
		}
	}
	for _, path := range regexp.MustCompile("`([a-z_/]+\\.go)`").FindAllStringSubmatch(string(raw), -1) {
		require.FileExists(t, path[1])
	}
	for _, name := range regexp.MustCompile(`Test[A-Za-z]+_[A-Za-z]+`).FindAllString(string(raw), -1) {
		found := false
		files, err := filepath.Glob("keeper/*_test.go")
		require.NoError(t, err)
		for _, file := range files {
			bz, err := os.ReadFile(file)
			require.NoError(t, err)
			found = found || strings.Contains(string(bz), "func "+name+"(")
		}
		require.True(t, found, name)
	}
}

// TestArchitecture_ContestIsApartFromPolicies: neither imports the other, and in a block no one but the contest reads the queue, nor does
// the engine lend a policy what could.
func TestArchitecture_ContestIsApartFromPolicies(t *testing.T) {
	code := func(dir string) (all string) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				bz, read := os.ReadFile(path)
				all, err = all+string(bz), read
			}
			return err
		}))
		return all
	}
	contest, policies, engine := code("contest"), code("policies"), code("engine")
	require.NotContains(t, contest, `x/timers/policies"`)
	require.NotContains(t, contest, `x/timers/engine"`)
	require.NotContains(t, policies, `x/timers/contest"`)
	require.NotContains(t, policies, `x/timers/engine"`)
	for _, reading := range []string{"Records.Page(", "Records.InQueue(", "state.ClassQueued"} {
		require.NotContains(t, policies, reading)
		require.NotContains(t, strings.ReplaceAll(engine, "err = e.Records.Walk(ctx, state.ClassQueued.Between(0, now.Height), func", ""), reading, "CountTimers is for tests")
	}
	require.Contains(t, contest, "Records.Page(")
}
