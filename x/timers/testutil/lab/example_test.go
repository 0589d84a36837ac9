package lab_test

import (
	"fmt"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A test drives a chain of the lab block by block. Here alice schedules a transfer to bob, and two blocks later it
// takes place.
func Example() {
	alice, bob := sdk.AccAddress("alice_______________"), sdk.AccAddress("bob_________________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{
		{Address: alice, Amount: math.NewInt(1_000_000)}, {Address: bob, Amount: math.ZeroInt()},
	}})
	if err != nil {
		panic(err)
	}
	payload, err := types.NewAccountPayload(
		banktypes.NewMsgSend(alice, bob, sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, 250))),
	)
	if err != nil {
		panic(err)
	}
	packed, err := payload.Marshal()
	if err != nil {
		panic(err)
	}
	for range 3 {
		if err := chain.BeginBlock(); err != nil {
			panic(err)
		}
		if chain.Height() == 1 {
			schedule := &types.MsgScheduleTimer{
				Sender: alice.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: 3}, Call: types.TimerCall{Payload: packed}, GasLimit: 200_000},
			}
			if _, _, err := chain.Tx(schedule); err != nil {
				panic(err)
			}
		}
		if _, err := chain.EndBlock(); err != nil {
			panic(err)
		}
		fmt.Printf("height %d: bob has %s\n", chain.Height(), chain.Bank.GetBalance(chain.Ctx(), bob, chain.FeeDenom))
	}
	fmt.Println("invariants:", chain.Check())
	// Output:
	// height 1: bob has 0stake
	// height 2: bob has 0stake
	// height 3: bob has 250stake
	// invariants: <nil>
}
