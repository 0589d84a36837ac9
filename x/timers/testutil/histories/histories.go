// Package histories draws what may become of a timer, operations and blocks in any order, and lives it in two implementations side by
// side: the twin, and another that the test brings. After each step both must say the same.
package histories

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/testutil/twin"
)

// Act is what a step of a history does.
type Act int

// The acts. From BlockOK on they end a block, Cancel apart.
const (
	Update Act = iota
	UpdateTrigger
	UpdateEnd
	Skip
	Run
	Pause
	ResumeNow
	ResumeNext
	Extend
	SysExtend
	Release
	Quarantine
	Unrunnable
	BlockOK
	BlockFails
	BlockGuard
	BlockShort
	BlockNoRoom
	BlockBroke
	BlockWaits
	BlockDear
	BlockPaused
	Cancel
	actCount
)

var actNames = [actCount]string{
	"update", "update of the trigger", "update of the end", "skip", "run", "pause", "resume now", "resume next", "extend", "sys extend",
	"release", "quarantine", "unrunnable", "block: success", "block: failure", "block: guard", "block: short of coins", "block: no room",
	"block: unfunded", "block: waits for funds", "block: priced out", "block: lane paused", "cancel",
}

func (a Act) String() string { return actNames[a] }

// Ends reports whether the act ends a block.
func (a Act) Ends() bool { return a >= BlockOK && a < Cancel }

// Acts are all, but those that a test leaves out.
func Acts(without ...Act) (acts []Act) {
	for a := range actCount {
		if !slices.Contains(without, a) {
			acts = append(acts, a)
		}
	}
	return acts
}

// Op is one operation on the timer.
type Op struct {
	Act    Act
	Count  uint64
	From   *uint64
	End    uint64
	Spec   twin.Spec
	Fields []string
}

func (op Op) String() string {
	switch op.Act {
	case Update, UpdateTrigger, UpdateEnd:
		return fmt.Sprintf("%s %v %s", op.Act, op.Fields, Describe(op.Spec))
	case Skip:
		if op.From != nil {
			return fmt.Sprintf("skip %d from %d", op.Count, *op.From)
		}
		return fmt.Sprintf("skip %d", op.Count)
	case Extend, SysExtend:
		return fmt.Sprintf("%s to %d", op.Act, op.End)
	}
	return op.Act.String()
}

// unstated are the leaves that have their defaults.
var unstated = regexp.MustCompile(` \w+:(0|\[\]|false|<nil>)\b| \w+:(\[\]|<nil>)`)

// Describe is what a spec states, on one line.
func Describe(s twin.Spec) string {
	if len(s.Listed) > 0 {
		s.Listed = s.Listed[:2]
	}
	retry := "no retry"
	if s.Retry != nil {
		retry = fmt.Sprintf("retry %+v", *s.Retry)
	}
	s.Retry = nil
	return unstated.ReplaceAllString(fmt.Sprintf("%+v, %s", s, retry), "")
}

// on does it in the twin.
func (op Op) on(w *twin.World) error {
	switch op.Act {
	case Update, UpdateTrigger, UpdateEnd:
		return w.Update(op.Spec, op.Fields)
	case Skip:
		return w.Skip(op.Count, op.From)
	case Run:
		return w.Run()
	case Pause:
		return w.Pause()
	case ResumeNow, ResumeNext:
		return w.Resume(op.Act == ResumeNext)
	case Extend:
		return w.Extend(op.End)
	case SysExtend:
		return w.SysExtend(op.End)
	case Release:
		return w.Release()
	case Quarantine:
		w.Quarantine()
	case Unrunnable:
		w.Unrunnable(op.Count == 1)
	case Cancel:
		return w.Cancel()
	}
	return nil
}

// Limits are those of all histories: small, so that they are met.
var Limits = twin.Limits{MaxTTLBlocks: 60, MaxTTLSeconds: 3_000, MaxUnfundedSkips: 2}

// Subject is what lives a history beside the twin.
type Subject interface {
	// Schedule schedules the timer.
	Schedule(s twin.Spec) error
	// Operate does one operation.
	Operate(op Op) error
	// EndBlock ends the present block, and tells what it and the operations before said, in Words.
	EndBlock(b twin.Block) []string
	// Begin begins the next block.
	Begin(height, time uint64)
	// Status is what became of the timer.
	Status() Status
}

