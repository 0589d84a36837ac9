package simulation

import (
	"strconv"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// price bids a sum that the owner can lock, if policy auction is in force. It sometimes bids none, and always if the
// owner has no funds.
func price(data *simsx.ChainDataSource, owner simsx.SimAccount) *types.Bid {
	amount := int64(data.Rand().IntInRange(0, 5_000))
	if !owner.LiquidBalance().BlockAmount(sdk.NewInt64Coin(sdk.DefaultBondDenom, amount)) {
		amount = 0
	}
	return &types.Bid{Price: strconv.FormatInt(amount, 10)}
}

// auction draws the parameters of policy auction.
func auction(data *simsx.ChainDataSource, config *types.TimerConfig) {
	r := data.Rand()
	config.Auction.PaymentRule = types.PaymentVCG
	if r.Intn(3) == 0 {
		config.Auction.PaymentRule = types.PaymentFirstPrice
	}
	config.Auction.ReservePrice = decimal.IntOf(math.NewInt(int64(r.Intn(500))))
	config.Auction.LambdaMin = decimal.Of(math.LegacyNewDecWithPrec(int64(r.IntInRange(1, 100)), 3))
	config.Auction.LambdaStart = decimal.Of(config.Auction.LambdaMin.MulInt64(int64(r.IntInRange(1, 5))))
	config.Auction.LambdaMax = decimal.Of(config.Auction.LambdaStart.MulInt64(int64(r.IntInRange(1, 10))))
	config.Auction.LambdaStep = decimal.Of(math.LegacyNewDecWithPrec(int64(r.IntInRange(0, 50)), 2))
	config.Auction.AuctionWindowBlocks = r.Uint64InRange(1, 50)
}
