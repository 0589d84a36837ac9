package score_test

import (
	"bytes"
	"cmp"
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/score"
	"github.com/cosmos-timers/timers/x/timers/testutil/mergetest"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// enough reads for any index of these tests.
const enough = 1 << 30

// mostBid is the largest bid that counts under policy score.
var mostBid = math.NewIntFromBigInt(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 96), big.NewInt(1)))

// TestKeysHoldTheLargestScores: with the largest weights, bids, heights and seqs keys have their length and their
// order.
func TestKeysHoldTheLargestScores(t *testing.T) {
	all := score.Rules{Age: policytest.Dec(maxWeight), Bid: policytest.Dec(maxWeight), Rank: policytest.Dec(maxWeight)}
	var last []byte
	for _, c := range []market.Candidate{
		{Due: 1<<64 - 1, Seq: 1<<64 - 1},
		{Due: 1<<64 - 2, Seq: 1<<64 - 1},
		{},
		{Ask: market.Ask{Price: math.OneInt()}},
		{Ask: market.Ask{Price: mostBid.SubRaw(1)}},
		{Ask: market.Ask{Price: mostBid}},
	} {
		key := score.Key(all.TimelessScore(c))
		require.Len(t, key, score.KeyBytes)
		require.Positive(t, bytes.Compare(key, last), "%+v", c)
		last = key
	}
}

// TestScoreListsAreDisjointFromOthers: no fairness weight names a score list, and successive epochs have different
// lists.
func TestScoreListsAreDisjointFromOthers(t *testing.T) {
	mark := market.ListOfWeight(market.WideWeight)
	for _, epoch := range []uint64{0, 1, 2, 32_766, 32_767, 1<<64 - 1} {
		list := score.ListOfEpoch(epoch)
		require.True(t, list.Wide())
		require.Greater(t, list, mark)
		require.NotEqual(t, score.ListOfEpoch(epoch+1), list)
		require.Equal(t, list, market.ListOfWeight(list.Weight()))
		require.Equal(t, score.KeyBytes, list.PriceBytes())
	}
	for weight := uint32(0); weight <= 8*16; weight++ {
		for _, entry := range market.EntriesOf(market.StatedAsk(policytest.Dec(policytest.MaxPrice), policytest.Dec("0")), weight, 1, 1) {
			require.False(t, entry.List.Wide())
			require.Less(t, entry.List, mark)
		}
	}
}

// turnsOf puts entries in turns as the module does, timers being known by their seq.
func turnsOf(timers map[uint64]market.Candidate) score.Turns {
	return func(_ context.Context, equal []market.ListEntry) ([]market.ListEntry, error) {
		candidates, order := make([]market.Candidate, len(equal)), make([]int, len(equal))
		for i, entry := range equal {
			candidates[i], order[i] = timers[entry.Seq], i
		}
		score.TakeTurns(candidates, order)
		out := make([]market.ListEntry, len(equal))
		for place, i := range order {
			out[place] = equal[i]
		}
		return out, nil
	}
}

// queueProperty: a queue hands out what a full sort does, if it may put all in turns; if not, those beyond come by
// (due, seq) at their score. It leaves other lists alone, and reads hardly more than it hands out and puts in turns.
func queueProperty(t *rapid.T) {
	rules := score.Rules{Age: policytest.Dec("1"), Bid: policytest.Dec("0.01"), Rank: rapid.SampledFrom([]math.LegacyDec{policytest.Dec("0"), policytest.Dec("0.5")}).Draw(t, "rank")}
	list := score.ListOfEpoch(rapid.Uint64Max(3).Draw(t, "epoch"))
	store := mergetest.New()
	timers := map[uint64]market.Candidate{}
	var all []market.Candidate
	for seq := range rapid.Uint64Max(300).Draw(t, "timers") {
		actor := string(rapid.SampledFrom([]rune{'a', 'a', 'b', 'c'}).Draw(t, "actor"))
		c := market.Candidate{
			Due: rapid.Uint64Range(1, 3).Draw(t, "due"), Seq: seq, Actor: actor, Unit: actor, Recent: uint64(actor[0] % 3),
			Ask: market.Ask{Price: math.NewInt(rapid.SampledFrom([]int64{0, 0, 100, 7}).Draw(t, "bid"))},
		}
		timers[seq] = c
		all = append(all, c)
		store.Add(score.EntryOf(list, score.Key(rules.TimelessScore(c)), c.Due, c.Seq))
	}
	for _, other := range []market.List{score.ListOfEpoch(8), score.ListOfEpoch(9), market.ListOfWeight(16)} {
		store.Add(score.EntryOf(other, score.Key(big.NewInt(1)), 1, 1_000))
	}
	maxTurns := rapid.SampledFrom([]int{0, 1, 2, 20, 1_000}).Draw(t, "turns")
	wanted := rapid.IntRange(0, len(all)+1).Draw(t, "wanted")

	queue := score.NewQueue(store, list, turnsOf(timers), enough, maxTurns)
	got := []uint64{}
	for range wanted {
		entry, found, err := queue.Next(context.Background())
		require.NoError(t, err)
		if !found {
			break
		}
		got = append(got, entry.Seq)
	}
	want, largest := queueModel(rules, all, maxTurns)
	require.Equal(t, want[:min(wanted, len(want))], got)
	require.LessOrEqual(t, queue.Read, len(got)+largest+64, "entries read")
}

