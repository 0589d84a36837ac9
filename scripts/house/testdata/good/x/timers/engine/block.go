// Package engine runs the steps of a block.
package engine

import (
	"example.test/chain/x/timers/lane"
	"example.test/chain/x/timers/market"
)

// block is what one block needs. It has five fields.
type block struct {
	lane.Budget
	policy      market.Policy
	ready, done []uint64
	log         []byte
}
