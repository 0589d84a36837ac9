package history

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
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
}

type row struct {
	Height int64           `json:"height"`
	Timer  string          `json:"timer"`
	Type   string          `json:"type"`
	Event  json.RawMessage `json:"event"`

	event timerEvent
}

// what is the event in a word: fired, set aside.
func (r *row) what() string {
	name := strings.TrimPrefix(r.Type, "Timer")
	if name == "CancelledInsufficientFunds" {
		return "unfunded"
	}
	var words strings.Builder
	for i, letter := range strings.Replace(name, "ByGovernance", "", 1) {
		if i > 0 && letter >= 'A' && letter <= 'Z' {
			words.WriteByte(' ')
		}
		words.WriteRune(letter)
	}
	return strings.ToLower(words.String())
}

// registered is the text that an error is registered with, in brackets; empty for one that this binary does not know.
func registered(codespace string, code uint32) string {
	text := plain.Registered(codespace, code)
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// totals are what the fires of a page come to.
type totals struct {
	Fired  int    `json:"fired"`
	Failed int    `json:"failed"`
	Paid   string `json:"paid"`
}

func (h *history) totals() totals {
	t, paid := totals{}, math.ZeroInt()
	for i := range h.Events {
		fired, ok := h.Events[i].event.(*types.TimerFired)
		if !ok {
			continue
		}
		t.Fired++
		if !fired.Success {
			t.Failed++
		}
		if amount, known := types.ParseAmount(fired.Paid); known {
			paid = paid.Add(amount)
		}
	}
	t.Paid = paid.String()
	return t
}

// words are the result, what was paid, the next due height, and what else there is to say; a dash is nothing.
func (r *row) words() [4]string {
	switch e := r.event.(type) {
	case *types.TimerFired:
		result, next := "ok", "-"
		if !e.Success {
			result = fmt.Sprintf("%s/%d%s", e.Codespace, e.Code, registered(e.Codespace, e.Code))
		}
		if e.NextDue > 0 {
			next = fmt.Sprint(e.NextDue)
		}
		more := fmt.Sprintf("%d cycles, %d cells", e.Cycles, e.Cells)
		if e.Late > 0 {
			more += fmt.Sprintf(", %d late", e.Late)
		}
		if e.Retries > 0 {
			more += fmt.Sprintf(", retry %d next", e.Retries)
		}
		return [4]string{result, e.Paid, next, more}
	case *types.TimerScheduled:
		more := fmt.Sprintf("until %d", e.ExpiresAt)
		if e.Label != "" {
			more += ", " + plain.Clean(e.Label)
		}
		return [4]string{"-", "-", fmt.Sprint(e.Due), more}
	case *types.TimerReleased:
		return [4]string{e.Reason.Word(), "-", fmt.Sprint(e.Due), ""}
	case *types.TimerSetAside:
		more := ""
		if e.Reason == types.Suspended || e.Reason == types.Unfunded {
			more = fmt.Sprintf("wants %s, has %s", e.Required, e.Available)
		}
		return [4]string{e.Reason.Word(), "-", "-", more}
	case *types.TimerCancelledInsufficientFunds:
		return [4]string{"-", "-", "-", fmt.Sprintf("wants %s, has %s", e.Required, e.Available)}
	case *types.TimerExtended:
		return [4]string{"-", "-", "-", fmt.Sprintf("until %d, not %d", e.ExpiresAt, e.PreviousExpiresAt)}
	case *types.TimerExtendedByGovernance:
		return [4]string{"by governance", "-", "-", fmt.Sprintf("until %d, not %d", e.ExpiresAt, e.PreviousExpiresAt)}
	case *types.TimerBidLocked:
		return [4]string{"-", "-", "-", fmt.Sprintf("%s more, %s in all", e.Amount, e.Locked)}
	case *types.TimerBidSettled:
		return [4]string{"-", e.Paid, "-", fmt.Sprintf("of a bid of %s: %s back, %s locked now", e.Bid, e.Returned, e.Locked)}
	case *types.TimerCancelledByGovernance:
		return [4]string{"by governance", "-", "-", ""}
	default:
		return [4]string{"-", "-", "-", ""}
	}
}
