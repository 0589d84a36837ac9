package job

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// shownDigits of an id are enough to tell most timers of an actor apart.
	shownDigits = 8
	// readTimers bounds how many of an actor's timers are read: twice as many as a config lets an actor have.
	readTimers, timersOfPage = 4_096, 1_000
	// shownTimers is how many timers an answer lists.
	shownTimers = 10
)

// EachTimer reads an actor's live timers as lists show them, one after the other, up to a bound, and says so if there are
// more.
func (j *Job) EachTimer(actor string, use func(t *types.TimerInfo)) error {
	client, read := types.NewQueryClient(j.Context), 0
	for page := (&query.PageRequest{Limit: timersOfPage}); ; {
		found, err := client.TimersByActor(j.Ctx, &types.QueryTimersByActorRequest{Actor: actor, Pagination: page})
		if err != nil {
			return fmt.Errorf("list the timers of %s: %s", j.Name(actor), plain.ServerSays(err))
		}
		for i := range found.Timers {
			use(&found.Timers[i])
		}
		next := found.Pagination.GetNextKey()
		switch read += len(found.Timers); {
		case len(next) == 0 || len(found.Timers) == 0:
			return nil
		case read >= readTimers:
			j.Notef("only the first %s of %s were read: there are more", plain.Count(uint64(read), "timer"), j.Name(actor))
			return nil
		}
		page = &query.PageRequest{Limit: timersOfPage, Key: next}
	}
}

// withLabel are an actor's live timers with a label, as lists show them.
func (j *Job) withLabel(actor, label string) (found []types.TimerInfo, err error) {
	err = j.EachTimer(actor, func(t *types.TimerInfo) {
		if t.Spec.Name == label {
			found = append(found, *t)
		}
	})
	return found, err
}

// Find finds one of an actor's live timers by the beginning of its id, or else by its label, if no other one has that. What
// is both names the timer with the id, and a note says so.
func (j *Job) Find(actor, text string) (types.TimerInfo, error) {
	if text == "" {
		return types.TimerInfo{}, errors.New("the timer has neither an id nor a label")
	}
	client := types.NewQueryClient(j.Context)
	prefix, err := types.ParseIDPrefix(text)
	if err != nil {
		return j.findLabel(actor, text)
	}
	timer, err := Resolve(j.Ctx, client, actor, prefix)
	switch ambiguous := errors.Is(err, errAmbiguous); {
	case len(prefix) == 2*types.IDBytes || err != nil && !ambiguous && !errors.Is(err, ErrNoTimer):
		return timer, err
	case err != nil && !ambiguous:
		return j.findLabel(actor, text)
	}
	if err == nil {
		return timer, j.NoteLabel(actor, text)
	}
	also, listErr := j.withLabel(actor, text)
	if len(also) > 0 {
		err = fmt.Errorf("%w; it is also the label of\n%s", err, j.Rows(also))
	}
	return timer, cmp.Or(listErr, err)
}

// NoteLabel says of the beginning of an id that it is also the label of other timers, which it does not name.
func (j *Job) NoteLabel(actor, prefix string) error {
	also, err := j.withLabel(actor, prefix)
	also = slices.DeleteFunc(also, func(t types.TimerInfo) bool { return strings.HasPrefix(t.Id, strings.ToLower(prefix)) })
	if len(also) > 0 {
		j.Notef("%s counts as the beginning of an id; it is also the label of\n%s", prefix, j.Rows(also))
	}
	return err
}

// findLabel finds the one timer of an actor with a label.
func (j *Job) findLabel(actor, label string) (types.TimerInfo, error) {
	found, err := j.withLabel(actor, label)
	switch {
	case err != nil:
		return types.TimerInfo{}, err
	case len(found) == 0 && actor == j.Signer.Text:
		return types.TimerInfo{}, noTimer("no timer of yours has the label or id " + plain.Clean(label))
	case len(found) == 0:
		return types.TimerInfo{}, noTimer(j.Name(actor) + " has no live timer with the label or id " + plain.Clean(label))
	case len(found) > 1:
		return types.TimerInfo{}, fmt.Errorf("%d timers have the label %q: want the id of one\n%s", len(found), label, j.Rows(found))
	}
	return Resolve(j.Ctx, types.NewQueryClient(j.Context), actor, found[0].Id)
}

// noTimer is an error of a timer that is not there.
type noTimer string

func (e noTimer) Error() string { return string(e) }

// Is makes it an ErrNoTimer.
func (noTimer) Is(target error) bool { return target == ErrNoTimer }

// Says tells what a timer is: its label, what it does and when.
func (j *Job) Says(t *types.TimerInfo) string {
	text := j.Does(t)
	if t.Spec.Name != "" {
		text = plain.Clean(t.Spec.Name) + ": " + text
	}
	if t.Status.HoldReason != types.NotOnHold && t.Status.HoldReason != types.Timed {
		return text + ", " + words.Status(t)
	}
	zone, err := j.Zone()
	if err != nil {
		zone = time.UTC
	}
	return fmt.Sprintf("%s, due %s", text, words.Due(t, zone))
}

// Row is the same behind the beginning of its id.
func (j *Job) Row(t *types.TimerInfo) string { return plain.Clip(t.Id, shownDigits) + "  " + j.Says(t) }

// Rows are the rows of timers, a line for each of the first ones.
func (j *Job) Rows(timers []types.TimerInfo) string {
	var lines []string
	for i := range timers {
		if i == shownTimers {
			lines = append(lines, fmt.Sprintf("  and %s more", plain.Thousands(uint64(len(timers)-i))))
			break
		}
		lines = append(lines, "  "+j.Row(&timers[i]))
	}
	return strings.Join(lines, "\n")
}
