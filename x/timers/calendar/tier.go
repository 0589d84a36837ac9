package calendar

// Sizes of the tiers that a timer's distance is reported in, in blocks; EpochHorizon is in epochs.
const (
	RingSize     = 256
	EpochBlocks  = 3_600
	EpochHorizon = 24 * 30
)

// Tier tells how far away an entry is. It is a function of (due, now) alone; nothing is stored by tier.
type Tier int

const (
	// Near: within RingSize blocks, or due already.
	Near Tier = iota
	// Epoch: within EpochHorizon epochs of EpochBlocks each.
	Epoch
	// Far: beyond.
	Far
)

// TierOf returns the tier of an entry due at one height, seen from another.
func TierOf(due, now uint64) Tier {
	switch {
	case due <= now || due-now <= RingSize:
		return Near
	case due-now <= EpochBlocks*EpochHorizon:
		return Epoch
	default:
		return Far
	}
}
