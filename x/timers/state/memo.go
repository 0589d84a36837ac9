package state

import (
	"bytes"
	"sync/atomic"

	"cosmossdk.io/collections/codec"
)

// memo decodes a value that every message reads, and that hardly ever changes: again only if its bytes are others than those before. What it returns follows from the bytes alone, so
// that it is no cache of state. Callers share what the value points to, and must not change it. Several may use it at once.
type memo[T any] struct {
	codec.ValueCodec[T]
	last atomic.Pointer[decoded[T]]
}

type decoded[T any] struct {
	bz    []byte
	value T
}

// newMemo remembers what a codec decoded last.
func newMemo[T any](of codec.ValueCodec[T]) *memo[T] { return &memo[T]{ValueCodec: of} }

// Decode implements codec.ValueCodec.
func (c *memo[T]) Decode(bz []byte) (T, error) {
	if last := c.last.Load(); last != nil && bytes.Equal(last.bz, bz) {
		return last.value, nil
	}
	value, err := c.ValueCodec.Decode(bz)
	if err == nil {
		c.last.Store(&decoded[T]{bytes.Clone(bz), value})
	}
	return value, err
}
