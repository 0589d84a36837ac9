package evmapp

import (
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"

	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"

	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// exported is a chain's state after a block, and what a test continues with.
type exported struct {
	Height  int64
	State   map[string]json.RawMessage
	Watched common.Address
}

// importFile is the variable with the file of an exported chain, for the process that imports it: x/vm allows one chain in a
// process.
const importFile = "EVMAPP_IMPORT"

// goOn runs some blocks, of which one changes a slot that is watched, and returns the fires of each.
func (e exported) goOn(c *Chain) (all [][]*timerstypes.TimerFired) {
	target := &Deployed{c, e.Watched, Contracts(c.tb)["Alarm"].ABI}
	for i := range 12 {
		var block *abci.ResponseFinalizeBlock
		if i == 2 {
			block = target.Call(alice, "set", big.NewInt(77))
		} else {
			block = c.Block()
		}
		all = append(all, Events[*timerstypes.TimerFired](c.tb, block))
	}
	return all
}

// TestExport_ImportedChain is what the process that imports runs: nothing without its variable.
func TestExport_ImportedChain(t *testing.T) {
	path := os.Getenv(importFile)
	if path == "" {
		t.Skip("run by TestExport_FiresTheSameAfterwards")
	}
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var e exported
	require.NoError(t, json.Unmarshal(raw, &e))
	app := New(log.NewNopLogger(), dbm.NewMemDB())
	c := &Chain{App: app, tb: t, blockTime: time.Second}
	state, err := json.Marshal(e.State)
	require.NoError(t, err)
	_, err = app.InitChain(&abci.RequestInitChain{
		ChainId: ID, InitialHeight: e.Height + 1, Time: c.blockTimeOf(e.Height),
		ConsensusParams: simtestutil.DefaultConsensusParams, AppStateBytes: state,
	})
	require.NoError(t, err)
	// The first block of a chain that starts above 1 follows on no block: it is the one after the export.
	c.first(e.Height + 1)
	raw, err = json.Marshal(e.goOn(c))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".fires", raw, 0o600))
}

// first runs and commits the first block after an import.
func (c *Chain) first(height int64) {
	c.tb.Helper()
	_, err := c.FinalizeBlock(&abci.RequestFinalizeBlock{
		Height: height, Time: c.blockTimeOf(height), ProposerAddress: validator(c.tb).Address,
	})
	require.NoError(c.tb, err)
	_, err = c.Commit()
	require.NoError(c.tb, err)
}

// TestExport_FiresTheSameAfterwards: the state of the whole app is exported and imported by another process. Callbacks, calls,
// an interval, a watch of a slot, and a call of HIP-1215 fire in both in the same blocks, with the same results and, but for
// what follows from the ids of deliveries, at the same prices.
func TestExport_FiresTheSameAfterwards(t *testing.T) {
	c := chain(t)
	d, target, b := alarm(c), alarm(c), booker(c)
	d.Call(alice, "start", uint64(12), uint64(300_000), []byte("w"))
	d.Call(alice, "every", uint64(3), uint64(6), uint64(250_000), []byte{})
	d.Call(alice, "start", uint64(13), uint64(120_000), []byte("r"))
	set := target.dataOf("set", big.NewInt(5))
	d.Call(alice, "schedule", spec(200_000, nil, func(s *Spec) { s.Trigger.AfterBlocks = 10 }, callTo(target.Address, new(big.Int), set)))
	watch := Watch{Source: fromSlot, Target: target.Address, Slot: common.BigToHash(big.NewInt(1))}
	d.Call(alice, "schedule", spec(250_000, nil, func(s *Spec) { s.Trigger.Watch.Keys, s.Repeat.Remaining = []Watch{watch}, 2 }))
	b.Call(alice, "book", new(big.Int).SetUint64(c.Now()+9), big.NewInt(200_000))
	c.Block()

	state, err := c.modules.ExportGenesis(c.Ctx(), c.codec)
	require.NoError(t, err)
	e := exported{Height: c.LastBlockHeight(), State: state, Watched: target.Address}
	raw, err := json.Marshal(e)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "genesis.json")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	other := exec.Command(os.Args[0], "-test.run=^TestExport_ImportedChain$")
	other.Env = append(os.Environ(), importFile+"="+path)
	out, err := other.CombinedOutput()
	require.NoError(t, err, string(out))
	raw, err = os.ReadFile(path + ".fires")
	require.NoError(t, err)
	var got [][]*timerstypes.TimerFired
	require.NoError(t, json.Unmarshal(raw, &got))

	c.Block()
	want, fires := e.goOn(c), 0
	for i := range want {
		fires += len(want[i])
		require.Len(t, got[i], len(want[i]), "block %d", i)
		for j := range want[i] {
			ours, theirs := want[i][j], got[i][j]
			// The app hash is in the ids of deliveries, and an import has another. An id is in the data of a callback, a zero
			// byte of which costs 12 less; prices follow from what earlier fires cost.
			theirs.DeliverId = ours.DeliverId
			require.InDelta(t, ours.Cycles, theirs.Cycles, 48, "block %d", i)
			require.InEpsilon(t, number(t, ours.Paid), number(t, theirs.Paid), 0.001, "block %d", i)
			require.InEpsilon(t, number(t, ours.Refunded), number(t, theirs.Refunded), 0.001, "block %d", i)
			theirs.Cycles, theirs.Paid, theirs.Refunded = ours.Cycles, ours.Paid, ours.Refunded
			require.Equal(t, ours.String(), theirs.String(), "block %d", i)
		}
	}
	t.Logf("%d fires", fires)
	require.Greater(t, fires, 7)
	cancelAll(c, d, b)
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	parsed, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return parsed
}
