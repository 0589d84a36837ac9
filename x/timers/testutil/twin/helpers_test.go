package twin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// limits are small enough to be reached in a test.
var limits = Limits{MaxTTLBlocks: 1000, MaxTTLSeconds: 100_000, MaxUnfundedSkips: 8}

// start is the time of block 1.
const start = 1_000_000

// game plays one timer. The world begins each block when the one before has ended, so that operations lie in the block that comes.
type game struct {
	*testing.T
	w *World
	// step is the distance of blocks in seconds.
	step uint64
	told []string
}

// play schedules in block 1, whose end has passed when it returns: operations are those of block 2.
func play(t *testing.T, step uint64, s Spec) *game {
	t.Helper()
	return playWith(t, step, limits, s, Block{})
}

func playWith(t *testing.T, step uint64, l Limits, s Spec, first Block) *game {
	t.Helper()
	first.Height, first.Time = 1, start
	w, err := New(l, s, first)
	if err != nil {
		t.Fatal(err)
	}
	g := &game{T: t, w: w, step: step}
	g.note(w.EndBlock(first))
	g.w.Begin(2, start+step)
	return g
}

// block ends the present block with what it does, and begins the next; it returns what it told, as text.
func (g *game) block(b Block) string {
	b.Height, b.Time = g.w.Height, g.w.Time
	text := g.note(g.w.EndBlock(b))
	g.w.Begin(b.Height+1, b.Time+g.step)
	return text
}

// until ends blocks until the given one has begun.
func (g *game) until(height uint64, b Block) *game {
	for g.w.Height < height {
		g.block(b)
	}
	return g
}

func (g *game) note(events []Event) string {
	var lines []string
	for _, e := range events {
		lines = append(lines, say(g.w.Spec, e))
	}
	text := strings.Join(lines, " ")
	if text != "" {
		g.told = append(g.told, fmt.Sprintf("%d: %s", g.w.Height, text))
	}
	return text
}

// say is an event in a few words; seconds are counted from start.
func say(s Spec, e Event) string {
	at := func(o uint64) uint64 {
		if s.seconds() && o >= start {
			return o - start
		}
		return o
	}
	switch e.Kind {
	case DeliveredEvent:
		text := fmt.Sprintf("%s %d #%d", e.Outcome.Kind, at(e.Occurrence), e.Index)
		if e.Late > 0 {
			text += fmt.Sprintf(" late %d", e.Late)
		}
		return text
	case SkippedEvent:
		text := fmt.Sprintf("skip %d-%d x%d %s", at(e.First), at(e.Last), e.Count, e.Reason)
		if e.Charged {
			text += " paid"
		}
		return text
	case HeldEvent:
		return "held " + e.Reason
	case LeftEvent:
		text := "left " + string(e.Ended)
		if e.Missing > 0 {
			text += fmt.Sprintf(" missing %d", e.Missing)
		}
		return text
	}
	return "?"
}

// is holds all that was told so far to what is right.
func (g *game) is(want ...string) *game {
	g.Helper()
	if got := strings.Join(g.told, "\n"); got != strings.Join(want, "\n") {
		g.Fatalf("got\n%s\nwant\n%s\nstatus %+v", got, strings.Join(want, "\n"), g.w.Status)
	}
	return g
}

// do holds an operation to its error.
func (g *game) do(got, want error) *game {
	g.Helper()
	if !errors.Is(got, want) {
		g.Fatalf("in %d: got %v, want %v; status %+v", g.w.Height, got, want, g.w.Status)
	}
	return g
}

func (g *game) update(want error, s Spec, fields ...string) *game {
	g.Helper()
	return g.do(g.w.Update(s, fields), want)
}

// field holds one field of the status.
func (g *game) field(name string, want any) *game {
	g.Helper()
	return g.eq(name, reflect.ValueOf(g.w.Status).FieldByName(name), want)
}

// eq holds one value.
func (g *game) eq(what string, got, want any) *game {
	g.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		g.Fatalf("in %d: %s is %v, want %v; status %+v", g.w.Height, what, got, want, g.w.Status)
	}
	return g
}

var (
	ok     = Block{}
	fail   = Block{Result: Result{Kind: Fails}}
	noRoom = Block{NoRoom: true}
	paused = Block{LanePaused: true}
	broke  = Block{Funds: CanPayNothing}
	lacks  = Block{Result: Result{Kind: Insufficient}}
	guard  = Block{Result: Result{Kind: Guard}}
	dear   = Block{PricedOut: true}
)

func each(s Spec) Spec { s.Missed = Each; return s }

func from(x uint64) *uint64 { return &x }

// hashOf is a raw hash that is a small number.
func hashOf(x uint64) (hash [32]byte) {
	binary.BigEndian.PutUint64(hash[24:], x)
	return hash
}
