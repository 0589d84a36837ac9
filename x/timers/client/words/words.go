// Package words says in words what messages do, and what makes a timer due.
package words

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/when"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Writer writes for one reader.
type Writer struct {
	Codec codec.Codec
	// Who writes an address.
	Who func(address string) string
}

// executeContract is x/wasm's message, which this module does not import: its fields are read from its JSON.
const executeContract = "/cosmwasm.wasm.v1.MsgExecuteContract"

// Message says what a message does: "send 5utmr to bob". What it does not know it calls by its type.
func (w Writer) Message(msg sdk.Msg) string {
	switch m := msg.(type) {
	case *banktypes.MsgSend:
		return fmt.Sprintf("send %s to %s", m.Amount, w.Who(m.ToAddress))
	case *stakingtypes.MsgDelegate:
		return fmt.Sprintf("delegate %s to %s", m.Amount, w.Who(m.ValidatorAddress))
	case *stakingtypes.MsgUndelegate:
		return fmt.Sprintf("undelegate %s from %s", m.Amount, w.Who(m.ValidatorAddress))
	case *distrtypes.MsgWithdrawDelegatorReward:
		return "withdraw rewards from " + w.Who(m.ValidatorAddress)
	case *govv1.MsgVote:
		return fmt.Sprintf("vote %s on proposal %d", strings.ToLower(strings.TrimPrefix(m.Option.String(), "VOTE_OPTION_")), m.ProposalId)
	default:
		if sdk.MsgTypeURL(msg) == executeContract {
			return w.execute(msg)
		}
		return ShortType(sdk.MsgTypeURL(msg))
	}
}

// Messages says what messages do, one after the other.
func (w Writer) Messages(msgs []sdk.Msg) string {
	parts := make([]string, len(msgs))
	for i, msg := range msgs {
		parts[i] = w.Message(msg)
	}
	return plain.Clean(strings.Join(parts, ", then "))
}

func (w Writer) execute(msg sdk.Msg) string {
	raw, err := w.Codec.MarshalJSON(msg)
	var m struct {
		Contract string          `json:"contract"`
		Msg      json.RawMessage `json:"msg"`
		Funds    sdk.Coins       `json:"funds"`
	}
	if err != nil || json.Unmarshal(raw, &m) != nil {
		return ShortType(executeContract)
	}
	text := fmt.Sprintf("call %s with %.120s", w.Who(m.Contract), m.Msg)
	if !m.Funds.IsZero() {
		text += " and " + m.Funds.String()
	}
	return text
}

// ShortType is the type of a message without its package: MsgSend.
func ShortType(url string) string { return plain.Clean(url[strings.LastIndexAny(url, "./")+1:]) }

// Timer says what a timer does. Lists leave out a long payload, of which nothing can be told but its length.
func (w Writer) Timer(t *types.TimerInfo) string {
	if uint64(len(t.Spec.Call.Payload)) < t.Status.PayloadBytes && len(t.Spec.Call.Messages) == 0 {
		return fmt.Sprintf("%s, %s bytes", plain.Clean(handler(t)), plain.Thousands(t.Status.PayloadBytes))
	}
	messages := t.Spec.Call.Messages
	if len(messages) == 0 {
		messages = MessagesOf(t)
	}
	if len(messages) == 0 {
		return plain.Clean(handler(t))
	}
	parts := make([]string, len(messages))
	for i, any := range messages {
		var msg sdk.Msg
		if err := w.Codec.InterfaceRegistry().UnpackAny(any, &msg); err != nil || msg == nil {
			parts[i] = ShortType(any.GetTypeUrl())
			continue
		}
		parts[i] = w.Message(msg)
	}
	return plain.Clean(strings.Join(parts, ", then "))
}

// handler is that which a timer calls: a spec leaves the default out.
func handler(t *types.TimerInfo) string { return cmp.Or(t.Spec.Call.Handler, types.DefaultHandler) }

// MessagesIn are the messages of a timer, as its query decodes them, or else those of its payload.
func MessagesIn(t *types.TimerInfo) []*codectypes.Any {
	if len(t.Spec.Call.Messages) > 0 {
		return t.Spec.Call.Messages
	}
	return MessagesOf(t)
}

// MessagesOf are the messages of an account's timer, read one level deep; none if the payload is something else. Each type
// of a message begins with a slash, which tells it from bytes that only look like one.
func MessagesOf(t *types.TimerInfo) []*codectypes.Any {
	var payload types.AccountPayload
	if handler(t) != types.DefaultHandler || payload.Unmarshal(t.Spec.Call.Payload) != nil {
		return nil
	}
	for _, message := range payload.Messages {
		if !strings.HasPrefix(message.GetTypeUrl(), "/") {
			return nil
		}
	}
	return payload.Messages
}

