package life

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kinds of triggers, and places of a timer.
const (
	Once     = "once"
	Interval = "every"
	OnChange = "watch"
	AtTime   = "time"
	Calendar = "calendar"
	Rhythm   = "rhythm"

	Queued   = "queue"
	Waiting  = "waiting"
	Watching = "watching"
	Held     = "onHold"
)

// never is later than any height and any time.
const never = math.MaxInt64 / 4

// Terms are what a timer was scheduled with. Heights are in blocks, times in seconds; 0 is none.
type Terms struct {
	Kind string `json:"kind"`
	// Due is the first height of a one-shot, an interval or a rhythm; At the first time of a time or a calendar.
	Due int64 `json:"due,omitempty"`
	At  int64 `json:"at,omitempty"`
	// Expires is the last height, and Ends the last time, at which it may fire.
	Expires int64 `json:"expires,omitempty"`
	Ends    int64 `json:"ends,omitempty"`
	// Every is in blocks, of a calendar in seconds; above 0 where it repeats. Remaining is how often; 0 without an end.
	Every     int64 `json:"every,omitempty"`
	Remaining int64 `json:"remaining,omitempty"`
	Stops     bool  `json:"stops,omitempty"`
	// Latest: only the latest occurrence fires, in no more than Window of its clock.
	Latest     bool  `json:"latest,omitempty"`
	Window     int64 `json:"window,omitempty"`
	RetryMax   int64 `json:"retry_max,omitempty"`
	RetryAfter int64 `json:"retry_after,omitempty"`
	Cooldown   int64 `json:"cooldown,omitempty"`
	// Size is what it reserves of the lane, in cycles.
	Size int64 `json:"size,omitempty"`
}

// Event is one of a block, its attributes without quotes. TimerScheduled has the timer's terms.
type Event struct {
	Kind       string            `json:"kind"`
	Attributes map[string]string `json:"attributes"`
	Terms      *Terms            `json:"terms,omitempty"`
}

// Block has its events in their order: those of transactions, and those of its end. Time is in seconds.
type Block struct {
	Height int64   `json:"height"`
	Time   int64   `json:"time"`
	Events []Event `json:"events"`
}

// Timer is one that lives.
type Timer struct {
	Terms
	Place string
	// First is the first occurrence; born the height that scheduled it.
	First, born                                                 int64
	FireSeq, Retries, After, Trying, Deliveries, Lapses, Forced int64
	// Since is when it became due this time, where Due is a later place in the queue; else 0. Tried: what is in hand was.
	Since, Failures int64
	Tried           bool
	// reason for which it is held, and the height of its last fire.
	reason   string
	lastFire int64
	// hit: a watch that fires in this block. No event says when a watch became due: until it fires it counts as watching.
	hit bool
}

type now struct{ height, time int64 }

// Checker follows the timers of a chain. Its zero value begins with none.
type Checker struct {
	// SuspendsAfter is after how many lapses in a row a timer is suspended. Lane is the lane's size: a timer that is ready
	// and does not fire must have found no room; 0 does not check that.
	SuspendsAfter, Lane int64
	// Steps counts the events that were followed, by kind; Waits the blocks in which a ready timer found no room.
	Steps map[string]int
	Waits int
	// Partial: timers whose terms are not known are counted as Unknown, and not followed. Otherwise they are an error.
	Partial bool
	Unknown int

	live    map[string]*Timer
	gone    map[string]string
	unknown map[string]bool
	// called has the events of agents' calls of the block, by kind and timer.
	called map[string]bool
	// asked are the timers of which owners skip occurrences in the block, and passed those of which some have passed in it.
	asked, passed map[string]bool
	now           now
}

// Live returns a timer that lives.
func (c *Checker) Live(id string) (Timer, bool) {
	t := c.live[id]
	if t == nil {
		return Timer{}, false
	}
	return *t, true
}

