// Package broadcast sends transactions, says what became of them, and waits for them if wanted.
package broadcast

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"time"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	rpctypes "github.com/cometbft/cometbft/rpc/jsonrpc/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/x/timers/client/history"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/remote"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagWait        = "wait"
	flagWaitTimeout = "wait-timeout"
)

// TxCommand adds what every transaction's command has.
func TxCommand(cmd *cobra.Command) *cobra.Command {
	job.TxCommand(cmd)
	addFlags(cmd.Flags())
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return tellUnsent(cmd, args, run) }
	}
	return cmd
}

// NotedCommand is TxCommand for one that sends with SendNoted, and so always waits.
func NotedCommand(cmd *cobra.Command) *cobra.Command {
	job.TxCommand(cmd)
	cmd.Flags().Duration(flagWaitTimeout, time.Minute, "for how long a transaction is waited for")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return tellUnsent(cmd, args, run) }
	return cmd
}

// unsent is what is printed as JSON of a transaction that was not sent.
type unsent struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// tellUnsent runs a command, and where that ends in an error before anything was sent or printed, prints for scripts that
// nothing was sent: with --output json each end has its JSON.
func tellUnsent(cmd *cobra.Command, args []string, run func(*cobra.Command, []string) error) error {
	out := &counted{Writer: cmd.OutOrStdout()}
	cmd.SetOut(out)
	err := run(cmd, args)
	format, formatErr := cmd.Flags().GetString(flags.FlagOutput)
	if err == nil || out.written || formatErr != nil || format != flags.OutputFormatJSON || !cmd.Flags().Changed(flags.FlagOutput) {
		return err
	}
	for _, printing := range []string{flags.FlagGenerateOnly, flags.FlagDryRun, flags.FlagOffline, flags.FlagAux} {
		if stated, flagErr := cmd.Flags().GetBool(printing); flagErr == nil && stated {
			return err
		}
	}
	text, jsonErr := json.Marshal(unsent{statusUnsent, plain.NoPaths(err.Error())})
	if jsonErr == nil {
		_, jsonErr = fmt.Fprintf(out, "%s\n", text)
	}
	return errors.Join(err, jsonErr)
}

// counted knows whether anything was written.
type counted struct {
	io.Writer
	written bool
}

// Write implements io.Writer.
func (w *counted) Write(text []byte) (int, error) {
	w.written = true
	return w.Writer.Write(text)
}

// ProposalCommand is TxCommand for one that submits a proposal. It waits by default: without the proposal's number no one can
// vote.
func ProposalCommand(cmd *cobra.Command) *cobra.Command {
	TxCommand(cmd)
	wait := cmd.Flags().Lookup(flagWait)
	wait.DefValue = "true"
	_ = wait.Value.Set(wait.DefValue)
	return cmd
}

// addFlags adds the flags of waiting.
func addFlags(f *pflag.FlagSet) {
	f.Bool(flagWait, false, "wait until the transaction is included, and print what it did instead of the broadcast's answer; exit status 0: included, "+
		"1: refused or failed, 3: unknown, and it may still come")
	f.Duration(flagWaitTimeout, time.Minute, "for how long a transaction is waited for")
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
	Status string `json:"status"`
	// Name is ACTOR/ID, as the other commands take it.
	Name      string `json:"name"`
	Due       uint64 `json:"due"`
	ExpiresAt uint64 `json:"expires_at"`
	// DueTime and ExpiresTime are in seconds since 1970, for a timer that is due or ends at a time: then Due is 0.
	DueTime     int64  `json:"due_time,omitempty"`
	ExpiresTime int64  `json:"expires_time,omitempty"`
	GasLimit    uint64 `json:"gas_limit"`
	// Height and TxHash are where it was scheduled.
	Height int64  `json:"height"`
	TxHash string `json:"txhash"`
}

