package genesis

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Source is a genesis state whose timers are passed one at a time, so that a chain with millions of them is imported and
// exported without having them all in memory.
type Source struct {
	// Head is the state without its timers. Its other lists are bounded by retention, windows and the number of actors.
	Head *types.GenesisState
	// Timers passes the timers to fn in order, with their positions, and stops at the first error. Each pass reads them
	// again: fn may change a timer.
	Timers func(fn func(i int, t *types.Timer) error) error
}

// FromState is a state that is in memory.
func FromState(g *types.GenesisState) Source {
	head := *g
	head.Timers = nil
	return Source{Head: &head, Timers: func(fn func(int, *types.Timer) error) error {
		for i := range g.Timers {
			timer := g.Timers[i]
			if err := fn(i, &timer); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Collect reads the whole state into memory.
func (s Source) Collect() (*types.GenesisState, error) {
	g := *s.Head
	err := s.Timers(func(_ int, t *types.Timer) error {
		g.Timers = append(g.Timers, *t)
		return nil
	})
	return &g, err
}

// Validate checks that a genesis state does not contradict itself. It does not ask whether its timers could be scheduled
// under the config in force: they were, under an earlier one. An empty fee denom is the chain's own, which is known when
// the state is imported.
func (s Source) Validate() error {
	head := *s.Head
	if head.Config.FeeDenom == "" {
		head.Config.FeeDenom = sdk.DefaultBondDenom
	}
	check, err := NewCheck(&head)
	if err != nil {
		return err
	}
	if err := s.Timers(check.Timer); err != nil {
		return err
	}
	return check.Done()
}

// Validate is Source.Validate for a state that is in memory.
func Validate(g *types.GenesisState) error { return FromState(g).Validate() }
