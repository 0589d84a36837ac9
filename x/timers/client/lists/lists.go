// Package lists shows timers as tables.
package lists

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cosmos/gogoproto/proto"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// FlagStatus names the status of the timers to list.
const FlagStatus = "status"

const (
	flagUntil     = "until"
	flagScheduler = "scheduler"
	flagPageLimit = "page-limit"
	flagPageKey   = "page-key"
	// The forms of output beside JSON; text is what client.toml calls the table.
	outputWide, outputYAML = "wide", "yaml"
	// defaultRows is how many timers are shown.
	defaultRows = 100
	outputUsage = "form of the output (text|wide|json|yaml)"
	// shownDigits of an id are enough to tell most timers of an actor apart.
	shownDigits = 8
)

// Commands are the lists of timers.
func Commands() []*cobra.Command {
	list := command(&cobra.Command{
		Use:   "list [actor]",
		Short: "List the live timers of an actor",
		Long: "List the live timers of an actor, an address or the name of a key: by default of --" + flags.FlagFrom + ". A timer is live until " +
			"it has fired, expired, run out of funds or been cancelled.",
		Example: fmt.Sprintf("%[1]s query timers list alice\n%[1]s query timers list --from alice --status on-hold -o wide\n%[1]s query timers list CONTRACT --scheduler alice", plain.App()),
		Args:    job.AtMostOne("account"),
	}, readActor)
	list.Flags().String(flags.FlagFrom, "", "whose timers to list, if no actor is named")
	list.Flags().String(flagScheduler, "", "only timers of a contract that this admin scheduled: an address or the name of a key")
	due := command(&cobra.Command{
		Use:     "due [height or time]",
		Short:   "List the timers that are due at a height or a time, or up to it",
		Long:    "List the timers that are due at a height, in the order of the queue, or those that wait for a time, a date and time or a time of day, by their times. A timer whose time has come is in the queue, by the height of the block that collected it. With --until, list all that are due at or before that height or time.",
		Example: plain.App() + " query timers due 1234 --until\n" + plain.App() + " query timers due '2030-01-31 09:00' --until",
		Args:    cobra.ExactArgs(1),
	}, readDue)
	due.Flags().Bool(flagUntil, false, "list also the timers that are due before the height or the time")
	return []*cobra.Command{
		list, due, newWatchableCmd(), newWatchesCmd(), newReceiptsCmd(), newDeliveriesCmd(), newLaneCmd(),
		command(&cobra.Command{
			Use:     "ready",
			Short:   "List the ready timers in the order in which the next block tries them",
			Long:    "List the ready timers in the order in which the next block tries them. Timers that are priced out at its prices are left out. So are, under overload, timers that do not compete yet, and, under policy tip, timers that wait for their payers. Under tip, timers beyond their actor's slice of the lane are tried after the others.",
			Example: plain.App() + " query timers ready",
			Args:    cobra.NoArgs,
		}, readReady),
		command(&cobra.Command{
			Use:     "on-hold",
			Short:   "List the timers that are on hold",
			Long:    "List the timers that are on hold. Governance releases or cancels quarantined timers. Unrunnable timers return by themselves when a config can run them. Unfunded ones, which their payers could not cover when their turn came, return by themselves when their payers can. Owners resume suspended timers, whose payers lacked funds too, and paused ones. All of them still expire at their expiry height.",
			Example: plain.App() + " query timers on-hold",
			Args:    cobra.NoArgs,
		}, readOnHold),
	}
}

// page is what a list answers.
type page interface {
	proto.Message
	GetTimers() []types.TimerInfo
	GetPagination() *query.PageResponse
}

// list asks for one page, and tells whether the timers are one actor's.
type list func(j *job.Job, query types.QueryClient, args []string) (ask func(*query.PageRequest) (page, error), own bool, err error)

func command(cmd *cobra.Command, read list) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		clientCtx, err := client.GetClientQueryContext(cmd)
		if err != nil {
			return err
		}
		j := job.New(cmd, clientCtx)
		request, err := pageRequest(j)
		if err != nil {
			return err
		}
		only, err := readFilter(j)
		if err != nil {
			return err
		}
		ask, own, err := read(j, types.NewQueryClient(j.Context), args)
		if err != nil {
			return err
		}
		answer, err := ask(request)
		if err != nil {
			return errors.New(plain.ServerSays(err))
		}
		return show(j, answer, only, own)
	}
	job.QueryCommand(cmd)
	f := cmd.Flags()
	f.Lookup(flags.FlagOutput).Usage = outputUsage
	f.String(FlagStatus, "", "only timers of this status: "+strings.Join(StatusNames(), ", "))
	addPageFlags(f)
	return cmd
}

