package rpctest

import (
	"testing"

	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/evmbinding"
	"github.com/cosmos-timers/timers/evmbinding/evmrpc"
)

// TestClient_ShowsFiresBehindTransactions: as transactions with results, places without gaps, their logs in the bloom, and
// their senders without signatures.
func TestClient_ShowsFiresBehindTransactions(t *testing.T) {
	c := chain(t)
	d, response, txs := mixed(t, c)
	recording := newRecorded()
	height := recording.add(c, response, txs...)
	client := newTestClient(t, c, recording)

	block, err := client.Block(t.Context(), &height)
	require.NoError(t, err)
	require.Len(t, block.Block.Txs, 5)
	require.Len(t, recording.blocks[height].Block.Txs, 2, "CometBFT's own block is not changed")
	same, err := client.BlockByHash(t.Context(), block.BlockID.Hash)
	require.NoError(t, err)
	require.Equal(t, block, same)
	results, err := client.BlockResults(t.Context(), &height)
	require.NoError(t, err)
	require.Len(t, results.TxsResults, 5)
	require.Len(t, recording.results[height].TxsResults, 2)

	var bloom ethtypes.Bloom
	nextLog, status := uint(0), []bool{}
	for i, result := range results.TxsResults {
		parsed, err := rpctypes.ParseTxResult(result, nil)
		require.NoError(t, err)
		require.Len(t, parsed.Txs, 1)
		require.Equal(t, int32(i), parsed.Txs[0].EthTxIndex)
		require.Equal(t, uint64(result.GasUsed), parsed.Txs[0].GasUsed)
		status = append(status, !parsed.Txs[0].Failed)
		logs, err := evmtypes.DecodeTxLogs(result.Data, uint64(height))
		require.NoError(t, err)
		for _, log := range logs {
			require.Equal(t, nextLog, log.Index)
			require.Equal(t, uint(i), log.TxIndex)
			require.Equal(t, parsed.Txs[0].Hash, log.TxHash)
			require.Equal(t, uint64(height), log.BlockNumber)
			if i >= 2 {
				require.Equal(t, common.BytesToHash(block.BlockID.Hash), log.BlockHash)
				require.Equal(t, uint64(block.Block.Time.Unix()), log.BlockTimestamp)
			}
			bloom.Add(log.Address.Bytes())
			for _, topic := range log.Topics {
				bloom.Add(topic.Bytes())
			}
			nextLog++
		}
		tx, err := client.TxConfig().TxDecoder()(block.Block.Txs[i])
		require.NoError(t, err)
		ethTx := tx.GetMsgs()[0].(*evmtypes.MsgEthereumTx).AsTransaction()
		require.Equal(t, parsed.Txs[0].Hash, ethTx.Hash())
		from, err := ethtypes.Sender(ethtypes.LatestSignerForChainID(chainID), ethTx)
		require.NoError(t, err)
		require.Equal(t, i < 2, from == alice.Address)
		require.Equal(t, i >= 2, from == evmbinding.Address)
	}
	require.Equal(t, []bool{true, false, true, false, true}, status)
	require.Equal(t, uint(3), nextLog)
	shown, _ := event(t, results.FinalizeBlockEvents, evmtypes.EventTypeBlockBloom)
	require.Equal(t, bloom, ethtypes.BytesToBloom([]byte(shown.Attributes[0].Value)))
	own, _ := event(t, response.Events, evmtypes.EventTypeBlockBloom)
	require.NotEqual(t, bloom, ethtypes.BytesToBloom([]byte(own.Attributes[0].Value)))

	logs, err := client.LogsOf(t.Context(), height)
	require.NoError(t, err)
	require.Len(t, logs, 2)
	require.Equal(t, d.Address, logs[0].Address)
}

// TestClient_LeavesOtherBlocksAlone: a block without fires is the one below, and so is one whose transactions emitted
// events like those of fires.
func TestClient_LeavesOtherBlocksAlone(t *testing.T) {
	c := chain(t)
	_, withFires, _ := mixed(t, c)
	fire, _ := event(t, withFires.Events, evmbinding.EventFire)
	_, at := event(t, withFires.Events, firedEvent)
	d := alarm(c)
	tx := d.Tx(alice, 0, "set", common.Big1)
	response := c.Block(tx)
	recording := newRecorded()
	// A transaction can't emit events for the block: those that it emits are its own.
	response.TxResults[0].Events = append(response.TxResults[0].Events, fire, withFires.Events[at])
	height := recording.add(c, response, tx)
	client := newTestClient(t, c, recording)
	block, err := client.Block(t.Context(), &height)
	require.NoError(t, err)
	require.Same(t, recording.blocks[height], block)
	results, err := client.BlockResults(t.Context(), &height)
	require.NoError(t, err)
	require.Same(t, recording.results[height], results)
	for _, a := range fire.Attributes {
		if a.Key == evmbinding.AttributeHash {
			found, err := client.Find(t.Context(), common.HexToHash(a.Value))
			require.NoError(t, err)
			require.Nil(t, found)
		}
	}
	// A block whose results the node has dropped is shown as it is.
	delete(recording.results, height)
	client = newTestClient(t, c, recording)
	block, err = client.Block(t.Context(), &height)
	require.NoError(t, err)
	require.Same(t, recording.blocks[height], block)
	_, err = client.BlockResults(t.Context(), &height)
	require.Error(t, err)
}

