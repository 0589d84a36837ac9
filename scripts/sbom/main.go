// Command sbom writes a release's bill of materials in CycloneDX' JSON: the Go modules that a binary states it was built
// from, the standard library, and the files that are shipped with it.
//
//	go run ./scripts/sbom -name timerd -version 1.0.0 BINARY [FILE=MODULE...]
//
// Each FILE comes with the Go module MODULE, whose version it has. The same arguments give the same output.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	name := flag.String("name", "timerd", "name of the program")
	version := flag.String("version", "", "version of the program")
	flag.Parse()
	if err := run(os.Stdout, *name, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, name, version string, args []string) error {
	if len(args) == 0 || version == "" {
		return errors.New("want -version and a binary")
	}
	built, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	program, err := component(cdx.ComponentTypeApplication, args[0], version)
	if err != nil {
		return err
	}
	program.Name = name
	b := bill{version: version, modules: map[string]string{}}
	b.addModules(built)
	for _, arg := range args[1:] {
		if err := b.addFile(arg); err != nil {
			return err
		}
	}
	document := cdx.NewBOM()
	document.Metadata = &cdx.Metadata{Component: program}
	document.Components = &b.components
	if len(b.opaque) > 0 {
		document.Compositions = &[]cdx.Composition{{Aggregate: cdx.CompositionAggregateIncomplete, Assemblies: &b.opaque}}
	}
	return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(document, cdx.SpecVersion1_6)
}

// bill is what a release consists of.
type bill struct {
	// version of the program, and of those of its modules that are in its own repository.
	version    string
	components []cdx.Component
	// modules are the versions of the Go modules by path.
	modules map[string]string
	// opaque are the files whose own parts are not listed.
	opaque []cdx.BOMReference
}

// addModules takes what the binary states. The main module is the program itself.
func (b *bill) addModules(built *debug.BuildInfo) {
	b.add("std", strings.TrimPrefix(built.GoVersion, "go"), "")
	for _, m := range built.Deps {
		path := m.Path
		for m.Replace != nil {
			m = m.Replace
		}
		b.modules[path] = m.Version
		if strings.HasPrefix(m.Path, "./") || strings.HasPrefix(m.Path, "../") {
			// It is a directory of this repository.
			b.add(path, b.version, "")
			continue
		}
		b.add(m.Path, m.Version, m.Sum)
	}
}

func (b *bill) add(path, version, sum string) {
	purl := "pkg:golang/" + path
	if version != "" {
		purl += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	c := cdx.Component{
		BOMRef: purl + "?type=module", Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl + "?type=module",
	}
	if path == "std" {
		c.BOMRef, c.PackageURL = purl, purl
	}
	if sum != "" {
		// Go's checksum is of a list of files and their hashes, and so no hash of a file.
		c.Properties = &[]cdx.Property{{Name: "timers:go-sum", Value: sum}}
	}
	b.components = append(b.components, c)
}

// addFile takes FILE=MODULE.
func (b *bill) addFile(arg string) error {
	file, module, found := strings.Cut(arg, "=")
	version, known := b.modules[module]
	if !found || !known {
		return fmt.Errorf("%q: want FILE=MODULE with a module of the binary", arg)
	}
	c, err := component(cdx.ComponentTypeLibrary, file, version)
	if err != nil {
		return err
	}
	c.Properties = &[]cdx.Property{{Name: "timers:go-module", Value: module}}
	b.components = append(b.components, *c)
	b.opaque = append(b.opaque, cdx.BOMReference(c.BOMRef))
	return nil
}

// component is a file of the release with its hash.
func component(kind cdx.ComponentType, file, version string) (*cdx.Component, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	name := filepath.Base(file)
	return &cdx.Component{
		BOMRef: "file:" + name, Type: kind, Name: name, Version: version,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
	}, nil
}
