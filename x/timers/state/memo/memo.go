// Package memo decodes a value that every message reads, and that hardly ever changes, once.
package memo

import (
	"bytes"
	"sync/atomic"

	"cosmossdk.io/collections/codec"
)

// Codec decodes a value anew only if its bytes are others than those before. What it returns follows from the bytes alone, so
// that it is no cache of state. Callers share what the value points to, and must not change it. Several may use it at once.
type Codec[T any] struct {
	codec.ValueCodec[T]
	last atomic.Pointer[decoded[T]]
}

type decoded[T any] struct {
	bz    []byte
	value T
}

// New remembers what a codec decoded last.
func New[T any](of codec.ValueCodec[T]) *Codec[T] { return &Codec[T]{ValueCodec: of} }

// Decode implements codec.ValueCodec.
func (c *Codec[T]) Decode(bz []byte) (T, error) {
	if last := c.last.Load(); last != nil && bytes.Equal(last.bz, bz) {
		return last.value, nil
	}
	value, err := c.ValueCodec.Decode(bz)
	if err == nil {
		c.last.Store(&decoded[T]{bytes.Clone(bz), value})
	}
	return value, err
}
