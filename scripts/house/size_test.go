package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2} {
		require.Equal(t, want, lines([]byte(text)), "%q", text)
	}
}

func TestCommentLines(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"none":               {"package p\n\nvar a = 1\n", 0},
		"lines":              {"// a\n// b\npackage p\n", 2},
		"after code":         {"package p // a\n\nvar a = 1 /* b */\n", 0},
		"before code":        {"/* a */ package p\n", 0},
		"block":              {"/* a\n\nb */\npackage p\n", 3},
		"block, then code":   {"/* a\nb */ package p\n", 1},
		"in a string":        {"package p\n\nvar a = `\n// a\n`\n", 0},
		"inside a function":  {"package p\n\nfunc f() {\n\t// a\n}\n", 1},
		"at the end of file": {"package p\n// a", 1},
	} {
		require.Equal(t, c.want, commentLines([]byte(c.text)), name)
	}
}

func TestBlockFields(t *testing.T) {
	for name, c := range map[string]struct {
		block string
		want  int
	}{
		"embedded":             {"type block struct {\n\tready\n\tdone []uint64\n}\n\ntype ready struct{ a, b, c int }", 4},
		"several names":        {"type block struct{ a, b int }", 2},
		"empty":                {"type block struct{}", 0},
		"the larger":           {"type block struct{ a, b int }\n\ntype Block struct{ a, b, c int }", 3},
		"the larger, inside":   {"type block struct{ a, b, c int }\n\ntype Block struct{ a, b int }", 3},
		"in a group":           {"type (\n\tother struct{ a int }\n\tblock struct{ a, b int }\n)", 2},
		"an interface besides": {"type Block interface{ Height() uint64 }\n\ntype block struct{ a int }", 1},
	} {
		r := measured(t, files{
			"x/timers/engine/block.go": "package engine\n\n" + c.block + "\n",
			"x/timers/engine/steps.go": "package engine\n",
			"x/timers/engine/run.go":   "package engine\n",
		})
		require.Equal(t, c.want, r.value(t, "fields of block").value, name)
	}
}

// The first place that has the struct counts.
func TestBlockFieldsInKeeper(t *testing.T) {
	keeper := files{"x/timers/keeper/keeper.go": "package keeper\n\ntype block struct{ a, b, c, d, e, f, g int }\n"}
	require.Equal(t, 5, measured(t, keeper).value(t, "fields of block").value)
	for _, file := range []string{"block.go", "steps.go", "run.go"} {
		keeper["x/timers/engine/"+file] = "package engine\n"
	}
	require.Equal(t, 7, measured(t, keeper).value(t, "fields of block").value)
}
