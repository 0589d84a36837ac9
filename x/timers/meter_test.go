package timers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readers are the methods by which the end of a block reads many records or entries; look-ups are those that read one.
var (
	readers = []string{"Page", "Walk", "Ended", "Returning", "Outside", "Places"}
	lookups = []string{"InQueue", "Lookup", "Load", "Of", "At", "Has", "Get", "HasLeft"}
	meters  = []string{"TryConsume", "Consume", "Remaining", "Left", "scanLimit", "mayRead", "TakeFor", "IndexReads"}
)

// bounded are the functions that read in a loop without the meter, and by what that is bounded.
var bounded = map[string]string{
	"contest.Reserved":      "maxReserved timers, of actors that the config lists",
	"contest.holdPricedOut": "timers that the block has read, for which the meter paid",
	"contest.askAdmitted":   "timers that the block has admitted or scanned, for which the meter paid",
	"engine.CountTimers":    "no block: tests and the lab",
}

// TestMeter_EachLoopOverTheStoreAsksIt: a function of the end of a block that reads the store in a loop, or hands a loop to a reader of
// it, takes from the overhead or the GC lane there, or is in the list of what else bounds it.
func TestMeter_EachLoopOverTheStoreAsksIt(t *testing.T) {
	seen := map[string]bool{}
	for _, dir := range []string{"contest", "engine"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			for _, decl := range parsed.Decls {
				fn, is := decl.(*ast.FuncDecl)
				if !is || fn.Body == nil || !readsInLoop(fn.Body) {
					continue
				}
				name := dir + "." + fn.Name.Name
				if calls(fn.Body, meters) {
					seen[name] = true
					continue
				}
				require.NotEmpty(t, bounded[name], "%s reads the store in a loop, and asks no meter", name)
				seen[name] = true
			}
		}
	}
	require.Greater(t, len(seen), 10)
	for name := range bounded {
		require.True(t, seen[name], "%s reads no more in a loop", name)
	}
}

// readsInLoop reports whether a function calls a reader, or a look-up within a loop.
func readsInLoop(body ast.Node) (reads bool) {
	if calls(body, readers) {
		return true
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			reads = reads || calls(n, lookups)
		}
		return true
	})
	return reads
}

// calls reports whether a node calls a method of one of some names.
func calls(node ast.Node, names []string) (found bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is {
			if method, is := call.Fun.(*ast.SelectorExpr); is && slices.Contains(names, method.Sel.Name) {
				found = true
			}
		}
		return true
	})
	return found
}
