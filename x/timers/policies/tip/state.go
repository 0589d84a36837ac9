package tip

import (
	"bytes"
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// stateIn is what the policy carries from block to block.
func stateIn(lane *types.LaneState) State {
	if state := types.MessageOf[State](lane.Policies); state != nil {
		return *state
	}
	return State{}
}

// changeState changes what the policy carries.
func changeState(lane *types.LaneState, change func(*State)) {
	before := stateIn(lane)
	after := before
	if change(&after); after != before {
		lane.SetPolicy(&after)
	}
}

// Validate implements types.PolicyState: no epoch yet, or both its number and its length.
func (s *State) Validate(*types.GenesisState) error {
	if (s.Epoch == 0) != (s.EpochBlocks == 0) || s.EpochBlocks > maxBlocks || s.Epoch > types.MaxBlocks {
		return types.ErrInvalidGenesis.Wrapf("tip.State: epoch %d of %d blocks; want both 0, or up to %d and %d",
			s.Epoch, s.EpochBlocks, types.MaxBlocks, maxBlocks)
	}
	return nil
}

// MovedBack implements types.PolicyState: the epoch of the last block continues, from its beginning.
func (s *State) MovedBack(last, first uint64) types.PolicyState {
	moved := *s
	if moved.EpochBlocks > 0 {
		moved.Epoch += (last - min(last, moved.Start)) / moved.EpochBlocks
		moved.Start = first
	}
	return &moved
}

// Validate implements types.PolicyState: records in the order of their actors, of epochs that are kept.
func (w *Weights) Validate(head *types.GenesisState) error {
	state := stateIn(&head.Lane)
	for i := range w.Weights {
		entry := &w.Weights[i]
		if err := sdk.VerifyAddressFormat(entry.Actor); err != nil {
			return types.ErrInvalidGenesis.Wrapf("tip.Weights %d: actor: %s", i, err)
		}
		if err := entry.Weight.Validate(); err != nil {
			return types.ErrInvalidGenesis.Wrapf("tip.Weights %d: %s", i, err)
		}
		if state.Oldest == 0 || entry.Weight.Epoch < state.Oldest {
			return types.ErrInvalidGenesis.Wrapf("tip.Weights %d: epoch %d is before oldest %d of tip.State", i, entry.Weight.Epoch, state.Oldest)
		}
	}
	return w.checkOrder(head)
}

// weightsInMessage is how many records a message of an exported genesis has at most.
const weightsInMessage = 1_000

// WeightsIn returns the records in a genesis.
func WeightsIn(g *types.GenesisState) (all []ActorWeight) {
	for _, kept := range types.PoliciesOf[Weights](g) {
		all = append(all, kept.Weights...)
	}
	return all
}

// checkOrder: the records are in the order of their actors, and those of the message before come before them.
func (w *Weights) checkOrder(head *types.GenesisState) error {
	var last []byte
	for _, kept := range types.PoliciesOf[Weights](head) {
		if kept == w {
			break
		}
		if n := len(kept.Weights); n > 0 {
			last = kept.Weights[n-1].Actor
		}
	}
	for i := range w.Weights {
		if actor := w.Weights[i].Actor; bytes.Compare(last, actor) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("tip.Weights %d: not above the one before by actor", i)
		}
		last = w.Weights[i].Actor
	}
	return nil
}

// MovedBack implements types.PolicyState: an actor's last fire before the first block counts for that block.
func (w *Weights) MovedBack(last, first uint64) types.PolicyState {
	moved := &Weights{Weights: slices.Clone(w.Weights)}
	for i := range moved.Weights {
		if weight := &moved.Weights[i].Weight; weight.LastFire > 0 {
			weight.LastFire = max(1, weight.LastFire-min(weight.LastFire, last+1-first))
		}
	}
	return moved
}

// Validate checks a record by itself: a weight within what any config allows, and sums within what they sum up.
func (w *Weight) Validate() error {
	for _, b := range []struct {
		name  string
		value math.LegacyDec
		most  uint64
	}{
		{"weight", w.Weight, 1},
		{"tip", w.Tip, w.Fires},
		{"outcome", w.Outcome, w.Fires},
		{"lateness", w.Lateness, w.Fires},
		{"use", w.Use, w.Blocks},
	} {
		if b.value.IsNil() {
			return types.ErrInvalidGenesis.Wrapf("%s is missing", b.name)
		}
		if most := math.LegacyNewDecFromInt(math.NewIntFromUint64(b.most)); b.value.IsNegative() || b.value.GT(most) {
			return types.ErrInvalidGenesis.Wrapf("%s is %s, want 0 to %s", b.name, b.value, most)
		}
	}
	switch {
	case w.Fires > types.MaxUnits || w.Unfunded > types.MaxUnits:
		return types.ErrInvalidGenesis.Wrapf("%d fires and %d unfunded, want at most %d of each", w.Fires, w.Unfunded, types.MaxUnits)
	case w.Blocks > w.Fires || w.Fires > 0 && w.Blocks == 0:
		return types.ErrInvalidGenesis.Wrapf("%d blocks with %d fires", w.Blocks, w.Fires)
	case w.Fires == 0 && w.Unfunded == 0:
		return types.ErrInvalidGenesis.Wrap("nothing to score: no fires, none unfunded")
	case w.Fires > 0 && w.LastFire == 0:
		return types.ErrInvalidGenesis.Wrapf("last_fire is 0 after %d fires", w.Fires)
	case w.Epoch == 0:
		return types.ErrInvalidGenesis.Wrap("epoch is 0, want at least 1")
	}
	return nil
}
