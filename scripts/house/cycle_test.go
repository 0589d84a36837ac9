package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What makes a file depend on another one. In each case a.go may depend on b.go; b.go always depends on a.go by the
// constant back.
func TestDependencies(t *testing.T) {
	const back = "\nvar _ = back\n"
	for name, c := range map[string]struct {
		a, b  string
		cycle bool
	}{
		"function":         {"func f() { g() }", "func g() {}", true},
		"type":             {"func f(t) {}", "type t int", true},
		"constant":         {"const c = d", "const d = 1", true},
		"variable":         {"func f() { v++ }", "var v int", true},
		"method":           {"type t int\nfunc f(x t) { x.m() }", "func (t) m() {}", true},
		"promoted method":  {"type t int\ntype u struct{ t }\nfunc f(x u) { x.m() }", "func (t) m() {}", true},
		"generic method":   {"type t[T any] struct{}\nfunc f(x t[int]) { x.m() }", "func (t[T]) m() {}", true},
		"interface method": {"type u = i\nfunc f(x u) { x.m() }", "type i interface{ m() }", true},
		"field":            {"func f() { _ = g().n }", "type t struct{ n int }\nfunc g() t { return t{} }", true},
		"embedded type":    {"type u struct{ t }", "type t int", true},

		"nothing":               {"", "", false},
		"field of another":      {"func f() { _ = struct{ n int }{}.n }", "type t struct{ n int }", false},
		"local of the name":     {"func f() { g := 1; _ = g }", "func g() {}", false},
		"parameter of the name": {"func f(g int) int { return g }", "func g() {}", false},
		"field of the name":     {"type t struct{ g int }\nfunc f() t { return t{g: 1} }", "func g() {}", false},
		"method of the name":    {"type t int\nfunc (t) g() {}\nfunc f(x t) { x.g() }", "func g() {}\ntype u int\nfunc (u) g() {}", false},
		"method of an import":   {"import \"strings\"\nfunc f(x *strings.Builder) { x.Reset() }", "type u int\nfunc (u) Reset() {}", false},
		"label of the name":     {"func f() {\ng:\n\tfor {\n\t\tbreak g\n\t}\n}", "func g() {}", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(t, files{
				"x/timers/made/a.go": "package made\n\n" + c.a + "\n\nconst back = 1\n",
				"x/timers/made/b.go": "package made\n\n" + c.b + "\n" + back,
			})
			cycle := r.value(t, "largest cycle")
			if !c.cycle {
				require.Zero(t, cycle.value)
				return
			}
			require.Equal(t, []string{"x/timers/made:", "a.go", "b.go"}, cycle.where)
		})
	}
}

// A cycle through a test or a generated file is none of hand-written code.
func TestCyclesOfOtherFilesDoNotCount(t *testing.T) {
	for _, b := range []string{"b_test.go", "b.pb.go"} {
		r := measured(t, files{
			"x/timers/made/a.go":    "package made\n\nvar a = 1\n",
			"x/timers/made/c.go":    "package made\n\nvar c = a\n",
			"x/timers/made/" + b:    "package made\n\nfunc b() { a = c }\n",
			"x/timers/made/d.pb.go": "package made\n\nvar d = c\n",
		})
		require.Zero(t, r.value(t, "largest cycle").value, b)
	}
}

// A file of the same name in another package is another file.
func TestFilesOfOtherPackages(t *testing.T) {
	r := measured(t, files{
		"x/timers/made/a.go":  "package made\n\nimport \"example.test/chain/x/timers/other\"\n\nvar a = other.B()\n",
		"x/timers/made/b.go":  "package made\n\nvar b = a\n",
		"x/timers/other/b.go": "package other\n\nfunc B() int { return 1 }\n",
	})
	require.Zero(t, r.value(t, "largest cycle").value)
}

// The packages with too large a cycle are named besides the largest.
func TestAllLargeCyclesAreNamed(t *testing.T) {
	changed := files{}
	for dir, n := range map[string]int{"made": 3, "other": 2} {
		for i := range n {
			changed[fmt.Sprintf("x/timers/%s/f%d.go", dir, i)] = fmt.Sprintf("package %s\n\nfunc f%d() { f%d() }\n", dir, i, (i+1)%n)
		}
	}
	cycle := measured(t, changed).value(t, "largest cycle")
	require.Equal(t, 3, cycle.value)
	require.Equal(t, []string{"x/timers/made:", "f0.go", "f1.go", "f2.go", "x/timers/other (2)"}, cycle.where)
}

// Components are the classes of nodes that reach each other, whatever the graph.
func TestComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "nodes")
		graph := map[string][]string{}
		reaches := make([][]bool, n)
		for i := range n {
			graph[fmt.Sprint(i)] = nil
			reaches[i] = make([]bool, n)
			reaches[i][i] = true
			for j := range n {
				if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					graph[fmt.Sprint(i)] = append(graph[fmt.Sprint(i)], fmt.Sprint(j))
					reaches[i][j] = true
				}
			}
		}
		for k := range n { // Warshall
			for i := range n {
				for j := range n {
					reaches[i][j] = reaches[i][j] || reaches[i][k] && reaches[k][j]
				}
			}
		}
		var want, got [][]string
		for i := range n {
			var class []string
			for j := range n {
				if reaches[i][j] && reaches[j][i] {
					class = append(class, fmt.Sprint(j))
				}
			}
			if class[0] == fmt.Sprint(i) {
				want = append(want, class)
			}
		}
		for _, component := range components(graph) {
			got = append(got, slices.Sorted(slices.Values(component)))
		}
		slices.SortFunc(got, slices.Compare)
		require.Equal(t, want, got)
	})
}
