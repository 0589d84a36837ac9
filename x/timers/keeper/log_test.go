package keeper_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	"cosmossdk.io/log"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// line is one of the module's in the log.
type line struct {
	Level, Module, Message string
	Height                 uint64
	ID                     string
}

// linesOf takes the module's lines out of the log. They have no text of a handler's.
func linesOf(t *testing.T, out *bytes.Buffer) (lines []line) {
	t.Helper()
	require.NotContains(t, out.String(), "on purpose")
	for decoder := json.NewDecoder(out); decoder.More(); {
		var l line
		require.NoError(t, decoder.Decode(&l))
		if l.Module == types.ModuleName {
			lines = append(lines, l)
		}
	}
	return lines
}

// TestTheLog: a validator sees at info one line for each block in which a timer fired, at debug all else that happened, and at
// error what needs a look (docs/operate/operate.md, "Logs").
func TestTheLog(t *testing.T) {
	var out bytes.Buffer
	broken := false
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Logger = log.NewLogger(&out, log.OutputJSONOption())
		opts.WrapStore = func(service corestore.KVStoreService) corestore.KVStoreService { return brittle{service, &broken} }
	})
	failing := f.script(func(sdk.Context, types.Delivery) error { return errors.New("on purpose") })
	fires := []string{f.schedule(robot2, 3, f.noop()), f.schedule(robot2, 3, failing)}
	f.blocksUntil(2)
	for _, l := range linesOf(t, &out) {
		require.Equal(t, "debug", l.Level, l)
	}
	f.NextBlock()
	lines := linesOf(t, &out)
	require.Len(t, lines, 3)
	for i, id := range fires {
		require.Equal(t, line{"debug", "timers", "a timer fired", 0, id}, lines[i])
	}
	require.Equal(t, line{"info", "timers", "end of block", 3, ""}, lines[2])

	f.NextBlock()
	require.Equal(t, []line{{"debug", "timers", "end of block", 4, ""}}, linesOf(t, &out))

	f.quarantine()
	bad := f.schedule(robot, 6, f.noop())
	f.NextBlock()
	require.Equal(t, []line{{"debug", "timers", "end of block", 5, ""}}, linesOf(t, &out))
	f.NextBlock()
	lines = linesOf(t, &out)
	require.Equal(t, line{"error", "timers", "a timer is quarantined", 0, bad}, lines[0])
	require.Equal(t, line{"debug", "timers", "end of block", 6, ""}, lines[len(lines)-1], "none fired")

	f.schedule(robot2, 8, f.noop())
	f.NextBlock()
	broken = true
	_, err := f.EndBlock()
	broken = false
	require.NoError(t, err)
	lines = linesOf(t, &out)
	require.Equal(t, line{"error", "timers", "the timer lane failed and was rolled back", 8, ""}, lines[len(lines)-1])
}

func TestAPanicOfAHandlerIsLoggedAsAnError(t *testing.T) {
	var out bytes.Buffer
	f := newFixture(t, func(opts *lab.ChainOptions) { opts.Logger = log.NewLogger(&out, log.OutputJSONOption()) })
	f.schedule(robot, 2, f.script(func(sdk.Context, types.Delivery) error { panic("closed") }))
	f.blocksUntil(2)
	require.Contains(t, linesOf(t, &out), line{"error", "timers", "panic in a sandbox", 0, ""})
}
