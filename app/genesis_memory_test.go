package app_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/baseapp"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// manyTimers is how many timers the genesis of TestLongGenesisNeedsLittleMemory has; `make genesis-memory` sets a million.
var manyTimers = flag.Int("genesis.timers", 20_000, "timers of the genesis whose memory is measured")

// fixedHeap is what caches of the stores and garbage take whatever the size: next to nothing beside a million timers.
const fixedHeap = 40_000_000

// heapPeak samples the bytes of the heap's objects, garbage included, until it is stopped.
type heapPeak struct {
	base, peak uint64
	stop, done chan struct{}
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func baseOfHeap() uint64 {
	runtime.GC()
	runtime.GC()
	return heapBytes()
}

func watchHeap(base uint64) *heapPeak {
	h := &heapPeak{base: base, peak: base, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(h.done)
		for {
			h.peak = max(h.peak, heapBytes())
			select {
			case <-h.stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return h
}

// above is the peak above the base, in bytes.
func (h *heapPeak) above() uint64 {
	close(h.stop)
	<-h.done
	return h.peak - h.base
}

type counter struct{ bytes int }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}

// manyTimersGenesis is the state of a chain with that many timers of 100-byte payloads, ten of each actor; one in a hundred
// has a payload of 2,000 bytes.
func manyTimersGenesis(t *testing.T, exported map[string]json.RawMessage, a *app.App, timers int, due uint64) []byte {
	t.Helper()
	source, err := genesis.FromJSON(a.AppCodec(), exported[types.ModuleName])
	require.NoError(t, err)
	source.Head.NextSeq = uint64(timers) + 1
	source.Timers = func(fn func(int, *types.Timer) error) error {
		for i := range timers {
			payload := bytes.Repeat([]byte{7}, 100)
			if i%100 == 0 {
				payload = bytes.Repeat([]byte{8}, 2_000)
			}
			actor, seq := make([]byte, 20), uint64(i)+1
			for at, rest := 0, i/10; rest > 0; at, rest = at+1, rest/256 {
				actor[at] = byte(rest)
			}
			timer := types.Timer{
				Id: types.TimerID(actor, due+seq, payload, seq), Actor: actor,
				GasLimit: 100_000, CellLimit: 20_000, ExpiresAt: due + seq + 1_000, ScheduleHeight: 1,
				Seq: seq, Due: due + seq,
				Spec: types.TimerSpec{
					Trigger: types.Trigger{Height: due + seq},
					Call:    types.TimerCall{Payload: payload},
				},
			}
			if err := fn(i, &timer); err != nil {
				return err
			}
		}
		return nil
	}
	var timersRaw counter
	require.NoError(t, genesis.Write(&timersRaw, a.AppCodec(), source))
	raw := bytes.NewBuffer(make([]byte, 0, timersRaw.bytes+1<<20))
	separator := "{"
	for name, state := range exported {
		if name == types.ModuleName {
			continue
		}
		raw.WriteString(separator + `"` + name + `":`)
		raw.Write(state)
		separator = ","
	}
	raw.WriteString(`,"` + types.ModuleName + `":`)
	require.NoError(t, genesis.Write(raw, a.AppCodec(), source))
	raw.WriteString("}")
	return raw.Bytes()
}

// A genesis with many timers is imported within three times its size of memory, itself included, and its first block is
// committed within as much without it. Most of both is the state, which the SDK writes to disk at the first commit. The
// export needs less than its size. The timers are on disk, as a node has them.
//
// Rule: 2.1-memory, 2.1-export-streams
func TestLongGenesisNeedsLittleMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	first := appchain.New(t, "alice")
	exported, err := first.App.ExportAppStateAndValidators(false, nil, nil)
	require.NoError(t, err)
	fields, err := genesis.Fields(exported.AppState)
	require.NoError(t, err)

	db, err := dbm.NewGoLevelDB("application", t.TempDir(), nil)
	require.NoError(t, err)
	second := app.New(log.NewNopLogger(), db, nil, true, simtestutil.NewAppOptionsWithFlagHome(t.TempDir()),
		baseapp.SetChainID(appchain.ChainID), baseapp.SetIAVLSyncPruning(true))
	base := baseOfHeap()
	raw := manyTimersGenesis(t, fields, second, *manyTimers, 1_000_000)
	size := uint64(len(raw))

	began, h := time.Now(), watchHeap(base)
	_, err = second.InitChain(&abci.RequestInitChain{
		ChainId: appchain.ChainID, InitialHeight: exported.Height, ConsensusParams: &exported.ConsensusParams, AppStateBytes: raw,
	})
	require.NoError(t, err)
	imported, importTime := h.above(), time.Since(began)
	runtime.KeepAlive(raw)
	runtime.GC()
	h = watchHeap(base)
	_, err = second.FinalizeBlock(&abci.RequestFinalizeBlock{Height: exported.Height, Time: time.Unix(1_700_001_000, 0)})
	require.NoError(t, err)
	_, err = second.Commit()
	require.NoError(t, err)
	committed := h.above()

	began, h = time.Now(), watchHeap(baseOfHeap())
	var out counter
	_, err = second.ExportTo(&out, false, nil)
	require.NoError(t, err)
	written, exportTime := h.above(), time.Since(began)

	ratio := func(bytes uint64) float64 { return float64(bytes) / float64(size) }
	t.Logf("%d timers, genesis of %.1f MB: memory of import %.2f ×, first commit %.2f ×, export %.2f × its size; %s, %s",
		*manyTimers, float64(size)/1e6, ratio(imported), ratio(committed), ratio(written),
		importTime.Round(time.Millisecond), exportTime.Round(time.Millisecond))
	require.InDelta(t, size, out.bytes, float64(size)/100, "what was imported is exported")
	require.Less(t, imported, 3*size+fixedHeap)
	require.Less(t, committed, 3*size+fixedHeap)
	require.Less(t, written, size+fixedHeap)
	require.NoError(t, db.Close())
}
