package ready_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/eip1559"
	"github.com/cosmos-timers/timers/x/timers/ready"
)

var (
	errStore = errors.New("the store is broken")
	// beyondAll is a price that none reaches.
	beyondAll = dec("1000000000000000000000000000000000000000000000000")
)

// treeStore is the index in a B-tree. It counts what it hands out; the call that makes fail zero fails.
type treeStore struct {
	tree                *btree.BTreeG[ready.Entry]
	firsts, read, calls int
	// fail is how many calls are left until one fails; negative means that none does.
	fail int
}

var _ ready.Store = (*treeStore)(nil)

func newTreeStore(timers ...policy.Candidate) *treeStore {
	s := &treeStore{fail: -1, tree: btree.NewBTreeGOptions(func(a, b ready.Entry) bool {
		if a.List != b.List {
			return a.List < b.List
		}
		order := b.Price().BigIntMut().Cmp(a.Price().BigIntMut())
		return cmp.Or(order, cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq)) < 0
	}, btree.Options{NoLocks: true})}
	for _, c := range timers {
		s.add(c)
	}
	return s
}

func (s *treeStore) add(c policy.Candidate) {
	for _, entry := range ready.EntriesOf(c.Ask, c.Weight, c.Due, c.Seq) {
		s.tree.Set(entry)
	}
}

func (s *treeStore) remove(c policy.Candidate) {
	for _, entry := range ready.EntriesOf(c.Ask, c.Weight, c.Due, c.Seq) {
		s.tree.Delete(entry)
	}
}

func (s *treeStore) call() error {
	s.calls++
	if s.fail == 0 {
		return errStore
	}
	s.fail = max(s.fail-1, -1)
	return nil
}

func (s *treeStore) First(_ context.Context, from ready.List) (head ready.Entry, found bool, err error) {
	s.tree.Ascend(ready.NewEntry(from, beyondAll, beyondAll, 0, 0), func(entry ready.Entry) bool {
		head, found = entry, true
		s.firsts++
		return false
	})
	return head, found, s.call()
}

func (s *treeStore) After(_ context.Context, entry ready.Entry, n int) (page []ready.Entry, err error) {
	if n < 1 {
		return nil, errors.New("it asks for nothing")
	}
	s.tree.Ascend(entry, func(next ready.Entry) bool {
		if next.List == entry.List && next.Seq == entry.Seq {
			return true
		}
		if next.List != entry.List || len(page) >= n {
			return false
		}
		page = append(page, next)
		return true
	})
	s.read += len(page)
	return page, s.call()
}

// market is the policy with the specification's defaults; its basefee is not asked for here.
func market() eip1559.Rules {
	return eip1559.Rules{
		Multiplier: math.LegacyOneDec(),
		Tiers:      policy.Tiers{Economy: dec("0.8"), Standard: dec("1"), Fast: dec("1.5"), Urgent: dec("2.5")},
	}
}

func pricesAt(lane, p50 math.LegacyDec) policy.Prices {
	return policy.Prices{Cycle: math.LegacyZeroDec(), Cell: math.LegacyZeroDec(), Lane: lane, P50: p50}
}

// enough reads for any index of these tests.
const enough = 1 << 30

// inOrder is the full sort: the seqs of the timers in the policy's order.
func inOrder(e eip1559.Rules, prices policy.Prices, timers []policy.Candidate) []uint64 {
	seqs := []uint64{}
	for _, i := range e.Order(prices, timers) {
		seqs = append(seqs, timers[i].Seq)
	}
	return seqs
}

