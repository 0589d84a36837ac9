// Package completion lets shells complete the command line of the module.
package completion

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/lists"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// timeout is for how long a shell waits for a node.
	timeout = time.Second
	// offeredTimers is how many ids are offered.
	offeredTimers = 100
	offeredDigits = 8
)

// completions are the values that shells offer for flags.
func completions() map[string][]string {
	return map[string][]string{
		bids.FlagTier: bids.TierNames(), bids.FlagGasLimit: {bids.AutoGas}, lists.FlagStatus: lists.StatusNames(),
		draft.FlagOnFailure: {"roll", "stop", "suspend"}, draft.FlagOnUnfunded: {"destroy", "suspend", "skip"},
		draft.FlagEveryFrom: {"fire", "schedule"}, draft.FlagMissed: {"latest", "each"}, draft.FlagZone: timespan.Zones(),
		// Elsewhere the flag states a time.
		"grant --" + draft.FlagFor: {"schedule", "update", "extend", "pause", "resume", "cancel"},
	}
}

// Offer is what a shell offers for a word, as cobra asks for it.
type Offer = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// offersOfFlags are the flags whose values depend on the key ring or the chain.
func offersOfFlags() map[string]Offer {
	return map[string]Offer{flags.FlagFrom: offerKeys, draft.FlagPayer: offerKeys}
}

// offersOfArguments are the commands that take keys and timers as arguments.
func offersOfArguments() map[string]Offer {
	return map[string]Offer{
		"cancel": offerOwnTimers, "update": onlyFirst(offerOwnTimers), "extend": onlyFirst(offerOwnTimers), "pause": onlyFirst(offerOwnTimers),
		"resume": onlyFirst(offerOwnTimers), "timer": onlyFirst(offerAnyTimer),
		"send": onlyFirst(offerKeys), "grant": onlyFirst(offerKeys), "list": onlyFirst(offerKeys), "monitor": onlyFirst(offerKeys),
		"history":          onlyFirst(offerAnyTimer),
		"sys-cancel-timer": offerActorAndTimer, "sys-extend-timer": offerActorAndTimer, "sys-release-timer": offerActorAndTimer,
	}
}

// Complete lets shells offer the values of flags and arguments, in a command and all below it. More are the offers of
// further flags.
func Complete(cmd *cobra.Command, more map[string]Offer) *cobra.Command {
	offered, asked := completions(), offersOfFlags()
	maps.Copy(asked, more)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		// Registering fails for a flag that has values already, and these are the same.
		values := offered[f.Name]
		if len(values) == 0 {
			values = offered[cmd.Name()+" --"+f.Name]
		}
		if len(values) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(slices.Clone(values), cobra.ShellCompDirectiveNoFileComp))
		} else if ask := asked[f.Name]; ask != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, ask)
		}
	})
	if ask := offersOfArguments()[cmd.Name()]; ask != nil && cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = ask
	}
	for _, below := range cmd.Commands() {
		Complete(below, more)
	}
	return cmd
}

const (
	// NoFiles: what is offered is all that there is.
	NoFiles = cobra.ShellCompDirectiveNoFileComp
	// GoesOn: what is offered is not all of the word.
	GoesOn = NoFiles | cobra.ShellCompDirectiveNoSpace
)

func onlyFirst(ask Offer) Offer {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, NoFiles
		}
		return ask(cmd, args, word)
	}
}

// NewJob is a job that completes a command line; nil without a context, for which there is no one to tell why.
func NewJob(cmd *cobra.Command) (*job.Job, context.CancelFunc) {
	// Shells ask without what runs before a command, which makes the context.
	if before := cmd.Root().PersistentPreRunE; before != nil && before(cmd, nil) != nil {
		return nil, nil
	}
	clientCtx, err := client.GetClientQueryContext(cmd)
	if err != nil {
		return nil, nil
	}
	j := job.New(cmd, clientCtx)
	ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
	j.Ctx, j.Context = ctx, j.WithCmdContext(ctx)
	return j, cancel
}

// keyNames are those of a key ring that asks no password.
func keyNames(j *job.Job) []string {
	if j.Keyring == nil || j.Keyring.Backend() != keyring.BackendTest && j.Keyring.Backend() != keyring.BackendMemory {
		return nil
	}
	records, err := j.Keyring.List()
	if err != nil {
		return nil
	}
	names := make([]string, len(records))
	for i, record := range records {
		names[i] = record.Name
	}
	slices.Sort(names)
	return names
}

func offerKeys(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	j, done := NewJob(cmd)
	if j == nil {
		return nil, NoFiles
	}
	defer done()
	return Beginning(keyNames(j), word), NoFiles
}

// Beginning are the words that begin with what is typed already.
func Beginning(all []string, typed string) []string {
	return slices.DeleteFunc(all, func(one string) bool { return !strings.HasPrefix(one, typed) })
}

// oneWord is a name that every shell takes as one word.
var oneWord = regexp.MustCompile(`^[\w.,@%+=-]+$`)

// timersOf are an actor's first timers as a shell offers them: what is typed, and a description. So is
// its name.
func timersOf(j *job.Job, actor, before string) []string {
	var offered []string
	timers := firstTimers(j, actor)
	for i := range timers {
		t := &timers[i]
		says := j.Says(t)
		offered = append(offered, before+plain.Clip(plain.Clean(t.Id), offeredDigits)+"\t"+says)
		if oneWord.MatchString(t.Spec.Name) {
			offered = append(offered, before+t.Spec.Name+"\t"+j.Row(t))
		}
	}
	slices.Sort(offered)
	return offered
}

// firstTimers are an actor's first timers.
func firstTimers(j *job.Job, actor string) []types.TimerInfo {
	account, err := j.LookupAccount(actor)
	if err != nil {
		return nil
	}
	var timers []types.TimerInfo
	err = j.EachTimer(account.Text, func(t *types.TimerInfo) {
		if len(timers) < offeredTimers {
			timers = append(timers, *t)
		}
	})
	if err != nil {
		return nil
	}
	return timers
}

// offerOwnTimers offers the timers of --from.
func offerOwnTimers(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	j, done := NewJob(cmd)
	if j == nil {
		return nil, NoFiles
	}
	defer done()
	actor := cmd.Flags().Lookup(flags.FlagFrom).Value.String()
	return Beginning(timersOf(j, actor, ""), word), NoFiles
}

// offerAnyTimer offers actors, and behind the slash their timers.
func offerAnyTimer(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	j, done := NewJob(cmd)
	if j == nil {
		return nil, NoFiles
	}
	defer done()
	if actor, _, found := strings.Cut(word, "/"); found {
		return Beginning(timersOf(j, actor, actor+"/"), word), NoFiles
	}
	names := keyNames(j)
	for i := range names {
		names[i] += "/"
	}
	return Beginning(names, word), GoesOn
}

// offerActorAndTimer offers an actor and then its timers.
func offerActorAndTimer(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return offerKeys(cmd, args, word)
	case 1:
		j, done := NewJob(cmd)
		if j == nil {
			return nil, NoFiles
		}
		defer done()
		return Beginning(timersOf(j, args[0], ""), word), NoFiles
	default:
		return nil, NoFiles
	}
}
