package calendar

// Sizes of the tiers in which queries report the distance of a timer.
const (
	// RingSize is the number of blocks of the near tier.
	RingSize = 256
	// EpochBlocks is the number of blocks of an epoch: an hour at a block a second.
	EpochBlocks = 3_600
	// EpochHorizon is the number of epochs of the middle tier: 30 days at a block a second.
	EpochHorizon = 24 * 30
)

// Tier is the distance of an entry's due height, in three steps. It is a function of (due, now) alone. It is not
// stored, so that the passing of time changes no state.
type Tier int

const (
	// Near: within RingSize blocks, or due already.
	Near Tier = iota
	// Epoch: within EpochHorizon epochs of EpochBlocks each.
	Epoch
	// Far: beyond.
	Far
)

// TierOf returns the tier of an entry that is due at one height, seen from the height now. An overdue entry is near.
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
