package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOfState_CountsWhatIsDeclared: a collection is what is given a prefix and a name, whatever function makes it; a cursor is a field
// that is named so; and an interface that one type alone has is named.
func TestOfState_CountsWhatIsDeclared(t *testing.T) {
	r := measured(t, files{
		"x/timers/collections/collections.go": `package collections

type Prefix struct{ raw []byte }

func NewPrefix(raw []byte) Prefix { return Prefix{raw} }
`,
		"x/timers/state/state.go": `package state

import "example.test/chain/x/timers/collections"

func region(n byte) collections.Prefix { return collections.NewPrefix([]byte{1, n}) }

func mapOf(prefix collections.Prefix, name string) string { return name }

var (
	first  = mapOf(region(1), "first")
	second = mapOf(collections.NewPrefix([]byte{2}), "second")
	third  = "no collection"
)
`,
		"x/timers/types/lane.go": `package types

type LaneState struct{ HeadCursor, ReceiptsFrom, Fires uint64 }

type WatchCursors struct{ Changed []byte }
`,
		"x/timers/policies/policy.go": `package policies

type One interface{ Open(); Close() }

type Two interface{ Open() }

type Wide interface { One; Next() }

type a struct{}

func (a) Open()  {}
func (a) Close() {}

type b struct{}

func (b) Open() {}
`,
	})
	require.Equal(t, []string{"first", "second"}, r.value(t, "collections in state").where)
	require.Equal(t, []string{"LaneState.HeadCursor", "LaneState.ReceiptsFrom", "WatchCursors.Changed"}, r.value(t, "cursors of blocks").where)
	require.Equal(t, 4, r.value(t, "methods of policies' interfaces").value)
	require.Equal(t, []string{"x/timers/policies.One"}, r.value(t, "of these, with one implementation").where)
}
