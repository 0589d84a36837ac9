package tip

import (
	rules "github.com/cosmos-timers/timers/x/timers/market/tip"
)

// epochAt is the epoch of a height, not before the start of the state's; 0 if the policy was never in force.
func epochAt(s *State, height uint64) uint64 {
	if s.EpochBlocks == 0 {
		return 0
	}
	return s.Epoch + (height-s.Start)/s.EpochBlocks
}

// endOf is the last height of the epoch of a height.
func endOf(s *State, height uint64) uint64 {
	return s.Start + ((height-s.Start)/s.EpochBlocks+1)*s.EpochBlocks - 1
}

// follow has epochs go on with another length, if it is another: from the height on, in a new epoch, so that what was
// counted with the old length stands.
func follow(s *State, epochBlocks, height uint64) {
	if s.EpochBlocks == epochBlocks {
		return
	}
	s.Epoch, s.Start, s.EpochBlocks = epochAt(s, max(height, s.Start+1)-1)+1, height, epochBlocks
}

// statsOf are what a record says of its epoch.
func statsOf(w *Weight) rules.EpochStats {
	return rules.EpochStats{
		Fires: w.Fires, Blocks: w.Blocks, Unfunded: w.Unfunded,
		Tip: w.Tip, Outcome: w.Outcome, Lateness: w.Lateness, Use: w.Use, Starved: w.Starved,
	}
}

// setStats has a record say this of its epoch.
func setStats(w *Weight, o rules.EpochStats) {
	w.Fires, w.Blocks, w.Unfunded = o.Fires, o.Blocks, o.Unfunded
	w.Tip, w.Outcome, w.Lateness, w.Use, w.Starved = o.Tip, o.Outcome, o.Lateness, o.Use, o.Starved
}

// historyOf is a record as the rule of weights reads it.
func historyOf(w *Weight) rules.History {
	return rules.History{Weight: w.Weight, Epoch: w.Epoch, Stats: statsOf(w)}
}
