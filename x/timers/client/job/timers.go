package job

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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

// Find finds one of an actor's live timers by its name, or by the beginning of its id: no text can be both.
func (j *Job) Find(actor, text string) (types.TimerInfo, error) {
	client := types.NewQueryClient(j.Context)
	if prefix, err := types.ParseIDPrefix(text); err == nil {
		return Resolve(j.Ctx, client, actor, prefix)
	}
	for _, scheduler := range []string{actor, j.Signer.Text} {
		response, err := client.Timer(j.Ctx, &types.QueryTimerRequest{Actor: actor, Name: text, Scheduler: scheduler, Verdict: true})
		switch {
		case err == nil:
			return response.Timer, nil
		case status.Code(err) != codes.NotFound:
			return types.TimerInfo{}, fmt.Errorf("look up timer %s/%s: %s", j.Name(actor), plain.Clean(text), plain.ServerSays(err))
		case scheduler == j.Signer.Text || j.Signer.Text == "":
			return types.TimerInfo{}, j.noneNamed(actor, text)
		}
	}
	return types.TimerInfo{}, j.noneNamed(actor, text)
}

// noneNamed says that an actor has no live timer with a name.
func (j *Job) noneNamed(actor, name string) error {
	if actor == j.Signer.Text {
		return noTimer("no live timer of yours has the name " + plain.Clean(name))
	}
	return noTimer(j.Name(actor) + " has no live timer with the name " + plain.Clean(name))
}

// noTimer is an error of a timer that is not there.
type noTimer string

func (e noTimer) Error() string { return string(e) }

// Is makes it an ErrNoTimer.
func (noTimer) Is(target error) bool { return target == ErrNoTimer }

// Says tells what a timer is: its name, what it does and when.
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
