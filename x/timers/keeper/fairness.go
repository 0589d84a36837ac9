package keeper

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/fairness"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Fires are counted by unit, which is the actor or its deployer, over FAIRNESS_WINDOW_BLOCKS (SPEC §6). How many of them
// are a unit's own lies on its first page, which a fire writes anyway; how many units have as many, in a few keys, from
// which the median follows. A block costs what it fires, and what leaves the window.

// weightOf is the actor's fairness weight in this block, in sixteenths. A record that can't be read weighs least: its
// timers can't fire, and others must not suffer for it.
func (k *Keeper) weightOf(ctx context.Context, b *block, actor sdk.AccAddress) uint32 {
	if weight, known := b.weights[string(actor)]; known {
		return weight
	}
	bounds := b.config.WeightBounds()
	weight := bounds.Min
	unit := k.unitOf(ctx, &b.config, actor)
	if page, err := k.actorPage(ctx, unit, 0); err == nil {
		b.agents.read(actor, unit, page)
		weight = bounds.Weight(uint64(page.Recent), b.before.Fairness.Smoothed)
	}
	b.weights[string(actor)] = weight
	return weight
}

// unitOf is whose fires the actor's are counted to. An actor that nobody serves any more is its own.
func (k *Keeper) unitOf(ctx context.Context, config *types.TimerConfig, actor sdk.AccAddress) sdk.AccAddress {
	if config.FairnessUnit != types.UnitDeployer {
		return actor
	}
	unit := actor
	// A runtime is not the module's own code: what fails in it is its answer alone.
	_ = sandbox(sdk.UnwrapSDKContext(ctx), func(ctx sdk.Context) error {
		runtime, err := k.router.Route(ctx, actor)
		if err != nil {
			return err
		}
		if deployer := runtime.Deployer(ctx, actor); len(deployer) > 0 {
			unit = deployer
		}
		return nil
	})
	return unit
}

// countFires counts the fires of this block and drops those that leave the window, so that the state is that of the next
// block (SPEC §4, step 9). A policy that does not weigh actors counts nothing: fairness begins with W = 2 for all.
func (k *Keeper) countFires(ctx sdk.Context, b *block) error {
	if err := k.scoreActors(ctx, b); err != nil {
		return err
	}
	if err := k.forgetTips(ctx, b); err != nil {
		return err
	}
	state := &b.state.Fairness
	window := window{k: k, median: fairness.Median{Units: state.Units, Value: state.Median, Below: state.Below}}
	if b.weighs() && len(b.actors) > 0 {
		fired := k.firesByUnit(ctx, b)
		if err := k.state.fires.Set(ctx, b.height, fired); err != nil {
			return err
		}
		if err := window.addAll(ctx, fired, 1); err != nil {
			return err
		}
	}
	if err := k.dropFires(ctx, b, &window); err != nil {
		return err
	}
	if err := window.median.Settle(ctx, fireCounts{k.state.fireCounts}); err != nil {
		return err
	}
	state.Units, state.Median, state.Below = window.median.Units, window.median.Value, window.median.Below
	state.Smoothed = fairness.Smooth(b.config.MedianSmoothing, state.Median, state.Smoothed)
	return nil
}

// firesByUnit sums up the block's fires, units in the order of their addresses.
func (k *Keeper) firesByUnit(ctx context.Context, b *block) (all types.BlockFires) {
	place := make(map[string]int, len(b.actors))
	for _, actor := range b.actors {
		unit := k.unitOf(ctx, &b.config, actor)
		i, known := place[string(unit)]
		if !known {
			i = len(all.Units)
			place[string(unit)] = i
			all.Units = append(all.Units, types.UnitFires{Unit: unit})
		}
		all.Units[i].Fires += b.firesOf[string(actor)]
	}
	slices.SortFunc(all.Units, func(a, b types.UnitFires) int { return bytes.Compare(a.Unit, b.Unit) })
	return all
}

