// Package twin is a second implementation of what becomes of a timer, written from the specification alone by somebody who has not
// read the first: SPEC §2, §3, §5 (unfunded), §8 and the table of §8a. It shares no code with the module. It is naive on purpose: one
// timer, plain structs, lists in place of arithmetic, each rule with the section that it stands in, so that whoever reads the text can
// follow it here line by line. Room in the lane, funds and prices, what handlers answer and which keys change are inputs of a block.
package twin

import (
	"errors"
	"slices"
)

// Kind is the kind of a trigger (§8).
type Kind int

// The kinds. Every is a calendar of equal distances, Listed one by an explicit ascending list of seconds, which stands for cron.
const (
	Height Kind = iota
	AfterBlocks
	Time
	IntervalFire
	IntervalSchedule
	Every
	Listed
	Watch
)

// Missed says which of the occurrences that have come may still fire (§8 Occurrences).
type Missed int

// Latest is the default.
const (
	Latest Missed = iota
	Each
)

// OnFailure says what a failed occurrence does to a timer that repeats (§8).
type OnFailure int

// Roll is the default.
const (
	Roll OnFailure = iota
	Stop
	Suspend
)

// OnUnfunded says what becomes of a timer that can't pay (§8).
type OnUnfunded int

// UnfundedDestroy is the default.
const (
	UnfundedDestroy OnUnfunded = iota
	UnfundedSuspend
	UnfundedSkip
)

// Code is what a failure answers.
type Code struct {
	Codespace string
	Code      uint32
}

// Retry is §8 `retry`. Backoff 0 is 1; On empty is any code.
type Retry struct {
	Max     uint32
	After   uint64
	Backoff uint32
	On      []Code
}

// Spec is what an owner states (§2), as far as recurrence goes.
type Spec struct {
	Kind Kind
	// At is a height, a number of blocks (AfterBlocks) or a second (Time).
	At uint64
	// Every and First: an interval's blocks and first height; a calendar's seconds and anchor. First 0 is the default: `every` after the
	// block that states it for intervals, the time of that block for calendars.
	Every, First uint64
	Listed       []uint64
	// ZoneEnd is a calendar's last transition, where `offset_final` is not stated; 0: it has none.
	ZoneEnd uint64

	Keys []int
	// When: the watch has a condition; Condition tells one condition from another.
	When      bool
	Condition int
	Level     bool
	Cooldown  uint64

	// Repeats: a watch fires more than once, Remaining times, or until its end. Others repeat by their kind.
	Repeats        bool
	Remaining      uint64
	Missed         Missed
	Window, Jitter uint64
	OnFailure      OnFailure
	MaxFailures    uint32
	Renew          bool

	Retry      *Retry
	OnUnfunded OnUnfunded
	OnlyIf     bool

	// End is in the trigger's own clock; 0: the default. EndByTime says which of a watch.
	End       uint64
	EndByTime bool

	// Other stands for every other leaf: call, limits, bid, payer.
	Other uint64
}

// Reason is how a timer left (§4, §8).
type Reason string

// The ways to leave; Here is that it is still there.
const (
	Here        Reason = ""
	Completed   Reason = "completed"
	EndOfLife   Reason = "end_of_life"
	ZoneEnded   Reason = "zone_ended"
	Failed      Reason = "failed"
	Fired       Reason = "fired"
	GuardedEnd  Reason = "guarded"
	Expired     Reason = "expired"
	UnfundedEnd Reason = "unfunded"
	Cancelled   Reason = "cancelled"
)

// Hold is why a timer is not in the queue (§8a).
type Hold string

// The reasons to hold.
const (
	None        Hold = ""
	Paused      Hold = "paused"
	Suspended   Hold = "suspended"
	Unfunded    Hold = "unfunded"
	PricedOut   Hold = "priced_out"
	Unrunnable  Hold = "unrunnable"
	Quarantined Hold = "quarantined"
)

// OutcomeKind is how a delivery went.
type OutcomeKind string

// The outcomes (§8): a guarded one is neither success nor failure.
const (
	Success OutcomeKind = "success"
	Failure OutcomeKind = "failure"
	Guarded OutcomeKind = "guarded"
)

