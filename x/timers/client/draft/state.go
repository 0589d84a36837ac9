package draft

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/cosmos/cosmos-sdk/client/input"

	"github.com/cosmos-timers/timers/x/timers/client/job"
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

// confirmShortening says from where to where an extension moves the last height of a timer, and asks before it moves it
// down, unless all questions are answered beforehand.
func (d *Draft) confirmShortening(timer *types.TimerInfo, to uint64) error {
	text := ""
	if c, err := d.Clock(); err == nil {
		text = ": " + c.Describe(to)
		if moment := c.Moment(to, time.Local); moment != "" {
			text += "; expected at " + moment
		}
	}
	d.Notef("may fire until height %d, not %d%s", to, timer.ExpiresAt, text)
	switch {
	case to == timer.ExpiresAt:
		return fmt.Errorf("timer %s may fire until height %d already: nothing would change", timer.Id, to)
	case to < timer.Due && timer.SetAside == types.NotSetAside:
		return fmt.Errorf("height %d is below the height %d at which timer %s is due: it would never fire. To end it, cancel it", to, timer.Due, timer.Id)
	case to > timer.ExpiresAt:
		return nil
	}
	d.Notef("warning: this shortens its life by %d blocks", timer.ExpiresAt-to)
	if d.SkipConfirm || d.GenerateOnly || d.Simulate || d.IsAux {
		return nil
	}
	yes, err := input.GetConfirmation("shorten it?", bufio.NewReader(d.Stdin), d.Notes)
	if err != nil {
		return err
	}
	if !yes {
		return errors.New("not extended: you did not want it shortened")
	}
	return nil
}