// queueModel sorts all at once; it returns the seqs, and how many share a score at most.
func queueModel(rules score.Rules, all []market.Candidate, turnsLeft int) (seqs []uint64, largest int) {
	slices.SortFunc(all, func(a, b market.Candidate) int {
		return cmp.Or(rules.TimelessScore(b).Cmp(rules.TimelessScore(a)), cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq))
	})
	seqs = []uint64{}
	for len(all) > 0 {
		end := slices.IndexFunc(all, func(c market.Candidate) bool { return rules.TimelessScore(c).Cmp(rules.TimelessScore(all[0])) != 0 })
		if end < 0 {
			end = len(all)
		}
		largest = max(largest, end)
		inTurns := min(end, max(1, turnsLeft))
		if inTurns > 1 {
			turnsLeft -= inTurns
		}
		for _, i := range rules.Order(market.Prices{}, all[:inTurns]) {
			seqs = append(seqs, all[i].Seq)
		}
		all = all[inTurns:]
	}
	return seqs, largest
}

func TestQueueMatchesASort(t *testing.T) { rapid.Check(t, queueProperty) }

func FuzzAQueueIsASort(f *testing.F) { f.Fuzz(rapid.MakeFuzz(queueProperty)) }

// TestQueueReadsAreBounded: entries beyond the bound are treated as absent.
func TestQueueReadsAreBounded(t *testing.T) {
	store, list := mergetest.New(), score.ListOfEpoch(0)
	timers := map[uint64]market.Candidate{}
	for seq := range uint64(100) {
		store.Add(score.EntryOf(list, score.Key(big.NewInt(0)), 1, seq))
		timers[seq] = market.Candidate{Due: 1, Seq: seq}
	}
	for _, most := range []int{0, 1, 2, 7, 100} {
		queue := score.NewQueue(store, list, turnsOf(timers), most, 50)
		for n := 0; ; n++ {
			_, found, err := queue.Next(context.Background())
			require.NoError(t, err)
			if !found {
				require.Equal(t, most, n)
				break
			}
		}
		require.Equal(t, most, queue.Read)
	}
}

// TestQueuePropagatesStoreErrors: if any call of the store fails, the queue fails, and returns no further entry of that
// score.
func TestQueuePropagatesStoreErrors(t *testing.T) {
	list := score.ListOfEpoch(0)
	timers := map[uint64]market.Candidate{}
	store := mergetest.New()
	for seq := range uint64(30) {
		store.Add(score.EntryOf(list, score.Key(big.NewInt(int64(seq/3))), 1, seq))
		timers[seq] = market.Candidate{Due: 1, Seq: seq}
	}
	drain := func() error {
		queue := score.NewQueue(store, list, turnsOf(timers), enough, 50)
		for {
			if _, found, err := queue.Next(context.Background()); err != nil || !found {
				return err
			}
		}
	}
	require.NoError(t, drain())
	calls := store.Calls
	for fail := range calls {
		store.Fail = fail
		require.ErrorIs(t, drain(), mergetest.ErrBroken, "call %d", fail)
		store.Fail = -1
	}
}
