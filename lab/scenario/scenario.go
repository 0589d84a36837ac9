// Package scenario is the format of scenario files: timer workloads written down as JSON. It reads a file strictly,
// checks it, and names the path of what is wrong. It knows no chain; lab/replay runs what it returns.
package scenario

import (
	"cmp"
	"crypto/sha256"
	"math/bits"
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Scenario is a timer workload written down. It is made by Parse, which checks it.
type Scenario struct {
	Config types.TimerConfig
	// NoHeadroom accepts configs that a chain refuses for want of headroom, so that few fires fill a lane.
	NoHeadroom bool
	// Accounts in the order of their names.
	Accounts []Account
	// Blocks to run; the first has height 1.
	Blocks uint64
	// StartTime is that of the first block, in seconds since 1970, and BlockSeconds the distances of those that follow, again and
	// again.
	StartTime    int64
	BlockSeconds []int64
	// Ops in the order of the file.
	Ops []Op
	// Owners: the name of a timer → the account that owns it, if it is ever scheduled.
	Owners map[string]string
	// Labels: how many schedules state a label, one within a handler counting twice.
	Labels map[string]int
	// Agents are the scripted bidding agents by address.
	Agents map[string]Agent
	// Handlers are what timers do when they fire, by name.
	Handlers map[string]*Handler
	// Notes are for who wrote the file: what it states of the config without effect.
	Notes []string
}

func newScenario() *Scenario {
	return &Scenario{Owners: map[string]string{}, Labels: map[string]int{}, Agents: map[string]Agent{}, Handlers: map[string]*Handler{}}
}

// Account is an account of a scenario and its balance at the start, in the fee denom.
type Account struct {
	Name    string
	Balance math.Int
}

// AccountAddress is the address of a scenario's account.
func AccountAddress(name string) sdk.AccAddress {
	sum := sha256.Sum256([]byte("timers/scenario/" + name))
	return sum[:20]
}

// InClock is a retry as the module takes it: files state its distance in blocks, whatever the trigger. In a clock of times a block is
// as long as blocks are in the mean, in whole seconds, rounded up.
func (s *Scenario) InClock(retry *types.Retry, byTime bool) *types.Retry {
	if retry == nil || !byTime {
		return retry
	}
	sum := uint64(0)
	for _, seconds := range s.BlockSeconds {
		sum += uint64(seconds)
	}
	scaled, n := *retry, uint64(len(s.BlockSeconds))
	high, low := bits.Mul64(retry.After, (sum+n-1)/n)
	if scaled.After = low; high > 0 {
		scaled.After = ^uint64(0)
	}
	return &scaled
}

// SecondsTo is the distance in time from the block before to the one at a height, which follows it. What ops add to it is not
// within.
func (s *Scenario) SecondsTo(height uint64) int64 {
	if height <= 1 {
		return 0
	}
	return s.BlockSeconds[(height-2)%uint64(len(s.BlockSeconds))]
}

// Order returns the ops in the order in which they run, as indices: by block, and as in the file within a block.
func (s *Scenario) Order() []int {
	order := make([]int, len(s.Ops))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(s.Ops[i].At, s.Ops[j].At) })
	return order
}
