// Package smallest is a policy that a chain brings along: of the timers that wait, the one of the smallest size
// fires first, so that a full lane fires as many timers as it can. x/timers/docs/policy.md explains it.
package smallest

import (
	"cmp"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/fifo"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// ID is the value of the config's policy that selects this one.
const ID = types.FirstCustomPolicy

// Rules order timers by size, which is what their limits reserve of the lane. A fire pays what it pays under fifo: the
// chain's basefees, and no tip.
type Rules struct{ fifo.Rules }

// Order implements policy.Rules: by (size, due, seq). No two candidates share a seq, so that the order is total.
// No candidate is left out.
func (Rules) Order(_ policy.Prices, candidates []policy.Candidate) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := candidates[i], candidates[j]
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq))
	})
	return order
}

// Policy binds the rules to state. It keeps nothing.
type Policy struct {
	policies.Base
	parts *policies.Parts
}

// New binds the policy. It is what keeper.WithPolicy takes.
func New(parts *policies.Parts) policies.Policy { return &Policy{parts: parts} }

// ID implements policies.Policy.
func (*Policy) ID() types.Policy { return ID }

// Rules implements policies.Policy.
func (*Policy) Rules(*types.TimerConfig, *types.LaneState) policy.Rules { return Rules{} }

// Open implements policies.Policy: a block ranks the CANDIDATE_WINDOW oldest timers that are ready.
func (p *Policy) Open(_ sdk.Context, b *policies.Block) (policies.Round, error) {
	return &round{Window: policies.Window{Block: b, Parts: p.parts, Rules: Rules{}}}, nil
}

// round is the policy at work in one block.
type round struct {
	policies.Window
	// full: the lane has no room for a timer that was tried.
	full bool
}

// Next implements policies.Round: what comes after a timer that does not fit is no smaller.
func (r *round) Next(ctx sdk.Context) (policies.Turn, bool, error) {
	if r.full {
		return policies.Turn{}, false, nil
	}
	return r.Window.Next(ctx)
}

// Skipped implements policies.Round.
func (r *round) Skipped(_ sdk.Context, _ *types.Timer, why policies.Skip) error {
	r.full = why.NoRoom
	return nil
}
