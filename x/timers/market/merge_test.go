package market_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/mergetest"
)

// enough reads for any store of these tests.
const mergeEnough = 1 << 30

// worth is the rank of these tests: the largest value first, then the lowest seq.
type worth struct {
	value int64
	seq   uint64
}

func (w worth) Compare(other worth) int {
	return cmp.Or(cmp.Compare(other.value, w.value), cmp.Compare(w.seq, other.seq))
}

func (w worth) Negative() bool { return w.value < 0 }

// timer has a number for each list that holds it. It is worth the least of them, less the price that all pay; below
// zero it may not fire. So no list alone has the order of the ranks, and the entry of any list bounds the worth of
// its timer.
type timer struct {
	seq     uint64
	first   market.List
	numbers []int64
}

func (t timer) worth(price int64) worth { return worth{slices.Min(t.numbers) - price, t.seq} }

func (t timer) entries() []market.ListEntry {
	entries := make([]market.ListEntry, len(t.numbers))
	for i, n := range t.numbers {
		entries[i] = market.ListEntry{List: t.first + market.List(i), Price: math.LegacyNewDec(n), Other: math.LegacyZeroDec(), Seq: t.seq}
	}
	return entries
}

// market ranks timers by what it knows of them, as a policy does by what an entry says.
type byWorth struct {
	timers map[uint64]timer
	price  int64
}

func (m byWorth) Rank(entry market.ListEntry) (worth, bool) {
	w := m.timers[entry.Seq].worth(m.price)
	return w, !w.Negative()
}

func (m byWorth) Bound(last market.ListEntry) worth {
	return worth{last.Price.TruncateInt64() - m.price, last.Seq}
}

// backlog is a market, a store of its timers, and which lists hold the same ones.
type mergeBacklog struct {
	byWorth
	store   *mergetest.Store
	sources map[market.List]int
}

// drawBacklog draws timers in up to five sources of one to three lists each. Numbers often repeat.
func drawBacklog(t *rapid.T, limit int) mergeBacklog {
	b := mergeBacklog{byWorth{map[uint64]timer{}, rapid.Int64Range(0, 6).Draw(t, "price")}, mergetest.New(), map[market.List]int{}}
	for i := range rapid.IntRange(1, 5).Draw(t, "sources") {
		b.sources[market.MakeList(uint32(i), 7)] = rapid.IntRange(1, 3).Draw(t, "lists")
	}
	firsts := make([]market.List, 0, len(b.sources))
	for first := range b.sources {
		firsts = append(firsts, first)
	}
	slices.Sort(firsts)
	number := rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, 1_000))
	for seq := range rapid.Uint64Max(uint64(limit)).Draw(t, "timers") {
		first := rapid.SampledFrom(firsts).Draw(t, "source")
		n := b.sources[first]
		b.timers[seq] = timer{seq, first, rapid.SliceOfN(number, n, n).Draw(t, "numbers")}
		b.store.Add(b.timers[seq].entries()...)
	}
	return b
}

// open opens all sources, as a policy does: from head to head.
func (b mergeBacklog) open(t require.TestingT, maxReads int) *market.Merge[worth] {
	m, err := b.tryOpen(maxReads)
	require.NoError(t, err)
	return m
}

func (b mergeBacklog) tryOpen(maxReads int) (*market.Merge[worth], error) {
	ctx, m := context.Background(), market.NewMerge[worth](b.store, b.byWorth, maxReads)
	for from := market.List(0); ; {
		head, found, err := m.Head(ctx, from)
		if err != nil || !found {
			return m, err
		}
		heads := []market.ListEntry{head}
		for i := range b.sources[head.List] - 1 {
			next, found, err := m.Head(ctx, head.List+market.List(i+1))
			if err != nil {
				return nil, err
			}
			if !found {
				return nil, fmt.Errorf("list %d is missing", head.List+market.List(i+1))
			}
			heads = append(heads, next)
		}
		m.Open(heads...)
		from = head.List + market.List(len(heads))
	}
}

// sorted is the second implementation: the seqs of all that may fire, by a full sort.
func (b mergeBacklog) sorted() []uint64 {
	var ranks []worth
	for _, t := range b.timers {
		if w := t.worth(b.price); !w.Negative() {
			ranks = append(ranks, w)
		}
	}
	slices.SortFunc(ranks, worth.Compare)
	seqs := make([]uint64, len(ranks))
	for i, w := range ranks {
		seqs[i] = w.seq
	}
	return seqs
}

