package evmbinding

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"testing"

	rpctypes "github.com/cosmos/evm/rpc/types"
	"github.com/cosmos/evm/x/vm/statedb"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// faulty is x/vm's keeper with a switch: it writes, and then answers or fails.
type faulty struct {
	machine
	key    storetypes.StoreKey
	config error
	after  func() (*evmtypes.MsgEthereumTxResponse, error)
}

func (f *faulty) EVMConfig(sdk.Context, sdk.ConsAddress) (*statedb.EVMConfig, error) {
	return &statedb.EVMConfig{}, f.config
}

func (*faulty) TxConfig(sdk.Context, common.Hash) statedb.TxConfig { return statedb.TxConfig{} }

func (*faulty) KVStoreKeys() map[string]*storetypes.KVStoreKey { return nil }

// written are the bytes that it writes.
const written = 40

func (f *faulty) ApplyMessageWithConfig(
	ctx sdk.Context, _ *statedb.StateDB, _ core.Message, _ *tracing.Hooks, _, _ bool, _ *statedb.EVMConfig, _ statedb.TxConfig,
	_ bool, _ *rpctypes.StateOverride,
) (*evmtypes.MsgEthereumTxResponse, error) {
	ctx.KVStore(f.key).Set(bytes.Repeat([]byte{1}, written/2), bytes.Repeat([]byte{2}, written/2))
	return f.after()
}

// TestRun_ChargesWhateverComesBack: an error of x/vm takes all that is left to the fire, since what was used is unknown;
// one of the EVM what it says was used. So does a panic, which the engine's sandbox catches. What is written is charged in
// any case, and the error is one of this module's or of x/vm's, without the text of another.
func TestRun_ChargesWhateverComesBack(t *testing.T) {
	const limit, before, used = 500_000, 1_000, 321_000
	answers := func(vmError string) func() (*evmtypes.MsgEthereumTxResponse, error) {
		return func() (*evmtypes.MsgEthereumTxResponse, error) {
			return &evmtypes.MsgEthereumTxResponse{GasUsed: used, MaxUsedGas: used, VmError: vmError}, nil
		}
	}
	fails := func(err error) func() (*evmtypes.MsgEthereumTxResponse, error) {
		return func() (*evmtypes.MsgEthereumTxResponse, error) { return nil, err }
	}
	panics := func(value any) func() (*evmtypes.MsgEthereumTxResponse, error) {
		return func() (*evmtypes.MsgEthereumTxResponse, error) { panic(value) }
	}
	commit := errorsmod.Wrap(errorsmod.Wrap(sdkerrors.ErrUnauthorized, "module is not allowed to receive funds"), "failed to commit stateDB")
	for name, tc := range map[string]struct {
		config error
		after  func() (*evmtypes.MsgEthereumTxResponse, error)
		cycles uint64
		want   error
	}{
		"a success":             {nil, answers(""), before + used, nil},
		"a revert":              {nil, answers(vm.ErrExecutionReverted.Error()), before + used, evmtypes.ErrVMExecution},
		"out of gas":            {nil, answers(vm.ErrOutOfGas.Error()), before + used, types.ErrOutOfCycles},
		"no config":             {errors.New("no params"), nil, limit, evmtypes.ErrVMExecution},
		"a commit":              {nil, fails(commit), limit, evmtypes.ErrVMExecution},
		"a commit with %w":      {nil, fails(fmt.Errorf("failed: %w", commit)), limit, evmtypes.ErrVMExecution},
		"an overflow":           {nil, fails(errorsmod.Wrap(evmtypes.ErrGasOverflow, "apply message")), limit, evmtypes.ErrVMExecution},
		"no state":              {nil, fails(evmtypes.ErrNilStateDB), limit, evmtypes.ErrVMExecution},
		"an error without code": {nil, fails(errors.New("any")), limit, evmtypes.ErrVMExecution},
		"intrinsic gas":         {nil, fails(errorsmod.Wrap(core.ErrIntrinsicGas, "apply message")), limit, types.ErrOutOfCycles},
		"floor of data":         {nil, fails(fmt.Errorf("%w: have 1, want 2", core.ErrFloorDataGas)), limit, types.ErrOutOfCycles},
		"a panic":               {nil, panics("of a precompile"), limit, types.ErrPanicked},
		"a panic of gas":        {nil, panics(storetypes.ErrorOutOfGas{Descriptor: "any"}), limit, types.ErrOutOfCycles},
	} {
		t.Run(name, func(t *testing.T) {
			key := storetypes.NewKVStoreKey("some")
			r := &Runtime{evm: &faulty{key: key, config: tc.config, after: tc.after}}
			prices := storetypes.KVGasConfig()
			meter := sandbox.NewMeter(limit, 10_000, prices.WriteCostPerByte)
			meter.ConsumeGas(before, "before")
			ctx := testutil.DefaultContext(key, storetypes.NewTransientStoreKey("other")).WithGasMeter(meter).WithKVGasConfig(prices)
			c := call{from: Address, to: common.Address{1}, value: new(big.Int)}
			err := sandbox.Run(ctx, func(ctx sdk.Context) error { return r.run(ctx, types.Delivery{TimerID: []byte{1}}, c) })
			require.ErrorIs(t, err, tc.want)
			cycles, cells := meter.Used()
			require.Equal(t, tc.cycles, cycles)
			if tc.config == nil {
				require.Equal(t, uint64(written), cells)
			}
			if err != nil {
				codespace, _ := types.CodeOf(err)
				require.Contains(t, []string{types.ModuleName, evmtypes.ModuleName}, codespace)
				require.NotContains(t, err.Error(), "funds")
				require.NotContains(t, err.Error(), ".go:")
			}
		})
	}
}
