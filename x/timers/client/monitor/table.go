package monitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// wideTable is the width from which on the table has all columns.
	wideTable = 100
	shownID   = 8
	// timerWidth is enough for the beginning of an id, and for "100+ timers".
	timerWidth = 11
)

// table is the middle of the view: the timers that fire next, or those of one actor.
func (b *board) table(width int) (title, names string, rows []string) {
	timers, title := slices.Concat(b.ready, b.coming), "NEXT: the ready in the order of the next block, then the others, soonest first"
	actors := make([]string, len(timers))
	for i := range timers {
		actors[i] = timers[i].Actor
	}
	who := b.actorWidth(width, actors)
	if b.actor != "" {
		timers, who = b.timers, 0
		title = fmt.Sprintf("TIMERS OF %s, %d in all, soonest first", b.name(b.actor, 46), b.total)
		if uint64(b.total) > uint64(len(timers)) {
			title = fmt.Sprintf("TIMERS OF %s, %d of %d, soonest first", b.name(b.actor, 46), len(timers), b.total)
		}
	}
	widths := []int{-9, 12, timerWidth, who, 11, -9, width}
	if width < wideTable {
		// What a narrow terminal does without.
		widths[4], widths[5] = 0, 0
	}
	row := func(texts ...string) string { return tableRow(widths, texts) }
	for from := 0; from < len(timers); {
		t := &timers[from]
		texts := b.columns(t, who)
		to := from + 1
		for to < len(timers) && slices.Equal(texts, b.columns(&timers[to], who)) {
			to++
		}
		cut := to == len(timers) && b.moreComing || to == len(b.ready) && b.moreReady
		rows = append(rows, row(slices.Insert(texts, 2, someTimers(to-from, cut && b.actor == "", t.Id))...))
		from = to
	}
	if len(rows) == 0 {
		rows = []string{"no timer is due"}
	}
	return title, row("DUE", "IN", "TIMER", "ACTOR", "BID", "GAS LIMIT", "DOES"), rows
}

// someTimers names one timer, and counts several, of which there may be more.
func someTimers(n int, more bool, id string) string {
	switch {
	case n == 1:
		return plain.Clip(plain.Clean(id), shownID)
	case more:
		return fmt.Sprintf("%d+ timers", n)
	default:
		return fmt.Sprintf("%d timers", n)
	}
}

// columns are what the table shows of a timer but its name: what is the same for several timers makes one row of them.
func (b *board) columns(t *types.TimerInfo, who int) []string {
	does := b.words.Timer(t)
	if t.Spec.Name != "" {
		does = plain.Clean(t.Spec.Name) + ": " + does
	}
	due := fmt.Sprint(t.Status.Due)
	switch {
	case t.Status.Phase == types.PhaseReady:
		due = fmt.Sprint(words.DueSince(t))
	case t.Status.HoldReason == types.Timed:
		due = b.dueTime(t.Status.DueTime)
	case t.Status.Phase == types.PhaseWatching || t.Status.HoldReason != types.NotOnHold:
		due = "-"
	}
	return []string{due, b.until(t), b.name(t.Actor, who), plain.Clip(plain.TimerBid(t), 11), plain.Thousands(t.Status.GasLimit), does}
}

// dueTime is a time in few characters: of the next day the time of day, and later the date.
func (b *board) dueTime(seconds int64) string {
	now := b.clockNow().Present()
	at := time.Unix(seconds, 0).In(now.Location())
	switch ahead := at.Sub(now); {
	case ahead < 24*time.Hour:
		return at.Format("15:04:05")
	case ahead < 300*24*time.Hour:
		return at.Format("Jan _2")
	default:
		return at.Format("Jan 2006")
	}
}

// actorWidth is the width of a column of actors: that of the longest, if so much of the terminal is to spare.
func (b *board) actorWidth(width int, actors []string) int {
	widest, most := len("ACTOR"), min(12+max(width-80, 0)/2, 46)
	for _, actor := range actors {
		widest = max(widest, len(b.name(actor, most)))
	}
	return widest
}

// name is an actor as its key's name, or as the ends of its address.
func (b *board) name(actor string, width int) string {
	if name := b.keyName(actor); name != "" {
		actor = name
	}
	return plain.Elide(plain.Clean(actor), width)
}

// until is what a timer waits for: a time, blocks, a change of state, its owner.
func (b *board) until(t *types.TimerInfo) string {
	blocks, late := t.Status.Due-b.lane.Height, b.lane.Height-words.DueSince(t)
	switch {
	case t.Status.Phase == types.PhaseWatching:
		return "on change"
	case t.Status.HoldReason == types.Timed:
		return plain.Clip(timespan.ForPeople(max(time.Unix(t.Status.DueTime, 0).Sub(b.clockNow().Present()), 0)), 12)
	case t.Status.HoldReason != types.NotOnHold:
		return plain.Clip(t.Status.HoldReason.Word(), 12)
	case t.Status.Due <= b.lane.Height && late == 0:
		return "now"
	case t.Status.Due <= b.lane.Height:
		return plain.Clip(fmt.Sprintf("%s late", plain.Thousands(late)), 12)
	case b.clock.PaceErr == nil && b.clock.Pace.Blocks > 0:
		return plain.Clip(timespan.ForPeople(b.clock.Pace.TimeFor(blocks)), 12)
	default:
		return plain.Clip(plain.Count(blocks, "block"), 12)
	}
}
