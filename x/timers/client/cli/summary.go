package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/dryrun"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// writer writes messages for who runs a command.
func writer(j *job.Job) words.Writer { return words.Writer{Codec: j.Codec, Who: j.Who} }

// summarize says in words what a timer will do, and when, before it is signed.
func summarize(d *draft.Draft, r *course.Course, msg *types.MsgScheduleTimer) {
	does := fmt.Sprintf("call %q with %s", msg.Spec.Call.Handler, plain.Count(uint64(len(msg.Spec.Call.Payload)), "byte"))
	if len(d.Messages) > 0 {
		does = writer(d.Job).Messages(d.Messages)
	}
	d.Notef("will %s, %s%s%s", does, when(d, &msg.Spec), onlyIf(d, msg), again(msg.Spec.Retry, &msg.Spec.Trigger))
	if !draft.Repeats(msg) {
		return
	}
	if msg.Spec.Trigger.Calendar != nil {
		noteOccurrences(d, r, msg)
	}
	ends, why := lifeEnds(d, r, msg)
	d.Notef("ends at %s at the latest (%s)", ends, why)
	if d.Rule == nil || d.Rule.Until.IsZero() {
		return
	}
	d.Notef("knows the changes of the clocks of %s until %s: instead of extending it beyond that, schedule it again",
		cmp.Or(draft.ZoneName(d.Rule.Zone), "this machine's zone"), d.Stamp(d.Rule.Until.Unix()))
}

// shownOccurrences is how many of the next occurrences are listed.
const shownOccurrences = 5

// noteOccurrences lists the next occurrences of a calendar, and says how many there will be, until when and why no more.
func noteOccurrences(d *draft.Draft, r *course.Course, msg *types.MsgScheduleTimer) {
	n, exact := r.Count(r.Ends())
	var next []string
	last, listed := int64(0), uint64(0)
	for at := range r.Fires() {
		last = at.Unix()
		if listed++; listed <= shownOccurrences {
			next = append(next, "  "+d.Stamp(last)+byItsClock(d, at))
		}
	}
	if n == 0 {
		return
	}
	atLeast := ""
	if !exact {
		atLeast = "more than "
	}
	why := "its life ends before the next"
	if left := msg.Spec.Repetitions(); left != 0 && n == left {
		why = "then it has made all"
	}
	d.Notef("next at\n%s", strings.Join(next, "\n"))
	d.Notef("fires %s%s, the last at %s: %s", atLeast, plain.Count(n, "time"), d.Stamp(last), why)
}

// byItsClock is what the clocks of a rule's zone show at a time, where those of this machine show another: " (09:00 Europe/Berlin)".
func byItsClock(d *draft.Draft, at time.Time) string {
	if d.Rule == nil || d.Rule.Zone == nil {
		return ""
	}
	zone, err := d.Zone()
	if err != nil {
		return ""
	}
	_, here := at.In(zone).Zone()
	if _, there := at.In(d.Rule.Zone).Zone(); here == there {
		return ""
	}
	return fmt.Sprintf(" (%s %s)", at.In(d.Rule.Zone).Format("Mon 15:04"), d.Rule.Zone)
}

// warnOfOwnWatch says whether a timer makes itself due. What a fire changes counts for the next block, and after a fire
// changes count from so many blocks after it on as its cooldown says, at least one.
func warnOfOwnWatch(d *draft.Draft, spec *types.TimerSpec, result dryrun.Result) {
	watch := spec.Trigger.Watch
	if watch == nil || spec.Repetitions() == 1 || watch.Cooldown > 1 {
		return
	}
	text, at, sure := dryrun.OwnWatch(d.Job, result.Events, watch.Keys)
	changes := "changes"
	if !sure {
		changes = "may change"
	}
	switch {
	case text == "":
	case watch.Keys[at].When != nil:
		d.Notef("it %s what it watches (%s): that makes it due again if its condition becomes true by it", changes, plain.Clean(text))
	default:
		d.Notef("warning: it %s what it watches (%s): each fire makes it due again in the next block, and each is paid; "+
			"--%s 2 lets its own changes not count", changes, plain.Clean(text), draft.FlagCooldown)
	}
}

// when says what makes a timer due, in words.
func when(d *draft.Draft, spec *types.TimerSpec) string {
	t, repeat := &spec.Trigger, spec.Repeat
	switch {
	case t.Interval != nil:
		text := "every " + plain.Count(t.Interval.Every, "block")
		if t.Interval.First != 0 {
			text += fmt.Sprintf(" from height %d on", t.Interval.First)
		}
		if t.Interval.From == types.FromSchedule {
			text += ", counted from its schedule"
		}
		return text + terms(repeat, blocks) + times(repeat.GetRemaining())
	case t.Calendar != nil:
		zone := ""
		if d.Rule != nil {
			zone = draft.ZoneName(d.Rule.Zone)
		}
		text := words.Rule(t.Calendar, zone)
		if every := t.Calendar.Every; every != nil && every.Anchor != 0 {
			text += ", first at " + d.Stamp(every.Anchor)
		}
		return text + terms(repeat, seconds) + times(repeat.GetRemaining())
	case t.Time != nil:
		return "at " + d.Stamp(t.Time.Unix())
	case t.Watch != nil:
		return "when " + words.Watched(t.Watch.Keys, d.Watched) + times(repeat.GetRemaining())
	case t.After != 0:
		return plain.Count(t.After, "block") + " after the one that schedules it"
	default:
		return fmt.Sprintf("at height %d", t.Height)
	}
}

func blocks(n uint64) string  { return plain.Count(n, "block") }
func seconds(n uint64) string { return timespan.ForPeople(time.Duration(n) * time.Second) }

// terms say which of several fires that have come due are made, how late and how spread; nothing if that is the default.
func terms(o *types.Repeat, length func(uint64) string) string {
	if o == nil {
		return ""
	}
	text := ""
	if o.Jitter != 0 {
		text += fmt.Sprintf(", each up to %s later", length(o.Jitter))
	}
	if o.Window != 0 {
		text += fmt.Sprintf(", left out if %s late", length(o.Window))
	}
	if o.Missed == types.MissedEach {
		text += ", all that were missed, oldest first"
	}
	return text
}

// onlyIf says what must hold, in words.
func onlyIf(d *draft.Draft, msg *types.MsgScheduleTimer) string {
	if len(msg.Spec.OnlyIf) == 0 {
		return ""
	}
	return ", only if " + words.OnlyIf(msg.Spec.OnlyIf, d.OnlyIf)
}

// again says what becomes of a fire that fails, in words.
func again(r *types.Retry, t *types.Trigger) string {
	if r == nil {
		return ""
	}
	length := blocks
	if t.ByTime() {
		length = seconds
	}
	text := "; if it fails, again after " + length(r.After)
	if r.Max == 1 {
		return text + ", once"
	}
	return fmt.Sprintf("%s, up to %d times", text, r.Max)
}

func times(n uint64) string {
	switch n {
	case 0:
		return ", until it expires"
	case 1:
		return ", once"
	default:
		return fmt.Sprintf(", %s times", plain.Thousands(n))
	}
}
