package keeper_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/address"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/twin"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var twinWatchHistories = flag.Int("twin.watches", 150, "how many histories of one timer the keeper and its twin live")

// twinLimits are those of the histories.
var twinLimits = twin.Limits{MaxTTLBlocks: 60, MaxTTLSeconds: 3_000, MaxUnfundedSkips: 2}

// twinHistory is the history of one timer, in the keeper and in the twin.
type twinHistory struct {
	*fixture
	r       *rand.Rand
	actor   sdk.AccAddress
	world   *twin.World
	id      string
	result  twin.Result
	paused  bool
	watches bool
	// holds: the condition of a watch held in the last block. updated: this one gave it another trigger.
	holds, updated bool
	journal        []string
}

func (h *twinHistory) note(format string, args ...any) {
	h.journal = append(h.journal, fmt.Sprintf("%d/%d ", h.Height(), h.Now())+fmt.Sprintf(format, args...))
}

func (h *twinHistory) now() twin.Block { return twin.Block{Height: h.Height(), Time: uint64(h.Now())} }

func (h *twinHistory) one(of ...uint64) uint64 { return of[h.r.IntN(len(of))] }

// spec draws a timer. Its numbers are small, so that what it states meets.
func (h *twinHistory) spec() twin.Spec {
	if h.watches {
		return h.watch()
	}
	s := twin.Spec{Kind: []twin.Kind{
		twin.Height, twin.AfterBlocks, twin.Time, twin.IntervalFire, twin.IntervalFire, twin.IntervalSchedule, twin.IntervalSchedule, twin.Every, twin.Every,
	}[h.r.IntN(9)]}
	unit := h.trigger(&s)
	byClock := s.Kind != twin.Height && s.Kind != twin.AfterBlocks && s.Kind != twin.Time
	if h.r.IntN(2) == 0 {
		s.Retry = &twin.Retry{Max: uint32(h.one(1, 1, 2)), After: h.one(1, 2, 3) * unit, Backoff: uint32(h.one(0, 1, 2))}
	}
	s.OnUnfunded = []twin.OnUnfunded{twin.UnfundedDestroy, twin.UnfundedSuspend}[h.r.IntN(2)]
	if !byClock {
		return s
	}
	h.repeat(&s, unit)
	return s
}

// watch draws a watch: of any change of a key, or with a condition.
func (h *twinHistory) watch() twin.Spec {
	s := twin.Spec{Kind: twin.Watch, Repeats: true, OnUnfunded: []twin.OnUnfunded{twin.UnfundedDestroy, twin.UnfundedSuspend}[h.r.IntN(2)]}
	h.trigger(&s)
	if h.r.IntN(2) == 0 {
		s.Retry = &twin.Retry{Max: uint32(h.one(1, 1, 2)), After: h.one(1, 2, 3), Backoff: uint32(h.one(0, 1, 2))}
	}
	h.repeat(&s, 1)
	return s
}

// trigger draws a trigger of the kind, and says how long a block is in its clock.
func (h *twinHistory) trigger(s *twin.Spec) (unit uint64) {
	switch b := h.now(); s.Kind {
	case twin.Height:
		s.At = b.Height + h.one(1, 2, 4)
	case twin.AfterBlocks:
		s.At = h.one(1, 2, 4)
	case twin.Time:
		s.At = b.Time + h.one(1, 30, 100)
		return 30
	case twin.Every:
		s.Every, s.First = h.one(60, 60, 90, 150), b.Time-h.one(0, 10, 60)
		return 30
	case twin.Watch:
		s.Keys, s.When, s.Condition = []int{int(h.one(1, 1, 2))}, h.r.IntN(4) > 0, 0
		s.Cooldown, s.Level = h.one(0, 1, 2, 4), false
		if s.When {
			s.Condition, s.Level = int(h.one(0, 0, 1)), s.Cooldown > 0 && h.r.IntN(2) == 0
		}
	default:
		s.Every, s.First = h.one(1, 2, 3, 5), b.Height+h.one(1, 2, 3)
	}
	return 1
}

