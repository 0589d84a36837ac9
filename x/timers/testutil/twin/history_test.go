package twin

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// Random histories: operations and blocks in any order, over every kind of spec. After each step what the text says of every timer is
// held, and which operation followed which in which state is counted: no cell of that matrix may stay empty.

var histories = flag.Int("twin.histories", 200_000, "how many random histories")

// act is what a step does.
type act int

const (
	updateLeaf act = iota
	updateTrigger
	updateEnd
	doSkip
	doRun
	doPause
	resumeNow
	resumeNext
	doExtend
	sysExtend
	doRelease
	doQuarantine
	doUnrunnable
	blockOK
	blockFails
	blockGuard
	blockLacks
	blockNoRoom
	blockBroke
	blockWaits
	blockDear
	blockLanePaused
	blockHandler
	doCancel
	actCount
)

var actNames = [actCount]string{
	"update", "update to another trigger", "update of the end", "skip", "run", "pause", "resume now", "resume next", "extend",
	"SYS_EXTEND", "release", "quarantine", "unrunnable", "block: success", "block: failure", "block: guard", "block: lacking",
	"block: no room", "block: unfunded", "block: waits for funds", "block: priced out", "block: lane paused", "block: handler acts",
	"cancel",
}

// state is the place as a number.
func state(w *World) int {
	place := w.Place()
	return slices.Index(Holds, place.Hold)*len(Phases) + slices.Index(Phases, place.Phase)
}

// matrix counts which act followed which, by the state before both.
type matrix struct {
	pairs   [28][actCount][actCount]int
	reached [28]int
}

func (m *matrix) count(state int, first, second act) {
	if m.pairs[state][first][second]++; m.pairs[state][first][second] == 1 {
		m.reached[state]++
	}
}

// complete: no cell of a state is empty. Nothing follows a cancel.
func (m *matrix) complete(state int) bool { return m.reached[state] == int(doCancel*actCount) }

// history is one random history, and what it must remember to judge it.
type history struct {
	*rand.Rand
	w       *World
	lines   []string
	verbose bool

	left              int
	deliveries        uint64
	fireSeq           uint32
	last, index       uint64 // the last occurrence delivered, and its index
	lastKind          OutcomeKind
	delivered, sticky bool
	over              map[uint64]bool
	accounted         int
	since             uint64
	retriggered       bool
	hash              uint64
	failure           error
	beforeOp          Status
}

func (h *history) fail(format string, args ...any) {
	if h.failure == nil {
		h.failure = fmt.Errorf(format, args...)
	}
}

func (h *history) some(xs ...uint64) uint64 { return xs[h.IntN(len(xs))] }

func (h *history) jitter(o uint64) [32]byte { return hashOf((o*2_654_435_761 + h.hash) % 1_000_003) }

// trigger draws a trigger of a kind.
func (h *history) trigger(s *Spec, kind Kind, b Block) {
	s.Kind = kind
	s.At, s.Every, s.First, s.Listed, s.ZoneEnd = 0, 0, 0, nil, 0
	s.Keys, s.When, s.Condition, s.Level, s.Cooldown = nil, false, 0, false, 0
	switch kind {
	case Height:
		s.At = b.Height + h.Uint64N(8)
	case AfterBlocks:
		s.At = 1 + h.Uint64N(6)
	case Time:
		s.At = b.Time + h.Uint64N(200)
	case IntervalFire, IntervalSchedule:
		s.Every, s.First = 1+h.Uint64N(8), h.some(0, b.Height+1, b.Height+3, 1+h.Uint64N(b.Height+4))
	case Every:
		s.Every, s.First = 60+h.Uint64N(60), h.some(0, start-60, b.Time, b.Time+30)
		if h.IntN(3) == 0 {
			s.ZoneEnd = b.Time + 600
		}
	case Listed:
		at := start + h.Uint64N(120)
		for range 3 + h.IntN(20) {
			s.Listed = append(s.Listed, at)
			at += 20 + h.Uint64N(100)
		}
	case Watch:
		s.Keys = []int{h.IntN(2)}
		s.Condition, s.Cooldown = h.IntN(2), h.Uint64N(4)
		if s.When = h.IntN(2) == 0; s.When && s.Cooldown > 0 {
			s.Level = h.IntN(2) == 0
		}
		if !s.When {
			s.Condition = 0
		}
	}
}

