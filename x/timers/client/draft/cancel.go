package draft

import (
	"cmp"
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Cancel reads which of the signer's timers to cancel: those that are named, or all.
func (d *Draft) Cancel(names []string) ([]sdk.Msg, error) {
	timers, err := d.choose(choice{verb: "cancel", names: names, most: maxTimers, again: true})
	if err != nil {
		return nil, err
	}
	msgs := make([]sdk.Msg, len(timers))
	seen := map[string]bool{}
	for i, timer := range timers {
		name := cmp.Or(timer.ID, timer.Name)
		if seen[name] {
			return nil, fmt.Errorf("timer %s is named twice", name)
		}
		seen[name] = true
		msgs[i] = &types.MsgCancelTimer{Sender: d.Signer.Text, Id: timer.ID, Name: timer.Name, Actor: timer.Actor}
	}
	return msgs, nil
}