// TestClient_FindsFiresByHash: in what was shown, without a search; else by CometBFT's index.
func TestClient_FindsFiresByHash(t *testing.T) {
	c := chain(t)
	_, response, txs := mixed(t, c)
	recording := newRecorded()
	height := recording.add(c, response, txs...)
	fires, err := evmrpc.Fires(response.Events, chainID)
	require.NoError(t, err)
	query := evmtypes.TypeMsgEthereumTx + "." + evmtypes.AttributeKeyEthereumTxHash + "='"
	for i, f := range fires {
		client := newTestClient(t, c, recording)
		for round := range 2 {
			before := recording.searches
			found, err := client.TxSearch(t.Context(), query+f.Hash.Hex()+"'", false, nil, nil, "")
			require.NoError(t, err)
			require.Len(t, found.Txs, 1)
			require.Equal(t, uint32(2+i), found.Txs[0].Index)
			require.Equal(t, height, found.Txs[0].Height)
			parsed, err := rpctypes.ParseTxIndexerResult(found.Txs[0], nil, func(txs *rpctypes.ParsedTxs) *rpctypes.ParsedTx {
				return txs.GetTxByHash(f.Hash)
			})
			require.NoError(t, err)
			require.Equal(t, f.Failed(), parsed.Failed)
			require.Equal(t, round == 0, recording.searches > before, "what was shown is not searched for")
		}
		fire, block, err := client.Fire(t.Context(), f.Hash)
		require.NoError(t, err)
		require.Equal(t, f.Hash, fire.Hash)
		require.Len(t, block.Block.Txs, 2)
	}
	// Other searches, and those for other hashes, are the client's below.
	client := newTestClient(t, c, recording)
	before := recording.searches
	for _, other := range []string{query + common.Hash{1}.Hex() + "'", "tx.height=7", query + "0x'"} {
		found, err := client.TxSearch(t.Context(), other, false, nil, nil, "")
		require.NoError(t, err)
		require.Empty(t, found.Txs)
	}
	require.Equal(t, before+5, recording.searches)
	// A node without an index knows what it has shown.
	recording.unindexed = true
	found, err := client.Find(t.Context(), fires[0].Hash)
	require.NoError(t, err)
	require.Nil(t, found)
	_, err = client.BlockResults(t.Context(), &height)
	require.NoError(t, err)
	found, err = client.Find(t.Context(), fires[0].Hash)
	require.NoError(t, err)
	require.Equal(t, uint32(2), found.Index)
}

// TestSenders_AreThoseOfShownFiresAlone: a signed transaction has the sender that signed it, and an unsigned one that was
// not shown as a fire has none, whoever it names.
func TestSenders_AreThoseOfShownFiresAlone(t *testing.T) {
	c := chain(t)
	_, response, txs := mixed(t, c)
	recording := newRecorded()
	height := recording.add(c, response, txs...)
	client := newTestClient(t, c, recording)
	sender := func(client *evmrpc.Client, raw []byte) (common.Address, error) {
		tx, err := client.TxConfig().TxDecoder()(raw)
		require.NoError(t, err)
		return ethtypes.Sender(ethtypes.LatestSignerForChainID(chainID), tx.GetMsgs()[0].(*evmtypes.MsgEthereumTx).AsTransaction())
	}
	from, err := sender(client, txs[0])
	require.NoError(t, err)
	require.Equal(t, alice.Address, from)
	block, err := client.Block(t.Context(), &height)
	require.NoError(t, err)
	from, err = sender(client, block.Block.Txs[2])
	require.NoError(t, err)
	require.Equal(t, evmbinding.Address, from)
	_, err = sender(newTestClient(t, c, newRecorded()), block.Block.Txs[2])
	require.ErrorIs(t, err, ethtypes.ErrInvalidSig)
	_, err = client.TxConfig().TxDecoder()([]byte("no transaction"))
	require.Error(t, err)
}
