package engine

import (
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxReserved bounds the timers of reserved actors that a block reads: more than a share of the default lane can fire.
const maxReserved = 64

// fireReserved tries the ready timers of RESERVED_ACTORS before all others, in the policy's order, while they used less
// than RESERVED_SHARE of the lane. The last of them may exceed the share. They pay like all others. What they leave of
// the share goes to all (x/timers/README.md, "1.6 Lane").
func (e *Engine) fireReserved(ctx sdk.Context, b *block) error {
	share := b.Config.ReservedShare.MulInt(math.NewIntFromUint64(b.Lane.Cycles)).TruncateInt().Uint64()
	if share == 0 || b.Competing == 0 && !b.Storm {
		return nil
	}
	timers, err := e.reservedReady(ctx, b)
	if err != nil {
		return err
	}
	candidates := make([]market.Candidate, len(timers))
	for i := range timers {
		candidates[i] = b.round.Candidate(ctx, &timers[i])
	}
	for _, i := range b.rules.Order(b.Prices, candidates) {
		if b.Lane.UsedSize >= share {
			break
		}
		if !b.round.Withdraw(&timers[i]) {
			b.Competing++
		}
		if err := e.try(ctx, b, policies.Turn{Timer: &timers[i], Reserved: true}); err != nil {
			return err
		}
	}
	return nil
}

// reservedReady are the ready timers of reserved actors that can fire, the oldest of them.
func (e *Engine) reservedReady(ctx sdk.Context, b *block) ([]types.Timer, error) {
	actors, err := e.reservedActors(&b.Config)
	if err != nil {
		return nil, err
	}
	var due []state.Entry
	for _, actor := range actors {
		entries, err := e.Owners.Of(ctx, actor)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.Due > 0 && entry.Due <= b.Height {
				due = append(due, entry)
			}
		}
	}
	slices.SortFunc(due, func(a, b state.Entry) int {
		return state.KeyOf(a.Due, a.Seq).Compare(state.KeyOf(b.Due, b.Seq))
	})
	var ready []types.Timer
	for _, entry := range due[:min(len(due), maxReserved)] {
		t, found, err := e.Records.InQueue(ctx, state.KeyOf(entry.Due, entry.Seq))
		if err != nil {
			return nil, err
		}
		if found && !t.ExpiredAt(b.Now()) && e.Policies.Runnable(&b.Config, b.Height, &t) {
			ready = append(ready, t)
		}
	}
	return ready, nil
}

// CheckConfig refuses a config whose policy is not of this chain, or whose reserved actors are no addresses of it.
func (e *Engine) CheckConfig(config *types.TimerConfig) error {
	if err := e.Policies.Validate(config); err != nil {
		return err
	}
	_, err := e.reservedActors(config)
	return err
}

// reservedActors are RESERVED_ACTORS, or the authority if there are none.
func (e *Engine) reservedActors(config *types.TimerConfig) ([]sdk.AccAddress, error) {
	if len(config.ReservedActors) == 0 {
		return []sdk.AccAddress{e.Authority}, nil
	}
	actors := make([]sdk.AccAddress, len(config.ReservedActors))
	for i, text := range config.ReservedActors {
		var err error
		if actors[i], err = e.Addresses.StringToBytes(text); err != nil {
			return nil, types.ErrInvalidConfig.Wrapf("reserved_actors: %.120q is no address of this chain", text)
		}
	}
	return actors, nil
}
