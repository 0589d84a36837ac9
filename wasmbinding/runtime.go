package wasmbinding

import (
	"context"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
)

// ContractKeeper is what the runtime of contracts needs of x/wasm; wasmd's keeper is one.
type ContractKeeper interface {
	actors.ContractKeeper
	actors.ContractView
	GetContractInfo(ctx context.Context, contract sdk.AccAddress) *wasmtypes.ContractInfo
}

// Runtime lets contracts own timers: a chain puts it before the other runtimes (actors.Router, Prepend).
func Runtime(contracts ContractKeeper, options ...actors.WasmOption) *actors.WasmRuntime {
	return actors.NewWasmRuntime(contracts, contracts, Creator(contracts), options...)
}

// Creator returns who instantiated a contract, or nothing if there is no such contract.
func Creator(contracts interface {
	GetContractInfo(ctx context.Context, contract sdk.AccAddress) *wasmtypes.ContractInfo
},
) actors.ContractCreator {
	return func(ctx context.Context, contract sdk.AccAddress) sdk.AccAddress {
		info := contracts.GetContractInfo(ctx, contract)
		if info == nil {
			return nil
		}
		creator, err := sdk.AccAddressFromBech32(info.Creator)
		if err != nil {
			return nil
		}
		return creator
	}
}
