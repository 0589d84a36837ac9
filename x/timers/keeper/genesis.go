package keeper

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// InitGenesis validates a genesis state and writes it to an empty store. The module's account must hold the locked bids
// already, and the fee denom must have a supply, so that the genesis of x/bank comes first (x/timers/README.md, "2.1
// Genesis"). An empty fee denom is that of the chain (WithFeeDenom, WithBondDenom). If the state is of a later
// block than the chain begins with, its heights are moved back (genesis.Source, Rebase).
func (k *Keeper) InitGenesis(ctx context.Context, g *types.GenesisState) error {
	return k.InitGenesisFrom(ctx, genesis.FromState(g))
}

// InitGenesisFrom is InitGenesis for a state whose timers are read one at a time. They are validated as they come: after
// an error the store holds a part of the state.
func (k *Keeper) InitGenesisFrom(ctx context.Context, source genesis.Source) error {
	head, err := k.withFeeDenom(ctx, source.Head)
	if err != nil {
		return err
	}
	source.Head = head
	// The context of a chain's genesis has the height of its first block, or 0 for 1.
	source, back := source.Rebase(max(1, types.HeightOf(ctx)))
	if back > 0 {
		sdk.UnwrapSDKContext(ctx).Logger().Info("timers of a chain that goes back: all heights are moved", "blocks", back)
	}
	check, err := genesis.NewCheck(source.Head)
	if err != nil {
		return err
	}
	if err := k.CheckConfigs(source.Head); err != nil {
		return err
	}
	source.Head.Config = k.engine.Policies.Complete(source.Head.Config)
	if source.Head.NextConfig != nil {
		next := k.engine.Policies.Complete(*source.Head.NextConfig)
		source.Head.NextConfig = &next
	}
	// The account exists from the first block, so that the first pre-charge costs what every other does.
	k.engine.Fees.Accounts.GetModuleAccount(ctx, types.ModuleName)
	readings := []state.TimerReading{{Timer: check.Timer, Done: check.Done}}
	for _, c := range k.components {
		if err := c.InitGenesis(ctx, source.Head); err != nil {
			return err
		}
		if reader, ok := c.(state.TimerReader); ok {
			readings = append(readings, reader.ReadTimers(ctx, source.Head))
		}
	}
	read, err := readTimers(source, readings)
	if err != nil || read > checkedTimers {
		return err
	}
	if err := k.CheckInvariants(ctx); err != nil {
		return types.ErrInvalidGenesis.Wrapf("%v", err)
	}
	return nil
}

// checkedTimers is up to how many timers an import holds the invariants of the whole module too, as they are held at run
// time: that has every timer in memory, and takes some 35 µs a timer. Of a longer file each record is checked as it is
// read, by the same functions, and what its records add up to as the components derive it.
const checkedTimers = 10_000

// readTimers passes each timer to all readings, and counts them.
func readTimers(source genesis.Source, readings []state.TimerReading) (read int, err error) {
	err = source.Timers(func(i int, t *types.Timer) error {
		read++
		for _, reading := range readings {
			if err := reading.Timer(i, t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return read, err
	}
	for _, reading := range readings {
		if reading.Done == nil {
			continue
		}
		if err := reading.Done(); err != nil {
			return read, err
		}
	}
	return read, nil
}

// ValidateGenesis checks that a genesis state does not contradict itself, and that its policies are of this chain.
// Errors are types.ErrInvalidGenesis and types.ErrInvalidConfig.
func (k *Keeper) ValidateGenesis(g *types.GenesisState) error {
	if err := genesis.Validate(g); err != nil {
		return err
	}
	return k.CheckConfigs(g)
}

// CheckConfigs checks that the policies of a genesis state are of this chain and accept its configs.
func (k *Keeper) CheckConfigs(g *types.GenesisState) error {
	if g.NextConfig != nil {
		if err := k.engine.CheckConfig(g.NextConfig); err != nil {
			return err
		}
	}
	return k.engine.CheckConfig(&g.Config)
}

// ExportGenesis returns the whole state, in an order that depends on nothing but it.
func (k *Keeper) ExportGenesis(ctx context.Context) (*types.GenesisState, error) {
	source, err := k.Export(ctx)
	if err != nil {
		return nil, err
	}
	return source.Collect()
}

// Export is ExportGenesis for a state of any size: the timers are read from the store when they are passed on. The store
// must not change meanwhile.
func (k *Keeper) Export(ctx context.Context) (genesis.Source, error) {
	head := &types.GenesisState{}
	for _, c := range k.components {
		if err := c.ExportGenesis(ctx, head); err != nil {
			return genesis.Source{}, err
		}
	}
	return genesis.Source{Head: head, Timers: func(fn func(int, *types.Timer) error) error {
		return k.engine.Records.ExportTimers(ctx, fn)
	}}, nil
}
