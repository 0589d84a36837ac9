package types_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The flag -update rewrites the golden files; their diff is then reviewed. A library that the SDK's test helpers import
// may have defined it already, for the same purpose.
func init() {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "rewrite golden files")
	}
}

// requireGolden compares with a file of testdata, or rewrites it.
func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s: if this change is meant, run the test with -update", path)
}

// declared is an error as errors.go declares it.
type declared struct {
	name string
	code uint32
	text string
}

// declaredErrors reads errors.go, so that no error can be forgotten here.
func declaredErrors(t *testing.T) []declared {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	require.NoError(t, err)
	var all []declared
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		require.Len(t, spec.Values, 1, "%v", spec.Names)
		call, ok := spec.Values[0].(*ast.CallExpr)
		require.True(t, ok && len(call.Args) == 3, "%s is not registered", spec.Names[0])
		code, codeIsNumber := call.Args[1].(*ast.BasicLit)
		text, textIsLiteral := call.Args[2].(*ast.BasicLit)
		require.True(t, codeIsNumber && textIsLiteral, "%s", spec.Names[0])
		number, err := strconv.ParseUint(code.Value, 10, 32)
		require.NoError(t, err)
		unquoted, err := strconv.Unquote(text.Value)
		require.NoError(t, err)
		all = append(all, declared{spec.Names[0].Name, uint32(number), unquoted})
		return false
	})
	require.NotEmpty(t, all)
	return all
}

// TestErrorCodesAreNeverRenumbered: receipts and scenario files name codes.
//
// Rule: 8-never-renumbered
func TestErrorCodesAreNeverRenumbered(t *testing.T) {
	var golden strings.Builder
	for _, e := range declaredErrors(t) {
		fmt.Fprintf(&golden, "%d %s: %s\n", e.code, e.name, e.text)
	}
	requireGolden(t, "errors.golden", golden.String())
}

func TestErrorsAreRegisteredOnceEach(t *testing.T) {
	names, codes, texts := map[string]bool{}, map[uint32]bool{}, map[string]bool{}
	for _, e := range declaredErrors(t) {
		require.True(t, strings.HasPrefix(e.name, "Err"), "%s", e.name)
		require.False(t, names[e.name] || codes[e.code] || texts[e.text], "%s stands twice", e.name)
		require.GreaterOrEqual(t, e.code, uint32(2), "code 1 is the SDK's own")
		require.LessOrEqual(t, e.code, uint32(1_000), "%s", e.name)
		require.Equal(t, strings.ToLower(e.text[:1]), e.text[:1], "%s begins in lower case", e.name)
		names[e.name], codes[e.code], texts[e.text] = true, true, true
	}
}

// TestErrorsSpeakForTheModule: what a client sees of each is the module's codespace and its code.
//
// Rule: 8-codespace
func TestErrorsSpeakForTheModule(t *testing.T) {
	all := declaredErrors(t)
	for _, err := range []*errorsmod.Error{
		types.ErrUnauthorized, types.ErrTimerNotFound, types.ErrInvalidTimerID, types.ErrInvalidConfig, types.ErrInvalidGenesis,
		types.ErrPanicked, types.ErrOutOfCycles, types.ErrOutOfCells, types.ErrActorGone, types.ErrReentered,
		types.ErrInsufficientFunds, types.ErrInternal,
	} {
		codespace, code, _ := errorsmod.ABCIInfo(errorsmod.Wrap(err.Wrap("within"), "around"), false)
		require.Equal(t, types.ModuleName, codespace)
		i := slices.IndexFunc(all, func(e declared) bool { return e.code == code })
		require.GreaterOrEqual(t, i, 0, "%d is not declared", code)
		require.ErrorContains(t, err, all[i].text)
	}
	for _, e := range all {
		// The registry answers for every declared code, so none is registered under another codespace.
		found := errorsmod.ABCIError(types.ModuleName, e.code, "log")
		require.ErrorContains(t, found, e.text, "%s", e.name)
		codespace, code, _ := errorsmod.ABCIInfo(found, false)
		require.Equal(t, types.ModuleName, codespace)
		require.Equal(t, e.code, code)
	}
}
