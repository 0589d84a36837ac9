package evmrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"testing"

	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native"
	"github.com/stretchr/testify/require"
)

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

// TestTraced_IsWhatTheTracerFound: of the tracer that the request names; a request that states nonsense is refused.
func TestTraced_IsWhatTheTracerFound(t *testing.T) {
	require.NoError(t, evmtypes.SetChainConfig(evmtypes.DefaultChainConfig(evmChainID)))
	from, to := common.Address{1}, common.Address{2}
	tx := ethtypes.NewTx(&ethtypes.LegacyTx{To: &to, Gas: 10})
	run := func(config evmtypes.TraceConfig, result error) (string, error) {
		raw, err := traced(&rpctypes.TraceConfig{TraceConfig: config}, &tracers.Context{},
			&Fire{Response: &evmtypes.MsgEthereumTxResponse{}}, func(hooks *tracing.Hooks) error {
				hooks.OnTxStart(&tracing.VMContext{}, tx, from)
				hooks.OnEnter(0, byte(vm.CALL), from, to, nil, 10, new(big.Int))
				hooks.OnExit(0, []byte{7}, 3, nil, false)
				hooks.OnTxEnd(&ethtypes.Receipt{GasUsed: 3}, nil)
				return result
			})
		return string(raw), err
	}
	found, err := run(evmtypes.TraceConfig{Tracer: "callTracer"}, nil)
	require.NoError(t, err)
	require.Contains(t, found, `"output":"0x07"`)
	require.Contains(t, found, `"gasUsed":"0x3"`)
	for _, wrong := range []evmtypes.TraceConfig{{Limit: -1}, {Timeout: "soon"}} {
		_, err := run(wrong, nil)
		require.Error(t, err)
	}
	_, err = run(evmtypes.TraceConfig{Tracer: "callTracer"}, errors.New("not run"))
	require.ErrorContains(t, err, "not run")
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
