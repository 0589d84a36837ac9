package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// head imports all that the code in the tests may need.
const head = `
import (
	"example.test/chain/x/timers/market"
	"example.test/chain/x/timers/market/fifo"
	"example.test/chain/x/timers/market/tip"
	"example.test/chain/x/timers/types"
)

var _ = []any{market.Policy(nil), fifo.Rules{}, tip.Rules[int]{}, types.PolicyUnspecified}

`

func TestConditionals(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		want int
	}{
		"comparison":          {"func f(c types.TimerConfig) bool { return c.Policy == types.PolicyTip }", 1},
		"other way round":     {"func f(c types.TimerConfig) bool { return types.PolicyTip != c.Policy }", 1},
		"cases":               {"func f(p types.Policy) {\n\tswitch p {\n\tcase types.PolicyTip, types.PolicyFIFO:\n\t}\n}", 2},
		"key of a map":        {"var v = map[types.Policy]int{types.PolicyTip: 1}", 1},
		"argument":            {"func f(types.Policy) {}\nfunc g() { f(types.PolicyTip) }", 1},
		"number":              {"func f(c types.TimerConfig) bool { return c.Policy == 2 }", 1},
		"order of numbers":    {"func f(c types.TimerConfig) bool { return 1 < c.Policy }", 1},
		"number of a getter":  {"func f(c types.TimerConfig) bool { return int(c.GetPolicy()) == 2 }", 1},
		"number of a case":    {"func f(p types.Policy) {\n\tswitch (p) {\n\tcase 1:\n\tcase 2:\n\t}\n}", 2},
		"constant of ours":    {"const two = 2\nfunc f(p types.Policy) bool { return p == two }", 1},
		"string":              {"func f(p types.Policy) bool { return p.String() == \"POLICY_\" + \"OTHER\" }", 1},
		"string of its own":   {"func f(s string) bool { return s == \"POLICY_TIP\" }", 1},
		"name":                {"func f(s string) {\n\tswitch s {\n\tcase \"fifo\", \"Tip\", \"score\":\n\t}\n}", 2},
		"type assertion":      {"func f(p market.Policy) { _, _ = p.(fifo.Rules) }", 1},
		"of a generic":        {"func f(p market.Policy) { _, _ = p.(tip.Rules[int]) }", 1},
		"of a pointer":        {"func f(p market.Policy) { _, _ = p.(*fifo.Rules) }", 1},
		"by another name":     {"type other = fifo.Rules\nfunc f(p market.Policy) { _, _ = p.(other) }", 1},
		"type switch":         {"func f(p market.Policy) {\n\tswitch p.(type) {\n\tcase nil, fifo.Rules, *tip.Rules[int]:\n\t}\n}", 2},
		"zero":                {"func f(p types.Policy) bool { return p == 0 || p == types.PolicyUnspecified }", 0},
		"two policies":        {"func f(p, q types.Policy) bool { return p == q }", 0},
		"another number":      {"type other int\nfunc f(o other) bool { return o == 2 }", 0},
		"another string":      {"func f(s string) bool { return s == \"score\" || s == \"\" }", 0},
		"a string that lies":  {"func f(s string) string { return s + \"tip\" }", 0},
		"interface":           {"func f(p market.Policy) { _, _ = p.(market.Slicer) }", 0},
		"interface of a room": {"func f(p market.Policy) { _, _ = p.(tip.Sharer) }", 0},
		"no string":           {"func f(p types.Policy) bool { return p.String() == \"\" }", 0},
		"type of ours":        {"type ours struct{ fifo.Rules }\nfunc f(p market.Policy) { _, _ = p.(ours) }", 0},
		"a policy's method":   {"func f(p market.Policy) bool { return p.Less(1, 2) }", 0},
		"name that is shared": {"const PolicyTip = 1\nfunc f(n int) bool { return n == PolicyTip }", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(t, files{"x/timers/engine/made.go": "package engine\n" + head + c.code + "\n"})
			require.Len(t, r.conditionals, c.want)
			require.Equal(t, c.want, r.value(t, "conditionals").value)
			for _, at := range r.conditionals {
				require.Equal(t, "x/timers/engine/made.go", at.file)
			}
			require.Equal(t, 2, r.value(t, "policies named in clients").value, "those of the help table")

			r = measured(t, files{"x/timers/client/cli/made.go": "package cli\n" + head + c.code + "\n"})
			require.Empty(t, r.conditionals)
			require.Equal(t, 2+c.want, r.value(t, "policies named in clients").value)
		})
	}
}

// Before policies have rooms, types of their names in the shared package are theirs.
func TestConditionalsOnTypesByName(t *testing.T) {
	r := measured(t, files{
		"x/timers/market/fifo.go": "package market\n\ntype FIFO struct{}\n\nfunc (FIFO) Less(a, b uint64) bool { return a < b }\n",
		"x/timers/engine/made.go": "package engine\n" + head + "func f(p market.Policy) { _, _ = p.(market.FIFO) }\n",
	})
	require.Equal(t, []place{{"x/timers/engine/made.go", 12, "type FIFO"}}, r.conditionals)
	require.Contains(t, r.sources["fifo"], place{"x/timers/engine/made.go", 5, "imports x/timers/market/fifo"})
}

