package types

import (
	"regexp"

	"cosmossdk.io/errors"
	"cosmossdk.io/math"
)

// Bounds of the config itself. They are generous: they keep sums within 64 bits and work within a block, and leave the
// rest to the chain.
const (
	// MaxBlocks bounds every distance in blocks, so that height + distance can't overflow.
	MaxBlocks = uint64(1) << 40
	// MaxTtlSeconds bounds every distance in seconds: a century.
	MaxTtlSeconds = uint64(100 * 366 * 86_400)
	// maxUnfundedSkips bounds max_unfunded_skips.
	maxUnfundedSkips = uint32(1) << 16
	// maxDistance bounds the sizes of the tiers, so that products of two can't overflow.
	maxDistance = uint64(1) << 30
	// MaxUnits bounds every number of cycles and cells, so that the sum of a block's fires can't overflow.
	MaxUnits = uint64(1) << 50
	// maxWindow bounds what a block reads.
	maxWindow = uint32(1) << 16
	// maxTimersPerActor bounds what listing an actor's timers reads.
	maxTimersPerActor = uint32(2048)
	// MaxPayloadBytes bounds what scheduling stores and a fire reads.
	MaxPayloadBytes = uint64(1) << 20
	// maxCyclesPerByte bounds what a byte of a payload counts, so that the count of the longest one can't overflow.
	maxCyclesPerByte = uint64(1) << 20
	// leastPayerRecordBytes leaves room for a plain account and a plain allowance.
	leastPayerRecordBytes = uint64(512)
	// maxReservedActors bounds the list of reserved actors, which is read with the config in every block.
	maxReservedActors = 64
	// maxMessageRules bounds the lists of message types, which are read with the config in every block.
	maxMessageRules = 256
	// maxTypeURLBytes bounds one message type.
	maxTypeURLBytes = 256
	// maxBackoff, maxRetryErrors and maxCodespaceBytes bound what a retry states.
	maxBackoff        = 4
	maxRetryErrors    = 8
	maxCodespaceBytes = 64
	// MaxOnlyIf bounds the conditions of a timer's only_if.
	MaxOnlyIf = 2
	// MaxSkipped bounds what one message skips.
	MaxSkipped = uint32(1_000)
	// maxRetries bounds max_retries.
	maxRetries = uint32(1) << 16
	// maxTierMultiplier bounds a tier's multiple of the usual tip.
	maxTierMultiplier = 1_000
	// MaxWeight bounds the fairness weight.
	MaxWeight = 8
	// maxFairnessWindow bounds the fairness window, which is kept in state block by block.
	maxFairnessWindow = uint64(1) << 20
	// MaxWatchKeys bounds what scheduling and cancelling a watch timer write.
	MaxWatchKeys = uint32(256)
	// MaxMatchedKeys bounds what a hit and its receipt hold.
	MaxMatchedKeys = uint32(256)
	// MaxBidBits bounds an integer bid: far more than a chain has of its fee denom. Waiting can pass it, and a score of it
	// fits in 24 bytes.
	MaxBidBits = 96
)

var (
	// maxPrice bounds every price, so that price × units stays far below the range of a decimal.
	maxPrice = math.LegacyNewDec(1_000_000_000_000_000_000)
	// smallFraction is the lower bound of fractions that must not be zero.
	smallFraction = math.LegacyNewDecWithPrec(1, 6)
	// integer is a non-negative one in decimal, of at most 78 digits: what 256 bits hold.
	integer = regexp.MustCompile(`^[0-9]{1,78}$`)
)

// MaxPrice is the largest price.
func MaxPrice() math.LegacyDec { return maxPrice }

// ValidatePrice checks a price in fee denom per cycle or per cell: present, not negative, and small enough that price ×
// units can't leave the range of a decimal.
func ValidatePrice(kind *errors.Error, name string, price math.LegacyDec) error {
	if price.IsNil() {
		return kind.Wrapf("%s is missing", name)
	}
	if price.IsNegative() || price.GT(maxPrice) {
		return kind.Wrapf("%s is %s, want 0 to %s", name, price, maxPrice)
	}
	return nil
}
