package evmrpc

import (
	"strconv"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"

	"github.com/cosmos/cosmos-sdk/client"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// shown is what is added to a block. It is not changed once it is made.
type shown struct {
	fires []Fire
	// txs are the fires as transactions of the SDK, and results theirs, with their places in the block.
	txs     cmttypes.Txs
	results []*abci.ExecTxResult
	// bloom has the logs of the fires.
	bloom ethtypes.Bloom
}

// show makes what is added to a block with fires.
func show(txConfig client.TxConfig, block *coretypes.ResultBlock, results *coretypes.ResultBlockResults, fires []Fire) (*shown, error) {
	s := &shown{fires: fires}
	txIndex, logIndex, err := places(txConfig.TxDecoder(), block.Block.Txs, results.TxsResults)
	if err != nil {
		return nil, err
	}
	for i := range fires {
		f := &fires[i]
		tx, err := encode(txConfig, f)
		if err != nil {
			return nil, err
		}
		f.Response.BlockHash, f.Response.BlockTimestamp = block.BlockID.Hash, uint64(block.Block.Time.Unix())
		for _, log := range f.Response.Logs {
			log.BlockNumber, log.BlockTimestamp = uint64(block.Block.Height), f.Response.BlockTimestamp
			log.BlockHash = common.BytesToHash(block.BlockID.Hash).Hex()
			log.TxHash, log.TxIndex, log.Index, log.Removed = f.Hash.Hex(), txIndex, logIndex, false
			logIndex++
			s.bloom.Add(common.HexToAddress(log.Address).Bytes())
			for _, topic := range log.Topics {
				s.bloom.Add(common.HexToHash(topic).Bytes())
			}
		}
		result, err := f.result(txIndex)
		if err != nil {
			return nil, err
		}
		s.txs, s.results = append(s.txs, tx), append(s.results, result)
		txIndex++
	}
	return s, nil
}

// places are the indices of the first transaction and of the first log behind a block's own: of its Ethereum transactions,
// and of their logs, as cosmos/evm counts them.
func places(decode sdk.TxDecoder, txs cmttypes.Txs, results []*abci.ExecTxResult) (txIndex, logIndex uint64, err error) {
	for i, result := range results {
		logs, err := evmtypes.DecodeTxLogs(result.Data, 0)
		if err != nil {
			return 0, 0, err
		}
		logIndex += uint64(len(logs))
		if i >= len(txs) || !rpctypes.TxSucessOrExpectedFailure(result) {
			continue
		}
		tx, err := decode(txs[i])
		if err != nil {
			continue // As cosmos/evm does.
		}
		for _, msg := range tx.GetMsgs() {
			if _, ok := msg.(*evmtypes.MsgEthereumTx); ok {
				txIndex++
			}
		}
	}
	return txIndex, logIndex, nil
}

// encode makes a transaction of the SDK of a fire, as those of Ethereum are wrapped.
func encode(txConfig client.TxConfig, f *Fire) ([]byte, error) {
	msg := &evmtypes.MsgEthereumTx{From: f.From.Bytes()}
	msg.FromEthereumTx(f.Tx)
	tx, err := msg.BuildTxWithEvmParams(txConfig.NewTxBuilder(), evmtypes.Params{})
	if err != nil {
		return nil, err
	}
	return txConfig.TxEncoder()(tx)
}

// encodeResponse is the data of a result.
func encodeResponse(response *evmtypes.MsgEthereumTxResponse) ([]byte, error) {
	packed, err := codectypes.NewAnyWithValue(response)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(&sdk.TxMsgData{MsgResponses: []*codectypes.Any{packed}})
}

// result is that of the fire as a transaction: the response, and the events from which cosmos/evm makes receipts.
func (f *Fire) result(index uint64) (*abci.ExecTxResult, error) {
	data, err := encodeResponse(f.Response)
	if err != nil {
		return nil, err
	}
	place := []abci.EventAttribute{
		{Key: evmtypes.AttributeKeyEthereumTxHash, Value: f.Hash.Hex()},
		{Key: evmtypes.AttributeKeyTxIndex, Value: strconv.FormatUint(index, 10)},
	}
	outcome := append(place[:2:2], abci.EventAttribute{
		Key: evmtypes.AttributeKeyTxGasUsed, Value: strconv.FormatUint(f.Response.GasUsed, 10),
	})
	if f.Failed() {
		outcome = append(outcome, abci.EventAttribute{Key: evmtypes.AttributeKeyEthereumTxFailed, Value: f.Response.VmError})
	}
	return &abci.ExecTxResult{
		Data: data, GasUsed: int64(f.Response.GasUsed), GasWanted: int64(f.Tx.Gas()),
		Events: []abci.Event{
			{Type: evmtypes.EventTypeEthereumTx, Attributes: place}, {Type: evmtypes.EventTypeEthereumTx, Attributes: outcome},
		},
	}, nil
}

// block is a block with the fires behind its transactions.
func (s *shown) block(b *coretypes.ResultBlock) *coretypes.ResultBlock {
	return &coretypes.ResultBlock{BlockID: b.BlockID, Block: &cmttypes.Block{
		Header: b.Block.Header, Evidence: b.Block.Evidence, LastCommit: b.Block.LastCommit,
		Data: cmttypes.Data{Txs: append(b.Block.Txs[:len(b.Block.Txs):len(b.Block.Txs)], s.txs...)},
	}}
}

// blockResults are results with those of the fires, and with their logs in the bloom.
func (s *shown) blockResults(r *coretypes.ResultBlockResults) *coretypes.ResultBlockResults {
	all := *r
	all.TxsResults = append(r.TxsResults[:len(r.TxsResults):len(r.TxsResults)], s.results...)
	all.FinalizeBlockEvents = make([]abci.Event, len(r.FinalizeBlockEvents))
	for i, event := range r.FinalizeBlockEvents {
		if event.Type == evmtypes.EventTypeBlockBloom {
			event.Attributes = append([]abci.EventAttribute(nil), event.Attributes...)
			for j, a := range event.Attributes {
				if a.Key == evmtypes.AttributeKeyEthereumBloom {
					own := ethtypes.BytesToBloom([]byte(a.Value))
					for k := range own {
						own[k] |= s.bloom[k]
					}
					event.Attributes[j].Value = string(own.Bytes())
				}
			}
		}
		all.FinalizeBlockEvents[i] = event
	}
	return &all
}

// find is a fire of the block as a transaction found by its hash; nil if it is not there.
func (s *shown) find(hash common.Hash, height int64, own int) *coretypes.ResultTx {
	for i := range s.fires {
		if s.fires[i].Hash == hash {
			tx := s.txs[i]
			return &coretypes.ResultTx{Hash: tx.Hash(), Height: height, Index: uint32(own + i), TxResult: *s.results[i], Tx: tx}
		}
	}
	return nil
}
