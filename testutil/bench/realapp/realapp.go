// Package realapp runs timerd's own application, with all its stores, contracts and ante handler, for measurements. What
// is measured runs on branches of a committed state that are dropped, so that every round finds the same state.
package realapp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cometbft/cometbft/crypto/ed25519"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	cmttypes "github.com/cometbft/cometbft/types"
	dbm "github.com/cosmos/cosmos-db"

	"cosmossdk.io/log"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client/flags"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// Height of the blocks that are measured. Timers that are due at it are scheduled in the block before.
	Height = 3
	// UsualCache is the memory for contracts' code that a node has by default, in MiB.
	UsualCache = 100

	chainID = "bench"
	genesis = 1_700_000_000
)

// Options say what the chain starts from.
type Options struct {
	// Accounts with funds: base accounts by their address, with or without a key.
	Accounts []*authtypes.BaseAccount
	// Funds of each.
	Funds sdk.Coins
	// CacheMiB is the memory for code of contracts that is not pinned.
	CacheMiB uint32
	// Timers changes the module's genesis, which has no timers and the default config.
	Timers func(*types.GenesisState)
	// SetUp changes the state that is measured, in the block before the measured one.
	SetUp func(*Chain, sdk.Context) error
}

// Chain is the application. Close it.
type Chain struct {
	App *app.App

	home     string
	proposer []byte
}

// New starts a chain.
func New(opts Options) (_ *Chain, err error) {
	home, err := os.MkdirTemp("", "timersbench-")
	if err != nil {
		return nil, err
	}
	c := &Chain{home: home}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	// A database in memory would lock itself up where it is rolled back.
	db, err := dbm.NewGoLevelDB("application", home, nil)
	if err != nil {
		return nil, err
	}
	c.App = app.New(log.NewNopLogger(), db, nil, true,
		simtestutil.AppOptionsMap{flags.FlagHome: home, "wasm.memory_cache_size": opts.CacheMiB},
		baseapp.SetChainID(chainID), baseapp.SetIAVLSyncPruning(true))
	if err := c.initChain(&opts); err != nil {
		return nil, err
	}
	if opts.SetUp != nil {
		if err := opts.SetUp(c, c.At(Height-1)); err != nil {
			return nil, err
		}
	}
	c.App.CommitMultiStore().Commit()
	return c, nil
}

// Close removes the chain.
func (c *Chain) Close() error {
	var err error
	if c.App != nil {
		err = c.App.Close()
	}
	return errors.Join(err, os.RemoveAll(c.home))
}

func (c *Chain) initChain(opts *Options) error {
	key := ed25519.GenPrivKeyFromSecret([]byte("timers/bench/validator")).PubKey()
	validator := cmttypes.NewValidator(key, 1)
	c.proposer = validator.Address
	accounts := make([]authtypes.GenesisAccount, len(opts.Accounts))
	funds := make([]banktypes.Balance, 0, len(opts.Accounts)+1)
	for i, account := range opts.Accounts {
		accounts[i] = account
		funds = append(funds, banktypes.Balance{Address: account.Address, Coins: opts.Funds})
	}
	timers := types.NewGenesis(app.FeeDenom)
	if opts.Timers != nil {
		opts.Timers(timers)
	}
	if locked := lockedBy(timers); locked.IsPositive() {
		module := authtypes.NewModuleAddress(types.ModuleName).String()
		funds = append(funds, banktypes.Balance{Address: module, Coins: sdk.NewCoins(sdk.NewCoin(app.FeeDenom, locked))})
	}
	state, err := simtestutil.GenesisStateWithValSet(c.App.AppCodec(), c.App.DefaultGenesis(),
		cmttypes.NewValidatorSet([]*cmttypes.Validator{validator}), accounts, funds...)
	if err != nil {
		return err
	}
	if state[types.ModuleName], err = c.App.AppCodec().MarshalJSON(timers); err != nil {
		return err
	}
	raw, err := json.Marshal(state)
	if err != nil {
		return err
	}
	params := *simtestutil.DefaultConsensusParams
	params.Block = &cmtproto.BlockParams{MaxBytes: 4 << 20, MaxGas: -1}
	if _, err := c.App.InitChain(&abci.RequestInitChain{
		ChainId: chainID, Time: timeOf(0), InitialHeight: 1, ConsensusParams: &params, AppStateBytes: raw,
	}); err != nil {
		return err
	}
	if _, err := c.App.FinalizeBlock(&abci.RequestFinalizeBlock{Height: 1, Time: timeOf(1), ProposerAddress: c.proposer}); err != nil {
		return err
	}
	_, err = c.App.Commit()
	return err
}

