package recurrence_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/testutil/histories"
	"github.com/cosmos-timers/timers/x/timers/testutil/twin"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	drawn = flag.Uint64("histories", 5_000, "how many histories")
	seed  = flag.Uint64("histories.seed", 1, "of the first history")
	every = flag.Bool("histories.every", false, "every pair of acts must have come in every state")
)

// subject is a timer without a store: what the engine does between calls of this package, in the order of a block, on one record.
type subject struct {
	config     types.TimerConfig
	kinds      triggers.Kinds
	now        types.Moment
	timer      types.Timer
	gone       bool
	unrunnable bool
	// paused are the last pause of the lane, and whether the block before was one of it.
	pause    *types.LanePause
	inPause  bool
	previous types.Moment
	words    []string
	spec     twin.Spec
}

var errRefused = errors.New("refused")

// start is the time of the first block.
const start = 1_800_000_000

var timerID = make([]byte, types.IDBytes)

func newSubject(b twin.Block) *subject {
	s := &subject{config: types.DefaultTimerConfig("stake"), kinds: triggers.NewKinds(nil), now: types.Moment{Height: b.Height, Time: int64(b.Time)}}
	s.config.MaxTtlBlocks, s.config.MaxTtlSeconds = histories.Limits.MaxTTLBlocks, histories.Limits.MaxTTLSeconds
	s.config.MaxUnfundedSkips = histories.Limits.MaxUnfundedSkips
	s.previous = s.now
	return s
}

// options checks what the keeper does.
func (s *subject) options(t *types.Timer) error {
	if err := t.Spec.Retry.Validate(&s.config, t.Spec.Trigger.ByTime()); err != nil {
		return err
	}
	if t.Spec.OnUnfunded == types.OnUnfundedSkip && (!t.Recurs() || t.Spec.Trigger.Watch != nil) {
		return errRefused
	}
	return nil
}

func (s *subject) Schedule(spec twin.Spec) error {
	t := types.Timer{Spec: histories.SpecOf(spec, types.WatchKey{Store: "bank"}), ScheduleHeight: s.now.Height}
	t.ExpiresAt, t.ExpiresTime = t.Spec.ExpiresAt, t.Spec.ExpiresTime
	if err := s.kinds.Prepare(&s.config, &t, s.now); err != nil {
		return err
	}
	if err := s.options(&t); err != nil {
		return err
	}
	if err := triggers.CheckLife(&s.config, &t, s.now); err != nil {
		return err
	}
	t.NoteLife(s.now)
	t.Id = timerID
	if err := recurrence.Delay(&t, s.now); err != nil {
		return err
	}
	s.timer, s.spec = t, spec
	return nil
}

func (s *subject) tell(word string) { s.words = append(s.words, word) }

func (s *subject) passed(list []recurrence.Passing) {
	for _, p := range list {
		s.tell(histories.Skipped(s.spec, p.First, p.Last, p.Count, histories.SkipReasonOf(p.Reason)))
	}
}

func (s *subject) leave(why twin.Reason) {
	s.gone = true
	s.tell(histories.Left(why))
}

func (s *subject) Operate(op histories.Op) error {
	switch op.Act {
	case histories.Unrunnable:
		s.unrunnable = op.Count == 1
		return nil
	case histories.Quarantine:
		if !s.gone {
			s.timer.HoldReason = types.Quarantined
		}
		return nil
	case histories.Cancel:
		s.leave(twin.Cancelled)
		return nil
	}
	if s.gone || s.timer.ExpiredAt(s.now) {
		return errRefused
	}
	next, spec := s.timer, s.spec
	passed, err := s.change(&next, op)
	if err != nil {
		return err
	}
	stated := s.spec
	s.spec = spec
	s.passed(passed)
	s.spec = stated
	s.timer = next
	return nil
}

