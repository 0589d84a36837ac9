package draft

import (
	"cmp"
	"fmt"
	"time"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Pause reads which of the signer's timers to put on hold. It refuses one that is on hold already, and leaves out such of
// those that are selected.
func (d *Draft) Pause(names []string) ([]sdk.Msg, error) {
	timers, err := d.chooseLive(choice{verb: "pause", names: names, takes: pausable, again: true})
	if err != nil {
		return nil, err
	}
	msgs := make([]sdk.Msg, len(timers))
	for i, timer := range timers {
		msgs[i] = &types.MsgPauseTimer{Sender: d.Signer.Text, Id: timer.ID, Name: timer.Name, Actor: timer.Actor}
	}
	return msgs, nil
}

func pausable(timer *types.TimerInfo) error {
	if timer.Status.Phase == types.PhaseOnHold && timer.Status.HoldReason != types.Watching {
		return fmt.Errorf("timer %s is on hold already: it is %s", timer.Id, timer.Status.HoldReason.Word())
	}
	return nil
}

// Resume reads which of the signer's timers to put back, and returns them where there is a node. It refuses one that no one
// on hold, or that its owner can't put back, and leaves out such of those that are selected.
func (d *Draft) Resume(names []string) ([]sdk.Msg, []job.Owned, error) {
	timers, err := d.chooseLive(choice{verb: "resume", names: names, takes: d.resumable, again: true})
	if err != nil {
		return nil, nil, err
	}
	msgs := make([]sdk.Msg, len(timers))
	for i, timer := range timers {
		if timers[i].Live, err = d.whole(timer); err != nil {
			return nil, nil, err
		}
		msgs[i] = &types.MsgResumeTimer{Sender: d.Signer.Text, Id: timer.ID, Name: timer.Name, Actor: timer.Actor, At: d.ResumeAt()}
	}
	return msgs, timers, nil
}

func (d *Draft) resumable(timer *types.TimerInfo) error {
	id := timer.Id
	switch timer.Status.HoldReason {
	case types.Paused, types.Suspended, types.Unfunded, types.PricedOut:
		return nil
	case types.Quarantined:
		return fmt.Errorf("timer %s is quarantined: only governance releases it", id)
	case types.Watching:
		return fmt.Errorf("timer %s is not on hold: it waits for what it watches to change", id)
	case types.NotOnHold:
		return fmt.Errorf("timer %s is not on hold: it is due at height %d", id, timer.Status.Due)
	case types.Timed:
		return fmt.Errorf("timer %s is not on hold: it is due at %s", id, d.Stamp(timer.Status.DueTime))
	default:
		return fmt.Errorf("timer %s is %s: it returns by itself, or after an update", id, timer.Status.HoldReason.Word())
	}
}

// chooseLive finds the one timer that is named, or those that are selected, and asks for them where there is a node.
func (d *Draft) chooseLive(c choice) ([]job.Owned, error) {
	c.most = 1
	timers, err := d.choose(c)
	if err != nil || d.Offline {
		return timers, err
	}
	for i := range timers {
		timer := &timers[i]
		if timer.Live == nil {
			if timer.Live, err = d.whole(*timer); err != nil {
				return nil, err
			}
		}
		if c.takes != nil {
			if err := c.takes(timer.Live); err != nil {
				return nil, err
			}
		}
	}
	return timers, nil
}

// whole is a timer with its messages, which lists leave out; nil without a node.
func (d *Draft) whole(timer job.Owned) (*types.TimerInfo, error) {
	if d.Offline || timer.Live != nil && len(timer.Live.Spec.Call.Messages) > 0 {
		return timer.Live, nil
	}
	found, err := job.Resolve(d.Ctx, types.NewQueryClient(d.Context), cmp.Or(timer.Actor, d.Signer.Text), timer.ID)
	return &found, err
}

// longestEnd is the last height to which a change can move that of a timer.
func (d *Draft) longestEnd() (longest, blocks uint64, err error) {
	c, err := d.Clock()
	if err != nil {
		return 0, 0, err
	}
	config, err := d.chain()
	if err != nil {
		return 0, 0, err
	}
	return c.Height + 1 + config.MaxTtlBlocks, config.MaxTtlBlocks, nil
}

// checkEnd says from where to where a change moves the last height of a timer, as the chain will: it clamps what is beyond
// the longest life. It refuses what changes nothing, what makes the timer end before it is due, and an end before the present
// one that is not meant.
func (d *Draft) checkEnd(timer *types.TimerInfo, to, longest, life uint64) error {
	c, err := d.Clock()
	if err != nil {
		return err
	}
	if to > longest {
		d.Notef("a timer lives at most %s: the chain takes %s for %s", c.Pace.Describe(life), d.Date(longest), d.Date(to))
		to = longest
	}
	stated, given := d.Stated(flagShorten)
	shorten := given && stated == "true"
	switch {
	case to == timer.Status.ExpiresAt:
		return fmt.Errorf("timer %s may fire until %s already: nothing would change", timer.Id, d.Date(to))
	case to < timer.Status.Due && timer.Status.HoldReason == types.NotOnHold:
		return fmt.Errorf("%s is before %s, when timer %s is due: it would never fire. To end it, cancel it", d.Date(to), d.Date(timer.Status.Due), timer.Id)
	case to < timer.Status.ExpiresAt && !shorten:
		return fmt.Errorf("timer %s may fire until %s already, which is later than %s: --%s lets it end sooner", timer.Id, d.Date(timer.Status.ExpiresAt), d.Date(to), flagShorten)
	}
	before := ""
	if timer.Status.ExpiresAt != 0 {
		before = ", not " + d.Date(timer.Status.ExpiresAt)
	}
	d.Notef("timer %s may fire until %s%s: %s", timer.Id, d.Date(to), before, c.Describe(to))
	if interval := timer.Spec.Trigger.Interval; interval != nil && timer.Status.Left > 0 && timer.Status.HoldReason == types.NotOnHold {
		if fit := course.Fit(timer.Status.Due, interval.Every, to); fit < timer.Status.Left {
			d.Notef("%s of the %s that it is to make fit", plain.Count(fit, "fire"), plain.Thousands(timer.Status.Left))
		}
	}
	return nil
}

// endsByTime tells whether a timer ends at a time, or is one that should.
func endsByTime(timer *types.TimerInfo) bool {
	return timer.Status.ExpiresTime != 0 || timer.Spec.Trigger.ByTime()
}

// checkEndTime is checkEnd for the last time at which a timer may fire, in seconds since 1970.
func (d *Draft) checkEndTime(timer *types.TimerInfo, to int64) error {
	c, err := d.Clock()
	if err != nil {
		return err
	}
	config, err := d.chain()
	if err != nil {
		return err
	}
	if longest := c.Present().Unix() + int64(config.MaxTtlSeconds); to > longest {
		d.Notef("a timer lives at most %s: the chain takes %s for %s", life(config), d.Stamp(longest), d.Stamp(to))
		to = longest
	}
	stated, given := d.Stated(flagShorten)
	shorten := given && stated == "true"
	switch {
	case to == timer.Status.ExpiresTime:
		return fmt.Errorf("timer %s may fire until %s already: nothing would change", timer.Id, d.Stamp(to))
	case to < timer.Status.DueTime && timer.Status.HoldReason == types.Timed:
		return fmt.Errorf("%s is before %s, when timer %s is due: it would never fire. To end it, cancel it", d.Stamp(to), d.Stamp(timer.Status.DueTime), timer.Id)
	case to < timer.Status.ExpiresTime && !shorten:
		return fmt.Errorf("timer %s may fire until %s already, which is later than %s: --%s lets it end sooner", timer.Id, d.Stamp(timer.Status.ExpiresTime), d.Stamp(to), flagShorten)
	}
	before := ""
	if timer.Status.ExpiresTime != 0 {
		before = ", not " + d.Stamp(timer.Status.ExpiresTime)
	}
	d.Notef("timer %s may fire until %s%s", timer.Id, d.Stamp(to), before)
	after := *timer
	after.Status.ExpiresAt, after.Status.ExpiresTime = 0, to
	if left := timer.Status.Left; left > 1 {
		if fit, exact := course.OfTimer(&after, c).Fit(time.Unix(to, 0)); exact && fit < left {
			d.Notef("%s of the %s that it is to make fit", plain.Count(fit, "fire"), plain.Thousands(left))
		}
	}
	if calendar := timer.Spec.Trigger.Calendar; calendar != nil && len(calendar.Transitions) > 0 {
		if last := calendar.Transitions[len(calendar.Transitions)-1].From; last < to {
			d.Notef("it knows no change of its zone's clocks after %s: schedule it again to follow later ones", d.Stamp(last))
		}
	}
	return nil
}

// life is the longest life of a timer by time, as people say it.
func life(config *types.TimerConfig) string {
	return timespan.ForPeople(time.Duration(config.MaxTtlSeconds) * time.Second)
}
