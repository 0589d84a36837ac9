package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/apply"
	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/event"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/remote"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagApplyFile = "file"
	flagPrune     = "prune"
	flagAgain     = "again"

	// applyMessages is how many messages one transaction has at most.
	applyMessages = 20
	// applyBlocks is for how many blocks a transaction may be included.
	applyBlocks = 50
)

const fileHelp = `

The file is YAML. Below timers each timer has its name, and below that what the command schedule takes: does, the words that say
what it does, and the flags without their dashes. Several values of one flag are a list. A spec, as "query timers timer ACTOR/NAME
--output yaml" prints it, may stand there as well.

  timers:
    rent:
      does: send landlord 1200stake
      every: month@1 09:00
      zone: Europe/Berlin
      count: 12

Dates, rules and heights are absolute: a file states no distances from now. What is left to the chain or to a dry run, such as the gas
limit, is not compared. Beside the file lies a lock, FILE.lock, which keeps the ids: a timer that was scheduled and has left by itself is
done, and is not scheduled again, unless --again names it. Keep the lock with the file.`

func newApplyCmd() *cobra.Command {
	cmd := broadcast.NotedCommand(&cobra.Command{
		Use:   "apply",
		Short: "Make your timers what a file states",
		Long: "Make your timers what a file states: what is missing is scheduled, what differs is updated by the fields that differ, and what is equal " +
			"is left alone. What was scheduled of the file and is no longer in it is cancelled with --prune. Several transactions are sent if one is too " +
			"small, each waited for; who is stopped and runs the command again ends at the file, and pays nothing twice. --dry-run sends nothing." + fileHelp,
		Example: fmt.Sprintf("%[1]s tx timers apply --file timers.yaml --from alice\n%[1]s tx timers apply -f timers.yaml --prune --from alice --yes", plain.App()),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dry, err := takeFlag(cmd, flags.FlagDryRun, "false")
			if err != nil {
				return err
			}
			a, err := readApply(cmd)
			if err != nil {
				return err
			}
			return a.run(dry == "true")
		},
	})
	addApplyFlags(cmd.Flags())
	cmd.Flags().Lookup(flags.FlagDryRun).Usage = "say what would be sent, and send nothing"
	setDefault(cmd.Flags(), flags.FlagGas, flags.GasFlagAuto)
	job.AddForce(cmd.Flags())
	return cmd
}

func newDiffCmd() *cobra.Command {
	cmd := job.TxCommand(&cobra.Command{
		Use:   "diff",
		Short: "Show what apply would change",
		Long: "Show what apply would change, timer by timer: in words, and the fields of the spec that differ. Exit status 0: nothing, 2: something, " +
			"1: it is not known." + fileHelp,
		Example: fmt.Sprintf("%[1]s tx timers diff --file timers.yaml --from alice", plain.App()),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := readApply(cmd)
			if err != nil {
				return err
			}
			return a.diff()
		},
	})
	addApplyFlags(cmd.Flags())
	return cmd
}

func addApplyFlags(f *pflag.FlagSet) {
	f.StringP(flagApplyFile, "f", "", "file that states the timers")
	f.Bool(flagPrune, false, "cancel those that were scheduled of the file and are no longer in it")
	f.StringSlice(flagAgain, nil, "names of timers that are done, and are scheduled again")
	setDefault(f, flags.FlagOutput, flags.OutputFormatText)
}

// setDefault gives a flag of another set another default.
func setDefault(f *pflag.FlagSet, name, value string) {
	flag := f.Lookup(name)
	flag.DefValue = value
	_ = flag.Value.Set(value)
}

// applying is a file in the making.
type applying struct {
	*job.Job
	file    string
	entries []apply.Entry
	lock    *apply.Lock
	steps   []step
	sent    []included
}

// The actions of steps.
const (
	actionSchedule = "schedule"
	actionUpdate   = "update"
	actionCancel   = "cancel"
	actionNone     = "none"
	actionDone     = "done"
	actionLeft     = "left"
)

