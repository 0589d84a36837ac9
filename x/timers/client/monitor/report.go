package monitor

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/event"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// fact is one thing that is told of a happening.
type fact struct{ key, value string }

// happening is what happened to one timer, or the lane, in a block.
type happening struct {
	height uint64
	// kind is one word: fired, failed, expired, unfunded, ...
	kind string
	// actor and id name the timer; empty where the lane itself is meant.
	actor, id string
	facts     []fact
}

// concerns tells whether an actor is meant; without one, everything is of concern.
func (h *happening) concerns(actor string) bool {
	return actor == "" || h.actor == "" || h.actor == actor
}

// line is the happening as one plain line: its kind, then key=value.
func (h *happening) line() string {
	text := fmt.Sprintf("%s height=%d", h.kind, h.height)
	if h.id != "" {
		text += " timer=" + plainValue(h.actor+"/"+h.id)
	}
	return text + plainFacts(h.facts)
}

// words are the facts for people.
func (h *happening) words() string {
	words := make([]string, len(h.facts))
	for i, f := range h.facts {
		words[i] = strings.ReplaceAll(f.key, "_", " ") + " " + f.value
	}
	return plain.Clean(strings.Join(words, ", "))
}

func plainFacts(facts []fact) string {
	text := ""
	for _, f := range facts {
		text += " " + f.key + "=" + plainValue(f.value)
	}
	return text
}

// plainValue is a value that ends where a space begins.
func plainValue(value string) string {
	if value = plain.Clean(value); value == "" || strings.ContainsAny(value, ` "`) {
		return strconv.Quote(value)
	}
	return value
}

// report is what a block did to the timers.
type report struct {
	height uint64
	// missing says why the node has no results of the block; empty if it has.
	missing    string
	summary    *types.TimerLaneSummary
	happenings []happening
}

// line is the block as one plain line.
func (r *report) line() string {
	text := fmt.Sprintf("block height=%d", r.height)
	s := r.summary
	switch {
	case r.missing != "":
		return text + " results=missing" + plainFacts([]fact{{"reason", r.missing}})
	case s == nil:
		return text + " summary=none"
	}
	return text + plainFacts([]fact{
		{"policy", plain.PolicyName(s.Policy)},
		{"basefee", plain.Dec(s.LaneBasefee)},
		{"p50", plain.Dec(s.P50)},
		{"cycles", fmt.Sprint(s.Cycles)},
		{"cells", fmt.Sprint(s.Cells)},
		{"gc_cycles", fmt.Sprint(s.GcCycles)},
		{"fired", fmt.Sprint(s.Fired)},
		{"failed", fmt.Sprint(s.Failed)},
		{"expired", fmt.Sprint(s.Expired)},
		{"unfunded", fmt.Sprint(s.Unfunded)},
		{"set_aside", fmt.Sprint(s.SetAside)},
		{"deferred", fmt.Sprint(s.Deferred)},
		{"storm", fmt.Sprint(s.Storm)},
	})
}

// readReport asks a node for the results of a block. Results that the node does not keep are no error: that is said in
// the report.
func readReport(ctx context.Context, node client.CometRPC, height uint64) (report, error) {
	at := int64(height)
	results, err := node.BlockResults(ctx, &at)
	r := report{height: height}
	if err != nil {
		if reason, gone := notKept(err); gone {
			r.missing = reason
			return r, nil
		}
		return r, fmt.Errorf("ask for the results of height %d: %w", height, err)
	}
	for _, tx := range results.TxsResults {
		// A transaction that failed did nothing but pay.
		if tx.Code == 0 {
			r.read(tx.Events)
		}
	}
	r.read(results.FinalizeBlockEvents)
	return r, nil
}

// notKept reports whether an RPC error is permanent, since the node does not keep the results, and why. The RPC has no
// codes for these.
func notKept(err error) (reason string, gone bool) {
	text := err.Error()
	for part, meaning := range map[string]string{
		"could not find results for height": "the node has pruned them",
		"lowest height is":                  "the node has pruned the block",
		"not persisting finalize block":     "the node keeps no results (discard_abci_responses)",
	} {
		if strings.Contains(text, part) {
			return meaning, true
		}
	}
	return "", false
}

// read takes the module's events.
func (r *report) read(events []abci.Event) {
	for _, found := range events {
		if !event.Ours(found) {
			continue
		}
		typed, err := event.Parse(found)
		if err != nil {
			r.happenings = append(r.happenings, happening{
				height: r.height, kind: "unreadable", facts: []fact{{"event", found.Type}, {"error", fmt.Sprintf("%.120s", err)}},
			})
			continue
		}
		if summary, ok := typed.(*types.TimerLaneSummary); ok {
			r.summary = summary
			continue
		}
		if h, told := tell(typed); told {
			h.height = r.height
			r.happenings = append(r.happenings, h)
		}
	}
}

// tell puts an event in words; false for those that say nothing of where a timer stands.
func tell(message proto.Message) (happening, bool) {
	h := happening{}
	switch e := message.(type) {
	case *types.TimerFired:
		h = happening{kind: "fired", actor: e.Actor, id: e.Id, facts: []fact{
			{"paid", e.Paid}, {"tip", e.Tip}, {"cycles", fmt.Sprint(e.Cycles)}, {"cells", fmt.Sprint(e.Cells)}, {"late", fmt.Sprint(e.Late)},
		}}
		if !e.Success {
			h.kind = "failed"
			h.facts = append([]fact{{"code", fmt.Sprintf("%s/%d", e.Codespace, e.Code)}}, h.facts...)
		}
	case *types.TimerExpired:
		h = happening{kind: "expired", actor: e.Actor, id: e.Id, facts: []fact{{"expires_at", fmt.Sprint(e.ExpiresAt)}}}
	case *types.TimerCancelledInsufficientFunds:
		h = happening{kind: "unfunded", actor: e.Actor, id: e.Id, facts: []fact{{"required", e.Required}, {"available", e.Available}}}
		if e.AllowanceRefused {
			h.facts = append(h.facts, fact{"allowance", "refused"})
		}
	case *types.TimerScheduled:
		h = happening{kind: "scheduled", actor: e.Actor, id: e.Id, facts: []fact{{"due", fmt.Sprint(e.Due)}, {"gas_limit", fmt.Sprint(e.GasLimit)}}}
	case *types.TimerCancelled:
		h = happening{kind: "cancelled", actor: e.Actor, id: e.Id}
	case *types.TimerCancelledByGovernance:
		h = happening{kind: "cancelled", actor: e.Actor, id: e.Id, facts: []fact{{"by", "governance"}}}
	case *types.TimerSetAside:
		h = happening{kind: "set_aside", actor: e.Actor, id: e.Id, facts: []fact{{"reason", e.Reason.Word()}}}
		if e.Codespace != "" {
			h.facts = append(h.facts, fact{"code", fmt.Sprintf("%s/%d", e.Codespace, e.Code)})
		}
	case *types.TimerReleased:
		h = happening{kind: "released", actor: e.Actor, id: e.Id, facts: []fact{{"reason", e.Reason.Word()}}}
	case *types.TimerLaneFailed:
		h = happening{kind: "lane_failed", facts: []fact{{"code", fmt.Sprintf("%s/%d", e.Codespace, e.Code)}}}
	case *types.TimerBasefeeSourceFailed:
		h = happening{kind: "no_basefee", facts: []fact{
			{"code", fmt.Sprintf("%s/%d", e.Codespace, e.Code)}, {"cycle", e.CycleBasefee}, {"cell", e.CellBasefee},
		}}
	default:
		return h, false
	}
	return h, true
}
