package evmrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	"github.com/cosmos-timers/timers/evmbinding/testutil/evmapp"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// TestTrace_OfTheFirstBlockIsRefused: no state comes before it, and that of another height is not taken for it.
func TestTrace_OfTheFirstBlockIsRefused(t *testing.T) {
	c := chain(t)
	replay := replayer{c.App, c.EVM}
	c.Block()
	proposer := c.Ctx().BlockHeader().ProposerAddress
	block := func(height int64) *coretypes.ResultBlock {
		return &coretypes.ResultBlock{Block: &cmttypes.Block{
			Header: cmttypes.Header{Height: height, ProposerAddress: proposer},
		}}
	}
	_, err := replay.before(block(1), abci.CommitInfo{}, nil)
	require.ErrorContains(t, err, "block 1 has no state before it")
	_, err = replay.before(block(2), abci.CommitInfo{}, nil)
	require.NoError(t, err)
	_, err = replay.before(block(c.LastBlockHeight()+2), abci.CommitInfo{}, nil)
	require.ErrorContains(t, err, "the state before block")
}

// TestBlockTraces_NameTheirTransactions, as go-ethereum's do, and none by the hash of another.
func TestBlockTraces_NameTheirTransactions(t *testing.T) {
	hashes := []common.Hash{{1}, {2}}
	named, err := name([]*evmtypes.TxTraceResult{{Result: "done"}, {Error: "refused"}}, hashes)
	require.NoError(t, err)
	text, err := json.Marshal(named)
	require.NoError(t, err)
	require.JSONEq(t, fmt.Sprintf(
		`[{"txHash":%q,"result":"done"},{"txHash":%q,"error":"refused"}]`, hashes[0], hashes[1]), string(text))
	_, err = name([]*evmtypes.TxTraceResult{{}}, hashes)
	require.ErrorContains(t, err, "1 traces of 2 transactions")
	named, err = name(nil, nil)
	require.NoError(t, err)
	text, err = json.Marshal(named)
	require.NoError(t, err)
	require.Equal(t, "[]", string(text))
}

// TestTrace_ShowsTheFailureThatTheReceiptShows, unless the call has one of its own; and no other.
func TestTrace_ShowsTheFailureThatTheReceiptShows(t *testing.T) {
	own := errors.New("out of gas")
	for _, try := range []struct {
		reported string
		err      error
		want     string
		gas      uint64
	}{
		{"", nil, "", 7},
		{"timers error 3", nil, "timers error 3", 5},
		{"timers error 3", own, own.Error(), 7},
		{"", own, own.Error(), 7},
	} {
		got, gas := []string{}, uint64(0)
		hooks := reported(tracing.Hooks{
			OnExit: func(_ int, _ []byte, _ uint64, err error, reverted bool) {
				require.Equal(t, err != nil, reverted)
				got = append(got, fmt.Sprint(err))
			},
			OnTxEnd: func(receipt *ethtypes.Receipt, err error) {
				require.NoError(t, err)
				gas = receipt.GasUsed
			},
		}, &Fire{Response: &evmtypes.MsgEthereumTxResponse{VmError: try.reported, GasUsed: 5}})
		hooks.OnExit(1, nil, 1, nil, false)
		hooks.OnExit(0, nil, 2, try.err, try.err != nil)
		hooks.OnTxEnd(&ethtypes.Receipt{GasUsed: 7}, try.err)
		want := "<nil>"
		if try.want != "" {
			want = try.want
		}
		require.Equal(t, []string{"<nil>", want}, got, "%+v", try)
		require.Equal(t, try.gas, gas, "%+v", try)
	}
	require.NotPanics(t, func() { reported(tracing.Hooks{}, &Fire{Response: &evmtypes.MsgEthereumTxResponse{}}) })
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
			Actor: alice.Address.Bytes(), Trigger: timerstypes.Trigger{After: 1}, Handler: evmbinding.HandlerCall,
			Payload: payload, GasLimit: 100_000,
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
	fires, err := Fires(response.Events, chainID)
	require.NoError(t, err)
	require.Len(t, fires, 1)
	found := fires[0].Response.Logs[0].Data
	require.Equal(t, common.BigToHash(big.NewInt(header.Height)).Bytes(), found[:32])
	require.False(t, bytes.Equal(found[32:64], make([]byte, 32)), "a base fee")

	replay := replayer{c.App, c.EVM}
	ctx, err := replay.before(&coretypes.ResultBlock{Block: &cmttypes.Block{Header: header}}, abci.CommitInfo{}, nil)
	require.NoError(t, err)
	config := &rpctypes.TraceConfig{TraceConfig: evmtypes.TraceConfig{Tracer: "callTracer"}}
	raw, err := traced(config, &tracers.Context{}, &fires[0], func(hooks *tracing.Hooks) error {
		return evmbinding.Replay(ctx, c.EVM, fires[0].From, fires[0].Tx, hooks, true)
	})
	require.NoError(t, err)
	var trace struct{ Output hexutil.Bytes }
	require.NoError(t, json.Unmarshal(raw, &trace))
	for i := 0; i < len(found); i += 32 {
		require.Equal(t, hexutil.Encode(found[i:i+32]), hexutil.Encode(trace.Output[i:i+32]), "word %d", i/32)
	}

	c.Before = func(sdk.Context) error { return errors.New("no state of then") }
	_, err = replay.before(&coretypes.ResultBlock{Block: &cmttypes.Block{Header: header}}, abci.CommitInfo{}, nil)
	require.EqualError(t, err, fmt.Sprintf("the beginning of block %d: no state of then", header.Height))
}
