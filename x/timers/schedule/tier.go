package schedule

// TierSizes are those of the tiers in which queries and events report the distance of a timer. The product of the two sizes
// of epochs must not overflow.
type TierSizes struct {
	// RingSize is the number of blocks of the near tier.
	RingSize uint64
	// EpochBlocks is the number of blocks of an epoch, and EpochHorizon the number of epochs of the middle tier.
	EpochBlocks, EpochHorizon uint64
}

// Tier is the distance of an entry's due height, in three steps. It is a function of (due, now) and the sizes alone. It is not
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
func (s TierSizes) TierOf(due, now uint64) Tier {
	switch {
	case due <= now || due-now <= s.RingSize:
		return Near
	case due-now <= s.EpochBlocks*s.EpochHorizon:
		return Epoch
	default:
		return Far
	}
}
