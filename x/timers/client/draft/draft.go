// Package draft makes messages out of what people state on the command line.
package draft

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
)

// Draft is a message in the making.
type Draft struct {
	*job.Job
	// Messages are those of the payload, once they are read.
	Messages []sdk.Msg
	// Watched are the keys that the timer watches, as they were stated.
	Watched []string
	// AutoGas: the gas limit is to be found by a dry run of the messages.
	AutoGas bool

	// take makes Messages of the words of an Action; nil if there is none.
	take func() error
}

// New begins a message of a job's signer.
func New(j *job.Job) *Draft { return &Draft{Job: j} }
