package evmapp

import (
	"crypto/ecdsa"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	cmttypes "github.com/cometbft/cometbft/types"
	dbm "github.com/cosmos/cosmos-db"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"

	cryptocodec "github.com/cosmos/cosmos-sdk/crypto/codec"
	"github.com/cosmos/cosmos-sdk/crypto/keys/ed25519"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"

	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// Account is a key of an account of the EVM.
type Account struct {
	Key     *ecdsa.PrivateKey
	Address common.Address
}

// AccountOf is the account of a name, always the same.
func AccountOf(name string) Account {
	secret := sha256.Sum256([]byte("timers/evmapp/" + name))
	key, err := crypto.ToECDSA(secret[:])
	if err != nil {
		panic(err)
	}
	return Account{key, crypto.PubkeyToAddress(key.PublicKey)}
}

// Contract is a compiled contract.
type Contract struct {
	ABI      abi.ABI       `json:"abi"`
	Bytecode hexutil.Bytes `json:"bytecode"`
}

//go:embed contracts/compiled.json
var compiledJSON []byte

// Contracts are those of contracts/, by name.
func Contracts(tb testing.TB) map[string]Contract {
	tb.Helper()
	var all map[string]Contract
	require.NoError(tb, json.Unmarshal(compiledJSON, &all))
	return all
}

// Chain is the app in memory, block by block, with what CometBFT would know of it. Accounts of the given names have
// 1,000 ether.
type Chain struct {
	*App
	tb testing.TB
	// blockTime is added with each block.
	blockTime time.Duration
	// Used is the gas of the last transaction.
	Used uint64
}

var genesisTime = time.Unix(1_700_000_000, 0).UTC()

func validator(tb testing.TB) *cmttypes.Validator {
	tb.Helper()
	secret := sha256.Sum256([]byte("timers/evmapp/validator"))
	key, err := cryptocodec.ToCmtPubKeyInterface(ed25519.GenPrivKeyFromSecret(secret[:]).PubKey())
	require.NoError(tb, err)
	return cmttypes.NewValidator(key, 1)
}

// Start starts a chain. Only one can be started in a process. A test that shares it with others hands it on (For).
func Start(tb testing.TB, names ...string) *Chain {
	tb.Helper()
	app := New(log.NewNopLogger(), dbm.NewMemDB())
	c := &Chain{App: app, tb: tb, blockTime: time.Second}
	funded := make([]common.Address, len(names))
	for i, name := range names {
		funded[i] = AccountOf(name).Address
	}
	state, err := app.Genesis(cmttypes.NewValidatorSet([]*cmttypes.Validator{validator(tb)}), funded)
	require.NoError(tb, err)
	raw, err := json.Marshal(state)
	require.NoError(tb, err)
	_, err = app.InitChain(&abci.RequestInitChain{
		ChainId: ID, Time: genesisTime, ConsensusParams: simtestutil.DefaultConsensusParams, AppStateBytes: raw,
	})
	require.NoError(tb, err)
	c.Block()
	return c
}

// For lets another test continue with the chain.
func (c *Chain) For(tb testing.TB) *Chain {
	tb.Helper()
	again := *c
	again.tb = tb
	return &again
}

// Height of the last block.
func (c *Chain) Height() uint64 { return uint64(c.LastBlockHeight()) }

// Ctx is a context of the last block.
func (c *Chain) Ctx() sdk.Context {
	return c.NewUncachedContext(false, cmtproto.Header{
		ChainID: ID, Height: c.LastBlockHeight(), Time: c.blockTimeOf(c.LastBlockHeight()), ProposerAddress: validator(c.tb).Address,
	})
}

func (c *Chain) blockTimeOf(height int64) time.Time {
	return genesisTime.Add(time.Duration(height) * c.blockTime)
}

// Now is the time of the last block in seconds.
func (c *Chain) Now() uint64 { return uint64(c.blockTimeOf(c.LastBlockHeight()).Unix()) }

// Block runs and commits a block.
func (c *Chain) Block(txs ...[]byte) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	height := c.LastBlockHeight() + 1
	response, err := c.FinalizeBlock(&abci.RequestFinalizeBlock{
		Height: height, Time: c.blockTimeOf(height), Txs: txs, ProposerAddress: validator(c.tb).Address,
	})
	require.NoError(c.tb, err)
	_, err = c.Commit()
	require.NoError(c.tb, err)
	return response
}

