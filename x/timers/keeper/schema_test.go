//go:build !noguests

package keeper

import (
	"encoding/hex"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	gotypes "go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// stateRow is one row of the table of README.md, "State".
type stateRow struct {
	prefix, name string
	key          []string
	value        string
	writer       string
	bound        string
}

var (
	stateTable = regexp.MustCompile(`(?s)<!-- state table: begin -->\n(.*)<!-- state table: end -->`)
	// keyPart is the type of a part of a key, after its name.
	keyPart = regexp.MustCompile("^[a-z]+ `([A-Za-z0-9.]+)`$")
	code    = regexp.MustCompile("^`([^`]+)`$")
)

// readStateTable reads the table, and fails on a row that does not say all that it should.
func readStateTable(t *testing.T, readme string) []stateRow {
	t.Helper()
	table := stateTable.FindStringSubmatch(readme)
	require.NotNil(t, table, "README.md has no state table between its two markers")
	lines := strings.Split(strings.TrimSpace(table[1]), "\n")
	require.Equal(t, "| prefix | collection | key | value | written by | bound |", lines[0])
	var rows []stateRow
	for _, line := range lines[2:] {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		require.Len(t, cells, 6, "%s", line)
		quoted := func(cell string) string {
			match := code.FindStringSubmatch(strings.TrimSpace(cell))
			require.NotNil(t, match, "%q in %s", cell, line)
			return match[1]
		}
		row := stateRow{
			prefix: quoted(cells[0]), name: quoted(cells[1]), value: quoted(cells[3]),
			writer: strings.TrimSpace(cells[4]), bound: strings.TrimSpace(cells[5]),
		}
		if key := strings.TrimSpace(cells[2]); key != "" {
			for _, part := range strings.Split(key, ", ") {
				match := keyPart.FindStringSubmatch(part)
				require.NotNil(t, match, "%q in %s", part, line)
				row.key = append(row.key, match[1])
			}
		}
		require.NotEmpty(t, row.writer, "no one writes %s", row.name)
		require.NotEmpty(t, row.bound, "%s has no bound", row.name)
		rows = append(rows, row)
	}
	return rows
}

// schemaGuests are the options of newSchemaKeeper's chain.
func schemaGuests() *options { return &options{policies: guests.All(), agents: agents.New} }

// keyTypes returns the types of the parts of a collection's key, as the table writes them. The schema does not tell the
// type of a key: it is read from the map that the collection wraps.
func keyTypes(t *testing.T, c collections.Collection) []string {
	t.Helper()
	wrapped := reflect.Indirect(reflect.ValueOf(c))
	if wrapped.Kind() != reflect.Struct {
		return nil
	}
	holder := reflect.New(wrapped.Type()).Elem()
	holder.Set(wrapped)
	field := holder.FieldByName("m")
	if !field.IsValid() {
		return nil
	}
	of := reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
	key := of.MethodByName("KeyCodec").Call(nil)[0].MethodByName("KeyType").Call(nil)[0].String()
	for _, tuple := range []string{"Pair[", "Triple[", "Quad["} {
		if parts, several := strings.CutPrefix(key, tuple); several {
			return strings.FieldsFunc(strings.TrimSuffix(parts, "]"), func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	if key == "no_key" {
		return nil
	}
	return []string{key}
}

// valueType is the type of a collection's value, as the table writes it: a message by its full name.
func valueType(c collections.Collection) string {
	value := c.ValueCodec().ValueType()
	return value[strings.LastIndexByte(value, '/')+1:]
}

// TestStateTableIsTheSchema: every collection has its row and every row its collection.
//
// Rule: 2-one-store, 2-table
func TestStateTableIsTheSchema(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	k := newSchemaKeeper(t)
	byName := map[string]collections.Collection{}
	for _, c := range k.schema.ListCollections() {
		byName[c.GetName()] = c
	}
	last := ""
	for _, row := range readStateTable(t, string(readme)) {
		c, exists := byName[row.name]
		require.True(t, exists, "the table has %s, the schema has not (or the table has it twice)", row.name)
		delete(byName, row.name)
		require.Equal(t, prefixText(c), row.prefix, "prefix of %s", row.name)
		require.Less(t, last, row.prefix, "rows are in the order of their prefixes")
		require.Equal(t, keyTypes(t, c), row.key, "key of %s", row.name)
		require.Equal(t, valueType(c), row.value, "value of %s", row.name)
		last = row.prefix
	}
	require.Empty(t, byName, "collections that the table lacks")
}

func prefixText(c collections.Collection) string { return "0x" + hex.EncodeToString(c.GetPrefix()) }

// regionConstants are the numbers that types/keys.go gives to regions of the store, by the names of what it declares.
func regionConstants(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	require.NoError(t, err)
	// What the file imports is not needed to know the values of its constants.
	known := &gotypes.Info{Types: map[ast.Expr]gotypes.TypeAndValue{}}
	_, _ = (&gotypes.Config{Error: func(error) {}}).Check("types", files, []*ast.File{file}, known)
	numbers := map[string]uint64{}
	for _, declared := range file.Decls {
		group, ok := declared.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			values, ok := spec.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(values.Names[0].Name, "Prefix") {
				continue
			}
			require.Len(t, values.Names, 1)
			require.Len(t, values.Values, 1, "%s", values.Names[0].Name)
			number := values.Values[0]
			if call, ok := number.(*ast.CallExpr); ok {
				number = call.Args[0]
			}
			value := known.Types[number].Value
			require.NotNil(t, value, "%s is no constant", values.Names[0].Name)
			numbers[values.Names[0].Name], ok = constant.Uint64Val(value)
			require.True(t, ok, "%s", values.Names[0].Name)
		}
	}
	return numbers
}

// TestEachRegionHasAPrefixOfItsOwn: of all that is mounted in the module's store, whichever package mounts it. The
// regions from types.FirstPolicyPrefix on are those of guests.
//
// Rule: 2-one-store
func TestEachRegionHasAPrefixOfItsOwn(t *testing.T) {
	numbers := regionConstants(t, "../types/keys.go")
	taken := map[uint64]string{}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		require.Empty(t, taken[numbers[name]], "%s and another have prefix %d", name, numbers[name])
		require.Less(t, numbers[name], uint64(256), "%s", name)
		taken[numbers[name]] = name
	}
	require.Greater(t, len(taken), 20)
	for _, c := range newSchemaKeeper(t).schema.ListCollections() {
		name := taken[uint64(c.GetPrefix()[0])]
		require.NotEmpty(t, name, "types/keys.go does not have the prefix of %s", c.GetName())
		ofGuest := strings.HasPrefix(c.GetName(), "tip_") || c.GetName() == "agents"
		require.Equal(t, ofGuest, c.GetPrefix()[0] >= types.FirstPolicyPrefix, "%s: which regions are those of guests", c.GetName())
	}
	require.Less(t, numbers["PrefixWatchNotes"], uint64(types.FirstPolicyPrefix))

	// A prefix with a number of its own would escape the above.
	literal := regexp.MustCompile(`NewPrefix\((\[\]byte\{)?["0-9]`)
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		inState := filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go")
		if err != nil || !inState || path == "../types/keys.go" {
			return err
		}
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, literal.FindAllString(string(source), -1), "%s: types/keys.go is where prefixes are numbered", path)
		return nil
	}))
}

// TestStorePrefixesAreStable: chains have state stored under them.
//
// Rule: 2-table
func TestStorePrefixesAreStable(t *testing.T) {
	for name, prefix := range map[string]byte{
		"config": 1, "next_config": 2, "seq": 3, "lane": 4, "records": 5, "payloads": 7, "receipts": 9,
		"fires": 10, "fire_counts": 11, "ready": 12, "owners": 14, "recents": 15, "agents": 36,
		"watched": 20, "watches": 21, "watch_hits": 24, "watch_pending": 25, "watch_cursors": 26,
	} {
		found := false
		for _, c := range newSchemaKeeper(t).schema.ListCollections() {
			if c.GetName() == name {
				require.Equal(t, []byte{prefix}, c.GetPrefix(), "%s", name)
				found = true
			}
		}
		require.True(t, found, "%s is gone", name)
	}
}
