package authz_test

import (
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/authz"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A grantee may schedule one timer that sends coins, fires at most twice, and is gone after height 100, and after a time.
func ExampleTimerAuthorization() {
	grant := &authz.TimerAuthorization{
		MsgTypeUrl: sdk.MsgTypeURL(&types.MsgScheduleTimer{}), ExpiresAt: 100, ExpiresTime: 1_000, UsesLeft: 1,
		AllowedMessages: []string{sendURL}, MaxFires: 2, GasLimit: 80_000,
	}
	fmt.Println(grant.ValidateBasic())
	msg := &types.MsgScheduleTimer{
		Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 90}, Call: types.TimerCall{Payload: payload(voteURL)}, GasLimit: 60_000, ExpiresAt: 95},
	}
	_, err := grant.Accept(ctxAt(80), msg)
	fmt.Println(err.Error())
	msg.Spec.Call.Payload = payload(sendURL)
	accepted, err := grant.Accept(ctxAt(80), msg)
	fmt.Println(accepted.Accept, accepted.Delete, err)
	// Output:
	// <nil>
	// timer authorization: message 0 of the payload is "/cosmos.gov.v1.MsgVote", which allowed_messages does not list: unauthorized
	// true true <nil>
}
