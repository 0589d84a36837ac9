// Package pending collects what the steps at the end of a block change in the owner index and among the timers that are set
// aside, until it is written.
package pending

import (
	"bytes"
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
)

// Most bounds what is changed and not yet written, of the owner index and of the timers set aside: each reading looks through
// it.
const Most = 64

// Change is a change of one entry of the owner index: it has another value, or is removed.
type Change struct {
	Key, Value []byte
	Removed    bool
}

// Message is the change as it is written.
func (c Change) Message() logmap.Change {
	if c.Removed {
		return logmap.Deleted(c.Key)
	}
	return logmap.Replaced(c.Key, c.Value)
}

// Changes are those that steps have made and that are not yet in the store, in their order. They live as long as the block.
// A nil one is empty.
type Changes struct {
	list []Change
	// aside are those of the timers that are set aside.
	aside []logmap.Change
	// NoneAside: the block has found that no timer is set aside, and has set none aside since.
	NoneAside bool
}

type contextKey struct{}

// With marks a context, and those that stem from it, as ones under which changes are collected.
func With(ctx sdk.Context) (sdk.Context, *Changes) {
	c := &Changes{}
	return ctx.WithValue(contextKey{}, c), c
}

// Of returns the changes of the block in which the context runs, to read them; nil outside of its end.
func Of(ctx context.Context) *Changes {
	c, _ := ctx.Value(contextKey{}).(*Changes)
	return c
}

// Own returns the changes of the block whose own steps run under the context, to add to them and to write them; nil for
// transactions, handlers, agents and queries. Theirs may be undone without the block's memory.
func Own(ctx context.Context) *Changes {
	if sandbox.IsWithinFire(ctx) {
		return nil
	}
	return Of(ctx)
}

// Mark is what was not yet written at some time.
type Mark struct {
	list  []Change
	aside []logmap.Change
}

// Mark returns where Undo returns to, when what was done since is undone.
func (c *Changes) Mark() Mark {
	if c == nil {
		return Mark{}
	}
	return Mark{c.list, c.aside}
}

// Undo forgets the changes since a mark. What was written in between must be undone too.
func (c *Changes) Undo(m Mark) {
	if c != nil {
		c.list, c.aside = m.list, m.aside
	}
}

// Add collects a change, and returns how many there are.
func (c *Changes) Add(change Change) int {
	c.list = append(c.list, change)
	return len(c.list)
}

// AddAside collects a change of a timer that is set aside, and returns how many there are.
func (c *Changes) AddAside(change logmap.Change) int {
	c.aside, c.NoneAside = append(c.aside, change), false
	return len(c.aside)
}

// Aside returns the changes of timers that are set aside, in their order.
func (c *Changes) Aside() []logmap.Change {
	if c == nil {
		return nil
	}
	return c.aside
}

// TakeAside returns them, and they are written now.
func (c *Changes) TakeAside() []logmap.Change {
	aside := c.Aside()
	if c != nil {
		c.aside = nil
	}
	return aside
}

// Take returns the changes of the owner index, which are written now.
func (c *Changes) Take() []Change {
	list := c.All()
	if c != nil {
		c.list = nil
	}
	return list
}

// All returns the changes, in their order.
func (c *Changes) All() []Change {
	if c == nil {
		return nil
	}
	return c.list
}

// Current are entries that were read, as the block has changed them.
func (c *Changes) Current(read []logmap.Entry) []logmap.Entry {
	if c == nil {
		return read
	}
	current := read[:0]
	for _, entry := range read {
		change, changed := c.last(entry.Key)
		switch {
		case !changed:
			current = append(current, entry)
		case !change.Removed:
			current = append(current, logmap.Entry{Key: entry.Key, Value: change.Value})
		}
	}
	return current
}

// last returns the last change of a key.
func (c *Changes) last(key []byte) (change Change, changed bool) {
	for i := len(c.list) - 1; i >= 0; i-- {
		if bytes.Equal(c.list[i].Key, key) {
			return c.list[i], true
		}
	}
	return change, false
}

// Removed counts the removed entries whose keys have a prefix.
func (c *Changes) Removed(prefix []byte) (n uint64) {
	if c == nil {
		return 0
	}
	for _, change := range c.list {
		if change.Removed && bytes.HasPrefix(change.Key, prefix) {
			n++
		}
	}
	return n
}

// Stays reports whether an entry that is not removed is among them.
func (c *Changes) Stays() bool {
	if c == nil {
		return false
	}
	for _, change := range c.list {
		if !change.Removed {
			return true
		}
	}
	return false
}