// repeat draws how it repeats.
func (h *twinHistory) repeat(s *twin.Spec, unit uint64) {
	s.Remaining, s.Renew = h.one(0, 0, 1, 2, 3, 5), h.r.IntN(3) == 0
	if s.Kind == twin.Watch {
		return
	}
	s.OnFailure = []twin.OnFailure{twin.Roll, twin.Roll, twin.Stop, twin.Suspend}[h.r.IntN(4)]
	if s.MaxFailures = 0; s.OnFailure == twin.Suspend {
		s.MaxFailures = uint32(h.one(1, 2))
	}
	s.OnUnfunded = []twin.OnUnfunded{twin.UnfundedDestroy, twin.UnfundedSuspend, twin.UnfundedSkip, twin.UnfundedSkip}[h.r.IntN(4)]
	if s.Kind == twin.IntervalFire {
		return
	}
	s.Missed = []twin.Missed{twin.Latest, twin.Each}[h.r.IntN(2)]
	if s.Window = 0; s.Missed == twin.Latest { // Of each the twin charges what lapses before an open one, the keeper the fire alone.
		s.Window = h.one(0, 0, 1, 2, 6) * unit
	}
}

// specOf is the twin's spec as a message states it.
func specOf(s twin.Spec) types.TimerSpec {
	spec := types.TimerSpec{
		Repeat: &types.Repeat{
			Remaining: s.Remaining, Window: s.Window, MaxFailures: s.MaxFailures, Renew: s.Renew,
			OnFailure: map[twin.OnFailure]types.OnFailure{twin.Roll: types.OnFailureRoll, twin.Stop: types.OnFailureStop, twin.Suspend: types.OnFailureSuspend}[s.OnFailure],
		},
		OnUnfunded: map[twin.OnUnfunded]types.OnUnfunded{
			twin.UnfundedDestroy: types.OnUnfundedDestroy, twin.UnfundedSuspend: types.OnUnfundedSuspend, twin.UnfundedSkip: types.OnUnfundedSkip,
		}[s.OnUnfunded],
	}
	if s.Missed == twin.Each {
		spec.Repeat.Missed = types.MissedEach
	}
	if s.Retry != nil {
		spec.Retry = &types.Retry{Max: s.Retry.Max, After: s.Retry.After, Backoff: s.Retry.Backoff}
	}
	switch s.Kind {
	case twin.Height:
		spec.Trigger.Height = s.At
	case twin.AfterBlocks:
		spec.Trigger.After = s.At
	case twin.Time:
		at := time.Unix(int64(s.At), 0).UTC()
		spec.Trigger.Time = &at
	case twin.Every:
		spec.Trigger.Calendar = &types.CalendarTrigger{Every: &types.EveryRule{Seconds: s.Every, Anchor: int64(s.First)}}
	case twin.Watch:
		spec.Trigger.Watch = watchOf(s)
	default:
		spec.Trigger.Interval = &types.IntervalTrigger{Every: s.Every, First: s.First}
		if s.Kind == twin.IntervalSchedule {
			spec.Trigger.Interval.From = types.FromSchedule
		}
	}
	return spec.Canonical()
}

// twinKeys are the accounts whose balances are the keys 1 and 2.
var twinKeys = []sdk.AccAddress{sdk.AccAddress("twin_key_1__________"), sdk.AccAddress("twin_key_2__________")}

// watchOf is a watch of the twin. Its conditions hold while the balance is below some.
func watchOf(s twin.Spec) *types.WatchTrigger {
	watch := &types.WatchTrigger{Cooldown: s.Cooldown, Level: s.Level}
	for _, key := range s.Keys {
		prefix := slices.Concat(banktypes.BalancesPrefix.Bytes(), address.MustLengthPrefix(twinKeys[key-1]), []byte(sdk.DefaultBondDenom))
		watched := types.WatchKey{Store: "bank", Prefix: prefix}
		if s.When {
			watched.When = &types.WatchCondition{Op: types.ConditionLess, Value: fmt.Sprint(50 + s.Condition)}
		}
		watch.Keys = append(watch.Keys, watched)
	}
	return watch
}