// Do runs a block that begins with what a function does.
func (c *Chain) Do(fn func(ctx sdk.Context) error) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	c.Before = fn
	defer func() { c.Before = nil }()
	return c.Block()
}

// Sign makes an Ethereum transaction, the n-th of its account in the block. to is nil for one that creates a contract.
func (c *Chain) Sign(from Account, n uint64, to *common.Address, value *big.Int, gas uint64, data []byte) []byte {
	c.tb.Helper()
	nonce := c.EVM.GetNonce(c.Ctx(), from.Address) + n
	// Above 0 too, where the base fee is 0 and rises.
	price := new(big.Int).Mul(big.NewInt(2), c.BaseFee())
	price.Add(price, big.NewInt(1))
	return c.SignTx(from, &ethtypes.LegacyTx{Nonce: nonce, GasPrice: price, Gas: gas, To: to, Value: value, Data: data})
}

// SignTx makes an Ethereum transaction of any kind.
func (c *Chain) SignTx(from Account, data ethtypes.TxData) []byte {
	c.tb.Helper()
	signer := ethtypes.LatestSignerForChainID(new(big.Int).SetUint64(EVMChainID))
	tx, err := ethtypes.SignNewTx(from.Key, signer, data)
	require.NoError(c.tb, err)
	msg := &evmtypes.MsgEthereumTx{}
	require.NoError(c.tb, msg.FromSignedEthereumTx(tx, signer))
	built, err := msg.BuildTx(c.txConfig.NewTxBuilder(), Denom)
	require.NoError(c.tb, err)
	raw, err := c.txConfig.TxEncoder()(built)
	require.NoError(c.tb, err)
	return raw
}

// BaseFee of the next block, in wei.
func (c *Chain) BaseFee() *big.Int { return c.EVM.GetBaseFee(c.Ctx()) }

// Result of an Ethereum transaction.
func (c *Chain) Result(result *abci.ExecTxResult) *evmtypes.MsgEthereumTxResponse {
	c.tb.Helper()
	require.Zero(c.tb, result.Code, result.Log)
	var data sdk.TxMsgData
	require.NoError(c.tb, proto.Unmarshal(result.Data, &data))
	var response evmtypes.MsgEthereumTxResponse
	require.NoError(c.tb, proto.Unmarshal(data.MsgResponses[0].Value, &response))
	return &response
}

// txGas is the limit of the tests' transactions.
const txGas = 3_500_000

// Deploy deploys a contract and returns it.
func (c *Chain) Deploy(from Account, name string, value *big.Int) *Deployed {
	c.tb.Helper()
	contract := Contracts(c.tb)[name]
	require.NotEmpty(c.tb, contract.Bytecode, name)
	address := crypto.CreateAddress(from.Address, c.EVM.GetNonce(c.Ctx(), from.Address))
	response := c.Block(c.Sign(from, 0, nil, value, txGas, contract.Bytecode))
	result := c.Result(response.TxResults[0])
	require.Empty(c.tb, result.VmError)
	c.Used = result.MaxUsedGas
	return &Deployed{c, address, contract.ABI}
}

// Deployed is a contract on the chain.
type Deployed struct {
	chain   *Chain
	Address common.Address
	ABI     abi.ABI
}

// Tx is a transaction that calls the contract.
func (d *Deployed) Tx(from Account, n uint64, method string, args ...any) []byte {
	d.chain.tb.Helper()
	data, err := d.ABI.Pack(method, args...)
	require.NoError(d.chain.tb, err)
	return d.chain.Sign(from, n, &d.Address, new(big.Int), txGas, data)
}

