package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/govern"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/lists"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// completionTimeout is for how long a shell waits for a node.
	completionTimeout = time.Second
	// offeredTimers is how many ids are offered.
	offeredTimers = 100
	offeredDigits = 8
)

// completions are the values that shells offer for flags.
func completions() map[string][]string {
	return map[string][]string{
		bids.FlagTier: bids.TierNames(), bids.FlagGasLimit: {bids.AutoGas}, lists.FlagStatus: lists.StatusNames(),
		draft.FlagOnFailure: {"roll", "stop"}, draft.FlagOnUnfunded: {"destroy", "suspend"},
		draft.FlagFor: {"schedule", "update", "extend", "pause", "resume", "cancel"},
	}
}

// offer is what a shell offers for a word, as cobra asks for it.
type offer = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// offersOfFlags are the flags whose values depend on the key ring or the config.
func offersOfFlags() map[string]offer {
	return map[string]offer{flags.FlagFrom: offerKeys, draft.FlagPayer: offerKeys, govern.FlagSet: offerParameters}
}

// offersOfArguments are the commands that take keys and timers as arguments.
func offersOfArguments() map[string]offer {
	return map[string]offer{
		"cancel": offerOwnTimers, "update": onlyFirst(offerOwnTimers), "extend": onlyFirst(offerOwnTimers), "pause": onlyFirst(offerOwnTimers),
		"resume": onlyFirst(offerOwnTimers), "timer": onlyFirst(offerAnyTimer),
		"send": onlyFirst(offerKeys), "grant": onlyFirst(offerKeys), "list": onlyFirst(offerKeys), "monitor": onlyFirst(offerKeys),
		"history":          onlyFirst(offerAnyTimer),
		"sys-cancel-timer": offerActorAndTimer, "sys-extend-timer": offerActorAndTimer, "sys-release-timer": offerActorAndTimer,
	}
}

// complete lets shells offer the values of flags and arguments, in a command and all below it.
func complete(cmd *cobra.Command) *cobra.Command {
	offered, asked := completions(), offersOfFlags()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		// Registering fails for a flag that has values already, and these are the same.
		if values := offered[f.Name]; len(values) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(slices.Clone(values), cobra.ShellCompDirectiveNoFileComp))
		} else if ask := asked[f.Name]; ask != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, ask)
		}
	})
	if ask := offersOfArguments()[cmd.Name()]; ask != nil && cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = ask
	}
	for _, below := range cmd.Commands() {
		complete(below)
	}
	return cmd
}

const (
	noFiles = cobra.ShellCompDirectiveNoFileComp
	// goesOn: what is offered is not all of the word.
	goesOn = noFiles | cobra.ShellCompDirectiveNoSpace
)

func onlyFirst(ask offer) offer {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFiles
		}
		return ask(cmd, args, word)
	}
}

// completionJob is a job that completes a command line; nil without a context, for which there is nobody to tell why.
func completionJob(cmd *cobra.Command) (*job.Job, context.CancelFunc) {
	// Shells ask without what runs before a command, which makes the context.
	if before := cmd.Root().PersistentPreRunE; before != nil && before(cmd, nil) != nil {
		return nil, nil
	}
	clientCtx, err := client.GetClientQueryContext(cmd)
	if err != nil {
		return nil, nil
	}
	j := job.New(cmd, clientCtx)
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
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
	j, done := completionJob(cmd)
	if j == nil {
		return nil, noFiles
	}
	defer done()
	return beginning(keyNames(j), word), noFiles
}

// beginning are the words that begin with what is typed already.
func beginning(all []string, typed string) []string {
	return slices.DeleteFunc(all, func(one string) bool { return !strings.HasPrefix(one, typed) })
}

// timersOf are an actor's timers as a shell offers them: what is typed, and a description.
func timersOf(j *job.Job, actor, before string) []string {
	account, err := j.LookupAccount(actor)
	if err != nil {
		return nil
	}
	answer, err := types.NewQueryClient(j.Context).TimersByActor(j.Ctx, &types.QueryTimersByActorRequest{
		Actor: account.Text, Pagination: &query.PageRequest{Limit: offeredTimers},
	})
	if err != nil {
		return nil
	}
	w := words.Writer{Codec: j.Codec, Who: j.Name}
	offered := make([]string, len(answer.Timers))
	for i := range answer.Timers {
		t := &answer.Timers[i]
		text := w.Timer(t)
		if t.Label != "" {
			text = plain.Clean(t.Label) + ": " + text
		}
		offered[i] = before + plain.Clip(plain.Clean(t.Id), offeredDigits) + "\t" + text
	}
	slices.Sort(offered)
	return offered
}

// offerOwnTimers offers the timers of --from.
func offerOwnTimers(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	j, done := completionJob(cmd)
	if j == nil {
		return nil, noFiles
	}
	defer done()
	actor := cmd.Flags().Lookup(flags.FlagFrom).Value.String()
	return beginning(timersOf(j, actor, ""), word), noFiles
}

// offerAnyTimer offers actors, and behind the slash their timers.
func offerAnyTimer(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	j, done := completionJob(cmd)
	if j == nil {
		return nil, noFiles
	}
	defer done()
	if actor, _, found := strings.Cut(word, "/"); found {
		return beginning(timersOf(j, actor, actor+"/"), word), noFiles
	}
	names := keyNames(j)
	for i := range names {
		names[i] += "/"
	}
	return beginning(names, word), goesOn
}

// offerActorAndTimer offers an actor and then its timers.
func offerActorAndTimer(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return offerKeys(cmd, args, word)
	case 1:
		j, done := completionJob(cmd)
		if j == nil {
			return nil, noFiles
		}
		defer done()
		return beginning(timersOf(j, args[0], ""), word), noFiles
	default:
		return nil, noFiles
	}
}

// offerParameters offers the parameters of the config, and of the policy its values.
func offerParameters(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	const policy = "policy="
	if strings.HasPrefix(word, policy) {
		var names []string
		for number := range types.Policy_name {
			if number != 0 {
				names = append(names, policy+types.Policy(number).String())
			}
		}
		slices.Sort(names)
		return beginning(names, word), noFiles
	}
	names := types.ConfigFields.Paths()
	for i := range names {
		names[i] += "="
	}
	slices.Sort(names)
	return beginning(names, word), goesOn
}
