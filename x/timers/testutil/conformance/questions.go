package conformance

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/questions"
)

// testQuestions: a chain whose agents, handlers and users ask random questions, and try what they drop, goes through the same
// states as one on which no one asks. Memory that lives as long as a block must not be changed by what runs on a branch that
// is dropped.
func (s Subject) testQuestions(t *testing.T) {
	opts := func() lab.ChainOptions {
		opts := s.options()
		bounds(&opts.Genesis.Config)
		return opts
	}
	seen := map[string]int{}
	history := func(t *rapid.T) {
		h := newHistory(t, byRapid(t), seen, opts)
		for range h.draw("blocks", 4, 15) {
			for range h.draw("acts", 0, 6) {
				h.act()
			}
			h.block()
		}
		asker := h.replayAsking(int64(h.draw("seed", 0, 1<<30)))
		seen["answered"] += asker.Answered
		seen["changed"] += asker.Changed
	}
	// Questions that are all refused, and changes that are, test nothing.
	checkUntilSeen(t, history, seen, "answered", "changed")
}

// replayAsking does what was done to the chain to two others, and has one of them asked. It returns who asked from within handlers
// and agents.
func (h *history) replayAsking(seed int64) *questions.Asker {
	silent, asked := start(h.t, h.opts()), start(h.t, h.opts())
	within := &questions.Asker{Timers: asked.Timers, Messages: asked.Messages, Actors: h.actors, Random: rand.New(rand.NewSource(seed))}
	asked.robots.asks = within.Ask
	users := *within
	for _, d := range h.deeds {
		users.Ask(asked.Ctx())
		for _, c := range []*chain{silent, asked} {
			switch {
			case d.msg != nil:
				_, _, _ = c.Tx(d.msg)
			case d.refuse != nil:
				c.refuse(*d.refuse)
			default:
				c.end()
			}
		}
		if d.hash == nil {
			continue
		}
		height := silent.Height()
		require.Equal(h.t, d.hash, silent.AppHash(), "the history again, height %d", height)
		require.Equal(h.t, silent.entries(), asked.entries(), "height %d", height)
		require.Equal(h.t, silent.AppHash(), asked.AppHash(), "what was written at height %d", height)
		require.NoError(h.t, asked.Check(), "height %d", height)
		require.NoError(h.t, errors.Join(silent.BeginBlock(), asked.BeginBlock()))
	}
	return within
}

// entries are what all stores hold.
func (c *chain) entries() (all []string) {
	c.WalkState(func(store string, key, value []byte) { all = append(all, fmt.Sprintf("%s %x: %x", store, key, value)) })
	return all
}
