package genesis_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What contradicts itself is refused before the chain starts, and the error names the record.
func ExampleValidate() {
	g := types.DefaultGenesis()
	g.Config.FeeDenom = "stake"
	fmt.Println(genesis.Validate(g))
	g.Timers = []types.Timer{testTimer(20, 1), testTimer(20, 1)}
	g.NextSeq = 2
	fmt.Println(genesis.Validate(g).Error())
	// Output:
	// <nil>
	// timer 1: seq 1 stands twice: invalid genesis state
}
