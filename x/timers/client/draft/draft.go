// Package draft makes messages out of what people state on the command line.
package draft

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/when"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Draft is a message in the making.
type Draft struct {
	*job.Job
	// Messages are those of the payload, once they are read.
	Messages []sdk.Msg
	// Watched are the keys that the timer watches, as they were stated.
	Watched []string
	// OnlyIf are the keys of what must hold when it fires, as they were stated.
	OnlyIf []string
	// Rule is what the timer's calendar was compiled of; nil if it has none.
	Rule *when.Plan
	// AutoGas: the gas limit is to be found by a dry run of the messages.
	AutoGas bool
	// DefaultCharge: the most that one fire may cost is to be found by an estimate.
	DefaultCharge bool

	// AsFile: what is stated stays as it is, whenever it is read. A time that has passed is read as it was, and what would become
	// another height each time is refused.
	AsFile bool

	// take makes Messages of the words of an Action; nil if there is none.
	take func() error
	// config is that of the chain, once it was asked for.
	config *types.TimerConfig
}

// New begins a message of a job's signer.
func New(j *job.Job) *Draft { return &Draft{Job: j} }