func addPageFlags(f *pflag.FlagSet) {
	f.Uint64(flagPageLimit, defaultRows, "how many to ask for")
	f.String(flagPageKey, "", "where to go on, as the page before says")
}

func readActor(j *job.Job, client types.QueryClient, args []string) (func(*query.PageRequest) (page, error), bool, error) {
	text := j.Flags.Lookup(flags.FlagFrom).Value.String()
	if len(args) > 0 {
		text = args[0]
	}
	if text == "" {
		return nil, false, fmt.Errorf("whose timers? want an actor, an address or the name of a key: list alice, or list --%s alice", flags.FlagFrom)
	}
	actor, err := j.LookupAccount(text)
	if err != nil {
		return nil, false, fmt.Errorf("timers of %.200q: %w", text, err)
	}
	return func(p *query.PageRequest) (page, error) {
		return client.TimersByActor(j.Ctx, &types.QueryTimersByActorRequest{Actor: actor.Text, Pagination: p, Verdict: true})
	}, true, nil
}

func readDue(j *job.Job, client types.QueryClient, args []string) (func(*query.PageRequest) (page, error), bool, error) {
	asked, err := dueAt(j, args[0])
	if err != nil {
		return nil, false, err
	}
	if asked.Until, err = j.Flags.GetBool(flagUntil); err != nil {
		return nil, false, err
	}
	return func(p *query.PageRequest) (page, error) {
		asked.Pagination, asked.Verdict = p, true
		return client.Due(j.Ctx, &asked)
	}, false, nil
}

// dueAt reads a height, or a time in the zone of who asks.
func dueAt(j *job.Job, text string) (types.QueryDueRequest, error) {
	if !strings.ContainsAny(text, ":-") {
		height, err := timespan.ParseCount(text, "height")
		return types.QueryDueRequest{Height: height}, err
	}
	c, err := j.Clock()
	if err != nil {
		return types.QueryDueRequest{}, err
	}
	zone, err := j.Zone()
	if err != nil {
		return types.QueryDueRequest{}, err
	}
	at, err := timespan.ParseMoment(text, c.Present().In(zone))
	return types.QueryDueRequest{Time: at.Unix()}, err
}

func readReady(j *job.Job, client types.QueryClient, _ []string) (func(*query.PageRequest) (page, error), bool, error) {
	return func(p *query.PageRequest) (page, error) {
		return client.Ready(j.Ctx, &types.QueryReadyRequest{Pagination: p})
	}, false, nil
}

func readOnHold(j *job.Job, client types.QueryClient, _ []string) (func(*query.PageRequest) (page, error), bool, error) {
	return func(p *query.PageRequest) (page, error) {
		return client.OnHold(j.Ctx, &types.QueryOnHoldRequest{Pagination: p})
	}, false, nil
}

func pageRequest(j *job.Job) (*query.PageRequest, error) {
	limit, err := j.Flags.GetUint64(flagPageLimit)
	if err != nil || limit == 0 {
		return nil, fmt.Errorf("--%s: want a whole number from 1 on", flagPageLimit)
	}
	text, _ := j.Stated(flagPageKey)
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("--%s %.80q is none that a page before has named", flagPageKey, text)
	}
	return &query.PageRequest{Limit: limit, Key: key}, nil
}

// statuses are all that a timer can have.
func statuses() []types.TimerPhase {
	var all []types.TimerPhase
	for _, value := range slices.Sorted(maps.Keys(types.TimerPhase_name)) {
		if value != 0 {
			all = append(all, types.TimerPhase(value))
		}
	}
	return all
}

// StatusNames are the statuses as people write them.
func StatusNames() []string {
	var names []string
	for _, status := range statuses() {
		names = append(names, words.StatusName(status))
	}
	return names
}

// filter says which timers of a page are shown.
type filter struct {
	// status of the timers; 0 for any.
	status types.TimerPhase
	// scheduler is who scheduled them for their contract; empty for anybody.
	scheduler string
}

