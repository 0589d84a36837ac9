package draft

import (
	"fmt"

	"github.com/spf13/pflag"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// AddCancelFlags adds the flags that Cancel reads.
func AddCancelFlags(f *pflag.FlagSet) {
	f.Bool(flagAll, false, fmt.Sprintf("cancel all your live timers, at most %d in a transaction", maxTimers))
	AddSelectorFlags(f)
	f.Lookup(flagActor).Usage = "with --" + flagAll + " or --" + FlagSelector + ": of those that you scheduled for this contract as its admin"
}

// Cancel reads which of the signer's timers to cancel: those that are named, those with a label, or all.
func (d *Draft) Cancel(names []string) ([]sdk.Msg, error) {
	timers, err := d.choose(choice{verb: "cancel", names: names, most: maxTimers, again: true})
	if err != nil {
		return nil, err
	}
	msgs := make([]sdk.Msg, len(timers))
	seen := map[string]bool{}
	for i, timer := range timers {
		if seen[timer.ID] {
			return nil, fmt.Errorf("timer %s is named twice", timer.ID)
		}
		seen[timer.ID] = true
		msgs[i] = &types.MsgCancelTimer{Sender: d.Signer.Text, Id: timer.ID, Actor: timer.Actor}
	}
	return msgs, nil
}
