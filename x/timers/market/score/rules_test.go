package score_test

import (
	"encoding/hex"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/score"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// maxWeight is the largest weight of a score that a config admits.
const maxWeight = "1000000"

// scoreVector is a case of testdata/vectors/score.json, which scripts/vectors.py computes in fractions.
type scoreVector struct {
	Name           string
	Height         uint64
	Age, Bid, Rank math.LegacyDec
	Candidates     []struct {
		Actor, Unit      string
		Recent, Due, Seq uint64
		Bid, Score       math.Int
	}
	Order []int
}

func TestScoreAgreesWithTheVectors(t *testing.T) {
	for _, v := range policytest.ReadVectors[scoreVector](t, "score.json") {
		t.Run(v.Name, func(t *testing.T) {
			rules := score.Rules{Age: v.Age, Bid: v.Bid, Rank: v.Rank}
			age := new(big.Int).Mul(v.Age.BigInt(), new(big.Int).SetUint64(v.Height))
			candidates := make([]market.Candidate, len(v.Candidates))
			for i, c := range v.Candidates {
				actor, err := hex.DecodeString(c.Actor)
				require.NoError(t, err)
				candidates[i] = market.Candidate{
					Due: c.Due, Seq: c.Seq, Actor: string(actor), Unit: c.Unit, Recent: c.Recent, Ask: market.Ask{Price: c.Bid},
				}
				require.Equal(t, c.Score.String(), age.Add(rules.TimelessScore(candidates[i]), age).String(), "candidate %d", i)
				age.Mul(v.Age.BigInt(), new(big.Int).SetUint64(v.Height))
			}
			require.Equal(t, v.Order, rules.Order(market.Prices{Height: v.Height}, candidates))
		})
	}
}

func drawWeight(t *rapid.T, name string) math.LegacyDec {
	return rapid.OneOf(
		rapid.SampledFrom([]math.LegacyDec{policytest.Dec("0"), policytest.Dec("0"), policytest.Dec("1"), policytest.Dec("0.01"), policytest.Dec(maxWeight), math.LegacySmallestDec()}),
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 5e18).Draw(t, "units"), math.LegacyPrecision)
		}),
	).Draw(t, name)
}

func drawScore(t *rapid.T) score.Rules {
	return score.Rules{Age: drawWeight(t, "age"), Bid: drawWeight(t, "bid"), Rank: drawWeight(t, "rank")}
}

// drawScored draws candidates of few actors, alike enough that scores are often equal. No two share a seq.
func drawScored(t *rapid.T, height uint64) []market.Candidate {
	names := []string{"", "a", "ab", "b", "c"}
	units, recent := map[string]string{}, map[string]uint64{}
	share := rapid.Bool().Draw(t, "units are shared")
	for _, name := range names {
		units[name] = name
		if share {
			units[name] = rapid.SampledFrom(names).Draw(t, "unit")
		}
		recent[name] = rapid.OneOf(rapid.Uint64Max(2), rapid.Uint64Max(1<<40)).Draw(t, "recent")
	}
	seqs := rapid.SliceOfNDistinct(rapid.OneOf(rapid.Uint64Max(60), rapid.Uint64Max(1<<63)), 0, 30, rapid.ID).Draw(t, "seqs")
	candidates := make([]market.Candidate, len(seqs))
	for i, seq := range seqs {
		actor := rapid.SampledFrom(names).Draw(t, "actor")
		bid := math.Int{}
		if rapid.Bool().Draw(t, "bids") {
			most := new(big.Int).Lsh(big.NewInt(1), rapid.SampledFrom([]uint{0, 1, 9, 96}).Draw(t, "size"))
			n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 12, 12).Draw(t, "bid"))
			bid = math.NewIntFromBigInt(n.Mod(n, most))
		}
		candidates[i] = market.Candidate{
			Due: height - rapid.Uint64Max(min(3, height)).Draw(t, "age"), Seq: seq, Actor: actor, Unit: units[actor],
			Recent: recent[units[actor]], Ask: market.Ask{Price: bid},
		}
	}
	return candidates
}

// scoreRat is the score as x/timers/docs/use/market.md defines it, in fractions.
func scoreRat(s score.Rules, height uint64, c market.Candidate) *big.Rat {
	integer := func(n uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(n)) }
	sum := new(big.Rat).Mul(policytest.Rat(s.Age), integer(height-c.Due))
	if !c.Ask.Price.IsNil() {
		sum.Add(sum, new(big.Rat).Mul(policytest.Rat(s.Bid), new(big.Rat).SetInt(c.Ask.Price.BigInt())))
	}
	return sum.Sub(sum, new(big.Rat).Mul(policytest.Rat(s.Rank), integer(c.Seq)))
}

// modelScoreOrder takes one timer at a time: the best score; of those, the unit that fired least, with what it was given at this
// score; of those, the earlier due, the lower address, the lower seq; and of a unit its oldest.
func modelScoreOrder(s score.Rules, height uint64, candidates []market.Candidate) []int {
	left := make([]int, len(candidates))
	for i := range left {
		left[i] = i
	}
	order := []int{}
	given := map[string]uint64{}
	var last *big.Rat
	for len(left) > 0 {
		best := left[0]
		for _, i := range left {
			if scoreRat(s, height, candidates[i]).Cmp(scoreRat(s, height, candidates[best])) > 0 {
				best = i
			}
		}
		score := scoreRat(s, height, candidates[best])
		if last == nil || score.Cmp(last) != 0 {
			given, last = map[string]uint64{}, score
		}
		heads := map[string]int{}
		for _, i := range left {
			c := candidates[i]
			if scoreRat(s, height, c).Cmp(score) != 0 {
				continue
			}
			if head, known := heads[c.Unit]; !known || older(c, candidates[head]) {
				heads[c.Unit] = i
			}
		}
		best = -1
		for _, i := range heads {
			if best < 0 || modelBefore(candidates[i], candidates[best], given) {
				best = i
			}
		}
		order = append(order, best)
		given[candidates[best].Unit]++
		left = slices.DeleteFunc(left, func(i int) bool { return i == best })
	}
	return order
}

