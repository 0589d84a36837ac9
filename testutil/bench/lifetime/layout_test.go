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