// takeSome hands out at most n.
func takeSome(t require.TestingT, m *ready.Merge, n int) []uint64 {
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

func openMerge(t require.TestingT, store ready.Store, e eip1559.Rules, prices policy.Prices, maxReads int) *ready.Merge {
	m, err := ready.NewMerge(context.Background(), store, e, prices, maxReads)
	require.NoError(t, err)
	return m
}

// drawPrices draws the lane's prices and a multiplier, from small ones to the largest.
func drawPrices(t *rapid.T) (eip1559.Rules, policy.Prices) {
	e := market()
	e.Multiplier = rapid.OneOf(
		rapid.SampledFrom([]math.LegacyDec{dec("0"), dec("1"), dec("1"), dec("2")}),
		rapid.Map(rapid.Int64Range(0, 2e18), func(n int64) math.LegacyDec { return math.LegacyNewDecWithPrec(n, math.LegacyPrecision) }),
	).Draw(t, "multiplier")
	lane := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) math.LegacyDec { return units(drawUnits(t, "lane")) }),
		rapid.SampledFrom([]math.LegacyDec{dec("0"), dec("0.000000000000000020"), dec("0.01"), dec("1")}),
	).Draw(t, "lane")
	p50 := rapid.OneOf(rapid.Just(math.LegacyZeroDec()), rapid.Custom(func(t *rapid.T) math.LegacyDec { return units(drawUnits(t, "p50")) })).Draw(t, "p50")
	return e, pricesAt(lane, p50)
}

// drawTimers draws timers whose asks lie about the lane's fee, and often meet each other in price, place and slack.
func drawTimers(t *rapid.T, fee math.LegacyDec, most int) []policy.Candidate {
	weight := rapid.SampledFrom([]*rapid.Generator[uint32]{
		rapid.Just(uint32(32)), rapid.SampledFrom([]uint32{16, 32}), rapid.Uint32Range(16, 32), rapid.Uint32Range(1, 100),
	}).Draw(t, "weights")
	due := rapid.OneOf(rapid.Uint64Max(3), rapid.Uint64())
	n := rapid.OneOf(rapid.IntRange(0, most), rapid.IntRange(most/2, most)).Draw(t, "timers")
	seqs := rapid.SliceOfNDistinct(rapid.Uint64Max(1<<20), n, n, rapid.ID[uint64]).Draw(t, "seqs")
	// about is a distance of up to three tenths of the fee, or of some units.
	about := rapid.Custom(func(t *rapid.T) math.LegacyDec {
		part := fee.MulInt64(rapid.Int64Range(0, 30).Draw(t, "hundredths")).QuoInt64(100)
		return part.Add(math.LegacyNewDecWithPrec(rapid.Int64Range(0, 4).Draw(t, "units"), math.LegacyPrecision))
	})
	near := rapid.Custom(func(t *rapid.T) math.LegacyDec {
		off := about.Draw(t, "off")
		return math.LegacyMaxDec(math.LegacyZeroDec(), fee.Add(rapid.SampledFrom([]math.LegacyDec{off, off.Neg()}).Draw(t, "side")))
	})
	tip := rapid.OneOf(about, about, rapid.Custom(func(t *rapid.T) math.LegacyDec { return units(drawUnits(t, "tip")) }))
	timers := make([]policy.Candidate, len(seqs))
	for i, seq := range seqs {
		ask := drawAsk(t)
		if ask.Kind == policy.Stated && rapid.IntRange(0, 5).Draw(t, "near") > 0 {
			// The slack lies near the fee, or the whole fee does.
			stated := tip.Draw(t, "max priority")
			maxFee := near.Draw(t, "slack")
			if rapid.Bool().Draw(t, "slack is near") {
				maxFee = maxFee.Add(stated)
			}
			ask = policy.StatedAsk(maxFee, stated)
		}
		timers[i] = policy.Candidate{Due: due.Draw(t, "due"), Seq: seq, Ask: ask, Weight: weight.Draw(t, "weight")}
	}
	return timers
}

