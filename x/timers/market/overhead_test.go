package market

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var works = []Work{
	VisitOwner, ReadCondition, Notify, RemoveKey, VisitHeld, VisitWaiting, MoveTimed, MoveNewlyDue, Lapse, ReadNewlyDue, AdmitNewlyDue, ReadWindow, ReadReady, LookAtPayer, Admit, PutOnHold, Try, Refile, ReadEntry, ReadRanked, DropMet,
	Scan, Renew, DropStale, Prune, Age,
}

// TestMeter_IsTheSumOfItsShares: whatever is asked in whatever order, what is consumed is at most the budget, but for the first
// work of each kind; what a share has is there for it until it lends it.
//
// Rule: 1.6-overhead, 1.6-overhead-shares
func TestMeter_IsTheSumOfItsShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		removals := rapid.Uint64Range(0, 500_000).Draw(t, "removals")
		cycles := rapid.Uint64Range(1, 5_000_000).Draw(t, "cycles")
		m := NewOverhead(cycles, removals)
		part := (cycles - min(cycles, removals)) / whole
		first, consumed, of := uint64(0), uint64(0), [shares]uint64{}
		var lent [shares]bool
		var begun kind
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			w := rapid.SampledFrom(works).Draw(t, "work")
			if rapid.IntRange(0, 30).Draw(t, "lends") == 0 {
				m.Lend(w.Share)
				lent[w.Share] = true
				continue
			}
			n := rapid.IntRange(1, 40).Draw(t, "n")
			for range n {
				if !m.TryConsume(w) {
					require.NotZero(t, begun&w.kind, "the first work of a kind fits")
					require.True(t, lent[w.Share] || of[w.Share]+w.Cycles > parts[w.Share]*part, "a share has what is guaranteed to it")
					break
				}
				if begun&w.kind == 0 {
					first += w.Cycles
				}
				begun |= w.kind
				of[w.Share] += w.Cycles
				consumed += w.Cycles
			}
			require.Equal(t, consumed, m.Used())
			require.LessOrEqual(t, consumed, cycles-min(cycles, removals)+first)
		}
	})
}

// TestWorks_HaveKindsOfTheirOwn, and weights that their shares hold by default.
func TestWorks_HaveKindsOfTheirOwn(t *testing.T) {
	var all kind
	for _, w := range works {
		require.Zero(t, all&w.kind)
		require.NotZero(t, w.kind)
		all |= w.kind
		require.Less(t, 20*w.Cycles, 3_000_000/whole*parts[w.Share])
	}
}

// TestCyclesFor_LeavesRoomForSoMany: and for hardly more.
func TestCyclesFor_LeavesRoomForSoMany(t *testing.T) {
	for _, w := range works {
		for _, n := range []int{1, 2, 7, 1_000} {
			m := NewOverhead(300_000+CyclesFor(w, n), 300_000)
			if w.Share != Times {
				m.Lend(Times)
			}
			left := m.Left(w)
			require.GreaterOrEqual(t, left, n)
			require.LessOrEqual(t, left, n+whole/int(min(whole, w.Cycles)))
		}
	}
}
