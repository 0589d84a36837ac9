package draft

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/job"
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
	f.String(flagActor, "", "with --"+flagAll+": cancel all that you scheduled for this contract as its admin")
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
	contract, _ := d.Stated(flagActor)
	if contract != "" && !all {
		return nil, fmt.Errorf("--%s goes with --%s: name one timer as CONTRACT/ID-PREFIX", flagActor, flagAll)
	}
	timers := make([]job.Owned, len(names))
	for i, name := range names {
		owned, err := d.OwnTimer(name)
		if err != nil {
			return nil, err
		}
		timers[i] = owned
	}
	if all {
		actor, err := d.accountOf(flagActor, contract)
		if err != nil {
			return nil, err
		}
		if timers, err = d.allTimers(actor); err != nil {
			return nil, err
		}
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

// allTimers are the signer's live timers, or those that the signer scheduled for a contract: as many as one transaction
// cancels. There is no index of who scheduled what, so that a contract's whole list is read.
func (d *Draft) allTimers(contract string) ([]job.Owned, error) {
	var timers []job.Owned
	left := uint64(0)
	client := types.NewQueryClient(d.Context)
	for page := (&query.PageRequest{Limit: maxCancels}); ; {
		found, err := client.TimersByActor(d.Ctx, &types.QueryTimersByActorRequest{Actor: cmp.Or(contract, d.Signer.Text), Pagination: page})
		if err != nil {
			return nil, fmt.Errorf("list your timers: %s", plain.ServerSays(err))
		}
		for i := range found.Timers {
			if contract != "" && found.Timers[i].Scheduler != d.Signer.Text {
				continue
			}
			if len(timers) == maxCancels {
				left++
				continue
			}
			timers = append(timers, job.Owned{ID: found.Timers[i].Id, Actor: contract})
		}
		if next := found.Pagination.GetNextKey(); len(next) > 0 && len(found.Timers) > 0 {
			page = &query.PageRequest{Limit: maxCancels, Key: next}
			continue
		}
		yours := "timers"
		if contract != "" {
			yours = "timers of " + contract
		}
		switch {
		case len(timers) == 0:
			return nil, fmt.Errorf("you have no live %s: there is nothing to cancel", yours)
		case left > 0:
			d.Notef("cancels %d of your %d %s: repeat the command for the others", len(timers), uint64(len(timers))+left, yours)
		default:
			d.Notef("cancels all your %s: %d", yours, len(timers))
		}
		return timers, nil
	}
}
