// Package cli holds the commands of the module that AutoCLI can't make: those that convert times to heights, files to
// payloads, and short names of timers to whole ones, and those that show more than one answer. README.md beside this file
// is their reference.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/client/tx"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// account is an address, as bytes and as text.
type account struct {
	bytes sdk.AccAddress
	text  string
}

// job is one run of a command.
type job struct {
	client.Context
	ctx   context.Context
	flags *pflag.FlagSet
	stdin io.Reader
	// notes is where the user is told what was worked out: not on standard output, which carries the result.
	notes io.Writer
	// from signs, and owns the timers. Not set in a query.
	from account

	// msgs are the messages of the payload, once they are read.
	msgs  []sdk.Msg
	known *clock
}

// newTxJob reads the flags that transactions share.
func newTxJob(cmd *cobra.Command) (*job, error) {
	clientCtx, err := client.GetClientTxContext(cmd)
	if err != nil {
		return nil, err
	}
	j := newJob(cmd, clientCtx)
	if clientCtx.GetFromAddress().Empty() {
		return nil, fmt.Errorf("--%s is missing: want the name or the address of the key that signs and owns the timer", flags.FlagFrom)
	}
	j.from, err = j.accountOf(clientCtx.GetFromAddress())
	return j, err
}

func newJob(cmd *cobra.Command, clientCtx client.Context) *job {
	clientCtx = clientCtx.WithCmdContext(cmd.Context()).WithOutput(cmd.OutOrStdout())
	return &job{
		Context: clientCtx, ctx: cmd.Context(), flags: cmd.Flags(), stdin: cmd.InOrStdin(), notes: cmd.ErrOrStderr(),
	}
}

func (j *job) notef(format string, args ...any) { _, _ = fmt.Fprintf(j.notes, format+"\n", args...) }

// stated returns the text of a flag, and whether it was given.
func (j *job) stated(flag string) (string, bool) {
	if !j.flags.Changed(flag) {
		return "", false
	}
	return j.flags.Lookup(flag).Value.String(), true
}

// takeFlag reads a flag and clears it, before the SDK reads it as its own.
func takeFlag(cmd *cobra.Command, name string) (string, error) {
	flag := cmd.Flags().Lookup(name)
	value := flag.Value.String()
	return value, flag.Value.Set("")
}

// oneOf returns which of the flags was given: exactly one may be, and one must be if needed.
func (j *job) oneOf(purpose string, needed bool, names ...string) (flag, value string, err error) {
	for _, candidate := range names {
		text, given := j.stated(candidate)
		if !given {
			continue
		}
		if flag != "" {
			return "", "", fmt.Errorf("--%s %q and --%s %q both state %s: want one of them", flag, value, candidate, text, purpose)
		}
		flag, value = candidate, text
	}
	if flag == "" && needed {
		return "", "", fmt.Errorf("%s is missing: want one of %s", purpose, listFlags(names))
	}
	return flag, value, nil
}

func listFlags(names []string) string {
	text := ""
	for i, flag := range names {
		if i > 0 {
			text += ", "
		}
		text += "--" + flag
	}
	return text
}

// accountOf writes an address as this chain does.
func (j *job) accountOf(addr sdk.AccAddress) (account, error) {
	text, err := j.InterfaceRegistry.SigningContext().AddressCodec().BytesToString(addr)
	return account{addr, text}, err
}

// lookupAccount reads an address or the name of a key.
func (j *job) lookupAccount(text string) (account, error) {
	addr, err := j.InterfaceRegistry.SigningContext().AddressCodec().StringToBytes(text)
	if err == nil {
		return j.accountOf(addr)
	}
	if j.Keyring != nil {
		if record, keyErr := j.Keyring.Key(text); keyErr == nil {
			addr, err := record.GetAddress()
			if err != nil {
				return account{}, err
			}
			return j.accountOf(addr)
		}
	}
	return account{}, fmt.Errorf("%.120q is neither an address of this chain (%w) nor the name of a key", text, err)
}

// clock asks the node what height it is, once.
func (j *job) clock() (clock, error) {
	if j.known != nil {
		return *j.known, nil
	}
	if j.Offline {
		return clock{}, fmt.Errorf("distances from now need a node: with --%s, state a height", flags.FlagOffline)
	}
	node, err := j.GetNode()
	if err != nil {
		return clock{}, err
	}
	c, err := readClock(j.ctx, node)
	if err != nil {
		return clock{}, err
	}
	j.known = &c
	return c, nil
}

