package replay

import (
	"fmt"
	"slices"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Line is the output of one block. The order of its fields is that of the output.
type Line struct {
	Height uint64 `json:"height"`
	// Time of the block in seconds since 1970.
	Time int64 `json:"time"`
	// LaneBasefee and P50 are prices with 18 places; P50 is the median tip that the previous block's fires paid.
	LaneBasefee string     `json:"lane_basefee"`
	Cycles      uint64     `json:"cycles"`
	P50         string     `json:"p50"`
	Rejected    []Rejected `json:"rejected"`
	// Fired is in the order of execution; the lists of names after it are sorted.
	Fired   []Fired  `json:"fired"`
	Expired []string `json:"expired"`
	// Skipped and Ended are sorted by the names of their timers.
	Skipped     []Skipped `json:"skipped"`
	Ended       []Ended   `json:"ended"`
	Unfunded    []string  `json:"unfunded"`
	Cancelled   []string  `json:"cancelled"`
	Quarantined []string  `json:"quarantined"`
	// Ready of the Pending timers are due, and wait for the lane.
	Ready   uint64 `json:"ready"`
	Pending uint64 `json:"pending"`
	// Burned and Tips are totals since the start.
	Burned   string            `json:"burned"`
	Tips     string            `json:"tips"`
	Balances map[string]string `json:"balances"`
	// Timers are those that live after the block, sorted by name, of a verbose run.
	Timers []TimerLine `json:"timers,omitempty"`
}

// TimerLine is where a timer is after a block, and what became of it so far.
type TimerLine struct {
	Timer string `json:"timer"`
	// Where is queued, timed (it waits for its time), watching or on hold; Hold is why it is that.
	Where string `json:"where"`
	Hold  string `json:"hold,omitempty"`
	// Due is the height at which it became due this time, or will: of a watch that waits, the first at which it may be. It is 0
	// until DueTime has come, which is that of a trigger by time, its delay and the distance of its retry included.
	Due     uint64 `json:"due"`
	DueTime int64  `json:"due_time,omitempty"`
	// Deliveries counts occurrences, FireSeq tries; the others count in their rows.
	Deliveries uint64 `json:"deliveries"`
	FireSeq    uint32 `json:"fire_seq"`
	Failures   uint32 `json:"failures"`
	Skips      uint32 `json:"skips"`
	Retries    uint32 `json:"retries"`
	// LastOutcome is success, failure or guarded; empty before its first fire.
	LastOutcome string `json:"last_outcome,omitempty"`
}

// timerLine says where a timer is.
func timerLine(name string, t *types.Timer, now types.Moment) TimerLine {
	line := TimerLine{
		Timer: name, Where: "queued", Due: t.DueSince(), Deliveries: t.Deliveries, FireSeq: t.FireSeq, Failures: t.Failures,
		Skips: t.Skips, Retries: t.Retries,
	}
	switch {
	case t.HoldReason == types.Timed:
		line.Where = "timed"
	case t.HoldReason == types.Watching:
		line.Where = "watching"
	case t.OnHold():
		line.Where, line.Hold = "on hold", t.HoldReason.Word()
	}
	if t.Spec.Trigger.ByTime() {
		line.DueTime = t.DueTime
	}
	if t.HoldReason == types.Timed || t.OnHold() && t.WaitsForTime(now) {
		line.Due = 0
	}
	switch o := t.LastOutcome; {
	case o == nil:
	case o.Guarded:
		line.LastOutcome = "guarded"
	case o.Success:
		line.LastOutcome = "success"
	default:
		line.LastOutcome = "failure"
	}
	return line
}

// Rejected is an op that failed, counted from 0, and its error as codespace/code.
type Rejected struct {
	Op    int    `json:"op"`
	Error string `json:"error"`
}

// Fired is one fire.
type Fired struct {
	Timer  string `json:"timer"`
	OK     bool   `json:"ok"`
	Code   uint32 `json:"code"`
	Cycles uint64 `json:"cycles"`
	Cells  uint64 `json:"cells"`
	Paid   string `json:"paid"`
	Tip    string `json:"tip"`
	Late   uint64 `json:"late"`
	// Occurrence that was delivered, in seconds since 1970 or as a height; 0 if the trigger has none.
	Occurrence uint64 `json:"occurrence,omitempty"`
	// Outcome is guarded where the handler was not run; else OK says it.
	Outcome string `json:"outcome,omitempty"`
	// Bid is what it had locked, BidPaid what it paid of that, under policy auction or after it; under policy score Bid
	// is what it paid for its place, a part of Paid and Tip. Else empty.
	Bid     string `json:"bid,omitempty"`
	BidPaid string `json:"bid_paid,omitempty"`
	// NextDue is when it is due again, 0 if it left. The format does not print it: it follows from the scenario.
	NextDue uint64 `json:"-"`
}

// Skipped are occurrences that passed without a fire.
type Skipped struct {
	Timer  string `json:"timer"`
	Count  uint64 `json:"count"`
	Reason string `json:"reason"`
}

// Ended is why a timer that repeats left.
type Ended struct {
	Timer  string `json:"timer"`
	Reason string `json:"reason"`
}

// newLine returns a line in which every list is empty, not absent.
func newLine(height uint64, time int64) *Line {
	return &Line{
		Height: height, Time: time, Rejected: []Rejected{}, Fired: []Fired{}, Skipped: []Skipped{}, Ended: []Ended{},
		Expired: []string{}, Unfunded: []string{}, Cancelled: []string{}, Quarantined: []string{}, Balances: map[string]string{},
	}
}

// eventPrefix is how the module's typed events begin.
const eventPrefix = "timers.v1."

// readEvents fills the part of the line that is read from the block's events.
func (l *Line) readEvents(events sdk.Events, nameOf func(id string) (string, error)) error {
	for _, event := range events {
		if !strings.HasPrefix(event.Type, eventPrefix) {
			continue
		}
		typed, err := sdk.ParseTypedEvent(abci.Event(event))
		if err != nil {
			return fmt.Errorf("event %s: %w", event.Type, err)
		}
		if err := l.readEvent(typed, nameOf); err != nil {
			return err
		}
	}
	slices.SortStableFunc(l.Skipped, func(a, b Skipped) int { return strings.Compare(a.Timer, b.Timer) })
	slices.SortStableFunc(l.Ended, func(a, b Ended) int { return strings.Compare(a.Timer, b.Timer) })
	for _, names := range [][]string{l.Expired, l.Unfunded, l.Cancelled, l.Quarantined} {
		slices.Sort(names)
	}
	return nil
}

// end notes why a timer left, if it did.
func (l *Line) end(name string, why types.EndReason) {
	if why != types.EndUnspecified {
		l.Ended = append(l.Ended, Ended{name, word(why.String(), "END_REASON_")})
	}
}

// word is the name of a choice as people write it.
func word(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }

// readEvent reads one event. A lane that failed as a whole is a bug of the module, and ends the run.
func (l *Line) readEvent(event any, nameOf func(id string) (string, error)) (err error) {
	add := func(list *[]string, id string) error {
		name, err := nameOf(id)
		*list = append(*list, name)
		return err
	}
	switch e := event.(type) {
	case *types.TimerFired:
		name, err := nameOf(e.Id)
		l.Fired = append(l.Fired, Fired{
			Timer: name, OK: e.Success, Code: e.Code, Cycles: e.Cycles, Cells: e.Cells, Paid: e.Paid, Tip: e.Tip, Late: e.Late,
			NextDue: e.NextDue, Bid: e.ScoreBid, Occurrence: e.Occurrence,
		})
		if e.Guarded {
			l.Fired[len(l.Fired)-1].Outcome = "guarded"
		}
		l.end(name, e.Ended)
		return err
	case *types.TimerOccurrencesSkipped:
		name, err := nameOf(e.Id)
		l.Skipped = append(l.Skipped, Skipped{Timer: name, Count: e.Count, Reason: word(e.Reason.String(), "SKIP_REASON_")})
		l.end(name, e.Ended)
		return err
	case *types.TimerBidSettled:
		name, err := nameOf(e.Id)
		for i := range l.Fired {
			if fired := &l.Fired[i]; fired.Timer == name && e.Bid != "0" {
				fired.Bid, fired.BidPaid = e.Bid, e.Paid
			}
		}
		return err
	case *types.TimerExpired:
		return add(&l.Expired, e.Id)
	case *types.TimerCancelledInsufficientFunds:
		return add(&l.Unfunded, e.Id)
	case *types.TimerCancelled:
		return add(&l.Cancelled, e.Id)
	case *types.TimerCancelledByGovernance:
		return add(&l.Cancelled, e.Id)
	case *types.TimerHeld:
		if e.Reason == types.Quarantined {
			return add(&l.Quarantined, e.Id)
		}
	case *types.TimerLaneSummary:
		l.LaneBasefee, l.Cycles, l.P50 = e.LaneBasefee, e.Cycles, e.P50
	case *types.TimerLaneFailed:
		return fmt.Errorf("the timer lane failed at height %d with %s/%d", e.Height, e.Codespace, e.Code)
	}
	return nil
}
