package wasmbinding_test

import (
	"errors"
	"testing"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	"github.com/CosmWasm/wasmd/x/wasm/keeper/wasmtesting"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	wasmvm "github.com/CosmWasm/wasmvm/v3"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestCharges_WhateverTheVMReturns: x/wasm's own keeper runs a contract on a VM with a switch, which writes, uses gas, and comes
// back with an answer, an error or a panic. A fire of the contract, and a call of it as an agent, is charged for it each time;
// for what it used before a panic, on a meter of the VM's own, which x/wasm does not learn, it is charged what the keeper took.
func TestCharges_WhateverTheVMReturns(t *testing.T) {
	const vmCycles, written, limit = 40_000, 64, 2_000_000
	vm := &wasmtesting.MockWasmEngine{}
	wasmtesting.MakeInstantiable(vm)
	ctx, keepers := wasmkeeper.CreateTestInput(t, false, []string{})
	instance := wasmkeeper.SeedNewContractInstance(t, ctx, keepers, vm)
	runtime := wasmbinding.Runtime(keepers.WasmKeeper)
	prices := ctx.KVGasConfig()

	var panics any
	var result *wasmvmtypes.ContractResult
	var failure error
	used := uint64(vmCycles) * wasmtypes.DefaultGasMultiplier
	vm.SudoFn = func(
		_ wasmvm.Checksum, _ wasmvmtypes.Env, _ []byte, store wasmvm.KVStore, _ wasmvm.GoAPI, _ wasmvm.Querier, _ wasmvm.GasMeter, _ uint64,
		_ wasmvmtypes.UFraction,
	) (*wasmvmtypes.ContractResult, uint64, error) {
		store.Set(make([]byte, written/2), make([]byte, written/2))
		if panics != nil {
			panic(panics)
		}
		return result, used, failure
	}
	vm.QueryFn = func(
		_ wasmvm.Checksum, _ wasmvmtypes.Env, _ []byte, _ wasmvm.KVStore, _ wasmvm.GoAPI, _ wasmvm.Querier, _ wasmvm.GasMeter, _ uint64,
		_ wasmvmtypes.UFraction,
	) (*wasmvmtypes.QueryResult, uint64, error) {
		if panics != nil {
			panic(panics)
		}
		if failure != nil {
			return nil, used, failure
		}
		answer := &wasmvmtypes.QueryResult{Ok: []byte(`{}`)}
		if result != nil && result.Err != "" {
			answer = &wasmvmtypes.QueryResult{Err: result.Err}
		}
		return answer, used, nil
	}
	delivery := types.Delivery{Call: types.Call{Actor: instance.Contract, Handler: "work", Payload: []byte("{}")}}
	fire := func() (cycles, cells uint64, err error) {
		meter := sandbox.NewMeter(limit, 100_000, prices.WriteCostPerByte)
		err = sandbox.Run(ctx.WithGasMeter(meter), func(ctx sdk.Context) error { return runtime.Deliver(ctx, nil, delivery) })
		cycles, cells = meter.Used()
		return cycles, cells, err
	}
	ok := func(msgs ...wasmvmtypes.SubMsg) *wasmvmtypes.ContractResult {
		return &wasmvmtypes.ContractResult{Ok: &wasmvmtypes.Response{Messages: msgs}}
	}
	result = ok()
	accepted, cells, err := fire()
	require.NoError(t, err)
	require.Greater(t, accepted, uint64(vmCycles))
	for name, tc := range map[string]struct {
		result  *wasmvmtypes.ContractResult
		failure error
		panics  any
	}{
		"an error of the contract": {result: &wasmvmtypes.ContractResult{Err: "refused"}},
		"an error of the VM":       {failure: errors.New("Error calling the VM: RuntimeError: unreachable")},
		"out of gas in the VM":     {failure: wasmvmtypes.OutOfGasError{}},
		"neither":                  {},
		"a reply that is none":     {result: ok(wasmvmtypes.SubMsg{ReplyOn: 99})},
		"a message of no kind":     {result: ok(wasmvmtypes.SubMsg{ReplyOn: wasmvmtypes.ReplyNever})},
		"a panic":                  {panics: "of the VM"},
		"a panic of gas":           {panics: storetypes.ErrorOutOfGas{Descriptor: "any"}},
	} {
		result, failure, panics = tc.result, tc.failure, tc.panics
		cycles, wrote, err := fire()
		require.Error(t, err, name)
		require.GreaterOrEqual(t, wrote, cells, name)
		agent := storetypes.NewInfiniteGasMeter()
		_ = sandbox.Probe(ctx.WithGasMeter(agent), func(ctx sdk.Context) error {
			_, err := runtime.Quote(ctx, instance.Contract, types.BidContext{Actor: alice})
			return err
		})
		t.Logf("%-26s %d cycles, %d cells, %d as an agent: %v", name, cycles, wrote, agent.GasConsumed(), err)
		if panics == nil {
			require.GreaterOrEqual(t, cycles, accepted-2_000, name)
			require.GreaterOrEqual(t, agent.GasConsumed(), uint64(vmCycles), name)
		}
	}
}
