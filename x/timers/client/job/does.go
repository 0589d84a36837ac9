package job

import (
	"encoding/json"

	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Does says what a timer does.
func (j *Job) Does(t *types.TimerInfo) string {
	return words.Writer{Codec: j.Codec, Who: j.Name}.Timer(t)
}

// JSON is a timer with all its fields, what it does in words as the field "does", and as the field "rule" when, if that is a
// calendar. Messages of a type that this binary
// does not know can't be written: those are left out, and the payload has them.
func (j *Job) JSON(t *types.TimerInfo) (json.RawMessage, error) {
	text, err := j.Codec.MarshalJSON(t)
	if err != nil {
		without := *t
		without.Spec.Call.Messages = nil
		if text, err = j.Codec.MarshalJSON(&without); err != nil {
			return nil, err
		}
	}
	if t.Spec.Trigger.Calendar != nil {
		if text, err = Add(text, "rule", words.Rule(t.Spec.Trigger.Calendar, "")); err != nil {
			return nil, err
		}
	}
	return Add(text, "does", j.Does(t))
}

// Add adds a field of text at the end of a JSON object that has fields.
func Add(object json.RawMessage, name, text string) (json.RawMessage, error) {
	key, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	object = append(object[:len(object)-1:len(object)-1], ',')
	return append(append(append(append(object, key...), ':'), value...), '}'), nil
}

// askedTimers bounds how many timers are asked for one by one.
const askedTimers = 100

// Ask asks for the messages of timers of which lists leave out the payload, and reads those of the others.
func (j *Job) Ask(timers []types.TimerInfo) {
	client, asked, left := types.NewQueryClient(j.Context), 0, 0
	for i := range timers {
		t := &timers[i]
		if uint64(len(t.Spec.Call.Payload)) == t.Status.PayloadBytes {
			t.Spec.Call.Messages = words.MessagesOf(t)
		}
		switch {
		case len(t.Spec.Call.Messages) > 0 || uint64(len(t.Spec.Call.Payload)) == t.Status.PayloadBytes && !t.Status.RunsMessages:
		case asked == askedTimers:
			left++
		default:
			asked++
			// One that is gone by now is shown as it was.
			if found, err := Resolve(j.Ctx, client, t.Actor, t.Id); err == nil {
				t.Spec.Call.Messages = found.Spec.Call.Messages
			}
		}
	}
	if left > 0 {
		j.Notef("%d timers have long payloads that were not read: query timers timer shows each, and a smaller page reads them", left)
	}
}

// AskDoes asks what the timers of watches do, and says "-" of one that it does not ask for.
func (j *Job) AskDoes(watches []types.WatchInfo) []string {
	client, known, left := types.NewQueryClient(j.Context), map[string]string{}, 0
	does := make([]string, len(watches))
	for i := range watches {
		w, says := &watches[i], "-"
		key := w.Actor + "/" + w.TimerId
		if text, again := known[key]; again {
			does[i] = text
			continue
		}
		if len(known) == askedTimers {
			left++
		} else {
			if found, err := Resolve(j.Ctx, client, w.Actor, w.TimerId); err == nil {
				says = j.Does(&found)
			}
			known[key] = says
		}
		does[i] = says
	}
	if left > 0 {
		j.Notef("of %d watches the timers were not read: a smaller page reads them", left)
	}
	return does
}