// step is what becomes of one timer.
type step struct {
	Name   string   `json:"name"`
	Action string   `json:"action"`
	ID     string   `json:"id,omitempty"`
	Fields []string `json:"fields,omitempty"`

	// stated is what the file says, and live what there is.
	stated *types.MsgScheduleTimer
	live   *types.TimerInfo
	draft  *draft.Draft
	msg    sdk.Msg
}

// included is a transaction that made the steps.
type included struct {
	Height int64  `json:"height"`
	TxHash string `json:"txhash"`
}

// changes tells whether a step sends something.
func (s *step) changes() bool {
	return s.Action == actionSchedule || s.Action == actionUpdate || s.Action == actionCancel
}

// readApply reads the file and its lock.
func readApply(cmd *cobra.Command) (*applying, error) {
	j, err := job.NewTx(cmd)
	if err != nil {
		return nil, err
	}
	file, given := j.Stated(flagApplyFile)
	switch {
	case !given || file == "":
		return nil, fmt.Errorf("--%s is missing: want the file that states your timers", flagApplyFile)
	case file == "-":
		return nil, fmt.Errorf("--%s -: beside the file lies its lock, so it must be a file", flagApplyFile)
	case j.Offline:
		return nil, fmt.Errorf("--%s has no node, which knows your timers", flags.FlagOffline)
	}
	text, err := j.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flagApplyFile, err)
	}
	a := &applying{Job: j, file: file}
	if a.entries, err = apply.Parse(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	a.lock, err = apply.ReadLock(file, j.ChainID, j.Signer.Text)
	return a, err
}

// diff shows what would change.
func (a *applying) diff() error {
	if err := a.peek(); err != nil {
		return err
	}
	if err := a.plan(); err != nil {
		return err
	}
	if err := a.print(); err != nil {
		return err
	}
	if n := a.changed(); n > 0 {
		return differs(n)
	}
	return nil
}

// differs is the end of diff where timers differ from the file.
type differs int

func (d differs) Error() string { return plain.Count(uint64(d), "timer") + " would change" }

// ExitCode is that of diff.
func (differs) ExitCode() int { return 2 }

// changed is how many timers change.
func (a *applying) changed() (n int) {
	for i := range a.steps {
		if a.steps[i].changes() {
			n++
		}
	}
	return n
}

// run makes the timers what the file states.
func (a *applying) run(dry bool) error {
	find := a.settle
	if dry {
		find = a.peek
	}
	if err := find(); err != nil {
		return err
	}
	if err := a.plan(); err != nil {
		return err
	}
	if err := a.advise(); err != nil {
		return err
	}
	if dry {
		a.Warn()
		return a.print()
	}
	if a.GenerateOnly {
		return a.Job.Send(a.messages()...)
	}
	if a.OutputFormat == flags.OutputFormatText {
		if err := a.print(); err != nil {
			return err
		}
	}
	if err := a.lock.Write(); err != nil { // Who can't write it learns that before anything is sent.
		return fmt.Errorf("write the lock of %s: %w", a.file, err)
	}
	for batch := range slices.Chunk(a.messages(), applyMessages) {
		if err := a.send(batch); err != nil {
			return err
		}
	}
	return a.tell()
}

// plan finds out what to do of each timer: those that are missing first, then those that differ, and what is cancelled last.
func (a *applying) plan() error {
	again, err := a.Flags.GetStringSlice(flagAgain)
	if err != nil {
		return err
	}
	inFile := map[string]bool{}
	for i := range a.entries {
		inFile[a.entries[i].Name] = true
		s, err := a.stepOf(&a.entries[i], slices.Contains(again, a.entries[i].Name))
		if err != nil {
			return fmt.Errorf("%s: timer %s: %w", a.file, a.entries[i].At(), err)
		}
		a.steps = append(a.steps, s)
	}
	for _, name := range again {
		if !inFile[name] {
			return fmt.Errorf("--%s %.80q: %s states no such timer", flagAgain, name, a.file)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.lock.Timers)) {
		if inFile[name] {
			continue
		}
		s, err := a.gone(name)
		if err != nil {
			return err
		}
		a.steps = append(a.steps, s)
	}
	order := []string{actionSchedule, actionUpdate, actionCancel, actionLeft, actionDone, actionNone}
	slices.SortStableFunc(a.steps, func(x, y step) int {
		return cmp.Compare(slices.Index(order, x.Action), slices.Index(order, y.Action))
	})
	return nil
}

