package keeper

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file serves policy score (SPEC §6): whose turn it is among timers of equal score, and what a fire paid for its place.

// recent is how often a unit fired in the fairness window.
type recent struct {
	unit  string
	fires uint64
}

// setTurn says how often the candidate's unit fired, if the policy asks for it.
func (k *Keeper) setTurn(ctx context.Context, b *block, actor sdk.AccAddress, candidate *policy.Candidate) {
	if _, turns := b.policy.(policy.Score); !turns {
		return
	}
	of := k.recentOf(ctx, b, actor)
	candidate.Unit, candidate.Recent = of.unit, of.fires
}

// recentOf is how often the actor's unit fired. A record that can't be read counts nothing: its timers can't fire.
func (k *Keeper) recentOf(ctx context.Context, b *block, actor sdk.AccAddress) recent {
	if of, known := b.recents[string(actor)]; known {
		return of
	}
	unit := k.unitOf(ctx, &b.config, actor)
	of := recent{unit: string(unit)}
	if page, err := k.actorPage(ctx, unit, 0); err == nil {
		of.fires = uint64(page.Recent)
	}
	b.recents[string(actor)] = of
	return of
}

// bidPaid is what a fire at this price pays for its place, nil for nothing.
func bidPaid(price lane.Price) *math.Int {
	if price.Once.IsNil() || price.Once.IsZero() {
		return nil
	}
	bid := price.Once
	return &bid
}

// bidText is what the fire paid for its place, empty for nothing.
func bidText(r *types.Receipt) string {
	if r.Bid == nil {
		return ""
	}
	return r.Bid.String()
}
