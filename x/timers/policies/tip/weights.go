package tip

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"cosmossdk.io/collections"
	collcodec "cosmossdk.io/collections/codec"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	rules "github.com/cosmos-timers/timers/x/timers/market/tip"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// weights are those of actors. A weight is computed when it is needed, from the record of the last epoch in which its
// actor had anything to score. So nothing is written for actors without fires, and no block pays for the end of an
// epoch. A record is written when its actor fires. Old records are removed, a bounded number a block.
type weights struct {
	// records: hash of the actor, actor → weight and the statistics of its epoch. Under overload a block looks up the actors of all that
	// compete, and a block writes those of all that fired or lacked funds.
	records *logmap.Map
	codec   collcodec.ValueCodec[Weight]
	// epochs: (epoch, height, number) → actors whose records became ones of the epoch then, at most listed in a value. So the
	// oldest records are found. An actor stays listed when its record becomes one of a later epoch.
	epochs collections.Map[epochList, []byte]
}

type epochList = collections.Triple[uint64, uint64, uint64]

const (
	// listed is how many actors a value of epochs has at most.
	listed = 64
	// readCycles are what a query pays for the weight of an actor.
	readCycles = 1_500
)

func newWeights(parts *policies.Parts) *weights {
	return &weights{
		records: logmap.New(state.NewRegion(parts.Schema, parts.Store, types.PrefixTipWeights, "tip_weights"), logmap.Options{Range: state.HashRange}),
		codec:   codec.CollValue[Weight](parts.Codec),
		epochs: collections.NewMap(parts.Schema, types.PrefixTipEpochs, "tip_epochs",
			collections.TripleKeyCodec(collections.Uint64Key, collections.Uint64Key, collections.Uint64Key), collections.BytesValue),
	}
}

// keyOf is the key of an actor's record.
func keyOf(actor sdk.AccAddress) []byte {
	return append(state.HashOf(actor), actor...)
}

// reader looks up the records of many actors.
func (w *weights) reader(ctx context.Context) *logmap.Reader {
	return w.records.Reader(types.Unmetered(ctx))
}

// get reads the record of an actor, nil if there is none.
func (w *weights) get(ctx sdk.Context, reader *logmap.Reader, actor sdk.AccAddress) (*Weight, error) {
	ctx.GasMeter().ConsumeGas(readCycles, "weight of an actor")
	value, found, err := reader.Get(keyOf(actor))
	if err != nil || !found {
		return nil, err
	}
	record, err := w.codec.Decode(value)
	return &record, err
}

// change is a record that is written. before is the old record, nil if there was none.
type change struct {
	actor  sdk.AccAddress
	before *Weight
	next   Weight
}

// write writes records that are of one epoch, at the end of a block; those of a genesis have height 0.
func (w *weights) write(ctx context.Context, epoch, height uint64, records []change) error {
	if len(records) == 0 {
		return nil
	}
	messages := make([]logmap.Change, len(records))
	var entered []sdk.AccAddress
	for i := range records {
		r := &records[i]
		value, err := w.codec.Encode(r.next)
		if err != nil {
			return err
		}
		if messages[i] = logmap.Replaced(keyOf(r.actor), value); r.before == nil {
			messages[i] = logmap.Inserted(keyOf(r.actor), value)
		}
		if r.before == nil || r.before.Epoch != epoch {
			entered = append(entered, r.actor)
		}
	}
	number := uint64(0)
	for actors := range slices.Chunk(entered, listed) {
		if err := w.epochs.Set(ctx, collections.Join3(epoch, height, number), appendActors(nil, actors)); err != nil {
			return err
		}
		number++
	}
	return w.apply(ctx, messages)
}

// apply changes the map, and merges a bounded part of it.
func (w *weights) apply(ctx context.Context, changes []logmap.Change) error {
	ctx = types.Unmetered(ctx)
	if err := w.records.Apply(ctx, changes...); err != nil {
		return err
	}
	_, err := w.records.Maintain(ctx, types.HeightOf(ctx))
	return err
}

func appendActors(bz []byte, actors []sdk.AccAddress) []byte {
	for _, actor := range actors {
		bz = append(binary.AppendUvarint(bz, uint64(len(actor))), actor...)
	}
	return bz
}

func parseActors(bz []byte) (actors []sdk.AccAddress, err error) {
	r := logmap.NewUnpacker(bz)
	for r.More() {
		actors = append(actors, r.Bytes(r.Uvarint()))
	}
	if r.Failed() {
		err = types.ErrInternal.Wrapf("malformed list of actors %x", bz)
	}
	return actors, err
}

// isForgotten reports whether a record is so old that nothing of it counts any more: the actor's weight is neutral.
func isForgotten(record *Weight, epoch uint64) bool {
	return record.Epoch+rules.ForgottenAfter < epoch
}

