package policies

import (
	"context"
	"fmt"
	"slices"

	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	_ state.Component   = (*Registry)(nil)
	_ state.TimerReader = (*Registry)(nil)
)

// InitGenesis implements state.Component: it refuses what a guest keeps that the chain has not registered, since that would be
// lost.
func (r *Registry) InitGenesis(_ context.Context, genesis *types.GenesisState) error {
	for _, packed := range slices.Concat(genesis.Lane.Policies, genesis.Policies) {
		if !r.keeps(packed.TypeUrl) {
			return types.ErrInvalidGenesis.Wrapf("policies: this chain has registered nothing that keeps %s", packed.TypeUrl)
		}
	}
	return nil
}

// keeps reports whether a guest of the chain keeps messages of a type.
func (r *Registry) keeps(typeURL string) bool {
	return slices.ContainsFunc(r.guests, func(g Guest) bool {
		return slices.ContainsFunc(g.Messages().State, func(state types.PolicyState) bool { return urlOf(state) == typeURL })
	})
}

// ExportGenesis implements state.Component: the guests export what they keep. What the lane's state still carries of a guest that a
// binary before had is left out, as Complete leaves out its parameters: no chain with this binary would take it.
func (r *Registry) ExportGenesis(_ context.Context, genesis *types.GenesisState) error {
	genesis.Lane.Policies = slices.DeleteFunc(slices.Clone(genesis.Lane.Policies), func(packed *codectypes.Any) bool { return !r.keeps(packed.TypeUrl) })
	return nil
}

// ReadTimers implements state.TimerReader. The module's account must hold the sum of the bids that the records state as
// locked, and the policy that returns them must be registered.
func (r *Registry) ReadTimers(ctx context.Context, head *types.GenesisState) state.TimerReading {
	locked := math.ZeroInt()
	returns := slices.ContainsFunc(r.policies, Policy.ReturnsLocked)
	return state.TimerReading{
		Timer: func(i int, t *types.Timer) error {
			if of := t.Locked(); !returns && of.IsPositive() {
				return types.ErrInvalidGenesis.Wrapf("timers[%d] has locked %s: this chain has registered no policy that returns it", i, of)
			}
			locked = locked.Add(t.Locked())
			return nil
		},
		Done: func() error {
			if err := r.checkHeld(ctx, &head.Config, locked); err != nil {
				return types.ErrInvalidGenesis.Wrapf("%v, and the genesis of bank before that of %s", err, types.ModuleName)
			}
			return nil
		},
	}
}

// CheckInvariants implements state.Component.
func (r *Registry) CheckInvariants(ctx context.Context) error {
	config, err := r.parts.Configs.Get(ctx)
	if err != nil {
		return err
	}
	locked := math.ZeroInt()
	err = r.parts.Records.Walk(ctx, func(t *types.Timer) error {
		locked = locked.Add(t.Locked())
		return nil
	})
	if err != nil {
		return err
	}
	return r.checkHeld(ctx, &config, locked)
}

// checkHeld: the module's account holds what timers have locked, and nothing else.
func (r *Registry) checkHeld(ctx context.Context, config *types.TimerConfig, locked math.Int) error {
	if held := r.parts.Fees.Held(ctx, config); !held.Amount.Equal(locked) {
		return fmt.Errorf("the module's account %s holds %s, its timers have locked %s (bid_locked): want as much",
			r.parts.Addresses.Text(r.parts.Fees.Account), held, locked)
	}
	return nil
}
