// Package history shows what happened to timers, from the event index of a node.
package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// NewCommand is the command history.
func NewCommand() *cobra.Command {
	cmd := job.QueryCommand(&cobra.Command{
		Use:   "history [actor[/id-prefix]]",
		Short: "Show what happened to an actor's timers, or to one of them, newest first",
		Long: "Show what happened to an actor's timers, or to one of them, newest first: what fired with its outcome and its price, what expired, " +
			"what was scheduled, changed, paused and cancelled. Timers that are gone are found too, as long as the node remembers: " +
			"the chain's state keeps no history, so this comes from the event index of the node that is asked. Each is named by its id or its name; of several gone ones with a name the newest is shown.",
		Example: fmt.Sprintf(`%[1]s query timers history alice
%[1]s query timers history alice/3fa9 --page-limit 50 --before 120000
%[1]s query timers history alice/rent`, plain.App()),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			j := job.New(cmd, clientCtx)
			h, err := readHistory(j, args[0])
			if err != nil {
				return err
			}
			return printHistory(j, h)
		},
	})
	cmd.Flags().Int(flagLimit, defaultHistory, fmt.Sprintf("how many heights to show, at most %d", maxHistory))
	cmd.Flags().Uint64(flagBefore, 0, "show what happened below this height (default: the newest)")
	return cmd
}

func readHistory(j *job.Job, text string) (*history, error) {
	who, name, one := strings.Cut(text, "/")
	actor, err := j.LookupAccount(who)
	if err != nil {
		return nil, fmt.Errorf("history of %.200q: %w", text, err)
	}
	limit, err := j.Flags.GetInt(flagLimit)
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > maxHistory {
		return nil, fmt.Errorf("--%s %d is out of bounds: want 1 to %d", flagLimit, limit, maxHistory)
	}
	before, err := j.Flags.GetUint64(flagBefore)
	if err != nil {
		return nil, err
	}
	node, err := j.GetNode()
	if err != nil {
		return nil, err
	}
	s := search{node: node, actor: actor.Text, limit: limit, before: before, txs: map[int64][]abci.Event{}, blocks: map[int64]bool{}}
	if !one {
		return s.run(j.Ctx)
	}
	return ofTimer(j, &s, name)
}

// ofTimer searches for one timer: by the beginning of its id, which finds those that are gone too, or by its name: the live one, or
// of those that are gone the newest.
func ofTimer(j *job.Job, s *search, name string) (*history, error) {
	var err error
	if s.prefix, err = types.ParseIDPrefix(name); err == nil {
		return s.run(j.Ctx)
	}
	timer, err := j.Find(s.actor, name)
	switch {
	case errors.Is(err, job.ErrNoTimer):
		return ofGone(j, s, name, err)
	case err != nil:
		return nil, err
	}
	j.Notef("timer %s/%s: %s", s.actor, timer.Id, j.Says(&timer))
	s.prefix = timer.Id
	return s.run(j.Ctx)
}

// ofGone searches for a timer that is gone, by its name: of several the newest.
func ofGone(j *job.Job, s *search, name string, none error) (*history, error) {
	ids, err := s.named(j.Ctx, name)
	switch {
	case err != nil:
		return nil, err
	case len(ids) == 0:
		return nil, fmt.Errorf("%w, and this node knows of none that is gone", none)
	}
	s.prefix = ids[0]
	j.Notef("timer %s/%s had the name %s, and is gone", s.actor, ids[0], name)
	if len(ids) > 1 {
		j.Notef("%s before it had the name too: %s", plain.Count(uint64(len(ids)-1), "timer"), strings.Join(ids[1:min(len(ids), 1+shownGone)], ", "))
	}
	return s.run(j.Ctx)
}

// shownGone is how many other timers with a name are named.
const shownGone = 10

// noteKnown says from which height on a node knows anything.
func (h *history) noteKnown(j *job.Job) {
	if h.KnownFrom > 0 {
		j.Notef("this node knows nothing of what was before height %d, its first block: a node that has more is asked with --%s", h.KnownFrom, flags.FlagNode)
	}
}

func printHistory(j *job.Job, h *history) error {
	h.Totals = h.totals()
	if j.OutputFormat == flags.OutputFormatJSON {
		text, err := json.Marshal(h)
		if err != nil {
			return err
		}
		return j.PrintRaw(text)
	}
	h.noteKnown(j)
	if len(h.Events) == 0 {
		j.Notef("nothing is found: nothing happened, or the node did not index it, or has pruned it")
		return nil
	}
	zone, err := j.Zone()
	if err != nil {
		return err
	}
	stamp := stampIn(zone)
	table := tabwriter.NewWriter(j.Output, 0, 0, 2, ' ', 0)
	_, err = fmt.Fprintln(table, "HEIGHT\tTIMER\tWHAT\tRESULT\tPAID\tNEXT DUE\tMORE")
	for _, row := range h.Events {
		what := row.words(stamp)
		_, err = fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Height, row.Timer[:min(len(row.Timer), 12)], row.what(), what[0], what[1], what[2], what[3])
	}
	if err == nil {
		err = table.Flush()
	}
	if t := h.Totals; err == nil && t.Fired > 0 {
		j.Notef("on this page: %s, %d of them failed, %s paid in all", plain.Count(uint64(t.Fired), "fire"), t.Failed, t.Paid)
	}
	if err == nil && h.Before > 0 {
		j.Notef("older: --%s %d", flagBefore, h.Before)
	}
	return err
}

// stampIn writes seconds since 1970 in a zone.
func stampIn(zone *time.Location) func(seconds int64) string {
	return func(seconds int64) string { return timespan.Stamp(time.Unix(seconds, 0), zone) }
}
