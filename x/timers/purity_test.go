package timers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The packages under x/timers depend on each other in one direction, and what runs inside blocks gives the same result
// on every node. This test reads the code and holds both (CONTRIBUTING.md, "Test and lint").

const root = "github.com/cosmos-timers/timers"

// pureRank orders the pure packages: each may import those of a lower rank, the standard library, cosmossdk.io/math and pureToo.
var pureRank = map[string]int{
	"decimal": 0, "watch/condition": 0, "logmap": 0, "schedule": 0, "market": 1, "market/auction": 2, "market/score": 2, "market/tip": 2,
}

// pureToo is what pure packages may import of others: data structures.
const pureToo = "github.com/tidwall/btree"

// guestRoom is what the rooms of guests may import.
var guestRoom = []string{"types", "report", "sandbox", "watch", "state", "fees", "triggers", "policies"}

// mayImport says which of our own packages, in addition to the pure ones, a package of the module may import: dependencies
// run one way, from the pure packages over state and policies to the engine and the keeper. So do the packages of the clients. What is not named here, such as client/cli, may import all of the
// module.
var mayImport = map[string][]string{
	"types":      {},
	"report":     {"types"},
	"sandbox":    {"types"},
	"actors":     {"types", "sandbox"},
	"authz":      {"types"},
	"genesis":    {"types"},
	"module/v1":  {},
	"state":      {"types", "sandbox"},
	"watch":      {"types", "sandbox"},
	"fees":       {"types", "sandbox", "watch"},
	"recurrence": {"types"},
	"triggers":   {"types", "sandbox", "state", "watch", "recurrence"},
	"contest":    {"types", "state", "fees"},
	"policies":   {"types", "sandbox", "state", "fees"},

	"policies/auction": guestRoom,
	"policies/score":   guestRoom,
	"policies/tip":     guestRoom,
	"policies/agents":  guestRoom,
	"policies/guests":  {"policies", "policies/auction", "policies/score", "policies/tip"},

	"engine": {"types", "report", "sandbox", "state", "fees", "recurrence", "triggers", "policies", "contest"},
	"keeper": {"types", "genesis", "report", "sandbox", "state", "watch", "fees", "recurrence", "triggers", "policies", "contest", "engine"},

	"client/timespan":  {},
	"client/when":      {"client/timespan"},
	"client/course":    {"types", "client/timespan"},
	"client/remote":    {"types", "client/event"},
	"client/impact":    {"types", "client/plain", "client/words", "client/bids"},
	"client/words":     {"types", "client/plain", "client/timespan", "client/when"},
	"client/event":     {},
	"client/plain":     {"types"},
	"client/job":       {"types", "client/plain", "client/timespan", "client/when", "client/words"},
	"client/bids":      {"types", "client/plain", "client/timespan", "client/job"},
	"client/draft":     {"types", "authz", "client/plain", "client/timespan", "client/when", "client/course", "client/job", "client/bids"},
	"client/outlook":   {"types", "client/plain", "client/timespan", "client/course", "client/job", "client/bids"},
	"client/broadcast": {"types", "client/job", "client/plain", "client/remote", "client/history"},
	"client/history":   {"types", "client/plain", "client/timespan", "client/event", "client/words", "client/job"},
	"client/lists":     {"types", "client/plain", "client/timespan", "client/words", "client/job", "client/outlook"},
	"client/describe":  {"types", "client/plain", "client/timespan", "client/words", "client/course", "client/job", "client/bids", "client/outlook"},
	"client/dryrun":    {"types", "client/plain", "client/job"},
	"client/metrics":   {"types", "report"},
	"client/monitor":   {"types", "client/plain", "client/timespan", "client/event", "client/words", "client/job"},
}

// outside are the packages that run in clients, tests and tools, never within a block.
var outside = []string{"client", "simulation", "testutil"}

// exemption lets one file break one rule.
type exemption struct {
	file   string
	rule   rule
	reason string
}

const onInvariants = "invariants are checked between blocks by tests, the lab and simulations, never in one"

