package types

import (
	"context"

	"cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// BankKeeper moves and burns fees.
type BankKeeper interface {
	BlockedAddr(addr sdk.AccAddress) bool
	GetBalance(ctx context.Context, addr sdk.AccAddress, denom string) sdk.Coin
	GetSupply(ctx context.Context, denom string) sdk.Coin
	SendCoins(ctx context.Context, from, to sdk.AccAddress, amt sdk.Coins) error
	SendCoinsFromModuleToModule(ctx context.Context, sender, recipient string, amt sdk.Coins) error
	BurnCoins(ctx context.Context, moduleName string, amt sdk.Coins) error
}

// AccountKeeper distinguishes module accounts from all others.
type AccountKeeper interface {
	// GetAccount reads nothing but the record of the account.
	GetAccount(ctx context.Context, addr sdk.AccAddress) sdk.AccountI
	GetModuleAddress(name string) sdk.AccAddress
	GetModuleAccount(ctx context.Context, name string) sdk.ModuleAccountI
}

// FeegrantKeeper keeps fee allowances, by which an account other than the actor consents to pay (x/timers/README.md,
// "1.11 Fee payer"). The keeper of x/feegrant is one.
type FeegrantKeeper interface {
	// GetAllowance returns the allowance from granter to grantee. It reads nothing but the record of the allowance.
	GetAllowance(ctx context.Context, granter, grantee sdk.AccAddress) (feegrant.FeeAllowanceI, error)
	// UseGrantedFees draws the fee on the allowance from granter to grantee. It fails if that does not cover it.
	UseGrantedFees(ctx context.Context, granter, grantee sdk.AccAddress, fee sdk.Coins, msgs []sdk.Msg) error
}

// TipCollector pays out the tips of a block from the module's account. If it fails, they go to the fee collector.
type TipCollector interface {
	PayTips(ctx context.Context, from string, tips sdk.Coins) error
}

// BasefeeSource is the chain's fee market (x/timers/README.md, "5.2 Settlement").
type BasefeeSource interface {
	// Basefees returns the prices, in fee denom, of a cycle and of a cell in this block, each from 0 to 10^18. They must be
	// the same on every node. The source only reads, and uses at most 200,000 gas. If it fails or answers anything else,
	// its last good prices hold.
	Basefees(ctx context.Context, config *TimerConfig) (cycle, cell math.LegacyDec, err error)
}