// A default config chooses one policy, once.
func TestDefaultConfig(t *testing.T) {
	config := func(name, more string) files {
		return files{"x/timers/types/config.go": fmt.Sprintf("package types\n\nfunc %s() TimerConfig {\n%s"+
			"\treturn TimerConfig{Policy: PolicyTip}\n}\n", name, more)}
	}
	for name, c := range map[string]struct {
		changed files
		want    int
	}{
		"once":             {config("DefaultTimerConfig", ""), 0},
		"twice":            {config("DefaultTimerConfig", "\t_ = TimerConfig{Policy: PolicyFIFO}\n"), 1},
		"comparison":       {config("DefaultTimerConfig", "\tif p := Policy(1); p == PolicyFIFO {\n\t\treturn TimerConfig{}\n\t}\n"), 1},
		"another function": {config("otherConfig", ""), 1},
		"another package": {
			files{"x/timers/engine/made.go": "package engine\n\nimport \"example.test/chain/x/timers/types\"\n\n" +
				"func DefaultTimerConfig() types.TimerConfig { return types.TimerConfig{Policy: types.PolicyTip} }\n"}, 1,
		},
	} {
		require.Len(t, measured(t, c.changed).conditionals, c.want, name)
	}
}

func TestSources(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		what       string // by which the file names policy tip, nothing if it does not
	}{
		"constant":      {"x/timers/engine/made.go", head + "var v = types.PolicyTip", "imports x/timers/market/tip"},
		"only constant": {"x/timers/types/made.go", "const p = PolicyTip", "PolicyTip"},
		"field":         {"x/timers/types/made.go", "func f(c TimerConfig) bool { return c.Tip == nil }", "Tip"},
		"message":       {"x/timers/types/made.go", "func f(p TipParams) uint32 { return p.Weight }", "TipParams"},
		"method":        {"x/timers/types/made.go", "func (c *TimerConfig) GetTip() bool { return false }", "GetTip"},
		"namesake":      {"x/timers/market/made.go", "type Tip struct{}", "Tip"},
		"string":        {"x/timers/engine/made.go", "const s = `POLICY_TIP`", "`POLICY_TIP`"},
		"blank import":  {"x/timers/engine/made.go", "import _ \"example.test/chain/x/timers/policies/tip\"", "imports x/timers/policies/tip"},
		"proto":         {"proto/timers/v1/query.proto", "message Query {\n  TipParams p = 1;\n}", "TipParams"},

		"another field":    {"x/timers/types/made.go", "type other struct{ Tip int }\nfunc f(o other) int { return o.Tip }", ""},
		"local":            {"x/timers/engine/made.go", "func f() int {\n\ttip := 1\n\treturn tip\n}", ""},
		"word":             {"x/timers/engine/made.go", "const tipPerCycle = \"tip\"", ""},
		"comment":          {"x/timers/engine/made.go", "// PolicyTip is POLICY_TIP.", ""},
		"another policy":   {"x/timers/types/made.go", "const p = PolicyFIFO", ""},
		"its own file":     {"x/timers/engine/tip.go", "const s = `POLICY_TIP`", ""},
		"its room":         {"x/timers/market/tip/made.go", "const s = `POLICY_TIP`", ""},
		"a test":           {"x/timers/engine/made_test.go", "const s = `POLICY_TIP`", ""},
		"generated":        {"x/timers/engine/made.pb.go", "const s = `POLICY_TIP`", ""},
		"comment of proto": {"proto/timers/v1/query.proto", "message Query {} // TipParams", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := c.text + "\n"
			switch {
			case c.file[:2] != "x/":
			case c.file == "x/timers/market/tip/made.go":
				text = "package tip\n\n" + text
			case c.file[:14] == "x/timers/types":
				text = "package types\n\n" + text
			case c.file[:15] == "x/timers/market":
				text = "package market\n\n" + text
			default:
				text = "package engine\n\n" + text
			}
			what := ""
			for _, at := range measured(t, files{c.file: text}).sources["tip"] {
				if at.file == c.file {
					what = at.what
				}
			}
			require.Equal(t, c.what, what)
		})
	}
}

// An identifier that contains a distinctive name names the policy.
func TestDistinctiveNames(t *testing.T) {
	root := repository(t, files{
		"x/timers/engine/made.go":     "package engine\n\nvar lastFifoPage int\n",
		"proto/timers/v1/query.proto": "message Query {\n  int64 fifo_page = 1;\n}\n",
	})
	for distinctive, want := range map[string][]string{
		"fifo": {
			"x/timers/client/cli/help.go", "x/timers/engine/made.go", "x/timers/policies/registry.go",
			"proto/timers/v1/config.proto", "proto/timers/v1/query.proto",
		},
		"eip1559": {"x/timers/client/cli/help.go", "x/timers/policies/registry.go", "proto/timers/v1/config.proto"},
	} {
		l := small()
		l.distinctive = []string{distinctive}
		tree, err := load(root, l)
		require.NoError(t, err)
		found, err := tree.findPolicies()
		require.NoError(t, err)
		var files []string
		for _, at := range found.sources()["fifo"] {
			files = append(files, at.file)
		}
		require.Equal(t, want, files)
	}
}
