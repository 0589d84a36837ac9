package conformance

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// testChanges: under a backlog the chain goes over to each other policy and back, at heights that follow from a seed, while
// timers of all kinds come. Every block keeps what histories keep, an export in the middle of the backlog continues as the
// chain does, and in the end the backlog drains.
func (s Subject) testChanges(t *testing.T) {
	backlog := 240 * *scale
	opts := func() lab.ChainOptions {
		opts := s.options()
		c := &opts.Genesis.Config
		bounds(c)
		c.MaxTtlBlocks, c.MaxFiresPerBlock, c.CandidateWindow = 400, 3, 12
		lab.SetOverhead(c, market.Admit, 12)
		withCrowd(&opts, backlog, func(timer *types.Timer) {
			timer.ExpiresAt = 300
			if timer.Seq%9 == 0 {
				timer.Spec.Trigger.Interval = &types.IntervalTrigger{Every: 3, First: 2}
				timer.Spec.Repeat = &types.Repeat{Remaining: 2}
			}
		})
		return opts
	}
	first := newHistory(t, bySeed(0), map[string]int{}, opts)
	for seed, other := range first.policies() {
		// Of two policies the later one tries the way to the other and back, unless the long form has both try it.
		if other == s.Policy || other > s.Policy && *scale == 1 {
			continue
		}
		t.Run(fmt.Sprintf("to %d and back", other), func(t *testing.T) {
			h := newHistory(t, bySeed(uint64(seed)), map[string]int{}, opts)
			for i, to := range []types.Policy{other, s.Policy, other, s.Policy} {
				for range h.draw("blocks", 2, 8) {
					for range h.draw("acts", 0, 4) {
						h.act()
					}
					h.block()
				}
				if i == 1 {
					h.roundTrip(3)
				}
				h.reconfigure(to)
				h.block()
			}
			h.replay()
			h.refuse(false)
			h.setConfig(func(c *types.TimerConfig) {
				c.LanePaused, c.MaxCyclesPerFire, c.MaxFiresPerBlock = false, 250_000, 0
			})
			h.outlive()
		})
	}
}

// outlive runs blocks until what may leave by itself has left: what stays is on hold, watches, or can't pay.
func (h *history) outlive() {
	for h.Height() < 330 {
		h.quick()
	}
	require.NoError(h.t, h.Check())
	for _, timer := range h.export().Timers {
		require.Greater(h.t, timer.ExpiresAt, h.Height(), "%s should have left", timer.IDHex())
	}
}