// leaf draws a leaf of the spec, and says its name.
func (h *history) leaf(s *Spec, b Block) string {
	names := []string{"remaining", "missed", "window", "jitter", "on_failure", "max_failures", "renew", "retry", "on_unfunded", "only_if", "other"}
	name := names[h.IntN(len(names))]
	switch name {
	case "remaining":
		s.Remaining, s.Repeats = h.some(0, 0, 1, 2, 5), h.IntN(2) == 0
	case "missed":
		s.Missed = Missed(h.IntN(2))
	case "window":
		s.Window = h.some(0, 0, 1, 3, 30)
	case "jitter":
		s.Jitter = h.some(0, 3, 40)
	case "on_failure":
		s.OnFailure = OnFailure(h.IntN(3))
	case "max_failures":
		s.MaxFailures = uint32(h.IntN(3))
	case "renew":
		s.Renew = h.IntN(2) == 0
	case "retry":
		s.Retry = nil
		if h.IntN(4) > 0 {
			s.Retry = &Retry{Max: uint32(1 + h.IntN(3)), After: h.some(1, 2, 5), Backoff: uint32(h.IntN(3))}
			if s.seconds() {
				s.Retry.After = h.some(10, 30, 70)
			}
		}
	case "on_unfunded":
		s.OnUnfunded = OnUnfunded(h.IntN(3))
	case "only_if":
		s.OnlyIf = h.IntN(2) == 0
	case "other":
		s.Other++
	}
	return name
}

// schedule draws specs until one is taken.
func (h *history) schedule() {
	b := Block{Height: 1, Time: start, Jitter: h.jitter}
	for {
		var s Spec
		h.trigger(&s, Kind(h.IntN(8)), b)
		if h.IntN(3) == 0 { // most of the table is about those
			h.trigger(&s, []Kind{IntervalSchedule, Every, Listed}[h.IntN(3)], b)
		}
		for range h.IntN(6) {
			h.leaf(&s, b)
		}
		if h.sticky && s.nominal() {
			s.Jitter, s.OnUnfunded = 40, OnUnfunded(h.IntN(3))
		}
		if s.seconds() {
			s.End = h.some(0, 0, start+300, start+900)
		} else {
			s.End = h.some(0, 0, 12, 30)
		}
		w, err := New(Limits{MaxTTLBlocks: 60, MaxTTLSeconds: 3000, MaxUnfundedSkips: uint32(1 + h.IntN(3))}, s, b)
		if err != nil {
			continue
		}
		h.w, h.since = w, w.Spec.now(b)
		h.note(w.EndBlock(b))
		h.begin()
		return
	}
}

func (h *history) begin() {
	step := h.some(0, 5, 10, 10, 20, 20, 60, 61)
	if h.IntN(40) == 0 {
		step = 400
	}
	h.w.Begin(h.w.Height+1, h.w.Time+step)
}

// step does one act, and says whether it was refused.
func (h *history) step(a act) {
	w, b := h.w, h.w.block()
	h.beforeOp = w.Status
	told := len(w.told)
	var spec Spec
	deep := h.IntN(32) == 0
	if deep {
		spec = w.Spec
		spec.Listed = slices.Clone(spec.Listed)
	}
	if h.verbose {
		h.lines = append(h.lines, fmt.Sprintf("%d/%d %s: %+v", w.Height, w.Time-start, actNames[a], w.Status))
	}
	err := h.operate(a, b)
	if h.verbose && err != nil {
		h.lines = append(h.lines, "refused: "+err.Error())
	}
	if err != nil && (w.Status != h.beforeOp || len(w.told) != told || deep && !reflect.DeepEqual(w.Spec, spec)) {
		h.fail("a refused operation (%v) changed something", err)
	}
	h.check()
}

