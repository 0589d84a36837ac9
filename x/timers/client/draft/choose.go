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
	// FlagSelector selects the signer's timers by what they have in common.
	FlagSelector = "selector"
	// SelectLabel is what stands before the label in it.
	SelectLabel = "label="
	// maxTimers bounds how many timers one transaction changes, so that it fits into a block.
	maxTimers = 100
)

// AddSelectorFlags adds the flags that select timers.
func AddSelectorFlags(f *pflag.FlagSet) {
	f.String(FlagSelector, "", fmt.Sprintf("%sTEXT: all your live timers with this label, at most %d in a transaction", SelectLabel, maxTimers))
	f.String(flagActor, "", "with --"+FlagSelector+": of those that you scheduled for this contract as its admin")
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

// choose finds the signer's timers that a command is about: those that are named, those of --selector, or all.
func (d *Draft) choose(c choice) ([]job.Owned, error) {
	var offered []string
	for _, flag := range []string{flagAll, FlagSelector} {
		if d.Flags.Lookup(flag) != nil {
			offered = append(offered, flag)
		}
	}
	flag, text, err := d.OneOf("which timers to "+c.verb, false, offered...)
	if flag == flagAll && text != "true" {
		flag = ""
	}
	contract, _ := d.Stated(flagActor)
	switch {
	case err != nil:
		return nil, err
	case flag != "" && len(c.names) > 0:
		return nil, fmt.Errorf("%q is stated beside --%s: want one of them", c.names[0], flag)
	case flag != "" && d.Offline:
		return nil, fmt.Errorf("--%s needs a node, which knows your timers", flag)
	case flag != "":
		return d.selected(c, flag, text, contract)
	case contract != "":
		return nil, fmt.Errorf("--%s goes with %s: name one timer as CONTRACT/ID-PREFIX", flagActor, listOr(offered))
	case len(c.names) == 0 && c.most == 1:
		return nil, fmt.Errorf("the timer to %s is missing: want its id or its label, or %s", c.verb, listOr(offered))
	case len(c.names) == 0:
		return nil, fmt.Errorf("the timers to %s are missing: want ids or labels, one or more, or %s", c.verb, listOr(offered))
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

func listOr(names []string) string {
	return strings.ReplaceAll(job.ListFlags(names), ", ", " or ")
}

// selected are the signer's live timers that --all or --selector says, or those that the signer scheduled for a contract: as
// many as one transaction takes. There is no index of who scheduled what, nor of labels: the actor's whole list is read.
func (d *Draft) selected(c choice, flag, text, contract string) ([]job.Owned, error) {
	contract, err := d.accountOf(flagActor, contract)
	if err != nil {
		return nil, err
	}
	label, isLabel := strings.CutPrefix(text, SelectLabel)
	yours := "timers"
	if contract != "" {
		yours = "timers of " + contract
	}
	if flag == FlagSelector {
		if !isLabel || label == "" || types.CheckLabel(label) != nil {
			return nil, fmt.Errorf("--%s %.100q: want %sTEXT, a label", FlagSelector, text, SelectLabel)
		}
		yours += fmt.Sprintf(" with the label %q", label)
	}
	var found, left []types.TimerInfo
	var why []string
	err = d.EachTimer(cmp.Or(contract, d.Signer.Text), func(t *types.TimerInfo) {
		if contract != "" && t.Scheduler != d.Signer.Text || flag == FlagSelector && t.Spec.Name != label {
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
		owned[i] = job.Owned{ID: found[i].Id, Actor: contract, Live: &found[i]}
	}
	return owned, nil
}
