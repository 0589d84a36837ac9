package wasmbinding

import (
	"context"
	"slices"
	"sync"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// LookUpCycles are charged for looking up whether the code of a contract has an entry point, in addition to the reading of
// the contract's and the code's records. The VM reads the code once while the process runs, at a nanosecond a byte; from then
// on the answer is remembered.
const LookUpCycles = 10_000

// maxKnownCodes bounds what is remembered, at about 100 bytes each. Who wants more codes analyzed than that has to store them.
const maxKnownCodes = 1 << 16

// EntryPoints looks up what entry points codes have, so that a call of one that is missing is refused when it is scheduled.
// A chain passes its Option to wasmd's keeper and its Check to Runtime.
type EntryPoints struct {
	engine wasmtypes.WasmEngine
	mtx    sync.Mutex
	// sudo tells, by checksum, whether code has that entry point. It depends on the code alone, so that it is the same on every
	// node, whatever this one remembers.
	sudo map[string]bool
}

// NewEntryPoints returns a look-up that has to be given the VM by Option.
func NewEntryPoints() *EntryPoints { return &EntryPoints{sudo: map[string]bool{}} }

// Option takes the VM of wasmd's keeper, which the keeper itself does not show.
func (e *EntryPoints) Option() wasmkeeper.Option {
	return wasmkeeper.WithWasmEngineDecorator(func(engine wasmtypes.WasmEngine) wasmtypes.WasmEngine {
		e.engine = engine
		return engine
	})
}

// HasSudo reports whether code exports sudo.
func (e *EntryPoints) HasSudo(checksum []byte) (bool, error) {
	e.mtx.Lock()
	has, known := e.sudo[string(checksum)]
	e.mtx.Unlock()
	if known {
		return has, nil
	}
	report, err := e.engine.AnalyzeCode(checksum)
	if err != nil {
		return false, wasmtypes.ErrVMError.Wrapf("analyze code %X: %s", checksum, types.ReasonOf(err))
	}
	has = slices.Contains(report.Entrypoints, "sudo")
	e.mtx.Lock()
	defer e.mtx.Unlock()
	if len(e.sudo) >= maxKnownCodes {
		e.sudo = map[string]bool{}
	}
	e.sudo[string(checksum)] = has
	return has, nil
}

// CodeView is what a look-up reads of x/wasm; wasmd's keeper is one.
type CodeView interface {
	GetContractInfo(ctx context.Context, contract sdk.AccAddress) *wasmtypes.ContractInfo
	GetCodeInfo(ctx context.Context, codeID uint64) *wasmtypes.CodeInfo
}

// Check makes the runtime of contracts refuse a call of sudo, when it is scheduled, if the contract's code does not export
// it. The error is types.ErrInvalidHandler.
func (e *EntryPoints) Check(view CodeView) actors.WasmOption {
	return actors.WithSudoCheck(func(ctx context.Context, contract sdk.AccAddress) error {
		sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(LookUpCycles, "look up entry point")
		info := view.GetContractInfo(ctx, contract)
		if info == nil {
			return types.ErrUnknownActor.Wrapf("there is no contract %s", contract)
		}
		code := view.GetCodeInfo(ctx, info.CodeID)
		if code == nil {
			return types.ErrInvalidHandler.Wrapf("contract %s has code %d, which does not exist", contract, info.CodeID)
		}
		has, err := e.HasSudo(code.CodeHash)
		if err == nil && !has {
			err = types.ErrInvalidHandler.Wrapf("code %d of contract %s exports no sudo, by which handlers are called; "+
				"state messages, or migrate the contract to code that does", info.CodeID, contract)
		}
		return err
	})
}
