package outlook

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// transferURL is the type of the message of IBC that moves coins, which the module does not import.
const transferURL = "/ibc.applications.transfer.v1.MsgTransfer"

// nesting is how deep messages within messages are looked for.
const nesting = 8

// transfer is what counts of a message: when a transfer gives up, in nanoseconds, and the messages within.
type transfer struct {
	Type    string            `json:"@type"`
	Timeout string            `json:"timeout_timestamp"`
	Within  []json.RawMessage `json:"msgs"`
}

// TimeoutOf is when the first of the transfers over IBC among messages gives up; false if none does at a time.
func TimeoutOf(cdc codec.Codec, msgs []sdk.Msg) (first time.Time, found bool) {
	var look func(raw []byte, depth int)
	look = func(raw []byte, depth int) {
		var t transfer
		// What is no such message has no such fields, or others of their names.
		if err := json.Unmarshal(raw, &t); err != nil || depth == 0 {
			return
		}
		if ends, err := strconv.ParseUint(t.Timeout, 10, 64); t.Type == transferURL && err == nil && ends > 0 {
			at := time.Unix(0, int64(min(ends, math.MaxInt64)))
			if !found || at.Before(first) {
				first, found = at, true
			}
		}
		for _, one := range t.Within {
			look(one, depth-1)
		}
	}
	for _, msg := range msgs {
		if raw, err := cdc.MarshalInterfaceJSON(msg); err == nil {
			look(raw, nesting)
		}
	}
	return first, found
}
