package campaign

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	"cosmossdk.io/store"
	pruningtypes "cosmossdk.io/store/pruning/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
)

// settings of a node, none of which may make a difference to the state.
type settings struct {
	pruning                            pruningtypes.PruningOptions
	cache, procs                       int
	slowNodes, optimistic, interblocks bool
	// questions is the seed of what modules, handlers and the bidding module ask in each block, on branches that are dropped; 0
	// for nothing.
	questions int64
}

func drawSettings(d draws) settings {
	return settings{
		pruning: pick(d, pruningtypes.NewPruningOptions(pruningtypes.PruningNothing),
			pruningtypes.NewPruningOptions(pruningtypes.PruningEverything), pruningtypes.NewCustomPruningOptions(3, 11)),
		cache: pick(d, 1, 100, 100_000), procs: pick(d, 1, 2, 5),
		slowNodes: d.one(2), optimistic: d.one(2), interblocks: d.one(2), questions: pick(d, 0, d.Int64()),
	}
}

// peer is an application as a node runs it.
type peer struct {
	app  *app.App
	db   dbm.DB
	home string
	settings
}

// open starts an application on a disk.
func open(db dbm.DB, home string, s settings, env *environment) *peer {
	options := []func(*baseapp.BaseApp){
		baseapp.SetChainID(appchain.ChainID), baseapp.SetIAVLSyncPruning(true), baseapp.SetPruning(s.pruning),
		baseapp.SetIAVLCacheSize(s.cache), baseapp.SetIAVLDisableFastNode(s.slowNodes),
	}
	if s.interblocks {
		options = append(options, baseapp.SetInterBlockCache(store.NewCommitKVStoreCacheManager()))
	}
	if s.optimistic {
		options = append(options, baseapp.SetOptimisticExecution())
	}
	p := &peer{db: db, home: home, settings: s}
	p.app = app.New(log.NewNopLogger(), db, nil, false, simtestutil.NewAppOptionsWithFlagHome(home), options...)
	env.attach(p.app, s.questions)
	if err := p.app.LoadLatestVersion(); err != nil {
		panic(err)
	}
	if err := p.app.Wasm.InitializePinnedCodes(p.app.NewUncachedContext(true, cmtproto.Header{})); err != nil {
		panic(err)
	}
	return p
}

// run runs and commits a block. Under optimistic execution the node may have seen another proposal of the block before.
func (p *peer) run(request *abci.RequestFinalizeBlock, decoy bool) (response *abci.ResponseFinalizeBlock, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("the node panicked: %v\n%s", caught, debug.Stack())
		}
	}()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(p.procs))
	if p.optimistic {
		if decoy {
			other := *request
			other.Hash, other.Txs = []byte("decoy"), slices.Clone(request.Txs)
			slices.Reverse(other.Txs)
			if err := p.propose(&other); err != nil {
				return nil, err
			}
		}
		if err := p.propose(request); err != nil {
			return nil, err
		}
	}
	if response, err = p.app.FinalizeBlock(request); err != nil {
		return nil, err
	}
	_, err = p.app.Commit()
	return response, err
}

func (p *peer) propose(r *abci.RequestFinalizeBlock) error {
	answer, err := p.app.ProcessProposal(&abci.RequestProcessProposal{
		Txs: r.Txs, Hash: r.Hash, Height: r.Height, Time: r.Time, ProposerAddress: r.ProposerAddress,
	})
	if err == nil && answer.Status != abci.ResponseProcessProposal_ACCEPT {
		err = fmt.Errorf("the proposal was not accepted: %s", answer.Status)
	}
	return err
}

// ctx is a context of the last committed block.
func (p *peer) ctx() sdk.Context {
	return p.app.NewUncachedContext(false, cmtproto.Header{ChainID: appchain.ChainID, Height: p.app.LastBlockHeight()})
}

// restart opens another application on what this one has on disk, as it is after a crash between two blocks.
func (p *peer) restart(tb testing.TB, s settings, env *environment) *peer {
	tb.Helper()
	db, home := copyDisk(tb, p.db, p.home)
	again := open(db, home, s, env)
	require.Equal(tb, p.app.LastBlockHeight(), again.app.LastBlockHeight())
	require.Equal(tb, p.app.LastCommitID().Hash, again.app.LastCommitID().Hash)
	return again
}

// same compares what two applications answer to a block. Texts of errors are no one's business.
func same(want, got *abci.ResponseFinalizeBlock) error {
	if !bytes.Equal(want.AppHash, got.AppHash) {
		return fmt.Errorf("app hashes %X and %X", want.AppHash, got.AppHash)
	}
	if len(want.Events) != len(got.Events) {
		return fmt.Errorf("%d and %d events", len(want.Events), len(got.Events))
	}
	for i := range want.Events {
		if !slices.Equal(want.Events[i].Attributes, got.Events[i].Attributes) || want.Events[i].Type != got.Events[i].Type {
			return fmt.Errorf("event %d: %v and %v", i, want.Events[i], got.Events[i])
		}
	}
	for i := range want.TxResults {
		a, b := *want.TxResults[i], *got.TxResults[i]
		a.Log, b.Log = "", ""
		if a.String() != b.String() {
			return fmt.Errorf("transaction %d: %v and %v", i, a, b)
		}
	}
	return nil
}
