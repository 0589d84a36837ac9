// Package chain runs the example applications in memory, block by block through ABCI: signed transactions, one validator
// that proposes, governance that decides within a few blocks.
package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/rand"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"

	sdkmath "cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	cryptocodec "github.com/cosmos/cosmos-sdk/crypto/codec"
	"github.com/cosmos/cosmos-sdk/crypto/keys/ed25519"
	"github.com/cosmos/cosmos-sdk/crypto/keys/secp256k1"
	cryptotypes "github.com/cosmos/cosmos-sdk/crypto/types"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
)

const (
	// ID of the chains.
	ID = "example"
	// Denom that they bond. It is not the SDK's default, so that a test sees who relies on that.
	Denom = "uexample"
	// votingPeriod is three blocks.
	votingPeriod = 3 * time.Second
)

var (
	// Funds of each account at the start.
	Funds       = sdkmath.NewInt(1_000_000_000_000)
	genesisTime = time.Unix(1_700_000_000, 0).UTC()
	txFee       = sdk.NewCoins(sdk.NewInt64Coin(Denom, 3_000))
)

// App is an application that a Chain runs.
type App interface {
	servertypes.ABCI
	LastBlockHeight() int64
	NewUncachedContext(checkTx bool, header cmtproto.Header) sdk.Context
	AppCodec() codec.Codec
	TxConfig() client.TxConfig
	DefaultGenesis() map[string]json.RawMessage
	Accounts() authkeeper.AccountKeeper
}

// Chain is an application and what CometBFT would know of it.
type Chain[A App] struct {
	App    A
	tb     testing.TB
	first  int64
	random *rand.Rand
}

// Key of a named account.
func Key(name string) cryptotypes.PrivKey {
	secret := sha256.Sum256([]byte("timers/example/" + name))
	return secp256k1.GenPrivKeyFromSecret(secret[:])
}

// Address of a named account.
func Address(name string) sdk.AccAddress { return sdk.AccAddress(Key(name).PubKey().Address()) }

func validator(tb testing.TB) *cmttypes.Validator {
	tb.Helper()
	secret := sha256.Sum256([]byte("timers/example/validator"))
	key, err := cryptocodec.ToCmtPubKeyInterface(ed25519.GenPrivKeyFromSecret(secret[:]).PubKey())
	require.NoError(tb, err)
	return cmttypes.NewValidator(key, 1)
}

// Genesis of a chain with named, funded accounts, the first of which delegates to the validator. What the change does comes
// last.
func Genesis(tb testing.TB, app App, change func(map[string]json.RawMessage), names ...string) []byte {
	tb.Helper()
	accounts, balances := make([]authtypes.GenesisAccount, len(names)), make([]banktypes.Balance, len(names))
	for i, name := range names {
		accounts[i] = authtypes.NewBaseAccount(Address(name), Key(name).PubKey(), uint64(i), 0)
		balances[i] = banktypes.Balance{Address: Address(name).String(), Coins: sdk.NewCoins(sdk.NewCoin(sdk.DefaultBondDenom, Funds))}
	}
	state, err := simtestutil.GenesisStateWithValSet(app.AppCodec(), app.DefaultGenesis(),
		cmttypes.NewValidatorSet([]*cmttypes.Validator{validator(tb)}), accounts, balances...)
	require.NoError(tb, err)
	var gov govv1.GenesisState
	app.AppCodec().MustUnmarshalJSON(state[govtypes.ModuleName], &gov)
	voting, expedited := votingPeriod, votingPeriod-time.Second
	gov.Params.VotingPeriod, gov.Params.ExpeditedVotingPeriod = &voting, &expedited
	gov.Params.MinDeposit = sdk.NewCoins(sdk.NewInt64Coin(sdk.DefaultBondDenom, 1))
	state[govtypes.ModuleName] = app.AppCodec().MustMarshalJSON(&gov)
	for name, raw := range state {
		state[name] = bytes.ReplaceAll(raw, []byte(`"`+sdk.DefaultBondDenom+`"`), []byte(`"`+Denom+`"`))
	}
	change(state)
	raw, err := json.Marshal(state)
	require.NoError(tb, err)
	return raw
}

