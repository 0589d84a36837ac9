package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const source = `package a

func Larger(a, b int) (int, bool) {
	if a > b {
		count++
		return a, true
	}
	note(b)
	last = b
	return b, false
}
`

func TestMutantsOfASource(t *testing.T) {
	found, err := mutantsIn("a.go", []byte(source))
	require.NoError(t, err)
	var list []string
	for _, m := range found {
		list = append(list, m.String())
	}
	require.Equal(t, []string{
		"a.go:4 negated: if a > b {", "a.go:4 operator >=: if a > b {", "a.go:4 operator <=: if a > b {",
		"a.go:5 operator --: count++",
		"a.go:6 zero 0: return a, true", "a.go:6 zero false: return a, true",
		"a.go:8 removed: note(b)", "a.go:9 removed: last = b",
		"a.go:10 zero 0: return b, false",
	}, list)
	require.Contains(t, string(found[0].apply([]byte(source))), "if !(a > b) {\n")
	require.Contains(t, string(found[3].apply([]byte(source))), "\tcount--\n")
	require.Contains(t, string(found[6].apply([]byte(source))), "}\n\t\n\tlast")
	require.Equal(t, sample(found, 1, 4), sample(found, 1, 4))
	require.NotEqual(t, sample(found, 1, 9), sample(found, 2, 9))
	require.Len(t, sample(found, 1, 99), len(found))
}

// A package with a good test and one with a poor one: the share says so, and the sources stay as they are. Of the seven
// mutants two do not compile, and one is equivalent.
func TestTheShareTellsGoodTestsFromPoorOnes(t *testing.T) {
	for test, want := range map[string]string{
		"if Max(1, 2) != 2 || Max(2, 1) != 2 { t.Fail() }": "4 of 5 mutants killed (80 %), of 7",
		"Max(1, 2)": "0 of 5 mutants killed (0 %), of 7",
	} {
		dir := t.TempDir()
		write := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		code := "package a\n\nfunc Max(a, b int) int {\n\tif a < b {\n\t\treturn b\n\t}\n\treturn a\n}\n\nfunc name() {\n\tn := \"one\" + \"two\"\n\t_ = n\n}\n"
		write("go.mod", "module a\n\ngo 1.23\n")
		write("a.go", code)
		write("a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) { "+test+" }\n")
		t.Chdir(dir)
		var out bytes.Buffer
		r := &runner{count: 99, seed: 1, timeout: time.Minute, out: &out, progress: t.Output()}
		require.NoError(t, r.measure("."))
		t.Log(out.String())
		require.Contains(t, out.String(), want)
		kept, err := os.ReadFile("a.go")
		require.NoError(t, err)
		require.Equal(t, code, string(kept))
	}
}
