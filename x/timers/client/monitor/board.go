package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// keptHappenings and keptBasefees bound what the view remembers: groups of happenings, and blocks.
	keptHappenings = 64
	keptBasefees   = 64
	// leastHeight is the number of lines below which the view gives up fitting.
	leastHeight = 14
)

// board is all that the view shows. It is filled by the collector and drawn by lines, which makes no request.
type board struct {
	chainID string
	words   words.Writer
	// keyName is the name of an address's key; empty if there is none.
	keyName func(address string) string
	// trouble says why the rest may be old; empty while all is well.
	trouble string
	// now reads the clock of the machine.
	now func() time.Time
	// zone is that in which times are shown; nil for that of the clocks.
	zone  *time.Location
	clock timespan.Clock
	lane  *types.QueryLaneResponse
	// summary of the last block that had one.
	summary *types.TimerLaneSummary
	// basefees of the last blocks, oldest first. Invariant: at most keptBasefees.
	basefees []math.LegacyDec
	// ready are the first timers in the order of the next block; moreReady tells that there are others behind them.
	ready     []types.TimerInfo
	moreReady bool
	// coming are the first timers that are due later, by height or by time, soonest first; moreComing tells that there are others
	// behind them.
	coming     []types.TimerInfo
	moreComing bool
	// actor whose timers alone are shown, soonest first; total is how many there are. Empty for everybody's.
	actor  string
	timers []types.TimerInfo
	total  uint32
	// lately is what happened, oldest first, what is alike in a block as one. Invariant: at most keptHappenings.
	lately []group
}

// take adds a block to what happened lately.
func (b *board) take(r *report) {
	if r.missing != "" {
		b.remember(&happening{height: r.height, kind: "missing", facts: []fact{{"results:", r.missing}}})
	}
	if r.summary != nil {
		b.summary = r.summary
		if basefee, err := plain.ParsePrice(r.summary.LaneBasefee); err == nil {
			b.basefees = lastOf(append(b.basefees, basefee), keptBasefees)
		}
	}
	for i := range r.happenings {
		if h := &r.happenings[i]; h.concerns(b.actor) {
			b.remember(h)
		}
	}
}

// lastOf keeps the last n, in memory of their own, so that what is dropped is freed.
func lastOf[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	return slices.Clone(all[len(all)-n:])
}

// lines draws the view: at most height lines, none wider than width.
func (b *board) lines(width, height int) []string {
	lines := b.head(width)
	// Two titles, a row of column names each, and the blank lines before them.
	room := max(height, leastHeight) - len(lines) - 6
	title, names, rows := b.table(width)
	lately := b.latelyRows(width, room)
	shown := min(len(rows), max(room-min(len(lately), room/2), 1))
	lines = append(lines, "", title, names)
	lines = append(lines, rows[:shown]...)
	lines = append(lines, "", "LATELY", b.latelyRow(width, "HEIGHT", "WHAT", "TIMER", "ACTOR", ""))
	lines = append(lines, lately[:min(len(lately), max(room-shown, 0))]...)
	if len(lines) > height {
		lines = lines[:max(height, 0)]
	}
	for i := range lines {
		lines[i] = plain.Clip(strings.TrimRight(lines[i], " "), width)
	}
	return lines
}

// clockNow is the clock of what is shown, as of now.
func (b *board) clockNow() timespan.Clock {
	c := b.clock
	c.Now, c.Zone = b.now(), b.zone
	return c
}

// head tells of the lane.
func (b *board) head(width int) []string {
	l := b.lane
	right := "policy " + plain.PolicyName(l.Policy)
	if l.Paused {
		right += ", PAUSED"
	}
	if b.clock.PaceErr == nil && b.clock.Pace.Blocks > 0 {
		right += ", " + b.clock.Pace.String() + " a block"
	}
	left := fmt.Sprintf("timers, height %d", l.Height)
	if b.chainID != "" {
		left = fmt.Sprintf("timers of %s, height %d", plain.Clean(b.chainID), l.Height)
	}
	if c := b.clockNow(); !c.Time.IsZero() {
		left += ", " + timespan.ForPeople(c.Age()) + " ago"
	}
	lines := []string{spread(left, right, width)}
	if b.trouble != "" {
		lines = append(lines, plain.Wrap("! "+plain.Clean(b.trouble), width)...)
	}
	if c := b.clockNow(); c.Halted() {
		lines = append(lines, plain.Wrap(fmt.Sprintf("! block %d is %s old: the chain may be halted, the node or this view behind, or the clock of "+
			"this machine wrong", l.Height, timespan.ForPeople(c.Age())), width)...)
	}
	basefee := fmt.Sprintf("basefee   %s, next %s%s ", plain.Dec(plain.Clean(l.LaneBasefee)), plain.Dec(plain.Clean(l.NextLaneBasefee)), change(l.LaneBasefee, l.NextLaneBasefee))
	trend := lastOf(b.basefees, max(width-len(basefee)-1, 0))
	lines = append(lines, basefee+" "+sparkline(trend))
	gc := uint64(0)
	if b.summary != nil {
		gc = b.summary.GcCycles
	}
	return append(lines,
		gauge("lane", "cycles", l.Cycles, l.LaneTimerCycles, width),
		fmt.Sprintf("          cells %s, clean-up %s cycles", use(l.Cells, l.LaneTimerCells), use(gc, l.GcCyclesPerBlock)),
		fmt.Sprintf("tip       %s is usual; the chain takes %s a cycle, %s a cell; in %s", plain.Dec(plain.Clean(l.P50)), plain.Dec(plain.Clean(l.CycleBasefee)),
			plain.Dec(plain.Clean(l.CellBasefee)), plain.Clean(l.FeeDenom)),
		b.crowd(),
		b.lastBlock(),
		b.timeLine(width),
	)
}

