package actors

import (
	"bytes"
	"context"
	"slices"
	"sync"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Router asks its runtimes in order which of them serves an actor. A contract or a module is also an account, so the
// account runtime is registered last.
type Router struct{ runtimes []types.Runtime }

var _ types.Router = (*Router)(nil)

// NewRouter returns a router over the runtimes, most specific first.
func NewRouter(runtimes ...types.Runtime) *Router { return &Router{runtimes} }

// Prepend puts runtimes before those that the router has, while a chain is wired. Of two that serve an actor, the first is
// asked.
func (r *Router) Prepend(runtimes ...types.Runtime) {
	r.runtimes = slices.Concat(runtimes, r.runtimes)
}

// Route implements types.Router: the first runtime that serves the actor, or types.ErrUnknownActor.
func (r *Router) Route(ctx context.Context, actor sdk.AccAddress) (types.Runtime, error) {
	for _, runtime := range r.runtimes {
		if runtime.Serves(ctx, actor) {
			return runtime, nil
		}
	}
	return nil, types.ErrUnknownActor.Wrapf("there is no account or module %s", actor)
}

// rememberedBytes bounds what a generation of verdicts takes.
const rememberedBytes = 4 << 20

// verdictBytes is what a verdict takes in addition to its payload, about.
const verdictBytes = 256

// verdicts remember payloads whose checks passed, since an interval fires the same payload again and again, and every
// payload is checked when it is scheduled. A check depends on nothing but what the verdict names: the payload, the actor
// and the lists of allowed types. So a node that remembers gives the same answers as one that does not, and only takes
// less time.
//
// They are kept in two generations: when the young one is full, it becomes the old one, and what no one asked for
// meanwhile is forgotten. They are safe for concurrent use: transactions are checked while a block runs.
type verdicts struct {
	mtx        sync.Mutex
	limit      int
	young, old map[string]verdict
	// size of the young generation in bytes.
	size int
}

// verdict is what is known of a payload whose envelope passed: what its messages count as and, if actor is set, for whom
// and under which lists each message passed.
type verdict struct {
	weight          uint64
	actor           []byte
	allowed, denied []string
}

func newVerdicts(limit int) *verdicts { return &verdicts{limit: limit, young: map[string]verdict{}} }

// passedBy is the verdict on a payload whose messages passed.
func passedBy(config *types.TimerConfig, actor []byte, weight uint64) verdict {
	return verdict{weight, bytes.Clone(actor), slices.Clone(config.AllowedMessages), slices.Clone(config.DeniedMessages)}
}

// passed reports whether the messages passed for this actor under the config's lists.
func (v *verdict) passed(config *types.TimerConfig, actor []byte) bool {
	return v.actor != nil && bytes.Equal(v.actor, actor) &&
		slices.Equal(v.allowed, config.AllowedMessages) && slices.Equal(v.denied, config.DeniedMessages)
}

// of is what is remembered of a payload.
func (c *verdicts) of(payload []byte) (verdict, bool) {
	c.mtx.Lock()
	defer c.mtx.Unlock()
	if v, found := c.young[string(payload)]; found {
		return v, true
	}
	v, found := c.old[string(payload)]
	if found {
		c.add(payload, v)
	}
	return v, found
}

// put remembers a verdict. It takes the place of an earlier one on the payload.
func (c *verdicts) put(payload []byte, v verdict) {
	c.mtx.Lock()
	defer c.mtx.Unlock()
	c.add(payload, v)
}

func (c *verdicts) add(payload []byte, v verdict) {
	if _, again := c.young[string(payload)]; !again {
		c.size += len(payload) + verdictBytes
		if c.size > c.limit {
			c.old, c.young, c.size = c.young, map[string]verdict{}, len(payload)+verdictBytes
		}
	}
	c.young[string(payload)] = v
}
