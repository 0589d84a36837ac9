package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// written is a directory as the script leaves it: so many packages of a second, and one of so many.
func written(t *testing.T, packages int, seconds string) string {
	t.Helper()
	root, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	for i := range packages {
		text := fmt.Sprintf("0m0.001s 0m0.002s\n0m0.600s 0m0.400s\n%s/p%d\n", root, i)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o600))
	}
	text := fmt.Sprintf("0m0.001s 0m0.002s\n%s 0m0.000s\n%s/long\n", seconds, root)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "long"), []byte(text), 0o600))
	return dir
}

// TestRun_JudgesThePartOfEachPackage: one that takes more than its part of all is named, where all were run.
func TestRun_JudgesThePartOfEachPackage(t *testing.T) {
	for _, c := range []struct {
		packages int
		seconds  string
		above    bool
	}{{120, "0m4.000s", false}, {120, "1m4.500s", true}, {50, "1m4.500s", false}} {
		var out strings.Builder
		above, err := run(&out, written(t, c.packages, c.seconds))
		require.NoError(t, err)
		require.Equal(t, c.above, above, out.String())
		require.Equal(t, c.above, strings.Contains(out.String(), "cpu: long is above its limit of 8 %"))
	}
}

// TestRead_SumsRunsOfAPackage: its lines are times and a directory, and anything else is no such file.
func TestRead_SumsRunsOfAPackage(t *testing.T) {
	root, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	for i, text := range []string{"0m0s 0m0s\n0m1.5s 0m0.5s\n" + root + "/a\n", "0m0s 0m0s\n1m0s 0m1s\n" + root + "/a\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o600))
	}
	all, err := read(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "a", all[0].name)
	require.Equal(t, 63.0, all[0].time.Seconds())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), []byte("one line\n"), 0o600))
	_, err = read(dir)
	require.ErrorContains(t, err, "it has 1 lines: want 3")
}