// Status is as much of a status as both have.
type Status struct {
	Gone                    bool
	Hold                    twin.Hold
	Deliveries              uint64
	FireSeq                 uint32
	Retries, Failures, Skip uint32
	Lapses                  uint32
	End, Left               uint64
}

// StatusOf is the twin's.
func StatusOf(w *twin.World) Status {
	st := w.Status
	if st.Gone {
		return Status{Gone: true}
	}
	return Status{
		Hold: st.Hold, Deliveries: st.Deliveries, FireSeq: st.FireSeq, Retries: st.Retries, Failures: st.Failures, Skip: st.Skips, End: st.End,
		Lapses: st.Lapses, Left: st.RemainingLeft,
	}
}

// Words are what the twin tells, sorted: each event in a few words, which subjects say too.
func Words(s twin.Spec, events []twin.Event) (words []string) {
	for _, e := range events {
		switch e.Kind {
		case twin.DeliveredEvent:
			words = append(words, Fired(s, e.Outcome.Kind, e.Occurrence))
		case twin.SkippedEvent:
			words = append(words, Skipped(s, e.First, e.Last, e.Count, e.Reason))
		case twin.LeftEvent:
			words = append(words, Left(e.Ended))
		}
	}
	slices.Sort(words)
	return words
}

// Fired says that a fire delivered an occurrence, which has a name where its occurrences are known in advance.
func Fired(s twin.Spec, outcome twin.OutcomeKind, occurrence uint64) string {
	if !s.Nominal() {
		occurrence = 0
	}
	return fmt.Sprintf("fired %s %d", outcome, occurrence)
}

// Skipped says that occurrences have passed.
func Skipped(s twin.Spec, first, last, count uint64, reason string) string {
	if !s.Nominal() {
		first, last = 0, 0
	}
	return fmt.Sprintf("skipped %d to %d, %d, %s", first, last, count, reason)
}

// Left says why a timer left.
func Left(why twin.Reason) string { return "left " + string(why) }

// History is one history.
type History struct {
	*rand.Rand
	World   *twin.World
	Subject Subject
	// Kinds are the kinds of triggers that are drawn, and Acts the acts.
	Kinds []twin.Kind
	Acts  []Act
	// Jitter is that of the subject's timer; nil: none is drawn.
	Jitter func(uint64) [32]byte
	// Unsaid counts where the text ended.
	Unsaid map[twin.Unsaid]int

	// Over: the text ended, so that the rest can't be compared.
	Over    bool
	Journal []string
	// Verbose: it keeps a journal.
	Verbose bool
	// Ended: its timer has left, and that was compared.
	Ended bool
	// Before is the spec before the operation that is done.
	Before twin.Spec
	// Plain: nothing is drawn that a handler or a condition does.
	Plain bool
	// Matrix counts its pairs, if it has one.
	Matrix *Matrix

	told   []string
	was    twin.Place
	before Act
	follow bool
	// done: the last step was said, and taken by both, or refused by both.
	done  bool
	mood  [3]Act
	off   bool
	block twin.Block
}

func (h *History) note(format string, args ...any) {
	if h.Verbose {
		h.Journal = append(h.Journal, fmt.Sprintf("%d/%d ", h.block.Height, h.block.Time)+fmt.Sprintf(format, args...))
	}
}

func (h *History) unsaid(what twin.Unsaid) {
	h.note("not said: %s", what)
	if h.Unsaid != nil {
		h.Unsaid[what]++
	}
}

func (h *History) one(of ...uint64) uint64 { return of[h.IntN(len(of))] }

// minutes of the hour, as a rule of a calendar states them.
func minutes(r *rand.Rand) (list []uint64) {
	some := r.Uint64N(30)
	for m := range uint64(60) {
		if m%30 == some || r.IntN(12) == 0 {
			list = append(list, m)
		}
	}
	return list
}

// Spec draws a timer.
func (h *History) Spec() twin.Spec {
	s := twin.Spec{Kind: h.Kinds[h.IntN(len(h.Kinds))]}
	h.trigger(&s)
	for range h.IntN(7) {
		h.leaf(&s)
	}
	if h.IntN(2) == 0 {
		s.End = h.end(s.ByTime())
	}
	return s
}