// comesTrue says how a condition becomes true, with its value for %s.
var comesTrue = map[types.ConditionOp]string{
	types.ConditionExists: "comes to exist", types.ConditionAbsent: "is deleted", types.ConditionEqual: "becomes %s",
	types.ConditionLess: "falls below %s", types.ConditionLessOrEqual: "falls to %s or below",
	types.ConditionGreater: "rises above %s", types.ConditionGreaterOrEqual: "rises to %s or above",
}

// isTrue says what a condition that is true says, with its value for %s.
var isTrue = map[types.ConditionOp]string{
	types.ConditionExists: "exists", types.ConditionAbsent: "does not exist", types.ConditionEqual: "is %s",
	types.ConditionLess: "is below %s", types.ConditionLessOrEqual: "is at most %s",
	types.ConditionGreater: "is above %s", types.ConditionGreaterOrEqual: "is at least %s",
}

// Watched says what makes a watch due: "bank:balance:bob:utmr falls below 1000000". The texts name its keys, in their
// order; a key that none names is shown as STORE:HEX.
func Watched(keys []types.WatchKey, texts []string) string {
	return said(keys, texts, comesTrue, " or ")
}

// OnlyIf says what must hold when a timer fires: "bank:balance:bob:utmr is below 100". Nothing if there is no condition.
func OnlyIf(keys []types.WatchKey, texts []string) string { return said(keys, texts, isTrue, " and ") }

func said(keys []types.WatchKey, texts []string, verbs map[types.ConditionOp]string, between string) string {
	parts := make([]string, len(keys))
	for i, key := range keys {
		name, happens := fmt.Sprintf("%s:%x", key.Store, key.Prefix), "changes"
		if i < len(texts) {
			name = texts[i]
		}
		if key.When != nil {
			happens = strings.ReplaceAll(verbs[key.When.Op], "%s", key.When.Value)
		}
		parts[i] = name + " " + happens
	}
	return plain.Clean(strings.Join(parts, between))
}

// Repeats says how a timer repeats: "20 blocks", "20 blocks, 3 left", "on the first of each month at 09:00 as in Europe/Berlin",
// "each change"; a dash for one that does not.
func Repeats(t *types.TimerInfo) string {
	switch trigger := &t.Spec.Trigger; {
	case trigger.Interval != nil:
		return plain.Count(trigger.Interval.Every, "block") + left(t.Status.Left)
	case trigger.Calendar != nil:
		return repeatsIn(t, when.ClocksAt(trigger.Calendar.Series(), t.Status.DueTime))
	case trigger.Watch != nil:
		switch {
		case t.Spec.Repetitions() == 1:
			return "-"
		case trigger.Watch.Level:
			return "again after " + plain.Count(trigger.Watch.Cooldown, "block") + " while it holds" + left(t.Status.Left)
		default:
			return "each change" + left(t.Status.Left)
		}
	default:
		return "-"
	}
}

// RepeatsIn is the same for who reads the clocks of a zone, which is named where the timer follows it until its next
// occurrences.
func RepeatsIn(t *types.TimerInfo, zone *time.Location, now, until time.Time) string {
	c := t.Spec.Trigger.Calendar
	if c == nil || c.Cron == nil || zone == nil || zone == time.Local || !when.Keeps(c.Series(), zone, now, until) {
		return Repeats(t)
	}
	return repeatsIn(t, zone.String())
}

func repeatsIn(t *types.TimerInfo, zone string) string {
	return strings.TrimPrefix(Rule(t.Spec.Trigger.Calendar, zone), "every ") + left(t.Status.Left)
}

// Rule is a calendar in words: "every 90 minutes", "on the first of each month at 09:00 Europe/Berlin". Without the name of its
// zone one is named that has the same clocks, or else the offset from UTC.
func Rule(c *types.CalendarTrigger, zone string) string {
	if c.Every != nil {
		return "every " + when.Distance(int64(min(c.Every.Seconds, uint64(types.MaxTime))))
	}
	return when.Words(c.Series(), zone)
}

func left(remaining uint64) string {
	if remaining == 0 {
		return ""
	}
	return fmt.Sprintf(", %s left", plain.Thousands(remaining))
}

// Soonest orders timers by when they are due: those that wait for nothing else first, heights and times by when they are expected.
func Soonest(a, b *types.TimerInfo, c timespan.Clock) int {
	onHold := func(t *types.TimerInfo) types.HoldReason {
		if t.Status.HoldReason == types.Timed {
			return types.NotOnHold
		}
		return t.Status.HoldReason
	}
	due := func(t *types.TimerInfo) time.Time {
		if t.Status.HoldReason == types.Timed {
			return time.Unix(t.Status.DueTime, 0)
		}
		return c.Expected(t.Status.Due)
	}
	return cmp.Or(cmp.Compare(onHold(a), onHold(b)), due(a).Compare(due(b)), cmp.Compare(a.Status.Due, b.Status.Due))
}

