package types

import "github.com/cosmos-timers/timers/x/timers/calendar"

// TierOf is the tier of a due height, seen from the height now.
func (c *TimerConfig) TierOf(due, now uint64) TimerTier {
	sizes := calendar.Sizes{RingSize: c.RingSize, EpochBlocks: c.EpochBlocks, EpochHorizon: c.EpochHorizon}
	switch sizes.TierOf(due, now) {
	case calendar.Near:
		return TimerTierNear
	case calendar.Epoch:
		return TimerTierEpoch
	default:
		return TimerTierFar
	}
}
