package keeper_test

import (
	"fmt"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Before it schedules, a client asks what a timer would cost and how long it would wait if it were due now.
func ExampleNewQueryServer_estimate() {
	alice := sdk.AccAddress("alice_______________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(1_000_000)}}})
	if err != nil {
		panic(err)
	}
	queries := keeper.NewQueryServer(chain.Timers)

	estimate, err := queries.Estimate(chain.Ctx(), &types.QueryEstimateRequest{Actor: alice.String(), GasLimit: 100_000})
	if err != nil {
		panic(err)
	}
	fmt.Println("price of a cycle: basefee", estimate.CycleBasefee, "+ lane", estimate.LaneFee, "+ tip", estimate.Priority)
	fmt.Println("the payer must have", estimate.PreCharge, estimate.FeeDenom)
	fmt.Println("without cells it pays at most", estimate.CostOfCycles, estimate.FeeDenom)
	fmt.Println("blocks to wait:", estimate.WaitBlocks)
	// Output:
	// price of a cycle: basefee 0.001000000000000000 + lane 0.001000000000000000 + tip 0.000000000000000000
	// the payer must have 800 stake
	// without cells it pays at most 200 stake
	// blocks to wait: 0
}

// A message schedules a timer. The query finds it by the first digits of its id.
func ExampleNewQueryServer() {
	alice := sdk.AccAddress("alice_______________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(1_000_000)}}})
	if err != nil {
		panic(err)
	}
	payload, err := types.NewAccountPayload(&types.MsgSetAgent{Sender: alice.String()})
	if err != nil {
		panic(err)
	}
	packed, err := payload.Marshal()
	if err != nil {
		panic(err)
	}
	if err := chain.BeginBlock(); err != nil {
		panic(err)
	}
	results, _, err := chain.Tx(&types.MsgScheduleTimer{Sender: alice.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: 50}, Call: types.TimerCall{Payload: packed}}})
	if err != nil {
		panic(err)
	}
	id := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse).Id

	found, err := keeper.NewQueryServer(chain.Timers).Timer(chain.Ctx(), &types.QueryTimerRequest{Actor: alice.String(), Id: id[:8]})
	if err != nil {
		panic(err)
	}
	fmt.Println("the same timer:", found.Timer.Id == id)
	fmt.Println(found.Timer.Status.Phase, "until height", found.Timer.Status.Due)
	// Output:
	// the same timer: true
	// TIMER_PHASE_PENDING until height 50
}
