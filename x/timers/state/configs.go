package state

import (
	"context"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Configs holds the config in force and the one that follows it. One config is in force throughout a block, for its
// transactions and its end.
type Configs struct {
	// current is in force in this block. Written by BeginBlock and genesis.
	current collections.Item[types.TimerConfig]
	// next is in force from the next block. Written by the authority, removed by BeginBlock.
	next collections.Item[types.TimerConfig]
}

var _ Component = (*Configs)(nil)

// NewConfigs adds the component's collections to the schema.
func NewConfigs(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) *Configs {
	return &Configs{
		current: collections.NewItem(sb, types.PrefixConfig, "config", newMemo(codec.CollValue[types.TimerConfig](cdc))),
		next:    collections.NewItem(sb, types.PrefixNextConfig, "next_config", codec.CollValue[types.TimerConfig](cdc)),
	}
}

// Get returns the config in force. Reading it costs no gas; SCHEDULE_CYCLES and similar charges cover it. Otherwise a
// new version of the module with more parameters would make schedules dearer, and handlers could exceed their gas
// limits.
func (c *Configs) Get(ctx context.Context) (types.TimerConfig, error) {
	return c.current.Get(types.Unmetered(ctx))
}

// Next returns the config that is in force from the next block on, if one was accepted.
func (c *Configs) Next(ctx context.Context) (types.TimerConfig, bool, error) {
	return FindItem(ctx, c.next)
}

// Latest returns what a further change changes: the config that was accepted for the next block, else the one in force.
func (c *Configs) Latest(ctx context.Context) (types.TimerConfig, error) {
	next, found, err := c.Next(ctx)
	if err != nil || found {
		return next, err
	}
	return c.Get(ctx)
}

// SetNext accepts a config for the next block.
func (c *Configs) SetNext(ctx context.Context, config types.TimerConfig) error {
	return c.next.Set(ctx, config)
}

// Activate puts the next config in force, if there is one. It first calls changing with both configs.
func (c *Configs) Activate(ctx context.Context, changing func(before, after *types.TimerConfig) error) error {
	next, found, err := c.Next(ctx)
	if err != nil || !found {
		return err
	}
	before, err := c.Get(ctx)
	if err != nil {
		return err
	}
	if err := changing(&before, &next); err != nil {
		return err
	}
	if err := c.current.Set(ctx, next); err != nil {
		return err
	}
	return c.next.Remove(ctx)
}

// InitGenesis implements Component.
func (c *Configs) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if err := c.current.Set(ctx, genesis.Config); err != nil {
		return err
	}
	if genesis.NextConfig == nil {
		return nil
	}
	return c.next.Set(ctx, *genesis.NextConfig)
}

// ExportGenesis implements Component.
func (c *Configs) ExportGenesis(ctx context.Context, genesis *types.GenesisState) (err error) {
	if genesis.Config, err = c.Get(ctx); err != nil {
		return err
	}
	next, found, err := c.Next(ctx)
	if found {
		genesis.NextConfig = &next
	}
	return err
}

// CheckInvariants implements Component: every config that was accepted is valid.
func (c *Configs) CheckInvariants(ctx context.Context) error {
	config, err := c.Get(ctx)
	if err != nil {
		return err
	}
	return config.Validate()
}