var exemptions = []exemption{
	{"state/fairness_invariants.go", ruleMapRange, onInvariants},
	{"state/fairness_invariants.go", ruleErrorWrap, onInvariants},
	{"state/records_invariants.go", ruleErrorWrap, onInvariants},
	{"triggers/invariants.go", ruleErrorWrap, onInvariants},
	{"triggers/waiting_genesis.go", ruleErrorWrap, onInvariants},
	{"policies/agents/registry.go", ruleErrorWrap, onInvariants},
	{"policies/tip/weights.go", ruleErrorWrap, onInvariants},
	{"keeper/keeper.go", ruleErrorWrap, onInvariants},
}

// source is a file of the module that is neither a test nor generated.
type source struct {
	// dir is that of the package below x/timers; "" is the module's own.
	dir, name string
	syntax    *ast.File
}

func (s source) path() string { return path.Join(s.dir, s.name) }

// generated tells whether a file is written by the code generators; those of protobuf marshal floats that we have none of.
func generated(name string) bool {
	return strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, ".pb.gw.go")
}

// sources parses all files below x/timers but tests, generated ones among them.
func sources(t *testing.T, fset *token.FileSet) []source {
	t.Helper()
	var all []source
	require.NoError(t, filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		syntax, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), ".")
		all = append(all, source{dir, entry.Name(), syntax})
		return err
	}))
	require.Greater(t, len(all), 30, "the walk has missed the code")
	return all
}

// importBreach says why a package of the module, named by its directory, may not import a path; "" if it may.
func importBreach(dir, imported string) string {
	for _, forbidden := range []string{
		root + "/app", root + "/cmd", root + "/lab", root + "/wasmbinding", root + "/evmbinding",
		"github.com/CosmWasm/wasmd", "github.com/cosmos/evm", "github.com/ethereum/go-ethereum",
	} {
		if imported == forbidden || strings.HasPrefix(imported, forbidden+"/") {
			return "nothing under x/timers may import " + forbidden
		}
	}
	own, ours := strings.CutPrefix(imported, root+"/x/timers")
	own = strings.TrimPrefix(own, "/")
	importedRank, importedPure := pureRank[own]
	if rank, pure := pureRank[dir]; pure {
		switch {
		case ours && importedPure && importedRank < rank:
		case !strings.Contains(imported, "."), imported == "cosmossdk.io/math", imported == pureToo:
		default:
			return "a pure package imports the standard library, cosmossdk.io/math, a B-tree and pure packages of lower rank alone"
		}
		return ""
	}
	allowed, limited := mayImport[dir]
	switch {
	case !ours || !limited:
		return ""
	case !importedPure && !slices.Contains(allowed, own):
		if len(allowed) == 0 {
			return dir + " may import pure packages alone of ours"
		}
		return dir + " may import " + strings.Join(allowed, ", ") + " and pure packages alone of ours"
	}
	return ""
}

func TestImportsRunOneWay(t *testing.T) {
	for _, file := range sources(t, token.NewFileSet()) {
		for _, spec := range file.syntax.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if breach := importBreach(file.dir, imported); breach != "" {
				t.Errorf("%s imports %s: %s", file.path(), imported, breach)
			}
		}
	}
}