// trigger draws a trigger of the kind. Its numbers are small, so that what a timer states meets.
func (h *History) trigger(s *twin.Spec) {
	s.At, s.Every, s.First, s.Listed = 0, 0, 0, nil
	switch b := h.block; s.Kind {
	case twin.Height:
		s.At = b.Height + h.one(0, 1, 2, 4, 7)
	case twin.AfterBlocks:
		s.At = h.one(1, 2, 4)
	case twin.Time:
		s.At = b.Time + h.one(0, 1, 30, 100, 200)
	case twin.Every:
		s.Every, s.First = h.one(60, 60, 90, 150), h.one(0, b.Time-10, b.Time-60, b.Time, b.Time+30)
	case twin.Listed:
		hour := b.Time - b.Time%3_600 - 3_600
		list := minutes(h.Rand)
		for range 5 {
			for _, m := range list {
				s.Listed = append(s.Listed, hour+m*60)
			}
			hour += 3_600
		}
	default:
		s.Every, s.First = h.one(1, 2, 3, 5, 8), h.one(0, b.Height+1, b.Height+2, b.Height+3, 1+h.Uint64N(b.Height+4))
	}
}

// leaf draws a leaf of the spec, and says its name.
func (h *History) leaf(s *twin.Spec) string {
	unit := uint64(1)
	if s.ByTime() {
		unit = 30
	}
	name := []string{
		"remaining", "missed", "window", "jitter", "on_failure", "on_failure", "renew", "retry", "retry", "on_unfunded", "on_unfunded", "only_if",
	}[h.IntN(12)]
	switch name {
	case "remaining":
		s.Remaining = h.one(0, 0, 1, 2, 3, 5)
	case "missed":
		s.Missed = twin.Missed(h.IntN(2))
	case "window":
		s.Window = h.one(0, 0, 1, 2, 6) * unit
	case "jitter":
		if h.Jitter == nil {
			return h.leaf(s)
		}
		s.Jitter = h.one(0, 1, 3, 40)
	case "on_failure":
		s.OnFailure, s.MaxFailures = twin.OnFailure(h.IntN(3)), 0
		if s.OnFailure == twin.Suspend {
			s.MaxFailures = uint32(h.IntN(3))
		}
	case "renew":
		s.Renew = h.IntN(2) == 0
	case "retry":
		if s.Retry = nil; h.IntN(4) > 0 {
			s.Retry = &twin.Retry{Max: uint32(1 + h.IntN(3)), After: h.one(1, 2, 3, 5) * unit, Backoff: uint32(h.IntN(3))}
		}
	case "on_unfunded":
		s.OnUnfunded = twin.OnUnfunded(h.IntN(3))
	case "only_if":
		if h.Plain {
			return h.leaf(s)
		}
		s.OnlyIf = h.IntN(2) == 0
	}
	return name
}

// end draws an end.
func (h *History) end(byTime bool) uint64 {
	if byTime {
		return h.block.Time + h.one(0, 1, 30, 90, 300, 900, 5_000)
	}
	return h.block.Height + h.one(0, 1, 3, 8, 16, 30, 90)
}

// Begin schedules a timer in a block that both take, and ends that.
func (h *History) Begin(b twin.Block) error {
	if err := h.Draw(b); err != nil {
		return err
	}
	return h.EndBlock(BlockOK)
}

// Draw schedules a timer in a block that both take.
func (h *History) Draw(b twin.Block) error {
	h.block, h.block.Jitter = b, h.Jitter
	h.mood = [3]Act{h.draw(nil), h.draw(nil), h.draw(Act.Ends)}
	for {
		s := h.Spec()
		world, err := twin.New(Limits, s, h.block)
		other := h.Subject.Schedule(s)
		h.note("schedule %s: %v | %v", Describe(s), err, other)
		if (err == nil) != (other == nil) {
			return fmt.Errorf("schedule: the twin says %v, the other %v", err, other)
		}
		if err == nil {
			h.World = world
			return nil
		}
	}
}

func (h *History) draw(which func(Act) bool) Act {
	for {
		if a := h.Acts[h.IntN(len(h.Acts))]; which == nil || which(a) {
			return a
		}
	}
}

