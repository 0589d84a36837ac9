// Package dryrun tries messages at today's state: as a transaction of the signer's that a node simulates.
package dryrun

import (
	"errors"
	"fmt"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"

	"github.com/cosmos/cosmos-sdk/client/tx"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Result is what a dry run came to.
type Result struct {
	// Tried: there was a node that simulates.
	Tried bool
	// Gas is what the messages used as a transaction: the checks of a transaction, and what it wrote, included.
	Gas uint64
	// Failure is why they failed; empty if they would succeed.
	Failure string
	// Events are what they emitted.
	Events []abci.Event
}

// Try runs messages of the signer's at the latest state, without a trace of it, after the signer has paid what is held of its
// coins: as the fee of the transaction, which the node debits before the messages. Those of a multisig are not tried.
func Try(j *job.Job, msgs []sdk.Msg, held sdk.Coins) Result {
	if j.Offline || len(msgs) == 0 || j.IsMultisig() {
		return Result{}
	}
	factory, err := tx.NewFactoryCLI(j.Context, j.Flags)
	if err != nil {
		return Result{}
	}
	// What the transaction that schedules pays is not part of the fire; nor is who pays it, nor its timeout.
	factory = factory.WithFeeGranter(nil).WithFees(held.String()).WithGasPrices("").WithTimeoutHeight(0).WithSimulateAndExecute(j.FromName != "" && j.HasKey())
	if factory, err = factory.Prepare(j.Context); err != nil {
		return Result{Tried: true, Failure: plain.ServerSays(err)}
	}
	answer, _, _, err := j.TryTx(factory, msgs...)
	switch {
	case err != nil && unavailable(err):
		return Result{}
	case err != nil:
		return Result{Tried: true, Failure: plain.Refusal(err)}
	default:
		return Result{Tried: true, Gas: answer.GasInfo.GasUsed, Events: answer.Result.GetEvents().ToABCIEvents()}
	}
}

// unavailable tells an answer of a node without simulation, or of none at all.
func unavailable(err error) bool {
	text := err.Error()
	return strings.Contains(text, "unknown query path") || strings.Contains(text, "unknown service") || strings.Contains(text, "connection refused")
}

// reserve is which part of what messages used is added to it: by the time of the fire they may need more.
const reserve = 10

// GasLimit is a gas limit that does for messages which a dry run of so much gas has tried: what they used and a tenth of it,
// and what each fire uses besides. It errs on the safe side, by what a transaction's own checks used. It is within the bounds
// of the chain; largest is the most that a fire may use.
func (r Result) GasLimit(config *types.TimerConfig, msgs []sdk.Msg, largest uint64) (uint64, error) {
	payload, err := types.NewAccountPayload(msgs...)
	if err != nil {
		return 0, err
	}
	switch {
	case !r.Tried:
		return 0, errors.New("no node has tried the messages")
	case r.Failure != "":
		return 0, fmt.Errorf("the messages would fail today: %s", r.Failure)
	}
	size := uint64(payload.Size())
	cycles := r.Gas + r.Gas/reserve + market.FireWork{PayloadBytes: size, MessageBytes: size}.Cycles()
	return min(max(cycles, config.MinGasLimit), largest), nil
}
