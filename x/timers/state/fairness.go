package state

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Fairness counts fires by unit, which is the actor or its deployer, over FAIRNESS_WINDOW_BLOCKS. The units' counts are
// in a log-structured map, since a block changes those of units that have nothing in common. A histogram of the counts,
// from which the median is computed, takes a few keys. The cost of a block is proportional to its fires and to those
// that leave the window.
type Fairness struct {
	// fires: height → fires by unit within the fairness window. One value a block; they leave as the window moves.
	fires collections.Map[uint64, types.BlockFires]
	// counts: number of fires → number of units that had as many in the window. Few keys.
	counts collections.Map[uint64, uint64]
	// recents: hash of the unit → its fires within the window. Units that somebody made to have a hash in common share
	// a count.
	recents *logmap.Map

	lane   *Lane
	router types.Router
}

var _ Component = (*Fairness)(nil)

// NewFairness adds the component's collections to the schema.
func NewFairness(
	cdc codec.BinaryCodec, sb *collections.SchemaBuilder, service store.KVStoreService, lane *Lane, router types.Router,
) *Fairness {
	return &Fairness{
		fires:   collections.NewMap(sb, types.PrefixFires, "fires", collections.Uint64Key, codec.CollValue[types.BlockFires](cdc)),
		counts:  collections.NewMap(sb, types.PrefixFireCounts, "fire_counts", collections.Uint64Key, collections.Uint64Value),
		recents: logmap.New(NewRegion(sb, service, types.PrefixRecents, "recents"), logmap.Options{Range: HashRange}),
		lane:    lane, router: router,
	}
}