// stepOf finds out what to do of a timer in the file.
func (a *applying) stepOf(e *apply.Entry, again bool) (step, error) {
	s := step{Name: e.Name, Action: actionNone}
	actor, err := a.actorOf(e)
	if err != nil {
		return s, err
	}
	s.live, err = a.find(&types.QueryTimerRequest{Actor: cmp.Or(actor, a.Signer.Text), Name: e.Name, Scheduler: a.Signer.Text})
	if err != nil {
		return s, err
	}
	if id, known := a.lock.Timers[e.Name]; known && s.live == nil && !again {
		s.Action, s.ID = actionDone, id
		return s, nil
	}
	if s.draft, s.stated, err = a.state(e); err != nil {
		return s, err
	}
	if s.live == nil {
		s.Action, s.msg = actionSchedule, s.stated
		return s, a.notPast(s.stated)
	}
	s.ID = s.live.Id
	a.lock.Timers[e.Name] = lockedID(actor, s.live.Id)
	c, err := a.Clock()
	if err != nil {
		return s, err
	}
	s.Fields, err = apply.Differs(s.live, &s.stated.Spec, types.Moment{Height: c.Height, Time: c.Present().Unix()})
	if err != nil || len(s.Fields) == 0 {
		return s, err
	}
	spec, err := types.TimerSpec{}.Named(s.Fields, &s.stated.Spec)
	if err != nil {
		return s, err
	}
	s.Action = actionUpdate
	s.msg = &types.MsgUpdateTimer{Sender: a.Signer.Text, Id: s.live.Id, Name: e.Name, Actor: actor, Spec: spec, Fields: s.Fields, IfSeq: s.live.Status.Seq}
	return s, nil
}

// notPast refuses what would have been due before it was first applied.
func (a *applying) notPast(msg *types.MsgScheduleTimer) error {
	at := msg.Spec.Trigger.Time
	if at == nil {
		return nil
	}
	c, err := a.Clock()
	if err != nil {
		return err
	}
	if !at.After(c.Present()) {
		return fmt.Errorf("%s has passed, and it was never scheduled of this file: state a later time, or take it out", a.stamp(at.Unix()))
	}
	return nil
}

func (a *applying) stamp(seconds int64) string { return (&draft.Draft{Job: a.Job}).Stamp(seconds) }

// lockedID is how the lock keeps a timer: of a contract with that.
func lockedID(actor, id string) string {
	if actor == "" {
		return id
	}
	return actor + "/" + id
}

// gone is a timer that is no longer in the file.
func (a *applying) gone(name string) (step, error) {
	s := step{Name: name, Action: actionLeft, ID: a.lock.Timers[name]}
	actor, id, ofContract := strings.Cut(s.ID, "/")
	if !ofContract {
		actor, id = "", s.ID
	}
	live, err := a.find(&types.QueryTimerRequest{Actor: cmp.Or(actor, a.Signer.Text), Id: id})
	if err != nil {
		return s, err
	}
	prune, err := a.Flags.GetBool(flagPrune)
	if err != nil {
		return s, err
	}
	switch s.live = live; {
	case live == nil:
		s.Action = actionDone
	case prune:
		s.Action = actionCancel
		s.msg = &types.MsgCancelTimer{Sender: a.Signer.Text, Id: id, Actor: actor}
	}
	return s, nil
}

// find is a live timer; nil if there is none.
func (a *applying) find(request *types.QueryTimerRequest) (*types.TimerInfo, error) {
	found, err := types.NewQueryClient(a.Context).Timer(a.Ctx, request)
	switch {
	case status.Code(err) == codes.NotFound:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look it up: %s", plain.ServerSays(err))
	}
	return &found.Timer, nil
}

// actorOf is the contract for which a timer is; empty if it is the signer's own.
func (a *applying) actorOf(e *apply.Entry) (string, error) {
	for _, f := range e.Flags {
		if f.Name == draft.FlagActor && f.Text != "" {
			account, err := a.LookupAccount(f.Text)
			return account.Text, err
		}
	}
	return "", nil
}

