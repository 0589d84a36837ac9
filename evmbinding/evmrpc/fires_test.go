package evmrpc

import (
	"encoding/base64"
	"math/big"
	"strconv"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/cosmos/evm/encoding"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
)

const evmChainID = 9_001

// FuzzFires: whatever the attributes are, nothing panics, and what counts as a fire can be shown.
func FuzzFires(f *testing.F) {
	const id = "392aa7ea2d9bc70ca888ff8b2cc4cb4348f1154651fd99c088de449ddb845e01"
	to := common.Address{0xc0}
	actor := `"` + sdk.AccAddress(to.Bytes()).String() + `"`
	r, _ := new(big.Int).SetString(id, 16)
	tx := ethtypes.NewTx(&ethtypes.LegacyTx{
		GasPrice: new(big.Int), Gas: 50_000, To: &to, Value: new(big.Int), Data: []byte("data"),
		V: big.NewInt(2*evmChainID + 35), R: r, S: new(big.Int),
	})
	rlp, err := tx.MarshalBinary()
	require.NoError(f, err)
	response := &evmtypes.MsgEthereumTxResponse{Hash: tx.Hash().Hex(), GasUsed: 30_000, Logs: []*evmtypes.Log{{
		Address: to.Hex(), Topics: []string{common.Hash{7}.Hex()}, Data: []byte("more"),
	}}}
	for _, failed := range []bool{false, true} {
		if failed {
			response.VmError, response.Logs = "execution reverted", nil
		}
		data, err := encodeResponse(response)
		require.NoError(f, err)
		f.Add(failed, evmbinding.Address.Hex(), base64.StdEncoding.EncodeToString(rlp), base64.StdEncoding.EncodeToString(data), id, !failed)
	}
	config := encoding.MakeConfig(evmChainID)
	evmtypes.RegisterInterfaces(config.InterfaceRegistry)
	txConfig := senders{config.TxConfig, func(common.Hash) bool { return true }}
	attribute := func(key, value string) abci.EventAttribute { return abci.EventAttribute{Key: key, Value: value} }
	f.Fuzz(func(t *testing.T, failed bool, from, tx, data, deliverID string, success bool) {
		kind := evmbinding.EventFire
		if failed {
			kind = evmbinding.EventFailed
		}
		end := attribute("mode", "EndBlock")
		fires, _ := Fires([]abci.Event{
			{Type: kind, Attributes: []abci.EventAttribute{
				attribute("from", from), attribute("tx", tx), attribute("data", data),
				attribute("timer_id", deliverID), attribute("deliver_id", deliverID), end,
			}},
			{Type: firedEvent, Attributes: []abci.EventAttribute{
				attribute("deliver_id", `"`+deliverID+`"`), attribute("actor", actor), attribute("success", strconv.FormatBool(success)), end,
			}},
		}, big.NewInt(evmChainID))
		shown, err := show(txConfig, &coretypes.ResultBlock{Block: &cmttypes.Block{}}, &coretypes.ResultBlockResults{}, fires)
		require.NoError(t, err)
		for i, result := range shown.results {
			_, err := evmtypes.DecodeTxLogs(result.Data, 1)
			require.NoError(t, err)
			require.GreaterOrEqual(t, result.GasWanted, result.GasUsed)
			require.GreaterOrEqual(t, result.GasUsed, int64(0))
			decoded, err := txConfig.TxDecoder()(shown.txs[i])
			require.NoError(t, err)
			require.Equal(t, fires[i].Hash, decoded.GetMsgs()[0].(*evmtypes.MsgEthereumTx).Hash())
		}
	})
}
