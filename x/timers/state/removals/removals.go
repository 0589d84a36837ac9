// Package removals collects what the steps at the end of a block remove from the owner index, until it is written.
package removals

import (
	"bytes"
	"context"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// Removals are the keys of entries that steps have removed, and that are still in the store. They live as long as the block.
// A nil one is empty.
type Removals struct{ keys [][]byte }

type contextKey struct{}

// With marks a context, and those that stem from it, as ones under which removals are collected.
func With(ctx sdk.Context) (sdk.Context, *Removals) {
	r := &Removals{}
	return ctx.WithValue(contextKey{}, r), r
}

// Of returns the removals of the block in which the context runs; nil outside of its end.
func Of(ctx context.Context) *Removals {
	r, _ := ctx.Value(contextKey{}).(*Removals)
	return r
}

// Mark is what was not yet written at some time.
type Mark struct{ keys [][]byte }

// Mark returns where Undo returns to, when what was done since is undone.
func (r *Removals) Mark() Mark {
	if r == nil {
		return Mark{}
	}
	return Mark{r.keys}
}

// Undo forgets the removals since a mark. What was written in between must be undone too.
func (r *Removals) Undo(m Mark) {
	if r != nil {
		r.keys = m.keys
	}
}

// Add collects a key, and returns how many there are.
func (r *Removals) Add(key []byte) int {
	r.keys = append(r.keys, key)
	return len(r.keys)
}

// Take returns the keys, which are written now, in their order.
func (r *Removals) Take() [][]byte {
	if r == nil {
		return nil
	}
	keys := r.keys
	r.keys = nil
	return keys
}

// Has reports whether a key is among them.
func (r *Removals) Has(key []byte) bool {
	return r != nil && slices.ContainsFunc(r.keys, func(k []byte) bool { return bytes.Equal(k, key) })
}

// Below counts the keys with a prefix.
func (r *Removals) Below(prefix []byte) (n uint64) {
	if r == nil {
		return 0
	}
	for _, key := range r.keys {
		if bytes.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}
