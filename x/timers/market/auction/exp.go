package auction

import (
	"math/big"

	"cosmossdk.io/math"
)

const (
	// MaxExponent is the largest exponent that Exp computes with; a larger one counts as this. e^128 is above
	// 2^184, which is more than the largest bid (below 2^96) times the largest ratio of two gas limits (2^50).
	MaxExponent = 128
	// expBits is the number of binary places that Exp computes with. Of their precision e^128 leaves 135 places
	// after the point, where 18 decimals need 60.
	expBits = 320
	// halvings of the fraction before the series is summed up. Each saves terms of the series, and costs one
	// squaring afterwards.
	halvings = 16
)

var (
	// expOne is 1 and euler is e, with expBits binary places. decimalOne is 1 in units of the 18th decimal. None is
	// ever written to: all arithmetic puts its results elsewhere.
	expOne     = new(big.Int).Lsh(big.NewInt(1), expBits)
	euler      = series(expOne)
	decimalOne = math.LegacyOneDec().BigInt()
)

// Exp is e^x for x ≥ 0, up to MaxExponent. It uses integers alone, so that every node computes the same.
//
// Error: it is never above e^x, and less than 1.001 units of the 18th decimal below it. Rounding thus never favours
// the timer that waits.
//
// Monotonicity: it does not fall as x grows, so that waiting never costs a place. Every step is a sum, product or
// quotient of non-negative integers, rounded down, and each of these is monotonic.
func Exp(x math.LegacyDec) math.LegacyDec {
	x = math.LegacyMinDec(x, math.LegacyNewDec(MaxExponent))
	fixed := x.BigInt()
	fixed.Lsh(fixed, expBits).Quo(fixed, decimalOne)
	// fixed is x with expBits binary places, split into a whole number and a fraction below 1.
	whole := new(big.Int).Rsh(fixed, expBits)
	fraction := fixed.Sub(fixed, new(big.Int).Lsh(whole, expBits))

	// e^x = (e^(fraction ÷ 2^halvings))^(2^halvings) × e^whole
	result, product := series(fraction.Rsh(fraction, halvings)), new(big.Int)
	for range halvings {
		expMul(result, result, product)
	}
	// Powers of e by squaring: one bit of the exponent a round.
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

// series is e^x by its power series: the sum of x^k / k! for x from 0 to 1, both with expBits binary places. It ends
// with the first term that is rounded to 0, after 67 terms at most.
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

// expMul sets a to a × b, rounded down, for numbers with expBits binary places. product is scratch space, so that a
// block of biases allocates little.
func expMul(a, b, product *big.Int) { a.Rsh(product.Mul(a, b), expBits) }
