package fees_test

import (
	"context"
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// bank, staking and distribution stand for a chain's keepers, and print what they are told.
type (
	bank         struct{ types.BankKeeper }
	staking      struct{ operator string }
	distribution struct{}
)

func (bank) SendCoinsFromModuleToModule(_ context.Context, from, to string, amount sdk.Coins) error {
	fmt.Println(from, "pays", amount, "to", to)
	return nil
}

func (s staking) GetValidatorByConsAddr(context.Context, sdk.ConsAddress) (stakingtypes.Validator, error) {
	if s.operator == "" {
		return stakingtypes.Validator{}, stakingtypes.ErrNoValidatorFound
	}
	return stakingtypes.Validator{OperatorAddress: s.operator}, nil
}

func (distribution) AllocateTokensToValidator(_ context.Context, v stakingtypes.ValidatorI, tokens sdk.DecCoins) error {
	fmt.Println("rewards of", v.GetOperator(), "grow by", tokens)
	return nil
}

// A chain with x/staking and x/distribution gives the collector to the timers' keeper, as keeper.WithTipCollector. The
// tips of a block become rewards of its proposer. Without a proposer they go to the fee collector.
func ExampleNewProposerTips() {
	ctx := sdk.Context{}
	tips := sdk.NewCoins(sdk.NewInt64Coin("stake", 120))
	for _, proposer := range []staking{{operator: "cosmosvaloper1alice"}, {}} {
		collector := fees.NewProposerTips(bank{}, proposer, distribution{})
		if err := collector.PayTips(ctx, types.ModuleName, tips); err != nil {
			panic(err)
		}
	}
	// Output:
	// timers pays 120stake to distribution
	// rewards of cosmosvaloper1alice grow by 120.000000000000000000stake
	// timers pays 120stake to fee_collector
}