// state makes the message that would schedule what the file states, by the flags of schedule.
func (a *applying) state(e *apply.Entry) (*draft.Draft, *types.MsgScheduleTimer, error) {
	d := draft.New(a.Job)
	d.AsFile = true
	if e.Spec != nil {
		msg, err := d.OfSpec(e.Spec)
		if err == nil {
			msg.Spec.Name = e.Name
		}
		return d, msg, err
	}
	own, payer, err := a.flagsOf(e)
	if err != nil {
		return d, nil, err
	}
	defer a.as(own, "")()
	if err := d.TakeWords(e.Does); err != nil {
		return d, nil, err
	}
	msg, err := d.Schedule(payer)
	if err == nil {
		msg.Spec.Name = e.Name
	}
	return d, msg, err
}

// as lets the job read other flags, and its objections begin with a name, until what it returns is called.
func (a *applying) as(own *pflag.FlagSet, subject string) (end func()) {
	flags, before := a.Flags, a.Subject
	a.Flags, a.Subject = own, subject
	return func() { a.Flags, a.Subject = flags, before }
}

// flagsOf are the flags that a timer states in the file, among those of the command.
func (a *applying) flagsOf(e *apply.Entry) (own *pflag.FlagSet, payer string, err error) {
	known, instead := draft.FileFlags()
	cmd := job.TxCommand(&cobra.Command{Use: "schedule"})
	own = cmd.Flags()
	known.VisitAll(func(f *pflag.Flag) {
		if own.Lookup(f.Name) == nil {
			own.AddFlag(f)
		}
	})
	a.Flags.Visit(func(f *pflag.Flag) {
		if at := own.Lookup(f.Name); at != nil && known.Lookup(f.Name) == nil && err == nil {
			err = at.Value.Set(f.Value.String())
			at.Changed = true
		}
	})
	if err != nil {
		return nil, "", err
	}
	for _, f := range e.Flags {
		better, not := instead[f.Name]
		switch {
		case not:
			return nil, "", fmt.Errorf("line %d: %s: %s", f.Line, f.Name, better)
		case known.Lookup(f.Name) == nil:
			return nil, "", fmt.Errorf("line %d: %w", f.Line, unknownKey(known, instead, f.Name))
		case f.Name == draft.FlagPayer:
			payer = f.Text
		default:
			if err := own.Set(f.Name, f.Text); err != nil {
				return nil, "", fmt.Errorf("line %d: %w", f.Line, err)
			}
		}
	}
	return own, payer, nil
}

// unknownKey says what may have been meant by a key that is none.
func unknownKey(known *pflag.FlagSet, instead map[string]string, key string) error {
	names := []string{"does"}
	known.VisitAll(func(f *pflag.Flag) {
		if _, not := instead[f.Name]; !not {
			names = append(names, f.Name)
		}
	})
	if near := job.Nearest(key, names); len(near) > 0 {
		return fmt.Errorf("%.80q is nothing that a timer has: did you mean %s?", key, strings.Join(near, " or "))
	}
	return fmt.Errorf("%.80q is nothing that a timer has: want one of %s", key, strings.Join(names, ", "))
}

// advise checks each change against the chain, tries it, and says what it costs, as the commands for one timer do.
func (a *applying) advise() error {
	for i := range a.steps {
		s := &a.steps[i]
		if s.Action != actionSchedule && s.Action != actionUpdate {
			continue
		}
		a.Notef("timer %s", s.Name)
		if err := a.adviseOne(s); err != nil {
			return fmt.Errorf("timer %s: %w", s.Name, err)
		}
	}
	return nil
}

func (a *applying) adviseOne(s *step) error {
	defer a.as(a.Flags, s.Name+": ")()
	if update, ok := s.msg.(*types.MsgUpdateTimer); ok {
		return adviseUpdate(s.draft, update)
	}
	ahead, err := advisory(s.draft)
	if err != nil || ahead == nil {
		return err
	}
	return adviseSchedule(s.draft, ahead, s.stated)
}

// messages are those of all steps.
func (a *applying) messages() (msgs []sdk.Msg) {
	for i := range a.steps {
		if a.steps[i].changes() {
			msgs = append(msgs, a.steps[i].msg)
		}
	}
	return msgs
}

