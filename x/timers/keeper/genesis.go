package keeper

import (
	"context"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// InitGenesis writes the state of a new chain. Actor records and payload keys are derived from the timers.
func (k *Keeper) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if err := genesis.Validate(); err != nil {
		return err
	}
	// The account exists from the first block, so that the first pre-charge costs what every other does.
	k.accounts.GetModuleAccount(ctx, types.ModuleName)
	if err := k.state.config.Set(ctx, genesis.Config); err != nil {
		return err
	}
	if genesis.NextConfig != nil {
		if err := k.state.nextConfig.Set(ctx, *genesis.NextConfig); err != nil {
			return err
		}
	}
	if err := k.state.seq.Set(ctx, genesis.NextSeq); err != nil {
		return err
	}
	if err := k.initTimers(ctx, genesis); err != nil {
		return err
	}
	if err := k.initAgents(ctx, genesis); err != nil {
		return err
	}
	if err := k.checkBacking(ctx, genesis); err != nil {
		return err
	}
	if err := k.initFairness(ctx, genesis); err != nil {
		return err
	}
	if err := k.initWatches(ctx, genesis); err != nil {
		return err
	}
	if err := k.initTips(ctx, genesis); err != nil {
		return err
	}
	for _, segment := range genesis.Receipts {
		if err := k.putReceipts(ctx, segment.Height, segment.Receipts); err != nil {
			return err
		}
	}
	return nil
}

// initTimers writes the timers, whose places must agree with the lane's cursors.
func (k *Keeper) initTimers(ctx context.Context, genesis *types.GenesisState) error {
	now := heightOf(ctx)
	if err := checkHeights(genesis, now); err != nil {
		return err
	}
	for i := range genesis.Timers {
		timer := genesis.Timers[i]
		if timer.AdmittedWeight > 0 && timer.Due > now {
			return types.ErrInvalidGenesis.Wrapf("timer %d is admitted at height %d and due at %d", i, now, timer.Due)
		}
		if timer.UnfundedSince > now {
			return types.ErrInvalidGenesis.Wrapf("timer %d is unfunded since height %d, now is %d", i, timer.UnfundedSince, now)
		}
		if timer.SetAside == types.NotSetAside && !timer.ExpiredAt(now) {
			if timer.IsBefore(genesis.Lane.Live) {
				return types.ErrInvalidGenesis.Wrapf("timer %d can fire at height %d and lies before the live cursor", i, now)
			}
			// What admission has passed it never comes by again.
			if timer.IsBefore(genesis.Lane.Admit) && timer.AdmittedWeight == 0 {
				return types.ErrInvalidGenesis.Wrapf("timer %d can fire at height %d and was passed by admission", i, now)
			}
		}
		// The limit that holds at scheduling may have been lowered since: what lives, lives on.
		if err := k.insert(ctx, &timer, ^uint32(0)); err != nil {
			return types.ErrInvalidGenesis.Wrapf("timer %d: %v", i, err)
		}
	}
	return nil
}

// checkHeights refuses what can't have happened yet: cursors and counts that lie ahead would wait for the chain to come by.
func checkHeights(genesis *types.GenesisState, now uint64) error {
	lane := &genesis.Lane
	for _, mark := range []struct {
		name       string
		at, latest uint64
	}{
		{"lane.admit.due", lane.Admit.Due, now + 1},
		{"lane.fairness.from", lane.Fairness.From, now + 1},
		{"lane.market_since", lane.MarketSince, now},
	} {
		if mark.at > mark.latest {
			return types.ErrInvalidGenesis.Wrapf("%s is %d, want at most %d", mark.name, mark.at, mark.latest)
		}
	}
	if n := len(genesis.Fairness); n > 0 && genesis.Fairness[n-1].Height > now {
		return types.ErrInvalidGenesis.Wrapf("fairness %d: height %d is above %d", n-1, genesis.Fairness[n-1].Height, now)
	}
	return nil
}