func TestImportRulesCanFail(t *testing.T) {
	const timers = root + "/x/timers"
	for _, c := range []struct {
		dir, imported string
		refused       bool
	}{
		{"market", "cosmossdk.io/math", false},
		{"market", "slices", false},
		{"market", timers + "/decimal", false},
		{"market", timers + "/market/tip", true},
		{"market", timers + "/types", true},
		{"market", timers, true},
		{"market", "cosmossdk.io/errors", true},
		{"market", "cosmossdk.io/math/unsafe", true},
		{"market", "github.com/cosmos/cosmos-sdk/types", true},
		{"market/tip", timers + "/market", false},
		{"market/tip", timers + "/market/score", true},
		{"market/tip", timers + "/types", true},
		{"keeper", timers + "/market/tip", false},
		{"types", timers + "/market/tip", false},
		{"decimal", timers + "/market", true},
		{"schedule", "cosmossdk.io/collections", true},
		{"logmap", timers + "/state", true},
		{"types", "github.com/cosmos/cosmos-sdk/types", false},
		{"types", timers + "/market", false},
		{"types", timers + "/keeper", true},
		{"types", timers, true},
		{"actors", timers + "/types", false},
		{"actors", timers + "/keeper", true},
		{"keeper", timers + "/types", false},
		{"keeper", timers + "/market", false},
		{"keeper", timers + "/actors", true},
		{"keeper", timers + "/watch", false},
		{"watch", timers + "/types", false},
		{"watch", timers + "/keeper", true},
		{"watch", timers + "/market", false},
		{"state", timers + "/watch", true},
		{"policies", timers + "/engine", true},
		{"keeper", timers + "/testutil/lab", true},
		{"keeper", timers + "/client/cli", true},
		{"keeper", timers, true},
		{"", timers + "/keeper", false},
		{"", root + "/app", true},
		{"testutil/lab", timers, false},
		{"testutil/lab", root + "/app", true},
		{"testutil/lab", root + "/lab/scenario", true},
		{"client/cli", root + "/cmd/timerd", true},
		{"client/cli", timers + "/client/monitor", false},
		{"client/job", timers + "/client/draft", true},
		{"client/bids", timers + "/client/outlook", true},
		{"client/monitor", timers + "/client/history", true},
		{"actors", "github.com/CosmWasm/wasmd/x/wasm/keeper", true},
		{"actors", "github.com/CosmWasm/wasmd", true},
		{"actors", root + "/evmbinding", true},
		{"fees", "github.com/cosmos/evm/x/feemarket/keeper", true},
		{"actors", "github.com/ethereum/go-ethereum/common", true},
		{"actors", "github.com/CosmWasm/wasmvm/v2/types", false},
	} {
		require.Equal(t, c.refused, importBreach(c.dir, c.imported) != "", "%q imports %s", c.dir, c.imported)
	}
}

// TestConsensusCodeIsPure: no floats, no clock, no random numbers, no goroutines, no ranging over maps in code that runs
// within blocks. A package that no one has named is taken to run there.
//
// Rule: 1.1-no-floats
func TestConsensusCodeIsPure(t *testing.T) {
	l := newLoader(t)
	packages := map[string][]*ast.File{}
	written := map[string]bool{}
	for _, file := range sources(t, l.fset) {
		top, _, _ := strings.Cut(file.dir, "/")
		if slices.Contains(outside, top) {
			continue
		}
		packages[file.dir] = append(packages[file.dir], file.syntax)
		written[file.path()] = !generated(file.name)
	}
	needed := map[exemption]bool{}
	for dir, files := range packages {
		for _, f := range l.check(t, path.Join(root, "x/timers", dir), files) {
			file := path.Join(dir, f.file)
			if !written[file] {
				continue
			}
			// What pure packages wrap is of their own and of the standard library.
			if _, pure := pureRank[dir]; pure && f.rule == ruleErrorWrap {
				continue
			}
			i := slices.IndexFunc(exemptions, func(e exemption) bool { return e.file == file && e.rule == f.rule })
			if i < 0 {
				t.Errorf("%s", path.Join(dir, f.at))
				continue
			}
			needed[exemptions[i]] = true
		}
	}
	for _, dir := range []string{"", "types", "market", "market/auction", "market/score", "market/tip", "schedule", "logmap", "state", "contest", "policies", "engine", "keeper", "actors", "watch"} {
		require.NotEmpty(t, packages[dir], "package %q was not checked", dir)
	}
	for _, e := range exemptions {
		require.True(t, needed[e], "%s no longer needs its exemption (%s: %s)", e.file, e.rule, e.reason)
	}
}

// TestBindings_FormatNoPlaces: nor does the code of the bindings, which other modules hold, format an error so that its text
// may have the place of a file. What panics while a chain is wired may.
func TestBindings_FormatNoPlaces(t *testing.T) {
	for dir, least := range map[string]int{"../../wasmbinding": 4, "../../evmbinding": 15} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
		if len(files) == 0 {
			t.Skipf("%s is not here: x/timers stands alone", dir)
		}
		require.GreaterOrEqual(t, len(files), least)
		fset := token.NewFileSet()
		for _, file := range files {
			syntax, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(syntax, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok || panics(node) != nil {
					return !ok
				}
				checkFormat(call, named, func(at ast.Node, broken rule) { t.Errorf("%s: %s", fset.Position(at.Pos()), broken) })
				return true
			})
		}
	}
}

