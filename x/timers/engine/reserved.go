package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// tryReserved tries the ready timers of RESERVED_ACTORS before all others, in the policy's order, while they used less
// than RESERVED_SHARE of the lane. The last of them may exceed the share. They pay like all others. What they leave of
// the share goes to all (x/timers/README.md, "1.6 Lane").
func (e *Engine) tryReserved(ctx sdk.Context, b *block) error {
	share := b.Config.ReservedShare.MulInt(math.NewIntFromUint64(b.lane.Cycles)).TruncateInt().Uint64()
	if share == 0 || b.contest.Competing == 0 && !b.contest.Indexed {
		return nil
	}
	actors, err := e.reservedActors(ctx, &b.Config)
	if err != nil {
		return err
	}
	timers, err := b.contest.Reserved(ctx, actors)
	if err != nil {
		return err
	}
	for _, timer := range timers {
		if b.lane.UsedSize >= share {
			break
		}
		if err := e.try(ctx, b, b.contest.Enter(timer)); err != nil {
			return err
		}
	}
	return nil
}

// CheckConfig refuses a config whose policy is not of this chain, or whose reserved actors are no addresses of it.
func (e *Engine) CheckConfig(config *types.TimerConfig) error {
	if err := e.Policies.Validate(config); err != nil {
		return err
	}
	_, err := e.namedReserved(config)
	return err
}

// reservedActors are RESERVED_ACTORS, or the authority if there are none.
func (e *Engine) reservedActors(ctx sdk.Context, config *types.TimerConfig) ([]sdk.AccAddress, error) {
	if len(config.ReservedActors) > 0 {
		return e.namedReserved(config)
	}
	authority, err := e.Addresses.StringToBytes(e.Authority.In(ctx))
	if err != nil {
		return nil, nil //nolint:nilerr // Consensus params name what is no address of this chain: it has no timers.
	}
	return []sdk.AccAddress{authority}, nil
}

// namedReserved are RESERVED_ACTORS. The error is ErrInvalidConfig.
func (e *Engine) namedReserved(config *types.TimerConfig) ([]sdk.AccAddress, error) {
	actors := make([]sdk.AccAddress, len(config.ReservedActors))
	for i, text := range config.ReservedActors {
		var err error
		if actors[i], err = e.Addresses.StringToBytes(text); err != nil {
			return nil, types.ErrInvalidConfig.Wrapf("reserved_actors: %.120q is no address of this chain", text)
		}
	}
	return actors, nil
}
