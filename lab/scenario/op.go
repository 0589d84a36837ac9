package scenario

import (
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The kinds of ops.
const (
	OpSchedule  = "schedule"
	OpCancel    = "cancel"
	OpExtend    = "extend"
	OpUpdate    = "update"
	OpPause     = "pause"
	OpResume    = "resume"
	OpSysCancel = "sys_cancel"
	OpSysExtend = "sys_extend"
	OpConfig    = "config"
	OpSend      = "send"
	OpSet       = "set"
	OpJump      = "jump"
	OpSkip      = "skip"
	OpRun       = "run"
)

// Op is one action of an account or of the authority. Which fields are used depends on its kind.
type Op struct {
	// At is the block in which it runs; 0 for an op of a handler.
	At   uint64
	Kind string
	// As names the timer that it schedules, Timer the one that it acts on.
	As, Timer string
	// By is the account that acts; empty for the authority.
	By        string
	Trigger   types.Trigger
	GasLimit  uint64
	CellLimit uint64
	// ExpiresAt is the last height at which a timer may fire, ExpiresTime the last time in seconds since 1970.
	ExpiresAt   uint64
	ExpiresTime int64
	Bid         *types.Bid
	FeePayer    string
	// MaxCharge is the most that a fire may cost, an integer; empty if none is stated.
	MaxCharge string
	// Label is what older files call the timer: two may have the same. Name is its name on the chain, which schedule and update
	// state. Whether the module accepts one is decided when the op runs.
	Label, Name string
	// Retry and OnUnfunded say what happens when a fire fails and when its payer lacks funds.
	Retry      *types.Retry
	OnUnfunded types.OnUnfunded
	// OnlyIf are conditions that must hold when it fires.
	OnlyIf []types.WatchKey
	// Repeat is how a timer repeats; nil if nothing of it is stated.
	Repeat *types.Repeat
	// Fields are those of a timer's spec that an update states, as types.SpecFields names them: it changes no others.
	Fields []string
	// Do is the handler; nil leaves an updated timer's as it is.
	Do *Handler
	// To and Amount are those of a transfer.
	To     string
	Amount math.Int
	// Key is the scenario key that is changed.
	Key string
	// Count of occurrences that are skipped, and From the one that is to be the next; 0 for whichever is.
	Count uint32
	From  uint64
	// ResumeAt says when a timer that is resumed fires.
	ResumeAt types.ResumeAt
	// Seconds by which the next block comes later.
	Seconds int64
	// Set is the change of the config.
	Set ConfigChange

	path string
}

// Handler is what a timer does when it fires: it spends cycles, writes cells, and then does at most one of the rest.
type Handler struct {
	// Cycles in addition to the intrinsic ones, and Cells: both exact.
	Cycles, Cells         uint64
	Fail, Panic, SpendAll bool
	// Ops that it runs as its owner.
	Ops []Op
	// Name by which the timer calls it. The timer carries no payload, which each of its fires would pay for.
	Name string
}

// States tells whether an update states a field of the spec.
func (op *Op) States(field string) bool { return slices.Contains(op.Fields, field) }

// introduces calls fn for every timer that the op or its handler may schedule.
func (op *Op) introduces(fn func(name string)) {
	if op.As != "" {
		fn(op.As)
	}
	if op.Do == nil {
		return
	}
	for i := range op.Do.Ops {
		op.Do.Ops[i].introduces(fn)
	}
}
