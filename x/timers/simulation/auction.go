package simulation

import (
	"strconv"

	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	sdk "github.com/cosmos/cosmos-sdk/types"

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
