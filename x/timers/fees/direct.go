package fees

import (
	"context"
	"errors"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Balances are the balances as the chain's bank stores them, by address and denom: the field Balances of the keeper of
// x/bank. With them a fire debits its payer without a transfer, which costs a third of the time. What a block collects
// reaches the module's account once, at its end.
//
// They know no send restriction, so that a chain that has some goes without them. While the timers of a block fire, what
// they were charged is on no account; a handler that adds up all balances finds less than the supply.
type Balances interface {
	Get(ctx context.Context, key BalanceKey) (math.Int, error)
	Set(ctx context.Context, key BalanceKey, amount math.Int) error
	Remove(ctx context.Context, key BalanceKey) error
}

// BalanceKey is an address and a denom.
type BalanceKey = collections.Pair[sdk.AccAddress, string]

// placer is implemented by Balances that can say where in a store a balance lies. There the amount of a balance that is there
// already is written for less than by Set. Watches do not see what is written.
type placer interface {
	place(ctx context.Context, key BalanceKey) place
}

// BankBalances are the balances of x/bank, of which an amount is changed without a write to the bank's index by denom.
// That index says who has a denom, and not how much.
type BankBalances struct {
	Balances
	// service opens the bank's store. Watches do not see what is written, in any context.
	service store.KVStoreService
}

var _ placer = BankBalances{}

// NewBankBalances returns the balances of a bank. The service is that of the bank's store, wrapped as the bank's keeper
// has it, and balances are the field Balances of that keeper.
func NewBankBalances(service store.KVStoreService, balances Balances) BankBalances {
	return BankBalances{balances, watch.MutedService(service)}
}

// Get implements Balances.
func (b BankBalances) Get(ctx context.Context, key BalanceKey) (math.Int, error) {
	at := b.place(ctx, key)
	return at.get()
}

var balanceKey = collections.PairKeyCodec(sdk.AccAddressKey, collections.StringKey)

func (b BankBalances) place(ctx context.Context, key BalanceKey) place {
	at, err := collections.EncodeKeyWithPrefix(banktypes.BalancesPrefix.Bytes(), balanceKey, key)
	return place{b.service.OpenKVStore(ctx), at, err}
}

// spendableOf is the balance of an account without the coins that vesting locks; below 0 if more is locked than is there.
func (f *Fees) spendableOf(ctx sdk.Context, config *types.TimerConfig, account sdk.AccountI, balance math.Int) math.Int {
	if v, ok := account.(vesting); ok {
		return balance.Sub(v.LockedCoins(ctx.BlockTime()).AmountOf(config.FeeDenom))
	}
	return balance
}

// settleDirectly returns a part of a pre-charge, and emits what the account has spent in all, as the bank would. An
// account that was charged more before for the call of its agent may have received something.
func (f *Fees) settleDirectly(ctx context.Context, config *types.TimerConfig, p *holding, preCharged, refund math.Int) error {
	if refund.IsPositive() {
		balance, err := p.get(ctx)
		if errors.Is(err, collections.ErrNotFound) {
			balance, err = math.ZeroInt(), nil
		}
		if err != nil {
			return err
		}
		if err := p.set(ctx, balance, balance.Add(refund)); err != nil {
			return err
		}
	}
	events, payer := sdk.UnwrapSDKContext(ctx).EventManager(), p.key.K1()
	switch net := preCharged.Sub(refund); {
	case net.IsPositive():
		events.EmitEvent(banktypes.NewCoinSpentEvent(payer, coins(config, net)))
	case net.IsNegative():
		events.EmitEvent(banktypes.NewCoinReceivedEvent(payer, coins(config, net.Neg())))
	}
	return nil
}

// collect credits the module's account with what the fires of a block were charged directly.
func (f *Fees) collect(ctx sdk.Context, config *types.TimerConfig, amount math.Int) error {
	if f.Balances == nil || !amount.IsPositive() {
		return nil
	}
	own := f.holding(ctx, config, f.Account)
	balance := own.balance(ctx)
	if err := own.set(ctx, balance, balance.Add(amount)); err != nil {
		return err
	}
	ctx.EventManager().EmitEvent(banktypes.NewCoinReceivedEvent(f.Account, coins(config, amount)))
	return nil
}