// change changes a timer as the keeper's messages do.
func (s *subject) change(t *types.Timer, op histories.Op) (passed []recurrence.Passing, err error) {
	switch op.Act {
	case histories.Update, histories.UpdateTrigger, histories.UpdateEnd:
		return s.update(t, op)
	case histories.Skip:
		from := uint64(0)
		if op.From != nil {
			from = *op.From
		}
		return recurrence.Skip(t, op.Count, from, s.now.Height, s.now)
	case histories.Run:
		if t.HoldReason != types.NotOnHold && t.HoldReason != types.Timed || t.HoldReason == types.NotOnHold && t.Due <= s.now.Height+1 ||
			t.HoldReason == types.Timed && t.DueTime <= s.now.Time {
			return nil, errRefused
		}
		return recurrence.Run(t, s.now)
	case histories.Pause:
		if t.HoldReason == types.Quarantined {
			return nil, errRefused
		}
		t.HoldReason = types.Paused
		return nil, nil
	case histories.ResumeNow, histories.ResumeNext:
		switch t.HoldReason {
		case types.Paused, types.Suspended, types.Unfunded, types.PricedOut:
			t.Skips, t.Owed = 0, 0
			at := types.ResumeNow
			if op.Act == histories.ResumeNext {
				at = types.ResumeNext
			}
			return s.release(t, s.now.Height+1, at)
		}
		return nil, errRefused
	case histories.Release:
		if t.HoldReason != types.Quarantined {
			return nil, errRefused
		}
		return s.release(t, s.now.Height+1, types.ResumeNow)
	case histories.Extend, histories.SysExtend:
		return nil, s.extend(t, op)
	}
	return nil, nil
}

// release returns a timer that was on hold to where it waits.
func (s *subject) release(t *types.Timer, height uint64, at types.ResumeAt) (passed []recurrence.Passing, err error) {
	if at != types.ResumeUnspecified {
		if passed, err = recurrence.Resume(t, at, s.now); err != nil {
			return nil, err
		}
	}
	if t.HoldReason = types.NotOnHold; t.WaitsForTime(s.now) {
		t.HoldReason = types.Timed
		t.Due = max(t.Due, height)
	} else {
		t.PlaceAt(height)
	}
	return passed, nil
}

func (s *subject) extend(t *types.Timer, op histories.Op) error {
	end, now, due, most := op.End, s.now.Height, t.Due, s.config.MaxTtlBlocks
	if t.Spec.Trigger.ByTime() {
		now, due, most = uint64(s.now.Time), uint64(t.DueTime), s.config.MaxTtlSeconds
	}
	if end = min(end, now+most); op.End <= now || end < due {
		return errRefused
	}
	if t.Spec.Trigger.ByTime() {
		t.ExpiresTime = int64(end)
	} else {
		t.ExpiresAt = end
	}
	if op.Act == histories.Extend {
		t.Spec.ExpiresAt, t.Spec.ExpiresTime = t.ExpiresAt, t.ExpiresTime
		t.NoteLife(s.now)
	}
	return nil
}

// update is the keeper's.
func (s *subject) update(t *types.Timer, op histories.Op) ([]recurrence.Passing, error) {
	stated, fields := histories.SpecOf(op.Spec, types.WatchKey{Store: "bank"}), histories.FieldsOf(op.Spec, op.Fields)
	spec, err := t.Spec.Named(fields, &stated)
	if err != nil {
		return nil, err
	}
	next := *t
	passed, err := s.retrigger(&next, &spec, fields)
	if err != nil {
		return nil, err
	}
	if next.Same(t) {
		return nil, nil
	}
	if recurrence.Same(t, &next, s.now) {
		same := next
		same.Spec.Trigger, same.Start = t.Spec.Trigger, t.Start
		if same.Same(t) {
			t.Spec.Trigger, t.Start = next.Spec.Trigger, next.Start
			return nil, nil
		}
	}
	if next.ReturnsByItself() {
		if next.HoldReason = types.NotOnHold; next.WaitsForTime(s.now) {
			next.HoldReason = types.Timed
		}
	}
	if next.HoldReason == types.NotOnHold && next.Due < s.now.Height {
		next.PlaceAt(s.now.Height + 1)
	}
	*t = next
	s.spec = op.Spec
	return passed, nil
}

func (s *subject) retrigger(t *types.Timer, spec *types.TimerSpec, fields []string) (passed []recurrence.Passing, err error) {
	names := func(wanted ...string) bool {
		for _, field := range fields {
			for _, w := range wanted {
				if field == w {
					return true
				}
			}
		}
		return false
	}
	repeats := names("repeat.remaining", "repeat.missed", "repeat.window", "repeat.jitter", "repeat.on_failure", "repeat.max_failures", "repeat.renew")
	wasByTime := t.Spec.Trigger.ByTime()
	if names("trigger") || repeats {
		if passed, err = s.kinds.Replace(&s.config, t, spec, names("trigger"), s.now); err != nil {
			return nil, err
		}
		spec.Trigger, spec.Repeat = t.Spec.Trigger, t.Spec.Repeat
	}
	otherClock := t.Spec.Trigger.ByTime() != wasByTime
	if otherClock && spec.Retry != nil && !names("retry") {
		return nil, errRefused
	}
	if otherClock && !names("expires_at") {
		spec.ExpiresAt = 0
	}
	if otherClock && !names("expires_time") {
		spec.ExpiresTime = 0
	}
	stands := !otherClock && spec.ExpiresAt == t.Spec.ExpiresAt && spec.ExpiresTime == t.Spec.ExpiresTime
	if names("expires_at", "expires_time") && !stands {
		t.ExpiresAt, t.ExpiresTime = spec.ExpiresAt, spec.ExpiresTime
		if err := triggers.CheckEnd(&s.config, t, s.now); err != nil {
			return nil, err
		}
		otherClock = true
	}
	t.Spec = *spec
	if !names("trigger", "retry", "on_unfunded", "only_if") && !repeats && !otherClock {
		return passed, nil
	}
	if err := s.options(t); err != nil {
		return nil, err
	}
	if otherClock || t.Renewal == nil {
		t.NoteLife(s.now)
	}
	return passed, nil
}