// Send signs and broadcasts messages, or prints them, as the flags of transactions say. A transaction that the node or the
// chain refuses is an error. With --wait it prints that the transaction is included.
func Send(j *job.Job, msgs ...sdk.Msg) error {
	return send(j, sending(msgs...), "--"+flagWait+" waits until it is included", printIncluded)
}

// SendTimer does the same with a timer that is scheduled. With --wait it prints the timer's name and when it is due: its
// height, or for a watch or a time what is stated in words.
func SendTimer(j *job.Job, msg *types.MsgScheduleTimer, when string) error {
	return send(j, sending(msg), "once it is included, its event timers.v1.TimerScheduled has the timer's name; --"+flagWait+" waits and prints it",
		func(j *job.Job, included *coretypes.ResultTx) error {
			found, err := remote.ScheduledIn(included)
			if err != nil {
				return err
			}
			if msg.Spec.Trigger.Watch == nil && !msg.Spec.Trigger.ByTime() {
				when = fmt.Sprintf("at height %d", found.Due)
			}
			return printScheduled(j, found, included, when)
		})
}

// SendProposal does the same with a proposal of x/gov. With --wait, the default of ProposalCommand, it prints its number, and
// how one votes on it.
func SendProposal(j *job.Job, msg *govv1.MsgSubmitProposal) error {
	return send(j, sending(msg), "once it is included, its event submit_proposal has the proposal's number; --"+flagWait+" waits and prints it",
		func(j *job.Job, tx *coretypes.ResultTx) error {
			id := attributeOf(tx, govtypes.EventTypeSubmitProposal, govtypes.AttributeKeyProposalID)
			if id == "" {
				return printIncluded(j, tx)
			}
			if j.OutputFormat != flags.OutputFormatText {
				return printJSON(j, proposed{ProposalID: id, included: included{Status: statusIncluded, Height: tx.Height, TxHash: hashText(tx.Hash)}})
			}
			return j.PrintString(fmt.Sprintf("proposal %s is submitted: transaction %X is included at height %d\nvote: %s tx gov vote %s yes --from NAME\n",
				id, tx.Hash, tx.Height, plain.App(), id))
		})
}

// Note is told of a signed transaction before it is broadcast, with the height of then.
type Note func(tx []byte, since int64) error

// SendNoted is Send for who must know what became of each transaction, whenever the program ends: it waits, note is told before the
// broadcast, and included once the transaction is in a block and has not failed.
func SendNoted(j *job.Job, note Note, included func(*coretypes.ResultTx) error, msgs ...sdk.Msg) error {
	return sendNoted(j, note, sending(msgs...), "", func(_ *job.Job, tx *coretypes.ResultTx) error { return included(tx) })
}

// sending sends messages by a job.
func sending(msgs ...sdk.Msg) func(*job.Job) error {
	return func(j *job.Job) error { return j.Send(msgs...) }
}

// send runs what ends in a broadcast, and says what became of the transaction. Next is what one does that does not wait.
func send(j *job.Job, run func(*job.Job) error, next string, answer func(*job.Job, *coretypes.ResultTx) error) error {
	return sendNoted(j, nil, run, next, answer)
}

