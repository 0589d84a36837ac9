package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// later are the timers that are due after the latest height, and whether there are more than these.
func (b *board) later() (dues []uint64, more bool) {
	timers, more := b.coming, b.moreComing
	if b.actor != "" {
		timers, more = b.timers, uint64(b.total) > uint64(len(b.timers))
	}
	for i := range timers {
		t := &timers[i]
		switch {
		case t.Status.HoldReason == types.Timed:
			// A clock that has no pace can't tell where it lies.
			if height, err := b.clock.HeightAt(time.Unix(t.Status.DueTime, 0)); err == nil {
				dues = append(dues, max(height, b.lane.Height+1))
			}
		case t.Status.Due > b.lane.Height && t.Status.Phase != types.PhaseWatching && t.Status.HoldReason == types.NotOnHold:
			dues = append(dues, t.Status.Due)
		}
	}
	slices.Sort(dues)
	return dues, more
}

// timeLine draws how many timers are due in the next blocks, from the left to the right: so many blocks that three of four
// timers are on it.
func (b *board) timeLine(width int) string {
	const name = "coming    "
	dues, more := b.later()
	if len(dues) == 0 {
		return name + "nothing after this height"
	}
	columns := min(max(width-len(name)-42, 8), 120)
	step := stepFor(dues[(3*len(dues)+3)/4-1]-b.lane.Height, uint64(columns))
	counts := make([]int, columns)
	beyond := 0
	for _, due := range dues {
		if at := (due - b.lane.Height - 1) / step; at < uint64(columns) {
			counts[at]++
		} else {
			beyond++
		}
	}
	text := name + "|" + bars(counts) + "| " + b.distance(step*uint64(columns))
	if beyond > 0 {
		text += fmt.Sprintf("; %d later", beyond)
	}
	if more {
		text += " and more"
	}
	return text
}

// stepFor is the least of 1, 2, 5, 10, 20, 50, ... blocks a column with which the columns reach so many blocks.
func stepFor(blocks, columns uint64) uint64 {
	need := (blocks-1)/columns + 1
	for step := uint64(1); ; step *= 10 {
		for _, times := range []uint64{1, 2, 5} {
			// Heights are below 2^63, so that this ends before it overflows.
			if step*times >= need {
				return step * times
			}
		}
	}
}

// bars draws counts as bars of eight heights; a dot is none.
func bars(counts []int) string {
	most := slices.Max(counts)
	var line strings.Builder
	for _, count := range counts {
		switch {
		case count == 0:
			line.WriteByte('.')
		case most == 1:
			line.WriteRune('▄')
		default:
			line.WriteRune('▁' + rune((count-1)*7/(most-1)))
		}
	}
	return line.String()
}

// distance is so many blocks from the latest, in blocks and in time.
func (b *board) distance(blocks uint64) string {
	text := plain.Count(blocks, "block")
	if b.clock.PaceErr == nil && b.clock.Pace.Blocks > 0 {
		text += ", " + timespan.ForPeople(b.clock.Pace.TimeFor(blocks))
	}
	return text
}