// Choose draws the next act. Each history has a mood, so that rare states last.
func (h *History) Choose() Act {
	switch a := h.draw(nil); {
	case h.IntN(3) == 0:
		return h.mood[h.IntN(3)]
	case a == Cancel && h.IntN(4) > 0, a == BlockBroke && h.IntN(2) == 0:
		return BlockOK
	default:
		return a
	}
}

// Step does an act in both, and says where they differ.
func (h *History) Step(a Act) error {
	h.done = false
	place := h.World.Place()
	defer func() { h.counts(place, a) }()
	if a.Ends() {
		return h.EndBlock(a)
	}
	return h.Operate(h.Op(a))
}

// counts notes the pair of the step before and this one, if both were done.
func (h *History) counts(place twin.Place, a Act) {
	if h.Matrix != nil && h.follow && h.done {
		h.Matrix.count(h.was, h.before, a)
	}
	h.was, h.before, h.follow = place, a, h.done
}

// StepOver ends a block that a chain has ended already, and counts it as a step.
func (h *History) StepOver(a Act, b twin.Block) error {
	h.done = false
	place := h.World.Place()
	err := h.End(a, b)
	h.counts(place, a)
	return err
}

// Op draws the operation of an act.
func (h *History) Op(a Act) Op {
	op := Op{Act: a, Spec: h.World.Spec}
	s := &op.Spec
	switch a {
	case Update:
		for op.Fields = []string{h.leaf(s)}; h.IntN(2) == 0; {
			op.Fields = append(op.Fields, h.leaf(s))
		}
		slices.Sort(op.Fields)
		if op.Fields = slices.Compact(op.Fields); slices.Contains(op.Fields, "on_failure") {
			op.Fields = append(op.Fields, "max_failures")
		}
	case UpdateTrigger:
		op.Fields = []string{"trigger"}
		switch {
		case h.IntN(3) == 0 && s.Every > 0: // The rhythm alone.
			s.Every += h.one(0, 1, 2) * map[bool]uint64{true: 30, false: 1}[s.ByTime()]
		case h.IntN(10) == 0 || !s.ByClock() && h.IntN(3) == 0:
			s.Kind = h.Kinds[h.IntN(len(h.Kinds))]
			if h.trigger(s); s.Retry != nil && h.IntN(2) == 0 {
				s.Retry = nil
				op.Fields = append(op.Fields, "retry")
			}
		case h.IntN(4) > 0:
			if s.ByClock() && s.ByTime() {
				s.Kind = []twin.Kind{twin.Every, twin.Listed}[h.IntN(2)]
			}
			h.trigger(s)
		}
		if s.First == 0 && s.Every > 0 && (s.Every != h.World.Spec.Every || s.Kind != h.World.Spec.Kind || h.World.Spec.First > 0) {
			s.First = h.block.Height + 1 // Where a trigger begins that leaves it open once more, is not said.
			if s.ByTime() {
				s.First = h.block.Time - 30
			}
		}
	case UpdateEnd:
		op.Fields, s.End = []string{"end"}, h.end(s.ByTime())
	case Skip:
		if op.Count = h.one(1, 1, 2, 3); h.IntN(4) == 0 {
			from := h.World.Status.Occurrence
			op.From = &from
		}
	case Extend, SysExtend:
		op.End = h.end(s.ByTime())
	case Unrunnable:
		if h.off = !h.off; h.off {
			op.Count = 1
		}
	}
	return op
}

