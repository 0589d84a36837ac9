package app_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The first format knew no cell limits: a fire could write what the config allowed. Nor did it count apart what was burned
// as the lane's fee, or know the parameters below. This file adds them, as a migration has to.

// addedConfig sets the parameters that the first format did not have.
func addedConfig(config *types.TimerConfig) {
	added := types.DefaultTimerConfig(config.FeeDenom)
	config.MaxMessagesBytes, config.DefaultCellLimit = added.MaxMessagesBytes, added.DefaultCellLimit
	config.PayloadCyclesPerByte, config.MessageCyclesPerByte = added.PayloadCyclesPerByte, added.MessageCyclesPerByte
	config.MaxPayerRecordBytes, config.TierTipCap, config.ReservedShare = added.MaxPayerRecordBytes, added.TierTipCap, added.ReservedShare
	config.RingSize, config.EpochBlocks, config.EpochHorizon = added.RingSize, added.EpochBlocks, added.EpochHorizon
	config.MigrationsPerBlock = added.MigrationsPerBlock
}

// cellLimitV1 is what a fire could write on the chain of the fixture.
const cellLimitV1 = 550_000

// addedRecords sets what records of the first format did not have.
func addedRecords(genesis *types.GenesisState) {
	genesis.Lane.LaneBurned = math.ZeroInt()
	for i := range genesis.Timers {
		genesis.Timers[i].CellLimit = cellLimitV1
	}
}

// recordFromV1 converts the value of a pair of the store, if it is a timer or the lane.
func recordFromV1(t *testing.T, p pair) pair {
	t.Helper()
	if bytes.Equal(p.key, types.PrefixLane.Bytes()) {
		var lane types.LaneState
		require.NoError(t, lane.Unmarshal(p.value))
		lane.LaneBurned = math.ZeroInt()
		value, err := lane.Marshal()
		require.NoError(t, err)
		return pair{p.key, value}
	}
	for _, prefix := range [][]byte{types.PrefixQueue.Bytes(), types.PrefixSetAside.Bytes(), types.PrefixWatching.Bytes()} {
		if !bytes.HasPrefix(p.key, prefix) {
			continue
		}
		var timer types.Timer
		require.NoError(t, timer.Unmarshal(p.value))
		if timer.Bid != nil {
			decimalsFromV1(reflect.ValueOf(timer.Bid))
		}
		timer.CellLimit = cellLimitV1
		value, err := timer.Marshal()
		require.NoError(t, err)
		return pair{p.key, value}
	}
	return p
}
