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

// changer is implemented by Balances that can write the amount of a balance that is there already for less than Set. Watches
// do not see what it writes.
type changer interface {
	Change(ctx context.Context, key BalanceKey, amount math.Int) error
}

// BankBalances are the balances of x/bank, of which an amount is changed without a write to the bank's index by denom.
// That index says who has a denom, and not how much.
type BankBalances struct {
	Balances
	amounts collections.Map[BalanceKey, math.Int]
}

var _ changer = BankBalances{}

// NewBankBalances returns the balances of a bank. The service is that of the bank's store, wrapped as the bank's keeper
// has it, and balances are the field Balances of that keeper.
func NewBankBalances(service store.KVStoreService, balances Balances) BankBalances {
	// The schema is the bank's own. It is not built, since it declares the balances only.
	sb := collections.NewSchemaBuilder(watch.MutedService(service))
	return BankBalances{balances, collections.NewMap(sb, banktypes.BalancesPrefix, "balances",
		collections.PairKeyCodec(sdk.AccAddressKey, collections.StringKey), banktypes.BalanceValueCodec)}
}

// Get implements Balances.
func (b BankBalances) Get(ctx context.Context, key BalanceKey) (math.Int, error) {
	return b.amounts.Get(ctx, key)
}

// Change writes the amount of a balance that is there. Watches do not see it, in any context.
func (b BankBalances) Change(ctx context.Context, key BalanceKey, amount math.Int) error {
	return b.amounts.Set(ctx, key, amount)
}

// balanceOf is what an account has of the fee denom; nothing if that can't be read, as the bank has it.
func (f *Fees) balanceOf(ctx context.Context, config *types.TimerConfig, addr sdk.AccAddress) math.Int {
	amount, err := f.Balances.Get(ctx, collections.Join(addr, config.FeeDenom))
	if err != nil {
		return math.ZeroInt()
	}
	return amount
}

// setBalance writes what an account has of the fee denom, and had before. The bank stores no balance of nothing.
func (f *Fees) setBalance(ctx context.Context, config *types.TimerConfig, addr sdk.AccAddress, before, amount math.Int) error {
	key := collections.Join(addr, config.FeeDenom)
	change, changes := f.Balances.(changer)
	switch {
	case amount.IsNegative():
		return types.ErrInternal.Wrapf("the balance of %s would be %s", addr, amount)
	case amount.IsZero():
		return f.Balances.Remove(watch.Muted(ctx), key)
	case changes && before.IsPositive():
		return change.Change(ctx, key, amount)
	default:
		return f.Balances.Set(watch.Muted(ctx), key, amount)
	}
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
func (f *Fees) settleDirectly(ctx context.Context, config *types.TimerConfig, payer sdk.AccAddress, preCharged, refund math.Int) error {
	if refund.IsPositive() {
		balance, err := f.Balances.Get(ctx, collections.Join(payer, config.FeeDenom))
		if errors.Is(err, collections.ErrNotFound) {
			balance, err = math.ZeroInt(), nil
		}
		if err != nil {
			return err
		}
		if err := f.setBalance(ctx, config, payer, balance, balance.Add(refund)); err != nil {
			return err
		}
	}
	events := sdk.UnwrapSDKContext(ctx).EventManager()
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
	balance := f.balanceOf(ctx, config, f.Account)
	if err := f.setBalance(ctx, config, f.Account, balance, balance.Add(amount)); err != nil {
		return err
	}
	ctx.EventManager().EmitEvent(banktypes.NewCoinReceivedEvent(f.Account, coins(config, amount)))
	return nil
}
