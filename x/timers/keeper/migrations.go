package keeper

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	v2 "github.com/cosmos-timers/timers/x/timers/migrations/v2"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Migrator migrates the module's state in place, one version of the module at a time. x/upgrade's handlers run it
// (x/timers/README.md, "2.5 Migrations").
type Migrator struct{ keeper *Keeper }

// NewMigrator returns the migrations of a keeper's state.
func NewMigrator(k *Keeper) Migrator { return Migrator{k} }

// Migrate1to2 rewrites the state of version 1, and derives the owner index, the ready index, the cursors of watches and the
// counts of recent fires. What policies keep is read as from a genesis. It reads and writes as much as an import. It fails if a config of version 1 has a parameter that
// version 2 does not allow.
func (m Migrator) Migrate1to2(ctx sdk.Context) error {
	packed, err := v2.MigrateStore(ctx, m.keeper.service)
	if err != nil {
		return err
	}
	if err := m.keeper.engine.Records.PackSetAside(ctx, packed.SetAside); err != nil {
		return err
	}
	if err := m.keeper.engine.Records.DeriveOwners(ctx); err != nil {
		return err
	}
	if err := m.keeper.engine.Index.Derive(ctx); err != nil {
		return err
	}
	if err := m.keeper.engine.Watches.DeriveCursors(ctx); err != nil {
		return err
	}
	if err := m.keeper.engine.Fairness.DeriveRecents(ctx); err != nil {
		return err
	}
	kept := &types.GenesisState{TipWeights: packed.TipWeights}
	if kept.Lane, err = m.keeper.engine.Lane.Get(ctx); err != nil {
		return err
	}
	for _, p := range m.keeper.engine.Policies.All() {
		if err := p.InitGenesis(ctx, kept); err != nil {
			return err
		}
	}
	return nil
}