// ownTimer reads the name of one of the signer's timers and returns its whole id.
func (j *job) ownTimer(text string) (string, error) {
	n, err := parseName(text)
	if err != nil {
		return "", err
	}
	if n.actor != "" {
		actor, err := j.lookupAccount(n.actor)
		if err != nil {
			return "", fmt.Errorf("timer %.200q: %w", text, err)
		}
		if !actor.bytes.Equals(j.from.bytes) {
			return "", fmt.Errorf("timer %.200q belongs to %s, and --%s is %s: only its owner may change it",
				text, actor.text, flags.FlagFrom, j.from.text)
		}
	}
	if n.whole() {
		return n.prefix, nil
	}
	if j.Offline {
		return "", fmt.Errorf("timer %.200q: a short id needs a node: with --%s, state all %d digits",
			text, flags.FlagOffline, 2*types.IDBytes)
	}
	timer, err := resolve(j.ctx, types.NewQueryClient(j.Context), j.from.text, n.prefix)
	if err != nil {
		return "", err
	}
	j.notef("timer %s/%s", j.from.text, timer.Id)
	return timer.Id, nil
}

// send signs and broadcasts, or prints, as the flags of transactions say.
func (j *job) send(msg sdk.Msg) error { return tx.GenerateOrBroadcastTxCLI(j.Context, j.flags, msg) }

// NewTxCmd returns the module's transactions; AutoCLI adds the authority's.
func NewTxCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:                        types.ModuleName,
		Short:                      "Schedule, change and cancel timers",
		SuggestionsMinimumDistance: 2,
		RunE:                       client.ValidateCmd,
	}
	cmd.AddCommand(newScheduleCmd(), newUpdateCmd(), newExtendCmd(), newCancelCmd(), newPauseCmd(), newResumeCmd(), newSetAgentCmd(),
		newUpdateConfigCmd())
	return cmd
}

// NewQueryCmd returns the module's queries; AutoCLI adds the lists.
func NewQueryCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:                        types.ModuleName,
		Short:                      "Look at timers, the lane and receipts",
		SuggestionsMinimumDistance: 2,
		RunE:                       client.ValidateCmd,
	}
	cmd.AddCommand(newTimerCmd(), newEstimateCmd(), newHistoryCmd(), newWatchCmd())
	return cmd
}

// newTimerCmd shows one timer. Its messages are printed as --msgs takes them.
func newTimerCmd() *cobra.Command {
	return queryCommand(&cobra.Command{
		Use:     "timer [actor/id-prefix]",
		Short:   "Show one timer, by its actor and the beginning of its id",
		Long:    "Show one timer, by its actor, an address or a key's name, and as many digits of its id as tell it from the actor's other timers. The payload of an account's timer is shown decoded, as messages.",
		Example: version.AppName + " query timers timer alice/3fa9",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			j := newJob(cmd, clientCtx)
			n, err := parseName(args[0])
			if err != nil {
				return err
			}
			if n.actor == "" {
				return errors.New("timer " + args[0] + " names no actor: want ACTOR/ID-PREFIX")
			}
			actor, err := j.lookupAccount(n.actor)
			if err != nil {
				return fmt.Errorf("timer %.200q: %w", args[0], err)
			}
			timer, err := resolve(j.ctx, types.NewQueryClient(j.Context), actor.text, n.prefix)
			if err != nil {
				return err
			}
			return j.PrintProto(&types.QueryTimerResponse{Timer: timer})
		},
	})
}

// queryCommand adds what every query's command has.
func queryCommand(cmd *cobra.Command) *cobra.Command {
	cmd.SilenceUsage = true
	flags.AddQueryFlagsToCmd(cmd)
	flags.AddKeyringFlags(cmd.Flags())
	return cmd
}

// txCommand adds what every transaction's command has.
func txCommand(cmd *cobra.Command) *cobra.Command {
	// A mistake is explained in its own words, without a page of flags after it.
	cmd.SilenceUsage = true
	flags.AddTxFlagsToCmd(cmd)
	return cmd
}
