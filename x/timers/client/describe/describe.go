// Package describe shows one timer to its owner: when it is due next, what it does, what it did, what it costs, when it ends, and
// what it waits for. Nothing of it is state: it is computed from what the node's queries answer.
package describe

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagZone  = "zone"
	flagCount = "count"
	// shownFires is how many of the last fires are shown, shownOccurrences how many of the next occurrences.
	shownFires       = 5
	shownOccurrences = 5
)

// Commands are those about one timer.
func Commands() []*cobra.Command {
	described := command(&cobra.Command{
		Use:   "describe [actor/id-prefix]",
		Short: "Describe one timer: when it is due, what it did, what it costs, and what it waits for",
		Long: "Describe one timer, by its actor, an address or the name of a key, and the beginning of its id or its name: when it is due next, what it does, " +
			"what its last fires did, what a fire costs at most at today's prices and for how many fires its payer's funds last, when it ends, and what it waits for and why.",
		Example: fmt.Sprintf("%[1]s query timers describe alice/3fa9\n%[1]s query timers describe alice/rent --zone Europe/Berlin", plain.App()),
	}, describe)
	occurrences := command(&cobra.Command{
		Use:     "occurrences [actor/id-prefix]",
		Short:   "List when a timer is due next",
		Long:    "List when a timer is due next: times in your time zone, or heights. One that waits for a change has none. What a timer is due at that is not scheduled yet, schedule says.",
		Example: fmt.Sprintf("%[1]s query timers occurrences alice/rent --count 12\n%[1]s query timers occurrences alice/rent -o json", plain.App()),
	}, occurrences)
	occurrences.Flags().Uint32(flagCount, shownOccurrences, "how many, at most 100")
	return []*cobra.Command{described, occurrences}
}

// command reads the name of the timer, and calls run with it.
func command(cmd *cobra.Command, run func(d *description) error) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		clientCtx, err := client.GetClientQueryContext(cmd)
		if err != nil {
			return err
		}
		d := &description{Job: job.New(cmd, clientCtx)}
		d.query = types.NewQueryClient(d.Context)
		if err := d.find(args[0]); err != nil {
			return err
		}
		return run(d)
	}
	job.QueryCommand(cmd)
	cmd.Flags().String(flagZone, "", "time zone of dates, such as Europe/Berlin (default: that of this machine)")
	return cmd
}

// description is what is found out about a timer.
type description struct {
	*job.Job
	query types.QueryClient
	timer types.TimerInfo
	clock timespan.Clock
}

// find reads the timer, and the clock in the zone that is asked for.
func (d *description) find(text string) error {
	n, err := job.ParseName(text)
	if err != nil {
		return err
	}
	if n.Actor == "" {
		return errors.New("timer " + text + " names no actor: want ACTOR/ID-PREFIX or ACTOR/NAME")
	}
	actor, err := d.LookupAccount(n.Actor)
	if err != nil {
		return fmt.Errorf("timer %.200q: %w", text, err)
	}
	if d.timer, err = d.Find(actor.Text, n.Text); err != nil {
		return err
	}
	zone, err := d.Zone()
	if name, given := d.Stated(flagZone); given {
		zone, err = d.NamedZone(name)
	}
	if err != nil {
		return err
	}
	if d.clock, err = d.Clock(); err != nil {
		d.clock.PaceErr = err
	}
	d.clock.Zone = zone
	return nil
}

// next are its next occurrences.
func (d *description) next(limit uint32) (*types.QueryOccurrencesResponse, error) {
	answer, err := d.query.Occurrences(d.Ctx, &types.QueryOccurrencesRequest{Actor: d.timer.Actor, Id: d.timer.Id, Limit: limit})
	if err != nil {
		return nil, errors.New(plain.ServerSays(err))
	}
	return answer, nil
}

// stamps are occurrences as people read them.
func (d *description) stamps(answer *types.QueryOccurrencesResponse) (texts []string) {
	for _, o := range answer.Occurrences {
		if answer.ByTime {
			texts = append(texts, d.clock.Stamp(time.Unix(int64(o.Due), 0)))
			continue
		}
		text := "height " + fmt.Sprint(o.Due)
		if at := d.clock.Moment(o.Due); at != "" {
			text += ", about " + at
		}
		texts = append(texts, text)
	}
	return texts
}

// occurrences lists them.
func occurrences(d *description) error {
	count, err := d.Flags.GetUint32(flagCount)
	if err != nil || count == 0 {
		return fmt.Errorf("--%s: want a number from 1 to 100", flagCount)
	}
	answer, err := d.next(count)
	if err != nil {
		return err
	}
	if d.OutputFormat == flags.OutputFormatJSON {
		return d.PrintProto(answer)
	}
	for _, text := range d.stamps(answer) {
		if _, err := fmt.Fprintln(d.Output, text); err != nil {
			return err
		}
	}
	switch {
	case len(answer.Occurrences) == 0:
		d.Notef("none: %s", waitsFor(&d.timer, nil, d.clock))
	case answer.More:
		d.Notef("there are more: --%s", flagCount)
	}
	return nil
}