// Outcome is that of one delivery.
type Outcome struct {
	Kind OutcomeKind
	Code Code
}

// Status is what became of a timer (§2). What begins with a small letter is not stated by the text but follows from it.
type Status struct {
	Gone bool
	Left Reason
	Hold Hold
	// InHand: its occurrence is in hand: from its own time on, or taken by run (§8, §8a).
	InHand     bool
	Occurrence uint64
	// Due is the height at which it became due this time, or will; of a clock of times 0 until that block. DueTime is the time.
	Due, DueTime              uint64
	Retries                   uint32
	Deliveries                uint64
	FireSeq                   uint32
	Failures, Skips, Lapses   uint32
	RemainingLeft, End, Life  uint64
	LastOutcome               *Outcome
	origin, floor             uint64 // the resolved first, anchor or at; the block in which the trigger was stated, in its clock
	backlog                   string // occurrences that came under the trigger before, and stay, packed by keep
	due, delayed, lateFrom    uint64 // in the trigger's clock: when it competes; its occurrence's delayed due; what lateness counts from
	notBefore                 uint64 // the height before which it does not compete
	done, lastTry             uint64 // the last occurrence that is over; the height of the last try
	seen, openNext            uint64 // tried again by resume: later ones up to `seen` do not drop it; the window of openNext does not count
	tried, counted            bool   // tried; counted as delivered, at a try that was not guarded
	taken, pinned             bool   // no window (run, resume); does not pass for a later one (run)
	entered, fresh            bool   // was in the ready set at the end of a block; lateness counts from the block of entry
	released, lacking         bool   // back from a hold for funds or price; its last failure was for want of coins (§5)
	cut                       bool   // a renewal was cut at the last transition
	endByTime                 bool
	caught, refire, look      bool // a watch: has noticed; suspended after a failed fire; a look is pending, at lookAt
	lookAt, watchFrom         uint64
	held                      bool // the condition's value at the previous collection
	skipNext                  uint64
	inHandler, restated, gone bool
}

// Limits are the parameters of §12 that recurrence knows.
type Limits struct {
	MaxTTLBlocks, MaxTTLSeconds uint64
	MaxUnfundedSkips            uint32
}

// Funds is what the payer can cover.
type Funds int

// CanPay: everything. CanPayLapse: a lapse, and no fire. CanPayNothing: not even that.
const (
	CanPay Funds = iota
	CanPayLapse
	CanPayNothing
)

// ResultKind is what a handler would answer.
type ResultKind int

// Guard: only_if does not hold. Below: an amount was below its min (§9). Insufficient: failed in an own message with sdk/5, and the actor
// has less than its messages state (§5).
const (
	Succeeds ResultKind = iota
	Fails
	Idle
	Guard
	Below
	Insufficient
)

// Result is what the handler would answer in a block.
type Result struct {
	Kind ResultKind
	Code Code
}

// Block is one block and what it does to the timer.
type Block struct {
	Height, Time uint64
	LanePaused   bool
	Funds        Funds
	// FundsWait: who can't pay waits on hold, as under overload or policy `tip`, and OnUnfunded is not asked.
	FundsWait bool
	PricedOut bool
	// NoRoom: it competes, and there is no room in the lane: it stays ready.
	NoRoom bool
	Result Result
	// Changed are the keys that the block's transactions changed; Holds: whether the condition holds at this collection.
	Changed []int
	Holds   bool
	// Jitter is the raw hash of an occurrence, highest byte first; nil is 0.
	Jitter func(occurrence uint64) [32]byte
	// Handler acts on the timer from within its own fire (§8a, "its own handler acts on it"); what it does stays if it does not fail.
	Handler func(*World)
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	DeliveredEvent EventKind = "delivered"
	SkippedEvent   EventKind = "skipped"
	HeldEvent      EventKind = "held"
	LeftEvent      EventKind = "left"
)

// Reasons of skipped occurrences. A held event has its Hold as reason.
const (
	ForRequest  = "requested"
	ForFunds    = "unfunded"
	ForPause    = "paused"
	ForWindow   = "window"
	ForLater    = "later"
	ForUpdate   = "updated"
	ForTheRetry = "retry"
)

