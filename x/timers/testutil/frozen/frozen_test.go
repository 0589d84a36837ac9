package frozen

import (
	"bytes"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"
)

func TestLog_LinesTellStatesAndEventsApart(t *testing.T) {
	hash := func(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }
	event := func(attributes ...abci.EventAttribute) abci.Event {
		return abci.Event{Type: "t", Attributes: attributes}
	}
	log := &Log{}
	log.Block(1, hash(1), nil)
	log.Block(1, hash(2), nil)
	log.Block(1, hash(1), []abci.Event{event(abci.EventAttribute{Key: "a", Value: "bc"})})
	log.Block(1, hash(1), []abci.Event{event(abci.EventAttribute{Key: "ab", Value: "c"})})
	log.Block(1, hash(1), []abci.Event{event(), event()})
	log.Block(1, hash(1), []abci.Event{event()})
	seen := map[string]bool{}
	for _, line := range log.lines {
		require.False(t, seen[line], line)
		seen[line] = true
	}
	log.Block(1, hash(1), []abci.Event{event(abci.EventAttribute{Key: "a", Value: "bc", Index: true})})
	require.Equal(t, log.lines[2], log.lines[6], "what is indexed is a setting")
}
