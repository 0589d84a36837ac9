package evmbinding

import (
	"context"

	evmkeeper "github.com/cosmos/evm/x/vm/keeper"

	"cosmossdk.io/core/address"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/actors"
)

// AccountKeeper is what the runtime needs of x/auth.
type AccountKeeper interface {
	HasAccount(ctx context.Context, addr sdk.AccAddress) bool
	AddressCodec() address.Codec
}

// Wire lets the accounts of the EVM own timers: it puts their runtime behind that of Go modules and before all others,
// and registers the precompiles with x/vm's keeper, which an app does before it loads its state. messages is the app's
// router. slots make storage watchable; nil where it is not. seconds are for HIP-1215; nil for a chain that does not
// speak it.
//
// The precompiles answer once their addresses are among x/vm's active_static_precompiles.
func Wire(
	t *timers.Timers, cdc codec.Codec, evm *evmkeeper.Keeper, accounts AccountKeeper, bank BankKeeper,
	messages actors.MessageRouter, slots *Slots, seconds *Seconds,
) {
	t.Router.Prepend(&Runtime{
		evm: evm, accounts: accounts, modules: t.Handlers, messages: actors.NewMessages(cdc, messages), slots: slots,
	})
	evm.RegisterStaticPrecompile(Address, NewPrecompile(t.Keeper, bank, messages, seconds))
	if seconds != nil {
		t.Keeper.Engine().Records.Register(seconds)
		seconds.hrc1215 = NewHRC1215(t.Keeper, bank, seconds)
		evm.RegisterStaticPrecompile(HRC1215Address, seconds.hrc1215)
		evm.RegisterStaticPrecompile(PRNGAddress, NewPRNG())
	}
}
