// Package policytest holds what the tests of the pure packages share: decimals and prices drawn about the edges
// that matter, candidates, and the vectors that an independent script computed.
package policytest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// MaxPrice is the largest price that a config and a bid admit.
const MaxPrice = "1000000000000000000"

// Dec is the decimal of a text.
func Dec(s string) math.LegacyDec { return math.LegacyMustNewDecFromStr(s) }

// Units is a decimal of as many units of the 18th decimal.
func Units(n *big.Int) math.LegacyDec {
	return math.LegacyNewDecFromBigIntWithPrec(n, math.LegacyPrecision)
}

// Rat is a decimal as a fraction.
func Rat(d math.LegacyDec) *big.Rat {
	return new(big.Rat).SetFrac(d.BigInt(), math.LegacyOneDec().BigInt())
}

// Truncated cuts a fraction off at 18 decimals.
func Truncated(r *big.Rat) *big.Rat {
	one := math.LegacyOneDec().BigInt()
	return new(big.Rat).SetFrac(new(big.Int).Quo(new(big.Int).Mul(r.Num(), one), r.Denom()), one)
}

// RequireDec requires two decimals to be equal, and prints them as decimals if they are not.
func RequireDec(t require.TestingT, want, got math.LegacyDec, about ...any) {
	require.Equal(t, want.String(), got.String(), about...)
}

// Tiers are the default ones.
func Tiers() market.Tiers {
	return market.Tiers{Economy: Dec("0.8"), Standard: Dec("1"), Fast: Dec("1.5"), Urgent: Dec("2.5"), TipCap: Dec("10")}
}

// DrawPrice draws a price that a config admits: often small, zero, the largest, or within two units of a given one.
func DrawPrice(t *rapid.T, name string, near ...math.LegacyDec) math.LegacyDec {
	largest := Dec(MaxPrice)
	choices := []*rapid.Generator[math.LegacyDec]{
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 12).Draw(t, "units"), math.LegacyPrecision)
		}),
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			whole := math.NewIntFromUint64(rapid.Uint64Max(1e18).Draw(t, "whole"))
			parts := math.NewIntFromUint64(rapid.Uint64Max(1e18-1).Draw(t, "parts"))
			return math.LegacyMinDec(largest, math.LegacyNewDecFromInt(whole).Add(math.LegacyNewDecFromIntWithPrec(parts, math.LegacyPrecision)))
		}),
		rapid.Custom(func(t *rapid.T) math.LegacyDec {
			return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 40).Draw(t, "thousandths"), 3)
		}),
		rapid.Just(largest),
	}
	for _, price := range near {
		choices = append(choices, rapid.Custom(func(t *rapid.T) math.LegacyDec {
			off := math.LegacyNewDecWithPrec(rapid.Int64Range(-2, 2).Draw(t, "off"), math.LegacyPrecision)
			return math.LegacyMinDec(largest, math.LegacyMaxDec(math.LegacyZeroDec(), price.Add(off)))
		}))
	}
	return rapid.OneOf(choices...).Draw(t, name)
}

// DrawCandidates draws candidates as the queue holds them: due heights that often repeat, and distinct seqs.
func DrawCandidates(t *rapid.T) []market.Candidate {
	n := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(20, 60)).Draw(t, "candidates")
	seqs := rapid.SliceOfNDistinct(rapid.Uint64(), n, n, rapid.ID[uint64]).Draw(t, "seqs")
	candidates := make([]market.Candidate, len(seqs))
	due := rapid.OneOf(rapid.Uint64Max(5), rapid.Uint64())
	for i, seq := range seqs {
		candidates[i] = market.Candidate{Due: due.Draw(t, "due"), Seq: seq, Size: rapid.Uint64().Draw(t, "size")}
	}
	return candidates
}

// TestingT is what reading a file of vectors needs of a test.
type TestingT interface {
	require.TestingT
	Helper()
}

// ReadVectors reads a file that scripts/vectors.py wrote, by its name in x/timers/testdata/vectors. It is for tests
// of package market and of those below it.
func ReadVectors[T any](t TestingT, name string) []T {
	t.Helper()
	file, err := os.ReadFile("../testdata/vectors/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.ReadFile("../../testdata/vectors/" + name)
	}
	require.NoError(t, err)
	var vectors []T
	require.NoError(t, json.Unmarshal(file, &vectors))
	require.NotEmpty(t, vectors)
	return vectors
}

// Ask is an ask as the vectors write it.
type Ask struct {
	Kind        string         `json:"kind"`
	MaxFee      math.LegacyDec `json:"max_fee"`
	MaxPriority math.LegacyDec `json:"max_priority"`
}

// Policy is the ask that the vector stands for.
func (a Ask) Policy(t TestingT) market.Ask {
	t.Helper()
	if a.Kind == "stated" {
		return market.StatedAsk(a.MaxFee, a.MaxPriority)
	}
	kind := slices.Index([]string{"estimated", "economy", "standard", "fast", "urgent"}, a.Kind)
	require.GreaterOrEqual(t, kind, 0, a.Kind)
	return market.Ask{Kind: market.Kind(kind)}
}