// drop removes records that are forgotten, whatever policy is in force. It looks at actors that were listed so
// long ago while the overhead lasts, and reads nothing while none can be that old.
func (w *weights) drop(ctx sdk.Context, b *policies.Block) error {
	tips := types.MessageOf[State](b.State.Policies)
	if tips == nil {
		return nil
	}
	epoch := epochAt(tips, b.Height)
	if tips.Oldest == 0 || tips.Oldest+rules.ForgottenAfter >= epoch {
		return nil
	}
	old, oldest, err := w.old(ctx, tips.Oldest, epoch-rules.ForgottenAfter, b.Overhead.Left(market.Age))
	if err != nil {
		return err
	}
	changeState(&b.State, func(s *State) { s.Oldest = oldest })
	reader := w.reader(ctx)
	var changes []logmap.Change
	for _, list := range old {
		b.Overhead.Consume(market.Age, len(list.actors))
		for _, actor := range list.actors {
			record, err := w.get(ctx, reader, actor)
			if err != nil {
				return err
			}
			if record != nil && record.Epoch == list.key.K1() {
				changes = append(changes, logmap.Deleted(keyOf(actor)))
			}
		}
		if len(list.rest) > 0 {
			err = w.epochs.Set(ctx, list.key, appendActors(nil, list.rest))
		} else {
			err = w.epochs.Remove(ctx, list.key)
		}
		if err != nil {
			return err
		}
	}
	return w.apply(ctx, changes)
}

// oldList is a value of epochs of which actors are looked at, and the rest stays.
type oldList struct {
	key          epochList
	actors, rest []sdk.AccAddress
}

// old returns lists of epochs from one to before another one, of so many actors in all, and the oldest epoch of which any are
// left; 0 if none are.
func (w *weights) old(ctx context.Context, from, before uint64, most int) (lists []oldList, oldest uint64, err error) {
	ranger := new(collections.Range[epochList]).StartInclusive(collections.Join3(from, uint64(0), uint64(0)))
	err = w.epochs.Walk(ctx, ranger, func(key epochList, value []byte) (bool, error) {
		if key.K1() >= before || most == 0 {
			oldest = key.K1()
			return true, nil
		}
		actors, err := parseActors(value)
		if err != nil {
			return true, err
		}
		n := min(len(actors), most)
		most -= n
		lists = append(lists, oldList{key, actors[:n], actors[n:]})
		if n < len(actors) {
			oldest = key.K1()
		}
		return n < len(actors), nil
	})
	return lists, oldest, err
}

// all returns every record, by actor.
func (w *weights) all(ctx context.Context) (all []ActorWeight, err error) {
	entries, err := w.records.Page(types.Unmetered(ctx), nil, nil, 1<<30)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		record, err := w.codec.Decode(entry.Value)
		if err != nil {
			return nil, err
		}
		all = append(all, ActorWeight{Actor: entry.Key[min(state.HashBytes, len(entry.Key)):], Weight: record})
	}
	slices.SortFunc(all, func(a, b ActorWeight) int { return bytes.Compare(a.Actor, b.Actor) })
	return all, nil
}

// InitGenesis implements state.Component: it writes the weights of a genesis file; which epochs they are of is derived.
func (p *Policy) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	now, of, kept := types.HeightOf(ctx), stateIn(&genesis.Lane), WeightsIn(genesis)
	tips := &of
	if tips.Start > now+1 {
		return types.ErrInvalidGenesis.Wrapf("tip.State: start is %d, want at most %d", tips.Start, now+1)
	}
	latest := tips.Epoch
	if now > tips.Start {
		latest = epochAt(tips, now)
	}
	if tips.Oldest > latest {
		return types.ErrInvalidGenesis.Wrapf("tip.State: oldest is epoch %d, want at most %d", tips.Oldest, latest)
	}
	ofEpoch := map[uint64][]change{}
	var epochs []uint64
	for i := range kept {
		entry := &kept[i]
		// A fire from before the first block of a chain that went back counts for that block (genesis.Source, Rebase).
		if entry.Weight.Epoch > latest || entry.Weight.LastFire > max(now, 1) {
			return types.ErrInvalidGenesis.Wrapf("tip.Weights %d: epoch %d and last_fire %d, want at most %d and %d",
				i, entry.Weight.Epoch, entry.Weight.LastFire, latest, max(now, 1))
		}
		epoch := entry.Weight.Epoch
		if len(ofEpoch[epoch]) == 0 {
			epochs = append(epochs, epoch)
		}
		ofEpoch[epoch] = append(ofEpoch[epoch], change{actor: entry.Actor, next: entry.Weight})
	}
	for _, epoch := range epochs {
		if err := p.weights.write(ctx, epoch, 0, ofEpoch[epoch]); err != nil {
			return err
		}
	}
	return state.Settle(types.Unmetered(ctx), p.weights.records)
}

