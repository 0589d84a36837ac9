// Package alert posts what people want to know of their timers to a webhook: that one begins to fail, to miss occurrences or to
// lack funds, that it fires again, and that it ended or waits for someone to act, with the cause. Of actors that are named also a
// timer that is overdue, and one whose payer runs dry.
package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cosmos-timers/timers/dashboard/store"
)

const (
	// cursor is where the last event is stored up to which everything was posted.
	cursor = "alerted"
	// tries is how often a webhook is tried for one batch before the batch is given up.
	tries = 8
	// batch is the most events that are read at once.
	batch = 500
	// afterAll is behind every event of a block.
	afterAll = int64(1) << 60
)

// Alerts reads new events from the store and posts them. What was posted is remembered there, so that a restart neither
// loses nor repeats more than a batch.
type Alerts struct {
	Store *store.Store
	URL   string
	// Actors whose timers are meant; all if there are none.
	Actors []string
	Note   func(format string, args ...any)
	// Pause is the first pause after a failure; each further one is twice as long.
	Pause  time.Duration
	Client *http.Client
	// Look asks for what no event says of the timers of an actor that is named; nil does not.
	Look func(ctx context.Context, actor string) ([]store.Event, error)

	// looked is the height of the last look.
	looked int64
}

// Run posts until the context ends; wake says that there may be something new.
func (a *Alerts) Run(ctx context.Context, wake <-chan struct{}) error {
	for {
		more, err := a.Once(ctx)
		if err != nil && ctx.Err() == nil {
			a.Note("alerts: %v", err)
		}
		if more && err == nil {
			continue
		}
		if err := a.look(ctx); err != nil && ctx.Err() == nil {
			a.Note("alerts: look at the timers: %v", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		}
	}
}

// Once posts the next batch, and reports whether there may be more. The first call ever begins after the last block that is
// stored: what is long past is not posted.
func (a *Alerts) Once(ctx context.Context) (more bool, err error) {
	last, _, err := a.Store.Last(ctx)
	if err != nil {
		return false, err
	}
	from, err := a.place(ctx, cursor)
	if err != nil {
		return false, err
	}
	if from == (store.Place{}) || from.Height > last {
		// It is the first call, or the chain was rolled back.
		end := store.Place{Height: last, Position: afterAll}
		return false, errors.Join(a.setPlace(ctx, begun, end), a.setPlace(ctx, cursor, end))
	}
	events, err := a.Store.Events(ctx, store.Filter{After: from, Limit: batch, OldestFirst: true})
	if err != nil || len(events) == 0 {
		return false, err
	}
	var matter []store.Event
	for i := range events {
		switch tells, err := a.tells(ctx, &events[i]); {
		case err != nil:
			return false, err
		case tells:
			matter = append(matter, events[i])
		}
	}
	newest := events[len(events)-1]
	end := store.Place{Height: newest.Height, Position: newest.Position}
	if len(matter) > 0 {
		if err := a.deliver(ctx, matter); err != nil {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			a.Note("alerts: %d events were not delivered: %v", len(matter), err)
			// What was not told of rows is told by their next events.
			if err := a.setPlace(ctx, begun, end); err != nil {
				return false, err
			}
		}
	}
	return len(events) == batch, a.setPlace(ctx, cursor, end)
}

// deliver posts a batch, and tries again for a while.
func (a *Alerts) deliver(ctx context.Context, events []store.Event) (err error) {
	chain, err := a.Store.Meta(ctx, "chain_id")
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"chain_id": chain, "events": events})
	if err != nil {
		return err
	}
	pause := a.Pause
	for range tries {
		if err = a.post(ctx, body); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
			pause *= 2
		}
	}
	return err
}

func (a *Alerts) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := a.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("the webhook answers %s", response.Status)
	}
	return nil
}
