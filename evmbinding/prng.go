package evmbinding

import (
	"bytes"
	"encoding/binary"

	cmn "github.com/cosmos/evm/precompiles/common"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// PRNGAddress is where HIP-351's function is, as on Hedera: getPseudorandomSeed() returns (bytes32). Contracts that are written
// for HIP-1215 spread their calls by it.
var PRNGAddress = common.HexToAddress("0x0000000000000000000000000000000000000169")

// prngSelector names the function.
var prngSelector = crypto.Keccak256([]byte("getPseudorandomSeed()"))[:selectorBytes]

// PRNG is the precompile at PRNGAddress. A seed is the hash of the state after the previous block, of the fire, or the sender of the
// transaction and its nonce, and of the gas that is left: each call has another one, on all nodes the same. It is a jitter and no
// secret: whoever sends a transaction can compute its seeds, and its effects, before.
type PRNG struct{ cmn.Precompile }

var _ vm.PrecompiledContract = (*PRNG)(nil)

// NewPRNG returns the precompile, which Wire registers with HIP-1215's.
func NewPRNG() *PRNG {
	return &PRNG{cmn.Precompile{
		KvGasConfig: storetypes.KVGasConfig(), TransientKVGasConfig: storetypes.TransientGasConfig(), ContractAddress: PRNGAddress,
	}}
}

// RequiredGas implements vm.PrecompiledContract: it is taken before Run.
func (PRNG) RequiredGas(input []byte) uint64 { return callGas + byteGas*uint64(len(input)) }

// Run implements vm.PrecompiledContract. Any other function, and value, is refused, for no more work than the call pays.
func (p *PRNG) Run(evm *vm.EVM, contract *vm.Contract, _ bool) ([]byte, error) {
	if hasValue(contract) {
		return cmn.ReturnRevertError(evm, errValue)
	}
	return p.RunNativeAction(evm, contract, func(ctx sdk.Context) ([]byte, error) {
		if !bytes.Equal(contract.Input, prngSelector) {
			return nil, vm.ErrExecutionReverted
		}
		// No more work than the price of a call pays for, whatever the length of the transaction.
		called := binary.BigEndian.AppendUint64(evm.Origin.Bytes(), evm.StateDB.GetNonce(evm.Origin))
		if fire := fireOf(ctx); fire != nil {
			called = fire.hash.Bytes()
		}
		gas := binary.BigEndian.AppendUint64(nil, contract.Gas)
		return crypto.Keccak256(ctx.BlockHeader().AppHash, called, gas), nil
	})
}