// TestPurityCheckerCanFail: each of these breaks exactly the rule that it says, or none.
func TestPurityCheckerCanFail(t *testing.T) {
	l := newLoader(t)
	for name, c := range map[string]struct {
		code string
		want []rule
	}{
		"a float variable":          {`var x float64`, []rule{ruleFloat}},
		"a float parameter":         {`func f(float32) {}`, []rule{ruleFloat}},
		"a named float":             {`type price float64; var p price`, []rule{ruleFloat}},
		"a float constant":          {`const half = 0.5`, []rule{ruleFloat}},
		"a float by inference":      {`func f() any { x := 1.5; return x }`, []rule{ruleFloat}},
		"a conversion and back":     {`func f(n int) int { return int(float64(n) * 2) }`, []rule{ruleFloat}},
		"a float among results":     {`import "strconv"; func f() { _, _ = strconv.ParseFloat("1", 64) }`, []rule{ruleFloat}},
		"a float of a field":        {`type s struct{ f float32 }`, []rule{ruleFloat}},
		"a complex number":          {`var z = complex(1, 2)`, []rule{ruleFloat}},
		"a decimal's float":         {`import "cosmossdk.io/math"; func f(d math.LegacyDec) bool { return d.MustFloat64() > 1 }`, []rule{ruleFloat}},
		"now":                       {`import "time"; var t = time.Now()`, []rule{ruleClock}},
		"now under another name":    {`import clock "time"; var t = clock.Now`, []rule{ruleClock}},
		"now without a name":        {`import . "time"; var t = Now()`, []rule{ruleClock}},
		"since":                     {`import "time"; func f(t time.Time) bool { return time.Since(t) > 0 }`, []rule{ruleClock}},
		"a sleep":                   {`import "time"; func f() { time.Sleep(1) }`, []rule{ruleClock}},
		"random numbers":            {`import "math/rand"; var n = rand.Int()`, []rule{ruleRandom}},
		"newer random numbers":      {`import r "math/rand/v2"; var n = r.Int()`, []rule{ruleRandom}},
		"secret random numbers":     {`import _ "crypto/rand"`, []rule{ruleRandom}},
		"a goroutine":               {`func f() { go f() }`, []rule{ruleGoroutine}},
		"a goroutine in a literal":  {`var f = func() { go func() {}() }`, []rule{ruleGoroutine}},
		"a select":                  {`func f(c chan int) { select { case <-c: default: } }`, []rule{ruleSelect}},
		"a map":                     {`func f(m map[int]int) { for range m {} }`, []rule{ruleMapRange}},
		"a named map":               {`type set map[string]bool; func f(s set) { for k := range s { _ = k } }`, []rule{ruleMapRange}},
		"a map within":              {`type s struct{ m map[int]int }; func f(x *s) { for range x.m {} }`, []rule{ruleMapRange}},
		"a map of another package":  {`import "net/url"; func f(v url.Values) { for range v {} }`, []rule{ruleMapRange}},
		"a map that is made here":   {`func f() { for range map[int]int{1: 1} {} }`, []rule{ruleMapRange}},
		"a map of a type parameter": {`func f[M ~map[int]int](m M) { for range m {} }`, []rule{ruleMapRange}},
		"the keys of a map":         {`import "maps"; func f(m map[int]int) { for range maps.Keys(m) {} }`, []rule{ruleMapRange}},
		"keys by reflection":        {`import "reflect"; func f(v reflect.Value) { v.MapKeys() }`, []rule{ruleMapRange}},
		"a concurrent map":          {`import "sync"; func f(m *sync.Map) { m.Range(nil) }`, []rule{ruleMapRange}},
		"the environment":           {`import "os"; var e = os.Args`, []rule{ruleSystem}},
		"an error's text":           {`import "fmt"; func f(err error) error { return fmt.Errorf("no: %v", err) }`, []rule{ruleErrorText}},
		"an error's stack":          {`import "fmt"; func f(err error) string { return fmt.Sprintf("%d: %+v", 1, err) }`, []rule{ruleErrorText}},
		"a wrapped error":           {`import "fmt"; func f(err error) error { return fmt.Errorf("%5.2q no: %w", "a", err) }`, []rule{ruleErrorWrap}},
		"a reason":                  {`import e "cosmossdk.io/errors"; func f(x *e.Error, err error) error { return x.Wrapf("%d%% "+"no: %.20v", 5, err) }`, []rule{ruleErrorText}},
		"two at once":               {`func f(m map[int]int) { for range m { go f(m) } }`, []rule{ruleGoroutine, ruleMapRange}},

		"an error by %s":          {`import e "cosmossdk.io/errors"; func f(x *e.Error, err error) error { return x.Wrapf("no: %.20s", err) }`, nil},
		"a value by %v":           {`import "fmt"; func f(all []int, err error) error { return fmt.Errorf("%v: %s", all, err) }`, nil},
		"a slice":                 {`func f(s []int) { for range s {} }`, nil},
		"an integer":              {`func f() { for range 3 {} }`, nil},
		"a map that is looked up": {`func f(m map[int]int) int { m[1]++; delete(m, 2); return m[1] + len(m) }`, nil},
		"a copy of a map":         {`import "maps"; func f(m map[int]int) map[int]int { return maps.Clone(m) }`, nil},
		"a duration":              {`import "time"; const d = 3 * time.Second`, nil},
		"the time of a block":     {`import "time"; var t = time.Unix(1, 0).UTC()`, nil},
		"an integer as 1e6":       {`const n uint64 = 1e6`, nil},
		"decimals":                {`import "cosmossdk.io/math"; var d = math.LegacyNewDecWithPrec(1, 3)`, nil},
		"names that look so":      {`type s struct{}; func (s) Now() s { return s{} }; var rand = s{}.Now()`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := parser.ParseFile(l.fset, "snippet.go", "package snippet\n"+c.code, parser.SkipObjectResolution)
			require.NoError(t, err)
			var got []rule
			for _, f := range l.check(t, "snippet", []*ast.File{file}) {
				got = append(got, f.rule)
			}
			slices.Sort(got)
			require.Equal(t, c.want, slices.Compact(got))
		})
	}
}