func (s *subject) Begin(height, time uint64) {
	s.previous = s.now
	s.now = types.Moment{Height: height, Time: int64(time)}
}

func (s *subject) EndBlock(b twin.Block) []string {
	t := &s.timer
	if b.LanePaused {
		if !s.inPause {
			s.pause = &types.LanePause{AfterHeight: s.previous.Height, AfterTime: s.previous.Time}
		}
		s.pause.LastHeight, s.pause.LastTime = s.now.Height, s.now.Time
	}
	s.inPause = b.LanePaused
	if !s.gone {
		if t.HoldReason == types.Timed && t.DueTime <= s.now.Time {
			t.HoldReason, t.Due = types.NotOnHold, s.now.Height
		}
		if t.ExpiredAt(s.now) {
			s.leave(twin.Expired)
		} else {
			s.turn(b)
		}
	}
	words := s.words
	s.words = nil
	return words
}

// back returns to the queue what may fire again.
func (s *subject) back() {
	t := &s.timer
	if _, err := s.release(t, s.now.Height, types.ResumeUnspecified); err != nil || t.HoldReason != types.NotOnHold {
		return
	}
	if o := recurrence.Of(t, s.now); !o.Open && !o.Over && o.Passed.Count > 0 {
		s.goOn(recurrence.Event{Outcome: recurrence.LapsedFree, Occurrence: o})
	}
}

func (s *subject) turn(b twin.Block) {
	t := &s.timer
	switch t.HoldReason {
	case types.Unrunnable:
		if !s.unrunnable && !b.LanePaused { // The engine lets it back while the lane is paused, where it waits.
			s.back()
		}
	case types.Unfunded:
		switch {
		case b.LanePaused:
		case b.Funds == twin.CanPay && !b.PricedOut:
			s.back()
		case !b.FundsWait && b.Funds != twin.CanPay:
			s.unfunded(b)
			return
		}
	case types.PricedOut:
		if !b.LanePaused && !b.PricedOut {
			s.back()
		}
	}
	if s.gone || t.HoldReason != types.NotOnHold || t.Due > s.now.Height || b.LanePaused {
		return
	}
	o := recurrence.Of(t, s.now)
	switch {
	case s.unrunnable:
		t.HoldReason = types.Unrunnable
	case b.PricedOut:
		t.HoldReason = types.PricedOut
	case b.NoRoom:
	case !o.Open:
		s.pass(b, o)
	case b.Funds != twin.CanPay:
		s.unfunded(b)
	default:
		s.fire(b, o)
	}
}

// wasPaused reports whether an instant was over in a block in which the lane was paused.
func (s *subject) wasPaused(until uint64) bool {
	switch pause := s.pause; {
	case pause == nil:
		return false
	case s.timer.Spec.Trigger.Calendar != nil:
		return uint64(pause.AfterTime) <= until && until < uint64(pause.LastTime)
	default:
		return pause.AfterHeight <= until && until < pause.LastHeight
	}
}

func (s *subject) pass(b twin.Block, o recurrence.Occurrence) {
	paid, outcome := false, recurrence.Lapsed
	switch {
	case o.Passed.Count > 0 && s.wasPaused(o.Until):
		outcome = recurrence.LapsedFree
	case o.Passed.Count > 0 && !o.Over:
		paid = true
	}
	if paid && b.Funds == twin.CanPayNothing {
		s.unfunded(b)
		return
	}
	s.goOn(recurrence.Event{Outcome: outcome, Occurrence: o})
}

func (s *subject) unfunded(b twin.Block) {
	t := &s.timer
	switch {
	case b.FundsWait:
		t.HoldReason = types.Unfunded
	case t.Spec.OnUnfunded == types.OnUnfundedSuspend:
		t.HoldReason = types.Suspended
	case t.Spec.OnUnfunded == types.OnUnfundedSkip:
		s.goOn(recurrence.Event{Outcome: recurrence.Unpaid, Occurrence: recurrence.Of(t, s.now)})
	default:
		s.leave(twin.UnfundedEnd)
	}
}

