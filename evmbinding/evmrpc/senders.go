package evmrpc

import (
	"errors"
	"math/big"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"

	"github.com/cosmos/cosmos-sdk/client"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// senders is a TxConfig whose decoder gives fires their senders: cosmos/evm asks go-ethereum to recover them from
// signatures, which fires don't have, and go-ethereum remembers what a transaction's sender was found to be.
type senders struct {
	client.TxConfig
	// shown reports whether a fire of this hash was shown: the sender of a transaction that someone put into a block without
	// a signature is not believed.
	shown func(common.Hash) bool
}

// TxDecoder implements client.TxConfig.
func (s senders) TxDecoder() sdk.TxDecoder {
	decode := s.TxConfig.TxDecoder()
	return func(bz []byte) (sdk.Tx, error) {
		tx, err := decode(bz)
		if err != nil {
			return nil, err
		}
		for _, msg := range tx.GetMsgs() {
			if fire, ok := msg.(*evmtypes.MsgEthereumTx); ok && unsigned(fire.AsTransaction()) && s.shown(fire.Hash()) {
				if _, err := ethtypes.Sender(known{fire.GetSender()}, fire.AsTransaction()); err != nil {
					return nil, err
				}
			}
		}
		return tx, nil
	}
}

// unsigned reports whether a transaction has the form of a fire's. No signature has 0 for s.
func unsigned(tx *ethtypes.Transaction) bool {
	if tx == nil || tx.Type() != ethtypes.LegacyTxType {
		return false
	}
	_, r, s := tx.RawSignatureValues()
	return r.Sign() > 0 && s.Sign() == 0
}

// known is a signer of transactions whose sender is known.
type known struct{ from common.Address }

// Sender implements ethtypes.Signer.
func (k known) Sender(*ethtypes.Transaction) (common.Address, error) { return k.from, nil }

// Equal implements ethtypes.Signer: what it found holds for every signer.
func (known) Equal(ethtypes.Signer) bool { return true }

// ChainID implements ethtypes.Signer.
func (known) ChainID() *big.Int { return nil }

// Hash implements ethtypes.Signer.
func (known) Hash(*ethtypes.Transaction) common.Hash { return common.Hash{} }

// SignatureValues implements ethtypes.Signer.
func (known) SignatureValues(*ethtypes.Transaction, []byte) (r, s, v *big.Int, err error) {
	return nil, nil, nil, errors.New("a fire has no signature")
}
