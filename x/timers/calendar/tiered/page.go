package tiered

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// pageEntries is how many entries of the near tier are read at once.
const pageEntries = 32

// item is an entry whose value is decoded when it is asked for.
type item[V any] struct {
	key   calendar.Key
	value func() (V, error)
}

// cursor reads the entries of one run or of one tier in order.
type cursor[V any] struct {
	// at is a lower bound of the next entry's key.
	at   calendar.Key
	page []item[V]
	// load returns the next entries from a key on; none if there are no more.
	load func(ctx context.Context, at calendar.Key) ([]item[V], error)
	// dead tells which entries to pass over; nil for none.
	dead *deadKeys
	done bool
}

// read reads the next page, or sets done.
func (c *cursor[V]) read(ctx context.Context) (err error) {
	c.page, err = c.load(ctx, c.at)
	if len(c.page) == 0 {
		c.done = true
		return err
	}
	c.at = c.page[0].key
	return err
}

// pass goes on behind the next entry.
func (c *cursor[V]) pass() {
	key := c.page[0].key
	if c.page = c.page[1:]; len(c.page) > 0 {
		c.at = c.page[0].key
		return
	}
	c.at = successor(key)
	c.done = c.at == key
}

// walk passes the entries of the cursors to fn, in order up to a height, until fn returns false. It returns the key at
// which fn did.
func walk[V any](
	ctx context.Context, cursors []*cursor[V], height uint64, fn func(calendar.Entry[V]) (more bool),
) (stopped calendar.Key, complete bool, err error) {
	for {
		least, err := least(ctx, cursors, height)
		if least == nil || err != nil {
			return stopped, err == nil, err
		}
		key, decode := least.page[0].key, least.page[0].value
		least.pass()
		if least.dead != nil {
			if dead, err := least.dead.has(ctx, key); dead || err != nil {
				if err != nil {
					return stopped, false, err
				}
				continue
			}
		}
		value, err := decode()
		if err != nil {
			return stopped, false, err
		}
		if !fn(calendar.Entry[V]{Key: key, Value: value}) {
			return key, false, nil
		}
	}
}

// least returns the cursor with the least key up to a height, its page read; nil if there is none.
func least[V any](ctx context.Context, cursors []*cursor[V], height uint64) (*cursor[V], error) {
	for {
		var least *cursor[V]
		for _, c := range cursors {
			if !c.done && c.at.Due <= height && (least == nil || c.at.Compare(least.at) < 0) {
				least = c
			}
		}
		if least == nil || len(least.page) > 0 {
			return least, nil
		}
		if err := least.read(ctx); err != nil {
			return nil, err
		}
	}
}

// cursors are those of all that may hold an entry from the key on that is due at or before the height.
func (t *Tiered[V]) cursors(ctx context.Context, from calendar.Key, height uint64) ([]*cursor[V], error) {
	cursors := []*cursor[V]{{at: from, load: t.nearPage}}
	frontier, _, err := t.far.frontier(ctx)
	if err != nil || height < frontier.Due {
		return cursors, err
	}
	from = maxKey(from, frontier)
	cursors = append(cursors, &cursor[V]{at: from, load: t.inboxPage})
	d, err := t.far.directory(ctx)
	if err != nil {
		return nil, err
	}
	dead := &deadKeys{store: t.far.store}
	for _, r := range d.runs {
		if r.remaining > 0 && r.first.Due <= height {
			cursors = append(cursors, &cursor[V]{at: maxKey(from, r.first), load: t.runPage(r), dead: dead})
		}
	}
	return cursors, nil
}

func maxKey(a, b calendar.Key) calendar.Key {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

func (t *Tiered[V]) nearPage(ctx context.Context, at calendar.Key) (page []item[V], err error) {
	err = t.near.Scan(ctx, at, func(e calendar.Entry[V]) bool {
		page = append(page, item[V]{e.Key, func() (V, error) { return e.Value, nil }})
		return len(page) < pageEntries
	})
	return page, err
}

func (t *Tiered[V]) inboxPage(ctx context.Context, at calendar.Key) ([]item[V], error) {
	entries, err := t.far.inboxPage(ctx, regionKey(inboxRegion, at), regionEnd(inboxRegion))
	return t.undecoded(entries), err
}

// runPage reads chunks of a run.
func (t *Tiered[V]) runPage(r *run) func(context.Context, calendar.Key) ([]item[V], error) {
	return func(ctx context.Context, at calendar.Key) ([]item[V], error) {
		entries, err := chunkOf(ctx, t.far.store, r, at)
		if err == nil && len(entries) == 0 {
			_, entries, err = firstChunk(ctx, t.far.store, r.id, chunkKey(r.id, at))
		}
		return t.undecoded(entries), err
	}
}

func (t *Tiered[V]) undecoded(entries []entry) []item[V] {
	page := make([]item[V], len(entries))
	for i, e := range entries {
		page[i] = item[V]{e.key, func() (V, error) { return t.codec.Decode(e.key, e.value) }}
	}
	return page
}

// Walk passes entries from the key on to fn, in order, until fn returns false. fn may use the store, and sees it as it
// was in parts.
func (t *Tiered[V]) Walk(ctx context.Context, fn func(calendar.Entry[V]) (more bool)) error {
	cursors, err := t.cursors(ctx, calendar.Key{}, ^uint64(0))
	if err != nil {
		return err
	}
	_, _, err = walk(ctx, cursors, ^uint64(0), fn)
	return err
}

// Page reads entries as calendar.Flat.Page does.
func (t *Tiered[V]) Page(
	ctx context.Context, from calendar.Key, height uint64, keep func(calendar.Entry[V]) calendar.Verdict,
) (entries []calendar.Entry[V], next calendar.Key, complete bool, err error) {
	cursors, err := t.cursors(ctx, from, height)
	if err != nil {
		return nil, next, false, err
	}
	if len(cursors) == 1 {
		return calendar.NewFlat(t.near).Page(ctx, from, height, keep)
	}
	next, complete, err = walk(ctx, cursors, height, func(e calendar.Entry[V]) bool {
		switch keep(e) {
		case calendar.Take:
			entries = append(entries, e)
		case calendar.Pass:
		case calendar.Stop:
			return false
		}
		return true
	})
	if complete {
		next = calendar.Key{Due: height + 1}
	}
	return entries, next, complete, err
}
