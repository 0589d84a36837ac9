package index

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// drawEntries draws entries of a few lists and prices, in the order of the store. Their seqs begin at a number.
func drawEntries(t *rapid.T, label string, seq uint64) []merge.Entry {
	lists := []merge.List{merge.MakeList(8, 1), merge.MakeList(8, 2), merge.MakeList(16, 1), merge.MakeList(merge.WideWeight+1, 0)}
	entries := make([]merge.Entry, rapid.IntRange(0, 3*fewFresh).Draw(t, label))
	for i := range entries {
		entries[i] = merge.Entry{
			List:  rapid.SampledFrom(lists).Draw(t, "list"),
			Price: math.LegacyNewDec(rapid.Int64Range(0, 3).Draw(t, "price")),
			Due:   rapid.Uint64Range(1, 3).Draw(t, "due"), Seq: seq + uint64(i),
		}
	}
	slices.SortFunc(entries, compareEntries)
	return entries
}

// admitted are admissions of entries, one of each timer, in no order.
func admitted(t *rapid.T, entries []merge.Entry) *admissions {
	a := &admissions{places: map[calendar.Key]int{}}
	for i, entry := range rapid.Permutation(entries).Draw(t, "admitted") {
		if i%5 == 0 && rapid.Bool().Draw(t, "they are read meanwhile") {
			require.Len(t, a.inOrder(), i)
		}
		a.add(&types.Timer{Due: entry.Due, Seq: entry.Seq}, Placement{Weight: entry.List.Weight()}, []merge.Entry{entry})
	}
	return a
}

// TestAdmissionsAreReadAsIfTheyWereStored: what is read of the store and of the admissions together are the first entries of
// both, whatever the interval.
//
// Rule: 5.4-admitted-written-once
func TestAdmissionsAreReadAsIfTheyWereStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored, fresh := drawEntries(t, "stored", 0), drawEntries(t, "admitted", 100)
		a := admitted(t, fresh)
		if len(fresh) > 0 && rapid.Bool().Draw(t, "one gets another placement") {
			at := rapid.IntRange(0, len(fresh)-1).Draw(t, "which")
			moved := fresh[at]
			moved.Price = moved.Price.Add(math.LegacyNewDec(rapid.Int64Range(0, 3).Draw(t, "raise")))
			timer := &types.Timer{Due: moved.Due, Seq: moved.Seq}
			a.replace(timer, Placement{Weight: 1}, fresh[at:at+1], []merge.Entry{moved})
			require.Equal(t, uint32(1), a.of(calendar.Key{Due: moved.Due, Seq: moved.Seq}).at.Weight)
			fresh = slices.Replace(slices.Clone(fresh), at, at+1, moved)
		}
		all := slices.Concat(stored, fresh)
		slices.SortFunc(all, compareEntries)
		n := rapid.IntRange(1, 30).Draw(t, "n")
		list := rapid.SampledFrom([]merge.List{0, merge.MakeList(8, 1), merge.MakeList(8, 2), merge.MakeList(12, 0), merge.MakeList(16, 1)}).Draw(t, "from")
		within := func(entries []merge.Entry, in func(merge.Entry) bool) []merge.Entry {
			return slices.DeleteFunc(slices.Clone(entries), func(e merge.Entry) bool { return !in(e) })
		}
		check := func(in func(merge.Entry) bool, of []merge.Entry) {
			want := within(all, in)
			want = want[:min(n, len(want))]
			read := within(stored, in)
			require.Equal(t, append([]merge.Entry{}, want...), append([]merge.Entry{}, mergeEntries(read[:min(n, len(read))], of, n)...))
		}
		check(func(e merge.Entry) bool { return e.List >= list }, a.from(list))
		check(func(e merge.Entry) bool { return e.List < list }, a.upTo(list))
		check(func(e merge.Entry) bool { return e.List == list }, a.within(list))
		if len(all) > 0 {
			last := rapid.SampledFrom(all).Draw(t, "after")
			check(func(e merge.Entry) bool { return e.List == last.List && compareEntries(e, last) > 0 }, a.after(last))
		}
	})
}
