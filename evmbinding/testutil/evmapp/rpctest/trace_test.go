package rpctest

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	"github.com/cosmos-timers/timers/evmbinding/evmrpc"
	"github.com/cosmos-timers/timers/evmbinding/internal/replay"
	"github.com/cosmos-timers/timers/evmbinding/testutil/evmapp"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// TestTrace_OfTheFirstBlockIsRefused: no state comes before it, and that of another height is not taken for it.
func TestTrace_OfTheFirstBlockIsRefused(t *testing.T) {
	c := chain(t)
	blocks := replay.Blocks{States: c.App, EVM: c.EVM}
	c.Block()
	proposer := c.Ctx().BlockHeader().ProposerAddress
	block := func(height int64) *coretypes.ResultBlock {
		return &coretypes.ResultBlock{Block: &cmttypes.Block{
			Header: cmttypes.Header{Height: height, ProposerAddress: proposer},
		}}
	}
	_, err := blocks.Before(block(1), abci.CommitInfo{}, nil)
	require.ErrorContains(t, err, "block 1 has no state before it")
	_, err = blocks.Before(block(2), abci.CommitInfo{}, nil)
	require.NoError(t, err)
	_, err = blocks.Before(block(c.LastBlockHeight()+2), abci.CommitInfo{}, nil)
	require.ErrorContains(t, err, "the state before block")
}

// environment is a new contract without an interface. Called, it logs and returns what it finds: the balance of an
// address, and the block's base fee, gas limit, proposer, time, height and chain, 32 bytes each.
func environment(tb testing.TB, c *evmapp.Chain, balanceOf common.Address) common.Address {
	tb.Helper()
	code := append([]byte{byte(vm.PUSH20)}, balanceOf.Bytes()...)
	asked := []vm.OpCode{vm.BALANCE, vm.BASEFEE, vm.GASLIMIT, vm.COINBASE, vm.TIMESTAMP, vm.NUMBER, vm.CHAINID}
	for i, op := range asked {
		code = append(code, byte(op), byte(vm.PUSH1), byte(32*i), byte(vm.MSTORE))
	}
	size := []byte{byte(vm.PUSH1), byte(32 * len(asked)), byte(vm.PUSH0)}
	code = slices.Concat(code, size, []byte{byte(vm.LOG0)}, size, []byte{byte(vm.RETURN)})
	deploy := []byte{
		byte(vm.PUSH1), byte(len(code)), byte(vm.DUP1), byte(vm.PUSH1), 9, byte(vm.PUSH0), byte(vm.CODECOPY),
		byte(vm.PUSH0), byte(vm.RETURN),
	}
	address := crypto.CreateAddress(alice.Address, c.EVM.GetNonce(c.Ctx(), alice.Address))
	block := c.Block(c.Sign(alice, 0, nil, nil, 300_000, slices.Concat(deploy, code)))
	require.Empty(tb, c.Result(block.TxResults[0]).VmError)
	return address
}

// TestTrace_FindsWhatTheBlocksBeginningDid: a begin blocker pays an account, the fee market changes the base fee, and
// a fire reads both, and what else it finds of its block. Its trace has the same.
func TestTrace_FindsWhatTheBlocksBeginningDid(t *testing.T) {
	c := chain(t)
	paid := evmapp.AccountOf("paid by a begin blocker").Address
	contract := environment(t, c, paid)
	payload, err := evmbinding.EncodeCall(contract, new(big.Int), nil)
	require.NoError(t, err)
	c.Do(func(ctx sdk.Context) error {
		_, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
			Actor: alice.Address.Bytes(), Spec: timerstypes.TimerSpec{
				Trigger: timerstypes.Trigger{After: 1}, Call: timerstypes.TimerCall{Handler: evmbinding.HandlerCall, Payload: payload},
				GasLimit: 100_000,
			},
		})
		return err
	})
	c.Before = func(ctx sdk.Context) error {
		coins := sdk.NewCoins(sdk.NewInt64Coin(evmapp.Denom, ctx.BlockHeight()))
		return c.Bank.SendCoins(ctx, bob.Address.Bytes(), paid.Bytes(), coins)
	}
	defer func() { c.Before = nil }()
	header := cmttypes.Header{
		ChainID: evmapp.ID, Height: c.LastBlockHeight() + 1, AppHash: c.LastCommitID().Hash,
		ProposerAddress: c.Ctx().BlockHeader().ProposerAddress,
	}
	response := c.Block()
	header.Time = c.Ctx().BlockTime()
	fires, err := evmrpc.Fires(response.Events, chainID)
	require.NoError(t, err)
	require.Len(t, fires, 1)
	found := fires[0].Response.Logs[0].Data
	require.Equal(t, common.BigToHash(big.NewInt(header.Height)).Bytes(), found[:32])
	require.False(t, bytes.Equal(found[32:64], make([]byte, 32)), "a base fee")

	blocks := replay.Blocks{States: c.App, EVM: c.EVM}
	ctx, err := blocks.Before(&coretypes.ResultBlock{Block: &cmttypes.Block{Header: header}}, abci.CommitInfo{}, nil)
	require.NoError(t, err)
	var returned []byte
	hooks := &tracing.Hooks{
		OnTxStart: func(*tracing.VMContext, *ethtypes.Transaction, common.Address) {},
		OnExit:    func(_ int, output []byte, _ uint64, _ error, _ bool) { returned = output },
	}
	require.NoError(t, evmbinding.Replay(ctx, c.EVM, fires[0].From, fires[0].Tx, hooks, true))
	for i := 0; i < len(found); i += 32 {
		require.Equal(t, hexutil.Encode(found[i:i+32]), hexutil.Encode(returned[i:i+32]), "word %d", i/32)
	}

	c.Before = func(sdk.Context) error { return errors.New("no state of then") }
	_, err = blocks.Before(&coretypes.ResultBlock{Block: &cmttypes.Block{Header: header}}, abci.CommitInfo{}, nil)
	require.EqualError(t, err, fmt.Sprintf("the beginning of block %d: no state of then", header.Height))
}