// use is how much of a budget was used, in numbers.
func use(used, budget uint64) string { return plain.Thousands(used) + " of " + plain.Thousands(budget) }

// crowd is who waits.
func (b *board) crowd() string {
	text := fmt.Sprintf("ready     %d", len(b.ready))
	switch s := b.summary; {
	case s != nil && s.Storm:
		text = fmt.Sprintf("ready     %s and more: a storm", plain.Thousands(uint64(s.Deferred)))
	case s != nil:
		text = "ready     " + plain.Thousands(uint64(s.Deferred))
	case b.moreReady:
		text += " and more"
	}
	if b.lane.Admitted > 0 {
		text += "; admitted " + plain.Thousands(b.lane.Admitted)
	}
	return text
}

// lastBlock is what the last block did.
func (b *board) lastBlock() string {
	s := b.summary
	if s == nil {
		return "last      nothing known of the last block"
	}
	return fmt.Sprintf("last      %d fired, %d failed, %d expired, %d unfunded, %d on hold in block %d",
		s.Fired, s.Failed, s.Expired, s.Unfunded, s.OnHold, s.Height)
}

// change is by how much a price moves, such as " (+12.5%)"; nothing where that can't be told.
func change(from, to string) string {
	before, err := plain.ParsePrice(from)
	if err != nil || before.IsZero() {
		return ""
	}
	after, err := plain.ParsePrice(to)
	if err != nil {
		return ""
	}
	permille := after.Sub(before).MulInt64(1000).Quo(before).RoundInt()
	if permille.Abs().GT(math.NewInt(1_000_000)) {
		return ""
	}
	n, sign := permille.Int64(), "+"
	if n < 0 {
		n, sign = -n, "-"
	}
	if n == 0 {
		return " (steady)"
	}
	return fmt.Sprintf(" (%s%d.%d%%)", sign, n/10, n%10)
}

// sparkline draws values as bars of eight heights, from the least to the greatest of them.
func sparkline(values []math.LegacyDec) string {
	if len(values) == 0 {
		return ""
	}
	const top = 7
	least, greatest := values[0], values[0]
	for _, v := range values {
		least, greatest = math.LegacyMinDec(least, v), math.LegacyMaxDec(greatest, v)
	}
	bars := make([]rune, len(values))
	for i, v := range values {
		level := int64(0)
		if greatest.GT(least) {
			level = v.Sub(least).MulInt64(top).Quo(greatest.Sub(least)).RoundInt64()
		}
		bars[i] = '▁' + rune(level)
	}
	return string(bars)
}

// gauge draws how much of a budget was used, as a bar and in numbers.
func gauge(name, unit string, used, budget uint64, width int) string {
	numbers := fmt.Sprintf(" %11s of %s %s", plain.Thousands(used), plain.Thousands(budget), unit)
	size := min(max(width-10-2-len(numbers)-5, 8), 60)
	filled, percent := 0, uint64(0)
	if budget > 0 {
		share := min(used, budget)
		// Both are far below 2^50 on any chain; a node that says otherwise gets a full bar.
		filled, percent = size, 100
		if budget < 1<<50 {
			filled, percent = int(share*uint64(size)/budget), used*100/budget
			if used > 0 {
				filled = max(filled, 1)
			}
		}
	}
	return fmt.Sprintf("%-10s[%s%s]%s %3d%%", name, strings.Repeat("#", filled), strings.Repeat(".", size-filled), numbers, percent)
}

// tableRow sets texts in columns two spaces apart; a negative width aligns to the right, 0 leaves the column out.
func tableRow(widths []int, texts []string) string {
	var line strings.Builder
	for i, text := range texts {
		if widths[i] == 0 {
			continue
		}
		if line.Len() > 0 {
			line.WriteString("  ")
		}
		if i == len(texts)-1 {
			line.WriteString(text)
			break
		}
		fmt.Fprintf(&line, "%*s", -widths[i], text)
	}
	return line.String()
}

// spread sets two texts at the ends of a line.
func spread(left, right string, width int) string {
	gap := width - utf8.RuneCountInString(left) - utf8.RuneCountInString(right)
	return left + strings.Repeat(" ", max(gap, 1)) + right
}