func (h *history) operate(a act, b Block) error {
	w := h.w
	switch a {
	case updateLeaf:
		s := w.Spec
		fields := []string{h.leaf(&s, b)}
		for h.IntN(2) == 0 {
			fields = append(fields, h.leaf(&s, b))
		}
		return h.update(s, fields)
	case updateTrigger:
		s := w.Spec
		fields := []string{"trigger"}
		switch kind := s.Kind; {
		case h.IntN(3) == 0 && (kind == IntervalSchedule || kind == Every): // the rhythm alone
			s.Every = 60 + h.Uint64N(60)
			if kind == IntervalSchedule {
				s.Every = 1 + h.Uint64N(8)
			}
		case h.IntN(12) == 0 || w.Spec.oneShot() && h.IntN(3) == 0:
			h.trigger(&s, Kind(h.IntN(8)), b)
			fields = append(fields, "retry")
		case s.nominal() && s.seconds():
			h.trigger(&s, []Kind{Every, Listed}[h.IntN(2)], b)
		default:
			h.trigger(&s, s.Kind, b)
		}
		return h.update(s, fields)
	case updateEnd:
		s := w.Spec
		s.End = h.end(b)
		if s.Kind == Watch {
			s.EndByTime = s.End > start
		}
		return h.update(s, []string{"end"})
	case doSkip:
		if h.IntN(4) == 0 {
			x := w.Status.Occurrence
			return w.Skip(h.some(1, 1, 2, 3), &x)
		}
		return w.Skip(h.some(1, 1, 2, 3), nil)
	case doRun:
		return w.Run()
	case doPause:
		return w.Pause()
	case resumeNow:
		return w.Resume(false)
	case resumeNext:
		return w.Resume(true)
	case doExtend:
		return w.Extend(h.end(b))
	case sysExtend:
		return w.SysExtend(h.end(b))
	case doRelease:
		return w.Release()
	case doQuarantine:
		w.Quarantine()
	case doUnrunnable:
		w.Unrunnable(!w.unrunnable)
	case doCancel:
		return w.Cancel()
	default:
		h.endBlock(a, b)
	}
	return nil
}

// end draws an end, near or far, mostly in the clock that is right.
func (h *history) end(b Block) uint64 {
	seconds := h.w.Spec.seconds() || h.w.Spec.Kind == Watch && h.w.Status.endByTime
	if h.IntN(20) == 0 {
		seconds = !seconds
	}
	if seconds {
		return b.Time + h.Uint64N(900)
	}
	return b.Height + h.Uint64N(30)
}

// update holds that saying the same twice is saying it once.
func (h *history) update(s Spec, fields []string) error {
	w := h.w
	was := w.Spec
	if err := w.Update(s, fields); err != nil {
		return err
	}
	if !triggerOf(w.Spec, was) {
		h.retriggered = true
	}
	if w.Status.Gone {
		return nil
	}
	once, told := w.Status, len(w.told)
	if err := w.Update(s, fields); err != nil || w.Status != once || len(w.told) != told {
		h.fail("the same update again changed something: %v, %v, %+v", err, fields, w.Status)
	}
	return nil
}