// mergeProperty: all that a full sort puts in order, the merge hands out in that order, once each; block after block, at
// prices that change, with what was handed out gone and others come.
func mergeProperty(t *rapid.T) {
	e, prices := drawPrices(t)
	timers := drawTimers(t, e.Fee(prices), 60)
	store := newTreeStore(timers...)
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		want := inOrder(e, prices, timers)
		take := rapid.IntRange(0, len(timers)+1).Draw(t, "take")
		want = want[:min(take, len(want))]

		store.firsts, store.read = 0, 0
		m := openMerge(t, store, e, prices, enough)
		require.Equal(t, want, takeSome(t, m, take))
		require.Equal(t, []int{store.firsts, store.read}, []int{m.Heads, m.Read}, "what it counts is what it read")
		require.LessOrEqual(t, m.Heads+m.Read, store.tree.Len()*2, "an entry is read as a head and beyond at most")

		timers = slices.DeleteFunc(timers, func(c policy.Candidate) bool {
			taken := slices.Contains(want, c.Seq)
			if taken {
				store.remove(c)
			}
			return taken
		})
		step := dec(rapid.SampledFrom([]string{"0.875", "1", "1.125"}).Draw(t, "step"))
		prices.Lane = math.LegacyMinDec(prices.Lane.MulTruncate(step), dec(maxPrice))
		for _, c := range drawTimers(t, e.Fee(prices), 6) {
			c.Seq += 1 << 21 * uint64(1+len(timers))
			if !slices.ContainsFunc(timers, func(other policy.Candidate) bool { return other.Seq == c.Seq }) {
				timers = append(timers, c)
				store.add(c)
			}
		}
	}
}

func TestMergeIsAFullSort(t *testing.T) { rapid.Check(t, mergeProperty) }

func FuzzMergeIsAFullSort(f *testing.F) { f.Fuzz(rapid.MakeFuzz(mergeProperty)) }

// capProperty: no more is read than the cap says. Until it is used up the order is exact; after that it is exact among what
// was read, and somebody fires if anybody would.
func capProperty(t *rapid.T) {
	ctx := context.Background()
	e, prices := drawPrices(t)
	timers := drawTimers(t, e.Fee(prices), 60)
	maxReads := rapid.IntRange(0, 40).Draw(t, "max reads")
	m := openMerge(t, newTreeStore(timers...), e, prices, maxReads)
	want, got := inOrder(e, prices, timers), []uint64{}
	exact := 0
	for {
		entry, found, err := m.Next(ctx)
		require.NoError(t, err)
		require.LessOrEqual(t, m.Read, maxReads)
		if !found {
			break
		}
		got = append(got, entry.Seq)
		if m.Read < maxReads {
			exact = len(got)
		}
	}
	require.Equal(t, want[:exact], got[:exact])
	if m.Read < maxReads {
		require.Equal(t, want, got, "it stopped with reads left")
	}
	place := -1
	for _, seq := range got[exact:] {
		next := slices.Index(want, seq)
		require.Greater(t, next, place, "twice, priced out, or not the best of what was read")
		place = next
	}
	require.Equal(t, len(want) > 0, len(got) > 0, "nobody fires")
	require.Empty(t, takeSome(t, m, 1), "it goes on after it said that there are no more")
}

func TestMergeReadsNoMoreThanItMay(t *testing.T) { rapid.Check(t, capProperty) }

func FuzzMergeReadsNoMoreThanItMay(f *testing.F) { f.Fuzz(rapid.MakeFuzz(capProperty)) }

// first is the place of the best of the timers; -1 if all are priced out.
func first(e eip1559.Rules, prices policy.Prices, timers []policy.Candidate) int {
	order := e.Order(prices, timers)
	if len(order) == 0 {
		return -1
	}
	return order[0]
}

// returnProperty: what is handed out under an outdated weight and comes back lies where its new weight puts it among what
// is left. The index is left alone, or the timer is filed anew, in which case it may be met once more.
func returnProperty(t *rapid.T) {
	ctx := context.Background()
	e, prices := drawPrices(t)
	left := drawTimers(t, e.Fee(prices), 40)
	store := newTreeStore(left...)
	refile := rapid.Bool().Draw(t, "filed anew")
	m := openMerge(t, store, e, prices, enough)
	fired, weights := map[uint64]bool{}, map[uint64]uint32{}
	for range 3*len(left) + 1 {
		entry, found, err := m.Next(ctx)
		require.NoError(t, err)
		if !found {
			require.Equal(t, -1, first(e, prices, left), "it left some")
			return
		}
		if fired[entry.Seq] {
			require.True(t, refile, "it hands out the same timer twice")
			continue
		}
		best := first(e, prices, left)
		require.GreaterOrEqual(t, best, 0)
		require.Equal(t, left[best].Seq, entry.Seq)
		require.Equal(t, left[best].Weight, entry.List.Weight(), "it names another weight than that it ranks by")

		if _, returned := weights[entry.Seq]; !returned && rapid.IntRange(0, 2).Draw(t, "outdated") == 0 {
			weight := rapid.Uint32Range(16, 32).Draw(t, "new weight")
			weights[entry.Seq] = weight
			if refile {
				store.remove(left[best])
			}
			left[best].Weight = weight
			if refile {
				store.add(left[best])
			}
			m.Return(entry, weight)
			continue
		}
		fired[entry.Seq] = true
		store.remove(left[best])
		left = slices.Delete(left, best, best+1)
	}
	require.Fail(t, "it goes on for ever")
}

