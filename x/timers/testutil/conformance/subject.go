package conformance

import (
	"flag"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var scale = flag.Int("conformance.scale", 1, "multiplies the size of the backlogs that policies are tested with")

// Subject is a policy under test.
type Subject struct {
	// Policy is its id.
	Policy types.Policy
	// Keeper are the options that wire it; none for a policy of the module.
	Keeper []keeper.Option
	// Config sets what the policy needs of the config in addition; it may be nil.
	Config func(*types.TimerConfig)
	// Moves is how many timers a block under overload may move in the ready index, in addition to those that it
	// admits, sweeps and fires: contest.MaxIndexReads for a policy whose weights change, otherwise 0. Over a whole backlog they
	// must not count.
	Moves int
}

// options of a chain that starts with the subject in force.
func (s Subject) options() lab.ChainOptions {
	opts := lab.ChainOptions{Genesis: types.DefaultGenesis(), Keeper: s.Keeper}
	config := &opts.Genesis.Config
	config.Policy = s.Policy
	config.MaxCyclesPerFire = 250_000
	if s.Config != nil {
		s.Config(config)
	}
	for _, address := range []sdk.AccAddress{alice, bob, carol, robot, robot2, agent} {
		opts.Balances = append(opts.Balances, lab.Balance{Address: address, Amount: math.NewInt(rich)})
	}
	opts.Balances = append(opts.Balances,
		lab.Balance{Address: poor, Amount: math.NewInt(40_000)}, lab.Balance{Address: pauper, Amount: math.ZeroInt()})
	return opts
}
