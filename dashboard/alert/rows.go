package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cosmos-timers/timers/dashboard/store"
)

// rows are the kinds of events that come again and again while their cause lasts. The first is posted, and the success that ends
// the row.
var rows = []string{"failed", "missed", "waits for funds", "on hold: unfunded"}

// single are the kinds of events that are posted each time: a timer is gone, or waits for someone to act.
var single = []string{
	"unfunded", "expired", "cancelled", "cancelled not admin", "on hold: suspended", "on hold: quarantined", "on hold: not_admin",
}

// begun is where the event is stored after which rows are told: one that had begun before is told by its next event.
const begun = "alerts_begun"

// tells reports whether an event is posted, and adds to a success that it ends a row.
func (a *Alerts) tells(ctx context.Context, e *store.Event) (bool, error) {
	switch {
	case len(a.Actors) > 0 && !slices.Contains(a.Actors, e.Actor):
		return false, nil
	case slices.Contains(single, e.Kind), ends(e):
		return true, nil
	case slices.Contains(rows, e.Kind):
		before, err := a.before(ctx, e, e.Kind, "fired")
		return before != e.Kind, err
	case e.Kind == "fired":
		before, err := a.before(ctx, e, append(slices.Clone(rows), "fired")...)
		if err != nil || before == "" || before == "fired" {
			return false, err
		}
		e.Why = "it fires again"
		return true, nil
	default:
		return false, nil
	}
}

// ends reports whether an event says that it was its timer's last.
func ends(e *store.Event) bool {
	var said struct {
		Ended int32 `json:"ended"`
	}
	// A body that does not state it states no end.
	return json.Unmarshal([]byte(e.Body), &said) == nil && said.Ended != 0
}

// before is the kind of the last event of some kinds that a timer had before one, since rows are told; empty if it had none.
func (a *Alerts) before(ctx context.Context, e *store.Event, kinds ...string) (string, error) {
	if e.Timer == "" {
		return "", nil
	}
	after, err := a.place(ctx, begun)
	if err != nil {
		return "", err
	}
	found, err := a.Store.Events(ctx, store.Filter{
		Timer: e.Timer, Kinds: kinds, After: after, Before: store.Place{Height: e.Height, Position: e.Position}, Limit: 1,
	})
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].Kind, nil
}

// place reads a place that is stored; before every event if there is none.
func (a *Alerts) place(ctx context.Context, key string) (at store.Place, err error) {
	text, err := a.Store.Meta(ctx, key)
	if err != nil || text == "" {
		return at, err
	}
	_, err = fmt.Sscanf(text, "%d/%d", &at.Height, &at.Position)
	return at, err
}

func (a *Alerts) setPlace(ctx context.Context, key string, at store.Place) error {
	return a.Store.SetMeta(ctx, key, fmt.Sprintf("%d/%d", at.Height, at.Position))
}
