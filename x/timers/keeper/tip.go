package keeper

import (
	"context"
	"fmt"
	"slices"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/policy/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds what policy tip keeps and does beside ranking (SPEC §6): weights of actors by epoch, timers that wait for
// their payer, and a window in which nobody can stand for ever.
//
// A weight follows from the record of the last epoch in which its actor had anything to score, so that nothing is written
// for those who wait or rest, and no block pays for the end of an epoch. A record is written when its actor fires; the next
// epoch's weight is reckoned when somebody asks for it. Records that say nothing any more are removed, bounded.

// maxFundChecks is how many unfunded timers a block looks at to see whether their payers can cover them again. They take
// turns.
const maxFundChecks = 16

// tipState is what policy tip stores.
type tipState struct {
	// tipWeights: actor → weight and what there is to score. Written when the actor fires.
	tipWeights collections.Map[sdk.AccAddress, types.TipWeight]
	// tipEpochs: (epoch, actor) of every weight, so that the oldest are found.
	tipEpochs collections.KeySet[collections.Pair[uint64, sdk.AccAddress]]
}

func newTipState(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) tipState {
	return tipState{
		tipWeights: collections.NewMap(sb, types.PrefixTipWeights, "tip_weights", sdk.AccAddressKey, codec.CollValue[types.TipWeight](cdc)),
		tipEpochs: collections.NewKeySet(sb, types.PrefixTipEpochs, "tip_epochs",
			collections.PairKeyCodec(collections.Uint64Key, sdk.AccAddressKey)),
	}
}

// tipBlock is what a block under policy tip knows besides.
type tipBlock struct {
	epoch    uint64
	weighing tip.WeightRule
	// records that were read, by actor; nil for none. Looked up, never ranged over.
	records map[string]*types.TipWeight
	// noted is what this block adds to an actor's record; actors names them in the order in which they came.
	noted  map[string]*tipNote
	actors []sdk.AccAddress
}

// tipNote is what a block adds to an actor's record.
type tipNote struct {
	fires    []tip.Fire
	cycles   uint64
	unfunded uint64
	starved  bool
}

// openTip prepares a block under policy tip, and begins an epoch if the length of epochs changed.
func (b *block) openTip() {
	if b.config.PolicyAt(b.height) != types.PolicyTip {
		return
	}
	b.state.TipMarket.Follow(b.config.TipEpochBlocks, b.height)
	b.tip = &tipBlock{
		epoch: b.state.TipMarket.EpochAt(b.height), weighing: b.config.Weighing(),
		records: map[string]*types.TipWeight{}, noted: map[string]*tipNote{},
	}
}

// tipRecord reads what is kept of an actor, nil if it is nothing.
func (k *Keeper) tipRecord(ctx context.Context, b *block, actor sdk.AccAddress) (*types.TipWeight, error) {
	if record, known := b.tip.records[string(actor)]; known {
		return record, nil
	}
	record, found, err := find(ctx, k.state.tipWeights, actor)
	if err != nil {
		return nil, err
	}
	b.tip.records[string(actor)] = nil
	if found {
		b.tip.records[string(actor)] = &record
	}
	return b.tip.records[string(actor)], nil
}

// weightIn is an actor's weight in an epoch, from its record.
func weightIn(w tip.WeightRule, record *types.TipWeight, epoch uint64) math.LegacyDec {
	if record == nil {
		return w.Neutral
	}
	return w.WeightIn(record.History(), epoch)
}

// tipWeightOf is the actor's weight in this block, in tip.WeightUnits: the epoch's, or the starvation floor if that is more
// and one of its timers waits. A record that can't be read weighs least.
func (k *Keeper) tipWeightOf(ctx context.Context, b *block, actor sdk.AccAddress) uint32 {
	if weight, known := b.weights[string(actor)]; known {
		return weight
	}
	weight := b.tip.weighing.Min
	if record, err := k.tipRecord(ctx, b, actor); err == nil {
		weight = weightIn(b.tip.weighing, record, b.tip.epoch)
	}
	b.weights[string(actor)] = tip.Units(weight)
	return b.weights[string(actor)]
}

// prepareTip looks after timers that wait for their payers, and raises the weights of starved actors, before the candidates
// are ranked.
func (k *Keeper) prepareTip(ctx sdk.Context, b *block) {
	if b.tip == nil {
		return
	}
	k.checkFunds(ctx, b)
	for i := range b.ready {
		t := &b.ready[i]
		weight := k.tipWeightOf(ctx, b, t.Actor)
		if floor := tip.Units(b.tip.weighing.Floor); weight < floor && k.starves(ctx, b, t) {
			b.weights[string(t.Actor)] = floor
		}
	}
}

// starves tells whether a ready timer that competes shows that its actor is starved: it is due for so long, and nothing of
// the actor's fired meanwhile. A whale whose timers fire one by one is not.
func (k *Keeper) starves(ctx sdk.Context, b *block, t *types.Timer) bool {
	record, err := k.tipRecord(ctx, b, t.Actor)
	if err != nil || t.UnfundedSince > 0 || !b.tip.weighing.Starved(t.Due, lastFire(record), b.height) {
		return false
	}
	_, willing := b.policy.Price(b.prices, k.candidateOf(ctx, b, t))
	return willing
}

func lastFire(record *types.TipWeight) uint64 {
	if record == nil {
		return 0
	}
	return record.LastFire
}

// checkFunds looks whether the payers of maxFundChecks unfunded timers of the window can cover them again, in turns by seq;
// those compete from this block on.
func (k *Keeper) checkFunds(ctx sdk.Context, b *block) {
	var waiting []int
	for i := range b.ready {
		if b.ready[i].UnfundedSince > 0 {
			waiting = append(waiting, i)
		}
	}
	slices.SortFunc(waiting, func(i, j int) int { return compareSeq(&b.ready[i], &b.ready[j]) })
	first, _ := slices.BinarySearchFunc(waiting, b.state.TipMarket.Checked+1, func(i int, seq uint64) int {
		return compareSeq(&b.ready[i], &types.Timer{Seq: seq})
	})
	for n := range min(len(waiting), maxFundChecks) {
		t := &b.ready[waiting[(first+n)%len(waiting)]]
		b.state.TipMarket.Checked = t.Seq
		if done := k.guard(ctx, b, t, func(ctx sdk.Context) error { return k.checkFundsOf(ctx, b, t) }); !done {
			b.left++
		}
	}
}

// checkFundsOf has a timer compete again if its payer can cover it at this block's prices.
func (k *Keeper) checkFundsOf(ctx sdk.Context, b *block, t *types.Timer) error {
	price, willing := b.policy.Price(b.prices, k.candidateOf(ctx, b, t))
	if !willing || !k.covers(ctx, b, t, price.Cost(t.GasLimit, b.config.MaxCellsPerFire)) {
		return nil
	}
	t.UnfundedSince = 0
	return k.put(ctx, t)
}

// deferUnfunded lets a timer wait whose payer can't cover the pre-charge: under tip, lack of funds defers (SPEC §6). It
// competes no more until the payer is found to cover it, so that it costs one try. The GC lane bounds how many are so
// marked in a block; what is beyond it stays as it is. An owner who asked for suspension gets that.
func (k *Keeper) deferUnfunded(ctx sdk.Context, b *block, t *types.Timer, required math.Int) {
	if b.cleanup.Left() == 0 {
		return
	}
	b.note(t.Actor).unfunded++
	if t.OnUnfunded == types.OnUnfundedSuspend {
		k.removeUnfunded(ctx, b, t, required)
		return
	}
	b.cleanup.Take()
	available := k.bank.SpendableCoin(ctx, t.Payer(), b.config.FeeDenom).Amount
	done := k.guard(ctx, b, t, func(ctx sdk.Context) error {
		t.UnfundedSince = b.height
		if err := k.put(ctx, t); err != nil {
			return err
		}
		return k.emit(ctx, &types.TimerDeferredInsufficientFunds{
			Id: t.IDHex(), Actor: k.bech32(t.Actor), Payer: k.bech32(t.Payer()),
			Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
		})
	})
	if !done {
		b.left++
	}
}

// note is what this block adds to the actor's record.
func (b *block) note(actor sdk.AccAddress) *tipNote {
	note := b.tip.noted[string(actor)]
	if note == nil {
		note = &tipNote{}
		b.tip.noted[string(actor)] = note
		b.tip.actors = append(b.tip.actors, actor)
	}
	return note
}

// noteFire notes a fire for its actor's score.
func (b *block) noteFire(t *types.Timer, result fireResult) {
	if b.tip == nil {
		return
	}
	note := b.note(t.Actor)
	note.fires = append(note.fires, tip.Fire{
		Tip: result.price.Priority, P50: b.prices.P50, Success: result.receipt.Success, Late: b.height - t.Due,
	})
	note.cycles += result.receipt.Cycles
	if b.tip.weighing.Starved(t.Due, lastFire(b.tip.records[string(t.Actor)]), b.height) {
		note.starved = true
	}
}

// scoreActors writes what this block adds to the records of its actors. A record that can't be read stays as it is: it
// concerns that actor alone.
func (k *Keeper) scoreActors(ctx sdk.Context, b *block) error {
	if b.tip == nil {
		return nil
	}
	for _, actor := range b.tip.actors {
		record, err := k.tipRecord(ctx, b, actor)
		if err != nil {
			ctx.Logger().Error("can't score an actor", "module", types.ModuleName, "actor", actor, "err", err)
			continue
		}
		if err := k.score(ctx, b, actor, record); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) score(ctx context.Context, b *block, actor sdk.AccAddress, record *types.TipWeight) error {
	next := types.TipWeight{Weight: weightIn(b.tip.weighing, record, b.tip.epoch), Epoch: b.tip.epoch, LastFire: lastFire(record)}
	observed := tip.NoStats()
	if record != nil && record.Epoch == b.tip.epoch {
		observed = record.Observed()
	}
	note := b.tip.noted[string(actor)]
	observed.Unfunded += note.unfunded
	observed.Starved = observed.Starved || note.starved
	for _, fire := range note.fires {
		b.tip.weighing.Fire(&observed, fire)
	}
	if len(note.fires) > 0 {
		b.tip.weighing.EndBlock(&observed, note.cycles, b.config.LaneTimerCycles)
		next.LastFire = b.height
	}
	next.Observe(observed)
	if record == nil || record.Epoch != next.Epoch {
		if record != nil {
			if err := k.state.tipEpochs.Remove(ctx, collections.Join(record.Epoch, actor)); err != nil {
				return err
			}
		}
		if err := k.state.tipEpochs.Set(ctx, collections.Join(next.Epoch, actor)); err != nil {
			return err
		}
	}
	if b.state.TipMarket.Oldest == 0 {
		b.state.TipMarket.Oldest = next.Epoch
	}
	return k.state.tipWeights.Set(ctx, actor, next)
}

// forgetTips removes records so old that they say nothing, SWEEP_PER_BLOCK a block, whatever policy is in force. It reads
// nothing while none can be that old.
func (k *Keeper) forgetTips(ctx sdk.Context, b *block) error {
	state := &b.state.TipMarket
	epoch := state.EpochAt(b.height)
	if state.Oldest == 0 || state.Oldest+tip.ForgottenAfter >= epoch {
		return nil
	}
	keepFrom := epoch - tip.ForgottenAfter
	old := make([]collections.Pair[uint64, sdk.AccAddress], 0, 8)
	state.Oldest = 0
	ranger := new(collections.Range[collections.Pair[uint64, sdk.AccAddress]]).
		StartInclusive(collections.PairPrefix[uint64, sdk.AccAddress](b.before.TipMarket.Oldest))
	err := k.state.tipEpochs.Walk(ctx, ranger, func(key collections.Pair[uint64, sdk.AccAddress]) (bool, error) {
		if key.K1() >= keepFrom || len(old) == int(b.config.SweepPerBlock) {
			state.Oldest = key.K1()
			return true, nil
		}
		old = append(old, key)
		return false, nil
	})
	if err != nil {
		return err
	}
	for _, key := range old {
		if err := k.state.tipEpochs.Remove(ctx, key); err != nil {
			return err
		}
		if err := k.state.tipWeights.Remove(ctx, key.K2()); err != nil {
			return err
		}
	}
	return nil
}

// shareWindow divides the window where more is ready than it holds: half for the oldest, a quarter for what became due in
// this block, and a quarter that goes round all the others, so that every timer comes to compete. Were the window the oldest
// alone, timers that wait for ever, for a lower price or for their payers, would shut out everybody else.
func (k *Keeper) shareWindow(ctx sdk.Context, b *block, reached calendar.Key, complete bool) error {
	if b.tip == nil {
		return nil
	}
	if complete {
		b.state.TipMarket.Round = types.QueueKey{}
		return nil
	}
	window := b.config.CandidateWindow
	fresh, round := window/4, max(1, window/4)
	if oldest := int(window - fresh - round); len(b.ready) > oldest {
		reached = keyOf(b.ready[oldest].Due, b.ready[oldest].Seq)
		b.ready = b.ready[:oldest]
	}
	now := calendar.Key{Due: b.height}
	from := calendarKey(b.state.TipMarket.Round)
	if from.Compare(reached) < 0 {
		from = reached
	}
	next, err := k.addReady(ctx, b, from, now, round)
	if err != nil {
		return err
	}
	b.state.TipMarket.Round = queueKey(next)
	if next.Compare(now) >= 0 {
		b.state.TipMarket.Round = types.QueueKey{}
	}
	if now.Compare(reached) < 0 {
		now = reached
	}
	_, err = k.addReady(ctx, b, now, calendar.Key{Due: b.height + 1}, fresh)
	return err
}

// addReady adds most timers that can fire to those that compete, from a key to another, and returns where it stopped. It reads
// no more than twice as many; those that expired the sweep gets.
func (k *Keeper) addReady(ctx sdk.Context, b *block, from, to calendar.Key, most uint32) (calendar.Key, error) {
	left, reads := most, 2*most
	found, next, _, err := k.calendar.Page(ctx, from, b.height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		switch {
		case left == 0 || reads == 0 || e.Key.Compare(to) >= 0:
			return calendar.Stop
		case e.Value.ExpiredAt(b.height):
			reads--
			return calendar.Pass
		default:
			reads--
			left--
			return calendar.Take
		}
	})
	b.ready = appendTimers(b.ready, found)
	return next, err
}

// tipStanding is what queries show of an actor's weight in the next block.
func (k *Keeper) tipStanding(
	ctx context.Context, config *types.TimerConfig, lane *types.LaneState, actor sdk.AccAddress,
) (*types.TipStanding, error) {
	height := heightOf(ctx) + 1
	if config.PolicyAt(height) != types.PolicyTip {
		return nil, nil
	}
	record, found, err := find(ctx, k.state.tipWeights, actor)
	if err != nil {
		return nil, err
	}
	state, w := lane.TipMarket, config.Weighing()
	state.Follow(config.TipEpochBlocks, height)
	standing := &types.TipStanding{Epoch: state.EpochAt(height), EpochEnds: state.EndOf(height)}
	if !found {
		standing.Weight, standing.Next = w.Neutral.String(), w.Neutral.String()
		return standing, nil
	}
	standing.Weight = w.WeightIn(record.History(), standing.Epoch).String()
	standing.Next = w.WeightIn(record.History(), standing.Epoch+1).String()
	standing.LastFire = record.LastFire
	if record.Epoch == standing.Epoch {
		standing.Score, standing.Fires, standing.Unfunded = w.Score(record.Observed()).String(), record.Fires, record.Unfunded
	}
	return standing, nil
}

func compareSeq(a, b *types.Timer) int {
	switch {
	case a.Seq < b.Seq:
		return -1
	case a.Seq > b.Seq:
		return 1
	default:
		return 0
	}
}

// initTips writes the weights of a genesis file; which epochs they are of is derived.
func (k *Keeper) initTips(ctx context.Context, genesis *types.GenesisState) error {
	now, state := heightOf(ctx), &genesis.Lane.TipMarket
	if state.Start > now+1 {
		return types.ErrInvalidGenesis.Wrapf("lane.tip_market.start is %d, want at most %d", state.Start, now+1)
	}
	latest := state.Epoch
	if now > state.Start {
		latest = state.EpochAt(now)
	}
	if state.Oldest > latest {
		return types.ErrInvalidGenesis.Wrapf("lane.tip_market.oldest is epoch %d, want at most %d", state.Oldest, latest)
	}
	for i := range genesis.TipWeights {
		entry := &genesis.TipWeights[i]
		if entry.Weight.Epoch > latest || entry.Weight.LastFire > now {
			return types.ErrInvalidGenesis.Wrapf("tip_weights %d: epoch %d and last_fire %d, want at most %d and %d",
				i, entry.Weight.Epoch, entry.Weight.LastFire, latest, now)
		}
		if err := k.state.tipWeights.Set(ctx, entry.Actor, entry.Weight); err != nil {
			return err
		}
		if err := k.state.tipEpochs.Set(ctx, collections.Join(entry.Weight.Epoch, sdk.AccAddress(entry.Actor))); err != nil {
			return err
		}
	}
	return nil
}

// exportTips adds the weights of policy tip.
func (k *Keeper) exportTips(ctx context.Context, genesis *types.GenesisState) error {
	return k.state.tipWeights.Walk(ctx, nil, func(actor sdk.AccAddress, weight types.TipWeight) (bool, error) {
		genesis.TipWeights = append(genesis.TipWeights, types.ActorTipWeight{Actor: actor, Weight: weight})
		return false, nil
	})
}

// estimateWeight is the weight with which a timer of the actor would compete, and one by which it shows: of nobody in
// particular, that of somebody of whom nothing is known.
func (k *Keeper) estimateWeight(ctx context.Context, b *block, actor sdk.AccAddress) (uint32, math.LegacyDec) {
	switch {
	case b.tip != nil:
		weight := tip.Units(b.tip.weighing.Neutral)
		if actor != nil {
			weight = k.tipWeightOf(ctx, b, actor)
		}
		return weight, math.LegacyNewDec(int64(weight)).QuoInt64(tip.WeightUnits)
	default:
		weight := b.config.WeightBounds().Max
		if actor != nil {
			weight = k.weightOf(ctx, b, actor)
		}
		return weight, weightDec(weight)
	}
}

// checkTips is an invariant: every weight is within what any config allows, of an epoch that has begun, and listed under it
// once; nothing else is listed.
func (k *Keeper) checkTips(ctx context.Context) error {
	lane, err := k.state.lane.Get(ctx)
	if err != nil {
		return err
	}
	state, now := lane.TipMarket, heightOf(ctx)
	listed := 0
	err = k.state.tipEpochs.Walk(ctx, nil, func(key collections.Pair[uint64, sdk.AccAddress]) (bool, error) {
		listed++
		record, err := k.state.tipWeights.Get(ctx, key.K2())
		if err != nil || record.Epoch != key.K1() {
			return true, fmt.Errorf("epoch %d lists %s, whose weight is of epoch %d: %w", key.K1(), key.K2(), record.Epoch, err)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	err = k.state.tipWeights.Walk(ctx, nil, func(actor sdk.AccAddress, record types.TipWeight) (bool, error) {
		listed--
		if err := record.Validate(); err != nil {
			return true, fmt.Errorf("weight of %s: %w", actor, err)
		}
		if record.Epoch < state.Oldest || state.Oldest == 0 || record.Epoch > state.EpochAt(max(now, state.Start)) || record.LastFire > now {
			return true, fmt.Errorf("weight of %s: epoch %d and last fire at %d, with the state %v at height %d",
				actor, record.Epoch, record.LastFire, state, now)
		}
		return false, nil
	})
	if err == nil && listed != 0 {
		err = fmt.Errorf("epochs list %d weights more than there are", listed)
	}
	return err
}