// Try starts a chain, whose first block has the height, or 1 if that is 0. It runs no block.
func Try[A App](tb testing.TB, app A, state []byte, height int64) (*Chain[A], error) {
	tb.Helper()
	_, err := app.InitChain(&abci.RequestInitChain{
		ChainId: ID, Time: genesisTime, InitialHeight: height, ConsensusParams: simtestutil.DefaultConsensusParams, AppStateBytes: state,
	})
	return Resume(tb, app, max(height, 1)), err
}

// Start is Try for a chain that must start.
func Start[A App](tb testing.TB, app A, state []byte, height int64) *Chain[A] {
	tb.Helper()
	c, err := Try(tb, app, state, height)
	require.NoError(tb, err)
	return c
}

// Resume continues with an application that has state, or starts one at a height.
func Resume[A App](tb testing.TB, app A, height int64) *Chain[A] {
	tb.Helper()
	return &Chain[A]{App: app, tb: tb, first: height, random: rand.New(rand.NewSource(1))}
}

// timeOf a block. One takes a second.
func timeOf(height int64) time.Time { return genesisTime.Add(time.Duration(height) * time.Second) }

// Next is the request for the next block.
func (c *Chain[A]) Next(txs ...[]byte) *abci.RequestFinalizeBlock {
	height := max(c.App.LastBlockHeight()+1, c.first)
	return &abci.RequestFinalizeBlock{
		Height: height, Time: timeOf(height), Txs: txs, ProposerAddress: validator(c.tb).Address,
	}
}

// Block runs and commits one block, whose transactions must succeed.
func (c *Chain[A]) Block(txs ...[]byte) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	response, err := c.App.FinalizeBlock(c.Next(txs...))
	require.NoError(c.tb, err)
	for _, result := range response.TxResults {
		require.Zero(c.tb, result.Code, result.Log)
	}
	_, err = c.App.Commit()
	require.NoError(c.tb, err)
	return response
}

// Ctx is a context of the last committed block.
func (c *Chain[A]) Ctx() sdk.Context {
	height := c.App.LastBlockHeight()
	return c.App.NewUncachedContext(false, cmtproto.Header{ChainID: ID, Height: height, Time: timeOf(height)})
}

// Sign makes a transaction of an account, one for each block.
func (c *Chain[A]) Sign(name string, msgs ...sdk.Msg) []byte {
	c.tb.Helper()
	account := c.App.Accounts().GetAccount(c.Ctx(), Address(name))
	require.NotNil(c.tb, account, "account %q is not in genesis", name)
	tx, err := simtestutil.GenSignedMockTx(c.random, c.App.TxConfig(), msgs, txFee, 5_000_000, ID,
		[]uint64{account.GetAccountNumber()}, []uint64{account.GetSequence()}, Key(name))
	require.NoError(c.tb, err)
	raw, err := c.App.TxConfig().TxEncoder()(tx)
	require.NoError(c.tb, err)
	return raw
}

// Deliver runs a block with one transaction.
func (c *Chain[A]) Deliver(name string, msgs ...sdk.Msg) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	return c.Block(c.Sign(name, msgs...))
}

// Pass has governance decide on messages: the named account, who delegates, proposes and votes. Proposals are numbered from
// 1. The messages run in the last of the blocks that it makes.
func (c *Chain[A]) Pass(name string, number uint64, msgs ...sdk.Msg) {
	c.tb.Helper()
	deposit := sdk.NewCoins(sdk.NewInt64Coin(Denom, 1))
	proposal, err := govv1.NewMsgSubmitProposal(msgs, deposit, Address(name).String(), "", "title", "summary", false)
	require.NoError(c.tb, err)
	c.Deliver(name, proposal)
	c.Deliver(name, govv1.NewMsgVote(Address(name), number, govv1.OptionYes, ""))
	for range 3 {
		c.Block()
	}
}

// Events returns the events of a type in a block and its transactions, as maps of their attributes without quotes.
func Events(response *abci.ResponseFinalizeBlock, name string) []map[string]string {
	all := response.Events
	for _, result := range response.TxResults {
		all = append(all, result.Events...)
	}
	var found []map[string]string
	for _, event := range all {
		if event.Type != name {
			continue
		}
		attributes := map[string]string{}
		for _, a := range event.Attributes {
			value := a.Value
			if len(value) > 1 && value[0] == '"' {
				value = value[1 : len(value)-1]
			}
			attributes[a.Key] = value
		}
		found = append(found, attributes)
	}
	return found
}
