package draft

import (
	"cmp"
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Pause names one of the signer's timers to set aside. It refuses one that is set aside already.
func (d *Draft) Pause(name string) (*types.MsgPauseTimer, *types.TimerInfo, error) {
	owned, timer, err := d.ownLive(name)
	if err != nil {
		return nil, nil, err
	}
	if timer != nil && timer.Status == types.TimerStatusSetAside && timer.SetAside != types.Watching {
		return nil, nil, fmt.Errorf("timer %s is set aside already: it is %s", owned.ID, timer.SetAside.Word())
	}
	return &types.MsgPauseTimer{Sender: d.Signer.Text, Id: owned.ID, Actor: owned.Actor}, timer, nil
}

// Resume names one of the signer's timers to put back. It refuses one that nobody set aside, or that its owner can't put
// back.
func (d *Draft) Resume(name string) (*types.MsgResumeTimer, *types.TimerInfo, error) {
	owned, timer, err := d.ownLive(name)
	if err != nil {
		return nil, nil, err
	}
	if timer != nil {
		id := owned.ID
		switch timer.SetAside {
		case types.Paused, types.Suspended, types.Unfunded, types.PricedOut:
		case types.Quarantined:
			return nil, nil, fmt.Errorf("timer %s is quarantined: only governance releases it", id)
		case types.Watching:
			return nil, nil, fmt.Errorf("timer %s is not set aside: it waits for what it watches to change", id)
		case types.NotSetAside:
			return nil, nil, fmt.Errorf("timer %s is not set aside: it is due at height %d", id, timer.Due)
		default:
			return nil, nil, fmt.Errorf("timer %s is %s: it returns by itself, or after an update", id, timer.SetAside.Word())
		}
	}
	return &types.MsgResumeTimer{Sender: d.Signer.Text, Id: owned.ID, Actor: owned.Actor}, timer, nil
}

// ownLive reads the name of a timer that the signer may change, and asks for it where there is a node.
func (d *Draft) ownLive(name string) (owned job.Owned, timer *types.TimerInfo, err error) {
	if owned, err = d.OwnTimer(name); err != nil || d.Offline {
		return owned, nil, err
	}
	found, err := job.Resolve(d.Ctx, types.NewQueryClient(d.Context), cmp.Or(owned.Actor, d.Signer.Text), owned.ID)
	if err != nil {
		return owned, nil, err
	}
	return owned, &found, nil
}

// checkEnd says from where to where a change moves the last height of a timer, as the chain will: it clamps what is beyond
// the longest life. It refuses what changes nothing, what makes the timer end before it is due, and an end before the present
// one that is not meant.
func (d *Draft) checkEnd(timer *types.TimerInfo, to uint64) error {
	c, err := d.Clock()
	if err != nil {
		return err
	}
	params, err := types.NewQueryClient(d.Context).Params(d.Ctx, &types.QueryParamsRequest{})
	if err != nil {
		return fmt.Errorf("ask for the chain's config: %s", plain.ServerSays(err))
	}
	if longest := c.Height + 1 + params.Config.MaxTtlBlocks; to > longest {
		d.Notef("a timer lives at most %s: the chain takes %s for %s",
			c.Pace.Describe(params.Config.MaxTtlBlocks), d.Date(longest), d.Date(to))
		to = longest
	}
	stated, given := d.Stated(flagShorten)
	shorten := given && stated == "true"
	switch {
	case to == timer.ExpiresAt:
		return fmt.Errorf("timer %s may fire until %s already: nothing would change", timer.Id, d.Date(to))
	case to < timer.Due && timer.SetAside == types.NotSetAside:
		return fmt.Errorf("%s is before %s, when timer %s is due: it would never fire. To end it, cancel it", d.Date(to), d.Date(timer.Due), timer.Id)
	case to < timer.ExpiresAt && !shorten:
		return fmt.Errorf("timer %s may fire until %s already, which is later than %s: --%s lets it end sooner", timer.Id, d.Date(timer.ExpiresAt), d.Date(to), flagShorten)
	}
	d.Notef("may fire until %s, not %s: %s", d.Date(to), d.Date(timer.ExpiresAt), c.Describe(to))
	if interval := timer.Trigger.Interval; interval != nil && interval.Remaining > 0 && timer.SetAside == types.NotSetAside {
		if fit := Fit(timer.Due, interval.Every, to); fit < interval.Remaining {
			d.Notef("%s of the %s that it is to make fit", plain.Count(fit, "fire"), plain.Thousands(interval.Remaining))
		}
	}
	return nil
}
