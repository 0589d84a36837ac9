package draft

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagAll = "all"
	// maxCancels bounds how many timers one transaction cancels, so that it fits into a block.
	maxCancels = 100
)

// AddCancelFlags adds the flags that Cancel reads.
func AddCancelFlags(f *pflag.FlagSet) {
	f.Bool(flagAll, false, fmt.Sprintf("cancel all your live timers, at most %d in a transaction", maxCancels))
}

// Cancel reads which of the signer's timers to cancel: those that are named, or all.
func (d *Draft) Cancel(names []string) ([]sdk.Msg, error) {
	text, given := d.Stated(flagAll)
	all := given && text == "true"
	switch {
	case all && len(names) > 0:
		return nil, fmt.Errorf("%q is stated beside --%s: want one of them", names[0], flagAll)
	case all && d.Offline:
		return nil, fmt.Errorf("--%s needs a node, which knows your timers", flagAll)
	case !all && len(names) == 0:
		return nil, fmt.Errorf("the timers to cancel are missing: want ID-PREFIX, one or more, or --%s", flagAll)
	case len(names) > maxCancels:
		return nil, fmt.Errorf("%d timers are too many for one transaction: want at most %d", len(names), maxCancels)
	}
	ids := make([]string, len(names))
	for i, name := range names {
		id, err := d.OwnTimer(name)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	if all {
		var err error
		if ids, err = d.allTimers(); err != nil {
			return nil, err
		}
	}
	msgs := make([]sdk.Msg, len(ids))
	seen := map[string]bool{}
	for i, id := range ids {
		if seen[id] {
			return nil, fmt.Errorf("timer %s is named twice", id)
		}
		seen[id] = true
		msgs[i] = &types.MsgCancelTimer{Sender: d.Signer.Text, Id: id}
	}
	return msgs, nil
}

// allTimers are the ids of the signer's live timers, as many as one transaction cancels.
func (d *Draft) allTimers() ([]string, error) {
	var ids []string
	client := types.NewQueryClient(d.Context)
	for page := (&query.PageRequest{Limit: maxCancels}); ; {
		found, err := client.TimersByActor(d.Ctx, &types.QueryTimersByActorRequest{Actor: d.Signer.Text, Pagination: page})
		if err != nil {
			return nil, fmt.Errorf("list your timers: %s", plain.ServerSays(err))
		}
		for i := range found.Timers {
			if len(ids) < maxCancels {
				ids = append(ids, found.Timers[i].Id)
			}
		}
		next := found.Pagination.GetNextKey()
		if len(ids) < maxCancels && len(next) > 0 && len(found.Timers) > 0 {
			page = &query.PageRequest{Limit: maxCancels, Key: next}
			continue
		}
		switch {
		case len(ids) == 0:
			return nil, errors.New("you have no live timers: there is nothing to cancel")
		case int(found.Total) > len(ids):
			d.Notef("cancels %d of your %d timers: repeat the command for the others", len(ids), found.Total)
		default:
			d.Notef("cancels all your timers: %d", len(ids))
		}
		return ids, nil
	}
}