// Due says when a timer is due: "at height 500", or where it waits for a time "at 2030-01-31 09:00:00 +01:00".
func Due(t *types.TimerInfo, zone *time.Location) string {
	if t.Status.HoldReason == types.Timed {
		return "at " + timespan.Clock{Zone: zone}.Stamp(time.Unix(t.Status.DueTime, 0))
	}
	return fmt.Sprintf("at height %d", t.Status.Due)
}

// DueSince is the height at which a timer became due this time, from which its lateness counts: an update, or a return from hold,
// places it at a later one.
func DueSince(t *types.TimerInfo) uint64 { return cmp.Or(t.Status.Since, t.Status.Due) }

// Outcome is what became of a fire, in words: "ok", "guarded", "sdk/5 (insufficient funds)".
func Outcome(success, guarded bool, codespace string, code uint32) string {
	switch {
	case success:
		return "ok"
	case guarded:
		return "guarded"
	}
	text := fmt.Sprintf("%s/%d", plain.Clean(codespace), code)
	if registered := plain.Registered(codespace, code); registered != "" {
		text += " (" + registered + ")"
	}
	return text
}

// Overdue is the trouble of a timer whose turn has not come.
const Overdue = "OVERDUE"

// Troubles are what an owner should look at: OVERDUE since its turn has not come for at least a block, FAILING since its last fire
// failed.
func Troubles(t *types.TimerInfo, latest uint64) (troubles []string) {
	if t.Status.Phase == types.PhaseReady && DueSince(t) < latest {
		troubles = append(troubles, Overdue)
	}
	if o := t.Status.LastOutcome; o != nil && !o.Success && !o.Guarded {
		troubles = append(troubles, "FAILING")
	}
	return troubles
}

// onHold says what a timer that is on hold waits for, by the reason.
var onHold = map[types.HoldReason]string{
	types.Quarantined: "governance, which releases or cancels it: the module failed on it",
	types.Unrunnable:  "a config that runs its gas limit, or an update of that",
	types.Suspended:   "its owner, who resumes it: its payer lacked funds, or its occurrences failed, lapsed or were skipped too often",
	types.Paused:      "its owner, who paused it and resumes it",
	types.Unfunded:    "its payer, who could not cover a fire when its turn came: it comes back when the payer can",
	types.PricedOut:   "prices that its bid covers: it comes back when they have fallen",
	types.NotAdmin:    "its removal: its scheduler is no longer the admin of its actor",
}

// OnHold says what a timer that is on hold waits for, and why.
func OnHold(reason types.HoldReason) string { return onHold[reason] }

// Status is the status of a timer in words, and why it does not fire: "pending", "on hold: paused", "ready: no room".
func Status(t *types.TimerInfo) string {
	switch {
	case t.Status.Phase == types.PhaseOnHold:
		return "on hold: " + spaced(t.Status.HoldReason.Word())
	case t.Status.Phase == types.PhaseReady && t.Status.Verdict > types.VerdictFires:
		return "ready: " + spaced(t.Status.Verdict.Word())
	default:
		return StatusName(t.Status.Phase)
	}
}

func spaced(word string) string { return strings.ReplaceAll(word, "_", " ") }

// verdicts say why a ready timer does not fire in the next block.
var verdicts = map[types.Verdict]string{
	types.VerdictFires:      "the next block, in which it fires if nothing changes",
	types.VerdictLanePaused: "the lane, which governance has paused",
	types.VerdictNotRead:    "a block that reads it: more timers are ready than one reads",
	types.VerdictPricedOut:  "a price that it may pay: it states less at most",
	types.VerdictNoRoom:     "room in the lane: those before it may fill the next block",
	types.VerdictCapped:     "its turn: as many timers of its actor fire before it as may in a block",
	types.VerdictNoFunds:    "funds: its payer can't cover what a fire may cost",
	types.VerdictNotAdmin:   "nothing: who scheduled it is no longer the admin, and it leaves",
	types.VerdictPassed:     "its next occurrence: this one may not fire any more",
	types.VerdictGuarded:    "nothing: the next block fires it, guarded, since what must hold does not",
}

// Verdict says what a ready timer waits for, and why.
func Verdict(v types.Verdict) string { return cmp.Or(verdicts[v], "the lane") }

// StatusName is a status as people write it: pending, on-hold.
func StatusName(status types.TimerPhase) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(status.String(), "TIMER_PHASE_")), "_", "-")
}
