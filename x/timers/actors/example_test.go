package actors_test

import (
	"context"
	"fmt"

	"cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A chain registers the runtimes of the actors that it has. A module is an account too, so accounts come last.
func Example() {
	alice := sdk.AccAddress("alice_______________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(1_000)}}})
	if err != nil {
		panic(err)
	}
	modules := actors.NewModuleRuntime()
	modules.Register("subscriptions", types.DefaultHandler, func(context.Context, types.Delivery) error { return nil })
	accounts := actors.NewAccountRuntime(chain.Codec, chain.Accounts, chain.Messages)

	// The timers' keeper is made with this router.
	router := actors.NewRouter(modules, accounts)
	for _, actor := range []struct {
		name    string
		address sdk.AccAddress
	}{
		{"subscriptions", authtypes.NewModuleAddress("subscriptions")},
		{"alice", alice},
		{"nobody", sdk.AccAddress("nobody______________")},
	} {
		runtime, err := router.Route(chain.Ctx(), actor.address)
		if err != nil {
			fmt.Println(actor.name, "can't own timers")
			continue
		}
		fmt.Printf("%s is served by %T\n", actor.name, runtime)
	}
	// Output:
	// subscriptions is served by *actors.ModuleRuntime
	// alice is served by *actors.AccountRuntime
	// nobody can't own timers
}

// A module has one handler for each kind of timer. An error drops what the handler wrote, and the fire counts as failed.
func ExampleModuleRuntime_Register() {
	payee := sdk.AccAddress("payee_______________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: payee, Amount: math.NewInt(1_000_000)}}})
	if err != nil {
		panic(err)
	}
	module := authtypes.NewModuleAddress("subscriptions")
	chain.Modules.Register("subscriptions", "charge", func(_ context.Context, d types.Delivery) error {
		fmt.Printf("height %d: charge %s\n", d.Height, d.Payload)
		return nil
	})
	chain.Modules.Register("subscriptions", "remind", func(_ context.Context, d types.Delivery) error {
		fmt.Printf("height %d: remind %s\n", d.Height, d.Payload)
		return nil
	})

	if err := chain.BeginBlock(); err != nil {
		panic(err)
	}
	allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{"/timers.v1.MsgScheduleTimer"})
	if err != nil {
		panic(err)
	}
	if err := chain.Feegrant.GrantAllowance(chain.Ctx(), payee, module, allowance); err != nil {
		panic(err)
	}
	for _, request := range []keeper.ScheduleRequest{
		{Spec: types.TimerSpec{Call: types.TimerCall{Handler: "charge"}, Trigger: types.Trigger{Height: 3}}},
		{Spec: types.TimerSpec{Call: types.TimerCall{Handler: "remind"}, Trigger: types.Trigger{Height: 2}}},
	} {
		request.Actor, request.Spec.FeePayer, request.Spec.Call.Payload = module, payee.String(), []byte("alice")
		if _, err := chain.Timers.Schedule(chain.Ctx(), request); err != nil {
			panic(err)
		}
	}
	for chain.Height() < 4 {
		if _, err := chain.EndBlock(); err != nil {
			panic(err)
		}
		if err := chain.BeginBlock(); err != nil {
			panic(err)
		}
	}
	// Output:
	// height 2: remind alice
	// height 3: charge alice
}

// A module prices the timers of those who name it as their agent. This one pays up to three times the lane's basefee.
func ExampleModuleRuntime_RegisterQuoter() {
	modules := actors.NewModuleRuntime()
	modules.RegisterQuoter("pricing", func(_ context.Context, about types.BidContext) (types.AgentQuote, error) {
		return types.AgentQuote{
			MaxFeePerCycle:         about.Prices.Lane.MulInt64(3),
			MaxPriorityFeePerCycle: about.Prices.P50,
			MaxFeePerCell:          about.Prices.Cell.MulInt64(2),
		}, nil
	})

	agent := authtypes.NewModuleAddress("pricing")
	about := types.BidContext{Balance: math.NewInt(1_000_000)}
	about.Prices.Lane, about.Prices.Cell = math.LegacyNewDecWithPrec(4, 3), math.LegacyNewDecWithPrec(3, 2)
	about.Prices.P50 = math.LegacyNewDecWithPrec(1, 3)
	quote, err := modules.Quote(context.Background(), agent, about)
	if err != nil {
		panic(err)
	}
	fmt.Println("max fee per cycle:", quote.MaxFeePerCycle)
	fmt.Println("max tip per cycle:", quote.MaxPriorityFeePerCycle)
	// Output:
	// max fee per cycle: 0.012000000000000000
	// max tip per cycle: 0.001000000000000000
}

// The runtime of accounts refuses a payload when it is scheduled, not only when it fires.
func ExampleAccountRuntime() {
	alice, bob := sdk.AccAddress("alice_______________"), sdk.AccAddress("bob_________________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(1_000)}}})
	if err != nil {
		panic(err)
	}
	runtime := actors.NewAccountRuntime(chain.Codec, chain.Accounts, chain.Messages)
	config := types.DefaultTimerConfig(chain.FeeDenom)
	for _, signer := range []sdk.AccAddress{alice, bob} {
		payload, err := types.NewAccountPayload(send(chain, signer, bob, 10))
		if err != nil {
			panic(err)
		}
		packed, err := payload.Marshal()
		if err != nil {
			panic(err)
		}
		call := types.Call{Actor: alice, Handler: types.DefaultHandler, Payload: packed}
		fmt.Println("accepted:", runtime.Validate(chain.Ctx(), &config, call) == nil)
	}
	// Output:
	// accepted: true
	// accepted: false
}
