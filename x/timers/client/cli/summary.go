package cli

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/dryrun"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// writer writes messages for who runs a command.
func writer(j *job.Job) words.Writer { return words.Writer{Codec: j.Codec, Who: j.Who} }

// summarize says in words what a timer will do, and when, before it is signed.
func summarize(d *draft.Draft, ahead *outlook.Outlook, msg *types.MsgScheduleTimer) {
	does := fmt.Sprintf("call %q with %s", msg.Handler, plain.Count(uint64(len(msg.Payload)), "byte"))
	if len(d.Messages) > 0 {
		does = writer(d.Job).Messages(d.Messages)
	}
	d.Notef("will %s, %s%s", does, when(d, &msg.Trigger), again(msg.Retry))
	if !draft.Repeats(msg) {
		return
	}
	ends, from := msg.ExpiresAt, "as stated"
	if ends == 0 {
		ends, from = ahead.Prices.Height+1+ahead.Config.MaxTtlBlocks, "the longest life of a timer"
	}
	text := fmt.Sprintf("ends at height %d at the latest (%s)", ends, from)
	if c, err := d.Clock(); err == nil {
		if moment := c.Moment(ends); moment != "" {
			text += ", expected at " + moment
		}
	}
	d.Notef("%s", text)
}

// warnOfOwnWatch says whether a timer makes itself due. What a fire changes counts for the next block, and after a fire
// changes count from so many blocks after it on as its cooldown says, at least one.
func warnOfOwnWatch(d *draft.Draft, watch *types.WatchTrigger, result dryrun.Result) {
	if watch == nil || watch.Remaining == 1 || watch.Cooldown > 1 {
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
func when(d *draft.Draft, t *types.Trigger) string {
	switch {
	case t.Interval != nil:
		text := "every " + plain.Count(t.Interval.Every, "block")
		if t.Interval.First != 0 {
			text += fmt.Sprintf(" from height %d on", t.Interval.First)
		}
		return text + times(t.Interval.Remaining)
	case t.Watch != nil:
		return "when " + words.Watched(t.Watch.Keys, d.Watched) + times(t.Watch.Remaining)
	case t.After != 0:
		return plain.Count(t.After, "block") + " after the one that schedules it"
	default:
		return fmt.Sprintf("at height %d", t.Height)
	}
}

// again says what becomes of a fire that fails, in words.
func again(r *types.Retry) string {
	if r == nil {
		return ""
	}
	text := "; if it fails, again after " + plain.Count(r.After, "block")
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