// Event is what a block or an operation tells.
type Event struct {
	Kind                    EventKind
	Occurrence, Index, Late uint64
	Outcome                 Outcome
	First, Last, Count      uint64
	Reason                  string
	Ended                   Reason
	Missing                 uint64
	// Charged: a lapse was paid for.
	Charged bool
}

// The refusals.
var (
	ErrInvalid        = errors.New("invalid")
	ErrPast           = errors.New("not in the future")
	ErrTTLTooLong     = errors.New("end too far away")
	ErrExpiresTooSoon = errors.New("end before it is due")
	ErrWrongClock     = errors.New("wrong clock")
	ErrUnsupported    = errors.New("not for this trigger")
	ErrNotNext        = errors.New("not the next occurrence")
	ErrNoneLeft       = errors.New("no occurrence left")
	ErrOnHold         = errors.New("on hold")
	ErrAlreadyDue     = errors.New("due already")
	ErrNothing        = errors.New("nothing to do")
	ErrQuarantined    = errors.New("quarantined")
	ErrGone           = errors.New("gone")
	ErrExpired        = errors.New("expired")
)

// oneShot: a height, some blocks or a time (§8).
func (s Spec) oneShot() bool { return s.Kind == Height || s.Kind == AfterBlocks || s.Kind == Time }

// nominal: its occurrences are known in advance (§8 Occurrences).
func (s Spec) nominal() bool {
	return s.Kind == IntervalSchedule || s.Kind == Every || s.Kind == Listed
}

// byClock: it repeats by a clock, the timers of §8a's table.
func (s Spec) byClock() bool { return s.nominal() || s.Kind == IntervalFire }

// repeats: a clock's, or a watch that fires more than once.
func (s Spec) repeats() bool { return s.byClock() || s.Kind == Watch && (s.Repeats || s.Remaining > 0) }

// seconds: its clock is block time; `retry.after` is in this clock too (§8).
func (s Spec) seconds() bool { return s.Kind == Time || s.Kind == Every || s.Kind == Listed }

// now is the block in the trigger's clock.
func (s Spec) now(b Block) uint64 {
	if s.seconds() {
		return b.Time
	}
	return b.Height
}

// endNow is the block in the clock of its end, which is the trigger's own; either for a watch (§2 end).
func (s Spec) endNow(st Status, b Block) uint64 {
	if s.Kind == Watch && st.endByTime {
		return b.Time
	}
	return s.now(b)
}

// lastOne: `remaining` is used up (§8).
func (s Spec) lastOne(st Status) bool { return s.repeats() && s.Remaining > 0 && st.RemainingLeft == 0 }

// Place is where a timer stands, the column of §8a in more detail.
type Place struct {
	Hold Hold
	// Phase is one of Phases.
	Phase string
}

// Phases are where a timer can stand: it waits; its occurrence is in hand, delayed or taken, and due later; it is ready; or it is between its retries.
var Phases = []string{"waits", "delayed", "ready", "between retries"}

// Holds are the reasons to hold, and none.
var Holds = []Hold{None, Paused, Suspended, Unfunded, PricedOut, Unrunnable, Quarantined}

// Place is where the timer stands in the present block.
func (w *World) Place() Place {
	st, phase := w.Status, Phases[2]
	switch {
	case st.tried:
		phase = Phases[3]
	case !st.InHand:
		phase = Phases[0]
	case st.due > w.Spec.now(w.block()) || st.notBefore > w.Height:
		phase = Phases[1]
	}
	return Place{st.Hold, phase}
}

// Clone is another world that goes its own way from here.
func (w *World) Clone() *World {
	other := *w
	other.told, other.log = slices.Clone(w.told), slices.Clone(w.log)
	return &other
}

// ByTime reports whether its clock is block time.
func (s Spec) ByTime() bool { return s.seconds() }

// Nominal reports whether its occurrences are known in advance.
func (s Spec) Nominal() bool { return s.nominal() }

// ByClock reports whether it repeats by a clock.
func (s Spec) ByClock() bool { return s.byClock() }
