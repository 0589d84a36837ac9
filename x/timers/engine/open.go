package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// open begins the end of a block. It fixes the prices, which depend on the previous block only.
func (e *Engine) open(ctx sdk.Context) (*block, error) {
	config, err := e.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	before, err := e.Lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	now := types.MomentOf(ctx)
	height := now.Height
	prices, basefees := e.Policies.Prices(ctx, &config, &before)
	inForce := e.Policies.At(&config, height)
	b := &block{totals: newTotals(), watch: report.Untimed{}, basefees: basefees, policy: inForce, rules: inForce.Rules(&config, &before)}
	b.Block = &policies.Block{
		Height: height, Time: now.Time, Config: config, Before: before, State: before, Prices: prices,
		Lane:     market.Budget{Capacity: config.LaneCapacity(), MaxFires: config.MaxFiresPerBlock},
		GC:       policies.GC{Cleanup: market.Cleanup{MaxCycles: config.GcCyclesPerBlock, PerRemoval: market.RemovalCycles}},
		Overhead: config.Overhead(),
		Recents:  e.Fairness.Recents(ctx),
		Waiting:  !inForce.AsksAgents(),
		Hands:    hands{e, b},
	}
	b.funds = funds{
		Shortfalls: e.Fees.Shortfalls(&b.Config), least: market.Least(b.rules, prices), promised: map[string]math.Int{}, pledged: map[string]math.Int{},
	}
	if b.Index, err = e.Parts.Index.Open(ctx); err != nil {
		return nil, err
	}
	b.Agents = e.Agents.Open(b.Block, inForce.AsksAgents())
	round, err := b.policy.Open(ctx, b.Block)
	if err != nil {
		return nil, err
	}
	b.round = newTurns(round, b, e.Records)
	b.followers = append(e.Policies.Follow(ctx, b.Block, b.policy), b.round)
	return b, nil
}
