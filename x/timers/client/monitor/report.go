package monitor

import (
	"context"
	"encoding/json"
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

// fact is one thing that is told of a happening, or of a block.
type fact struct {
	key string
	// value is a uint64, a bool or a string.
	value any
}

func (f fact) text() string { return fmt.Sprint(f.value) }

// happening is what happened to one timer, or the lane, in a block.
type happening struct {
	height uint64
	// kind is one word: fired, failed, expired, unfunded, ...
	kind string
	// actor and id name the timer; empty where the lane itself is meant. name is what its owner calls it.
	actor, id, name string
	// code is codespace/code of an error; empty if there was none. meaning is the text that it is registered with.
	code, meaning string
	facts         []fact
}

// all are the facts in the order of lines and objects: the code first, the name last.
func (h *happening) all() []fact {
	var all []fact
	if h.code != "" {
		all = append(all, fact{"code", h.code})
	}
	all = append(all, h.facts...)
	if h.name != "" {
		all = append(all, fact{"name", h.name})
	}
	return all
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
	return text + plainFacts(h.all())
}

// object is the happening as an object of JSON.
func (h *happening) object() string {
	facts := []fact{{"kind", h.kind}, {"height", h.height}}
	if h.id != "" {
		facts = append(facts, fact{"actor", h.actor}, fact{"id", h.id})
	}
	facts = append(facts, h.all()...)
	if h.meaning != "" {
		facts = append(facts, fact{"meaning", h.meaning})
	}
	return object(facts)
}

// object writes facts as an object of JSON, in their order.
func object(facts []fact) string {
	var text strings.Builder
	for i, f := range facts {
		value, err := json.Marshal(f.value)
		if err != nil {
			// No uint64, bool or string does that.
			value = []byte("null")
		}
		mark := ","
		if i == 0 {
			mark = "{"
		}
		fmt.Fprintf(&text, "%s%q:%s", mark, f.key, value)
	}
	return text.String() + "}"
}

func plainFacts(facts []fact) string {
	text := ""
	for _, f := range facts {
		text += " " + f.key + "=" + plainValue(f.text())
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

// facts are what there is to tell of the block.
func (r *report) facts() []fact {
	s := r.summary
	switch {
	case r.missing != "":
		return []fact{{"results", "missing"}, {"reason", r.missing}}
	case s == nil:
		return []fact{{"summary", "none"}}
	}
	return []fact{
		{"policy", plain.PolicyName(s.Policy)},
		{"basefee", plain.Dec(s.LaneBasefee)},
		{"p50", plain.Dec(s.P50)},
		{"cycles", s.Cycles},
		{"cells", s.Cells},
		{"gc_cycles", s.GcCycles},
		{"fired", uint64(s.Fired)},
		{"failed", uint64(s.Failed)},
		{"guarded", uint64(s.Guarded)},
		{"expired", uint64(s.Expired)},
		{"unfunded", uint64(s.Unfunded)},
		{"on_hold", uint64(s.OnHold)},
		{"deferred", uint64(s.Deferred)},
		{"storm", s.Storm},
	}
}

// line is the block as one plain line.
func (r *report) line() string {
	return fmt.Sprintf("block height=%d", r.height) + plainFacts(r.facts())
}

// object is the block as an object of JSON.
func (r *report) object() string {
	return object(append([]fact{{"kind", "block"}, {"height", r.height}}, r.facts()...))
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
				height: r.height, kind: "unreadable", facts: []fact{{"event", found.Type}, {"error", err.Error()}},
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

// tell puts an event in words; false for one that this binary does not know, and for the summary of a block.
func tell(message proto.Message) (happening, bool) {
	var h happening
	switch e := message.(type) {
	case *types.TimerFired:
		h = fired(e)
	case *types.TimerExpired:
		h = happening{kind: "expired", facts: missing(ends(e.ExpiresAt, e.ExpiresTime), e.Missing)}
	case *types.TimerOccurrencesSkipped:
		h = happening{kind: "skipped", facts: missing([]fact{{"reason", plain.Skipped(e.Reason)}, {"count", e.Count}}, e.Missing)}
	case *types.TimerCancelledInsufficientFunds:
		h = happening{kind: "unfunded", facts: shortfall(e.Required, e.Available, e.AllowanceRefused)}
	case *types.TimerDeferredInsufficientFunds:
		h = happening{kind: "waits_for_funds", facts: shortfall(e.Required, e.Available, e.AllowanceRefused)}
	case *types.TimerScheduled:
		h = happening{kind: "scheduled", facts: []fact{{"due", plain.Next(e.Due, e.DueTime, types.TimeText)}, {"gas_limit", e.GasLimit}}}
	case *types.TimerUpdated:
		h = happening{kind: "updated"}
	case *types.TimerExtended:
		h = happening{kind: "extended", facts: append(ends(e.ExpiresAt, e.ExpiresTime), before(e.PreviousExpiresAt, e.PreviousExpiresTime)...)}
	case *types.TimerExtendedByGovernance:
		h = happening{kind: "extended", facts: append(append([]fact{{"by", "governance"}}, ends(e.ExpiresAt, e.ExpiresTime)...),
			before(e.PreviousExpiresAt, e.PreviousExpiresTime)...)}
	case *types.TimerCancelled:
		h = happening{kind: "cancelled"}
	case *types.TimerCancelledByGovernance:
		h = happening{kind: "cancelled", facts: []fact{{"by", "governance"}}}
	case *types.TimerCancelledNotAdmin:
		h = happening{kind: "cancelled", facts: []fact{{"by", "loss_of_admin"}}}
	case *types.TimerHeld:
		h = happening{kind: "on_hold", facts: []fact{{"reason", e.Reason.Word()}}}
		if e.AllowanceRefused {
			h.facts = append(h.facts, fact{"allowance", "refused"})
		}
		h.failedWith(e.Codespace, e.Code)
	case *types.TimerReleased:
		h = happening{kind: "released", facts: []fact{{"reason", e.Reason.Word()}}}
	default:
		var told bool
		if h, told = tellOfLane(message); !told {
			return tellOfBid(message)
		}
		return h, true
	}
	return h.named(message), true
}

// tellOfLane puts an event of the lane in words.
func tellOfLane(message proto.Message) (h happening, told bool) {
	switch e := message.(type) {
	case *types.TimerConfigUpdatedByGovernance:
		return happening{kind: "config_updated", facts: []fact{{"policy", plain.PolicyName(e.Config.Policy)}}}, true
	case *types.TimerLaneFailed:
		h = happening{kind: "lane_failed"}
		h.failedWith(e.Codespace, e.Code)
	case *types.TimerBasefeeSourceFailed:
		h = happening{kind: "no_basefee", facts: []fact{{"cycle", e.CycleBasefee}, {"cell", e.CellBasefee}}}
		h.failedWith(e.Codespace, e.Code)
	default:
		return h, false
	}
	return h, true
}

// tellOfBid puts an event of bids and of their agents in words.
func tellOfBid(message proto.Message) (h happening, told bool) {
	switch e := message.(type) {
	case *types.TimerBidLocked:
		h = happening{kind: "bid_locked", facts: []fact{{"amount", e.Amount}, {"locked", e.Locked}}}
	case *types.TimerBidSettled:
		h = happening{kind: "bid_settled", facts: []fact{{"paid", e.Paid}, {"returned", e.Returned}, {"locked", e.Locked}}}
	case *types.TimerPriorityClampedAtSchedule:
		h = happening{kind: "tip_lowered", facts: []fact{{"stated", plain.Dec(e.Stated)}, {"clamped", plain.Dec(e.Clamped)}}}
	case *types.TimerBidIgnored:
		h = happening{kind: "bid_ignored", facts: []fact{{"refused_from", e.RefusedFrom}}}
	case *types.TimerAgentFailed:
		h = happening{kind: "agent_failed", facts: []fact{{"agent", e.Agent}}}
		h.failedWith(e.Codespace, e.Code)
	case *types.TimerAgentBilled:
		h = happening{kind: "agent_billed", facts: []fact{{"agent", e.Agent}, {"cycles", e.Cycles}, {"paid", e.Paid}}}
	case *types.TimerAgentSet:
		h = happening{kind: "agent_set", facts: []fact{{"of", e.Actor}, {"agent", e.Agent}}}
	default:
		return h, false
	}
	return h.named(message), true
}

// named is a happening with the timer that an event names, and its name.
func (h happening) named(message proto.Message) happening {
	if actor, ok := message.(interface{ GetActor() string }); ok {
		h.actor = actor.GetActor()
	}
	if named, ok := message.(interface{ GetId() string }); ok {
		h.id = named.GetId()
	}
	if called, ok := message.(interface{ GetName() string }); ok {
		h.name = called.GetName()
	}
	return h
}

func fired(e *types.TimerFired) happening {
	h := happening{kind: "fired", facts: []fact{
		{"paid", e.Paid}, {"tip", e.Tip}, {"cycles", e.Cycles}, {"cells", e.Cells}, {"late", e.Late},
	}}
	switch {
	case e.Guarded:
		h.kind = "guarded"
	case !e.Success:
		h.kind = "failed"
		h.failedWith(e.Codespace, e.Code)
	}
	if e.Ended != types.EndUnspecified {
		h.facts = append(h.facts, fact{"ended", strings.ReplaceAll(plain.End(e.Ended), " ", "_")})
	}
	h.facts = missing(h.facts, e.Missing)
	return h
}

// ends are the last height and the last time at which a timer may fire, as far as there are such; before is what they were.
func ends(height uint64, seconds int64) []fact {
	return endsAs("expires_at", "expires_time", height, seconds)
}

func before(height uint64, seconds int64) []fact {
	return endsAs("before", "before_time", height, seconds)
}

func endsAs(at, time string, height uint64, seconds int64) (facts []fact) {
	if height > 0 {
		facts = append(facts, fact{at, height})
	}
	if seconds > 0 {
		facts = append(facts, fact{time, types.TimeText(seconds)})
	}
	return facts
}

// missing adds how many fires were stated and not made.
func missing(facts []fact, fires uint64) []fact {
	if fires == 0 {
		return facts
	}
	return append(facts, fact{"missing", fires})
}

// shortfall is what a payer could not pay. Where its fee allowance refused, its balance says nothing.
func shortfall(required, available string, allowanceRefused bool) []fact {
	if allowanceRefused {
		return []fact{{"required", required}, {"allowance", "refused"}}
	}
	return []fact{{"required", required}, {"available", available}}
}

// failedWith notes an error; a codespace that is empty is none.
func (h *happening) failedWith(codespace string, code uint32) {
	if codespace != "" {
		h.code, h.meaning = fmt.Sprintf("%s/%d", codespace, code), plain.Registered(codespace, code)
	}
}