// sendNoted is send, and tells of a transaction before it is broadcast.
func sendNoted(j *job.Job, note Note, run func(*job.Job) error, next string, answer func(*job.Job, *coretypes.ResultTx) error) error {
	waiting := note != nil
	if !waiting {
		stated, err := j.Flags.GetBool(flagWait)
		if err != nil {
			return err
		}
		waiting = stated
	}
	if waiting {
		err := mayBroadcast(j)
		if err != nil && (note != nil || j.Flags.Changed(flagWait)) {
			return err
		}
		waiting = err == nil // it may be the default that waits
	}
	sent, err := sendVia(j, waiting, note, run)
	defer sent.stop()
	switch {
	case err != nil && sent.lost != nil:
		return tellUnknown(j, waiting, sent.hash, sent.lost)
	case err != nil && sent.refused == nil:
		return err
	case sent.refused != nil:
		return errors.Join(fmt.Errorf("the node refused transaction %X: %s", sent.hash, why(j, sent.refused.Error())),
			printFor(j, waiting, refused{Status: statusFailed, TxHash: hashText(sent.hash), RawLog: sent.refused.Error()}))
	case sent.hash == nil && waiting:
		return errors.New("nothing was broadcast")
	case sent.hash == nil:
		return nil
	case sent.code != 0:
		return errors.Join(
			fmt.Errorf("the node refused transaction %X: %s (%s, code %d)", sent.hash, why(j, sent.log), sent.codespace, sent.code),
			printFor(j, waiting, refused{Status: statusFailed, TxHash: hashText(sent.hash), Code: sent.code, Codespace: sent.codespace, RawLog: sent.log}))
	case !waiting:
		j.Notef("transaction %X is broadcast: %s", sent.hash, next)
		return nil
	}
	// Whatever happens to the wait, the transaction can be found by this.
	if sent.lost != nil {
		j.Notef("transaction %X is sent, and waited for; the node gave no answer: %v", sent.hash, sent.lost)
	} else {
		j.Notef("transaction %X is broadcast, and waited for", sent.hash)
	}
	included, err := await(j, sent)
	if err != nil {
		return tellUnknown(j, waiting, sent.hash, err)
	}
	if result := included.TxResult; result.Code != 0 {
		return errors.Join(
			fmt.Errorf("transaction %X failed at height %d: %s (%s, code %d)",
				included.Hash, included.Height, why(j, result.Log), result.Codespace, result.Code),
			printFor(j, waiting, refused{Status: statusFailed, Height: included.Height, TxHash: hashText(included.Hash), Code: result.Code, Codespace: result.Codespace, RawLog: result.Log}))
	}
	return answer(j, included)
}

// outOfGas is how the chain says that a transaction stated too little gas: what it had used by then is more than that.
var outOfGas = regexp.MustCompile(`out of gas in location: \S+; gasWanted: (\d+), gasUsed: (\d+): out of gas`)

// why is what the chain says of a transaction that failed.
func why(j *job.Job, log string) string {
	return outOfGas.ReplaceAllString(j.InWords(plain.Times(plain.NoPaths(log))), "it ran out of gas: --gas $1 is too little, $2 are not enough to end it; --gas auto finds how much it needs")
}

// sendVia sends and returns what was broadcast. What the SDK prints before the broadcast is what the user confirms; its
// answer to the broadcast is printed where JSON is wanted and no one waits for what became of the transaction.
func sendVia(j *job.Job, waiting bool, note Note, run func(*job.Job) error) (*sentTx, error) {
	sent := &sentTx{CometRPC: j.Client, waiting: waiting, note: note, ctx: j.Ctx, stop: func() {}}
	var err error
	if sent.timeout, err = j.Flags.GetDuration(flagWaitTimeout); err != nil {
		return sent, err
	}
	via, output := *j, j.Output
	if waiting {
		output = j.Notes
	}
	via.Context = j.WithOutput(&beforeSent{Writer: output, sent: sent, answers: !waiting && j.OutputFormat != flags.OutputFormatText})
	// Without a node there is nothing to remember, and the SDK says so where it needs one.
	if j.Client != nil {
		via.Context = via.WithClient(sent)
	}
	return sent, run(&via)
}

// beforeSent drops what is written after the broadcast, unless answers are wanted.
type beforeSent struct {
	io.Writer
	sent    *sentTx
	answers bool
}

// Write implements io.Writer.
func (w *beforeSent) Write(text []byte) (int, error) {
	if w.sent.hash != nil && !w.answers {
		return len(text), nil
	}
	return w.Writer.Write(text)
}

// await waits for a transaction as long as --wait-timeout says.
func await(j *job.Job, sent *sentTx) (*coretypes.ResultTx, error) {
	node, err := j.GetNode()
	if err != nil {
		return nil, err
	}
	found, err := remote.Await(sent.ctx, node, sent.hash, sent.before)
	if err != nil && sent.ctx.Err() != nil {
		return nil, fmt.Errorf("%w; --%s %s is over", err, flagWaitTimeout, sent.timeout)
	}
	return found, err
}

