package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Name is how people name a timer: its actor, and the beginning of its id or its name (x/timers/README.md, "9.1 CLI").
type Name struct {
	// Actor as it was written: an address or the name of a key; empty if it was left out.
	Actor string
	// Text is the beginning of the id, or the name.
	Text string
}

// ParseName reads ACTOR/ID-PREFIX or ACTOR/NAME, or what is behind the slash alone.
func ParseName(text string) (Name, error) {
	const want = "want ACTOR/ID-PREFIX or ACTOR/NAME, the actor an address or a key's name"
	actor, of, hasActor := strings.Cut(text, "/")
	switch {
	case !hasActor:
		actor, of = "", text
	case actor == "":
		return Name{}, fmt.Errorf("timer %.200q names no actor before the slash: %s", text, want)
	}
	if of == "" {
		return Name{}, fmt.Errorf("timer %.200q has neither an id nor a name: %s", text, want)
	}
	if _, err := types.ParseIDPrefix(of); err == nil {
		return Name{actor, of}, nil
	}
	if err := types.CheckName(of); err != nil {
		return Name{}, fmt.Errorf("timer %.200q: an id has at most %d hexadecimal digits, and a name %d printable ASCII characters, none of them a slash: %s",
			text, 2*types.IDBytes, types.MaxNameBytes, want)
	}
	return Name{actor, of}, nil
}

// Whole reports whether the name has all digits of the id.
func (n Name) Whole() bool {
	_, err := types.ParseID(n.Text)
	return err == nil
}

// ID is the text as an id in lower case.
func (n Name) ID() string { return strings.ToLower(n.Text) }

// ErrNoTimer is within the error of a timer that is not there.
var ErrNoTimer = errors.New("no live timer")

var errAmbiguous = errors.New("the id prefix is ambiguous")

// Resolve finds the whole id of an actor's timer as git finds a short hash. A whole id is taken at its word.
func Resolve(ctx context.Context, query types.QueryClient, actor, prefix string) (types.TimerInfo, error) {
	response, err := query.Timer(ctx, &types.QueryTimerRequest{Actor: actor, Id: prefix, Verdict: true})
	if err == nil {
		return response.Timer, nil
	}
	answer := status.Convert(err).Message()
	switch {
	case status.Code(err) == codes.NotFound:
		return types.TimerInfo{}, fmt.Errorf("%s has %w whose id begins with %s: it may have fired, expired or been cancelled",
			actor, ErrNoTimer, prefix)
	case strings.Contains(answer, types.ErrAmbiguousTimerID.Error()):
		// The server names two of the timers that fit; the rest of its answer is the transport's.
		detail, _, _ := strings.Cut(plain.ServerSays(err), ": "+types.ErrAmbiguousTimerID.Error())
		return types.TimerInfo{}, fmt.Errorf("%w: %s", errAmbiguous, detail)
	default:
		return types.TimerInfo{}, fmt.Errorf("look up timer %s/%s: %w", actor, prefix, err)
	}
}

// Owned is a timer that the signer may change, as messages name it.
type Owned struct {
	// ID is the whole id; empty where the name alone is known.
	ID string
	// Name is the one that the signer has given it, where it is known.
	Name string
	// Actor is the contract for which the signer scheduled it, as its admin; empty if it is the signer's own.
	Actor string
	// Live is the timer, where it was looked up.
	Live *types.TimerInfo
}

// OwnTimer reads the name of one of the signer's timers, or of one that the signer scheduled for a contract. Of the latter
// it asks the node, if there is one, who scheduled it.
func (j *Job) OwnTimer(text string) (Owned, error) {
	n, err := ParseName(text)
	if err != nil {
		return Owned{}, err
	}
	owned, actor := Owned{}, j.Signer.Text
	if n.Actor != "" {
		named, err := j.LookupAccount(n.Actor)
		if err != nil {
			return owned, fmt.Errorf("timer %.200q: %w", text, err)
		}
		if actor = named.Text; actor != j.Signer.Text {
			owned.Actor = actor
		}
	}
	_, notHex := types.ParseIDPrefix(n.Text)
	switch {
	case n.Whole() && (owned.Actor == "" || j.Offline):
		owned.ID = n.ID()
		return owned, nil
	case notHex != nil && j.Offline:
		owned.Name = n.Text
		return owned, nil
	case j.Offline:
		return owned, fmt.Errorf("timer %.200q: a short id needs a node: with --%s, state its name or all %d digits of the id",
			text, flags.FlagOffline, 2*types.IDBytes)
	}
	timer, err := j.Find(actor, n.Text)
	if owned.Actor != "" && err == nil && timer.Scheduler != j.Signer.Text {
		err = errors.New("only its owner may change it, or the admin who scheduled it")
	}
	switch {
	case err != nil && owned.Actor != "":
		return owned, fmt.Errorf("timer %.200q belongs to %s, and --%s is %s: %w", text, actor, flags.FlagFrom, j.Signer.Text, err)
	case err != nil:
		return owned, err
	}
	owned.ID, owned.Name, owned.Live = timer.Id, timer.Spec.Name, &timer
	j.Notef("timer %s/%s: %s", actor, timer.Id, j.Says(&timer))
	return owned, nil
}
