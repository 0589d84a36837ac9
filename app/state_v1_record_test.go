package app_test

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The first format knew no cell limits: a fire could write what the config allowed. Nor did it count apart what was burned
// as the lane's fee, or know the parameters below. This file adds them to exported states.

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

// pendingFromV1 starts an unfinished round again: the first format kept one for all owners of a prefix. Who has been
// notified by it is not made due a second time, since its changes no longer count for that timer.
func pendingFromV1(pending *types.WatchPending) {
	for _, round := range []*types.WatchRound{&pending.Round, pending.Next} {
		if round == nil {
			continue
		}
		round.From, round.Since = 0, round.Height
		for _, change := range round.Changes {
			round.Since = min(round.Since, change.Height)
		}
	}
}
