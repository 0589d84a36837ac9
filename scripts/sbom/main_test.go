package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/require"
)

// TestTheBillListsWhatTheBinaryStates: each module of this test's own binary is in its bill, with its checksum, and the bill
// is the same each time.
func TestTheBillListsWhatTheBinaryStates(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	const module = "github.com/CycloneDX/cyclonedx-go"
	library := filepath.Join(t.TempDir(), "lib.so")
	require.NoError(t, os.WriteFile(library, []byte("abc"), 0o600))
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		require.NoError(t, run(out, "prog", "1.2.3", []string{self, library + "=" + module}))
	}
	require.Equal(t, first.String(), second.String())

	var read cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(&first, cdx.BOMFileFormatJSON).Decode(&read))
	require.Equal(t, "prog", read.Metadata.Component.Name)
	require.Equal(t, "1.2.3", read.Metadata.Component.Version)
	require.Len(t, (*read.Metadata.Component.Hashes)[0].Value, 64)
	byRef := map[string]cdx.Component{}
	for _, c := range *read.Components {
		byRef[c.BOMRef] = c
	}
	require.Len(t, byRef, len(*read.Components), "a reference is there twice")

	built, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	require.NotEmpty(t, built.Deps)
	for _, m := range built.Deps {
		if m.Path == module {
			c := byRef["pkg:golang/"+m.Path+"@"+m.Version+"?type=module"]
			require.Equal(t, m.Sum, (*c.Properties)[0].Value)
		}
	}
	require.Len(t, byRef, len(built.Deps)+2, "the modules, the standard library and the file")
	file := byRef["file:lib.so"]
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", (*file.Hashes)[0].Value)
	require.NotEmpty(t, file.Version)
	require.Equal(t, cdx.BOMReference("file:lib.so"), (*(*read.Compositions)[0].Assemblies)[0], "what is in the file is not listed")
}

func TestReplacedModulesAreNamedByWhatWasBuilt(t *testing.T) {
	b := bill{version: "1.2.3", modules: map[string]string{}}
	b.addModules(&debug.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{
		{Path: "a.example/x", Version: "v1.0.0", Sum: "h1:1", Replace: &debug.Module{Path: "b.example/x", Version: "v1.1.0+incompatible", Sum: "h1:2"}},
		{Path: "c.example/local", Version: "v0.0.0", Replace: &debug.Module{Path: "./local", Version: "(devel)"}},
	}})
	var purls []string
	for _, c := range b.components {
		purls = append(purls, c.PackageURL)
	}
	require.Equal(t, []string{
		"pkg:golang/std@1.26.0", "pkg:golang/b.example/x@v1.1.0%2Bincompatible?type=module", "pkg:golang/c.example/local@1.2.3?type=module",
	}, purls)
}

func TestMistakesAreRefused(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for want, args := range map[string][]string{
		"want -version and a binary":            nil,
		"unrecognized file format":              {"main.go"},
		"want FILE=MODULE with a module of the": {self, "main.go=none.example/x"},
		"no such file":                          {self, "nothing=github.com/CycloneDX/cyclonedx-go"},
	} {
		err := run(&bytes.Buffer{}, "prog", "1", args)
		require.Error(t, err, want)
		require.True(t, strings.Contains(err.Error(), want), err.Error())
	}
}