// send sends some messages in a transaction, which the lock knows before it is sent.
func (a *applying) send(msgs []sdk.Msg) error {
	node, err := a.GetNode()
	if err != nil {
		return err
	}
	info, err := node.ABCIInfo(a.Ctx)
	if err != nil {
		return err
	}
	until := info.Response.LastBlockHeight + applyBlocks
	if err := a.Flags.Set(flags.FlagTimeoutHeight, fmt.Sprint(until)); err != nil {
		return err
	}
	note := func(tx []byte, since int64) error {
		a.lock.Sent = &apply.Sent{Tx: tx, Since: since, Until: until}
		return a.lock.Write()
	}
	answered := *a.Job
	answered.OutputFormat = flags.OutputFormatText
	err = broadcast.SendNoted(&answered, note, a.made, msgs...)
	if err != nil && !broadcast.Unknown(err) && a.lock.Sent != nil {
		err = errors.Join(err, a.forgetSent())
	}
	return err
}

// made notes what a transaction did that is included.
func (a *applying) made(tx *coretypes.ResultTx) error {
	a.sent = append(a.sent, included{tx.Height, fmt.Sprintf("%X", tx.Hash)})
	if err := a.learn(tx.TxResult.Events); err != nil {
		return err
	}
	a.lock.Sent = nil
	if err := a.lock.Write(); err != nil {
		return err
	}
	a.Notef("transaction %X is included at height %d", tx.Hash, tx.Height)
	return nil
}

// learn takes the ids of timers that a transaction scheduled, and forgets those that it cancelled.
func (a *applying) learn(events []abci.Event) error {
	for _, one := range events {
		if !event.Ours(one) {
			continue
		}
		typed, err := event.Parse(one)
		if err != nil {
			continue // An event of a newer version of the module.
		}
		switch e := typed.(type) {
		case *types.TimerScheduled:
			if e.Name != "" {
				actor := e.Actor
				if actor == a.Signer.Text {
					actor = ""
				}
				a.lock.Timers[e.Name] = lockedID(actor, e.Id)
			}
		case *types.TimerCancelled:
			maps.DeleteFunc(a.lock.Timers, func(_, id string) bool { return id == e.Id || strings.HasSuffix(id, "/"+e.Id) })
		}
	}
	return nil
}

// settle finds out what became of a transaction of an earlier run: it is sent once more, which can't include it twice, and waited
// for until it is in a block or can come into none.
func (a *applying) settle() error {
	sent := a.lock.Sent
	if sent == nil {
		return nil
	}
	node, err := a.GetNode()
	if err != nil {
		return err
	}
	hash := cmttypes.Tx(sent.Tx).Hash()
	a.Notef("transaction %X of the run before is waited for: it may come until height %d", hash, sent.Until)
	_, _ = node.BroadcastTxSync(a.Ctx, sent.Tx) // An error says that the node has it, or that it is included.
	for {
		tx, err := a.await(sent)
		switch {
		case err == nil && tx.TxResult.Code == 0:
			return a.made(tx)
		case err == nil:
			a.Notef("transaction %X failed at height %d: %s", hash, tx.Height, plain.NoPaths(tx.TxResult.Log))
			return a.forgetSent()
		case a.Ctx.Err() != nil || !errors.Is(err, remote.ErrUnknown):
			return err
		}
		info, err := node.ABCIInfo(a.Ctx)
		if err == nil && info.Response.LastBlockHeight > sent.Until {
			a.Notef("transaction %X was not included, and no longer can be", hash)
			return a.forgetSent()
		}
	}
}

// await waits a while for a transaction.
func (a *applying) await(sent *apply.Sent) (*coretypes.ResultTx, error) {
	node, err := a.GetNode()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(a.Ctx, 3*time.Second)
	defer stop()
	return remote.Await(ctx, node, cmttypes.Tx(sent.Tx).Hash(), sent.Since)
}

