package history

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagLimit  = "page-limit"
	flagBefore = "before"
	// defaultHistory and maxHistory are heights a page; a node answers no search with more than 100.
	defaultHistory, maxHistory = 20, 100
)

// timerEvent is an event about one timer.
type timerEvent interface {
	proto.Message
	GetId() string
	GetActor() string
}

// history is a page of what happened, newest first.
type history struct {
	Events []row  `json:"events"`
	Totals totals `json:"totals"`
	// Before is the --before of the next page; 0 if there is none.
	Before int64 `json:"next_before,omitempty"`
	// KnownFrom is the node's first block, if that is not the chain's: it knows nothing of what was before.
	KnownFrom int64 `json:"known_from,omitempty"`
}

type row struct {
	Height int64           `json:"height"`
	Timer  string          `json:"timer"`
	Type   string          `json:"type"`
	Event  json.RawMessage `json:"event"`

	event timerEvent
	// due is when a fire was due, its delay by jitter included, in seconds since 1970; 0 if the page does not tell.
	due int64
	// run: the message that changed it was one to run it.
	run bool
}

// what is the event in a word: fired, held.
func (r *row) what() string {
	name := strings.TrimPrefix(r.Type, "Timer")
	switch skipped, ok := r.event.(*types.TimerOccurrencesSkipped); {
	case r.run:
		return "run"
	case ok && skipped.Reason == types.SkipRequested:
		return "skipped"
	}
	if name == "CancelledInsufficientFunds" {
		return "unfunded"
	}
	var text strings.Builder
	for i, letter := range strings.Replace(name, "ByGovernance", "", 1) {
		if i > 0 && letter >= 'A' && letter <= 'Z' {
			text.WriteByte(' ')
		}
		text.WriteRune(letter)
	}
	return strings.ToLower(text.String())
}

// totals are what the fires of a page come to.
type totals struct {
	Fired  int `json:"fired"`
	Failed int `json:"failed"`
	// Guarded fires ran no handler.
	Guarded int    `json:"guarded"`
	Paid    string `json:"paid"`
}

func (h *history) totals() totals {
	t, paid := totals{}, math.ZeroInt()
	for i := range h.Events {
		fired, ok := h.Events[i].event.(*types.TimerFired)
		if !ok {
			continue
		}
		t.Fired++
		switch {
		case fired.Guarded:
			t.Guarded++
		case !fired.Success:
			t.Failed++
		}
		if amount, known := types.ParseAmount(fired.Paid); known {
			paid = paid.Add(amount)
		}
	}
	t.Paid = paid.String()
	return t
}

// words are the result, what was paid, the next due height, and what else there is to say; a dash is nothing. They are there for
// every event of a timer. Stamp writes times.
func (r *row) words(stamp func(seconds int64) string) [4]string {
	switch e := r.event.(type) {
	case *types.TimerFired:
		return firedWords(e, r.due, stamp)
	case *types.TimerScheduled:
		more := plain.Until(e.ExpiresAt, e.ExpiresTime, stamp)
		if e.Name != "" {
			more += ", " + plain.Clean(e.Name)
		}
		return [4]string{"-", "-", plain.Next(e.Due, e.DueTime, stamp), more}
	case *types.TimerUpdated:
		more := "by its owner; it goes to the back of those due at its height"
		if r.run {
			more = "by its owner: its next occurrence is due at once"
		}
		return [4]string{"-", "-", plain.Next(e.Due, e.DueTime, stamp), more}
	case *types.TimerExpired:
		return said("it was to fire " + plain.Until(e.ExpiresAt, e.ExpiresTime, stamp) + plain.Missing(e.Missing))
	case *types.TimerOccurrencesSkipped:
		return skippedWords(e, stamp)
	case *types.TimerReleased:
		return [4]string{e.Reason.Word(), "-", plain.Next(e.Due, e.DueTime, stamp), ""}
	case *types.TimerHeld:
		more := ""
		switch {
		case e.Reason == types.Suspended || e.Reason == types.Unfunded:
			more = plain.Shortfall(e.Required, e.Available, e.AllowanceRefused)
		case e.Codespace != "":
			more = words.Outcome(false, false, e.Codespace, e.Code)
		}
		return [4]string{e.Reason.Word(), "-", "-", more}
	case *types.TimerCancelledInsufficientFunds:
		return said(plain.Shortfall(e.Required, e.Available, e.AllowanceRefused))
	case *types.TimerDeferredInsufficientFunds:
		return said("waits: " + plain.Shortfall(e.Required, e.Available, e.AllowanceRefused))
	case *types.TimerExtended:
		return said(extendedWords(e.ExpiresAt, e.PreviousExpiresAt, e.ExpiresTime, e.PreviousExpiresTime, stamp))
	case *types.TimerExtendedByGovernance:
		return [4]string{"by governance", "-", "-", extendedWords(e.ExpiresAt, e.PreviousExpiresAt, e.ExpiresTime, e.PreviousExpiresTime, stamp)}
	case *types.TimerCancelled:
		by := "its owner"
		if e.Scheduler != "" {
			by = "who scheduled it, " + plain.Clean(e.Scheduler)
		}
		return said("by " + by)
	case *types.TimerCancelledByGovernance:
		return [4]string{"by governance", "-", "-", ""}
	case *types.TimerCancelledNotAdmin:
		return said(plain.Clean(e.Scheduler) + " scheduled it, and is no more the contract's admin")
	default:
		return r.bidWords()
	}
}

