package monitor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Before, each row of each frame asked twice: 6 blocks of 12 timers were 1,000 and more.
func TestMonitor_AsksOnceForTheNameOfAnAddress(t *testing.T) {
	r := newRig(t)
	r.Crowd(12)
	keys := r.CountKeys()
	shown := r.onScreen(6, "", func(int) { r.Blocks(1) })
	require.Contains(t, shown, "alice")
	require.Equal(t, 1, keys.Asked, "all names at once, before the view")

	keys.Asked, keys.Locked = 0, true
	shown = r.onScreen(6, "", func(int) { r.Blocks(1) })
	require.Equal(t, 1, keys.Asked, "a password is asked once")
	require.Regexp(t, "^addresses are shown without the names of keys", shown, "not across the view")
}

// How old what is shown is can be read off, and a halted chain or a node that is gone is no calm.
// Rule: 9.1-monitor-age
func TestMonitor_SaysHowOldItIs(t *testing.T) {
	r := newRig(t)
	r.Late = 1_200 * time.Millisecond
	shown := r.onScreen(2, "", func(int) {})
	require.Contains(t, shown, "timers of lab, height 10, 1.2s ago")
	require.NotContains(t, shown, "halted")

	shown = r.onScreen(12, "", func(look int) {
		r.Late = time.Duration(look) * 10 * time.Second
		r.Node.Down = look > 6
	})
	require.Contains(t, shown, "height 10, 20s ago")
	require.Contains(t, shown, "! block 10 is 40s old: the chain may be halted, the node or this view behind")
	require.Contains(t, shown, "! block 10 is 1m50s old", "it grows while the node is away")
	require.Contains(t, shown, "! no news from the node")
}

// Frames are left out while blocks are read: drawing never keeps the view behind.
func TestMonitor_LeavesOutFramesWhileItIsBehind(t *testing.T) {
	r := newRig(t)
	r.Blocks(30)
	// No time passes between the blocks of the past, and so none of them has a frame of its own.
	shown := r.onScreen(2, "", func(int) {})
	require.LessOrEqual(t, strings.Count(shown, "timers of lab"), 4)
}
