package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// spendCapProperty: at a fee, a tip and a lump sum, a pre-charge is within max_charge exactly if the spend cap says so.
func spendCapProperty(t *rapid.T) {
	price := rapid.Custom(func(t *rapid.T) math.LegacyDec {
		return math.LegacyNewDecWithPrec(rapid.Int64Range(0, 3_000).Draw(t, "price"), int64(rapid.IntRange(0, 18).Draw(t, "precision")))
	})
	prices := market.Prices{
		Capacity: market.Capacity{Cycles: rapid.Uint64Range(1, 3_000).Draw(t, "cycles of the lane"), Cells: rapid.Uint64Range(1, 3_000).Draw(t, "cells of the lane")},
		Cycle:    price.Draw(t, "cycle"), Cell: price.Draw(t, "cell"),
	}
	gas, cells := rapid.Uint64Range(1, 300).Draw(t, "gas"), rapid.Uint64Range(0, 300).Draw(t, "cells")
	fire := prices.Price(price.Draw(t, "fee"), price.Draw(t, "tip"))
	// At the cost, one below and one above it, or anywhere.
	most := fire.Cost(gas, cells).AddRaw(rapid.OneOf(rapid.Int64Range(-1, 1), rapid.Int64Range(-100_000, 100_000)).Draw(t, "off"))
	most = math.MaxInt(most, math.ZeroInt())
	spendCap := market.SpendCapOf(most, prices, gas, cells)
	require.False(t, spendCap.Unbounded())

	perSize := fire.Lane.Add(fire.Priority)
	require.Equal(t, fire.Cost(gas, cells).LTE(most), spendCap.Lower(perSize).Equal(perSize), "cost %s, spend cap %s", fire.Cost(gas, cells), spendCap.PerSize)
	bare := prices.Price(math.LegacyZeroDec(), math.LegacyZeroDec())
	require.Equal(t, bare.Cost(gas, cells).GT(most), spendCap.Exhausted())
	require.Equal(t, bare.Cost(gas, cells).LTE(most), spendCap.Covers(math.Int{}))
	sum := math.NewInt(rapid.Int64Range(0, 200_000).Draw(t, "lump sum"))
	bare.LumpSum = sum
	require.Equal(t, bare.Cost(gas, cells).LTE(most), spendCap.Covers(sum))
}

func TestSpendCap_IsWhatMaxChargeLeaves(t *testing.T) { rapid.Check(t, spendCapProperty) }

func TestSpendCap_IsAtMostTheLargestPrice(t *testing.T) {
	most, _ := math.NewIntFromString("79228162514264337593543950335")
	prices := market.Prices{Capacity: market.Capacity{Cycles: 1, Cells: 1}, Cycle: math.LegacyZeroDec(), Cell: math.LegacyZeroDec()}
	require.Equal(t, math.LegacyNewDec(1e18), market.SpendCapOf(most, prices, 1, 0).PerSize)
	var none market.SpendCap
	require.True(t, none.Unbounded())
	require.False(t, none.Exhausted())
	require.True(t, none.Covers(most))
	require.Equal(t, math.LegacyOneDec(), none.Lower(math.LegacyOneDec()))
}
