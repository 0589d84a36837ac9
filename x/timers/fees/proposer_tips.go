package fees

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"
	distributiontypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// StakingKeeper finds the block's proposer.
type StakingKeeper interface {
	GetValidatorByConsAddr(ctx context.Context, cons sdk.ConsAddress) (stakingtypes.Validator, error)
}

// DistributionKeeper shares rewards among a validator and its delegators.
type DistributionKeeper interface {
	AllocateTokensToValidator(ctx context.Context, validator stakingtypes.ValidatorI, tokens sdk.DecCoins) error
}

// ProposerTips pays tips to the block's proposer through x/distribution, so that its delegators share them. If the
// proposer can't be resolved, as right after its removal, they go to the fee collector (x/timers/README.md,
// "5.2 Settlement").
type ProposerTips struct {
	bank         types.BankKeeper
	staking      StakingKeeper
	distribution DistributionKeeper
}

var _ types.TipCollector = ProposerTips{}

// NewProposerTips returns the collector for chains with x/staking and x/distribution, which give it to the timers'
// keeper by keeper.WithTipCollector.
func NewProposerTips(bank types.BankKeeper, staking StakingKeeper, distribution DistributionKeeper) ProposerTips {
	return ProposerTips{bank, staking, distribution}
}

// PayTips implements types.TipCollector: it moves tips from the module account of that name to the proposer's rewards.
func (p ProposerTips) PayTips(ctx context.Context, from string, tips sdk.Coins) error {
	proposer := sdk.ConsAddress(sdk.UnwrapSDKContext(ctx).BlockHeader().ProposerAddress)
	validator, err := p.staking.GetValidatorByConsAddr(ctx, proposer)
	if err != nil {
		return feeCollectorTips{p.bank}.PayTips(ctx, from, tips)
	}
	if err := p.bank.SendCoinsFromModuleToModule(ctx, from, distributiontypes.ModuleName, tips); err != nil {
		return err
	}
	return p.distribution.AllocateTokensToValidator(ctx, validator, sdk.NewDecCoinsFromCoins(tips...))
}