// The ends of a transaction, as JSON tells them.
const (
	statusIncluded = "included"
	statusFailed   = "failed"
	statusUnknown  = "unknown"
	statusUnsent   = "not_sent"
)

// exitUnknown is the exit status of a command of which no one knows whether its transaction is included, or will be.
const exitUnknown = 3

// unknownError is of such a transaction.
type unknownError struct{ error }

// ExitCode is the exit status that a command ends with.
func (unknownError) ExitCode() int { return exitUnknown }

func (e unknownError) Unwrap() error { return e.error }

// Unknown tells whether an error is of a transaction that may be included, or become so.
func Unknown(err error) bool {
	unknown := unknownError{}
	return errors.As(err, &unknown)
}

// unknown is what --wait prints as JSON of such a transaction.
type unknown struct {
	Status string `json:"status"`
	TxHash string `json:"txhash"`
	Reason string `json:"reason"`
}

// tellUnknown is the error of a transaction of which no one knows what became of it, and names the commands that find out.
// It is not taken for lost: it may be included later.
func tellUnknown(j *job.Job, waiting bool, hash []byte, why error) error {
	err := why
	if !errors.Is(why, remote.ErrUnknown) {
		err = fmt.Errorf("transaction %X was sent, and %w: %w", hash, remote.ErrUnknown, why)
	}
	err = fmt.Errorf("%w. Before you send it again: \"%s query tx %X\" finds it at a node with an index, and at any node "+
		"\"%s query timers list %s\" shows the timers there are", err, plain.App(), hash, plain.App(), j.Signer.Text)
	return errors.Join(unknownError{err}, printFor(j, waiting, unknown{statusUnknown, hashText(hash), plain.NoPaths(why.Error())}))
}

// included is what --wait prints of a transaction that schedules nothing.
type included struct {
	Status string `json:"status"`
	Height int64  `json:"height"`
	TxHash string `json:"txhash"`
}

// proposed is what --wait prints of a proposal.
type proposed struct {
	ProposalID string `json:"proposal_id"`
	included
}

// refused is what --wait prints as JSON of a transaction that failed.
type refused struct {
	Status string `json:"status"`
	// Height is 0 for one that the node did not take.
	Height    int64  `json:"height"`
	TxHash    string `json:"txhash"`
	Code      uint32 `json:"code"`
	Codespace string `json:"codespace"`
	RawLog    string `json:"raw_log"`
}

// printFor prints for scripts what is no success. Without --wait the node's answer is printed already.
func printFor(j *job.Job, waiting bool, answer any) error {
	if !waiting || j.OutputFormat == flags.OutputFormatText {
		return nil
	}
	return printJSON(j, answer)
}

func printJSON(j *job.Job, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return j.PrintRaw(text)
}

func hashText(hash []byte) string { return strings.ToUpper(hex.EncodeToString(hash)) }

// done is what is printed as JSON of a transaction that is included, with what it did to timers.
type done struct {
	included
	Events []history.Act `json:"events,omitempty"`
}

// printIncluded prints that a transaction is included, and what it did to timers: what passes, and what is next.
func printIncluded(j *job.Job, tx *coretypes.ResultTx) error {
	acts, err := history.Acts(tx.Height, tx.TxResult.Events)
	if err != nil {
		// It is included all the same: a newer chain may have other events.
		j.Notef("what it did to timers is not all known: %v", err)
	}
	if j.OutputFormat != flags.OutputFormatText {
		return printJSON(j, done{included{Status: statusIncluded, Height: tx.Height, TxHash: hashText(tx.Hash)}, acts})
	}
	zone, err := j.Zone()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("transaction %X is included at height %d\n", tx.Hash, tx.Height)
	for i := range acts {
		text += acts[i].Text(zone) + "\n"
	}
	return j.PrintString(text)
}