// endBlock ends the block in one of the ways, and begins the next.
func (h *history) endBlock(a act, b Block) {
	w := h.w
	b.Jitter = h.jitter
	if h.IntN(3) == 0 {
		b.Changed = []int{h.IntN(3)}
	}
	b.Holds = h.IntN(2) == 0
	switch a {
	case blockFails:
		b.Result = Result{Kind: Fails}
	case blockGuard:
		b.Result = Result{Kind: []ResultKind{Guard, Idle, Below}[h.IntN(3)]}
	case blockLacks:
		b.Result = Result{Kind: Insufficient}
	case blockNoRoom:
		b.NoRoom = true
	case blockBroke:
		b.Funds = []Funds{CanPayLapse, CanPayNothing}[h.IntN(2)]
	case blockWaits:
		b.Funds, b.FundsWait = CanPayNothing, true
	case blockDear:
		b.PricedOut = true
	case blockLanePaused:
		b.LanePaused = true
	case blockHandler:
		b.Handler = func(*World) { h.acts() }
	default:
	}
	st := w.Status
	must := a == blockOK && st.Hold == None && !w.unrunnable && w.Spec.Kind != Watch && w.competes(b) && w.Spec.endNow(st, b) <= st.End
	events := w.EndBlock(b)
	h.note(events)
	if must && len(events) == 0 {
		h.fail("due, with room and money, and nothing came of it")
	}
	if !w.Status.Gone {
		h.begin()
	}
}

// acts is its own handler acting on it.
func (h *history) acts() {
	before := h.w.Status
	switch h.IntN(6) {
	case 0:
		if h.w.Skip(h.some(1, 2), nil) != nil && h.w.Status != before {
			h.fail("a refused skip in the handler changed something")
		}
	case 1:
		if h.w.Pause() != nil && h.w.Status != before {
			h.fail("a refused pause in the handler changed something")
		}
	case 2:
		if h.w.Extend(h.end(h.w.block())) != nil && h.w.Status != before {
			h.fail("a refused extension in the handler changed something")
		}
	case 3:
		s := h.w.Spec
		name := h.leaf(&s, h.w.block())
		_ = h.update(s, []string{name})
	case 4:
		s := h.w.Spec
		h.trigger(&s, s.Kind, h.w.block())
		_ = h.update(s, []string{"trigger"})
	case 5:
		if h.IntN(8) == 0 && h.w.Cancel() != nil {
			h.fail("a cancel in the handler was refused")
		}
	}
}

// note judges what a block told.
func (h *history) note(events []Event) {
	w := h.w
	tries := 0
	for _, e := range events {
		if h.verbose {
			h.lines = append(h.lines, "  "+say(w.Spec, e))
		}
		switch e.Kind {
		case DeliveredEvent:
			tries++
			h.deliver(e)
		case SkippedEvent:
			h.skipped(e)
		case LeftEvent:
			h.left++
			if e.Ended == Here || e.Ended != w.Status.Left {
				h.fail("told %q, and left by %q", e.Ended, w.Status.Left)
			}
		case HeldEvent:
		}
	}
	if tries > 1 {
		h.fail("tried %d times in a block", tries)
	}
}

// deliver: an occurrence comes once, and again only as the retry of a failure, under the same index.
func (h *history) deliver(e Event) {
	w := h.w
	again := h.delivered && e.Occurrence == h.last
	if w.Spec.byClock() && !h.retriggered {
		switch {
		case again && (h.lastKind != Failure || e.Index != h.index):
			h.fail("delivered %d twice", e.Occurrence)
		case !again && h.delivered && e.Occurrence < h.last:
			h.fail("delivered %d after %d", e.Occurrence, h.last)
		case h.over[e.Occurrence] && w.Spec.nominal():
			h.fail("delivered %d, which has passed", e.Occurrence)
		}
	}
	if !again {
		h.accounted++
	}
	h.last, h.index, h.lastKind, h.delivered = e.Occurrence, e.Index, e.Outcome.Kind, true
	if st := w.Status; !st.Gone && *st.LastOutcome != e.Outcome {
		h.fail("last outcome is another")
	}
}

func (h *history) skipped(e Event) {
	if e.Count == 0 || e.Last < e.First {
		h.fail("skipped nothing: %+v", e)
	}
	h.over[e.First], h.over[e.Last] = true, true
	h.accounted += int(e.Count)
	if h.delivered && e.First == h.last { // it was tried, and is counted already
		h.accounted--
	}
}