// Try runs a block with one call, which may revert.
func (d *Deployed) Try(from Account, method string, args ...any) (*evmtypes.MsgEthereumTxResponse, *abci.ResponseFinalizeBlock) {
	d.chain.tb.Helper()
	block := d.chain.Block(d.Tx(from, 0, method, args...))
	result := d.chain.Result(block.TxResults[0])
	d.chain.Used = result.MaxUsedGas
	return result, block
}

// Call runs a block with one call, which must succeed.
func (d *Deployed) Call(from Account, method string, args ...any) *abci.ResponseFinalizeBlock {
	d.chain.tb.Helper()
	result, block := d.Try(from, method, args...)
	require.Empty(d.chain.tb, result.VmError, "%s: %s", method, Reason(result.Ret))
	return block
}

// View asks the contract a question about the last block's state.
func (d *Deployed) View(method string, args ...any) []any {
	d.chain.tb.Helper()
	data, err := d.ABI.Pack(method, args...)
	require.NoError(d.chain.tb, err)
	answer := d.chain.Ask(d.Address, data)
	values, err := d.ABI.Unpack(method, answer)
	require.NoError(d.chain.tb, err)
	return values
}

// Ask makes a call as eth_call does, which must succeed.
func (c *Chain) Ask(to common.Address, data []byte) []byte {
	c.tb.Helper()
	return c.AskAs(AccountOf("asker").Address, to, data)
}

// AskAs is Ask with a sender.
func (c *Chain) AskAs(from, to common.Address, data []byte) []byte {
	c.tb.Helper()
	ctx, _ := c.Ctx().CacheContext()
	input := hexutil.Bytes(data)
	args, err := json.Marshal(&evmtypes.TransactionArgs{From: &from, To: &to, Input: &input})
	require.NoError(c.tb, err)
	response, err := c.EVM.EthCall(ctx, &evmtypes.EthCallRequest{
		Args: args, GasCap: 25_000_000, ProposerAddress: sdk.ConsAddress(validator(c.tb).Address), ChainId: int64(EVMChainID),
	})
	require.NoError(c.tb, err)
	require.Empty(c.tb, response.VmError, Reason(response.Ret))
	return response.Ret
}

// Reason is the text of Error(string), or the bytes.
func Reason(returned []byte) string {
	if reason, err := abi.UnpackRevert(returned); err == nil {
		return reason
	}
	return hexutil.Encode(returned)
}

// Balance in wei.
func (c *Chain) Balance(address common.Address) *big.Int {
	return c.Bank.GetBalance(c.Ctx(), sdk.AccAddress(address.Bytes()), Denom).Amount.BigInt()
}

// TimersOf are the timers of an account.
func (c *Chain) TimersOf(address common.Address) []timerstypes.Timer {
	c.tb.Helper()
	all, err := c.Timers.Keeper.TimersOf(c.Ctx(), sdk.AccAddress(address.Bytes()))
	require.NoError(c.tb, err)
	return all
}

// Events of a type that a block's end emitted.
func Events[T proto.Message](tb testing.TB, block *abci.ResponseFinalizeBlock) (all []T) {
	tb.Helper()
	var zero T
	for _, event := range block.Events {
		if event.Type != proto.MessageName(zero) {
			continue
		}
		parsed, err := sdk.ParseTypedEvent(withoutMode(event))
		require.NoError(tb, err)
		all = append(all, parsed.(T)) //nolint:errcheck // the type of the event
	}
	return all
}

// withoutMode leaves out what the SDK adds to events of a block.
func withoutMode(event abci.Event) abci.Event {
	event.Attributes = slices.DeleteFunc(slices.Clone(event.Attributes), func(a abci.EventAttribute) bool { return a.Key == "mode" })
	return event
}

// Attribute of the first event of a type in a block; empty if there is none.
func Attribute(block *abci.ResponseFinalizeBlock, event, key string) string {
	for _, e := range block.Events {
		if e.Type != event {
			continue
		}
		for _, a := range e.Attributes {
			if a.Key == key {
				return strings.TrimSpace(a.Value)
			}
		}
	}
	return ""
}
