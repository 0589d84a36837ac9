package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/proof"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// every schedules a timer of alice's that fires every other block, three times.
func (r *rig) every(name string) string {
	return r.place(5, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 2, From: types.FromSchedule}}
		m.Spec.Name, m.Spec.Repeat = name, &types.Repeat{Remaining: 3}
	})
}

// headerFile is a file with the header of a height, as a node answers it.
func (r *rig) headerFile(height uint64) string {
	hash, err := r.Chain.AppHashOf(int64(height) - 1)
	require.NoError(r.T, err)
	return r.File("header.json", fmt.Sprintf(`{"result":{"signed_header":{"header":{"chain_id":"lab","height":"%d","app_hash":"%X"}}}}`, height, hash))
}

// shown is what verify prints.
type shown struct {
	ChainID   string `json:"chain_id"`
	TimerID   string `json:"timer_id"`
	Height    string
	Delivered bool
	Position  string
	Receipt   *struct {
		Actor   string
		Success bool
		Index   string
	}
}

// check verifies a file under the header that it names.
func (r *rig) check(path string) (s shown) {
	r.T.Helper()
	text, err := os.ReadFile(path)
	require.NoError(r.T, err)
	file, err := proof.Parse(text)
	require.NoError(r.T, err)
	r.Node.Down = true // Who verifies has no node.
	defer func() { r.Node.Down = false }()
	out, notes, err := r.Run("query", "timers", "verify", path, "-o", "json", "--header", r.headerFile(uint64(file.HeaderHeight)))
	require.NoError(r.T, err)
	require.Contains(r.T, notes, "proved: timer")
	require.NoError(r.T, json.Unmarshal([]byte(out), &s))
	return s
}

// A timer is named as everywhere; the file is of its last delivery, or of the one that was asked for, and is verified without a
// node.
func TestProof_OfANamedTimer(t *testing.T) {
	r := newRig(t)
	rent := r.every("rent")
	r.Blocks(5)
	path := filepath.Join(t.TempDir(), "proof.json")
	kept := func(line ...string) shown {
		_, notes, err := r.Run(append(append([]string{"query", "timers", "proof"}, line...), "--output-document", path)...)
		require.NoError(t, err)
		require.Contains(t, notes, "bytes, which the header of height")
		return r.check(path)
	}
	last := kept("alice/rent")
	require.True(t, last.Delivered)
	require.Equal(t, rent, last.TimerID)
	require.Equal(t, "2", last.Receipt.Index)
	require.Equal(t, r.Alice, last.Receipt.Actor)
	require.True(t, last.Receipt.Success)
	first := kept("alice/"+rent[:6], "--occurrence", "1")
	require.Equal(t, "1", first.Receipt.Index)
	require.Equal(t, first, kept("alice/rent", "--height", first.Height))
	require.Equal(t, first, kept(r.Alice+"/"+rent, "--height", first.Height, "--occurrence", "1"))

	// One that is gone is found by the beginning of its id.
	r.Blocks(3)
	require.Equal(t, "3", kept("alice/"+rent[:6]).Receipt.Index)
	require.Equal(t, first, kept("alice/"+rent[:6], "--height", first.Height))

	// Absence, of one that is gone and of one that lives.
	absent := kept("alice/"+rent[:6], "--absent", "--height", fmt.Sprint(r.Chain.Height()-1))
	require.False(t, absent.Delivered)
	require.Nil(t, absent.Receipt)
	r.Schedule(r.Chain.Height()+50, 7)
	alive := r.every("alive")
	require.Equal(t, alive, kept("alice/alive", "--absent", "--height", first.Height).TimerID)

	// Without a file it is the output, and may be passed on.
	out, _, err := r.Run("query", "timers", "proof", "alice/"+rent[:6])
	require.NoError(t, err)
	file, err := proof.Parse([]byte(out))
	require.NoError(t, err)
	hash, err := r.Chain.AppHashOf(int64(file.HeaderHeight) - 1)
	require.NoError(t, err)
	out, _, err = r.RunWith(out, "query", "timers", "verify", "-", "-o", "json", "--app-hash", fmt.Sprintf("%x", hash), "--header-height", fmt.Sprint(uint64(file.HeaderHeight)))
	require.NoError(t, err)
	require.Contains(t, out, `"delivered":true`)
}