// row is one thing that is said of a timer.
type row struct{ name, text string }

func describe(d *description) error {
	rows, err := d.rows()
	if err != nil {
		return err
	}
	if d.OutputFormat == flags.OutputFormatJSON {
		return d.json(rows)
	}
	out := tabwriter.NewWriter(d.Output, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i, line := range strings.Split(r.text, "\n") {
			name := r.name + ":"
			if i > 0 {
				name = ""
			}
			if _, err := fmt.Fprintf(out, "%s\t%s\n", name, line); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// json prints the same, the lines of a row as a list.
func (d *description) json(rows []row) error {
	said := map[string]any{}
	for _, r := range rows {
		key := strings.ReplaceAll(strings.ToLower(r.name), " ", "_")
		if lines := strings.Split(r.text, "\n"); len(lines) > 1 || slices.Contains([]string{"next", "last_fires"}, key) {
			said[key] = lines
		} else {
			said[key] = r.text
		}
	}
	text, err := json.Marshal(said)
	if err != nil {
		return err
	}
	return d.PrintRaw(text)
}

func (d *description) rows() ([]row, error) {
	t := &d.timer
	rows := []row{{"Timer", t.Id}, {"Name", plain.Clean(t.Spec.Name)}, {"Owner", d.Who(t.Actor)}}
	if t.Scheduler != "" {
		rows = append(rows, row{"Scheduler", d.Who(t.Scheduler)})
	}
	rows = append(rows, row{"Payer", d.Who(t.Status.FeePayer)}, row{"Does", d.Does(t)}, row{"When", d.when()}, row{"Only if", d.keys().OnlyIf(t.Spec.OnlyIf, d.Name)})
	estimate, costs := d.costs()
	rows = append(rows, row{"Status", strings.Join(append([]string{words.Status(t)}, words.Troubles(t, d.clock.Height)...), ", ")},
		row{"Waits for", waitsFor(t, estimate, d.clock)})
	if t.Status.Phase != types.PhaseOnHold {
		answer, err := d.next(shownOccurrences)
		if err != nil {
			return nil, err
		}
		next := d.stamps(answer)
		if answer.More {
			next = append(next, "…")
		}
		rows = append(rows, row{"Next", strings.Join(next, "\n")})
	}
	fires, err := d.fires()
	if err != nil {
		return nil, err
	}
	rows = append(append(rows, fires...), costs...)
	rows = append(rows, row{"Ends", d.ends()})
	return slices.DeleteFunc(rows, func(r row) bool { return r.text == "" }), nil
}

// ends says when its life ends.
func (d *description) ends() string {
	t := &d.timer
	text := "after " + d.clock.Stamp(time.Unix(t.Status.ExpiresTime, 0))
	if t.Status.ExpiresTime == 0 {
		text = fmt.Sprintf("after height %d", t.Status.ExpiresAt)
		if at := d.clock.Moment(t.Status.ExpiresAt); at != "" {
			text += ", about " + at
		}
	}
	if t.Spec.Repeat.GetRenew() {
		text += "; each fire renews that"
	}
	return text
}

// when says what makes it due, and how it repeats.
func (d *description) when() string {
	t := &d.timer
	switch trigger := &t.Spec.Trigger; {
	case trigger.Watch != nil:
		text := "when " + d.keys().Watched(trigger.Watch.Keys, d.Name)
		if repeats := words.Repeats(t); repeats != "-" {
			text += ", " + repeats
		}
		return text
	case trigger.Interval != nil:
		return "every " + words.Repeats(t)
	case trigger.Calendar != nil && trigger.Calendar.Every != nil:
		return "every " + words.Repeats(t)
	case trigger.Calendar != nil:
		until := d.clock.Time
		if answer, err := d.next(shownOccurrences); err == nil && len(answer.Occurrences) > 0 {
			until = time.Unix(int64(answer.Occurrences[len(answer.Occurrences)-1].At), 0)
		}
		return words.RepeatsIn(t, d.clock.Zone, d.clock.Time, until)
	default:
		return "once"
	}
}

func (d *description) keys() words.Keys {
	signing := d.InterfaceRegistry.SigningContext()
	return words.Keys{Accounts: signing.AddressCodec(), Validators: signing.ValidatorAddressCodec()}
}

// fires are the last ones, and what all that the node still has came to.
func (d *description) fires() ([]row, error) {
	t := &d.timer
	rows := []row{{"Fires so far", plain.Thousands(uint64(t.Status.FireSeq))}}
	answer, err := d.query.Deliveries(d.Ctx, &types.QueryDeliveriesRequest{
		Actor: t.Actor, Id: t.Id, Pagination: &query.PageRequest{Limit: 100},
	})
	if err != nil {
		return nil, errors.New(plain.ServerSays(err))
	}
	var lines []string
	paid := math.ZeroInt()
	for i := range answer.Deliveries {
		r := &answer.Deliveries[i].Receipt
		if amount, known := types.ParseAmount(r.Paid); known {
			paid = paid.Add(amount)
		}
		if i < shownFires {
			lines = append(lines, fmt.Sprintf("height %d: %s, %s paid", answer.Deliveries[i].Height, words.Outcome(r.Success, r.Guarded, r.Codespace, r.Code), r.Paid))
		}
	}
	if len(lines) == 0 && t.Status.LastOutcome != nil {
		o := t.Status.LastOutcome
		lines = []string{fmt.Sprintf("height %d: %s, %s paid", o.Height, words.Outcome(o.Success, o.Guarded, o.Codespace, o.Code), o.Paid)}
	}
	rows = append(rows, row{"Last fires", strings.Join(lines, "\n")})
	if n := len(answer.Deliveries); n > 0 {
		atLeast := ""
		if len(answer.Pagination.GetNextKey()) > 0 {
			atLeast = "at least "
		}
		rows = append(rows, row{"Paid lately", fmt.Sprintf("%s%s for %s since height %d, from which on the chain keeps receipts", atLeast, paid, plain.Count(uint64(n), "fire"), answer.KeptFrom)})
	}
	if t.Status.Failures > 0 {
		rows = append(rows, row{"Failures in a row", plain.Thousands(uint64(t.Status.Failures))})
	}
	if t.Status.Skips > 0 {
		rows = append(rows, row{"Without funds in a row", plain.Thousands(uint64(t.Status.Skips))})
	}
	return rows, nil
}

// costs are what a fire costs at most at today's prices, and how long the payer's funds last. What a node does not tell is left out.
func (d *description) costs() (*types.QueryEstimateResponse, []row) {
	t := &d.timer
	ahead, err := outlook.Ask(d.Job)
	if err != nil {
		return nil, []row{{"Costs", "unknown: " + plain.ServerSays(err)}}
	}
	request := outlook.Request(bids.Limits{Gas: t.Status.GasLimit, Cells: t.Status.CellLimit, MaxCharge: t.Spec.MaxCharge}, t.Spec.Bid)
	request.Actor, request.MaxPriority = t.Actor, cmp.Or(t.Status.TipCap, request.MaxPriority)
	estimate, err := outlook.Estimate(d.Job, request)
	if err != nil {
		return nil, []row{{"Costs", "unknown: " + err.Error()}}
	}
	unit := plain.Clean(estimate.FeeDenom)
	rows := []row{{"A fire costs", fmt.Sprintf("at most %s%s at today's prices, for %s and %s", estimate.PreCharge, unit,
		plain.Count(t.Status.GasLimit, "cycle"), plain.Count(t.Status.CellLimit, "cell"))}}
	if t.Spec.MaxCharge != "" {
		rows = append(rows, row{"Never more than", plain.Clean(t.Spec.MaxCharge) + unit})
	}
	sponsor, err := ahead.CheckPayer(d.Job, t.Status.FeePayer, cmp.Or(t.Scheduler, t.Actor))
	if err != nil {
		return estimate, append(rows, row{"Funds", err.Error()})
	}
	plan := outlook.Plan{
		Payer: t.Status.FeePayer, Course: course.OfTimer(t, d.clock), Actor: t.Actor,
		Leaves: outlook.LeavesOfTimer(d.Codec, d.InterfaceRegistry, words.MessagesIn(t), t.Actor),
	}
	if lasts, err := ahead.Lasts(d.Job, plan, sponsor, estimate); err == nil {
		rows = append(rows, row{"Funds", lasts.Text(d.clock)})
	}
	return estimate, rows
}

// waitsFor says what a timer waits for, and why: the one answer to why it did not fire.
func waitsFor(t *types.TimerInfo, e *types.QueryEstimateResponse, c timespan.Clock) string {
	switch t.Status.Phase {
	case types.PhaseWatching:
		return "a change of what it watches"
	case types.PhaseExpired:
		return "nothing: its life is over, and it is removed when a block has room"
	case types.PhaseOnHold:
		return words.OnHold(t.Status.HoldReason)
	case types.PhasePending:
		if t.Status.Retries > 0 {
			return fmt.Sprintf("its retry %d, %s", t.Status.Retries, words.Due(t, c.Zone))
		}
		return "its turn " + words.Due(t, c.Zone)
	default: // It is ready.
	}
	late := ""
	if since := words.DueSince(t); c.Height >= since {
		late = fmt.Sprintf(" ready for %s", plain.Count(c.Height-since+1, "block"))
	}
	text := words.Verdict(t.Status.Verdict)
	if late != "" {
		text += ";" + late
	}
	switch t.Status.Verdict {
	case types.VerdictPricedOut, types.VerdictNoRoom, types.VerdictNotRead:
		if e != nil {
			return text + "; " + outlook.WaitNote(e, c)
		}
	default:
	}
	return text
}