func take(t require.TestingT, m *market.Merge[worth], n int) []uint64 {
	seqs := []uint64{}
	for len(seqs) < n {
		entry, found, err := m.Next(context.Background())
		require.NoError(t, err)
		if !found {
			break
		}
		seqs = append(seqs, entry.Seq)
	}
	return seqs
}

// sortProperty: a merge hands out what a full sort does, and counts what it reads.
func sortProperty(t *rapid.T) {
	b := drawBacklog(t, 80)
	want := b.sorted()
	n := rapid.IntRange(0, len(want)+1).Draw(t, "take")
	m := b.open(t, mergeEnough)
	require.Equal(t, want[:min(n, len(want))], take(t, m, n))
	require.Equal(t, b.store.Firsts, m.Heads)
	require.Equal(t, b.store.Reads, m.Read)
	require.LessOrEqual(t, m.Heads+m.Read, b.store.Len(), "no entry is read twice")
}

func TestMergeMatchesASort(t *testing.T) { rapid.Check(t, sortProperty) }

func FuzzMergeIsASort(f *testing.F) { f.Fuzz(rapid.MakeFuzz(sortProperty)) }

// limitProperty: no more is read than the limit. Until it is used up the order is that of the sort; after that it
// is the order of what was read, and it hands out some timer if any may fire that it has read.
func limitProperty(t *rapid.T) {
	b, limit := drawBacklog(t, 80), rapid.IntRange(0, 40).Draw(t, "limit")
	m, want := b.open(t, limit), b.sorted()
	exact, place := true, -1
	for n := 0; ; n++ {
		entry, found, err := m.Next(context.Background())
		require.NoError(t, err)
		require.LessOrEqual(t, m.Read, limit)
		exact = exact && m.Read < limit
		if !found {
			require.True(t, !exact || n == len(want), "it stopped with reads left")
			return
		}
		next := slices.Index(want, entry.Seq)
		require.Greater(t, next, place, "twice, or not in order, or it may not fire")
		if place = next; exact {
			require.Equal(t, n, place)
		}
	}
}

func TestMergeReadsAreBounded(t *testing.T) { rapid.Check(t, limitProperty) }

func FuzzMergeReadsNoMoreThanItMay(f *testing.F) { f.Fuzz(rapid.MakeFuzz(limitProperty)) }

// returnProperty: a timer that is put back is handed out once more, at its new rank among what is left, and then no
// more.
func mergeReturnProperty(t *rapid.T) {
	b := drawBacklog(t, 40)
	m := b.open(t, mergeEnough)
	returned, gone := map[uint64]bool{}, map[uint64]bool{}
	for {
		left := slices.DeleteFunc(b.sorted(), func(seq uint64) bool { return gone[seq] })
		entry, found, err := m.Next(context.Background())
		require.NoError(t, err)
		require.Equal(t, len(left) > 0, found)
		if !found {
			return
		}
		require.Equal(t, left[0], entry.Seq)
		if returned[entry.Seq] || rapid.IntRange(0, 2).Draw(t, "it is outdated") > 0 {
			gone[entry.Seq] = true
			continue
		}
		// What it is worth changes, up or down; its entries in the store may remain as they were.
		old := b.timers[entry.Seq]
		changed := timer{old.seq, old.first, []int64{rapid.Int64Range(0, 20).Draw(t, "number")}}
		if rapid.Bool().Draw(t, "it leaves the store") {
			b.store.Remove(old.entries()...)
		}
		b.timers[entry.Seq], returned[entry.Seq] = changed, true
		m.Return(changed.entries()[0])
		if changed.worth(b.price).Negative() {
			gone[entry.Seq] = true
		}
	}
}

func TestMerge_ReturnsTimersThatArePutBack(t *testing.T) { rapid.Check(t, mergeReturnProperty) }

func FuzzMergeTakesTimersBack(f *testing.F) { f.Fuzz(rapid.MakeFuzz(mergeReturnProperty)) }

