package keeper

import (
	"context"
	"errors"

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
	if page, err := k.actorPage(ctx, k.unitOf(ctx, &b.config, actor), 0); err == nil {
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
	state := &b.state.Fairness
	window := window{k: k, median: fairness.Median{Units: state.Units, Value: state.Median, Below: state.Below}}
	if b.policy.Weighs() {
		for _, fired := range k.firesByUnit(ctx, b) {
			if err := k.state.fires.Set(ctx, collections.Join(b.height, fired.unit), fired.fires); err != nil {
				return err
			}
			if err := window.add(ctx, fired.unit, int64(fired.fires)); err != nil {
				return err
			}
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

// unitFires are the fires of a unit in this block.
type unitFires struct {
	unit  sdk.AccAddress
	fires uint64
}

// firesByUnit sums up the block's fires, units in the order of their first fire.
func (k *Keeper) firesByUnit(ctx context.Context, b *block) []unitFires {
	units := make([]unitFires, 0, len(b.actors))
	place := make(map[string]int, len(b.actors))
	for _, actor := range b.actors {
		unit := k.unitOf(ctx, &b.config, actor)
		i, known := place[string(unit)]
		if !known {
			i = len(units)
			place[string(unit)] = i
			units = append(units, unitFires{unit: unit})
		}
		units[i].fires += uint64(b.firesOf[string(actor)])
	}
	return units
}

// dropFires drops the fires that are not in the window of the next block, whole blocks of them: one as a rule, and after the
// window was shortened two, or as many as hold SWEEP_PER_BLOCK entries, so that it catches up.
func (k *Keeper) dropFires(ctx sdk.Context, b *block, window *window) error {
	state := &b.state.Fairness
	if window.median.Units == 0 || b.height < b.config.FairnessWindowBlocks {
		return nil
	}
	last := b.height - b.config.FairnessWindowBlocks
	if state.From > last {
		return nil
	}
	var old []types.HeightFires
	from, blocks := last+1, 0
	ranger := new(collections.Range[collections.Pair[uint64, sdk.AccAddress]]).
		StartInclusive(collections.PairPrefix[uint64, sdk.AccAddress](state.From)).
		EndExclusive(collections.PairPrefix[uint64, sdk.AccAddress](last + 1))
	err := k.state.fires.Walk(ctx, ranger, func(key collections.Pair[uint64, sdk.AccAddress], fires uint64) (bool, error) {
		if len(old) == 0 || old[len(old)-1].Height != key.K1() {
			if blocks >= 2 && len(old) >= int(b.config.SweepPerBlock) {
				from = key.K1()
				return true, nil
			}
			blocks++
		}
		old = append(old, types.HeightFires{Height: key.K1(), Unit: key.K2(), Fires: uint32(fires)})
		return false, nil
	})
	if err != nil {
		return err
	}
	for i := range old {
		if err := k.state.fires.Remove(ctx, collections.Join(old[i].Height, sdk.AccAddress(old[i].Unit))); err != nil {
			return err
		}
		if err := window.add(ctx, old[i].Unit, -int64(old[i].Fires)); err != nil {
			return err
		}
	}
	state.From = from
	return nil
}

// window keeps units' fires, and the median over all of them, in step.
type window struct {
	k      *Keeper
	median fairness.Median
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
