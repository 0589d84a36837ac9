package cli

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// name is how people name a timer: its actor, and the beginning of its id (SPEC §11).
type name struct {
	// actor as it was written: an address or the name of a key; empty if it was left out.
	actor string
	// prefix of the id, in lower case, of 1 to 64 digits.
	prefix string
}

// parseName reads ACTOR/ID-PREFIX, or ID-PREFIX alone.
func parseName(text string) (name, error) {
	const want = "want ACTOR/ID-PREFIX, the actor an address or a key's name, the prefix 1 to 64 hexadecimal digits"
	actor, prefix, hasActor := strings.Cut(text, "/")
	if !hasActor {
		actor, prefix = "", text
	}
	if hasActor && actor == "" {
		return name{}, fmt.Errorf("timer %.200q names no actor before the slash: %s", text, want)
	}
	prefix, err := types.ParseTimerIDPrefix(prefix)
	if err != nil {
		return name{}, fmt.Errorf("timer %.200q: %w: %s", text, err, want)
	}
	return name{actor, prefix}, nil
}

func (n name) whole() bool { return len(n.prefix) == 2*types.IDBytes }

// resolve finds the whole id of an actor's timer as git finds a short hash. A whole id is taken at its word.
func resolve(ctx context.Context, query types.QueryClient, actor, prefix string) (types.TimerInfo, error) {
	response, err := query.Timer(ctx, &types.QueryTimerRequest{Actor: actor, Id: prefix})
	if err == nil {
		return response.Timer, nil
	}
	answer := status.Convert(err).Message()
	switch {
	case status.Code(err) == codes.NotFound:
		return types.TimerInfo{}, fmt.Errorf("%s has no live timer whose id begins with %s: it may have fired, expired or been cancelled",
			actor, prefix)
	case strings.Contains(answer, types.ErrAmbiguousTimerID.Error()):
		// The server names two of the timers that fit; the rest of its answer is the transport's.
		detail, _, _ := strings.Cut(serverSays(err), ": "+types.ErrAmbiguousTimerID.Error())
		return types.TimerInfo{}, fmt.Errorf("the id prefix is ambiguous: %s", detail)
	default:
		return types.TimerInfo{}, fmt.Errorf("look up timer %s/%s: %w", actor, prefix, err)
	}
}