// Operate does an operation in both.
func (h *History) Operate(op Op) error {
	if h.World.Status.Gone {
		return nil
	}
	unsaid := twin.Unsaid("")
	switch op.Act {
	case Update, UpdateTrigger, UpdateEnd:
		unsaid = h.World.UnsaidUpdate(op.Spec, op.Fields)
	case ResumeNow, ResumeNext, Release:
		unsaid = h.World.UnsaidResume()
	case Skip:
		unsaid = h.World.UnsaidSkip(op.From != nil)
	}
	if unsaid != "" {
		h.unsaid(unsaid)
		return nil
	}
	h.done = true
	before, spec := h.World.Status, h.World.Spec
	h.Before = spec
	err := op.on(h.World)
	h.told = append(h.told, Words(spec, h.World.Told())...)
	other := h.Subject.Operate(op)
	h.note("%s: %v | %v", op, err, other)
	if st := h.World.Status; op.Act == Skip && err == nil && h.World.Spec.ByTime() && st.DueTime <= h.block.Time {
		h.unsaid("whether what comes by time in the very block of a skip has its turn in it")
		h.Over = true
	}
	if got := h.Subject.Status(); err == nil && !got.Gone {
		switch op.Act {
		case Release: // Whether the authority's release begins the row of skips anew, is not said.
			h.World.Status.Skips, h.World.Status.Lapses = got.Skip, got.Lapses
		case ResumeNow, ResumeNext: // Nor whether resuming does that of lapses.
			h.World.Status.Lapses = got.Lapses
		}
	}
	if (err == nil) != (other == nil) {
		return fmt.Errorf("%s: the twin says %v, the other %v, after %+v", op.Act, err, other, before)
	}
	return h.compare(op.Act)
}

// returns: it comes back by itself.
func returns(hold twin.Hold) bool {
	return hold == twin.Unfunded || hold == twin.PricedOut || hold == twin.Unrunnable
}

func (h *History) compare(a Act) error {
	want, got := StatusOf(h.World), h.Subject.Status()
	if want.Lapses >= Limits.MaxUnfundedSkips && !got.Gone { // Their row begins anew with the suspension, or with the resumption.
		want.Lapses, h.World.Status.Lapses = got.Lapses, got.Lapses
	}
	if want != got {
		return fmt.Errorf("%s: the twin's status %+v, the other's %+v", a, want, got)
	}
	return nil
}

// Block draws what a block brings.
func (h *History) Block(a Act) twin.Block {
	b := h.block
	switch a {
	case BlockFails:
		b.Result = twin.Result{Kind: twin.Fails, Code: twin.Code{Codespace: "twin", Code: 7}}
	case BlockGuard:
		b.Result = twin.Result{Kind: twin.Guard}
	case BlockShort:
		b.Result = twin.Result{Kind: twin.Insufficient}
	case BlockNoRoom:
		b.NoRoom = true
	case BlockBroke:
		b.Funds = []twin.Funds{twin.CanPayLapse, twin.CanPayNothing}[h.IntN(2)]
	case BlockWaits:
		b.Funds, b.FundsWait = twin.CanPayNothing, true
	case BlockDear:
		b.PricedOut = true
	case BlockPaused:
		b.LanePaused = true
	}
	return b
}

// EndBlock ends the block in both, and begins the next.
func (h *History) EndBlock(a Act) error {
	b := h.Block(a)
	if err := h.End(a, b); err != nil || h.Over {
		return err
	}
	step := h.one(0, 5, 20, 30, 30, 60, 100)
	if h.IntN(40) == 0 {
		step = 400
	}
	h.Next(b.Height+1, b.Time+step)
	h.Subject.Begin(h.block.Height, h.block.Time)
	return nil
}

// Says tells whether the text says what a block makes of the timer. If not, the history is over.
func (h *History) Says(b twin.Block) bool {
	unsaid := h.World.UnsaidBlock(b)
	if h.Over = unsaid != ""; h.Over {
		h.unsaid(unsaid)
	}
	return !h.Over
}

// Next begins the next block in the twin.
func (h *History) Next(height, time uint64) {
	h.block.Height, h.block.Time = height, time
	h.World.Begin(height, time)
}

// End ends a block in both.
func (h *History) End(a Act, b twin.Block) error {
	if !h.Says(b) {
		return nil
	}
	h.done = true
	spec, hold := h.World.Spec, h.World.Status.Hold
	want := append(h.told, Words(spec, h.World.EndBlock(b))...)
	h.told = nil
	slices.Sort(want)
	got := h.Subject.EndBlock(b)
	slices.Sort(got)
	h.note("%s, %d: %v | %v", a, b.Funds, want, got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("%s: the twin tells %v, the other %v", a, want, got)
	}
	if other := h.Subject.Status().Hold; returns(hold) && returns(h.World.Status.Hold) && returns(other) {
		h.World.Status.Hold = other // Which of several reasons is named of what stays on hold, the text does not say.
	}
	return h.compare(a)
}