// dropFires drops the fires that are not in the window of the next block: those of one block as a rule, and after the
// window was shortened of as many as name SWEEP_PER_BLOCK units, or of two, so that it catches up.
func (k *Keeper) dropFires(ctx sdk.Context, b *block, window *window) error {
	state := &b.state.Fairness
	if window.median.Units == 0 || b.height < b.config.FairnessWindowBlocks {
		return nil
	}
	last := b.height - b.config.FairnessWindowBlocks
	if state.From > last {
		return nil
	}
	type leaving struct {
		height uint64
		fires  types.BlockFires
	}
	var old []leaving
	units := 0
	ranger := new(collections.Range[uint64]).StartInclusive(state.From).EndInclusive(last)
	err := k.state.fires.Walk(ctx, ranger, func(height uint64, fires types.BlockFires) (bool, error) {
		old = append(old, leaving{height, fires})
		units += len(fires.Units)
		return len(old) >= 2 && units >= int(b.config.SweepPerBlock), nil
	})
	if err != nil {
		return err
	}
	state.From = last + 1
	for _, block := range old {
		if err := k.state.fires.Remove(ctx, block.height); err != nil {
			return err
		}
		if err := window.addAll(ctx, block.fires, -1); err != nil {
			return err
		}
	}
	if units >= int(b.config.SweepPerBlock) && len(old) >= 2 {
		state.From = old[len(old)-1].height + 1
	}
	return nil
}

// window keeps units' fires, and the median over all of them, in step.
type window struct {
	k      *Keeper
	median fairness.Median
}

// addAll adds the fires of a block, or takes them away if sign is -1.
func (w *window) addAll(ctx context.Context, fires types.BlockFires, sign int64) error {
	for i := range fires.Units {
		if err := w.add(ctx, fires.Units[i].Unit, sign*int64(fires.Units[i].Fires)); err != nil {
			return err
		}
	}
	return nil
}

// add changes the fires of a unit. A record that can't be read concerns that unit alone: it stays as it is.
func (w *window) add(ctx context.Context, unit sdk.AccAddress, change int64) error {
	page, err := w.k.actorPage(ctx, unit, 0)
	if err != nil {
		sdk.UnwrapSDKContext(ctx).Logger().Error("can't count fires", "module", types.ModuleName, "unit", unit, "err", err)
		return nil
	}
	from := uint64(page.Recent)
	to := from + uint64(change)
	page.Recent = uint32(to)
	if err := w.k.setActorPage(ctx, unit, 0, page); err != nil {
		return err
	}
	return w.median.Move(ctx, fireCounts{w.k.state.fireCounts}, from, to)
}

// fireCounts is the histogram as package fairness reads it.
type fireCounts struct {
	collections.Map[uint64, uint64]
}

var _ fairness.Counts = fireCounts{}

// Get implements fairness.Counts.
func (c fireCounts) Get(ctx context.Context, fires uint64) (uint64, error) {
	units, _, err := find(ctx, c.Map, fires)
	return units, err
}

// Set implements fairness.Counts.
func (c fireCounts) Set(ctx context.Context, fires, units uint64) error {
	if units == 0 {
		return c.Remove(ctx, fires)
	}
	return c.Map.Set(ctx, fires, units)
}

// Next implements fairness.Counts.
func (c fireCounts) Next(ctx context.Context, fires uint64) (uint64, error) {
	return c.first(ctx, new(collections.Range[uint64]).StartExclusive(fires))
}

// Prev implements fairness.Counts.
func (c fireCounts) Prev(ctx context.Context, fires uint64) (uint64, error) {
	return c.first(ctx, new(collections.Range[uint64]).EndExclusive(fires).Descending())
}

func (c fireCounts) first(ctx context.Context, ranger collections.Ranger[uint64]) (uint64, error) {
	iterator, err := c.Iterate(ctx, ranger)
	if err != nil {
		return 0, err
	}
	defer iterator.Close()
	if !iterator.Valid() {
		return 0, errors.New("the counts of fires end before the median")
	}
	return iterator.Key()
}
