package market

import (
	"cmp"
	"math/big"

	"cosmossdk.io/math"
)

// Rank orders candidates by effective priority, the tip per cycle times the weight of the actor: the highest first.
// Equal ones go by weight, descending, then by (due, seq). It is total, since no two timers share a seq.
type Rank struct {
	// effective priority in units of the 18th decimal, in sixteenths: an integer product, which loses nothing to
	// rounding.
	effective *big.Int
	weight    uint32
	due, seq  uint64
}

// NewRank is the rank of a tip per cycle with a weight in sixteenths. The rank keeps no reference to the tip.
func NewRank(priority math.LegacyDec, weight uint32, due, seq uint64) Rank {
	effective := priority.BigInt()
	return Rank{effective: effective.Mul(effective, big.NewInt(int64(weight))), weight: weight, due: due, seq: seq}
}

// Negative reports whether the tip is negative. No candidate has such a rank, but a bound on the rest of a list may:
// then all timers in the rest are priced out.
func (r Rank) Negative() bool { return r.effective.Sign() < 0 }

// Compare is negative if r comes before other.
func (r Rank) Compare(other Rank) int {
	return cmp.Or(
		other.effective.Cmp(r.effective), cmp.Compare(other.weight, r.weight),
		cmp.Compare(r.due, other.due), cmp.Compare(r.seq, other.seq),
	)
}
