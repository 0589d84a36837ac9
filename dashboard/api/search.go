package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxFound bounds what a search lists.
const maxFound = 50

const (
	// maxSearched is longer than any address, name, id or error.
	maxSearched = 256
	// minError is the least of an error's text that is looked for: of less most texts have some.
	minError = 3
)

// found is what a search found: actors and timers.
type found struct {
	Actors []string     `json:"actors"`
	Timers []foundTimer `json:"timers"`
	// More: there are others.
	More bool `json:"more"`
}

// foundTimer is a timer that a search found, alive or gone.
type foundTimer struct {
	ID     string `json:"id"`
	Actor  string `json:"actor"`
	Name   string `json:"name"`
	Status string `json:"status"`
	// Height and Time are those of the last that happened to it; 0 for one of which the history knows nothing.
	Height int64 `json:"height,omitempty"`
	Time   int64 `json:"time,omitempty"`
}

// search finds an actor by its address or the name of its key, and timers by the beginning of their ids, by their names, and by
// errors that they met.
func (s *Server) search(r *http.Request) (any, error) {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	switch {
	case text == "":
		return nil, problem{"what is looked for? An address, the name of a key, a timer's name, its id or the beginning of that, or an error"}
	case len(text) > maxSearched:
		return nil, problem{fmt.Sprintf("%.40q... is longer than any address, name, id or error", text)}
	}
	answer := found{Actors: []string{}, Timers: []foundTimer{}}
	if lower := strings.ToLower(text); s.isAccount(lower) {
		answer.Actors = append(answer.Actors, lower)
		return answer, nil
	}
	for _, address := range slices.Sorted(maps.Keys(s.Names)) {
		if strings.EqualFold(s.Names[address], text) {
			answer.Actors = append(answer.Actors, address)
		}
	}
	if err := s.searchTimers(r.Context(), text, &answer); err != nil {
		return nil, err
	}
	if len(answer.Actors)+len(answer.Timers) == 0 {
		return nil, problem{fmt.Sprintf("no timer has %.80q in its name, at the beginning of its id or in an error that it met, and no actor has that name or address; %s",
			text, s.namesKnown())}
	}
	return answer, nil
}

// searchTimers finds timers in the history, and those that live since before it began.
func (s *Server) searchTimers(ctx context.Context, text string, answer *found) error {
	prefix, err := types.ParseIDPrefix(text)
	if err != nil {
		prefix = ""
	}
	events, err := s.Store.Matching(ctx, prefix, text, maxFound+1)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range events {
		e := &events[i]
		seen[e.Timer] = true
		answer.Timers = append(answer.Timers, foundTimer{ID: e.Timer, Actor: e.Actor, Name: e.Name, Status: "last: " + e.Kind, Height: e.Height, Time: e.Time})
	}
	more, err := s.searchErrors(ctx, text, seen, answer)
	if err != nil {
		return err
	}
	// While the node is away, the history is searched alone; the page says that it is away.
	alive, err := s.live(ctx)
	if err == nil {
		for _, timers := range [][]types.TimerInfo{alive.queue, alive.timed, alive.held} {
			for i := range timers {
				t := &timers[i]
				matches := prefix != "" && strings.HasPrefix(t.Id, prefix) || strings.Contains(strings.ToLower(t.Spec.Name), strings.ToLower(text))
				if matches && !seen[t.Id] {
					answer.Timers = append(answer.Timers, foundTimer{ID: t.Id, Actor: t.Actor, Name: t.Spec.Name, Status: words.Status(t)})
				}
			}
		}
	}
	answer.More = len(answer.Timers) > maxFound || alive.more || more
	answer.Timers = answer.Timers[:min(len(answer.Timers), maxFound)]
	return nil
}

// searchErrors finds timers by errors that they met, unless they are found already.
func (s *Server) searchErrors(ctx context.Context, text string, seen map[string]bool, answer *found) (more bool, err error) {
	if len(text) < minError {
		return false, nil
	}
	met, more, err := s.Store.WithError(ctx, text, maxFound+1)
	if err != nil {
		return false, err
	}
	for i := range met {
		e := &met[i]
		if seen[e.Timer] {
			continue
		}
		seen[e.Timer] = true
		status := e.Kind + ": " + e.Why
		if e.Times > 1 {
			status = fmt.Sprintf("%s %d times: %s", e.Kind, e.Times, e.Why)
		}
		answer.Timers = append(answer.Timers, foundTimer{ID: e.Timer, Actor: e.Actor, Name: e.Name, Status: status, Height: e.Height, Time: e.Time})
	}
	return more, nil
}

// namesKnown says which names of keys can be searched for.
func (s *Server) namesKnown() string {
	known := slices.Sorted(maps.Values(s.Names))
	if len(known) == 0 {
		return "no names of keys are known here"
	}
	const most = 20
	text := "names of keys that are known here: " + strings.Join(known[:min(len(known), most)], ", ")
	if len(known) > most {
		text += fmt.Sprintf(" and %d more", len(known)-most)
	}
	return text
}
