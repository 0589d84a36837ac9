package keeper

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// BondDenomKeeper names the denom that a chain bonds; the keeper of x/staking is one.
type BondDenomKeeper interface {
	BondDenom(ctx context.Context) (string, error)
}

// feeDenom is what a genesis without a fee denom charges.
type feeDenom struct {
	stated  string
	staking BondDenomKeeper
}

// WithFeeDenom states the fee denom of a chain that starts the module, or adds it in an upgrade. A genesis that states one
// wins over it; later nothing changes it.
func WithFeeDenom(denom string) Option {
	return func(o *options) { o.feeDenom.stated = denom }
}

// WithBondDenom takes the fee denom from x/staking when the module's state is initialized, unless the genesis or
// WithFeeDenom states another one. Staking must be initialized before.
func WithBondDenom(staking BondDenomKeeper) Option {
	return func(o *options) { o.feeDenom.staking = staking }
}

// DefaultGenesis returns an empty module. It charges what WithFeeDenom states; without that its fee denom is empty, and
// InitGenesis takes it from x/staking. The config has the parameters of every policy of the chain.
func (k *Keeper) DefaultGenesis() *types.GenesisState {
	g := types.NewGenesis(k.feeDenom.stated)
	g.Config = k.engine.Policies.Complete(g.Config)
	return g
}

// withFeeDenom returns the state with its fee denom filled in. Fires could not be charged in a denom that no one holds, so
// that one without supply is refused.
func (k *Keeper) withFeeDenom(ctx context.Context, head *types.GenesisState) (*types.GenesisState, error) {
	complete := *head
	denom := &complete.Config.FeeDenom
	if *denom == "" {
		*denom = k.feeDenom.stated
	}
	if *denom == "" && k.feeDenom.staking != nil {
		bonded, err := k.feeDenom.staking.BondDenom(ctx)
		if err != nil {
			return nil, err
		}
		*denom = bonded
	}
	if *denom == "" {
		return nil, types.ErrInvalidGenesis.Wrap("config.fee_denom is empty, and there is no bond denom: state one of them; " +
			"want x/staking before x/timers in the order of genesis")
	}
	if err := sdk.ValidateDenom(*denom); err != nil {
		return nil, types.ErrInvalidGenesis.Wrapf("config.fee_denom: %.200v", err)
	}
	if !k.engine.Fees.Bank.GetSupply(ctx, *denom).IsPositive() {
		return nil, types.ErrInvalidGenesis.Wrapf("config.fee_denom %q has no supply: nobody could pay; "+
			"want x/bank before x/timers in the order of genesis", *denom)
	}
	return &complete, nil
}
