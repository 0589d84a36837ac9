package wasmbinding_test

import (
	"fmt"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What a contract says in JSON becomes a message of the module. The sender is the contract.
func ExampleMessages() {
	chain, err := lab.NewChain(lab.ChainOptions{})
	if err != nil {
		panic(err)
	}
	contract := sdk.AccAddress("contract________________________")
	encode := wasmbinding.Messages(chain.Codec)
	msgs, err := encode(contract, []byte(`{"timers": {"schedule": {"spec": {"trigger": {"height": "120"}, "call": {"payload": "YmVhdA=="}, "gas_limit": "200000"}}}}`))
	if err != nil {
		panic(err)
	}
	msg := msgs[0].(*types.MsgScheduleTimer)
	fmt.Println("from the contract:", msg.Sender == contract.String())
	fmt.Printf("payload %q at height %d, gas limit %d\n", msg.Spec.Call.Payload, msg.Spec.Trigger.Height, msg.Spec.GasLimit)
	// Output:
	// from the contract: true
	// payload "beat" at height 120, gas limit 200000
}

// A contract asks what is in force. Numbers of 64 bits are strings in the answer, as protobuf has it.
func ExampleQueries() {
	chain, err := lab.NewChain(lab.ChainOptions{})
	if err != nil {
		panic(err)
	}
	// An app passes its own GRPCQueryRouter, with which the module has registered.
	router := baseapp.NewGRPCQueryRouter()
	router.SetInterfaceRegistry(chain.Codec.InterfaceRegistry())
	types.RegisterQueryServer(router, keeper.NewQueryServer(chain.Timers))

	ask := wasmbinding.Queries(chain.Codec, router)
	answer, err := ask(chain.Ctx(), []byte(`{"timers": {"params": {}}}`))
	if err != nil {
		panic(err)
	}
	var params types.QueryParamsResponse
	if err := chain.Codec.UnmarshalJSON(answer, &params); err != nil {
		panic(err)
	}
	fmt.Println(params.Config.Policy, params.Config.FeeDenom)
	// Output: POLICY_EIP1559 stake
}