func TestProof_Mistakes(t *testing.T) {
	r := newRig(t)
	rent := r.every("rent")
	r.Blocks(9)
	latest, height := fmt.Sprint(r.Chain.Height()), fmt.Sprint(r.Chain.Height()-1)
	for line, want := range map[string]string{
		"rent":                        `timer "rent" names no actor`,
		"carol/rent":                  `"carol" is neither an address of this chain`,
		"alice/water":                 "has no live timer with the name water",
		"alice/ffff0":                 "no delivery of timer alice/ffff0 is kept: receipts are kept of heights from",
		"alice/" + rent + " --absent": "--absent takes --height, the height at which the timer was not delivered, and no --occurrence",
		"alice/" + rent + " --absent --height 5 --occurrence 1": "and no --occurrence",
		"alice/" + rent + " --height " + height:                 "the timer was not delivered at height " + height + ": that can be proved",
		"alice/" + rent + " --height 99999":                     "height 99999 is in the future: the latest is " + latest,
		"alice/" + rent + " --occurrence 9":                     "no delivery of occurrence 9 of timer alice/" + rent + " is kept",
		"alice/" + rent + " --occurrence 1 --height 3":          "at height 3 is kept",
	} {
		t.Run(line, func(t *testing.T) {
			_, _, err := r.Run(append([]string{"query", "timers", "proof", "--timeout", "300ms"}, strings.Fields(line)...)...)
			require.ErrorContains(t, err, want)
		})
	}
	out, _, err := r.Run("query", "timers", "proof", "alice/"+rent)
	require.NoError(t, err)
	good, header := r.File("good.json", out), r.headerFile(r.Chain.Height())
	bad := r.File("bad.json", strings.Replace(out, `"chain_id": "lab"`, `"chain_id": "other"`, 1))
	for line, want := range map[string]string{
		good: "the trusted header is missing: want one of --header, --app-hash",
		good + " --header " + header + " --app-hash 00":   "both state the trusted header",
		good + " --header " + header + "x":                "no such file",
		good + " --header " + good:                        "lacks chain_id, height or app_hash",
		good + " --app-hash 00":                           "--app-hash takes --header-height and --chain-id",
		good + " --app-hash xyz":                          `--app-hash "xyz" is not hexadecimal`,
		good + " --app-hash 00 --header-height " + latest: "the application hash of the header has 1 bytes, want 32",
		bad + " --header " + header:                       `proves nothing: the proof is of chain "other", and the header of "lab"`,
		header + " --header " + header:                    "proves nothing: the proof is not a file of version 1",
		good + "x --header " + header:                     "no such file",
	} {
		t.Run(filepath.Base(line), func(t *testing.T) {
			_, _, err := r.Run(append([]string{"query", "timers", "verify"}, strings.Fields(line)...)...)
			require.ErrorContains(t, err, want)
		})
	}

	// The beginning of an id may be that of two timers that are gone.
	r.Configure(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 2 })
	r.Blocks(3)
	_, _, err = r.Run("query", "timers", "proof", "alice/"+rent)
	require.ErrorContains(t, err, "no delivery of timer alice/"+rent+" is kept")
	_, _, err = r.Run("query", "timers", "proof", "alice/"+rent, "--height", "12")
	require.ErrorContains(t, err, "height 12: not all its receipts are kept: all are kept of heights above")
}

// Two timers that are gone may begin alike.
func TestProof_AmbiguousPrefix(t *testing.T) {
	r := newRig(t)
	height := r.Chain.Height() + 30
	seen := map[byte]bool{}
	prefix := ""
	for range 17 {
		if id := r.Schedule(height, 5); seen[id[0]] {
			prefix = id[:1]
		} else {
			seen[id[0]] = true
		}
	}
	r.Blocks(int(height - r.Chain.Height() + 2))
	require.NotEmpty(t, prefix)
	_, _, err := r.Run("query", "timers", "proof", "alice/"+prefix)
	require.ErrorContains(t, err, `is ambiguous: `)
}