// check is what holds of every timer after every step.
func (h *history) check() {
	w := h.w
	s, st, b := w.Spec, w.Status, w.block()
	if st.Deliveries < h.deliveries || st.FireSeq < h.fireSeq || uint64(st.FireSeq) < st.Deliveries {
		h.fail("deliveries or tries fell")
	}
	h.deliveries, h.fireSeq = st.Deliveries, st.FireSeq
	if st.Gone {
		if st.Left == Here || st.Hold != None || st.InHand {
			h.fail("gone, and still somewhere")
		}
		return
	}
	if h.left > 0 || st.Left != Here {
		h.fail("left, and still here")
	}
	h.checkPlace(s, st, b)
	if s.Remaining == 0 && st.RemainingLeft != 0 || st.RemainingLeft > s.Remaining {
		h.fail("%d left of %d", st.RemainingLeft, s.Remaining)
	}
	if s.lastOne(st) && !st.tried {
		h.fail("its last occurrence is over, and it is here")
	}
	// What waits in its order never ends before it is due (§2); what was resumed in its last block is overdue, and expires.
	expired := s.endNow(st, b) > st.End
	if s.Kind != Watch && st.Hold == None && !expired && st.due > s.now(b) && st.due > st.End && st.notBefore <= w.Height {
		h.fail("it ends before it is due")
	}
	if !expired && st.Skips > 0 && st.Skips >= w.Limits.MaxUnfundedSkips && st.Hold == None {
		h.fail("%d skips in a row, and not suspended", st.Skips)
	}
	// Nothing passes in silence: all that is over was delivered or told.
	if s.nominal() && !h.retriggered && len(w.told) == 0 {
		n := 0
		for o, ok := s.first(st.origin, h.since); ok && o <= st.done; o, ok = s.first(st.origin, o) {
			n++
		}
		if want := h.accounted; n != want && !(st.tried && st.Occurrence > st.done && n+1 == want) {
			h.fail("%d occurrences are over, and %d were told", n, want)
		}
	}
}

// checkPlace: it is in one place, and what is said of an occurrence in hand is said of one alone.
func (h *history) checkPlace(s Spec, st Status, b Block) {
	switch {
	case st.inHandler || st.skipNext != 0 || st.restated:
		h.fail("the handler is over, and it still acts")
	case st.tried && (!st.InHand || st.FireSeq == 0 || st.LastOutcome == nil), st.counted && (!st.tried || st.Deliveries == 0):
		h.fail("tried, and not in hand")
	case st.Retries > 0 && !st.tried:
		h.fail("retries of nothing")
	case s.Kind == Watch && st.caught && st.refire:
		h.fail("a watch has noticed, and would fire again")
	case s.Kind == Watch && !st.caught && (st.tried || st.due != 0):
		h.fail("a watch that waits is due")
	case s.Kind != Watch && st.caught:
		h.fail("no watch, and has noticed")
	case st.pinned && !st.taken || st.released && st.Hold != None:
		h.fail("pinned and not taken, or back and on hold")
	case s.nominal() && st.Occurrence <= st.done && !st.tried:
		h.fail("%d is in hand or waited for, and over", st.Occurrence)
	case st.InHand != inHand(s, st, b):
		h.fail("in hand is stale")
	}
}

// run plays one history, and counts its pairs.
func (h *history) run(m *matrix) {
	h.over = map[uint64]bool{}
	h.hash, h.sticky = h.Uint64N(1000), h.IntN(2) == 0
	h.schedule()
	// Each history has a mood, so that rare states last: some acts come often, and some histories keep what is on hold there.
	mood := [3]act{act(h.IntN(int(actCount - 1))), act(h.IntN(int(actCount - 1))), blockOK + act(h.IntN(int(doCancel-blockOK)))}
	was, before := -1, act(0)
	for range 40 {
		if h.w.Status.Gone || h.failure != nil {
			break
		}
		a := h.choose(mood)
		now := state(h.w)
		h.branch(m, now)
		if was >= 0 {
			m.count(was, before, a)
		}
		was, before = now, a
		h.step(a)
	}
	if h.failure == nil && h.w.Status.Gone {
		if h.left += count(h.w.told); h.left != 1 {
			h.fail("left, and told so %d times", h.left)
		}
	}
}