// TestMergePropagatesStoreErrors: whichever call of the store fails, its error comes out.
func TestMergePropagatesStoreErrors(t *testing.T) {
	b := mergeBacklog{byWorth{map[uint64]timer{}, 0}, mergetest.New(), map[market.List]int{0: 1, 5: 2}}
	for seq := range uint64(60) {
		c := timer{seq, 0, []int64{int64(seq % 9)}}
		if seq%2 == 0 {
			c = timer{seq, 5, []int64{int64(seq % 7), int64(seq % 11)}}
		}
		b.timers[seq] = c
		b.store.Add(c.entries()...)
	}
	run := func() error {
		m, err := b.tryOpen(mergeEnough)
		for found := true; err == nil && found; {
			_, found, err = m.Next(context.Background())
		}
		return err
	}
	require.NoError(t, run())
	calls := b.store.Calls
	require.Greater(t, calls, 20)
	for i := range calls {
		b.store.Fail = i
		require.ErrorIs(t, run(), mergetest.ErrBroken, "call %d", i)
		b.store.Fail = -1
	}
}

// TestReadsAreProportionalToResults: from long lists in the order of the ranks, little more is read than is returned.
func TestReadsAreProportionalToResults(t *testing.T) {
	b := mergeBacklog{byWorth{map[uint64]timer{}, 0}, mergetest.New(), map[market.List]int{}}
	for i := range market.List(10) {
		b.sources[i] = 1
	}
	for seq := range uint64(10_000) {
		b.timers[seq] = timer{seq, market.List(seq % 10), []int64{int64(seq * 2_654_435_761 % 100_003)}}
		b.store.Add(b.timers[seq].entries()...)
	}
	m := b.open(t, mergeEnough)
	require.Equal(t, b.sorted()[:500], take(t, m, 500))
	require.Equal(t, 10, m.Heads)
	require.LessOrEqual(t, m.Read, 500+500/4+10*4, "a page for each list at most is wasted, a quarter of what was read")
}

// TestALongListIsReadInLongerPages: each page is an iterator. With four entries in each there were 500.
func TestALongListIsReadInLongerPages(t *testing.T) {
	b := mergeBacklog{byWorth{map[uint64]timer{}, 0}, mergetest.New(), map[market.List]int{0: 1}}
	for seq := range uint64(2_000) {
		b.timers[seq] = timer{seq, 0, []int64{int64(seq)}}
		b.store.Add(b.timers[seq].entries()...)
	}
	m := b.open(t, mergeEnough)
	b.store.Calls = 0
	require.Equal(t, b.sorted(), take(t, m, 2_000))
	require.LessOrEqual(t, b.store.Calls, 60)
}

func TestMergeOfNothing(t *testing.T) {
	b := mergeBacklog{byWorth{}, mergetest.New(), nil}
	m := b.open(t, mergeEnough)
	m.Open()
	require.Empty(t, take(t, m, 1))
	require.Zero(t, m.Heads+m.Read)
}

// listProperty: a name takes its weight and kind apart again, and names order by weight, then by kind.
func listProperty(t *rapid.T) {
	draw := func(name string) uint32 {
		return rapid.OneOf(rapid.Uint32Max(3), rapid.Uint32Range(market.WideWeight-2, market.WideWeight+2), rapid.Uint32Max(1<<16-1)).Draw(t, name)
	}
	weight, kind, otherWeight, otherKind := draw("weight"), draw("kind"), draw("other weight"), draw("other kind")
	list, other := market.MakeList(weight, kind), market.MakeList(otherWeight, otherKind)
	require.Equal(t, weight, list.Weight())
	require.Equal(t, kind, list.Kind())
	require.Equal(t, cmp.Or(cmp.Compare(weight, otherWeight), cmp.Compare(kind, otherKind)), cmp.Compare(list, other))
	require.Equal(t, market.MakeList(weight, 0), market.ListOfWeight(weight))
	require.Equal(t, weight >= 32_768, list.Wide())
	want := 16
	if list.Wide() {
		want = 24
	}
	require.Equal(t, want, list.PriceBytes())
}

func TestListsAreNamedByWeightAndKind(t *testing.T) { rapid.Check(t, listProperty) }

func FuzzListsAreNamedByWeightAndKind(f *testing.F) { f.Fuzz(rapid.MakeFuzz(listProperty)) }
