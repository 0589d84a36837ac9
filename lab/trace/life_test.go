package trace_test

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/life"
)

// lapses in a row after which the model suspends a timer.
const lapses = 2

// account is a run of the model in the events of a chain: blocks of events. States are what the model says after each.
type account struct {
	blocks []life.Block
	states []*state
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

// accountOf turns a trace into blocks.
func accountOf(tr trace) (out account) {
	block := life.Block{Height: int64(tr.States[0].Height), Time: tr.States[0].Minute}
	for i := range tr.States[1:] {
		before, after := &tr.States[i], &tr.States[i+1]
		s := after.Step
		if s.Op != "end" && s.Op != "fail" {
			block.Events = append(block.Events, message(before, after)...)
			continue
		}
		if s.Op == "fail" {
			block.Events = append(block.Events, life.Event{Kind: "TimerLaneFailed"})
		} else {
			block.Events = append(block.Events, end(before, after)...)
		}
		out.blocks, out.states = append(out.blocks, block), append(out.states, after)
		block = life.Block{Height: int64(after.Height), Time: after.Minute}
	}
	return out
}

func event(kind string, id int, attributes map[string]string) life.Event {
	if attributes == nil {
		attributes = map[string]string{}
	}
	attributes["id"] = fmt.Sprint(id)
	return life.Event{Kind: kind, Attributes: attributes}
}

// until is when a timer is due again, as events say it.
func until(m modeled) map[string]string {
	a := map[string]string{"next_due": text(int64(m.Due))}
	if m.Place == "waiting" {
		a["next_time"] = text(m.At)
	}
	return a
}

// message is what the step of a message has as events.
func message(before, after *state) []life.Event {
	s := after.Step
	if len(after.Exits) > 0 {
		return []life.Event{event("TimerCancelled", s.ID, nil)}
	}
	if !s.OK {
		return nil
	}
	is := after.Timers[s.ID]
	due := map[string]string{"due": text(int64(is.Due))}
	switch s.Op {
	case "once", "every", "watch", "time", "calendar", "rhythm":
		e := event("TimerScheduled", s.ID, due)
		e.Terms = termsOf(s)
		return []life.Event{e}
	case "update", "rebid":
		if is == before.Timers[s.ID] {
			return nil // It changed nothing.
		}
		return []life.Event{event("TimerUpdated", s.ID, due)}
	case "extend":
		ends := map[string]string{"expires_at": text(int64(is.Expires)), "expires_time": text(is.Ends)}
		return []life.Event{event("TimerExtended", s.ID, ends)}
	case "pause":
		if before.Timers[s.ID].Reason == "paused" {
			return nil
		}
		return []life.Event{event("TimerHeld", s.ID, map[string]string{"reason": "PAUSED"})}
	case "resume":
		return []life.Event{event("TimerReleased", s.ID, due)}
	case "release":
		due["reason"] = "QUARANTINED"
		return []life.Event{event("TimerReleased", s.ID, due)}
	case "skip":
		a := until(is)
		a["reason"], a["count"] = "REQUESTED", text(s.Amount)
		return []life.Event{event("TimerOccurrencesSkipped", s.ID, a)}
	}
	return nil
}

func termsOf(s step) *life.Terms {
	t := &life.Terms{
		Kind: s.Op, Due: int64(s.Height), Expires: int64(s.Expires), Remaining: int64(s.Remaining), Stops: s.Stops,
		Latest: s.Latest,
		Window: int64(s.Window), RetryMax: int64(s.RetryMax), RetryAfter: int64(s.RetryAfter), Size: int64(s.Gas),
	}
	switch s.Op {
	case "time", "calendar":
		t.At, t.Ends, t.Due, t.Expires = s.At, int64(s.Expires), 0, 0
	case "watch":
		t.Cooldown, t.Due = int64(s.Cooldown), 0
	}
	switch s.Op {
	case "once", "time":
		t.Remaining = 1
	case "every", "calendar", "rhythm":
		t.Every = int64(s.Every)
	}
	return t
}

// end is what the end of a block has as events: what was released, what fired, what passed, what left and what was
// held.
func end(before, after *state) (events []life.Event) {
	height := before.Height
	fired, left, held := map[int]bool{}, map[int]string{}, []life.Event{}
	for _, f := range after.Fires {
		fired[f.ID] = true
	}
	for _, e := range after.Exits {
		left[e.ID] = e.How
	}
	for _, id := range slices.Sorted(maps.Keys(before.Timers)) {
		was := before.Timers[id]
		is, lives := after.Timers[id]
		returned := fired[id] || left[id] == "passed" || lives && (is.Place != "onHold" || is.Due != was.Due)
		if was.Place == "onHold" && returned {
			events = append(events, event("TimerReleased", id, map[string]string{"due": text(int64(max(was.Due, height)))}))
			was.Place = "queue"
		}
		changed := lives && (is.After != was.After || is.Trying != was.Trying || is.Tried != was.Tried)
		if !fired[id] && (left[id] == "passed" || changed) {
			a := map[string]string{"next_due": "0"}
			if lives {
				a = until(is)
			}
			a["reason"] = "WINDOW"
			if lives && !was.Tried && (is.Lapses > was.Lapses || is.Reason == "suspended") {
				a["paid"] = "1"
			}
			held = append(held, event("TimerOccurrencesSkipped", id, a))
		}
		switch {
		case left[id] == "expired":
			held = append(held, event("TimerExpired", id, nil))
		case left[id] == "unfunded":
			held = append(held, event("TimerCancelledInsufficientFunds", id, nil))
		case lives && is.Place == "onHold" && (was.Place != "onHold" || is.Reason != was.Reason):
			held = append(held, event("TimerHeld", id, map[string]string{"reason": strings.ToUpper(is.Reason)}))
		}
	}
	for _, made := range after.Calls {
		if made.Failed {
			events = append(events, event("TimerAgentFailed", made.ID, nil))
		}
		if !made.Followed {
			used := fmt.Sprint(made.Used)
			held = append(held, event("TimerAgentBilled", made.ID, map[string]string{"cycles": used, "paid": used}))
		}
	}
	for _, f := range after.Fires {
		was, late := before.Timers[f.ID], uint64(0)
		if due := cmp.Or(was.Since, was.Due); (was.Place == "queue" || was.Place == "onHold") && due <= height {
			late = height - due
		}
		a := map[string]string{
			"success": fmt.Sprint(f.OK), "guarded": fmt.Sprint(f.Guarded), "fire_seq": fmt.Sprint(f.N), "late": fmt.Sprint(late),
			"next_due": fmt.Sprint(f.Next), "retries": fmt.Sprint(f.Retries), "occurrence": text(f.Occurrence),
			"index": fmt.Sprint(f.Index),
		}
		if is, lives := after.Timers[f.ID]; lives && is.Place == "waiting" {
			a["next_time"] = text(is.At)
		}
		events = append(events, event("TimerFired", f.ID, a))
	}
	return append(events, held...)
}

// follow has the checker follow a run, and holds its timers to the model's after each block.
func follow(run account) (*life.Checker, error) {
	c := &life.Checker{SuspendsAfter: lapses}
	for i, block := range run.blocks {
		if err := c.Block(block); err != nil {
			return c, err
		}
		if err := same(c, run.states[i]); err != nil {
			return c, fmt.Errorf("after height %d: %w", block.Height, err)
		}
	}
	return c, nil
}

func same(c *life.Checker, want *state) error {
	if ids := c.IDs(); len(ids) != len(want.Timers) {
		return fmt.Errorf("%v live, the model has %d", ids, len(want.Timers))
	}
	for id, m := range want.Timers {
		t, found := c.Live(fmt.Sprint(id))
		if !found {
			return fmt.Errorf("timer %d does not live", id)
		}
		has := modeled{
			Place: t.Place, Due: uint64(t.Due), Expires: uint64(t.Expires), Remaining: uint64(t.Remaining),
			Retries: uint32(t.Retries),
			FireSeq: uint32(t.FireSeq), At: t.At, Ends: t.Ends, After: t.After, Trying: t.Trying,
			Deliveries: uint64(t.Deliveries),
			Lapses:     uint32(t.Lapses), Forced: t.Forced, Since: uint64(t.Since), Tried: t.Tried, Failures: uint32(t.Failures),
		}
		m.Reason, m.Seq, m.Gas, m.Bid, m.Lock, m.Deferred, m.LastMax, m.LastTip = "", 0, 0, 0, 0, false, 0, 0
		// Only the model knows when a watch became due.
		if t.Kind == life.OnChange {
			if m.Place == "queue" {
				m.Place = "watching"
			}
			if has.Place == "queue" {
				has.Place = "watching"
			}
			has.Due, m.Due, has.Since, m.Since = 0, 0, 0, 0
		}
		if has != m {
			return fmt.Errorf("timer %d, %s: %+v, the model has %+v", id, t.Kind, has, m)
		}
	}
	return nil
}

// TestLife_FollowsTheModel: the checker of real chains accepts each run of the model, with the model's numbers after
// each block, so that it refuses nothing that the model allows.
func TestLife_FollowsTheModel(t *testing.T) {
	files, err := filepath.Glob(*traces)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	steps := map[string]int{}
	for _, file := range files {
		c, err := follow(accountOf(read(t, file)))
		require.NoError(t, err, file)
		for kind, n := range c.Steps {
			steps[kind] += n
		}
	}
	for _, kind := range []string{
		"TimerScheduled", "TimerFired", "TimerOccurrencesSkipped", "TimerExpired", "TimerHeld", "TimerReleased",
		"TimerUpdated",
		"TimerExtended", "TimerCancelled", "TimerAgentFailed", "TimerAgentBilled",
	} {
		require.NotZero(t, steps[kind], kind)
	}
}

// TestLife_RefusesOtherEvents: each change of one event of a run is noticed, in its block or in a later one.
func TestLife_RefusesOtherEvents(t *testing.T) {
	plus := func(name string, by int64) func(life.Event) []life.Event {
		return func(e life.Event) []life.Event {
			n, _ := strconv.ParseInt(e.Attributes[name], 10, 64)
			e.Attributes = maps.Clone(e.Attributes)
			e.Attributes[name] = text(n + by)
			return []life.Event{e}
		}
	}
	const late = "it is later than it says"
	changes := map[string]func(life.Event) []life.Event{
		"a fire is left out":     func(life.Event) []life.Event { return nil },
		"it fires twice":         func(e life.Event) []life.Event { return []life.Event{e, e} },
		"a delivery is left out": plus("fire_seq", 1), "it is due later": plus("next_due", 1),
		"it is due earlier": plus("next_due", -1),
		late:                plus("late", 1), "another occurrence": plus("occurrence", 1),
		"another index":  plus("index", 1),
		"one retry more": plus("retries", 1), "a time": plus("next_time", 1),
	}
	run := accountOf(read(t, "testdata/life_0.itf.json"))
	tried, watches := 0, map[string]bool{}
	for i := range run.blocks {
		for j, e := range run.blocks[i].Events {
			if e.Terms != nil && e.Terms.Kind == life.OnChange {
				watches[e.Attributes["id"]] = true
			}
			if e.Kind != "TimerFired" {
				continue
			}
			tried++
			for name, change := range changes {
				if name == late && watches[e.Attributes["id"]] {
					continue // Only the model knows when a watch became due.
				}
				events := slices.Clone(run.blocks[i].Events)
				_, err := follow(run.with(i, slices.Replace(events, j, j+1, change(e)...)))
				require.Error(t, err, "%s, %+v", name, e)
			}
			if i > 0 {
				early := run.with(i, slices.Delete(slices.Clone(run.blocks[i].Events), j, j+1))
				_, err := follow(early.with(i-1, append(slices.Clone(run.blocks[i-1].Events), e)))
				require.Error(t, err, "a block early, %+v", e)
			}
		}
	}
	require.Greater(t, tried, 20)
}

// TestLife_RefusesOtherCalls: a call of an agent that is billed twice, for nothing, to a timer that never was, or alone
// though its timer fires, is noticed.
func TestLife_RefusesOtherCalls(t *testing.T) {
	run, billed, fired := accountOf(read(t, "testdata/market_0.itf.json")), 0, 0
	bill := func(id, cycles string) life.Event {
		return life.Event{Kind: "TimerAgentBilled", Attributes: map[string]string{"id": id, "cycles": cycles, "paid": "1"}}
	}
	for i := range run.blocks {
		for j, e := range run.blocks[i].Events {
			id, other := e.Attributes["id"], []life.Event(nil)
			switch e.Kind {
			case "TimerAgentBilled":
				billed++
				other = []life.Event{bill("1000", "1"), bill(id, "0"), bill(id, "")}
				_, err := follow(run.with(i, slices.Insert(slices.Clone(run.blocks[i].Events), j, e)))
				require.Error(t, err, "twice, %+v", e)
			case "TimerFired":
				fired++
				_, err := follow(run.with(i, append(slices.Clone(run.blocks[i].Events), bill(id, "1"))))
				require.Error(t, err, "it fires, and its call is billed alone, %+v", e)
			}
			for _, instead := range other {
				_, err := follow(run.with(i, slices.Replace(slices.Clone(run.blocks[i].Events), j, j+1, instead)))
				require.Error(t, err, "%+v in place of %+v", instead, e)
			}
		}
	}
	require.NotZero(t, billed)
	require.NotZero(t, fired)
}

// with is the run with other events in a block.
func (a account) with(i int, events []life.Event) account {
	a.blocks = slices.Clone(a.blocks)
	a.blocks[i].Events = events
	return a
}

// TestLife_RefusesBrokenModels: the runs of models that break a rule, of which spec/mutants.qnt has the names, are
// refused by their events alone.
func TestLife_RefusesBrokenModels(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.itf.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			run := accountOf(read(t, file))
			c := &life.Checker{SuspendsAfter: lapses}
			var err error
			for i, block := range run.blocks {
				if err = c.Block(block); err != nil {
					require.Greater(t, i, len(run.blocks)-8, "before the rule was broken: %v", err)
					t.Log(err)
					break
				}
			}
			require.Error(t, err)
		})
	}
}