// guestDirs are the guests, and the rules of those that are policies.
var guestDirs = []string{"policies/agents", "policies/auction", "policies/score", "policies/tip", "market/auction", "market/score", "market/tip"}

// linked returns the packages of the module that one of them links, itself among them.
func linked(t *testing.T, from string) map[string]bool {
	t.Helper()
	imports := map[string][]string{}
	for _, file := range sources(t, token.NewFileSet()) {
		dir := strings.TrimPrefix(file.dir, "/")
		for _, spec := range file.syntax.Imports {
			if own, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), root+"/x/timers"); ours {
				imports[dir] = append(imports[dir], strings.TrimPrefix(own, "/"))
			}
		}
	}
	seen := map[string]bool{}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		if !seen[next[0]] {
			seen[next[0]] = true
			next = append(next, imports[next[0]]...)
		}
	}
	return seen
}

// testedWithoutGuests are the packages of the module that its tests link which are built with the tag noguests, but for those of the
// guests themselves.
func testedWithoutGuests(t *testing.T) map[string]bool {
	t.Helper()
	list := func(args ...string) []string {
		out, err := exec.Command("go", append([]string{"list", "-tags", "noguests"}, args...)...).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	isGuest := func(path string) bool {
		return slices.Contains(append(guestDirs, "policies/guests"), strings.TrimPrefix(path, root+"/x/timers/"))
	}
	tested := map[string]bool{}
	for _, path := range list(append([]string{"-deps", "-test"}, slices.DeleteFunc(list("./..."), isGuest)...)...) {
		if own, ours := strings.CutPrefix(path, root+"/x/timers/"); ours {
			tested[own] = true
		}
	}
	require.True(t, tested["policies"])
	return tested
}

// TestGuests_AreLinkedByWhoRegistersThem: a chain that registers none has fifo and eip1559, and no line of the others; so have the
// tests of the module without guests.
//
// Rule: 1.7-guests
func TestGuests_AreLinkedByWhoRegistersThem(t *testing.T) {
	for _, from := range []string{"", "client/cli", "client/monitor", "simulation"} {
		packages := linked(t, from)
		require.Greater(t, len(packages), 10, "%q", from)
		for _, guest := range guestDirs {
			require.False(t, packages[guest], "%q links %s", from, guest)
		}
	}
	for dependency := range testedWithoutGuests(t) {
		require.NotContains(t, append(guestDirs, "policies/guests"), dependency, "linked by tests that are built with the tag noguests")
	}
	registered := linked(t, "policies/guests")
	for _, guest := range slices.DeleteFunc(slices.Clone(guestDirs), func(dir string) bool { return dir == "policies/agents" }) {
		require.True(t, registered[guest], guest)
	}
}