func TestMergeTakesBackWhatChangedItsWeight(t *testing.T) { rapid.Check(t, returnProperty) }

func FuzzMergeTakesBackWhatChangedItsWeight(f *testing.F) { f.Fuzz(rapid.MakeFuzz(returnProperty)) }

// leaveProperty: timers that leave or come while the merge is under way don't disturb the order of the others; those that
// left may still be handed out, those that came may be.
func leaveProperty(t *rapid.T) {
	ctx := context.Background()
	e, prices := drawPrices(t)
	timers := drawTimers(t, e.Fee(prices), 40)
	store := newTreeStore(timers...)
	want := inOrder(e, prices, timers)
	came := drawTimers(t, e.Fee(prices), 10)
	for i := range came {
		came[i].Seq += 1 << 30
	}
	gone := map[uint64]bool{}
	m := openMerge(t, store, e, prices, enough)
	var got []uint64
	for {
		entry, found, err := m.Next(ctx)
		require.NoError(t, err)
		if !found {
			break
		}
		got = append(got, entry.Seq)
		for _, c := range timers {
			if rapid.IntRange(0, 9).Draw(t, "leaves") == 0 {
				store.remove(c)
				gone[c.Seq] = gone[c.Seq] || !slices.Contains(got, c.Seq)
			}
		}
		if len(came) > 0 {
			store.add(came[0])
			came = came[1:]
		}
	}
	stayed := func(seq uint64) bool { return gone[seq] || seq >= 1<<30 }
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(got))), len(got), "it hands out the same timer twice")
	require.Equal(t, slices.DeleteFunc(want, stayed), slices.DeleteFunc(append([]uint64{}, got...), stayed))
}

func TestMergeStandsWhatLeavesMeanwhile(t *testing.T) { rapid.Check(t, leaveProperty) }

func FuzzMergeStandsWhatLeavesMeanwhile(f *testing.F) { f.Fuzz(rapid.MakeFuzz(leaveProperty)) }

// TestMergePassesErrorsOn: whichever call fails, its error comes out.
func TestMergePassesErrorsOn(t *testing.T) {
	ctx := context.Background()
	e, prices := market(), pricesAt(dec("1"), dec("0.1"))
	var timers []policy.Candidate
	for seq := range uint64(60) {
		ask := policy.Ask{Kind: policy.Kind(seq % 5)}
		if seq%2 == 0 {
			ask = policy.StatedAsk(math.LegacyNewDecWithPrec(int64(110+seq), 2), math.LegacyNewDecWithPrec(int64(10+seq/9), 2))
		}
		timers = append(timers, policy.Candidate{Ask: ask, Weight: 16 + uint32(seq%2), Seq: seq})
	}
	run := func(store *treeStore) error {
		m, err := ready.NewMerge(ctx, store, e, prices, enough)
		if err != nil {
			return err
		}
		for {
			if _, found, err := m.Next(ctx); err != nil || !found {
				return err
			}
		}
	}
	sound := newTreeStore(timers...)
	require.NoError(t, run(sound))
	require.Greater(t, sound.calls, 20)
	for i := range sound.calls {
		broken := newTreeStore(timers...)
		broken.fail = i
		require.ErrorIs(t, run(broken), errStore, "call %d", i)
	}
}

func TestMergeOfNothing(t *testing.T) {
	m := openMerge(t, newTreeStore(), market(), pricesAt(dec("1"), dec("0")), enough)
	require.Empty(t, takeSome(t, m, 1))
	require.Zero(t, m.Heads+m.Read)
}
