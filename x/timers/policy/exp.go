package policy

import (
	"math/big"

	"cosmossdk.io/math"
)

const (
	// MaxExponent is the largest exponent that Exp reckons with: what lies above counts as it. e^128 is above 2^184, which is
	// more than the largest bid (below 2^96) times the largest ratio of two gas limits (2^50).
	MaxExponent = 128
	// expBits are the binary places that Exp reckons with. e^128 leaves 135 of them beyond the point, where 18 decimals
	// need 60.
	expBits = 320
	// halvings of the fraction before the series is summed up: each saves terms and costs a squaring.
	halvings = 16
)

var (
	expOne     = new(big.Int).Lsh(big.NewInt(1), expBits)
	euler      = series(expOne)
	decimalOne = math.LegacyOneDec().BigInt()
)

// Exp is e^x for x ≥ 0, up to MaxExponent. It is never above e^x, less than 1.001 units of the 18th decimal below it, and
// does not fall as x grows: every step is a sum, product or quotient of non-negative integers, rounded down.
func Exp(x math.LegacyDec) math.LegacyDec {
	x = math.LegacyMinDec(x, math.LegacyNewDec(MaxExponent))
	fixed := x.BigInt()
	fixed.Lsh(fixed, expBits).Quo(fixed, decimalOne)
	whole := new(big.Int).Rsh(fixed, expBits)
	fraction := fixed.Sub(fixed, new(big.Int).Lsh(whole, expBits))

	result, product := series(fraction.Rsh(fraction, halvings)), new(big.Int)
	for range halvings {
		expMul(result, result, product)
	}
	for power, left := new(big.Int).Set(euler), whole.Uint64(); left > 0; left >>= 1 {
		if left&1 == 1 {
			expMul(result, power, product)
		}
		if left > 1 {
			expMul(power, power, product)
		}
	}
	result.Mul(result, decimalOne).Rsh(result, expBits)
	return math.LegacyNewDecFromBigIntWithPrec(result, math.LegacyPrecision)
}

// series sums up x^k / k! for x from 0 to 1 until the terms vanish, after 67 at most.
func series(x *big.Int) *big.Int {
	sum, term, product, k := new(big.Int).Set(expOne), new(big.Int).Set(expOne), new(big.Int), new(big.Int)
	for i := int64(1); ; i++ {
		expMul(term, x, product)
		term.Quo(product.Set(term), k.SetInt64(i))
		if term.Sign() == 0 {
			return sum
		}
		sum.Add(sum, term)
	}
}

// expMul multiplies a by b, rounded down. The product is room to reckon in, so that a block of biases allocates little.
func expMul(a, b, product *big.Int) { a.Rsh(product.Mul(a, b), expBits) }
