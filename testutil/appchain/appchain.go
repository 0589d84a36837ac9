// Package appchain runs the whole application in memory, block by block through ABCI, as CometBFT would: signed
// transactions, one validator that proposes, and requests that can be replayed on a second application.
package appchain

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	sdkmath "cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/baseapp"
	cryptocodec "github.com/cosmos/cosmos-sdk/crypto/codec"
	"github.com/cosmos/cosmos-sdk/crypto/keys/ed25519"
	"github.com/cosmos/cosmos-sdk/crypto/keys/secp256k1"
	cryptotypes "github.com/cosmos/cosmos-sdk/crypto/types"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/app"
	timertypes "github.com/cosmos-timers/timers/x/timers/types"
)

// ChainID of the chains of this package.
const ChainID = "timers-appchain"

// TxGas and TxFee are what each transaction states.
const TxGas = 3_000_000

var (
	// TxFee pays for TxGas.
	TxFee = sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 3_000))
	// Funds of each account at the start.
	Funds = sdkmath.NewInt(1_000_000_000_000)

	genesisTime = time.Unix(1_700_000_000, 0).UTC()
)

// VotingPeriod of governance: three blocks.
const VotingPeriod = 3 * time.Second

// Account is a key with funds.
type Account struct {
	Key     cryptotypes.PrivKey
	Address sdk.AccAddress
}

// AccountOf derives an account from its name; the same on every chain.
func AccountOf(name string) Account {
	secret := sha256.Sum256([]byte("timers/appchain/" + name))
	key := secp256k1.GenPrivKeyFromSecret(secret[:])
	return Account{Key: key, Address: sdk.AccAddress(key.PubKey().Address())}
}

// Chain is an application and what CometBFT would know of it.
type Chain struct {
	App *app.App
	// Requests are those of every block so far, for a replay.
	Requests []*abci.RequestFinalizeBlock

	// hashes of the state after each block.
	hashes   [][]byte
	tb       testing.TB
	disk     disk
	init     *abci.RequestInitChain
	proposer []byte
	// random makes the memos of transactions; the same on every run.
	random *rand.Rand
	// sequences of accounts within the block that is being made.
	sequences map[string]uint64
}

// New starts a chain with named, funded accounts and one validator, and runs its first block.
func New(tb testing.TB, names ...string) *Chain {
	tb.Helper()
	return newChain(tb, nil, func(*timertypes.TimerConfig) {}, names)
}

// NewUnder is New with a change of the timers' config.
func NewUnder(tb testing.TB, change func(*timertypes.TimerConfig), names ...string) *Chain {
	tb.Helper()
	return newChain(tb, nil, change, names)
}

// NewWith starts a chain as New does, its application with options.
func NewWith(tb testing.TB, options []func(*baseapp.BaseApp), names ...string) *Chain {
	tb.Helper()
	return newChain(tb, options, func(*timertypes.TimerConfig) {}, names)
}

func newChain(tb testing.TB, options []func(*baseapp.BaseApp), change func(*timertypes.TimerConfig), names []string) *Chain {
	tb.Helper()
	d := newDisk(tb)
	c := &Chain{tb: tb, App: newApp(d, options...), disk: d, random: newRandom()}
	cmtKey, err := cryptocodec.ToCmtPubKeyInterface(validatorKey().PubKey())
	require.NoError(tb, err)
	validator := cmttypes.NewValidator(cmtKey, 1)
	c.proposer = validator.Address

	accounts := make([]authtypes.GenesisAccount, len(names))
	balances := make([]banktypes.Balance, len(names))
	for i, name := range names {
		account := AccountOf(name)
		accounts[i] = authtypes.NewBaseAccount(account.Address, account.Key.PubKey(), uint64(i), 0)
		balances[i] = banktypes.Balance{Address: account.Address.String(), Coins: sdk.NewCoins(sdk.NewCoin(app.FeeDenom, Funds))}
	}
	state, err := simtestutil.GenesisStateWithValSet(c.App.AppCodec(), c.App.DefaultGenesis(),
		cmttypes.NewValidatorSet([]*cmttypes.Validator{validator}), accounts, balances...)
	require.NoError(tb, err)
	fastGov(c.App, state)
	var timers timertypes.GenesisState
	c.App.AppCodec().MustUnmarshalJSON(state[timertypes.ModuleName], &timers)
	change(&timers.Config)
	state[timertypes.ModuleName] = c.App.AppCodec().MustMarshalJSON(&timers)
	raw, err := json.Marshal(state)
	require.NoError(tb, err)
	c.start(raw, 1, simtestutil.DefaultConsensusParams)
	c.NextBlock()
	return c
}

