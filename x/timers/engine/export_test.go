package engine

import sdk "github.com/cosmos/cosmos-sdk/types"

// Probe has fn called with the number of the step, from 0, before each of the steps up to the selection, until the returned
// function is called.
func Probe(fn func(step int)) (restore func()) {
	before := selecting
	probed := make([]step, len(before))
	for i, s := range before {
		probed[i] = step{s.name, func(e *Engine, ctx sdk.Context, b *block) error {
			fn(i)
			return s.do(e, ctx, b)
		}}
	}
	selecting = probed
	return func() { selecting = before }
}

// Steps is how many steps the end of a block has.
func Steps() (untilSelection, all int) { return len(selecting), len(selecting) + len(firing) }
