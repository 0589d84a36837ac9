package monitor

import (
	"fmt"
	"slices"
	"strings"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// group is what happened alike in one block: to one timer, or to several of one actor.
type group struct {
	happening
	count int
	// most are the facts with the greatest numbers of all, where the happening's have the least.
	most []fact
}

// remember adds a happening to its like of the same block.
func (b *board) remember(h *happening) {
	for i := len(b.lately) - 1; i >= 0 && b.lately[i].height == h.height; i-- {
		if b.lately[i].join(h) {
			return
		}
	}
	b.lately = lastOf(append(b.lately, group{happening: *h, count: 1, most: slices.Clone(h.facts)}), keptHappenings)
}

// join takes a happening in if it is alike: of the same kind, actor, name and error, and with the same facts but for
// numbers.
func (g *group) join(h *happening) bool {
	if g.kind != h.kind || g.actor != h.actor || g.name != h.name || g.code != h.code || g.id == "" || len(g.facts) != len(h.facts) {
		return false
	}
	for i, f := range h.facts {
		if f.key != g.facts[i].key || f.value != g.facts[i].value && (number(f).IsNil() || number(g.facts[i]).IsNil()) {
			return false
		}
	}
	g.facts = slices.Clone(g.facts)
	for i, f := range h.facts {
		if f.value == g.facts[i].value {
			continue
		}
		if number(f).LT(number(g.facts[i])) {
			g.facts[i] = f
		} else if number(f).GT(number(g.most[i])) {
			g.most[i] = f
		}
	}
	g.count++
	return true
}

// number is a fact that is a whole number; nil for others.
func number(f fact) math.Int {
	text := f.text()
	if len(text) > types.MaxTextBytes {
		return math.Int{}
	}
	if n, ok := math.NewIntFromString(text); ok {
		return n
	}
	return math.Int{}
}

// words are the facts for people.
func (g *group) words() string {
	var words []string
	if g.code != "" {
		text := g.code
		if g.meaning != "" {
			text += " (" + g.meaning + ")"
		}
		words = append(words, text)
	}
	for i, f := range g.facts {
		text := strings.ReplaceAll(f.key, "_", " ") + " " + f.text()
		if most := g.most[i]; most.value != f.value {
			text += " to " + most.text()
		}
		words = append(words, text)
	}
	if g.name != "" {
		words = append(words, g.name)
	}
	return plain.Clean(plain.Times(strings.Join(words, ", ")))
}

// latelyRows are the first rows of what happened, the latest first. What does not fit beside the columns continues below.
func (b *board) latelyRows(width, most int) []string {
	var rows []string
	who, indent := b.latelyActor(width), b.latelyIndent(width)
	for i := len(b.lately) - 1; i >= 0 && len(rows) < most; i-- {
		g := &b.lately[i]
		head := b.latelyRow(width, fmt.Sprint(g.height), g.kind, someTimers(g.count, false, g.id), b.name(g.actor, who), "")
		head = fmt.Sprintf("%-*s", indent, head)
		for j, part := range plain.Wrap(g.words(), width-indent) {
			if j > 0 {
				head = strings.Repeat(" ", indent)
			}
			rows = append(rows, head+part)
		}
	}
	return rows
}

// latelyActor is the width of the column of actors.
func (b *board) latelyActor(width int) int {
	actors := make([]string, len(b.lately))
	for i := range b.lately {
		actors[i] = b.lately[i].actor
	}
	return b.actorWidth(width, actors)
}

// latelyIndent is where the words begin: behind four columns and the spaces between.
func (b *board) latelyIndent(width int) int {
	return 9 + 2 + 11 + 2 + timerWidth + 2 + b.latelyActor(width) + 2
}

// latelyRow is a row of what happened.
func (b *board) latelyRow(width int, height, what, timer, actor, words string) string {
	return tableRow([]int{-9, 11, timerWidth, b.latelyActor(width), width}, []string{height, what, timer, actor, words})
}
