package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Act is what a transaction did to a timer.
type Act = row

// Acts are what a transaction did to timers, in its order. With an error they are those that are known.
func Acts(height int64, events []abci.Event) (acts []Act, unknown error) {
	for _, found := range events {
		act, ok, err := readRow(height, found)
		unknown = errors.Join(unknown, err)
		if ok && err == nil {
			act.run = ranBy(events, found)
			acts = append(acts, act)
		}
	}
	return acts, unknown
}

// Text says it in a line: which timer, what, and when it is due next, in a zone.
func (r *row) Text(zone *time.Location) string {
	words := r.words(stampIn(zone))
	text := fmt.Sprintf("timer %s/%s %s", r.event.GetActor(), r.Timer, r.what())
	for _, said := range []string{words[0], words[3]} {
		if said != "-" && said != "" {
			text += ", " + said
		}
	}
	if words[2] != "-" {
		due := words[2]
		if strings.Trim(due, "0123456789") == "" {
			due = "at height " + due
		}
		text += "; next due " + due
	}
	return text
}

// ranBy reports whether an event is the change by a message that makes a timer run: baseapp says which message of a transaction
// an event is of, and what each is.
func ranBy(events []abci.Event, found abci.Event) bool {
	message := attribute(found, "msg_index")
	if message == "" || found.Type != "timers.v1.TimerUpdated" {
		return false
	}
	return slices.ContainsFunc(events, func(e abci.Event) bool {
		return e.Type == sdk.EventTypeMessage && attribute(e, "msg_index") == message &&
			attribute(e, sdk.AttributeKeyAction) == sdk.MsgTypeURL(&types.MsgRunTimer{})
	})
}

// attribute is the value of an event's attribute; empty if it has none.
func attribute(e abci.Event, key string) string {
	if i := slices.IndexFunc(e.Attributes, func(a abci.EventAttribute) bool { return a.Key == key }); i >= 0 {
		return e.Attributes[i].Value
	}
	return ""
}