// initFairness writes the fires of the window, and the lane's state with what they sum up to.
func (k *Keeper) initFairness(ctx context.Context, genesis *types.GenesisState) error {
	window := window{k: k}
	for i := 0; i < len(genesis.Fairness); {
		height, fires := genesis.Fairness[i].Height, types.BlockFires{}
		for ; i < len(genesis.Fairness) && genesis.Fairness[i].Height == height; i++ {
			fires.Units = append(fires.Units, types.UnitFires{Unit: genesis.Fairness[i].Unit, Fires: genesis.Fairness[i].Fires})
		}
		if err := k.state.fires.Set(ctx, height, fires); err != nil {
			return err
		}
		if err := window.addAll(ctx, fires, 1); err != nil {
			return err
		}
	}
	if err := window.median.Settle(ctx, fireCounts{k.state.fireCounts}); err != nil {
		return err
	}
	lane := genesis.Lane
	lane.Fairness.Units, lane.Fairness.Median, lane.Fairness.Below = window.median.Units, window.median.Value, window.median.Below
	return k.state.lane.Set(ctx, lane)
}

func (k *Keeper) allFires(ctx context.Context) (all []types.HeightFires, err error) {
	err = k.state.fires.Walk(ctx, nil, func(height uint64, fires types.BlockFires) (bool, error) {
		for i := range fires.Units {
			all = append(all, types.HeightFires{Height: height, Unit: fires.Units[i].Unit, Fires: fires.Units[i].Fires})
		}
		return false, nil
	})
	return all, err
}

// ExportGenesis returns the whole state, in an order that depends on nothing but it.
func (k *Keeper) ExportGenesis(ctx context.Context) (*types.GenesisState, error) {
	genesis := &types.GenesisState{}
	var err error
	if genesis.Config, err = k.Config(ctx); err != nil {
		return nil, err
	}
	next, found, err := findItem(ctx, k.state.nextConfig)
	if err != nil {
		return nil, err
	}
	if found {
		genesis.NextConfig = &next
	}
	if genesis.NextSeq, err = k.state.seq.Peek(ctx); err != nil {
		return nil, err
	}
	if genesis.Lane, err = k.state.lane.Get(ctx); err != nil {
		return nil, err
	}
	if genesis.Timers, err = k.allTimers(ctx); err != nil {
		return nil, err
	}
	if genesis.Fairness, err = k.allFires(ctx); err != nil {
		return nil, err
	}
	if genesis.Agents, err = k.allAgents(ctx); err != nil {
		return nil, err
	}
	if genesis.Receipts, err = k.allReceipts(ctx); err != nil {
		return nil, err
	}
	if err := k.exportTips(ctx, genesis); err != nil {
		return nil, err
	}
	return genesis, k.exportWatches(ctx, genesis)
}

// allTimers reads every live timer with its payload.
func (k *Keeper) allTimers(ctx context.Context) ([]types.Timer, error) {
	timers, err := k.records(ctx)
	if err != nil {
		return nil, err
	}
	for i := range timers {
		t := &timers[i]
		if t.Payload, err = k.payloadOf(ctx, t); err != nil {
			return nil, err
		}
		t.PayloadSeq = 0
	}
	return timers, nil
}

// records reads every record: the queue by (due, seq), then those set aside by seq, then those that wait for a change by
// seq.
func (k *Keeper) records(ctx context.Context) ([]types.Timer, error) {
	var timers []types.Timer
	err := k.state.queue.Walk(ctx, nil, func(_ collections.Pair[uint64, uint64], t types.Timer) (bool, error) {
		timers = append(timers, t)
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	for _, place := range []collections.Map[uint64, types.Timer]{k.state.setAside, k.state.watching} {
		err = place.Walk(ctx, nil, func(_ uint64, t types.Timer) (bool, error) {
			timers = append(timers, t)
			return false, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return timers, nil
}