// change changes the keys, or none, and says what a block is to find.
func (h *twinHistory) change(b *twin.Block) {
	if b.Holds = h.r.IntN(2) == 0; h.updated {
		b.Holds = h.holds // What becomes true in the very block that updates to another level, the keeper finds in the next.
	}
	h.holds, h.updated = b.Holds, false
	for i, key := range twinKeys {
		has, want := h.balance(key), h.balance(key)
		if h.r.IntN(3) == 0 {
			want++
		}
		if low := want < 50; low != b.Holds {
			want = 150 - 100*map[bool]int64{true: 1}[b.Holds] - 10
		}
		if has == want {
			continue
		}
		b.Changed = append(b.Changed, i+1)
		from, to := alice, key
		if has > want {
			from, to = key, alice
		}
		h.run(banktypes.NewMsgSend(from, to, h.coins(max(has-want, want-has))))
	}
}

// schedule schedules the same timer in both.
func (h *twinHistory) begin() {
	for h.world == nil {
		s, b := h.spec(), h.now()
		if h.r.IntN(2) == 0 {
			s.End = h.one(4, 8, 16, 30)
			if s.Kind == twin.Time || s.Kind == twin.Every {
				s.End = s.End*30 + b.Time
			} else {
				s.End += b.Height
			}
		}
		world, err := twin.New(twinLimits, s, b)
		msg := &types.MsgScheduleTimer{Sender: h.actor.String(), Spec: specOf(s)}
		msg.Spec.Call, msg.Spec.GasLimit, msg.Spec.CellLimit = types.TimerCall{Payload: []byte("twin")}, 60_000, 1
		if s.Kind == twin.Time || s.Kind == twin.Every {
			msg.Spec.ExpiresTime = int64(s.End)
		} else {
			msg.Spec.ExpiresAt = s.End
		}
		results, _, failed := h.Tx(msg)
		h.note("schedule %+v %v %v", s, err, failed)
		h.same(err == nil, failed == nil, "schedule: %v, %v", err, failed)
		if err != nil {
			continue
		}
		var response types.MsgScheduleTimerResponse
		require.NoError(h.t, h.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
		h.world, h.id = world, response.Id
	}
}

// same fails with the history unless two are equal.
func (h *twinHistory) same(want, got any, format string, args ...any) {
	require.Equal(h.t, want, got, "%s\n%s", fmt.Sprintf(format, args...), h)
}

func (h *twinHistory) String() (text string) {
	for _, line := range h.journal {
		text += line + "\n"
	}
	return text
}

// operate does the same to both.
func (h *twinHistory) operate() {
	sender := h.actor.String()
	op, msg := func() error { return nil }, sdk.Msg(nil)
	name := []string{"pause", "resume", "resume", "resume next", "skip", "run", "extend", "sys extend", "update", "update", "update", "cancel"}[h.r.IntN(12)]
	switch name {
	case "pause":
		op, msg = h.world.Pause, &types.MsgPauseTimer{Sender: sender, Id: h.id}
	case "resume":
		if h.occurrence(1) > 0 || h.world.Spec.Kind == twin.IntervalFire {
			return // Whether what was resumed passes for a later one, and from when it counts on, is not said.
		}
		op, msg = func() error { return h.world.Resume(false) }, &types.MsgResumeTimer{Sender: sender, Id: h.id}
	case "resume next":
		op, msg = func() error { return h.world.Resume(true) }, &types.MsgResumeTimer{Sender: sender, Id: h.id, At: types.ResumeNext}
	case "skip":
		if h.occurrence(1) > 0 && (h.world.Status.Hold != twin.None || h.paused) {
			return // When what was held is told that has no window any more, is not said.
		}
		count := h.one(1, 1, 2, 3)
		op, msg = func() error { return h.world.Skip(count, nil) }, &types.MsgSkipTimer{Sender: sender, Id: h.id, Count: uint32(count)}
		name += fmt.Sprint(" ", count)
	case "run":
		op, msg = h.world.Run, &types.MsgRunTimer{Sender: sender, Id: h.id}
	case "cancel":
		if h.r.IntN(8) > 0 {
			return
		}
		op, msg = h.world.Cancel, &types.MsgCancelTimer{Sender: sender, Id: h.id}
	case "update":
		if h.watches && h.world.Status.End <= h.Height()+4 {
			return // Whether what is in hand in the last block may be put off, is not said.
		}
		if status := h.timer(h.actor, h.id).Status; status.Due == h.Height() && status.HoldReason != types.Watching {
			return // What has its place in this very block is not put off; the twin knows no places.
		}
		op, msg, name = h.update()
	default:
		op, msg, name = h.extend(name)
	}
	want := op()
	_, _, got := h.Tx(msg)
	h.note("%s: %v | %v", name, want, got)
	h.same(want == nil, got == nil, "%s: %v, %v", name, want, got)
}

// extend states another end.
func (h *twinHistory) extend(name string) (op func() error, msg sdk.Msg, called string) {
	distance, height, at := h.one(1, 3, 10, 30), uint64(0), int64(0)
	end := distance + h.Height()
	if h.world.Spec.Kind == twin.Time || h.world.Spec.Kind == twin.Every {
		end = distance*30 + uint64(h.Now())
		at = int64(end)
	} else {
		height = end
	}
	called = fmt.Sprint(name, " ", end)
	if name == "extend" {
		return func() error { return h.world.Extend(end) }, &types.MsgExtendTimer{Sender: h.actor.String(), Id: h.id, ExpiresAt: height, ExpiresTime: at}, called
	}
	return func() error { return h.world.SysExtend(end) }, &types.MsgSysExtendTimer{
		Authority: h.Authority, Actor: h.actor.String(), Id: h.id, ExpiresAt: height, ExpiresTime: at,
	}, called
}

// update restates some leaves of the spec.
func (h *twinHistory) update() (op func() error, msg sdk.Msg, called string) {
	next := h.world.Spec
	update := &types.MsgUpdateTimer{Sender: h.actor.String(), Id: h.id}
	byClock := next.Kind == twin.Watch || next.Kind == twin.IntervalFire || next.Kind == twin.IntervalSchedule || next.Kind == twin.Every
	var fields []string
	switch what := h.r.IntN(4); {
	case what == 0 && !(next.Missed == twin.Each && h.world.Status.InHand): // The keeper keeps all that came, or none.
		fields, h.updated = []string{"trigger"}, true
		if h.r.IntN(3) > 0 {
			h.trigger(&next)
		}
	case what == 1 && byClock:
		h.repeat(&next, map[bool]uint64{true: 30, false: 1}[next.Kind == twin.Every])
		next.Renew = h.world.Spec.Renew
		fields = []string{"remaining", "on_failure", "max_failures", "on_unfunded", "missed", "window"}
		if h.watches {
			fields = fields[:1]
		}
	case what == 2:
		next.OnUnfunded, fields = []twin.OnUnfunded{twin.UnfundedDestroy, twin.UnfundedSuspend}[h.r.IntN(2)], []string{"on_unfunded"}
	default:
		unit := uint64(1)
		if next.Kind == twin.Time || next.Kind == twin.Every {
			unit = 30
		}
		if next.Retry = nil; h.r.IntN(3) > 0 {
			next.Retry = &twin.Retry{Max: uint32(h.one(1, 2)), After: h.one(1, 2, 3) * unit}
		}
		fields = []string{"retry"}
	}
	for _, field := range fields {
		if within := "repeat." + field; slices.Contains(types.SpecFields(), within) {
			field = within
		}
		update.Fields = append(update.Fields, field)
	}
	spec := specOf(next)
	update.Spec, _ = types.TimerSpec{}.Named(update.Fields, &spec)
	return func() error { return h.world.Update(next, fields) }, update, fmt.Sprintf("update %v %+v", fields, next)
}

// balance gives the actor what a block is to find.
func (h *twinHistory) fundFor(funds twin.Funds) {
	want := map[twin.Funds]int64{twin.CanPay: 1_000, twin.CanPayLapse: 6, twin.CanPayNothing: 0}[funds]
	switch has := h.balance(h.actor); {
	case has > want:
		h.run(banktypes.NewMsgSend(h.actor, bob, h.coins(has-want)))
	case has < want:
		h.run(banktypes.NewMsgSend(alice, h.actor, h.coins(want-has)))
	}
}

// block ends a block in both.
func (h *twinHistory) block() {
	b := h.now()
	b.LanePaused = h.paused
	b.Funds = []twin.Funds{twin.CanPay, twin.CanPay, twin.CanPay, twin.CanPayLapse, twin.CanPayNothing}[h.r.IntN(5)]
	h.result = twin.Result{Kind: []twin.ResultKind{twin.Succeeds, twin.Fails}[h.r.IntN(2)]}
	if h.result.Kind == twin.Fails {
		h.result.Code = twin.Code{Codespace: "twin", Code: 7}
	}
	b.Result = h.result
	h.fundFor(b.Funds)
	if h.watches {
		h.change(&b)
	}
	paused := h.paused
	if h.r.IntN(8) == 0 {
		paused = !paused
		h.setConfig(func(c *types.TimerConfig) { c.LanePaused = paused })
	}
	h.BlockSeconds = int64(h.one(0, 5, 20, 30, 60, 100))
	want := h.told(h.world.EndBlock(b))
	got := h.heard(h.NextBlock())
	h.note("block %+v: %v | %v", b, want, got)
	h.same(want, got, "events")
	h.paused = paused
	h.same(h.status(), h.record(), "status")
	h.world.Begin(h.Height(), uint64(h.Now()))
}

// told are the twin's events in words.
func (h *twinHistory) told(events []twin.Event) (words []string) {
	for _, e := range events {
		switch e.Kind {
		case twin.DeliveredEvent:
			words = append(words, fmt.Sprintf("fired %v %d", e.Outcome.Kind == twin.Success, h.occurrence(e.Occurrence)))
		case twin.SkippedEvent:
			if h.occurrence(1) == 0 {
				e.First, e.Last = 0, 0
			}
			words = append(words, fmt.Sprintf("skipped %d to %d, %d, %s", e.First, e.Last, e.Count, e.Reason))
		case twin.LeftEvent:
			words = append(words, "left "+string(e.Ended))
		}
	}
	slices.Sort(words)
	return words
}

// occurrence is one that the keeper names, else 0.
func (h *twinHistory) occurrence(at uint64) uint64 {
	if h.world.Spec.Kind == twin.IntervalSchedule || h.world.Spec.Kind == twin.Every {
		return at
	}
	return 0
}

// heard are the keeper's events in words.
func (h *twinHistory) heard(events sdk.Events) (words []string) {
	ends := map[types.EndReason]twin.Reason{
		types.EndCompleted: twin.Completed, types.EndOfLife: twin.EndOfLife, types.EndFailed: twin.Failed, types.EndZone: twin.ZoneEnded,
	}
	left := func(why types.EndReason) {
		if why != types.EndUnspecified {
			words = append(words, "left "+string(ends[why]))
		}
	}
	for _, e := range eventsOf[*types.TimerFired](h.fixture, events) {
		words = append(words, fmt.Sprintf("fired %v %d", e.Success, h.occurrence(e.Occurrence)))
		if left(e.Ended); e.Ended == types.EndUnspecified && e.NextDue == 0 {
			words = append(words, map[bool]string{true: "left fired", false: "left failed"}[e.Success])
		}
	}
	for _, e := range eventsOf[*types.TimerOccurrencesSkipped](h.fixture, events) {
		if h.occurrence(1) == 0 {
			e.First, e.Last = 0, 0
		}
		reason := map[types.SkipReason]string{
			types.SkipLater: twin.ForLater, types.SkipWindow: twin.ForWindow, types.SkipRetry: twin.ForTheRetry, types.SkipPaused: twin.ForPause,
			types.SkipUnfunded: twin.ForFunds, types.SkipRequested: twin.ForRequest, types.SkipUpdated: twin.ForUpdate,
		}[e.Reason]
		words = append(words, fmt.Sprintf("skipped %d to %d, %d, %s", e.First, e.Last, e.Count, reason))
		left(e.Ended)
	}
	for range eventsOf[*types.TimerExpired](h.fixture, events) {
		words = append(words, "left "+string(twin.Expired))
	}
	for range eventsOf[*types.TimerCancelledInsufficientFunds](h.fixture, events) {
		words = append(words, "left "+string(twin.UnfundedEnd))
	}
	for range eventsOf[*types.TimerCancelled](h.fixture, events) {
		words = append(words, "left "+string(twin.Cancelled))
	}
	slices.Sort(words)
	return words
}

// twinStatus is as much of a status as both have.
type twinStatus struct {
	Gone                    bool
	Hold                    twin.Hold
	Deliveries              uint64
	FireSeq                 uint32
	Retries, Failures, Skip uint32
	End                     uint64
}

// status is the twin's.
func (h *twinHistory) status() twinStatus {
	st := h.world.Status
	if st.Gone {
		return twinStatus{Gone: true}
	}
	return twinStatus{Hold: st.Hold, Deliveries: st.Deliveries, FireSeq: st.FireSeq, Retries: st.Retries, Failures: st.Failures, Skip: st.Skips, End: st.End}
}

// record is the keeper's.
func (h *twinHistory) record() twinStatus {
	if h.total(h.actor) == 0 {
		return twinStatus{Gone: true}
	}
	t := h.timer(h.actor, h.id)
	s := twinStatus{
		Deliveries: t.Status.Deliveries, FireSeq: t.Status.FireSeq, Retries: t.Status.Retries, Failures: t.Status.Failures, Skip: t.Status.Skips,
		End: cmp.Or(t.Status.ExpiresAt, uint64(t.Status.ExpiresTime)),
	}
	if t.Status.HoldReason != types.Watching && t.Status.HoldReason != types.Timed && t.Status.HoldReason != types.NotOnHold {
		s.Hold = twin.Hold(t.Status.HoldReason.Word())
	}
	return s
}

// TestTwin_LivesTheSameHistoriesOfWatches: as TestTwin_LivesTheSameHistories, of watches, with conditions and without, and with level.
//
// Rule: 1.10-look, 1.10-level
func TestTwin_LivesTheSameHistoriesOfWatches(t *testing.T) { liveTwins(t, true) }

func liveTwins(t *testing.T, watches bool) {
	t.Helper()
	for seed := range uint64(*twinWatchHistories) {
		actor := sdk.AccAddress("robot_of_the_twin___")
		h := &twinHistory{r: rand.New(rand.NewPCG(seed, 68)), actor: actor, watches: watches}
		h.fixture = newFixture(t, withConfig(func(c *types.TimerConfig) {
			c.MaxTtlBlocks, c.MaxTtlSeconds, c.MaxUnfundedSkips = twinLimits.MaxTTLBlocks, twinLimits.MaxTTLSeconds, twinLimits.MaxUnfundedSkips
		}), func(opts *lab.ChainOptions) {
			opts.Balances = append(opts.Balances, lab.Balance{Address: actor, Amount: math.NewInt(1_000)})
		})
		h.robots.scripts["twin"] = func(sdk.Context, types.Delivery) error {
			if h.result.Kind == twin.Fails {
				return errTwin
			}
			return nil
		}
		h.note("seed %d", seed)
		h.NextBlock()
		h.begin()
		h.block()
		for range 30 {
			if h.world.Status.Gone {
				break
			}
			for range h.r.IntN(3) {
				if !h.world.Status.Gone {
					h.operate()
				}
			}
			h.block()
		}
	}
}