// UnitOf is the unit to which the actor's fires are counted, by FAIRNESS_UNIT. An actor that no runtime serves is its
// own unit.
func (f *Fairness) UnitOf(ctx sdk.Context, config *types.TimerConfig, actor sdk.AccAddress) sdk.AccAddress {
	if config.FairnessUnit != types.UnitDeployer {
		return actor
	}
	unit := actor
	// A runtime is not the module's own code. If it fails, the actor is its own unit.
	_ = sandbox.Run(ctx, func(ctx sdk.Context) error {
		runtime, err := f.router.Route(ctx, actor)
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

// ActorFires is how many fires of an actor a block made.
type ActorFires struct {
	Actor sdk.AccAddress
	Fires uint32
}

// Advance counts the fires of a block and drops those that leave the window, so that the state is that of the next
// block. A policy that does not count fires passes none: fairness begins with the same weight for all. It reads no count
// again that the block looked up; recents must not be used afterwards.
func (f *Fairness) Advance(
	ctx context.Context, config *types.TimerConfig, meter *market.Overhead, height uint64, fired []ActorFires, recents *Recents,
	state *types.FairnessState,
) error {
	window := f.window(recents, market.Median{Units: state.Units, Value: state.Median, Below: state.Below})
	if len(fired) > 0 {
		byUnit := f.byUnit(sdk.UnwrapSDKContext(ctx), config, fired)
		if err := f.fires.Set(ctx, height, byUnit); err != nil {
			return err
		}
		window.note(byUnit, 1)
	}
	if err := f.drop(ctx, config, meter, height, state, &window); err != nil {
		return err
	}
	if len(window.changes) > 0 {
		if err := window.settle(ctx, state); err != nil {
			return err
		}
	}
	state.Smoothed = market.SmoothMedian(config.MedianSmoothing.LegacyDec, state.Median, state.Smoothed)
	_, err := f.recents.Maintain(ctx, height)
	return err
}

// byUnit sums up fires, units in the order of their addresses.
func (f *Fairness) byUnit(ctx sdk.Context, config *types.TimerConfig, fired []ActorFires) (all types.BlockFires) {
	place := make(map[string]int, len(fired))
	all.Units = make([]types.UnitFires, 0, len(fired))
	for _, of := range fired {
		unit := f.UnitOf(ctx, config, of.Actor)
		i, known := place[string(unit)]
		if !known {
			i = len(all.Units)
			place[string(unit)] = i
			all.Units = append(all.Units, types.UnitFires{Unit: unit})
		}
		all.Units[i].Fires += of.Fires
	}
	slices.SortFunc(all.Units, func(a, b types.UnitFires) int { return bytes.Compare(a.Unit, b.Unit) })
	return all
}

// drop removes the fires that are not in the window of the next block: usually those of one block. After the window was
// shortened it removes those of more blocks, at least two and more while the overhead lasts, so that it catches up.
func (f *Fairness) drop(
	ctx context.Context, config *types.TimerConfig, meter *market.Overhead, height uint64, state *types.FairnessState, window *window,
) error {
	if window.median.Units == 0 || height < config.FairnessWindowBlocks {
		return nil
	}
	last := height - config.FairnessWindowBlocks
	if state.From > last {
		return nil
	}
	limit := meter.Left(market.Age)
	type leaving struct {
		height uint64
		fires  types.BlockFires
	}
	var old []leaving
	units := 0
	ranger := new(collections.Range[uint64]).StartInclusive(state.From).EndInclusive(last)
	err := f.fires.Walk(ctx, ranger, func(height uint64, fires types.BlockFires) (bool, error) {
		old = append(old, leaving{height, fires})
		units += len(fires.Units)
		return len(old) >= 2 && units >= limit, nil
	})
	if err != nil {
		return err
	}
	state.From = last + 1
	for _, block := range old {
		if err := f.fires.Remove(ctx, block.height); err != nil {
			return err
		}
		window.note(block.fires, -1)
	}
	meter.Consume(market.Age, units)
	if units >= limit && len(old) >= 2 {
		state.From = old[len(old)-1].height + 1
	}
	return nil
}

// window keeps units' fires, and the median over all of them, in step.
type window struct {
	recents *Recents
	counts  fireCounts
	median  market.Median
	// changes to the counts of units, to be summed up.
	changes []unitChange
}

type unitChange struct {
	hash  []byte
	fires int64
}

func (f *Fairness) window(recents *Recents, median market.Median) window {
	return window{recents: recents, counts: fireCounts{f.counts}, median: median}
}

// note adds the fires of a block, or takes them away if sign is -1.
func (w *window) note(fires types.BlockFires, sign int64) {
	w.changes = slices.Grow(w.changes, len(fires.Units))
	for i := range fires.Units {
		w.changes = append(w.changes, unitChange{HashOf(fires.Units[i].Unit), sign * int64(fires.Units[i].Fires)})
	}
}

// sum passes the change of each unit to fn, once, by its hash.
func (w *window) sum(fn func(unitChange) error) error {
	slices.SortFunc(w.changes, func(a, b unitChange) int { return bytes.Compare(a.hash, b.hash) })
	for i := 0; i < len(w.changes); {
		of := w.changes[i]
		for i++; i < len(w.changes) && bytes.Equal(w.changes[i].hash, of.hash); i++ {
			of.fires += w.changes[i].fires
		}
		if err := fn(of); err != nil {
			return err
		}
	}
	return nil
}

// settle changes the units' counts, brings the median up to date and writes it to state.
func (w *window) settle(ctx context.Context, state *types.FairnessState) error {
	changes := make([]logmap.Change, 0, len(w.changes))
	counts := &changedCounts{MedianCounts: w.counts}
	err := w.sum(func(of unitChange) error {
		from, to, err := w.recents.change(of)
		if err != nil || from == to {
			return err
		}
		changes = append(changes, changeOf(of.hash, from, to))
		return w.median.Move(ctx, counts, from, to)
	})
	if err != nil {
		return err
	}
	if err := w.recents.reader.Apply(changes...); err != nil {
		return err
	}
	if err := counts.write(ctx); err != nil {
		return err
	}
	err = w.median.Settle(ctx, w.counts)
	state.Units, state.Median, state.Below = w.median.Units, w.median.Value, w.median.Below
	return err
}

// changeOf is the change of a unit's entry whose fires were and are so many.
func changeOf(hash []byte, from, to uint64) logmap.Change {
	switch value := AppendNumber(nil, to); {
	case from == 0:
		return logmap.Inserted(hash, value)
	case to == 0:
		return logmap.Deleted(hash)
	default:
		return logmap.Replaced(hash, value)
	}
}

// Recent is how many fires the unit has within the window.
func (f *Fairness) Recent(ctx context.Context, unit sdk.AccAddress) (uint64, error) {
	return f.Recents(ctx).Of(sdk.UnwrapSDKContext(ctx), unit)
}

// Recents caches the counts of the units that a block asked for. They change at its end only.
type Recents struct {
	reader *logmap.Reader
	// known counts by the hash of their unit.
	known map[string]uint64
}

// Recents returns an empty cache.
func (f *Fairness) Recents(ctx context.Context) *Recents {
	return &Recents{f.recents.Reader(types.Unmetered(ctx)), map[string]uint64{}}
}

// Of returns the fires of a unit within the window.
func (r *Recents) Of(ctx sdk.Context, unit sdk.AccAddress) (uint64, error) {
	hash := HashOf(unit)
	if fires, known := r.known[string(hash)]; known {
		return fires, nil
	}
	ctx.GasMeter().ConsumeGas(ownerLookupCycles, "fires of a unit")
	return r.ofHash(hash)
}

func (r *Recents) ofHash(hash []byte) (uint64, error) {
	if fires, known := r.known[string(hash)]; known {
		return fires, nil
	}
	value, _, err := r.reader.Get(hash)
	if err != nil {
		return 0, err
	}
	fires := ParseNumber(value)
	r.known[string(hash)] = fires
	return fires, nil
}

// change is how many fires a unit had, and has.
func (r *Recents) change(of unitChange) (from, to uint64, err error) {
	from, err = r.ofHash(of.hash)
	return from, uint64(max(int64(from)+of.fires, 0)), err
}

// fireCounts is the histogram as market.Median reads it.
type fireCounts struct {
	collections.Map[uint64, uint64]
}

var _ market.MedianCounts = fireCounts{}

// Get implements market.MedianCounts.
func (c fireCounts) Get(ctx context.Context, fires uint64) (uint64, error) {
	units, _, err := Find(ctx, c.Map, fires)
	return units, err
}

// Set implements market.MedianCounts.
func (c fireCounts) Set(ctx context.Context, fires, units uint64) error {
	if units == 0 {
		return c.Remove(ctx, fires)
	}
	return c.Map.Set(ctx, fires, units)
}

// Next implements market.MedianCounts.
func (c fireCounts) Next(ctx context.Context, fires uint64) (uint64, error) {
	return c.first(ctx, new(collections.Range[uint64]).StartExclusive(fires))
}

// Prev implements market.MedianCounts.
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

// changedCounts are counts of which those that change are written at the end, once each.
type changedCounts struct {
	market.MedianCounts
	// changed by the number of fires.
	changed []changedCount
}

type changedCount struct{ fires, units uint64 }

func (c *changedCounts) find(fires uint64) (at int, found bool) {
	return slices.BinarySearchFunc(c.changed, fires, func(a changedCount, fires uint64) int { return cmp.Compare(a.fires, fires) })
}

// Get implements market.MedianCounts.
func (c *changedCounts) Get(ctx context.Context, fires uint64) (uint64, error) {
	if at, found := c.find(fires); found {
		return c.changed[at].units, nil
	}
	return c.MedianCounts.Get(ctx, fires)
}

// Set implements market.MedianCounts.
func (c *changedCounts) Set(_ context.Context, fires, units uint64) error {
	at, found := c.find(fires)
	if !found {
		c.changed = slices.Insert(c.changed, at, changedCount{fires: fires})
	}
	c.changed[at].units = units
	return nil
}

func (c *changedCounts) write(ctx context.Context) error {
	for _, of := range c.changed {
		if err := c.MedianCounts.Set(ctx, of.fires, of.units); err != nil {
			return err
		}
	}
	return nil
}

// InitGenesis implements Component: it writes the fires of the window, and their sums to the lane's state.
func (f *Fairness) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	now := types.HeightOf(ctx)
	if from := genesis.Lane.Fairness.From; from > now+1 {
		return types.ErrInvalidGenesis.Wrapf("lane.fairness.from is %d, want at most %d", from, now+1)
	}
	if n := len(genesis.Fairness); n > 0 && genesis.Fairness[n-1].Height > now {
		return types.ErrInvalidGenesis.Wrapf("fairness %d: height %d is above %d", n-1, genesis.Fairness[n-1].Height, now)
	}
	window := f.window(f.Recents(ctx), market.Median{})
	for i := 0; i < len(genesis.Fairness); {
		height, fires := genesis.Fairness[i].Height, types.BlockFires{}
		for ; i < len(genesis.Fairness) && genesis.Fairness[i].Height == height; i++ {
			fires.Units = append(fires.Units, types.UnitFires{Unit: genesis.Fairness[i].Unit, Fires: genesis.Fairness[i].Fires})
		}
		if err := f.fires.Set(ctx, height, fires); err != nil {
			return err
		}
		window.note(fires, 1)
	}
	lane, err := f.lane.Get(ctx)
	if err != nil {
		return err
	}
	if err := window.settle(ctx, &lane.Fairness); err != nil {
		return err
	}
	if err := Settle(ctx, f.recents); err != nil {
		return err
	}
	return f.lane.Set(ctx, lane)
}

// ExportGenesis implements Component.
func (f *Fairness) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	return f.fires.Walk(ctx, nil, func(height uint64, fires types.BlockFires) (bool, error) {
		for i := range fires.Units {
			genesis.Fairness = append(genesis.Fairness,
				types.HeightFires{Height: height, Unit: fires.Units[i].Unit, Fires: fires.Units[i].Fires})
		}
		return false, nil
	})
}
