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
	GetGasRegister() wasmtypes.GasRegister
	IsPinnedCode(ctx context.Context, codeID uint64) bool
}

// Runtime lets contracts own timers, and their admins schedule calls of them: a chain puts it before the other runtimes
// (actors.Router, Prepend).
func Runtime(contracts ContractKeeper, options ...actors.WasmOption) *actors.WasmRuntime {
	options = append([]actors.WasmOption{actors.WithAdmin(Admin(contracts)), actors.WithLeast(least(contracts))}, options...)
	return actors.NewWasmRuntime(contracts, contracts, Creator(contracts), options...)
}

// least is what x/wasm takes of a call's gas before the contract's code begins.
func least(contracts ContractKeeper) actors.ContractLeast {
	return func(ctx context.Context, contract sdk.AccAddress, bytes int) uint64 {
		info := contracts.GetContractInfo(ctx, contract)
		if info == nil {
			return 0
		}
		return contracts.GetGasRegister().SetupContractCost(contracts.IsPinnedCode(ctx, info.CodeID), bytes)
	}
}

// ContractInfos looks up contracts; wasmd's keeper does.
type ContractInfos interface {
	GetContractInfo(ctx context.Context, contract sdk.AccAddress) *wasmtypes.ContractInfo
}

// Creator returns who instantiated a contract, or nothing if there is no such contract.
func Creator(contracts ContractInfos) actors.ContractCreator {
	return func(ctx context.Context, contract sdk.AccAddress) sdk.AccAddress {
		return stated(contracts.GetContractInfo(ctx, contract), func(info *wasmtypes.ContractInfo) string { return info.Creator })
	}
}

// Admin returns who may migrate a contract now, or nothing if no one may.
func Admin(contracts ContractInfos) actors.ContractAdmin {
	return func(ctx context.Context, contract sdk.AccAddress) sdk.AccAddress {
		return stated(contracts.GetContractInfo(ctx, contract), func(info *wasmtypes.ContractInfo) string { return info.Admin })
	}
}

// stated is an address that the record of a contract states, or nothing.
func stated(info *wasmtypes.ContractInfo, field func(*wasmtypes.ContractInfo) string) sdk.AccAddress {
	if info == nil {
		return nil
	}
	address, err := sdk.AccAddressFromBech32(field(info))
	if err != nil {
		return nil
	}
	return address
}