// validatorKey is that of the validator of every chain.
func validatorKey() *ed25519.PrivKey {
	secret := sha256.Sum256([]byte("timers/appchain/validator"))
	return ed25519.GenPrivKeyFromSecret(secret[:])
}

// fastGov lets a proposal pass within three blocks.
func fastGov(a *app.App, state map[string]json.RawMessage) {
	var gov govv1.GenesisState
	a.AppCodec().MustUnmarshalJSON(state[govtypes.ModuleName], &gov)
	voting, expedited := VotingPeriod, VotingPeriod-time.Second
	gov.Params.VotingPeriod, gov.Params.ExpeditedVotingPeriod = &voting, &expedited
	gov.Params.MinDeposit = sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1))
	state[govtypes.ModuleName] = a.AppCodec().MustMarshalJSON(&gov)
}

func newRandom() *rand.Rand { return rand.New(rand.NewSource(1)) }

// newApp makes an application on a disk of its own: contracts lock its home. It prunes while it commits: what IAVL does in
// the background never ends, and would keep every application of a test process in memory.
func newApp(d disk, options ...func(*baseapp.BaseApp)) *app.App {
	return app.New(log.NewNopLogger(), d.db, nil, true, simtestutil.NewAppOptionsWithFlagHome(d.home),
		append(options, baseapp.SetChainID(ChainID), baseapp.SetIAVLSyncPruning(true))...)
}

func (c *Chain) start(state []byte, height int64, params *cmtproto.ConsensusParams) {
	c.tb.Helper()
	c.init = &abci.RequestInitChain{
		ChainId: ChainID, Time: genesisTime, InitialHeight: height, ConsensusParams: params, AppStateBytes: state,
	}
	_, err := c.App.InitChain(c.init)
	require.NoError(c.tb, err)
}

// NextBlock runs one block with these transactions, commits it and checks the module's invariants.
func (c *Chain) NextBlock(txs ...[]byte) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	response := c.UncheckedBlock(txs...)
	require.NoError(c.tb, c.App.Timers.CheckInvariants(c.Ctx()))
	return response
}

// UncheckedBlock runs one block with these transactions and commits it.
func (c *Chain) UncheckedBlock(txs ...[]byte) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	response, commit := c.Finalize(txs...)
	commit()
	return response
}

// Finalize runs one block with these transactions, and returns what commits it.
func (c *Chain) Finalize(txs ...[]byte) (response *abci.ResponseFinalizeBlock, commit func()) {
	c.tb.Helper()
	request := c.nextRequest(txs...)
	response, err := c.App.FinalizeBlock(request)
	require.NoError(c.tb, err)
	return response, func() {
		c.tb.Helper()
		_, err := c.App.Commit()
		require.NoError(c.tb, err)
		c.Requests = append(c.Requests, request)
		c.hashes = append(c.hashes, response.AppHash)
		c.sequences = nil
	}
}

func (c *Chain) nextRequest(txs ...[]byte) *abci.RequestFinalizeBlock {
	height := max(c.App.LastBlockHeight()+1, c.init.InitialHeight)
	return &abci.RequestFinalizeBlock{Height: height, Time: blockTime(height), Txs: txs, ProposerAddress: c.proposer}
}