// ExportGenesis implements state.Component. What is forgotten is not exported, whether it has been removed yet or not. Nor does
// the lane's state, which is exported before, say how far the removal is: its oldest epoch is the first that counts.
func (p *Policy) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	all, err := p.weights.all(ctx)
	if err != nil {
		return err
	}
	tips := stateIn(&genesis.Lane)
	epoch := epochAt(&tips, max(types.HeightOf(ctx), tips.Start))
	all = slices.DeleteFunc(all, func(entry ActorWeight) bool { return isForgotten(&entry.Weight, epoch) })
	changeState(&genesis.Lane, func(s *State) {
		switch {
		case len(all) == 0:
			s.Oldest = 0
		case epoch > rules.ForgottenAfter:
			s.Oldest = epoch - rules.ForgottenAfter
		}
	})
	for chunk := range slices.Chunk(all, weightsInMessage) {
		genesis.AddPolicy(&Weights{Weights: chunk})
	}
	return nil
}

// CheckInvariants implements state.Component: every weight is within what any config allows, is of an epoch that has
// begun, and is listed under it. Who is listed under an epoch has a weight of that or a later one.
func (p *Policy) CheckInvariants(ctx context.Context) error {
	lane, err := p.parts.Lane.Get(ctx)
	if err != nil {
		return err
	}
	if err := p.weights.records.Check(types.Unmetered(ctx)); err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	all, err := p.weights.all(ctx)
	if err != nil {
		return err
	}
	epochOf := map[string]uint64{}
	tips, now := stateIn(&lane), types.HeightOf(ctx)
	for i := range all {
		actor, record := all[i].Actor, &all[i].Weight
		if err := record.Validate(); err != nil {
			return fmt.Errorf("weight of %s: %w", actor, err)
		}
		if record.Epoch < tips.Oldest || tips.Oldest == 0 || record.Epoch > epochAt(&tips, max(now, tips.Start)) || record.LastFire > now {
			return fmt.Errorf("weight of %s: epoch %d and last fire at %d, with the state %v at height %d",
				actor, record.Epoch, record.LastFire, tips, now)
		}
		epochOf[string(actor)] = record.Epoch
	}
	return p.checkLists(ctx, tips.Oldest, epochOf)
}

// checkLists checks the lists of epochs against the epochs of the records.
func (p *Policy) checkLists(ctx context.Context, oldest uint64, epochOf map[string]uint64) error {
	found := 0
	err := p.weights.epochs.Walk(ctx, nil, func(key epochList, value []byte) (bool, error) {
		actors, err := parseActors(value)
		if err != nil {
			return true, err
		}
		if len(actors) == 0 || len(actors) > listed || key.K1() < oldest {
			return true, fmt.Errorf("a list of %d actors under epoch %d, the oldest is %d", len(actors), key.K1(), oldest)
		}
		for _, actor := range actors {
			epoch, is := epochOf[string(actor)]
			if !is || epoch < key.K1() {
				return true, fmt.Errorf("epoch %d lists %s, whose weight is of epoch %d", key.K1(), actor, epoch)
			}
			if epoch == key.K1() {
				found++
			}
		}
		return false, nil
	})
	if err == nil && found != len(epochOf) {
		err = fmt.Errorf("epochs list %d weights, there are %d", found, len(epochOf))
	}
	return err
}

// epochAt is the epoch of a height, not before the start of the state's; 0 if the policy was never in force.
func epochAt(s *State, height uint64) uint64 {
	if s.EpochBlocks == 0 {
		return 0
	}
	return s.Epoch + (height-s.Start)/s.EpochBlocks
}

// endOf is the last height of the epoch of a height.
func endOf(s *State, height uint64) uint64 {
	return s.Start + ((height-s.Start)/s.EpochBlocks+1)*s.EpochBlocks - 1
}

// follow has epochs continue with another length, if it is another: from the height on, in a new epoch, so that what was
// counted with the old length stands.
func follow(s *State, epochBlocks, height uint64) {
	if s.EpochBlocks == epochBlocks {
		return
	}
	s.Epoch, s.Start, s.EpochBlocks = epochAt(s, max(height, s.Start+1)-1)+1, height, epochBlocks
}

// statsOf are what a record says of its epoch.
func statsOf(w *Weight) rules.EpochStats {
	return rules.EpochStats{
		Fires: w.Fires, Blocks: w.Blocks, Unfunded: w.Unfunded,
		Tip: w.Tip, Outcome: w.Outcome, Lateness: w.Lateness, Use: w.Use, Starved: w.Starved,
	}
}

// setStats has a record say this of its epoch.
func setStats(w *Weight, o rules.EpochStats) {
	w.Fires, w.Blocks, w.Unfunded = o.Fires, o.Blocks, o.Unfunded
	w.Tip, w.Outcome, w.Lateness, w.Use, w.Starved = o.Tip, o.Outcome, o.Lateness, o.Use, o.Starved
}

// historyOf is a record as the rule of weights reads it.
func historyOf(w *Weight) rules.History {
	return rules.History{Weight: w.Weight, Epoch: w.Epoch, Stats: statsOf(w)}
}
