package market_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

const (
	// maxUnits and maxPrice are the largest numbers that a config admits.
	maxUnits = uint64(1) << 50
	maxPrice = "1000000000000000000"
)

// settlementVector is a case of testdata/vectors/settlement.json or, with a lump sum, settlement_once.json, which
// scripts/vectors.py computes in fractions.
type settlementVector struct {
	Name       string         `json:"name"`
	GasLimit   uint64         `json:"gas_limit"`
	CellLimit  uint64         `json:"cell_limit"`
	Cycles     uint64         `json:"cycles"`
	Cells      uint64         `json:"cells"`
	Basefee    math.LegacyDec `json:"basefee"`
	Lane       math.LegacyDec `json:"fee"`
	Priority   math.LegacyDec `json:"priority"`
	Cell       math.LegacyDec `json:"cell"`
	LumpSum    math.Int       `json:"once"`
	LaneCycles uint64         `json:"lane_cycles"`
	LaneCells  uint64         `json:"lane_cells"`
	Precharge  math.Int       `json:"precharge"`
	Charged    math.Int       `json:"charged"`
	Tip        math.Int       `json:"tip"`
	Burned     math.Int       `json:"burned"`
	Refund     math.Int       `json:"refund"`
	LaneBurned math.Int       `json:"lane_burned"`
}

// Rule: 1.1-sized-by-size, 1.1-truncate, 5.2-settlement, 5.2-lane-burned
func TestSettlementAgreesWithTheVectors(t *testing.T) {
	var vectors []settlementVector
	for _, name := range []string{"settlement.json", "settlement_once.json"} {
		vectors = append(vectors, policytest.ReadVectors[settlementVector](t, name)...)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			price := market.Price{
				Capacity: market.Capacity{Cycles: v.LaneCycles, Cells: v.LaneCells},
				Cycle:    v.Basefee, Cell: v.Cell, Lane: v.Lane, Priority: v.Priority, LumpSum: v.LumpSum,
			}
			preCharge := price.Cost(v.GasLimit, v.CellLimit)
			require.Equal(t, v.Precharge.String(), preCharge.String())
			s := price.Settle(preCharge, v.Cycles, v.Cells)
			require.Equal(t, v.Charged.String(), s.Charged.String(), "charged")
			require.Equal(t, v.Tip.String(), s.Tip.String(), "tip")
			require.Equal(t, v.Burned.String(), s.Burned.String(), "burned")
			require.Equal(t, v.Refund.String(), s.Refund.String(), "refund")
			require.Equal(t, v.LaneBurned.String(), s.LaneBurned.String(), "lane burned")
		})
	}
}

// drawPrice draws a price that a config admits, often a small one and often none.
func drawPrice(t *rapid.T, name string) math.LegacyDec {
	most := math.LegacyMustNewDecFromStr(maxPrice)
	whole := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Max(10), rapid.Uint64()).Draw(t, name)
	parts := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Max(10), rapid.Uint64Max(999_999_999_999_999_999)).Draw(t, name+" parts")
	price := math.LegacyNewDecFromInt(math.NewIntFromUint64(whole)).
		Add(math.LegacyNewDecFromIntWithPrec(math.NewIntFromUint64(parts), math.LegacyPrecision))
	return math.LegacyMinDec(price, most)
}

func drawPrices(t *rapid.T) market.Price {
	price := market.Price{
		Capacity: market.Capacity{Cycles: 1 + drawUnits(t, "lane cycles", maxUnits-1), Cells: 1 + drawUnits(t, "lane cells", maxUnits-1)},
		Cycle:    drawPrice(t, "cycle"), Cell: drawPrice(t, "cell"), Lane: drawPrice(t, "lane"), Priority: drawPrice(t, "priority"),
	}
	if rapid.Bool().Draw(t, "a lump sum") {
		price.LumpSum = drawLumpSum(t)
	}
	return price
}

// drawLumpSum draws a lump sum of any size up to the largest bid.
func drawLumpSum(t *rapid.T) math.Int {
	sum := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "lump sum"))
	return math.NewIntFromBigInt(sum)
}

// lumpSum is what the price takes for the fire as such.
func lumpSum(p market.Price) math.Int {
	if p.LumpSum.IsNil() {
		return math.ZeroInt()
	}
	return p.LumpSum
}

