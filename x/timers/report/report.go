// Package report says what the end of a block did, to whoever wants to know: metrics and logs of the node. A report is
// made of what the block computed anyway. It is written and never read back, so that it has no influence on the chain. Emit emits
// the module's typed events (x/timers/README.md, "6. Events").
package report

import (
	"encoding/hex"

	"cosmossdk.io/log"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

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

// Log writes a block's line: at info if a timer fired, at debug otherwise.
func (b *Block) Log(logger log.Logger) {
	write := logger.Debug
	if b.Fired > 0 {
		write = logger.Info
	}
	write("end of block", "module", types.ModuleName, "height", b.Height, "fired", b.Fired, "failed", b.Failed,
		"expired", b.Expired, "unfunded", b.Unfunded, "not_admin", b.NotAdmin, "on_hold", b.OnHold, "ready", b.Deferred,
		"used_size", b.UsedSize, "lane_basefee", b.LaneBasefee, "storm", b.Storm)
}

// LogTimer writes at debug what happened to a timer.
func LogTimer(logger log.Logger, t *types.Timer, what string, keyValues ...any) {
	logger.Debug(what, append([]any{"module", types.ModuleName, "id", id(t.Id)}, keyValues...)...)
}

// LogFire writes at debug that a timer fired. A receipt holds no text of a handler.
func LogFire(logger log.Logger, runtime string, r *types.Receipt) {
	logger.Debug("a timer fired", "module", types.ModuleName, "id", id(r.TimerId), "runtime", runtime, "success", r.Success,
		"codespace", r.Codespace, "code", r.Code, "cycles", r.Cycles, "cells", r.Cells, "paid", r.Paid, "late", r.Late)
}

// id is written as hexadecimal, and only if its line is written at all.
type id []byte

func (i id) String() string { return hex.EncodeToString(i) }

// Kinds of operations on state.
const (
	opRead = iota
	opWrite
	opDelete
	opIterate
	opKinds
)

var operationNames = [opKinds]string{"read", "write", "delete", "iterate"}

// Operations counts the operations on state that a gas meter is charged for. It belongs to one block.
type Operations struct{ of [opKinds]uint64 }

// Meter returns a gas meter that counts what it is charged for and is otherwise like the given one.
func (o *Operations) Meter(inner storetypes.GasMeter) storetypes.GasMeter {
	return &countingMeter{inner, o}
}

// Each calls fn for each kind of operation.
func (o *Operations) Each(fn func(kind string, n uint64)) {
	for kind, n := range o.of {
		fn(operationNames[kind], n)
	}
}

// countingMeter tells the operations of a store by the descriptors of their flat charges.
type countingMeter struct {
	storetypes.GasMeter

	counts *Operations
}

// ConsumeGas counts the operation and charges for it.
func (m *countingMeter) ConsumeGas(amount storetypes.Gas, descriptor string) {
	switch descriptor {
	case storetypes.GasReadCostFlatDesc, storetypes.GasHasDesc:
		m.counts.of[opRead]++
	case storetypes.GasWriteCostFlatDesc:
		m.counts.of[opWrite]++
	case storetypes.GasDeleteDesc:
		m.counts.of[opDelete]++
	case storetypes.GasIterNextCostFlatDesc:
		m.counts.of[opIterate]++
	}
	m.GasMeter.ConsumeGas(amount, descriptor)
}

// Unmetered returns a meter without a limit that counts the same operations (types.Unmetered).
func (m *countingMeter) Unmetered() storetypes.GasMeter {
	return m.counts.Meter(storetypes.NewInfiniteGasMeter())
}

// NoRuntime stands for a fire that no runtime served: the actor is gone, or the gas limit did not reach so far.
const NoRuntime = "none"

// RuntimeName is the name of a runtime in labels: what its method Name returns, or "other" for one without. It must not
// depend on user input, since each name makes series of its own.
func RuntimeName(runtime any) string {
	if named, ok := runtime.(interface{ Name() string }); ok {
		return named.Name()
	}
	return "other"
}
