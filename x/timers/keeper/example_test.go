package keeper_test

import (
	"context"
	"errors"
	"fmt"

	"cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A Go module schedules two calls of itself, cancels one, and is called by the other. An account pays for the module's
// timers: it has granted the module a fee allowance.
func Example() {
	treasury := sdk.AccAddress("treasury____________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: treasury, Amount: math.NewInt(1_000_000)}}})
	check(err)

	// While the chain is wired, the module registers what its timers call.
	chain.Modules.Register("oracle", types.DefaultHandler, func(_ context.Context, d types.Delivery) error {
		fmt.Printf("height %d: %s\n", d.Height, d.Payload)
		return nil
	})
	oracle := authtypes.NewModuleAddress("oracle")

	check(chain.BeginBlock())
	ctx := chain.Ctx()
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{"/timers.v1.MsgScheduleTimer"})
	check(err)
	check(chain.Feegrant.GrantAllowance(ctx, treasury, oracle, allowance))
	var timers []types.Timer
	for _, round := range []string{"close round 7", "close round 8"} {
		timer, err := chain.Timers.Schedule(ctx, keeper.ScheduleRequest{
			Actor: oracle,
			Spec: types.TimerSpec{
				Trigger:  types.Trigger{Height: 3},
				Call:     types.TimerCall{Payload: []byte(round)},
				FeePayer: treasury.String(),
				GasLimit: 100_000,
			},
		})
		check(err)
		timers = append(timers, timer)
	}
	check(chain.Timers.Cancel(ctx, oracle, timers[1].Id))
	live, err := chain.Timers.TimersOf(ctx, oracle)
	check(err)
	for _, timer := range live {
		fmt.Printf("scheduled: %s at height %d\n", timer.Spec.Call.Payload, timer.Due)
	}
	_, err = chain.EndBlock()
	check(err)

	for chain.Height() < 3 {
		check(chain.BeginBlock())
		_, err = chain.EndBlock()
		check(err)
	}
	live, err = chain.Timers.TimersOf(chain.Ctx(), oracle)
	check(err)
	fmt.Println("left:", len(live))
	// Output:
	// scheduled: close round 7 at height 3
	// height 3: close round 7
	// left: 0
}

// A timer repeats by itself. Its first call is four blocks after the one that schedules it, as Every says, and each further one
// four blocks after the last. The handler ends the repetition early by cancelling its own timer.
func ExampleKeeper_Schedule_interval() {
	chain, oracle, treasury := newOracle()
	calls := 0
	chain.Modules.Register("oracle", "tick", func(ctx context.Context, d types.Delivery) error {
		calls++
		fmt.Printf("height %d: call %d\n", d.Height, d.FireSeq)
		if calls == 2 {
			return chain.Timers.Cancel(ctx, d.Actor, d.TimerID)
		}
		return nil
	})
	_, err := chain.Timers.Schedule(chain.Ctx(), keeper.ScheduleRequest{
		Actor: oracle,
		Spec: types.TimerSpec{
			Call:     types.TimerCall{Handler: "tick"},
			Trigger:  types.Trigger{Interval: &types.IntervalTrigger{Every: 4}},
			FeePayer: treasury.String(), Repeat: &types.Repeat{Remaining: 10},
		},
	})
	check(err)
	for chain.Height() < 20 {
		nextBlock(chain)
	}
	// Output:
	// height 5: call 0
	// height 9: call 1
}

// A paused timer does not fire at its due height. Once resumed, it is due in the next block.
func ExampleKeeper_Pause() {
	chain, oracle, treasury := newOracle()
	chain.Modules.Register("oracle", types.DefaultHandler, func(_ context.Context, d types.Delivery) error {
		fmt.Println("called at height", d.Height)
		return nil
	})
	timer, err := chain.Timers.Schedule(chain.Ctx(), keeper.ScheduleRequest{
		Actor: oracle, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 3}, FeePayer: treasury.String()},
	})
	check(err)
	check(chain.Timers.Pause(chain.Ctx(), oracle, timer.Id))
	for chain.Height() < 8 {
		nextBlock(chain)
	}
	resumed, err := chain.Timers.Resume(chain.Ctx(), oracle, timer.Id)
	check(err)
	fmt.Printf("resumed at height %d, due at height %d\n", chain.Height(), resumed.Due)
	nextBlock(chain)
	nextBlock(chain)
	// Output:
	// resumed at height 8, due at height 9
	// called at height 9
}

// Errors of the host API are those of package types, and callers tell them apart with errors.Is.
func ExampleKeeper_Schedule_refused() {
	chain, oracle, treasury := newOracle()
	chain.Modules.Register("oracle", types.DefaultHandler, func(context.Context, types.Delivery) error { return nil })
	_, err := chain.Timers.Schedule(chain.Ctx(), keeper.ScheduleRequest{
		Actor: oracle, Spec: types.TimerSpec{Trigger: types.Trigger{Height: chain.Height()}, FeePayer: treasury.String()},
	})
	fmt.Println("the present height:", errors.Is(err, types.ErrHeightNotInFuture))
	_, err = chain.Timers.Schedule(chain.Ctx(), keeper.ScheduleRequest{
		Actor: oracle, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 9}, Call: types.TimerCall{Handler: "tick"}, FeePayer: treasury.String()},
	})
	fmt.Println("a handler that was not registered:", errors.Is(err, types.ErrInvalidHandler))
	// Output:
	// the present height: true
	// a handler that was not registered: true
}

// newOracle starts a chain, and opens a block in which an account grants the module oracle an allowance.
func newOracle() (chain *lab.Chain, oracle, treasury sdk.AccAddress) {
	oracle, treasury = authtypes.NewModuleAddress("oracle"), sdk.AccAddress("treasury____________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: treasury, Amount: math.NewInt(1_000_000)}}})
	check(err)
	check(chain.BeginBlock())
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{"/timers.v1.MsgScheduleTimer"})
	check(err)
	check(chain.Feegrant.GrantAllowance(chain.Ctx(), treasury, oracle, allowance))
	return chain, oracle, treasury
}

// nextBlock ends the block that is open, and opens the next one.
func nextBlock(chain *lab.Chain) {
	_, err := chain.EndBlock()
	check(err)
	check(chain.BeginBlock())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
