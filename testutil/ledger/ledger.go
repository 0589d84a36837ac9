// Package ledger accounts for timers over the events of a chain: what was scheduled leaves in exactly one way, each
// delivery happens once and in time, and the sums of each block add up. It knows nothing but events, so that it serves
// tests of applications in memory and of real nodes.
package ledger

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Event is a typed event of a block, its attributes without quotes.
type Event struct {
	Type       string
	Attributes map[string]string
}

// prefix of the events that the ledger reads.
const prefix = "timers.v1."

// Mine reports whether the ledger reads events of a type, so that callers need not decode others.
func Mine(eventType string) bool { return strings.HasPrefix(eventType, prefix) }

// Timer is what the ledger knows of a live timer.
type Timer struct {
	ID, Actor string
	// Owner may change the timer: the scheduler, where that is not the actor.
	Owner string
	// Scheduled is the height at which it was scheduled, Expires the last at which it may fire.
	Scheduled, Expires uint64
	// Ends: its life may end at a time, too, which the ledger does not know.
	Ends bool
	// Due is the height before which it must not fire; 0 if that is not known.
	Due uint64
	// passed is when it is due after occurrences that passed in this block; 0 if none did.
	passed uint64
	// Fires is how many deliveries it had.
	Fires uint64
	// occurrence that was delivered last, 0 if none was; again: it is tried once more.
	occurrence uint64
	again      bool
}

// Counts are what a ledger has seen.
type Counts struct {
	Scheduled, Fired, Failed, Expired, Unfunded, Cancelled, OnHold, Released uint64
	// Left are the timers that are gone, of Scheduled; the rest is live.
	Left uint64
}

// Ledger is the account. Its zero value is that of a chain without timers.
type Ledger struct {
	Counts    Counts
	height    uint64
	live      map[string]*Timer
	gone      map[string]string
	delivered map[string]bool
	// cancelled are the timers that were cancelled in this block: a handler may cancel its own timer, whose fire is told
	// of when the handler has returned.
	cancelled map[string]*Timer
}

// Live returns the live timers in the order of their ids.
func (l *Ledger) Live() []Timer {
	timers := make([]Timer, 0, len(l.live))
	for _, t := range l.live {
		timers = append(timers, *t)
	}
	slices.SortFunc(timers, func(a, b Timer) int { return strings.Compare(a.ID, b.ID) })
	return timers
}

// Find returns a live timer.
func (l *Ledger) Find(id string) (Timer, bool) {
	t, found := l.live[id]
	if !found {
		return Timer{}, false
	}
	return *t, true
}

// Block enters the events of a block, in their order: those of its beginning, of the transactions that succeeded, and of
// its end. It returns all that contradicts what came before. Blocks are entered one by one, without a gap.
func (l *Ledger) Block(height uint64, events []Event) error {
	if l.live == nil {
		l.live, l.gone, l.delivered = map[string]*Timer{}, map[string]string{}, map[string]bool{}
	}
	if l.height > 0 && height != l.height+1 {
		return fmt.Errorf("block %d follows block %d", height, l.height)
	}
	l.height, l.cancelled = height, map[string]*Timer{}
	sums := sums{burned: new(big.Int), tips: new(big.Int)}
	var errs []error
	for _, event := range events {
		if !Mine(event.Type) {
			continue
		}
		if err := l.enter(event, &sums); err != nil {
			errs = append(errs, fmt.Errorf("height %d: %s: %w", height, strings.TrimPrefix(event.Type, prefix), err))
		}
	}
	for _, t := range l.live {
		if t.passed > 0 {
			t.Due, t.passed = t.passed, 0
		}
	}
	if err := sums.check(); err != nil {
		errs = append(errs, fmt.Errorf("height %d: %w", height, err))
	}
	return errors.Join(errs...)
}

