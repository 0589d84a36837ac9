package govern

import (
	_ "embed"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// parameters has a line for each parameter: its name, a tab, and what it does, as the reference's tables say.
//
//go:embed parameters.txt
var parameters string

// meaningOf is what a parameter does; empty for one that is not known here.
func meaningOf(name string) string {
	if meaning := lineOf(name); meaning != "" {
		return meaning
	}
	// One of several that are told of together, such as priority_tiers.fast.
	whole, _, _ := strings.Cut(name, ".")
	return lineOf(whole)
}

func lineOf(name string) string {
	for _, line := range strings.Split(parameters, "\n") {
		if known, meaning, _ := strings.Cut(strings.TrimSpace(line), "\t"); known == name {
			return meaning
		}
	}
	return ""
}

// explain says what parameters do, and of those that have no effect under the policy of a config which are in force instead.
func explain(j *job.Job, config *types.TimerConfig, names []string) {
	height := ^uint64(0)
	if !j.Offline {
		if ahead, err := outlook.Ask(j); err == nil {
			height = ahead.Prices.Height
		}
	}
	for _, name := range names {
		if meaning := meaningOf(name); meaning != "" {
			j.Notef("%s: %s", name, meaning)
		}
		if note := bids.NoEffect(config, name, height); note != "" {
			j.Notef("warning: %s", note)
		}
	}
}
