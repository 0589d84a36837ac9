// Package fees moves the money of fires: who may pay, what is charged in advance, returned, burned and tipped
// (x/timers/README.md, "5.2 Settlement").
//
// FromBaseFee and FromMinGasPrices adapt the fee markets that chains use: a chain gives the adapter to the keeper by
// keeper.WithBasefeeSource. Neither imports a fee market; each takes the one method that it needs. A fee market has a price of
// gas. A cycle is a unit of gas, so that it has that price. A cell is a byte written, which the SDK's gas schedule makes
// WriteCostPerByte of gas: it costs as many times as much.
//
// Invariant: between blocks the module's account holds the bids that are locked, and nothing else.
package fees

import (
	"context"
	"errors"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// Fees makes the module's transfers. Watches do not see them: they belong neither to a transaction nor to a handler,
// and a timer that watches its payer's balance must not be made due by its own fee.
type Fees struct {
	// Accounts and Addresses of the chain.
	Accounts  types.AccountKeeper
	Addresses types.Addresses
	// AccountStore is where x/auth keeps the accounts; nil on a chain on which each look at a payer decodes its account.
	AccountStore store.KVStoreService
	// Bank moves the coins.
	Bank types.BankKeeper
	// Balances debit payers without transfers; nil on a chain on which the bank moves what fires are charged.
	Balances Balances
	// Feegrant is nil on a chain without fee allowances.
	Feegrant types.FeegrantKeeper
	// Tips collects the tips; Defaults fills it in.
	Tips types.TipCollector
	// Basefees is the chain's fee market; nil on a chain without one, whose config has the prices.
	Basefees types.BasefeeSource
	// Account is the module's own.
	Account sdk.AccAddress
}

// Defaults fills in the optional parts: tips go to the fee collector.
func (f *Fees) Defaults() {
	if f.Tips == nil {
		f.Tips = feeCollectorTips{f.Bank}
	}
}

// PreCharge debits the payer for the most that the fire can cost, or returns ErrInsufficientFunds. It returns the cycles
// that the fire counts for what reading and writing the payer's records takes.
func (f *Fees) PreCharge(ctx context.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) (payerCycles uint64, err error) {
	payer, covers := f.covers(ctx, config, t, amount)
	if !covers {
		return 0, types.ErrInsufficientFunds
	}
	return payer.Cycles, f.debit(ctx, config, t, &payer, amount)
}

// debit takes an amount from a payer that was found to cover it.
func (f *Fees) debit(ctx context.Context, config *types.TimerConfig, t *types.Timer, payer *Payer, amount math.Int) error {
	switch {
	case !amount.IsPositive():
		return nil
	case f.Balances != nil:
		return payer.holding.set(ctx, payer.balance, payer.balance.Sub(amount))
	default:
		return f.Bank.SendCoins(watch.Muted(ctx), t.Payer(), f.Account, coins(config, amount))
	}
}

// Refund returns what the fire did not use of its pre-charge, and draws the charge on the allowance if there is one. The
// charge is drawn, and not the pre-charge, because an allowance limits what is paid.
func (f *Fees) Refund(ctx context.Context, config *types.TimerConfig, t *types.Timer, preCharged, refund math.Int) error {
	return f.RefundTo(ctx, config, t, &Payer{}, preCharged, refund)
}

// RefundTo is Refund for a payer as the pre-charge found it. The context must be on the same branch of state. If it fails,
// nothing was returned.
func (f *Fees) RefundTo(
	ctx context.Context, config *types.TimerConfig, t *types.Timer, found *Payer, preCharged, refund math.Int,
) error {
	if preCharged.IsZero() && refund.IsZero() {
		return nil
	}
	payer := t.Payer()
	if f.Balances != nil {
		if found.holding.isEmpty() {
			found.holding = f.holding(ctx, config, payer)
		}
		if err := f.settleDirectly(ctx, config, &found.holding, preCharged, refund); err != nil {
			return err
		}
	} else if refund.IsPositive() {
		// The bank may refuse or fail half-way. Who calls burns what can't be returned.
		err := sandbox.Run(sdk.UnwrapSDKContext(ctx), func(ctx sdk.Context) error {
			return f.Bank.SendCoins(watch.Muted(ctx), f.Account, payer, coins(config, refund))
		})
		if err != nil {
			return err
		}
	}
	charged := preCharged.Sub(refund)
	if !t.Sponsored() || !charged.IsPositive() {
		return nil
	}
	// The allowance covered the pre-charge when the fire began. If the handler has spent or revoked it meanwhile, the
	// fire stands: the payer had consented, and was charged once.
	_ = sandbox.Run(sdk.UnwrapSDKContext(ctx), func(ctx sdk.Context) error {
		return f.drawAllowance(ctx, payer, t.Principal(), coins(config, charged))
	})
	return nil
}

// Lock takes an amount from an account into the module's.
func (f *Fees) Lock(ctx context.Context, config *types.TimerConfig, from sdk.AccAddress, amount math.Int) error {
	return f.Bank.SendCoins(watch.Muted(ctx), from, f.Account, coins(config, amount))
}

// Unlock gives an amount of the module's account to another.
func (f *Fees) Unlock(ctx context.Context, config *types.TimerConfig, to sdk.AccAddress, amount math.Int) error {
	return f.Bank.SendCoins(watch.Muted(ctx), f.Account, to, coins(config, amount))
}

// Held is the balance of the module's account.
func (f *Fees) Held(ctx context.Context, config *types.TimerConfig) sdk.Coin {
	return f.Bank.GetBalance(ctx, f.Account, config.FeeDenom)
}

// PayOut burns the basefees of a block's fires and pays their tips: one burn and one transfer a block. What is locked is
// the part of both that was taken from locked bids.
func (f *Fees) PayOut(ctx sdk.Context, config *types.TimerConfig, burned, tips, locked math.Int) error {
	if err := f.collect(ctx, config, burned.Add(tips).Sub(locked)); err != nil {
		return err
	}
	if burned.IsPositive() {
		if err := f.Bank.BurnCoins(watch.Muted(ctx), types.ModuleName, coins(config, burned)); err != nil {
			return err
		}
	}
	if !tips.IsPositive() {
		return nil
	}
	owed := coins(config, tips)
	err := sandbox.Run(ctx, func(ctx sdk.Context) error { return f.Tips.PayTips(watch.Muted(ctx), types.ModuleName, owed) })
	if err == nil {
		return nil
	}
	// A failing collector must not undo the block's fires: the tips go to the fee collector, as without one.
	ctx.Logger().Error("the tip collector failed", "module", types.ModuleName, "err", err)
	return feeCollectorTips{f.Bank}.PayTips(watch.Muted(ctx), types.ModuleName, owed)
}

// coins are an amount of the fee denom, which the config's checks hold to be one.
func coins(config *types.TimerConfig, amount math.Int) sdk.Coins {
	if amount.IsPositive() {
		return sdk.Coins{{Denom: config.FeeDenom, Amount: amount}}
	}
	return sdk.NewCoins(sdk.NewCoin(config.FeeDenom, amount))
}

// feeCollectorTips gives tips to the fee collector, which x/distribution shares out.
type feeCollectorTips struct{ bank types.BankKeeper }

// PayTips implements types.TipCollector.
func (t feeCollectorTips) PayTips(ctx context.Context, from string, tips sdk.Coins) error {
	return t.bank.SendCoinsFromModuleToModule(ctx, from, authtypes.FeeCollectorName, tips)
}

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

// holding is the balance of the fee denom of an account. Its place is looked up once for all that a fire does with it: the
// pre-charge and, after the handler, the refund. It holds no amount.
type holding struct {
	balances Balances
	key      BalanceKey
	// at is set if the balances know places.
	at place
}

// holding is empty on a chain on which the bank moves what fires are charged.
func (f *Fees) holding(ctx context.Context, config *types.TimerConfig, addr sdk.AccAddress) holding {
	if f.Balances == nil {
		return holding{}
	}
	p := holding{balances: f.Balances, key: collections.Join(addr, config.FeeDenom)}
	if known, ok := f.Balances.(placer); ok {
		p.at = known.place(ctx, p.key)
	}
	return p
}

func (p *holding) isEmpty() bool { return p.balances == nil }

func (p *holding) get(ctx context.Context) (math.Int, error) {
	if p.at.isKnown() {
		return p.at.get()
	}
	return p.balances.Get(ctx, p.key)
}

// balance is what is there; nothing if that can't be read, as the bank has it.
func (p *holding) balance(ctx context.Context) math.Int {
	amount, err := p.get(ctx)
	if err != nil {
		return math.ZeroInt()
	}
	return amount
}

// set writes what is there, and was there before. The bank stores no balance of nothing.
func (p *holding) set(ctx context.Context, before, amount math.Int) error {
	switch {
	case amount.IsNegative():
		return types.ErrInternal.Wrapf("the balance of %s would be %s", p.key.K1(), amount)
	case amount.IsZero():
		return p.balances.Remove(watch.Muted(ctx), p.key)
	case p.at.isKnown() && before.IsPositive():
		return p.at.set(amount)
	default:
		return p.balances.Set(watch.Muted(ctx), p.key, amount)
	}
}

// place is where a balance lies in the bank's store.
type place struct {
	store store.KVStore
	key   []byte
	// err is why there is none.
	err error
}

func (p *place) isKnown() bool { return p.store != nil }

func (p *place) get() (math.Int, error) {
	if p.err != nil {
		return math.Int{}, p.err
	}
	value, err := p.store.Get(p.key)
	if err != nil {
		return math.Int{}, err
	}
	if value == nil {
		return math.Int{}, collections.ErrNotFound
	}
	return banktypes.BalanceValueCodec.Decode(value)
}

// set writes an amount as the bank's codec does.
func (p *place) set(amount math.Int) error {
	if p.err != nil {
		return p.err
	}
	return p.store.Set(p.key, decimal.AppendInt(nil, amount))
}