// choose draws the next act.
func (h *history) choose(mood [3]act) act {
	a := act(h.IntN(int(actCount)))
	switch {
	case h.IntN(3) == 0:
		a = mood[h.IntN(3)]
	case a == doCancel && h.IntN(4) > 0, a == blockBroke && h.IntN(2) == 0:
		a = blockOK
	}
	if !h.sticky || a < blockOK && h.IntN(3) > 0 {
		return a
	}
	switch hold := h.w.Status.Hold; {
	case hold == Unfunded:
		return []act{blockWaits, blockWaits, doSkip}[h.IntN(3)]
	case hold == PricedOut:
		return []act{blockDear, blockDear, doSkip}[h.IntN(3)]
	case hold == Unrunnable && a == doUnrunnable, hold == Suspended && a != doSkip:
		return blockNoRoom
	case hold == None && !h.w.Status.tried && h.w.Spec.Retry != nil && h.IntN(2) == 0:
		return []act{blockFails, blockLacks}[h.IntN(2)]
	case hold == None:
		return []act{blockWaits, blockDear, blockBroke, a}[h.IntN(4)]
	}
	return a
}

// branch tries, on copies of the world, pairs of acts that never came in this state.
func (h *history) branch(m *matrix, now int) {
	if m.complete(now) {
		return
	}
	tried := 0
	for i := range doCancel * actCount {
		first, second := i/actCount, i%actCount
		if m.pairs[now][first][second] > 0 {
			continue
		}
		if tried++; tried > 32 {
			return
		}
		b, w := *h, h.w.Clone()
		b.w, b.over, b.lines = w, maps.Clone(h.over), slices.Clone(h.lines)
		b.step(first)
		if w.Status.Gone && b.failure == nil {
			continue
		}
		m.count(now, first, second)
		b.step(second)
		if b.failure != nil {
			h.failure, h.lines = b.failure, b.lines
			return
		}
	}
}

func count(events []Event) (n int) {
	for _, e := range events {
		if e.Kind == LeftEvent {
			n++
		}
	}
	return n
}

func play1(seed uint64, verbose bool, m *matrix) *history {
	h := &history{Rand: rand.New(rand.NewPCG(seed, 1)), verbose: verbose}
	h.run(m)
	return h
}

func TestWorld_LivesAnyHistory(t *testing.T) {
	var m matrix
	n := *histories
	if testing.Short() {
		n /= 10
	}
	for seed := range uint64(n) {
		if h := play1(seed, false, &m); h.failure != nil {
			again := play1(seed, true, new(matrix))
			for _, line := range again.lines {
				t.Log(line)
			}
			t.Fatalf("history %d: %v\nspec %+v\nstatus %+v", seed, h.failure, h.w.Spec, h.w.Status)
		}
	}
	empty, total := 0, 0
	for i := range m.pairs {
		reached, least := 0, -1
		for a := range m.pairs[i] {
			for b := range m.pairs[i][a] {
				if act(a) == doCancel { // nothing follows it
					continue
				}
				n := m.pairs[i][a][b]
				reached += n
				if least < 0 || n < least {
					least = n
				}
				total++
				if n == 0 {
					empty++
					if empty <= 20 {
						t.Errorf("never: %s %s, %s, then %s", Holds[i/4], Phases[i%4], actNames[a], actNames[b])
					}
				}
			}
		}
		t.Logf("%-12s %-16s %9d pairs, the rarest %d times", Holds[i/4], Phases[i%4], reached, least)
	}
	t.Logf("%d cells (state, operation, the next), %d empty, in %d histories", total, empty, n)
}
