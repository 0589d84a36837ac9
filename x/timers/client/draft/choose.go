package draft

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagAll = "all"
	// maxTimers bounds how many timers one transaction changes, so that it fits into a block.
	maxTimers = 100
)

// AddAllFlags adds the flags that select timers.
func AddAllFlags(f *pflag.FlagSet) {
	f.Bool(flagAll, false, fmt.Sprintf("all your live timers, at most %d in a transaction", maxTimers))
	f.String(FlagActor, "", "with --"+flagAll+": of those that you scheduled for this contract as its admin")
}

// choice is which timers a command is about.
type choice struct {
	verb string
	// names that were stated, and how many may be.
	names []string
	most  int
	// takes says why a command does not take one of the timers that are selected; nil if it takes all.
	takes func(*types.TimerInfo) error
	// again: repeating the command takes those that did not fit into a transaction.
	again bool
}

// choose finds the signer's timers that a command is about: those that are named, or all.
func (d *Draft) choose(c choice) ([]job.Owned, error) {
	all, err := d.Flags.GetBool(flagAll)
	if err != nil {
		return nil, err
	}
	contract, _ := d.Stated(FlagActor)
	switch {
	case all && len(c.names) > 0:
		return nil, fmt.Errorf("%q is stated beside --%s: want one of them", c.names[0], flagAll)
	case all && d.Offline:
		return nil, fmt.Errorf("--%s needs a node, which knows your timers", flagAll)
	case all:
		return d.all(c, contract)
	case contract != "":
		return nil, fmt.Errorf("--%s goes with --%s: name one timer as CONTRACT/ID-PREFIX", FlagActor, flagAll)
	case len(c.names) == 0 && c.most == 1:
		return nil, fmt.Errorf("the timer to %s is missing: want its id or its name, or --%s", c.verb, flagAll)
	case len(c.names) == 0:
		return nil, fmt.Errorf("the timers to %s are missing: want ids or names, one or more, or --%s", c.verb, flagAll)
	case len(c.names) > c.most:
		return nil, fmt.Errorf("%d timers are too many for one transaction: want at most %d", len(c.names), c.most)
	}
	timers := make([]job.Owned, len(c.names))
	for i, name := range c.names {
		if timers[i], err = d.OwnTimer(name); err != nil {
			return nil, err
		}
	}
	return timers, nil
}

// all are the signer's live timers, or those that the signer scheduled for a contract: as many as one transaction takes.
func (d *Draft) all(c choice, contract string) ([]job.Owned, error) {
	contract, err := d.accountOf(FlagActor, contract)
	if err != nil {
		return nil, err
	}
	yours := "timers"
	if contract != "" {
		yours = "timers of " + contract
	}
	var found, left []types.TimerInfo
	var why []string
	err = d.EachTimer(cmp.Or(contract, d.Signer.Text), func(t *types.TimerInfo) {
		if contract != "" && t.Scheduler != d.Signer.Text {
			return
		}
		if c.takes != nil {
			if refused := c.takes(t); refused != nil {
				left, why = append(left, *t), append(why, refused.Error())
				return
			}
		}
		found = append(found, *t)
	})
	if err != nil {
		return nil, err
	}
	if len(left) > 0 && len(found) > 0 {
		d.Notef("leaves out %s:\n%s", plain.Count(uint64(len(left)), "timer"), d.Rows(left))
	}
	switch all := uint64(len(found)); {
	case len(left) > 0 && len(found) == 0:
		return nil, fmt.Errorf("there is nothing to %s: %s", c.verb, strings.Join(why[:min(len(why), 3)], "; "))
	case len(found) == 0:
		return nil, fmt.Errorf("you have no live %s: there is nothing to %s", yours, c.verb)
	case len(found) > maxTimers && !c.again:
		return nil, fmt.Errorf("you have %d %s, and one transaction takes %d: name those to %s by their ids", all, yours, maxTimers, c.verb)
	case len(found) > maxTimers:
		d.Notef("%ss %d of your %d %s: repeat the command for the others", c.verb, maxTimers, all, yours)
		found = found[:maxTimers]
	default:
		d.Notef("%ss all your %s: %d", c.verb, yours, all)
	}
	owned := make([]job.Owned, len(found))
	for i := range found {
		d.Notef("  %s", d.Row(&found[i]))
		owned[i] = job.Owned{ID: found[i].Id, Name: found[i].Spec.Name, Actor: contract, Live: &found[i]}
	}
	return owned, nil
}