func (f filter) drops(t types.TimerInfo) bool {
	return f.status != types.PhaseUnspecified && t.Status.Phase != f.status || f.scheduler != "" && t.Scheduler != f.scheduler
}

// readFilter is what --status and --scheduler say.
func readFilter(j *job.Job) (only filter, err error) {
	if text, given := j.Stated(flagScheduler); given {
		scheduler, err := j.LookupAccount(text)
		if err != nil {
			return only, fmt.Errorf("--%s: %w", flagScheduler, err)
		}
		only.scheduler = scheduler.Text
	}
	text, given := j.Stated(FlagStatus)
	if !given {
		return only, nil
	}
	for _, status := range statuses() {
		if words.StatusName(status) == strings.ToLower(text) {
			only.status = status
			return only, nil
		}
	}
	return only, fmt.Errorf("--%s %.80q is unknown: want one of %s", FlagStatus, text, strings.Join(StatusNames(), ", "))
}

// show prints a page in the form that was asked for, and says how to continue.
func show(j *job.Job, p page, only filter, own bool) error {
	timers := p.GetTimers()
	shown := slices.DeleteFunc(slices.Clone(timers), only.drops)
	output, err := outputOf(j)
	if err != nil {
		return err
	}
	j.Ask(shown)
	switch output {
	case flags.OutputFormatJSON, outputYAML:
		return printTimers(j, output, p, shown)
	default:
		if err := table(j, shown, own, output == outputWide); err != nil {
			return err
		}
	}
	if len(shown) < len(timers) {
		of := "status"
		if only.scheduler != "" {
			of = "scheduler or status"
		}
		j.Notef("%d of another %s on this page", len(timers)-len(shown), of)
	}
	noteMore(j, p.GetPagination())
	return nil
}

// noteMore says how to continue behind a page.
func noteMore(j *job.Job, p *query.PageResponse) {
	if next := p.GetNextKey(); len(next) > 0 {
		j.Notef("there are more: --%s %s", flagPageKey, base64.StdEncoding.EncodeToString(next))
	}
}

// outputOf is the form that is asked for, by --output or client.toml.
func outputOf(j *job.Job) (string, error) {
	switch output := j.Flags.Lookup(flags.FlagOutput).Value.String(); {
	case output == outputYAML:
		return output, nil
	case j.OutputFormat == flags.OutputFormatJSON:
		return flags.OutputFormatJSON, nil
	case output == flags.OutputFormatText || output == outputWide:
		return output, nil
	default:
		return "", fmt.Errorf("--%s %.80q is unknown: want text, wide, json or yaml", flags.FlagOutput, output)
	}
}

// with is a page with other timers.
func with(p page, timers []types.TimerInfo) page {
	switch full := p.(type) {
	case *types.QueryTimersByActorResponse:
		return &types.QueryTimersByActorResponse{Timers: timers, Pagination: full.Pagination, Total: full.Total}
	case *types.QueryDueResponse:
		return &types.QueryDueResponse{Timers: timers, Pagination: full.Pagination}
	case *types.QueryReadyResponse:
		return &types.QueryReadyResponse{Timers: timers, Pagination: full.Pagination}
	default:
		return &types.QueryOnHoldResponse{Timers: timers, Pagination: p.GetPagination()}
	}
}

// table prints timers as rows: one actor's without naming it, the soonest first.
func table(j *job.Job, timers []types.TimerInfo, own, wide bool) error {
	if len(timers) == 0 {
		j.Notef("no timers")
		return nil
	}
	if _, err := j.Zone(); err != nil {
		return err
	}
	c, err := j.Clock()
	if err != nil {
		c.PaceErr = err
		// Times are of the zone of who asks, whatever the node says.
		if c.Zone, err = j.Zone(); err != nil {
			return err
		}
	}
	if own {
		// The order of an actor's timers is that of their ids, which says nothing.
		slices.SortStableFunc(timers, func(a, b types.TimerInfo) int {
			return words.Soonest(&a, &b, c)
		})
	}
	out := tabwriter.NewWriter(j.Output, 0, 0, 2, ' ', 0)
	head := []string{"ID", "ACTOR", "NAME", "DUE", "EVERY", "DOES", "BID", "STATUS", "GAS LIMIT", "EXPIRES", "PAYER"}
	if _, err := fmt.Fprintln(out, strings.Join(columns(head, own, wide), "\t")); err != nil {
		return err
	}
	dry := map[int]string{}
	if own {
		if ahead, err := outlook.Ask(j); err == nil {
			bank := banktypes.NewQueryClient(j.Context)
			leaves := func(t *types.TimerInfo) sdk.Coins {
				return outlook.LeavesOfTimer(j.Codec, j.InterfaceRegistry, words.MessagesIn(t), t.Actor)
			}
			dry = ahead.RunDry(timers, leaves, func(payer string) (math.Int, bool) { return ahead.Balance(j.Ctx, bank, payer) })
		}
	}
	for i := range timers {
		if _, err := fmt.Fprintln(out, strings.Join(columns(row(j, &timers[i], c, dry[i], wide), own, wide), "\t")); err != nil {
			return err
		}
	}
	return out.Flush()
}

