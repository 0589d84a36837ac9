// Package smallest is a policy that a chain brings along: of the timers that wait, the one of the smallest size
// fires first, so that a full lane fires as many timers as it can. One that has waited for long enough comes before
// them. x/timers/docs/extend/policy.md explains it.
package smallest

import (
	"cmp"
	"context"
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// ID is the value of the config's policy that selects this one.
const ID = types.FirstCustomPolicy

// Rules order timers by size, which is what their limits reserve of the lane. A fire pays what it pays under fifo: the
// chain's basefees, and no tip.
type Rules struct {
	market.FIFO
	// Patience is the number of blocks after which a timer no longer waits for its place by size; 0 means for ever.
	Patience uint64
}

// Impatient reports whether a timer that is due since a height has waited for so long.
func (r Rules) Impatient(height, due uint64) bool {
	return r.Patience > 0 && height >= due && height-due >= r.Patience
}

// Order implements market.Rules: those that are impatient by (due, seq), then the others by (size, due, seq). No two
// candidates share a seq, so that the order is total. No candidate is left out.
func (r Rules) Order(prices market.Prices, candidates []market.Candidate) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	key := func(c market.Candidate) (patient, size uint64) {
		if r.Impatient(prices.Height, c.Due) {
			return 0, 0
		}
		return 1, c.Size
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := candidates[i], candidates[j]
		patientA, sizeA := key(a)
		patientB, sizeB := key(b)
		return cmp.Or(cmp.Compare(patientA, patientB), cmp.Compare(sizeA, sizeB),
			cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq))
	})
	return order
}

// Defaults implements types.PolicyParams.
func (*Params) Defaults() types.PolicyParams { return &Params{PatienceBlocks: 100} }

// Validate implements types.PolicyParams.
func (p *Params) Validate() error {
	if p.PatienceBlocks > types.MaxBlocks {
		return types.ErrInvalidConfig.Wrapf("smallest.patience_blocks is %d, want 0 to %d", p.PatienceBlocks, types.MaxBlocks)
	}
	return nil
}

// Validate implements types.PolicyState.
func (s *State) Validate(*types.GenesisState) error {
	if s.Impatient > types.MaxBlocks {
		return types.ErrInvalidGenesis.Wrapf("smallest.State: impatient is %d, want at most %d", s.Impatient, types.MaxBlocks)
	}
	return nil
}

// MovedBack implements types.PolicyState.
func (s *State) MovedBack(_, _ uint64) types.PolicyState { return s }

// stateIn is what the policy carries, zeros before its first block.
func stateIn(lane *types.LaneState) State {
	if state := types.MessageOf[State](lane.Policies); state != nil {
		return *state
	}
	return State{}
}

// Policy binds the rules to state.
type Policy struct{ policies.Base }

// New binds the policy. It is what keeper.WithPolicy takes.
func New(*policies.Parts) policies.Policy { return Policy{} }

// ID implements policies.Policy.
func (Policy) ID() types.Policy { return ID }

// Messages implements policies.Guest.
func (Policy) Messages() policies.Messages {
	return policies.Messages{
		Params: (*Params)(nil).Defaults(),
		State:  []types.PolicyState{&State{}}, Standing: []types.PolicyStanding{&Standing{}},
	}
}

// Rules implements policies.Policy.
func (Policy) Rules(config *types.TimerConfig, _ *types.LaneState) market.Rules {
	return rulesIn(config)
}

func rulesIn(config *types.TimerConfig) Rules {
	return Rules{Patience: types.ParamsOf[Params](config).PatienceBlocks}
}

// Describe implements policies.Policy.
func (Policy) Describe(
	_ context.Context, config *types.TimerConfig, lane *types.LaneState, _ sdk.AccAddress,
) (types.PolicyStanding, error) {
	return &Standing{PatienceBlocks: rulesIn(config).Patience, Impatient: stateIn(lane).Impatient}, nil
}

// Open implements policies.Policy.
func (Policy) Open(_ sdk.Context, b *policies.Block) (market.Rules, error) {
	return &counting{Rules: rulesIn(&b.Config), block: b}, nil
}

// counting are the rules in one block, which count the fires of timers that had waited for so long.
type counting struct {
	Rules
	block     *policies.Block
	impatient uint64
}

// Tried implements policies.Follower.
func (c *counting) Tried(_ sdk.Context, a policies.Attempt) (wanted bool) {
	if a.Verdict == types.VerdictFires && c.Impatient(c.block.Height, a.Timer.Due) {
		c.impatient++
	}
	return false
}

// Close implements policies.Follower: the bids of this policy pay no tips.
func (c *counting) Close(sdk.Context) (math.Int, error) {
	if c.impatient > 0 {
		state := stateIn(&c.block.State)
		state.Impatient += c.impatient
		c.block.State.SetPolicy(&state)
	}
	return math.ZeroInt(), nil
}
