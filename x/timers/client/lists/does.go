package lists

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// printTimers prints a page as JSON or YAML: every field, the messages of each timer, and what it does in words.
func printTimers(j *job.Job, output string, p page, timers []types.TimerInfo) error {
	objects := make([]json.RawMessage, len(timers))
	for i := range timers {
		var err error
		if objects[i], err = j.JSON(&timers[i]); err != nil {
			return err
		}
	}
	return printWith(j, output, with(p, nil), "timers", objects)
}

// printWith prints an answer with the entries of its list, which is empty and comes first in it.
func printWith(j *job.Job, output string, answer proto.Message, list string, entries []json.RawMessage) error {
	text, err := j.Codec.MarshalJSON(answer)
	if err != nil {
		return err
	}
	head := []byte(`{"` + list + `":[`)
	rest, found := bytes.CutPrefix(text, head)
	if !found {
		return errors.New("the answer does not begin with its list of " + list)
	}
	text = slices.Concat(head, bytes.Join(asBytes(entries), []byte(",")), rest)
	if output == outputYAML {
		return j.WithOutputFormat(flags.OutputFormatText).PrintRaw(text)
	}
	return j.PrintRaw(text)
}

func asBytes(entries []json.RawMessage) [][]byte {
	all := make([][]byte, len(entries))
	for i, entry := range entries {
		all[i] = entry
	}
	return all
}