// enter enters one event.
func (l *Ledger) enter(event Event, sums *sums) error {
	a := event.Attributes
	switch kind := strings.TrimPrefix(event.Type, prefix); kind {
	case "TimerScheduled":
		return l.schedule(a)
	case "TimerFired":
		return errors.Join(l.fire(a), sums.fired(a))
	case "TimerExpired":
		l.Counts.Expired++
		return l.expire(a)
	case "TimerCancelledInsufficientFunds":
		l.Counts.Unfunded++
		return l.leave(a["id"], kind)
	case "TimerCancelled", "TimerCancelledNotAdmin", "TimerCancelledByGovernance":
		l.Counts.Cancelled++
		l.cancelled[a["id"]] = l.live[a["id"]]
		return l.leave(a["id"], kind)
	case "TimerExtended", "TimerExtendedByGovernance":
		return l.change(a["id"], func(t *Timer) { t.Expires, t.Ends = number(a["expires_at"]), number(a["expires_time"]) > 0 })
	case "TimerHeld":
		l.Counts.OnHold++
		return l.change(a["id"], func(*Timer) {})
	case "TimerReleased":
		l.Counts.Released++
		return l.change(a["id"], func(t *Timer) { t.Due = number(a["due"]) })
	case "TimerUpdated":
		return l.change(a["id"], func(t *Timer) {
			t.Due = number(a["due"])
			t.Ends = t.Ends || number(a["due_time"]) > 0
		})
	case "TimerOccurrencesSkipped":
		if err := add(sums.burned, a["paid"]); a["paid"] != "" && err != nil {
			return err
		}
		if why := a["ended"]; why != "" && why != "END_REASON_UNSPECIFIED" {
			return l.leave(a["id"], kind)
		}
		// Where it fires too, that is said after it.
		return l.change(a["id"], func(t *Timer) { t.passed = number(a["next_due"]) })
	case "TimerAgentBilled":
		return add(sums.burned, a["paid"])
	case "TimerBidSettled":
		// What a bid under policy auction pays is tipped.
		return add(sums.tips, a["paid"])
	case "TimerLaneSummary":
		return sums.summary(a)
	case "TimerLaneFailed":
		return fmt.Errorf("the step failed: %s %s", a["codespace"], a["code"])
	}
	return nil
}

func (l *Ledger) schedule(a map[string]string) error {
	id := a["id"]
	if _, known := l.live[id]; known || l.gone[id] != "" {
		return fmt.Errorf("%s was scheduled before", id)
	}
	l.Counts.Scheduled++
	owner := a["scheduler"]
	if owner == "" {
		owner = a["actor"]
	}
	l.live[id] = &Timer{
		ID: id, Actor: a["actor"], Owner: owner, Scheduled: l.height, Expires: number(a["expires_at"]), Due: number(a["due"]),
		Ends: number(a["expires_time"]) > 0,
	}
	return nil
}

func (l *Ledger) fire(a map[string]string) error {
	id := a["id"]
	t, known := l.live[id]
	if itself := l.cancelled[id]; itself != nil && a["success"] == "true" && number(a["next_due"]) == 0 {
		t, known = itself, true
		delete(l.cancelled, id)
	}
	if !known {
		return l.unknown(id)
	}
	l.Counts.Fired++
	if a["success"] != "true" && a["guarded"] != "true" {
		l.Counts.Failed++
	}
	var errs []error
	if l.delivered[a["deliver_id"]] {
		errs = append(errs, fmt.Errorf("delivery %s happened before", a["deliver_id"]))
	}
	l.delivered[a["deliver_id"]] = true
	if l.height <= t.Scheduled || l.height < t.Due || t.Expires > 0 && l.height > t.Expires {
		errs = append(errs, fmt.Errorf("%s, scheduled at %d, is due at %d and expires after %d", id, t.Scheduled, t.Due, t.Expires))
	}
	if seq := number(a["fire_seq"]); seq != t.Fires {
		errs = append(errs, fmt.Errorf("%s has delivery %d after %d deliveries", id, seq, t.Fires))
	}
	if o := number(a["occurrence"]); o > 0 && (o < t.occurrence || o == t.occurrence && !t.again) {
		errs = append(errs, fmt.Errorf("%s delivers occurrence %d after %d", id, o, t.occurrence))
	}
	t.occurrence, t.again = number(a["occurrence"]), number(a["retries"]) > 0
	t.Fires++
	t.Due, t.passed = number(a["next_due"]), 0
	if t.Due == 0 && l.live[id] != nil {
		errs = append(errs, l.leave(id, "TimerFired"))
	}
	return errors.Join(errs...)
}

