package appchain

import (
	"encoding/json"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/app"
)

// CodeGas and CodeFee are what a transaction that stores code states: it costs by the byte.
const (
	CodeGas = 20_000_000
	CodeFee = 20_000
)

// StoreCode stores a contract's code and returns its id.
func (c *Chain) StoreCode(name string, wasm []byte) uint64 {
	c.tb.Helper()
	msg := &wasmtypes.MsgStoreCode{Sender: AccountOf(name).Address.String(), WASMByteCode: wasm}
	response := c.NextBlock(c.sign(name, CodeGas, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, CodeFee)), msg))
	require.Zero(c.tb, response.TxResults[0].Code, response.TxResults[0].Log)
	var stored wasmtypes.MsgStoreCodeResponse
	c.Response(response.TxResults[0], &stored)
	return stored.CodeID
}

// Instantiate makes a contract with funds of the fee denom, without an admin, and returns its address.
func (c *Chain) Instantiate(name string, code uint64, msg any, funds int64) sdk.AccAddress {
	c.tb.Helper()
	return c.InstantiateWithAdmin(name, code, msg, funds, "")
}

// InstantiateWithAdmin makes a contract that the admin, an address, may migrate.
func (c *Chain) InstantiateWithAdmin(name string, code uint64, msg any, funds int64, admin string) sdk.AccAddress {
	c.tb.Helper()
	return c.instantiate(name, &wasmtypes.MsgInstantiateContract{Admin: admin, CodeID: code, Msg: c.json(msg), Funds: coins(funds)})
}

// InstantiateWith makes a contract with funds of any denoms, without an admin.
func (c *Chain) InstantiateWith(name string, code uint64, msg any, funds sdk.Coins) sdk.AccAddress {
	c.tb.Helper()
	return c.instantiate(name, &wasmtypes.MsgInstantiateContract{CodeID: code, Msg: c.json(msg), Funds: funds})
}

func (c *Chain) instantiate(name string, msg *wasmtypes.MsgInstantiateContract) sdk.AccAddress {
	c.tb.Helper()
	msg.Sender, msg.Label = AccountOf(name).Address.String(), "contract"
	response := c.Deliver(name, msg)
	var made wasmtypes.MsgInstantiateContractResponse
	c.Response(response.TxResults[0], &made)
	address, err := sdk.AccAddressFromBech32(made.Address)
	require.NoError(c.tb, err)
	return address
}

// ExecuteMsg is a call of a contract, for a transaction or a timer.
func (c *Chain) ExecuteMsg(name string, contract sdk.AccAddress, msg any) *wasmtypes.MsgExecuteContract {
	c.tb.Helper()
	return &wasmtypes.MsgExecuteContract{Sender: AccountOf(name).Address.String(), Contract: contract.String(), Msg: c.json(msg)}
}

// Execute calls a contract in a block of its own and returns the result, which may be a failure.
func (c *Chain) Execute(name string, contract sdk.AccAddress, msg any) *abci.ExecTxResult {
	c.tb.Helper()
	return c.NextBlock(c.Sign(name, c.ExecuteMsg(name, contract, msg))).TxResults[0]
}

// QueryContract asks a contract and reads its answer.
func (c *Chain) QueryContract(contract sdk.AccAddress, msg, answer any) {
	c.tb.Helper()
	bz, err := c.App.Wasm.QuerySmart(c.TimedCtx(), contract, c.json(msg))
	require.NoError(c.tb, err)
	require.NoError(c.tb, json.Unmarshal(bz, answer), string(bz))
}

// TimedCtx is a context of the last block with its time, which contracts are told.
func (c *Chain) TimedCtx() sdk.Context {
	height := c.App.LastBlockHeight()
	return c.App.NewUncachedContext(false, cmtproto.Header{ChainID: ChainID, Height: height, Time: blockTime(height)})
}

// Response reads the response to the only message of a transaction.
func (c *Chain) Response(result *abci.ExecTxResult, response proto.Message) {
	c.tb.Helper()
	var data sdk.TxMsgData
	require.NoError(c.tb, proto.Unmarshal(result.Data, &data))
	require.Len(c.tb, data.MsgResponses, 1)
	require.NoError(c.tb, proto.Unmarshal(data.MsgResponses[0].Value, response))
}

func (c *Chain) json(msg any) []byte {
	c.tb.Helper()
	if raw, ok := msg.(string); ok {
		return []byte(raw)
	}
	bz, err := json.Marshal(msg)
	require.NoError(c.tb, err)
	return bz
}

func coins(amount int64) sdk.Coins {
	if amount == 0 {
		return nil
	}
	return sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, amount))
}
