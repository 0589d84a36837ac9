package follow_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/dashboard/follow"
	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// chain is a node in memory: the hashes of its blocks, of which each has one fire.
type chain struct {
	id     string
	hashes []string
	pruned int64
	away   bool
}

func (c *chain) grow(n int, salt string) {
	for range n {
		c.hashes = append(c.hashes, fmt.Sprintf("%s-%d", salt, len(c.hashes)+1))
	}
}

func (c *chain) err() error {
	if c.away {
		return errors.New("connection refused")
	}
	return nil
}

func (c *chain) State(context.Context) (follow.State, error) {
	return follow.State{ChainID: c.id, First: c.pruned + 1, Last: int64(len(c.hashes))}, c.err()
}

func (c *chain) Hash(_ context.Context, height int64) (string, error) {
	if height <= c.pruned || height > int64(len(c.hashes)) {
		return "", fmt.Errorf("no block %d", height)
	}
	return c.hashes[height-1], c.err()
}

func (c *chain) Read(ctx context.Context, height int64) (store.Block, []store.Event, error) {
	hash, err := c.Hash(ctx, height)
	b := store.Block{Height: height, Hash: hash, Fired: 1}
	if height > 1 {
		b.Parent = c.hashes[height-2]
	}
	return b, []store.Event{{Kind: "fired", Actor: "alice", Timer: "t", Paid: "3", Body: fmt.Sprintf("%q", hash)}}, err
}

func open(tb testing.TB, file string) *store.Store {
	tb.Helper()
	s, err := store.Open(context.Background(), file)
	require.NoError(tb, err)
	return s
}

// TestAFollowerHasWhatItsNodeHas draws what can happen to a node and to the follower: growth, a rollback, a fork, another chain
// that is asked for, outages and restarts of either. After each look, the store holds the node's blocks and nothing else, and
// the totals are theirs.
func TestAFollowerHasWhatItsNodeHas(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		file := filepath.Join(dir, fmt.Sprintf("%d.db", run))
		ctx, node := context.Background(), &chain{id: "a"}
		node.grow(3, "genesis")
		s, err := store.Open(ctx, file)
		require.NoError(t, err)
		defer func() { _ = s.Close() }()
		follower := &follow.Follower{Source: node, Store: s, Note: func(string, ...any) {}}
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			salt := fmt.Sprint(step)
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				node.grow(rapid.IntRange(1, 5).Draw(t, "blocks"), salt)
			case 1: // It was rolled back, and goes on with other blocks.
				node.hashes = node.hashes[:rapid.IntRange(1, len(node.hashes)).Draw(t, "left")]
				node.grow(rapid.IntRange(1, 9).Draw(t, "blocks"), salt)
			case 2: // Another chain.
				*node = chain{id: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id")}
				node.grow(rapid.IntRange(1, 9).Draw(t, "blocks"), "other"+salt)
				follower.NewChain = true
			case 3: // The follower restarts.
				require.NoError(t, s.Close())
				s, err = store.Open(ctx, file)
				require.NoError(t, err)
				follower.Store = s
			case 4:
				node.away = true
				require.Error(t, follower.Once(ctx))
				node.away = false
			}
			// A fork that is met between two blocks takes a second look.
			require.NoError(t, follower.Once(ctx))
			require.NoError(t, follower.Once(ctx))
			follower.NewChain = false
			events, err := s.Events(ctx, store.Filter{Limit: 1_000, OldestFirst: true})
			require.NoError(t, err)
			var bodies, want []string
			for _, e := range events {
				bodies = append(bodies, e.Body)
			}
			for _, hash := range node.hashes {
				want = append(want, fmt.Sprintf("%q", hash))
			}
			require.Equal(t, want, bodies)
			totals, err := s.Totals(ctx, "alice")
			require.NoError(t, err)
			require.Equal(t, store.Totals{Actor: "alice", Fired: int64(len(want)), Paid: fmt.Sprint(3 * len(want))}, totals)
		}
	})
}

