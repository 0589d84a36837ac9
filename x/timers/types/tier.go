package types

import "github.com/cosmos-timers/timers/x/timers/schedule"

// TierOf is the tier of a due height, seen from the height now.
func (c *TimerConfig) TierOf(due, now uint64) TimerTier {
	sizes := schedule.TierSizes{RingSize: c.RingSize, EpochBlocks: c.EpochBlocks, EpochHorizon: c.EpochHorizon}
	switch sizes.TierOf(due, now) {
	case schedule.Near:
		return TimerTierNear
	case schedule.Epoch:
		return TimerTierEpoch
	default:
		return TimerTierFar
	}
}