func (s *subject) goOn(e recurrence.Event) {
	next := recurrence.After(&s.timer, e, &s.config, s.now)
	s.take(next)
	if s.gone {
		s.tell(histories.Left(histories.EndOf(next.Ended)))
	}
}

func (s *subject) take(next recurrence.Next) {
	s.passed(next.Passed)
	if s.gone = !next.Stays; s.gone {
		return
	}
	_ = recurrence.To(&next.Timer)(&s.timer)
	if next.Suspended {
		s.timer.HoldReason = types.Suspended
	}
}

func (s *subject) fire(b twin.Block, o recurrence.Occurrence) {
	t := &s.timer
	outcome, event := twin.Success, recurrence.Event{Occurrence: o}
	switch b.Result.Kind {
	case twin.Fails:
		outcome, event.Outcome = twin.Failure, recurrence.Failed
		event.Codespace, event.Code = b.Result.Code.Codespace, b.Result.Code.Code
	case twin.Insufficient:
		outcome, event.Outcome, event.Codespace, event.Code = twin.Failure, recurrence.ShortOfCoins, "sdk", 5
	case twin.Guard:
		if s.spec.OnlyIf {
			outcome, event.Outcome = twin.Guarded, recurrence.Guarded
		}
	}
	s.tell(histories.Fired(s.spec, outcome, o.At))
	t.UnfundedSince = 0
	next := recurrence.After(t, event, &s.config, s.now)
	s.take(next)
	if s.gone {
		why := histories.EndOf(next.Ended)
		if next.Ended == types.EndUnspecified {
			why = map[twin.OutcomeKind]twin.Reason{twin.Success: twin.Fired, twin.Failure: twin.Failed, twin.Guarded: twin.GuardedEnd}[outcome]
		}
		s.tell(histories.Left(why))
		return
	}
	t.LastOutcome = &types.Outcome{Success: outcome == twin.Success, Guarded: outcome == twin.Guarded, Height: s.now.Height}
}

func (s *subject) Status() histories.Status {
	if s.gone {
		return histories.Status{Gone: true}
	}
	status := histories.StatusOfRecord(&s.timer)
	if s.spec.ByClock() {
		status.Left = s.timer.Left()
		if s.timer.Tried && status.Left > 0 {
			status.Left--
		}
	}
	return status
}

func newHistory(number uint64) *histories.History {
	b := twin.Block{Height: 1, Time: start}
	return &histories.History{
		Rand: rand.New(rand.NewPCG(number, 68)), Subject: newSubject(b),
		Kinds: []twin.Kind{
			twin.Height, twin.AfterBlocks, twin.Time, twin.IntervalFire, twin.IntervalFire, twin.IntervalSchedule, twin.IntervalSchedule, twin.Every,
			twin.Listed,
		},
		Acts: histories.Acts(),
	}
}

// Clone implements histories.Cloner.
func (s *subject) Clone() histories.Subject {
	other := *s
	other.words = slices.Clone(s.words)
	if s.pause != nil {
		pause := *s.pause
		other.pause = &pause
	}
	return &other
}

// TestHistories_AreThoseOfTheTwin: whatever is done to a timer in whatever state, and whatever its blocks bring, what comes next is what
// a second implementation says that was written from the specification alone. It prints which act followed which in which state, and
// where the text ends. In the long form no cell of that matrix may be empty.
//
// Rule: 1.5-one-function
func TestHistories_AreThoseOfTheTwin(t *testing.T) {
	m, unsaid := histories.NewMatrix(histories.Acts()), map[twin.Unsaid]int{}
	for n := range *drawn {
		number := *seed + n
		if n == 1_000 || n > 0 && n%50_000 == 0 {
			fmt.Printf("%d of %d histories from seed %d, %d cells empty\n", n, *drawn, *seed, len(m.Empty()))
		}
		h := newHistory(number)
		h.Unsaid = unsaid
		if fork, err := h.Live(1, start, m); err != nil {
			t.Fatalf("history %d%s: %v\n%s", number, fork, err, strings.Join(newHistory(number).Again(1, start, fork), "\n"))
		}
	}
	t.Logf("%d histories from seed %d", *drawn, *seed)
	t.Log(strings.Join(m.Lines(), "\n"))
	for _, what := range slices.Sorted(maps.Keys(unsaid)) {
		t.Logf("%9d times not said: %s", unsaid[what], what)
	}
	if empty := m.Empty(); *every {
		require.Empty(t, empty)
	}
}