// IDs of all that live, in order.
func (c *Checker) IDs() []string {
	ids := make([]string, 0, len(c.live))
	for id := range c.live {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Block follows a block, and returns all that the model does not allow. Heights come one after the other; times do not
// go back.
func (c *Checker) Block(b Block) error {
	if c.live == nil {
		c.live, c.gone, c.unknown, c.Steps = map[string]*Timer{}, map[string]string{}, map[string]bool{}, map[string]int{}
	}
	if c.now.height > 0 && b.Height != c.now.height+1 || b.Time < c.now.time {
		return fmt.Errorf("block %d at %d follows block %d at %d", b.Height, b.Time, c.now.height, c.now.time)
	}
	c.now, c.called, c.asked, c.passed = now{b.Height, b.Time}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	fired, used, failed := map[string]bool{}, int64(-1), false
	for _, e := range b.Events {
		switch e.Kind {
		case "TimerFired":
			fired[e.Attributes["id"]] = true
		case "TimerOccurrencesSkipped":
			if strings.HasSuffix(e.Attributes["reason"], "REQUESTED") {
				c.asked[e.Attributes["id"]] = true
			}
		case "TimerLaneSummary":
			used = number(e.Attributes["used_size"])
		case "TimerLaneFailed":
			failed = true
		}
	}
	var errs []error
	for _, e := range b.Events {
		if err := c.step(e, fired); err != nil {
			errs = append(errs, fmt.Errorf("height %d: %s of %s: %w", b.Height, e.Kind, e.Attributes["id"], err))
		}
	}
	for _, id := range c.IDs() {
		if failed {
			break // The end of this block did nothing.
		}
		t := c.live[id]
		if t.born < b.Height {
			t.collect(c.now)
		}
		if c.Lane == 0 || fired[id] || t.Place != Queued || t.Due > b.Height || t.born == b.Height || t.expired(c.now) {
			continue
		}
		if c.Waits++; used+t.Size <= c.Lane {
			errs = append(errs, fmt.Errorf("height %d: %s is due since %d, and %d of %d are used", b.Height, id, t.Due,
				used, c.Lane))
		}
	}
	return errors.Join(errs...)
}

func (c *Checker) step(e Event, fired map[string]bool) error {
	id, a := e.Attributes["id"], e.Attributes
	if c.unknown[id] {
		return nil
	}
	if e.Kind == "TimerScheduled" && e.Terms == nil && c.Partial {
		c.unknown[id] = true
		c.Unknown++
		return nil
	}
	if e.Kind == "TimerAgentFailed" || e.Kind == "TimerAgentBilled" {
		c.Steps[e.Kind]++
		return c.call(id, e.Kind, a, fired[id])
	}
	if e.Kind == "TimerScheduled" {
		c.Steps[e.Kind]++
		return c.schedule(id, e.Terms, a)
	}
	follow := map[string]func(*Timer) error{
		"TimerFired":              func(t *Timer) error { return c.fire(t, a) },
		"TimerOccurrencesSkipped": func(t *Timer) error { return c.skip(t, a, fired[id]) },
		"TimerExpired":            func(t *Timer) error { return c.expire(t, id) },
		"TimerHeld":               func(t *Timer) error { return c.hold(t, a) },
		"TimerReleased":           func(t *Timer) error { return c.release(t, a) },
		"TimerUpdated":            func(t *Timer) error { return c.update(t, a) },
		"TimerExtended": func(t *Timer) error {
			t.Expires, t.Ends = number(a["expires_at"]), number(a["expires_time"])
			return nil
		},
		"TimerCancelled":                  func(*Timer) error { return c.leave(id, e.Kind) },
		"TimerCancelledByGovernance":      func(*Timer) error { return c.leave(id, e.Kind) },
		"TimerCancelledInsufficientFunds": func(*Timer) error { return c.leave(id, e.Kind) },
	}[e.Kind]
	if follow == nil {
		return nil
	}
	c.Steps[e.Kind]++
	t := c.live[id]
	if t == nil {
		return fmt.Errorf("it does not live; it has left by %q", c.gone[id])
	}
	return follow(t)
}

// call follows what events say of the call of a timer's agent: one call a block, of a timer that lives or has left in
// the block. A call is billed alone only if the timer does not fire in the block.
func (c *Checker) call(id, kind string, a map[string]string, fires bool) error {
	left := strings.HasSuffix(c.gone[id], fmt.Sprintf(" at %d", c.now.height))
	switch {
	case c.live[id] == nil && !left:
		return fmt.Errorf("it does not live; it has left by %q", c.gone[id])
	case c.called[kind+id]:
		return errors.New("its agent was called twice")
	case kind == "TimerAgentBilled" && fires:
		return errors.New("it fires, and its call is billed alone")
	case kind == "TimerAgentBilled" && (number(a["cycles"]) <= 0 || number(a["paid"]) < 0):
		return fmt.Errorf("cycles are %q and paid is %q, want more than 0, and 0 or more", a["cycles"], a["paid"])
	}
	c.called[kind+id] = true
	return nil
}

func (c *Checker) schedule(id string, terms *Terms, a map[string]string) error {
	switch {
	case terms == nil:
		return errors.New("its terms are not known")
	case c.live[id] != nil || c.gone[id] != "":
		return errors.New("it was scheduled before")
	case (terms.Kind == Interval || terms.Kind == Calendar || terms.Kind == Rhythm) && terms.Every <= 0:
		return fmt.Errorf("every is %d, want 1 or more", terms.Every)
	}
	t := &Timer{Terms: *terms, Place: Queued, born: c.now.height, First: terms.Due}
	switch t.Kind {
	case OnChange:
		t.Place, t.Due = Watching, c.now.height+1
	case AtTime, Calendar:
		t.Place, t.Due, t.First = Waiting, c.now.height+1, t.At
	}
	if t.After = c.now.height; t.Kind == Calendar {
		t.After = c.now.time
	}
	if !t.recurs() {
		t.After = 0
	}
	c.live[id] = t
	return equal("due", a["due"], t.Due)
}

// fire checks that the timer may fire now, and that what the event says of its next fire follows from the model.
func (c *Checker) fire(t *Timer, a map[string]string) error {
	t.collect(c.now)
	var errs []error
	late := number(a["late"])
	if t.Place == Watching && t.born < c.now.height && c.now.height-late >= t.Due {
		t.Place, t.Due, t.hit = Queued, c.now.height-late, true
	}
	if t.Place != Queued || t.Due > c.now.height || t.born >= c.now.height || t.expired(c.now) {
		errs = append(errs,
			fmt.Errorf("in place %s, due at %d and %d, born at %d, it may fire until %d and %d; now is %d and %d",
				t.Place, t.Due, t.At, t.born, t.Expires, t.Ends, c.now.height, c.now.time))
	}
	what := failed
	switch {
	case a["guarded"] == "true":
		what = guarded
	case a["success"] == "true":
		what = succeeded
	}
	r, _ := t.occurrence(c.now)
	if !r.open {
		errs = append(errs, errors.New("nothing of it may fire now"))
	}
	index := int64(0)
	switch {
	case what == guarded && !t.Tried:
	case t.recurs() && !t.Tried:
		index = t.Deliveries + 1
	case t.recurs():
		index = t.Deliveries
	case t.Kind == AtTime:
		index = 1
	}
	errs = append(errs, equal("fire_seq", a["fire_seq"], t.FireSeq), equal("late", a["late"], c.now.height-t.since()),
		equal("occurrence", a["occurrence"], r.fire), equal("index", a["index"], index))
	stays := t.roll(what, c.now, c.SuspendsAfter)
	due, at, retries := int64(0), int64(0), int64(0)
	if stays {
		due, retries = t.Due, t.Retries
		if t.Place == Waiting {
			at = t.At
		}
	}
	errs = append(errs, equal("next_due", a["next_due"], due), equal("next_time", a["next_time"], at),
		equal("retries", a["retries"], retries))
	if !stays {
		errs = append(errs, c.leave(a["id"], "TimerFired"))
	}
	return errors.Join(errs...)
}

// skip follows occurrences that passed: with a fire, at its owner's wish, while it was held, or in the place of a fire.
func (c *Checker) skip(t *Timer, a map[string]string, fires bool) error {
	id := a["id"]
	switch reason := strings.TrimPrefix(a["reason"], "SKIP_REASON_"); reason {
	case "PAUSED", "UPDATED":
		return nil
	case "REQUESTED":
		delete(c.asked, id)
		if !t.skip(number(a["count"]), c.now) {
			return errors.New("it has no such occurrences")
		}
		return c.next(t, a)
	case "LATER", "WINDOW", "RETRY":
		if fires || c.asked[id] || c.passed[id] {
			return nil // It passes with what another event says.
		}
		c.passed[id] = true
	default:
		return fmt.Errorf("the reason %s is not known", reason)
	}
	t.collect(c.now)
	r, over := t.occurrence(c.now)
	if t.Place != Queued || t.Due > c.now.height || r.open {
		return fmt.Errorf("in place %s, due at %d: its occurrence has not passed", t.Place, t.Due)
	}
	what := lapsed
	if !over && number(a["paid"]) == 0 {
		what = lapsedFree // Its window ended while it was held, or the lane was paused.
	}
	if !t.roll(what, c.now, c.SuspendsAfter) {
		return errors.Join(equal("next_due", a["next_due"], 0), c.leave(a["id"], "TimerOccurrencesSkipped"))
	}
	return c.next(t, a)
}

// next compares when it is due again.
func (c *Checker) next(t *Timer, a map[string]string) error {
	at := int64(0)
	if t.Place == Waiting {
		at = t.At
	}
	return errors.Join(equal("next_due", a["next_due"], t.Due), equal("next_time", a["next_time"], at))
}

func (c *Checker) expire(t *Timer, id string) error {
	if !t.expired(c.now) {
		return fmt.Errorf("it may fire until %d and %d", t.Expires, t.Ends)
	}
	return c.leave(id, "TimerExpired")
}

func (c *Checker) hold(t *Timer, a map[string]string) error {
	if !strings.HasSuffix(a["reason"], "PAUSED") {
		t.collect(c.now)
	}
	t.holdFor(strings.TrimPrefix(a["reason"], "HOLD_REASON_"))
	return nil
}

// release: a message returns a timer for the next block, the end of a block for this one.
func (c *Checker) release(t *Timer, a map[string]string) error {
	if t.Place != Held {
		return fmt.Errorf("it is in place %s", t.Place)
	}
	due := number(a["due"])
	switch byItself := due <= c.now.height; {
	case t.Kind == OnChange && !t.hit:
		if t.Place, t.reason = Watching, ""; byItself {
			return nil
		}
		t.Due = due // It counts as due from then on, if it was.
	case byItself:
		t.release(c.now.height, c.now.time)
	case t.resume(c.now):
		t.release(c.now.height+1, c.now.time)
	default:
		return errors.New("it has no occurrence left")
	}
	return equal("due", a["due"], t.Due)
}

func (c *Checker) update(t *Timer, a map[string]string) error {
	if t.Place == Held && (t.reason == "UNFUNDED" || t.reason == "PRICED_OUT" || t.reason == "UNRUNNABLE") {
		if t.Place, t.reason = Queued, ""; t.Kind == OnChange && !t.hit {
			t.Place = Watching
		}
	}
	if t.Place == Queued && t.Due < c.now.height {
		t.placeAt(c.now.height + 1)
	}
	if t.Kind == OnChange && !t.hit && number(a["due"]) >= t.Due {
		return nil // No event has said whether it became due.
	}
	return equal("due", a["due"], t.Due)
}

func (c *Checker) leave(id, way string) error {
	if c.live[id] == nil {
		return fmt.Errorf("it has left by %q", c.gone[id])
	}
	delete(c.live, id)
	c.gone[id] = fmt.Sprintf("%s at %d", way, c.now.height)
	return nil
}

// number is an attribute; one that is missing is 0, one that is no number less than any.
func number(text string) int64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return math.MinInt64
	}
	return n
}

func equal(name, has string, want int64) error {
	if number(has) != want {
		return fmt.Errorf("%s is %q, want %d", name, has, want)
	}
	return nil
}
