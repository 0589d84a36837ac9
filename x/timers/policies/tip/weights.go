package tip

import (
	"context"
	"fmt"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	rules "github.com/cosmos-timers/timers/x/timers/policy/tip"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// weights are those of actors. A weight is computed when it is needed, from the record of the last epoch in which its
// actor had anything to score. So nothing is written for actors without fires, and no block pays for the end of an
// epoch. A record is written when its actor fires. Old records are removed, a bounded number a block.
type weights struct {
	// weights: actor → weight and the statistics of its epoch. Written when the actor fires.
	weights collections.Map[sdk.AccAddress, types.TipWeight]
	// epochs: (epoch, actor) of every weight, so that the oldest are found.
	epochs collections.KeySet[epochActor]
}

type epochActor = collections.Pair[uint64, sdk.AccAddress]

// get reads the record of an actor, nil if there is none.
func (w *weights) get(ctx context.Context, actor sdk.AccAddress) (*types.TipWeight, error) {
	record, found, err := state.Find(ctx, w.weights, actor)
	if err != nil || !found {
		return nil, err
	}
	return &record, nil
}

// set writes an actor's record. before is the old record, nil if there was none.
func (w *weights) set(ctx context.Context, actor sdk.AccAddress, before *types.TipWeight, next types.TipWeight) error {
	if before == nil || before.Epoch != next.Epoch {
		if before != nil {
			if err := w.epochs.Remove(ctx, collections.Join(before.Epoch, actor)); err != nil {
				return err
			}
		}
		if err := w.epochs.Set(ctx, collections.Join(next.Epoch, actor)); err != nil {
			return err
		}
	}
	return w.weights.Set(ctx, actor, next)
}

// drop removes records so old that their actors' weights are neutral, SWEEP_PER_BLOCK a block, whatever policy is in
// force. It reads nothing while none can be that old.
func (w *weights) drop(ctx sdk.Context, b *policies.Block) error {
	market := &b.State.TipMarket
	epoch := epochAt(market, b.Height)
	if market.Oldest == 0 || market.Oldest+rules.ForgottenAfter >= epoch {
		return nil
	}
	keepFrom := epoch - rules.ForgottenAfter
	old := make([]epochActor, 0, 8)
	market.Oldest = 0
	ranger := new(collections.Range[epochActor]).
		StartInclusive(collections.PairPrefix[uint64, sdk.AccAddress](b.Before.TipMarket.Oldest))
	err := w.epochs.Walk(ctx, ranger, func(key epochActor) (bool, error) {
		if key.K1() >= keepFrom || len(old) == int(b.Config.SweepPerBlock) {
			market.Oldest = key.K1()
			return true, nil
		}
		old = append(old, key)
		return false, nil
	})
	if err != nil {
		return err
	}
	for _, key := range old {
		if err := w.epochs.Remove(ctx, key); err != nil {
			return err
		}
		if err := w.weights.Remove(ctx, key.K2()); err != nil {
			return err
		}
	}
	return nil
}

// InitGenesis implements state.Component: it writes the weights of a genesis file; which epochs they are of is derived.
func (p *Policy) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	now, market := types.HeightOf(ctx), &genesis.Lane.TipMarket
	if market.Start > now+1 {
		return types.ErrInvalidGenesis.Wrapf("lane.tip_market.start is %d, want at most %d", market.Start, now+1)
	}
	latest := market.Epoch
	if now > market.Start {
		latest = epochAt(market, now)
	}
	if market.Oldest > latest {
		return types.ErrInvalidGenesis.Wrapf("lane.tip_market.oldest is epoch %d, want at most %d", market.Oldest, latest)
	}
	for i := range genesis.TipWeights {
		entry := &genesis.TipWeights[i]
		// A fire from before the first block of a chain that went back counts for that block (genesis.Source, Rebase).
		if entry.Weight.Epoch > latest || entry.Weight.LastFire > max(now, 1) {
			return types.ErrInvalidGenesis.Wrapf("tip_weights %d: epoch %d and last_fire %d, want at most %d and %d",
				i, entry.Weight.Epoch, entry.Weight.LastFire, latest, max(now, 1))
		}
		if err := p.weights.set(ctx, entry.Actor, nil, entry.Weight); err != nil {
			return err
		}
	}
	return nil
}

// ReadTimers implements state.TimerReader: no timer is unfunded since a future height.
func (p *Policy) ReadTimers(ctx context.Context, _ *types.GenesisState) state.TimerReading {
	now := types.HeightOf(ctx)
	return state.TimerReading{Timer: func(i int, t *types.Timer) error {
		if t.UnfundedSince > now {
			return types.ErrInvalidGenesis.Wrapf("timer %d is unfunded since height %d, now is %d", i, t.UnfundedSince, now)
		}
		return nil
	}}
}

// ExportGenesis implements state.Component.
func (p *Policy) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	return p.weights.weights.Walk(ctx, nil, func(actor sdk.AccAddress, weight types.TipWeight) (bool, error) {
		genesis.TipWeights = append(genesis.TipWeights, types.ActorTipWeight{Actor: actor, Weight: weight})
		return false, nil
	})
}

// CheckInvariants implements state.Component: every weight is within what any config allows, is of an epoch that has
// begun, and is listed under it once. No other actor is listed. No timer is unfunded since a future height.
func (p *Policy) CheckInvariants(ctx context.Context) error {
	lane, err := p.parts.Lane.Get(ctx)
	if err != nil {
		return err
	}
	listed := 0
	err = p.weights.epochs.Walk(ctx, nil, func(key epochActor) (bool, error) {
		listed++
		record, err := p.weights.weights.Get(ctx, key.K2())
		if err != nil || record.Epoch != key.K1() {
			return true, fmt.Errorf("epoch %d lists %s, whose weight is of epoch %d: %w", key.K1(), key.K2(), record.Epoch, err)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	market, now := lane.TipMarket, types.HeightOf(ctx)
	err = p.weights.weights.Walk(ctx, nil, func(actor sdk.AccAddress, record types.TipWeight) (bool, error) {
		listed--
		if err := record.Validate(); err != nil {
			return true, fmt.Errorf("weight of %s: %w", actor, err)
		}
		if record.Epoch < market.Oldest || market.Oldest == 0 || record.Epoch > epochAt(&market, max(now, market.Start)) || record.LastFire > now {
			return true, fmt.Errorf("weight of %s: epoch %d and last fire at %d, with the state %v at height %d",
				actor, record.Epoch, record.LastFire, market, now)
		}
		return false, nil
	})
	if err == nil && listed != 0 {
		err = fmt.Errorf("epochs list %d weights more than there are", listed)
	}
	if err != nil {
		return err
	}
	return p.checkUnfunded(ctx, now)
}

func (p *Policy) checkUnfunded(ctx context.Context, now uint64) error {
	timers, err := p.parts.Records.All(ctx)
	for i := range timers {
		if timers[i].UnfundedSince > now {
			return fmt.Errorf("timer %s is unfunded since height %d, now is %d", timers[i].IDHex(), timers[i].UnfundedSince, now)
		}
	}
	return err
}