// bidWords are those of events of bids.
func (r *row) bidWords() [4]string {
	switch e := r.event.(type) {
	case *types.TimerBidLocked:
		return said(fmt.Sprintf("%s more, %s in all", e.Amount, e.Locked))
	case *types.TimerBidSettled:
		return [4]string{"-", e.Paid, "-", fmt.Sprintf("of a bid of %s: %s back, %s locked now", e.Bid, e.Returned, e.Locked)}
	case *types.TimerPriorityClampedAtSchedule:
		return said(fmt.Sprintf("tip lowered from %s to %s", plain.Dec(e.Stated), plain.Dec(e.Clamped)))
	case *types.TimerBidIgnored:
		return said("the policy takes no such bid")
	case *types.TimerAgentFailed:
		return [4]string{words.Outcome(false, false, e.Codespace, e.Code), "-", "-", "agent " + plain.Clean(e.Agent)}
	case *types.TimerAgentBilled:
		return [4]string{"-", e.Paid, "-", fmt.Sprintf("for %d cycles of agent %s", e.Cycles, plain.Clean(e.Agent))}
	default:
		return said("")
	}
}

// said are words of which there is one text.
func said(more string) [4]string { return [4]string{"-", "-", "-", more} }

// extendedWords say when a timer ends, and when it was to end before.
func extendedWords(height, heightBefore uint64, seconds, secondsBefore int64, stamp func(seconds int64) string) string {
	return plain.Until(height, seconds, stamp) + ", not " + strings.TrimPrefix(plain.Until(heightBefore, secondsBefore, stamp), "until ")
}

func skippedWords(e *types.TimerOccurrencesSkipped, stamp func(seconds int64) string) [4]string {
	paid, more := "-", plain.Count(e.Count, "occurrence")
	if e.AtLeast {
		more = "at least " + more
	}
	more += ": " + passed(e, stamp)
	if e.Paid != "" {
		paid = e.Paid
	}
	if e.Ended != types.EndUnspecified {
		more += ", ended: " + plain.End(e.Ended) + plain.Missing(e.Missing)
	}
	return [4]string{plain.Skipped(e.Reason), paid, plain.Next(e.NextDue, e.NextTime, stamp), more}
}

// firstSeconds is a time that no height comes to: a first and a last occurrence are heights or seconds since 1970.
const firstSeconds = 1_000_000_000

// passed are the first and the last of the occurrences that passed: dates or heights.
func passed(e *types.TimerOccurrencesSkipped, stamp func(seconds int64) string) string {
	text := func(at uint64) string {
		if at >= firstSeconds {
			return stamp(int64(at))
		}
		return fmt.Sprintf("height %d", at)
	}
	if e.First == e.Last {
		return text(e.First)
	}
	return text(e.First) + " to " + text(e.Last)
}

// noteDue tells each fire when it was due by the event of its timer before it.
func (h *history) noteDue() {
	due := map[string]int64{}
	for i := len(h.Events) - 1; i >= 0; i-- {
		r := &h.Events[i]
		switch e := r.event.(type) {
		case *types.TimerFired:
			r.due, due[r.Timer] = due[r.Timer], e.NextTime
		case *types.TimerOccurrencesSkipped:
			due[r.Timer] = e.NextTime
		case *types.TimerScheduled:
			due[r.Timer] = e.DueTime
		case *types.TimerUpdated:
			due[r.Timer] = e.DueTime
		case *types.TimerReleased:
			due[r.Timer] = e.DueTime
		}
	}
}

// lateness is how late a fire of a time or a calendar was. A delay by jitter is none: where the page does not tell when it was
// due, no more is said than how long after its occurrence it fired.
func lateness(e *types.TimerFired, due int64) string {
	at := int64(e.Occurrence + e.LateSeconds)
	switch {
	case e.LateSeconds == 0 || at == due:
		return ""
	case due > 0 && at > due:
		return fmt.Sprintf(", %d s late", at-due)
	default:
		return fmt.Sprintf(", %d s after its time", e.LateSeconds)
	}
}

func firedWords(e *types.TimerFired, due int64, stamp func(seconds int64) string) [4]string {
	result, next := words.Outcome(e.Success, e.Guarded, e.Codespace, e.Code), plain.Next(e.NextDue, e.NextTime, stamp)
	more := fmt.Sprintf("%d cycles, %d cells", e.Cycles, e.Cells)
	if e.Late > 0 {
		more += fmt.Sprintf(", %d late", e.Late)
	}
	more += lateness(e, due)
	if e.Retries > 0 {
		more += fmt.Sprintf(", retry %d next", e.Retries)
	}
	if e.Ended != types.EndUnspecified {
		more += ", ended: " + plain.End(e.Ended) + plain.Missing(e.Missing)
	}
	return [4]string{result, e.Paid, next, more}
}