func (l *Ledger) expire(a map[string]string) error {
	t, known := l.live[a["id"]]
	if known && !t.Ends && l.height <= t.Expires {
		return fmt.Errorf("%s may fire until %d", a["id"], t.Expires)
	}
	return l.leave(a["id"], "TimerExpired")
}

func (l *Ledger) change(id string, how func(*Timer)) error {
	t, known := l.live[id]
	if !known {
		return l.unknown(id)
	}
	how(t)
	return nil
}

// leave notes in which way a timer has left.
func (l *Ledger) leave(id, way string) error {
	if _, known := l.live[id]; !known {
		return l.unknown(id)
	}
	delete(l.live, id)
	l.gone[id] = fmt.Sprintf("%s at %d", way, l.height)
	l.Counts.Left++
	return nil
}

func (l *Ledger) unknown(id string) error {
	if way := l.gone[id]; way != "" {
		return fmt.Errorf("%s has left by %s", id, way)
	}
	return fmt.Errorf("%s was never scheduled", id)
}

// Is compares the live timers with those that the state has.
func (l *Ledger) Is(ids []string) error {
	stored := make(map[string]bool, len(ids))
	var errs []error
	for _, id := range ids {
		if stored[id] = true; l.live[id] == nil {
			errs = append(errs, fmt.Errorf("the state has a timer that should not be: %w", l.unknown(id)))
		}
	}
	for _, t := range l.Live() {
		if !stored[t.ID] {
			errs = append(errs, fmt.Errorf("%s is lost: no event says that it left", t.ID))
		}
	}
	return errors.Join(errs...)
}

// sums are what the events of a block say of its money, against what its summary says.
type sums struct {
	burned, tips *big.Int
	fires        uint64
	said         map[string]string
}

func (s *sums) fired(a map[string]string) error {
	paid, ok := new(big.Int).SetString(a["paid"], 10)
	tip, is := new(big.Int).SetString(a["tip"], 10)
	refunded, given := new(big.Int).SetString(a["refunded"], 10)
	if !ok || !is || !given || tip.Sign() < 0 || refunded.Sign() < 0 || paid.Cmp(tip) < 0 {
		return fmt.Errorf("paid %q, tip %q, refunded %q", a["paid"], a["tip"], a["refunded"])
	}
	s.fires++
	s.tips.Add(s.tips, tip)
	s.burned.Add(s.burned, paid).Sub(s.burned, tip)
	return nil
}

// add adds an amount that an event states.
func add(sum *big.Int, text string) error {
	paid, ok := new(big.Int).SetString(text, 10)
	if !ok || paid.Sign() < 0 {
		return fmt.Errorf("paid %q", text)
	}
	sum.Add(sum, paid)
	return nil
}

func (s *sums) summary(a map[string]string) error {
	if s.said != nil {
		return errors.New("a second summary")
	}
	s.said = a
	return nil
}

// check holds the sums of the fires to the summary, if the block has one.
func (s *sums) check() error {
	if s.said == nil {
		return nil
	}
	got := [3]string{s.burned.String(), s.tips.String(), strconv.FormatUint(s.fires, 10)}
	if want := [3]string{s.said["burned"], s.said["tips"], s.said["fired"]}; got != want {
		return fmt.Errorf("burned, tips and fires are %v, the summary says %v", got, want)
	}
	return nil
}

// number reads a height or a count; what is absent is 0.
func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