func blockTime(height int64) time.Time { return genesisTime.Add(time.Duration(height) * time.Second) }

func (c *Chain) run(a *app.App, request *abci.RequestFinalizeBlock) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	response, err := a.FinalizeBlock(request)
	require.NoError(c.tb, err)
	_, err = a.Commit()
	require.NoError(c.tb, err)
	return response
}

// Ctx is a context of the last committed block.
func (c *Chain) Ctx() sdk.Context {
	return c.App.NewUncachedContext(false, cmtproto.Header{ChainID: ChainID, Height: c.App.LastBlockHeight()})
}

// Sign makes a transaction of an account. Several of one account may go into one block, in order.
func (c *Chain) Sign(name string, msgs ...sdk.Msg) []byte {
	c.tb.Helper()
	return c.sign(name, TxGas, TxFee, msgs...)
}

func (c *Chain) sign(name string, gas uint64, fee sdk.Coins, msgs ...sdk.Msg) []byte {
	c.tb.Helper()
	account := AccountOf(name)
	known := c.App.Accounts.GetAccount(c.Ctx(), account.Address)
	require.NotNil(c.tb, known, "account %q is not in genesis", name)
	if c.sequences == nil {
		c.sequences = map[string]uint64{}
	}
	sequence := known.GetSequence() + c.sequences[name]
	c.sequences[name]++
	tx, err := simtestutil.GenSignedMockTx(c.random, c.App.TxConfig(), msgs, fee, gas, ChainID,
		[]uint64{known.GetAccountNumber()}, []uint64{sequence}, account.Key)
	require.NoError(c.tb, err)
	bz, err := c.App.TxConfig().TxEncoder()(tx)
	require.NoError(c.tb, err)
	return bz
}

// Deliver runs a block with one transaction of an account, which must succeed.
func (c *Chain) Deliver(name string, msgs ...sdk.Msg) *abci.ResponseFinalizeBlock {
	c.tb.Helper()
	response := c.NextBlock(c.Sign(name, msgs...))
	require.Zero(c.tb, response.TxResults[0].Code, response.TxResults[0].Log)
	return response
}

// Replay runs the same blocks on a second application and requires the same state after each.
func (c *Chain) Replay() {
	c.tb.Helper()
	second := newApp(newDisk(c.tb))
	_, err := second.InitChain(c.init)
	require.NoError(c.tb, err)
	for i, request := range c.Requests {
		response := c.run(second, request)
		require.Equal(c.tb, fmt.Sprintf("%X", c.hashes[i]), fmt.Sprintf("%X", response.AppHash), "height %d", request.Height)
	}
}

// Restart exports the state and starts a new chain from it at the next height.
func (c *Chain) Restart() *Chain {
	c.tb.Helper()
	exported, err := c.App.ExportAppStateAndValidators(false, nil, nil)
	require.NoError(c.tb, err)
	return Start(c.tb, exported.AppState, exported.Height, &exported.ConsensusParams)
}

// Start begins a chain from the exported state of another one, at the height that follows it. Its first block is for the
// caller to run.
func Start(tb testing.TB, state []byte, height int64, params *cmtproto.ConsensusParams) *Chain {
	tb.Helper()
	c := idle(tb)
	c.start(state, height, params)
	return c
}

// idle is an application that no chain was started on.
func idle(tb testing.TB) *Chain {
	tb.Helper()
	d := newDisk(tb)
	return &Chain{tb: tb, App: newApp(d), disk: d, proposer: validatorKey().PubKey().Address(), random: newRandom()}
}

// Balance of an address in the fee denom.
func (c *Chain) Balance(address sdk.AccAddress) sdkmath.Int {
	return c.App.Bank.GetBalance(c.Ctx(), address, app.FeeDenom).Amount
}

// Events returns the typed events of one type in a block, as maps of their attributes without quotes.
func Events(response *abci.ResponseFinalizeBlock, name string) []map[string]string {
	var found []map[string]string
	for _, event := range response.Events {
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