func drawUnits(t *rapid.T, name string, most uint64) uint64 {
	return rapid.OneOf(rapid.Uint64Max(most), rapid.Uint64Max(min(most, 3)), rapid.Just(most)).Draw(t, name)
}

// formula is what a charge is rounded up from, as a decimal: products of a decimal and an integer are exact.
func formula(p market.Price, cycles, cells uint64) math.LegacyDec {
	units := func(n uint64) math.LegacyDec { return math.LegacyNewDecFromInt(math.NewIntFromUint64(n)) }
	size := units(p.Capacity.Size(cycles, cells))
	return p.Cycle.Mul(units(cycles)).Add(p.Cell.Mul(units(cells))).Add(p.Lane.Mul(size)).Add(p.Priority.Mul(size)).
		Add(math.LegacyNewDecFromInt(lumpSum(p)))
}

// settlementProperty: nothing appears and nothing is lost, no one gets what is negative, and the rounding goes where
// x/timers/README.md, "5.2 Settlement", says.
func settlementProperty(t *rapid.T) {
	price := drawPrices(t)
	gasLimit, maxCells := drawUnits(t, "gas limit", maxUnits), drawUnits(t, "max cells", maxUnits)
	cycles, cells := drawUnits(t, "cycles", gasLimit), drawUnits(t, "cells", maxCells)

	preCharge := price.Cost(gasLimit, maxCells)
	s := price.Settle(preCharge, cycles, cells)
	require.Equal(t, preCharge.String(), s.Burned.Add(s.Tip).Add(s.Refund).String(), "burned + tip + refund = pre-charge")
	require.Equal(t, s.Charged.String(), s.Burned.Add(s.Tip).String(), "burned + tip = charged")
	for name, part := range map[string]math.Int{"charged": s.Charged, "tip": s.Tip, "burned": s.Burned, "refund": s.Refund} {
		require.False(t, part.IsNegative(), "%s is %s", name, part)
	}

	exact, charged := formula(price, cycles, cells), math.LegacyNewDecFromInt(s.Charged)
	require.True(t, charged.GTE(exact), "charged %s is below the formula %s", charged, exact)
	require.True(t, charged.LT(exact.Add(math.LegacyOneDec())), "charged %s is a unit above the formula %s", charged, exact)
	tip, exactTip := math.LegacyNewDecFromInt(s.Tip), formula(market.Price{
		Capacity: price.Capacity, Cycle: math.LegacyZeroDec(), Cell: math.LegacyZeroDec(), Lane: math.LegacyZeroDec(),
		Priority: price.Priority, LumpSum: price.LumpSum,
	}, cycles, cells)
	require.True(t, tip.LTE(exactTip) && tip.GT(exactTip.Sub(math.LegacyOneDec())), "tip %s of %s", tip, exactTip)
	require.True(t, s.Tip.LTE(s.Charged), "tip %s of charged %s", s.Tip, s.Charged)
	require.True(t, s.LaneBurned.LTE(s.Burned), "the lane's fee %s of burned %s", s.LaneBurned, s.Burned)
}

// monotoneProperty: who uses more, or at a higher price, never pays less.
func monotoneProperty(t *rapid.T) {
	price := drawPrices(t)
	cycles, cells := drawUnits(t, "cycles", maxUnits), drawUnits(t, "cells", maxUnits)
	cost := price.Cost(cycles, cells)
	moreCycles, moreCells := drawUnits(t, "more cycles", maxUnits-cycles), drawUnits(t, "more cells", maxUnits-cells)
	require.True(t, price.Cost(cycles+moreCycles, cells+moreCells).GTE(cost), "in units")

	pricier := market.Price{
		Capacity: price.Capacity, Cycle: price.Cycle.Add(drawPrice(t, "cycle rise")), Cell: price.Cell.Add(drawPrice(t, "cell rise")),
		Lane: price.Lane.Add(drawPrice(t, "lane rise")), Priority: price.Priority.Add(drawPrice(t, "priority rise")),
		LumpSum: lumpSum(price).Add(drawLumpSum(t)),
	}
	require.True(t, pricier.Cost(cycles, cells).GTE(cost), "in prices")

	preCharge := price.Cost(maxUnits, maxUnits)
	less, more := price.Settle(preCharge, cycles, cells), price.Settle(preCharge, cycles+moreCycles, cells+moreCells)
	require.True(t, more.Tip.GTE(less.Tip) && more.Refund.LTE(less.Refund), "in tip and refund")
}