// peek learns what a transaction of an earlier run did, as far as it is known by now, and writes nothing.
func (a *applying) peek() error {
	if a.lock.Sent == nil {
		return nil
	}
	tx, err := a.await(a.lock.Sent)
	switch {
	case errors.Is(err, remote.ErrUnknown):
		a.Notef("transaction %X of the run before may still come until height %d: apply waits for it", cmttypes.Tx(a.lock.Sent.Tx).Hash(), a.lock.Sent.Until)
		return nil
	case err != nil || tx.TxResult.Code != 0:
		return err
	}
	return a.learn(tx.TxResult.Events)
}

func (a *applying) forgetSent() error {
	a.lock.Sent = nil
	return a.lock.Write()
}

// print shows what changes, for people or as JSON.
func (a *applying) print() error {
	if a.OutputFormat != flags.OutputFormatText {
		return a.tell()
	}
	var text strings.Builder
	equal := 0
	for i := range a.steps {
		s := &a.steps[i]
		switch s.Action {
		case actionSchedule:
			fmt.Fprintf(&text, "+ %s: %s\n", s.Name, a.says(s.draft, &s.stated.Spec))
			writeFields(&text, "  + ", s.stated.Spec)
		case actionUpdate:
			if err := a.writeUpdate(&text, s); err != nil {
				return err
			}
		case actionCancel:
			fmt.Fprintf(&text, "- %s: %s\n", s.Name, a.Says(s.live))
		case actionLeft:
			fmt.Fprintf(&text, "  %s is no longer in the file, and stays: --%s cancels it\n", s.Name, flagPrune)
		case actionDone:
			fmt.Fprintf(&text, "  %s is done: timer %s has left\n", s.Name, plain.Clip(s.ID, 8))
		default:
			equal++
		}
	}
	fmt.Fprintf(&text, "%s to schedule, %d to update, %d to cancel, %d as the file states\n",
		plain.Count(uint64(a.count(actionSchedule)), "timer"), a.count(actionUpdate), a.count(actionCancel), equal)
	return a.PrintString(text.String())
}

func (a *applying) count(action string) (n int) {
	for i := range a.steps {
		if a.steps[i].Action == action {
			n++
		}
	}
	return n
}

// says is what a spec does, and when.
func (a *applying) says(d *draft.Draft, spec *types.TimerSpec) string {
	does := fmt.Sprintf("call %q with %s", spec.Call.Handler, plain.Count(uint64(len(spec.Call.Payload)), "byte"))
	if len(d.Messages) > 0 {
		does = writer(a.Job).Messages(d.Messages)
	}
	return does + ", " + when(d, spec)
}

// writeUpdate shows a timer that differs: what it will do, and the fields as they are and as they will be.
func (a *applying) writeUpdate(text *strings.Builder, s *step) error {
	fmt.Fprintf(text, "~ %s: %s\n  now it is %s\n", s.Name, a.says(s.draft, &s.stated.Spec), a.Says(s.live))
	for _, field := range s.Fields {
		for _, side := range []struct {
			sign string
			spec *types.TimerSpec
		}{{"  - ", &s.live.Spec}, {"  + ", &s.stated.Spec}} {
			alone, err := types.TimerSpec{}.Named([]string{field}, side.spec)
			if err != nil {
				return err
			}
			writeFields(text, side.sign, alone)
		}
	}
	return nil
}

// writeFields writes what a spec states as YAML, each line behind a sign.
func writeFields(text *strings.Builder, sign string, spec types.TimerSpec) {
	stated, err := draft.SpecYAML(&spec)
	if err != nil {
		fmt.Fprintf(text, "%s%v\n", sign, err)
		return
	}
	for _, line := range strings.Split(strings.TrimRight(string(stated), "\n"), "\n") {
		if !slices.Contains([]string{"{}", "call: {}", "trigger: {}"}, line) {
			fmt.Fprintf(text, "%s%s\n", sign, plain.Clean(line))
		}
	}
}

// tell ends a run: for scripts, with all steps and the transactions that made them.
func (a *applying) tell() error {
	if a.OutputFormat == flags.OutputFormatText {
		return nil
	}
	text, err := json.Marshal(struct {
		Timers       []step     `json:"timers"`
		Changes      int        `json:"changes"`
		Transactions []included `json:"transactions"`
	}{a.steps, a.changed(), append([]included{}, a.sent...)})
	if err != nil {
		return err
	}
	return a.PrintRaw(text)
}
