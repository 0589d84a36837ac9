// Package broadcast sends a timer and, if wanted, waits until it is there.
package broadcast

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/client/event"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagWait        = "wait"
	flagWaitTimeout = "wait-timeout"
	// pollEvery is how often a node is asked whether it has included a transaction.
	pollEvery = 500 * time.Millisecond
)

// AddFlags adds the flags of waiting.
func AddFlags(f *pflag.FlagSet) {
	f.Bool(flagWait, false, "wait until the transaction is included, and print the timer's name instead of the broadcast's answer")
	f.Duration(flagWaitTimeout, time.Minute, "for how long --"+flagWait+" waits")
}

// WaitWanted tells whether to wait, and refuses to wait for what will not come.
func WaitWanted(j *job.Job) (bool, error) {
	wanted, err := j.Flags.GetBool(flagWait)
	if err != nil || !wanted {
		return false, err
	}
	return true, mayBroadcast(j)
}

// mayBroadcast tells whether the command ends in a broadcast.
func mayBroadcast(j *job.Job) error {
	switch {
	case j.GenerateOnly:
		return fmt.Errorf("--%s waits for a broadcast, and --%s prints the transaction instead: want one of them", flagWait, flags.FlagGenerateOnly)
	case j.Simulate:
		return fmt.Errorf("--%s waits for a broadcast, and --%s does none: want one of them", flagWait, flags.FlagDryRun)
	case j.Offline:
		return fmt.Errorf("--%s needs a node: it can't be with --%s", flagWait, flags.FlagOffline)
	case j.IsAux:
		return fmt.Errorf("--%s waits for a broadcast, and --%s does none: want one of them", flagWait, flags.FlagAux)
	}
	return nil
}

// scheduled is what --wait prints.
type scheduled struct {
	// Name is ACTOR/ID, as the other commands take it.
	Name      string `json:"name"`
	Due       uint64 `json:"due"`
	ExpiresAt uint64 `json:"expires_at"`
	GasLimit  uint64 `json:"gas_limit"`
	// Height and TxHash are where it was scheduled.
	Height int64  `json:"height"`
	TxHash string `json:"txhash"`
}

// SendAndTell sends and tells where the timer's name is to be found.
func SendAndTell(j *job.Job, msg *types.MsgScheduleTimer) error {
	sent, err := sendVia(j, j.Output, msg)
	if err == nil && sent.hash != nil && sent.code == 0 {
		j.Notef("once it is included, the timer's name is in its event timers.v1.TimerScheduled: %s query tx %X (--%s waits and prints it)",
			version.AppName, sent.hash, flagWait)
	}
	return err
}

// sendVia sends, prints what the SDK prints to output, and returns what was broadcast.
func sendVia(j *job.Job, output io.Writer, msg sdk.Msg) (*sentTx, error) {
	sent := &sentTx{CometRPC: j.Client}
	via := *j
	via.Context = j.WithOutput(output)
	// Without a node there is nothing to remember, and the SDK says so where it needs one.
	if j.Client != nil {
		via.Context = via.WithClient(sent)
	}
	return sent, via.Send(msg)
}

// SendAndWait broadcasts and prints the name of the timer once it is there. Standard output carries the name alone, so
// that a script can read it; what else is printed on the way goes where notes go.
func SendAndWait(j *job.Job, msg *types.MsgScheduleTimer) error {
	node, err := j.GetNode()
	if err != nil {
		return err
	}
	sent, err := sendVia(j, j.Notes, msg)
	if err != nil {
		return err
	}
	switch {
	case sent.hash == nil:
		return errors.New("nothing was broadcast")
	case sent.code != 0:
		return fmt.Errorf("the node refused transaction %X: %s", sent.hash, sent.log)
	}
	timeout, err := j.Flags.GetDuration(flagWaitTimeout)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(j.Ctx, timeout)
	defer cancel()
	included, err := awaitTx(ctx, node, sent.hash)
	if err != nil {
		return err
	}
	found, err := scheduledIn(included)
	if err != nil {
		return err
	}
	return printScheduled(j, found, included)
}

func printScheduled(j *job.Job, found *types.TimerScheduled, included *coretypes.ResultTx) error {
	text, err := json.Marshal(scheduled{
		Name: found.Actor + "/" + found.Id, Due: found.Due, ExpiresAt: found.ExpiresAt, GasLimit: found.GasLimit,
		Height: included.Height, TxHash: strings.ToUpper(hex.EncodeToString(included.Hash)),
	})
	if err != nil {
		return err
	}
	return j.PrintRaw(text)
}

// sentTx is a node that remembers what was broadcast through it: the SDK prints the hash, and does not return it.
type sentTx struct {
	client.CometRPC
	hash []byte
	code uint32
	log  string
}

func (s *sentTx) remember(res *coretypes.ResultBroadcastTx, err error) (*coretypes.ResultBroadcastTx, error) {
	if err == nil {
		s.hash, s.code, s.log = res.Hash, res.Code, res.Log
	}
	return res, err
}

// BroadcastTxSync implements client.CometRPC.
func (s *sentTx) BroadcastTxSync(ctx context.Context, tx cmttypes.Tx) (*coretypes.ResultBroadcastTx, error) {
	return s.remember(s.CometRPC.BroadcastTxSync(ctx, tx))
}

// BroadcastTxAsync implements client.CometRPC.
func (s *sentTx) BroadcastTxAsync(ctx context.Context, tx cmttypes.Tx) (*coretypes.ResultBroadcastTx, error) {
	return s.remember(s.CometRPC.BroadcastTxAsync(ctx, tx))
}

// awaitTx asks the node for a transaction until it is included. It is not taken for lost when time is up: it may be
// included later.
func awaitTx(ctx context.Context, node client.CometRPC, hash []byte) (*coretypes.ResultTx, error) {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		result, err := node.Tx(ctx, hash, false)
		if err == nil {
			return result, nil
		}
		// The RPC has no code for what is not there yet.
		if ctx.Err() == nil && !strings.Contains(err.Error(), "not found") {
			return nil, fmt.Errorf("ask for transaction %X, which was broadcast: %w", hash, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("transaction %X was broadcast and is not included yet; --%s is over: %w", hash, flagWaitTimeout, ctx.Err())
		case <-poll.C:
		}
	}
}

// scheduledIn finds the timer that an included transaction scheduled.
func scheduledIn(included *coretypes.ResultTx) (*types.TimerScheduled, error) {
	if result := included.TxResult; result.Code != 0 {
		return nil, fmt.Errorf("transaction %X failed at height %d: %s (%s, code %d)",
			included.Hash, included.Height, result.Log, result.Codespace, result.Code)
	}
	for _, one := range included.TxResult.Events {
		if !event.Ours(one) || event.Kind(one) != "TimerScheduled" {
			continue
		}
		typed, err := event.Parse(one)
		if err != nil {
			return nil, fmt.Errorf("transaction %X: %w", included.Hash, err)
		}
		if found, ok := typed.(*types.TimerScheduled); ok {
			return found, nil
		}
	}
	return nil, fmt.Errorf("transaction %X was included at height %d, and says nothing of a timer", included.Hash, included.Height)
}
