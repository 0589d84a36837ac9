package actors_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// machine is what a runtime runs: it works, and then returns or panics as its switch says.
type machine struct {
	end func() error
	// calls is how often it ran, and from the last on it works and does as the switch says.
	calls, last int
}

const (
	machineCycles = 12_345
	machineBytes  = 64
)

func (m *machine) run(ctx context.Context) error {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	sdkCtx.GasMeter().ConsumeGas(machineCycles, "work")
	sdkCtx.GasMeter().ConsumeGas(machineBytes*sdkCtx.KVGasConfig().WriteCostPerByte, storetypes.GasWritePerByteDesc)
	if m.calls++; m.calls < m.last {
		return nil
	}
	return m.end()
}

// Handler implements actors.MessageRouter.
func (m *machine) Handler(sdk.Msg) baseapp.MsgServiceHandler {
	return func(ctx sdk.Context, _ sdk.Msg) (*sdk.Result, error) { return &sdk.Result{}, m.run(ctx) }
}

// Sudo implements actors.ContractKeeper.
func (m *machine) Sudo(ctx context.Context, _ sdk.AccAddress, _ []byte) ([]byte, error) {
	return nil, m.run(ctx)
}

// HasContractInfo implements actors.ContractView.
func (m *machine) HasContractInfo(_ context.Context, address sdk.AccAddress) bool {
	return bytes.Equal(address, contract)
}

// QuerySmart implements actors.ContractView.
func (m *machine) QuerySmart(ctx context.Context, _ sdk.AccAddress, _ []byte) ([]byte, error) {
	return []byte("{}"), m.run(ctx)
}

// ends are all that a machine may come back with.
func ends() map[string]func() error {
	fails := func(err error) func() error { return func() error { return err } }
	panics := func(value any) func() error { return func() error { panic(value) } }
	var none []error
	return map[string]func() error{
		"a success":                 fails(nil),
		"an error of this module":   fails(types.ErrInvalidPayload),
		"an error of another":       fails(errorsmod.Wrap(sdkerrors.ErrUnauthorized, "not allowed")),
		"a wrapped error":           fails(fmt.Errorf("failed: %w", sdkerrors.ErrInsufficientFunds)),
		"an error without a code":   fails(errors.New("any")),
		"its own out of gas":        fails(sdkerrors.ErrOutOfGas),
		"an error of funds":         fails(types.ErrInsufficientFunds),
		"a panic":                   panics("any"),
		"a panic with an error":     panics(errors.New("any")),
		"a panic of gas":            panics(storetypes.ErrorOutOfGas{Descriptor: "any"}),
		"a panic of gas overflow":   panics(storetypes.ErrorGasOverflow{Descriptor: "any"}),
		"a panic of a runtime":      func() error { return none[len(none)] },
		"a panic of negative gas":   panics(storetypes.ErrorNegativeGasConsumed{Descriptor: "any"}),
		"a panic of a nil function": func() error { var fn func() error; return fn() },
	}
}

// TestCharges_WhateverComesBack: what a runtime's machine has used is charged whatever it returns, and what it wrote is counted;
// of a list of messages all until the one that fails.
func TestCharges_WhateverComesBack(t *testing.T) {
	chain, err := lab.NewChain(lab.ChainOptions{})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())
	config, module := types.DefaultTimerConfig(chain.FeeDenom), authtypes.NewModuleAddress("worker")
	messages := func(actor sdk.AccAddress, n int) []byte {
		msgs := make([]sdk.Msg, n)
		for i := range msgs {
			msgs[i] = banktypes.NewMsgSend(actor, bob, sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, 1)))
		}
		payload, err := types.NewAccountPayload(msgs...)
		require.NoError(t, err)
		bz, err := payload.Marshal()
		require.NoError(t, err)
		return bz
	}
	for name, of := range map[string]struct {
		runtime func(*machine) types.Runtime
		call    types.Call
		runs    int
	}{
		"an account's messages": {
			func(m *machine) types.Runtime { return actors.NewAccountRuntime(chain.Codec, chain.Accounts, m) },
			types.Call{Actor: alice, Handler: types.DefaultHandler, Payload: messages(alice, 20)},
			20,
		},
		"a contract's messages": {
			func(m *machine) types.Runtime {
				return actors.NewWasmRuntime(m, m, nil, actors.WithMessages(actors.NewMessages(chain.Codec, m)))
			},
			types.Call{Actor: contract, Handler: types.DefaultHandler, Payload: messages(contract, 20), Messages: true},
			20,
		},
		"a contract": {
			func(m *machine) types.Runtime { return actors.NewWasmRuntime(m, m, nil) },
			types.Call{Actor: contract, Handler: "work", Payload: []byte("{}")},
			1,
		},
		"a contract that is gone": {
			func(m *machine) types.Runtime { return actors.NewWasmRuntime(m, m, nil) },
			types.Call{Actor: alice, Handler: "work", Payload: []byte("{}")},
			1,
		},
		"a module": {
			func(m *machine) types.Runtime {
				r := actors.NewModuleRuntime()
				r.Register("worker", "work", func(ctx context.Context, _ types.Delivery) error { return m.run(ctx) })
				return r
			},
			types.Call{Actor: module, Handler: "work"},
			1,
		},
	} {
		for how, end := range ends() {
			m := &machine{end: end, last: of.runs}
			runtime, prices := of.runtime(m), chain.Ctx().KVGasConfig()
			meter := sandbox.NewMeter(1_000_000, 10_000, prices.WriteCostPerByte)
			err := sandbox.Run(chain.Ctx().WithGasMeter(meter), func(ctx sdk.Context) error {
				return runtime.Deliver(ctx, &config, types.Delivery{Call: of.call})
			})
			require.Equal(t, how == "a success", err == nil, "%s, %s: %v", name, how, err)
			require.Equal(t, of.runs, m.calls, "%s, %s", name, how)
			cycles, cells := meter.Used()
			require.Equal(t, uint64(of.runs*machineCycles), cycles, "%s, %s", name, how)
			require.Equal(t, uint64(of.runs*machineBytes), cells, "%s, %s", name, how)
		}
	}
}

// TestCharges_WhateverAnAgentAnswers: the same of agents, whose answers are read after they have worked.
func TestCharges_WhateverAnAgentAnswers(t *testing.T) {
	chain, err := lab.NewChain(lab.ChainOptions{})
	require.NoError(t, err)
	for how, end := range ends() {
		m := &machine{end: end}
		module := actors.NewModuleRuntime()
		module.RegisterQuoter("worker", func(ctx context.Context, _ types.BidContext) (types.AgentQuote, error) {
			return types.AgentQuote{}, m.run(ctx)
		})
		for agent, quoter := range map[string]types.Quoter{
			string(authtypes.NewModuleAddress("worker")): module, string(contract): actors.NewWasmRuntime(m, m, nil),
		} {
			meter := storetypes.NewInfiniteGasMeter()
			_ = sandbox.Probe(chain.Ctx().WithGasMeter(meter), func(ctx sdk.Context) error {
				answer, err := quoter.Quote(ctx, sdk.AccAddress(agent), types.BidContext{Actor: alice})
				if err == nil {
					err = answer.Validate()
				}
				require.Error(t, err, how)
				return err
			})
			require.GreaterOrEqual(t, meter.GasConsumed(), uint64(machineCycles), how)
		}
	}
}
