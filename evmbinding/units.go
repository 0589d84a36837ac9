package evmbinding

import (
	"math/big"

	evmtypes "github.com/cosmos/evm/x/vm/types"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The EVM counts in wei, 18 decimals, whatever the decimals of the bank's denom are, in which the module counts.

// weiPerUnit is how many wei a unit of the bank's denom is.
func weiPerUnit() *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(18-evmtypes.GetEVMCoinDecimals())), nil)
}

// unitsOf is an amount in whole units, rounded down: what bounds a charge is never raised.
func unitsOf(wei *big.Int) math.Int {
	return math.NewIntFromBigInt(new(big.Int).Quo(wei, weiPerUnit()))
}

// weiOf is an amount of units, given as the module's queries write it; empty is 0.
func weiOf(units string) (*big.Int, error) {
	if units == "" {
		return new(big.Int), nil
	}
	n, ok := new(big.Int).SetString(units, 10)
	if !ok {
		return nil, types.ErrInternal.Wrapf("%.80q is no amount", units)
	}
	return n.Mul(n, weiPerUnit()), nil
}

// maxPriceBits bounds prices, of which decimals hold no more with their 18 digits.
const maxPriceBits = 192

// priceOf is a price in units, given in wei.
func priceOf(wei *big.Int) (math.LegacyDec, error) {
	if wei.BitLen() > maxPriceBits {
		return math.LegacyDec{}, types.ErrInvalidBid.Wrapf("a price of %s wei", wei)
	}
	return math.LegacyNewDecFromBigIntWithPrec(wei, int64(18-evmtypes.GetEVMCoinDecimals())), nil
}

// weiPriceOf is a price in wei, rounded up: no quote is below the charge.
func weiPriceOf(price string) (*big.Int, error) {
	dec, err := math.LegacyNewDecFromStr(price)
	if err != nil {
		return nil, types.ErrInternal.Wrapf("%.80q is no price", price)
	}
	return dec.MulInt(math.NewIntFromBigInt(weiPerUnit())).Ceil().TruncateInt().BigInt(), nil
}
