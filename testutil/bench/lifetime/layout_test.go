package lifetime

import (
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Layouts are compared with the module under the same workload: with it they schedule, cancel and fire the same.
func TestLayoutsFireWhatTheModuleFires(t *testing.T) {
	w := DefaultWorkload(2_000, workload.FIFO, 0, 3)
	w.Schedules, w.Cancels = 100, 20
	ours, err := w.compare("module", func(genesis *types.GenesisState, db dbm.DB) (subject, error) {
		return newModule(genesis, w.owners(), db)
	})
	require.NoError(t, err)
	require.Positive(t, ours.fires)
	nodes := map[string]float64{}
	for _, layout := range Layouts {
		t.Run(layout.Name, func(t *testing.T) {
			theirs, err := compareLayout(w, layout)
			require.NoError(t, err)
			require.Equal(t, ours.fires, theirs.fires)
			require.Equal(t, ours.MeanPending, theirs.MeanPending)
			require.Positive(t, theirs.Reads)
			nodes[layout.Name] = theirs.Nodes
		})
	}
	require.Greater(t, nodes[indexes.Name], nodes[lists.Name])
	require.Greater(t, nodes[lists.Name], nodes[oneKey.Name])
	require.Greater(t, nodes[indexes.Name], ours.Nodes)
}

// TestPendingTimersComeInChunks: what a subject loads after its genesis fires with the rest.
func TestPendingTimersComeInChunks(t *testing.T) {
	openers := map[string]func(*types.GenesisState) (subject, error){
		"module": func(genesis *types.GenesisState) (subject, error) { return newModule(genesis, 5, dbm.NewMemDB()) },
	}
	for _, layout := range Layouts {
		openers[layout.Name] = func(genesis *types.GenesisState) (subject, error) { return newLaidOut(layout, genesis, dbm.NewMemDB()) }
	}
	for name, open := range openers {
		t.Run(name, func(t *testing.T) {
			const chunk, blocks = 40, 4
			f, genesis := &flow{}, workload.WideGenesis()
			for range 3 {
				for i := range chunk {
					addTimer(genesis, workload.Owner(i%5), blocks, []byte("payload"))
				}
				require.NoError(t, f.load(genesis, open))
				genesis.Timers = genesis.Timers[:0]
			}
			fires := 0
			// Each chunk but the first took a block.
			for range blocks - 2 {
				require.NoError(t, f.subject.begin())
				fired, err := f.subject.end()
				require.NoError(t, err)
				fires += fired
			}
			require.Equal(t, 3*chunk, fires)
			require.NoError(t, f.subject.check())
		})
	}
}

// TestBriskTimersAreAsManyAsStated: with more timers in a run than are pending before it.
func TestBriskTimersAreAsManyAsStated(t *testing.T) {
	w := DefaultWorkload(2_000, workload.FIFO, 0, 3).steady().brisk()
	w.Schedules, w.Cancels = 100, 10
	c, err := compareLayout(w, oneKey)
	require.NoError(t, err)
	require.InEpsilon(t, w.Pending, c.MeanPending, 0.03)
	require.InEpsilon(t, (w.Schedules-w.Cancels)*w.Blocks, c.fires, 0.03)
	require.Equal(t, oneKey.Name+", due soon", c.Name)
}