// lockedBy is the sum of the bids that the genesis says are locked.
func lockedBy(timers *types.GenesisState) math.Int {
	locked := math.ZeroInt()
	for i := range timers.Timers {
		locked = locked.Add(timers.Timers[i].Locked())
	}
	return locked
}

func timeOf(height int64) time.Time { return time.Unix(genesis+height, 0).UTC() }

// At is a context of the committed state in a block of this height.
func (c *Chain) At(height int64) sdk.Context {
	return c.App.NewUncachedContext(false, cmtproto.Header{
		ChainID: chainID, Height: height, Time: timeOf(height), ProposerAddress: c.proposer,
	})
}

// Block is a branch of the state that is dropped, in the measured block, which has begun.
func (c *Chain) Block() (sdk.Context, error) {
	branch, _ := c.At(Height).CacheContext()
	return branch, c.App.Timers.BeginBlock(branch)
}

// Commit commits a block's branch. The next block must be preceded by Undo.
func (c *Chain) Commit(branch sdk.Context) error {
	multi, ok := branch.MultiStore().(storetypes.CacheMultiStore)
	if !ok {
		return fmt.Errorf("%T is no branch", branch.MultiStore())
	}
	multi.Write()
	c.App.CommitMultiStore().Commit()
	return nil
}

// Undo returns to the state before the last commit. Nothing of it is in memory yet.
func (c *Chain) Undo() error {
	stores := c.App.CommitMultiStore()
	return stores.RollbackToVersion(stores.LastCommitID().Version - 1)
}

// Run runs a message through the router and reads its response.
func (c *Chain) Run(ctx sdk.Context, msg sdk.Msg, response interface{ Unmarshal([]byte) error }) error {
	result, err := c.App.MsgServiceRouter().Handler(msg)(ctx, msg)
	if err != nil {
		return fmt.Errorf("%s: %w", sdk.MsgTypeURL(msg), err)
	}
	return response.Unmarshal(result.MsgResponses[0].Value)
}

// KeyedAccount is the i-th account that can sign.
func KeyedAccount(i int) appchain.Account { return appchain.AccountOf(fmt.Sprintf("bench-%d", i)) }

// KeyedAccounts are the first n of them.
func KeyedAccounts(n int) []*authtypes.BaseAccount {
	accounts := make([]*authtypes.BaseAccount, n)
	for i := range accounts {
		account := KeyedAccount(i)
		accounts[i] = authtypes.NewBaseAccount(account.Address, account.Key.PubKey(), uint64(i), 0)
	}
	return accounts
}

// TxGas is what each transaction states.
const TxGas = 50_000_000

// Sign makes a transaction of the i-th keyed account, its first.
func (c *Chain) Sign(i int, msgs ...sdk.Msg) ([]byte, error) {
	account := KeyedAccount(i)
	known := c.App.Accounts.GetAccount(c.At(Height), account.Address)
	fee := sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, TxGas/1_000))
	tx, err := simtestutil.GenSignedMockTx(rand.New(rand.NewSource(int64(i))), c.App.TxConfig(), msgs, fee, TxGas, chainID,
		[]uint64{known.GetAccountNumber()}, []uint64{known.GetSequence()}, account.Key)
	if err != nil {
		return nil, err
	}
	return c.App.TxConfig().TxEncoder()(tx)
}

// Deliver runs a transaction as a block does: ante handler, then messages, each on a branch. It returns the gas that it used.
func (c *Chain) Deliver(ctx sdk.Context, bz []byte) (gas uint64, err error) {
	tx, err := c.App.TxConfig().TxDecoder()(bz)
	if err != nil {
		return 0, err
	}
	branch := ctx.MultiStore().CacheMultiStore()
	passed, err := c.App.AnteHandler()(ctx.WithMultiStore(branch).WithTxBytes(bz).WithExecMode(sdk.ExecModeFinalize), tx, false)
	if err != nil {
		return 0, err
	}
	branch.Write()
	messages, commit := passed.WithMultiStore(ctx.MultiStore()).CacheContext()
	for _, msg := range tx.GetMsgs() {
		if _, err := c.App.MsgServiceRouter().Handler(msg)(messages, msg); err != nil {
			return 0, fmt.Errorf("%s: %w", sdk.MsgTypeURL(msg), err)
		}
	}
	commit()
	return passed.GasMeter().GasConsumed(), nil
}
