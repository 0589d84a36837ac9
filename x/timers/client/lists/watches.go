package lists

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagStore  = "store"
	flagPrefix = "prefix"
	flagActor  = "actor"
)

// newWatchesCmd is no command of AutoCLI's, whose flags take addresses alone: they are read before the key ring is known.
func newWatchesCmd() *cobra.Command {
	cmd := job.QueryCommand(&cobra.Command{
		Use:   "watches",
		Short: "List the watches of a store, of one prefix in it, or of an actor",
		Long: "List the watches of a store (--store), of exactly one prefix in it (--prefix, as watch-key prints it), or of an actor (--actor), " +
			"an address or the name of a key.",
		Example: fmt.Sprintf("%[1]s query timers watches --actor alice\n%[1]s query timers watches --store bank --page-limit 20", plain.App()),
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runWatches(cmd) },
	})
	f := cmd.Flags()
	f.Lookup(flags.FlagOutput).Usage = outputUsage
	f.String(flagStore, "", "store whose watches are listed")
	f.String(flagPrefix, "", "prefix in the store, exactly, in base64")
	f.String(flagActor, "", "actor whose watches are listed")
	addPageFlags(f)
	return cmd
}

func runWatches(cmd *cobra.Command) error {
	clientCtx, err := client.GetClientQueryContext(cmd)
	if err != nil {
		return err
	}
	j := job.New(cmd, clientCtx)
	request := &types.QueryWatchesRequest{}
	if request.Pagination, err = pageRequest(j); err != nil {
		return err
	}
	request.Store, _ = j.Stated(flagStore)
	text, _ := j.Stated(flagPrefix)
	if request.Prefix, err = base64.StdEncoding.DecodeString(text); err != nil {
		return fmt.Errorf("--%s %.80q is no base64: want what watch-key prints", flagPrefix, text)
	}
	if name, given := j.Stated(flagActor); given {
		actor, err := j.LookupAccount(name)
		if err != nil {
			return fmt.Errorf("--%s: %w", flagActor, err)
		}
		request.Actor = actor.Text
	}
	if (request.Store == "") == (request.Actor == "") {
		return fmt.Errorf("--%s and --%s: want one of them", flagStore, flagActor)
	}
	answer, err := types.NewQueryClient(j.Context).Watches(j.Ctx, request)
	if err != nil {
		return errors.New(plain.ServerSays(err))
	}
	if err := showWatches(j, answer); err != nil {
		return err
	}
	noteMore(j, answer.Pagination)
	return nil
}

func showWatches(j *job.Job, answer *types.QueryWatchesResponse) error {
	output, err := outputOf(j)
	if err != nil {
		return err
	}
	does := j.AskDoes(answer.Watches)
	switch {
	case output == flags.OutputFormatJSON || output == outputYAML:
		return printWatches(j, output, answer, does)
	case len(answer.Watches) == 0:
		j.Notef("no watches")
		return nil
	}
	out := tabwriter.NewWriter(j.Output, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "ID\tACTOR\tDUE WHEN\tDOES\tFIRES LEFT\tSTATUS\tEXPIRES")
	for i := range answer.Watches {
		w := &answer.Watches[i]
		id, left := w.TimerId, "until it expires"
		if output != outputWide {
			id = plain.Clip(id, shownDigits)
		}
		if w.Remaining != 0 {
			left = plain.Thousands(w.Remaining)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", id, plain.Clean(j.Name(w.Actor)),
			watched(j, []types.WatchKey{w.Key}, true), clipTo(does[i], output == outputWide), left, words.StatusName(w.Phase), w.ExpiresAt)
	}
	return out.Flush()
}

// printWatches prints watches as JSON or YAML, with what their timers do in words.
func printWatches(j *job.Job, output string, answer *types.QueryWatchesResponse, does []string) error {
	objects := make([]json.RawMessage, len(answer.Watches))
	for i := range answer.Watches {
		text, err := j.Codec.MarshalJSON(&answer.Watches[i])
		if err != nil {
			return err
		}
		if objects[i], err = job.Add(text, "does", does[i]); err != nil {
			return err
		}
	}
	return printWith(j, output, &types.QueryWatchesResponse{Pagination: answer.Pagination}, "watches", objects)
}
