package types_test

import (
	"errors"
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A timer of an account carries the messages that it will run. The account must be their only signer.
func ExampleNewAccountPayload() {
	alice, bob := sdk.AccAddress("alice_______________"), sdk.AccAddress("bob_________________")
	payload, err := types.NewAccountPayload(
		banktypes.NewMsgSend(alice, bob, sdk.NewCoins(sdk.NewInt64Coin("stake", 25))),
	)
	if err != nil {
		panic(err)
	}
	packed, err := payload.Marshal()
	if err != nil {
		panic(err)
	}
	msg := types.MsgScheduleTimer{
		Sender: alice.String(),
		Spec: types.TimerSpec{
			Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 100}},
			Call:    types.TimerCall{Payload: packed},
			Retry:   &types.Retry{Max: 3, After: 10}, Repeat: &types.Repeat{Remaining: 12},
		},
	}
	fmt.Println(sdk.MsgTypeURL(&msg))
	fmt.Println(payload.Messages[0].TypeUrl, "every", msg.Spec.Trigger.Interval.Every, "blocks")
	// Output:
	// /timers.v1.MsgScheduleTimer
	// /cosmos.bank.v1beta1.MsgSend every 100 blocks
}

// The id of a timer follows from what was scheduled, so that a client can compute it.
func ExampleTimerID() {
	alice := sdk.AccAddress("alice_______________")
	id := types.TimerID(alice, 120, []byte("beat"), 7)
	timer := types.Timer{Id: id}
	fmt.Println(timer.IDHex())

	parsed, err := types.ParseID(timer.IDHex())
	fmt.Println(len(parsed), err)
	_, err = types.ParseID("58dd0cb7")
	fmt.Println(errors.Is(err, types.ErrInvalidTimerID))
	// Output:
	// 58dd0cb7f2db6e499c4ba3e03ab5df0a2d223d932638fa922441f6303ff4cd4c
	// 32 <nil>
	// true
}

// A proposal states the whole config. Validate checks every bound, and what must hold between parameters.
func ExampleTimerConfig_Validate() {
	config := types.DefaultTimerConfig("stake")
	fmt.Println(config.Policy, config.LaneTimerCycles, config.Validate())

	// A gas limit must leave something for the handler, on top of the cycles that every fire counts.
	config.MinGasLimit = market.FireBaseCycles
	fmt.Println(errors.Is(config.Validate(), types.ErrInvalidConfig))
	// Output:
	// POLICY_EIP1559 2000000 <nil>
	// true
}

// A timer is at one place at a time. Ready is one that was due and did not fire.
func ExampleTimer_PhaseAt() {
	timer := types.Timer{Due: 100, ExpiresAt: 200}
	for _, height := range []uint64{99, 100, 199, 200} {
		fmt.Println(height, timer.PhaseAt(types.Moment{Height: height}))
	}
	// Output:
	// 99 TIMER_PHASE_PENDING
	// 100 TIMER_PHASE_READY
	// 199 TIMER_PHASE_READY
	// 200 TIMER_PHASE_EXPIRED
}