// Rule: 2.2-conservation
func TestSettlementSharesOutThePreCharge(t *testing.T) { rapid.Check(t, settlementProperty) }

func FuzzSettlementSharesOutThePreCharge(f *testing.F) { f.Fuzz(rapid.MakeFuzz(settlementProperty)) }

func TestCostIsMonotone(t *testing.T) { rapid.Check(t, monotoneProperty) }

func FuzzCostIsMonotone(f *testing.F) { f.Fuzz(rapid.MakeFuzz(monotoneProperty)) }

// TestSplittingAFireIsNeverCheaper: splitting work over timers is no way to pay less, but for what the proportion of sizes
// is rounded down: less than a unit of size for each part.
func TestSplittingAFireIsNeverCheaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := drawPrices(t)
		a, b := drawUnits(t, "first", maxUnits/2), drawUnits(t, "second", maxUnits/2)
		c, d := drawUnits(t, "first's cells", maxUnits/2), drawUnits(t, "second's cells", maxUnits/2)
		unit := price.Lane.Add(price.Priority).Ceil().TruncateInt()
		split := price.Cost(a, c).Add(price.Cost(b, d))
		require.True(t, split.Add(unit).GTE(price.Cost(a+b, c+d)))
	})
}

func BenchmarkSettle(b *testing.B) {
	price := market.Price{
		Capacity: market.Capacity{Cycles: 2_000_000, Cells: 2_000_000},
		Cycle:    math.LegacyNewDecWithPrec(1, 3), Cell: math.LegacyNewDecWithPrec(3, 2),
		Lane: math.LegacyNewDecWithPrec(1, 3), Priority: math.LegacyNewDecWithPrec(5, 4),
	}
	for range b.N {
		price.Settle(price.Cost(550_000, 550_000), 123_457, 8_191)
	}
}

// equalDecimals: integers give what decimals do, to the unit, for prices and units of any size.
func equalDecimals(t *rapid.T) {
	price := drawPrices(t)
	cycles, cells := drawUnits(t, "cycles", ^uint64(0)), drawUnits(t, "cells", ^uint64(0))
	if price.Capacity.Size(cycles, cells) == ^uint64(0) {
		cells = 0
	}
	cost := formula(price, cycles, cells).Ceil().TruncateInt()
	require.Equal(t, cost.String(), price.Cost(cycles, cells).String())
	size := math.NewIntFromUint64(price.Capacity.Size(cycles, cells))
	s := price.Settle(cost, cycles, cells)
	require.Equal(t, price.Priority.MulInt(size).TruncateInt().Add(lumpSum(price)).String(), s.Tip.String())
	require.Equal(t, price.Lane.MulInt(size).TruncateInt().String(), s.LaneBurned.String())
	require.True(t, s.Refund.IsZero())
}

// Rule: 1.1-truncate
func TestIntegersGiveWhatDecimalsDo(t *testing.T) { rapid.Check(t, equalDecimals) }

func FuzzIntegersGiveWhatDecimalsDo(f *testing.F) { f.Fuzz(rapid.MakeFuzz(equalDecimals)) }

// TestCostAtTheEdgeOf128Bits: the largest price of 64 bits, the largest units, and a unit of the last decimal more.
func TestCostAtTheEdgeOf128Bits(t *testing.T) {
	edge := math.LegacyNewDecFromBigIntWithPrec(new(big.Int).SetUint64(^uint64(0)), math.LegacyPrecision)
	for _, extra := range []math.LegacyDec{math.LegacyZeroDec(), math.LegacySmallestDec(), math.LegacyOneDec()} {
		for _, units := range []uint64{0, 1, 1<<50 + 1, ^uint64(0) - 1} {
			price := market.Price{
				Capacity: market.Capacity{Cycles: 1 << 50, Cells: 1 << 50},
				Cycle:    edge.Add(extra), Cell: edge, Lane: edge, Priority: edge.Add(extra),
			}
			require.Equal(t, formula(price, units, 0).Ceil().TruncateInt().String(), price.Cost(units, 0).String(), "%s %d", extra, units)
		}
	}
}