func older(a, b market.Candidate) bool { return a.Due < b.Due || a.Due == b.Due && a.Seq < b.Seq }

func modelBefore(a, b market.Candidate, given map[string]uint64) bool {
	turnA, turnB := a.Recent+given[a.Unit], b.Recent+given[b.Unit]
	switch {
	case turnA != turnB:
		return turnA < turnB
	case a.Due != b.Due:
		return a.Due < b.Due
	case a.Actor != b.Actor:
		return a.Actor < b.Actor
	default:
		return a.Seq < b.Seq
	}
}

// scoreProperty: the order is that of the model, whatever order the candidates come in, and the same at every later height.
func scoreProperty(t *rapid.T) {
	s := drawScore(t)
	height := rapid.OneOf(rapid.Uint64Range(3, 50), rapid.Uint64Range(3, 1<<62)).Draw(t, "height")
	candidates := drawScored(t, height)
	order := s.Order(market.Prices{Height: height}, candidates)
	require.Equal(t, modelScoreOrder(s, height, candidates), order)

	later := height + rapid.Uint64Max(1<<40).Draw(t, "later")
	require.Equal(t, order, s.Order(market.Prices{Height: later}, candidates), "age grows for all alike")

	shuffled := rapid.Permutation(candidates).Draw(t, "shuffled")
	for place, i := range s.Order(market.Prices{Height: height}, shuffled) {
		require.Equal(t, candidates[order[place]], shuffled[i])
	}
}

// Rule: 1.7-score, 1.9-score-turns
func TestScoreOrdersAsTheModelDoes(t *testing.T) { rapid.Check(t, scoreProperty) }

func FuzzScoreOrdersAsTheModelDoes(f *testing.F) { f.Fuzz(rapid.MakeFuzz(scoreProperty)) }

// turnsProperty: among timers of equal score, wherever the lane ends, no target that fired as often as another before and
// still waits is two turns behind it, nor one that has caught up.
func turnsProperty(t *rapid.T) {
	s := score.Rules{Age: policytest.Dec("1"), Bid: policytest.Dec("0.01"), Rank: policytest.Dec("0")}
	candidates := drawScored(t, 9)
	for i := range candidates {
		candidates[i].Due, candidates[i].Ask = 9, market.Ask{}
	}
	waiting, fired := map[string]int{}, map[string]uint64{}
	for _, c := range candidates {
		waiting[c.Unit]++
		fired[c.Unit] = c.Recent
	}
	for _, i := range s.Order(market.Prices{Height: 9}, candidates) {
		unit := candidates[i].Unit
		for other, left := range waiting {
			if left > 0 {
				require.LessOrEqual(t, fired[unit], fired[other], "%q fires for the %d-th time before %q", unit, fired[unit]+1, other)
			}
		}
		fired[unit]++
		waiting[unit]--
	}
}

func TestNoTargetTakesTwoTurnsMoreThanAnother(t *testing.T) { rapid.Check(t, turnsProperty) }

// TestScorePrices: a fire pays the chain's basefees and its bid once; nothing is priced out.
//
// Rule: 1.7-score, 1.7-basefee-of-others
func TestScorePrices(t *testing.T) {
	prices := market.Prices{Cycle: policytest.Dec("0.001"), Cell: policytest.Dec("0.03"), Lane: policytest.Dec("7"), P50: policytest.Dec("3")}
	for name, c := range map[string]struct {
		ask     market.Ask
		lumpSum math.Int
	}{
		"nothing":      {market.Ask{}, math.Int{}},
		"a bid":        {market.Ask{Price: math.NewInt(12)}, math.NewInt(12)},
		"a tier":       {market.Ask{Kind: market.Urgent}, math.Int{}},
		"stated":       {market.StatedAsk(policytest.Dec("0"), policytest.Dec("0")), math.Int{}},
		"a bid of nil": {market.Ask{Price: math.ZeroInt()}, math.ZeroInt()},
	} {
		t.Run(name, func(t *testing.T) {
			price, willing := score.Rules{}.Price(prices, market.Candidate{Ask: c.ask})
			require.True(t, willing)
			require.Equal(t, prices.Cycle.String(), price.Cycle.String())
			require.Equal(t, prices.Cell.String(), price.Cell.String())
			require.True(t, price.Priority.IsZero())
			require.Equal(t, c.lumpSum, price.LumpSum)
		})
	}
	require.Equal(t, "0.001000000000000000", score.Rules{}.LaneBasefee(prices.Cycle, market.Last{Basefee: policytest.Dec("9"), Use: market.Use{Size: 7}}).String())
}

func BenchmarkScoreOrder(b *testing.B) {
	s := score.Rules{Age: policytest.Dec("1"), Bid: policytest.Dec("0.01"), Rank: policytest.Dec("0")}
	candidates := make([]market.Candidate, 2_048)
	for i := range candidates {
		actor := string([]byte{byte(i % 97)})
		candidates[i] = market.Candidate{
			Due: uint64(1_000 + i/500), Seq: uint64(i), Actor: actor, Unit: actor, Ask: market.Ask{Price: math.NewInt(int64(i % 3))},
		}
	}
	b.ResetTimer()
	for range b.N {
		s.Order(market.Prices{Height: 1_100}, candidates)
	}
}
