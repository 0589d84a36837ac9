// Package frozen compares what each block of a history did with what is committed, so that a change of the code that is meant
// to change nothing shows the first block that it changes.
package frozen

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"
)

// alone leaves the states aside, for a change of how state is stored.
var alone = flag.Bool("frozen.events", false, "compare the events of blocks alone, and not their states")

// rewrite writes the files instead of comparing with them.
var rewrite = flag.Bool("frozen.update", false, "write what blocks did, instead of comparing with it")

// Log is what the blocks of one history did: a line a block, with its height, the beginning of the hash of the state and that
// of a digest of its events.
type Log struct{ lines []string }

// Block adds a block. The events are those of its transactions and of its end, in their order.
func (l *Log) Block(height int64, appHash []byte, events []abci.Event) {
	l.lines = append(l.lines, fmt.Sprintf("%d %x %x", height, appHash[:6], digest(events)))
}

// digest of the types and attributes of events. That attributes are indexed is a setting of the node, and deliver_id names the
// parent block, whose hash follows from the state.
func digest(events []abci.Event) []byte {
	hash := sha256.New()
	text := func(s string) {
		hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		hash.Write([]byte(s))
	}
	for _, event := range events {
		text(event.Type)
		hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(event.Attributes))))
		for _, attribute := range event.Attributes {
			text(attribute.Key)
			if attribute.Key != "deliver_id" {
				text(attribute.Value)
			}
		}
	}
	return hash.Sum(nil)[:6]
}

// Compare fails at the first block that differs from what the file holds. -frozen.update writes the file.
func (l *Log) Compare(t testing.TB, file string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(l.lines, "\n")+"\n"), 0o600))
		return
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	want := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i, line := range l.lines[:min(len(l.lines), len(want))] {
		if line == want[i] {
			continue
		}
		was, is := strings.Fields(want[i]), strings.Fields(line)
		require.Len(t, was, 3, "%s, line %d", file, i+1)
		switch {
		case was[0] != is[0]:
			t.Fatalf("%s: block %s comes where %s came", file, is[0], was[0])
		case was[2] != is[2]:
			t.Fatalf("%s: block %s has other events; an intended change is recorded with -args -frozen.update", file, is[0])
		case !*alone:
			t.Fatalf("%s: block %s leaves another state, with the same events; an intended change is recorded with -args -frozen.update", file, is[0])
		}
	}
	require.Len(t, l.lines, len(want), "blocks of %s", file)
}