// watched says what is waited for. Addresses are told by the names of keys or their ends, unless the table is wide.
func watched(j *job.Job, keys []types.WatchKey, wide bool) string {
	signing := j.InterfaceRegistry.SigningContext()
	forms := words.Keys{Accounts: signing.AddressCodec(), Validators: signing.ValidatorAddressCodec()}
	who := j.Name
	if wide {
		who = func(address string) string { return address }
	}
	return forms.Watched(keys, who)
}

// columns leaves out the actor where it is the same in all rows, and what only a wide table has.
func columns(all []string, own, wide bool) []string {
	all = slices.Clone(all)
	if !wide {
		all = all[:8]
	}
	if own {
		all = slices.Delete(all, 1, 2)
	}
	return all
}

// row is a timer as texts: all columns of a wide table.
func row(j *job.Job, t *types.TimerInfo, c timespan.Clock, dry string, wide bool) []string {
	status := append([]string{words.Status(t)}, words.Troubles(t, c.Height)...)
	if dry != "" {
		status = append(status, dry)
	}
	id := t.Id
	if !wide {
		id = plain.Clip(id, shownDigits)
	}
	called := plain.Clean(t.Spec.Name)
	if called == "" {
		called = "-"
	}
	return []string{
		id, plain.Clean(j.Name(t.Actor)), called, due(j, t, c, wide), clipTo(words.Repeats(t), wide), clipTo(j.Does(t), wide), plain.TimerBid(t), strings.Join(status, ", "),
		plain.Thousands(t.Status.GasLimit), expires(t.Status.ExpiresAt, t.Status.ExpiresTime, c), plain.Clean(j.Name(t.Status.FeePayer)),
	}
}

func clipTo(text string, wide bool) string {
	const width = 60
	if wide || len(text) <= width {
		return text
	}
	return plain.Clip(text, width-3) + "..."
}

// due is the height at which a timer is due, and in what time, or when.
func due(j *job.Job, t *types.TimerInfo, c timespan.Clock, wide bool) string {
	switch {
	case t.Status.Phase == types.PhaseWatching && t.Spec.Trigger.Watch != nil:
		return clipTo("when "+watched(j, t.Spec.Trigger.Watch.Keys, wide), wide)
	case t.Status.HoldReason == types.Timed && wide:
		return c.Stamp(time.Unix(t.Status.DueTime, 0))
	case t.Status.HoldReason == types.Timed:
		return fmt.Sprintf("%s, in %s", c.Stamp(time.Unix(t.Status.DueTime, 0)), timespan.ForPeople(max(time.Unix(t.Status.DueTime, 0).Sub(c.Present()), 0)))
	case t.Status.HoldReason != types.NotOnHold:
		return "-"
	case t.Status.Due <= c.Height:
		return fmt.Sprintf("%d, now", t.Status.Due)
	case c.PaceErr != nil:
		return fmt.Sprint(t.Status.Due)
	case wide:
		return fmt.Sprintf("%d, %s", t.Status.Due, c.Moment(t.Status.Due))
	default:
		return fmt.Sprintf("%d, in %s", t.Status.Due, timespan.ForPeople(c.Until(t.Status.Due)))
	}
}

// expires is the last height or the last time at which a timer may fire, or both.
func expires(height uint64, seconds int64, c timespan.Clock) string {
	var ends []string
	if height != 0 {
		text := fmt.Sprint(height)
		if moment := c.Moment(height); moment != "" {
			text += ", " + moment
		}
		ends = append(ends, text)
	}
	if seconds != 0 {
		ends = append(ends, c.Stamp(time.Unix(seconds, 0)))
	}
	return strings.Join(ends, " or ")
}
