package policies_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// newestID is the value of the config's policy that selects the policy of this example.
const newestID = types.FirstCustomPolicy + 7

// newestRules fire the newest timer first. A fire pays what it pays under fifo.
type newestRules struct{ market.FIFO }

func (newestRules) Order(_ market.Prices, candidates []market.Candidate) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(candidates[j].Seq, candidates[i].Seq) })
	return order
}

// newest is the policy. It keeps nothing.
type newest struct{ policies.Base }

func (newest) ID() types.Policy { return newestID }

func (newest) Rules(*types.TimerConfig, *types.LaneState) market.Rules { return newestRules{} }

// A chain brings a policy of its own, and selects it in its config.
func Example() {
	payer := sdk.AccAddress("payer_______________")
	genesis := types.DefaultGenesis()
	genesis.Config.Policy = newestID
	chain, err := lab.NewChain(lab.ChainOptions{
		Genesis:  genesis,
		Balances: []lab.Balance{{Address: payer, Amount: math.NewInt(1_000_000)}},
		Keeper: []keeper.Option{
			keeper.WithPolicy(func(*policies.Parts) policies.Policy { return newest{} }),
		},
	})
	if err != nil {
		panic(err)
	}
	module := authtypes.NewModuleAddress("mail")
	chain.Modules.Register("mail", types.DefaultHandler, func(_ context.Context, d types.Delivery) error {
		fmt.Printf("%s\n", d.Payload)
		return nil
	})

	if err := chain.BeginBlock(); err != nil {
		panic(err)
	}
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{"/timers.v1.MsgScheduleTimer"})
	if err != nil {
		panic(err)
	}
	if err := chain.Feegrant.GrantAllowance(chain.Ctx(), payer, module, allowance); err != nil {
		panic(err)
	}
	for _, letter := range []string{"first letter", "second letter", "third letter"} {
		if _, err := chain.Timers.Schedule(chain.Ctx(), keeper.ScheduleRequest{
			Actor: module, Spec: types.TimerSpec{FeePayer: payer.String(), Call: types.TimerCall{Payload: []byte(letter)}, Trigger: types.Trigger{Height: 2}},
		}); err != nil {
			panic(err)
		}
	}
	for range 2 {
		if _, err := chain.EndBlock(); err != nil {
			panic(err)
		}
		if err := chain.BeginBlock(); err != nil {
			panic(err)
		}
	}
	// Output:
	// third letter
	// second letter
	// first letter
}