func printScheduled(j *job.Job, found *types.TimerScheduled, included *coretypes.ResultTx, when string) error {
	if j.OutputFormat == flags.OutputFormatText {
		return j.PrintString(fmt.Sprintf("timer %s/%s is scheduled, due %s: transaction %X is included at height %d\n",
			found.Actor, found.Id, when, included.Hash, included.Height))
	}
	due := found.Due
	if found.DueTime != 0 {
		due = 0
	}
	return printJSON(j, scheduled{
		Status: statusIncluded, Name: found.Actor + "/" + found.Id, Due: due, DueTime: found.DueTime, GasLimit: found.GasLimit,
		ExpiresAt: found.ExpiresAt, ExpiresTime: found.ExpiresTime,
		Height: included.Height, TxHash: hashText(included.Hash),
	})
}

// sentTx is a node that remembers what was broadcast through it: the SDK prints the hash, and does not return it.
type sentTx struct {
	client.CometRPC
	hash      []byte
	code      uint32
	codespace string
	log       string
	// refused is why the node did not take a transaction, where that has no code.
	refused error
	// lost is why the node gave no answer to a transaction that it may have taken.
	lost error
	// note is told before the broadcast, if it is not nil.
	note Note
	// waiting: the transaction is waited for until ctx ends, and before is the height before the broadcast.
	waiting bool
	before  int64
	timeout time.Duration
	ctx     context.Context
	stop    context.CancelFunc
}

// remember takes what a node answers to a transaction. Without an answer the hash is known all the same, and the node may have
// taken it: that ends no wait.
func (s *sentTx) remember(tx cmttypes.Tx, res *coretypes.ResultBroadcastTx, err error) (*coretypes.ResultBroadcastTx, error) {
	switch {
	case err == nil:
		s.hash, s.code, s.codespace, s.log = res.Hash, res.Code, res.Codespace, res.Log
		return res, nil
	case known(err):
		s.hash = tx.Hash()
		return &coretypes.ResultBroadcastTx{Hash: s.hash}, nil
	case !wasSent(err):
		return res, err
	case isAnswer(err):
		s.hash, s.refused = tx.Hash(), err
		return res, err
	}
	s.hash, s.lost = tx.Hash(), err
	if !s.waiting {
		return res, err
	}
	return &coretypes.ResultBroadcastTx{Hash: s.hash}, nil
}

// known tells whether a node has a transaction already, as when it is sent a second time.
func known(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "tx already exists in cache")
}

// wasSent tells whether a node was reached at all.
func wasSent(err error) bool {
	dial := (*net.OpError)(nil)
	return !errors.As(err, &dial) || dial.Op != "dial"
}

// isAnswer tells whether an error is what a node answered, as when its mempool is full.
func isAnswer(err error) bool {
	answer := (*rpctypes.RPCError)(nil)
	return errors.As(err, &answer)
}

// BroadcastTxSync implements client.CometRPC.
func (s *sentTx) BroadcastTxSync(ctx context.Context, tx cmttypes.Tx) (*coretypes.ResultBroadcastTx, error) {
	if s.waiting {
		// Confirming and signing take their time before this.
		s.ctx, s.stop = context.WithTimeout(s.ctx, s.timeout)
		ctx = s.ctx
		info, err := s.ABCIInfo(ctx)
		if err != nil {
			return nil, err
		}
		s.before = info.Response.LastBlockHeight
		if s.note != nil {
			if err := s.note(tx, s.before); err != nil {
				return nil, err
			}
		}
	}
	res, err := s.CometRPC.BroadcastTxSync(ctx, tx)
	return s.remember(tx, res, err)
}

// BroadcastTxAsync implements client.CometRPC.
func (s *sentTx) BroadcastTxAsync(ctx context.Context, tx cmttypes.Tx) (*coretypes.ResultBroadcastTx, error) {
	res, err := s.CometRPC.BroadcastTxAsync(ctx, tx)
	return s.remember(tx, res, err)
}