// A history is dropped only by someone who asks for that: neither a node of another chain nor one whose chain began again
// under the same name ends it.
func TestFollower_RefusesAnotherChain(t *testing.T) {
	for name, other := range map[string]chain{
		"another name": {id: "b"}, "the same name": {id: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, node := context.Background(), &chain{id: "a"}
			node.grow(5, "old")
			file := filepath.Join(t.TempDir(), "db")
			s := open(t, file)
			defer s.Close()
			follower := &follow.Follower{Source: node, Store: s, Note: t.Logf}
			require.NoError(t, follower.Once(ctx))

			*node = other
			node.grow(9, "new")
			// It ends, rather than ask again.
			err := follower.Run(ctx)
			require.ErrorIs(t, err, follow.ErrOtherChain)
			for _, part := range []string{fmt.Sprintf("%q", other.id), `"a"`, file, "--new-chain"} {
				require.ErrorContains(t, err, part)
			}
			last, hash, err := s.Last(ctx)
			require.NoError(t, err)
			require.EqualValues(t, 5, last)
			require.Equal(t, "old-5", hash)

			follower.NewChain = true
			require.NoError(t, follower.Once(ctx))
			last, hash, err = s.Last(ctx)
			require.NoError(t, err)
			require.EqualValues(t, 9, last)
			require.Equal(t, "new-9", hash)

			// It is asked for once: the next chain is refused again.
			*node = chain{id: "c"}
			node.grow(2, "third")
			require.ErrorIs(t, follower.Once(ctx), follow.ErrOtherChain)
		})
	}
}

// TestABacklogIsReadFromItsEnd: the first start may begin late, and later ones continue.
func TestABacklogIsReadFromItsEnd(t *testing.T) {
	ctx, node := context.Background(), &chain{id: "a"}
	node.grow(100, "x")
	s := open(t, filepath.Join(t.TempDir(), "db"))
	defer s.Close()
	follower := &follow.Follower{Source: node, Store: s, Backlog: 10, Note: t.Logf}
	require.NoError(t, follower.Once(ctx))
	events, err := s.Events(ctx, store.Filter{Limit: 1_000, OldestFirst: true})
	require.NoError(t, err)
	require.Len(t, events, 10)
	require.Equal(t, int64(91), events[0].Height)

	// The node prunes what was not read: that is a gap, and is said.
	node.grow(50, "x")
	node.pruned = 120
	var notes []string
	follower.Note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	require.NoError(t, follower.Once(ctx))
	last, _, err := s.Last(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(150), last)
	require.True(t, slices.ContainsFunc(notes, func(n string) bool {
		return n == "the node has pruned the blocks 101 to 120: they are missing from the history"
	}), "%v", notes)
}

func TestEventsAreDescribed(t *testing.T) {
	failed := follow.Describe("TimerFired", &types.TimerFired{Id: "ab", Actor: "alice", Codespace: "timers", Code: types.ErrOutOfCycles.ABCICode(), Paid: "7"})
	require.Equal(t, "failed", failed.Kind)
	require.Equal(t, "7", failed.Paid)
	require.Contains(t, failed.Why, types.ErrOutOfCycles.Error())
	require.Equal(t, "fired", follow.Describe("TimerFired", &types.TimerFired{Success: true}).Kind)
	require.Empty(t, follow.Describe("TimerFired", &types.TimerFired{Success: true}).Why)
	require.Equal(t, "unfunded", follow.Describe("TimerCancelledInsufficientFunds", &types.TimerCancelledInsufficientFunds{}).Kind)
	require.Equal(t, "bid locked", follow.Describe("TimerBidLocked", &types.TimerBidLocked{}).Kind)
	require.Equal(t, "on hold: quarantined", follow.Describe("TimerHeld", &types.TimerHeld{Reason: types.Quarantined}).Kind)
	require.Equal(t, "cancelled", follow.Describe("TimerCancelledByGovernance", &types.TimerCancelledByGovernance{}).Kind)
	config := types.TimerConfig{LaneTimerCycles: 1_200_000, PolicyParams: []*codectypes.Any{{TypeUrl: "/timers.v1.Unknown", Value: []byte{1}}}}
	require.Contains(t, follow.Describe("TimerConfigUpdatedByGovernance", &types.TimerConfigUpdatedByGovernance{Config: config}).Body, "1200000")
	require.Len(t, config.PolicyParams, 1)
	// A chain with modules that this program does not know has codes of its own.
	require.Equal(t, "unknown (elsewhere/9)", follow.Meaning("elsewhere", 9))
}

// TestFollower_CallsTheDatabaseByItsName: a node that answers is not said to be away.
func TestFollower_CallsTheDatabaseByItsName(t *testing.T) {
	node := &chain{id: "a"}
	node.grow(3, "x")
	s := open(t, filepath.Join(t.TempDir(), "db"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var notes []string
	follower := &follow.Follower{Source: node, Store: s, Interval: time.Nanosecond, Note: func(format string, args ...any) {
		notes = append(notes, fmt.Sprintf(format, args...))
		cancel()
	}}
	require.NoError(t, follower.Once(ctx))
	require.NoError(t, s.Close())
	require.NoError(t, follower.Run(ctx))
	require.Len(t, notes, 1)
	require.Contains(t, notes[0], "the history is not written, tried again every 2s: the database: ")
	require.Empty(t, follower.Health().Away)
}
