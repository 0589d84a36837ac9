// Package report says what the end of a block did, to whoever wants to know: metrics and logs of the node. A report is
// made of what the block computed anyway. It is written and never read back, so that it has no influence on the chain. Emit emits
// the module's typed events (x/timers/README.md, "6. Events").
package report

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Reporter is told what the end of each block did. Its answers are not used. It must not panic, and is not told of blocks
// that queries run. A node may run a block twice, and reports it twice.
type Reporter interface {
	Count(b *Block)
	CountOperations(o *Operations)
	// Failed reports a failure that needs an operator, by its kind.
	Failed(kind string)
	// Start begins to time the end of a block.
	Start() Stopwatch
}

// Stopwatch times the steps of the end of one block.
type Stopwatch interface {
	// Lap is called at the end of a step.
	Lap(step string)
	// Stop is called after the last one.
	Stop()
}

// None tells no one.
type None struct{}

var _ Reporter = None{}

// Count implements Reporter.
func (None) Count(*Block) {}

// CountOperations implements Reporter.
func (None) CountOperations(*Operations) {}

// Failed implements Reporter.
func (None) Failed(string) {}

// Start implements Reporter.
func (None) Start() Stopwatch { return Untimed{} }

// Untimed times nothing: it is for what runs the steps for a query.
type Untimed struct{}

// Lap implements Stopwatch.
func (Untimed) Lap(string) {}

// Stop implements Stopwatch.
func (Untimed) Stop() {}

// Kinds of failures that need an operator.
const (
	// KindLane: BeginBlock or EndBlock failed as a whole. KindQuarantine: an unexpected error put a timer on hold.
	// KindBasefeeSource: the chain's fee market gave no usable prices. KindWatch: changes of watched state were lost.
	KindLane          = "lane"
	KindQuarantine    = "quarantine"
	KindBasefeeSource = "basefee_source"
	KindWatch         = "watch"
)

// Lane is an amount of each of the lane's resources.
type Lane struct{ Size, Cycles, Cells, Fires uint64 }

// Fire is the receipt of a fire, and the name of what served it (RuntimeName).
type Fire struct {
	*types.Receipt
	Runtime string
}

// Block is what the end of one block did.
type Block struct {
	*types.TimerLaneSummary
	Fires []Fire
	// Held and Released are reasons, one for each timer that was on hold, or returned to the queue.
	Held, Released []types.HoldReason
	// CycleBasefee and CellBasefee are the chain's prices, in the fee denom. BasefeeFailure is why its fee market gave none.
	CycleBasefee, CellBasefee math.LegacyDec
	BasefeeFailure            error
	Capacity                  Lane
	Paused                    bool
	// Competing timers were ready and read.
	Competing uint64
	// Asked counts the calls of agents, AgentsFailed those of them without a usable answer.
	Asked, AgentsFailed uint64
	WatchHits           uint64
	// Turns are the timers whose turn came, by what became of it.
	Turns types.Verdicts
}
