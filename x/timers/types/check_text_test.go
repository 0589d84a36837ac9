package types_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// WatchedKey stands for what a record has of another store.
type WatchedKey struct{ Key []byte }

// inner and outer stand for messages.
type inner struct {
	Name    string
	Payload []byte
	Numbers []uint64
	hidden  string
}

type outer struct {
	Text   string `json:"text,omitempty"`
	Key    []byte
	Texts  []string
	Keys   [][]byte
	Within inner
	Ref    *inner
	List   []inner
	Any    *codectypes.Any
	Amount math.Int
	Value  []byte
}

// TestText_EveryFieldHasABound: what is at its bound passes, and a byte more is refused by its path, with its length and the
// bound, and without a copy of it.
func TestText_EveryFieldHasABound(t *testing.T) {
	most, data := types.MaxTextBytes, types.MaxDataBytes
	for name, c := range map[string]struct {
		at   func(size int) any
		most int
		path string
	}{
		"a text":             {func(n int) any { return &outer{Text: strings.Repeat("a", n)} }, most, "text"},
		"bytes":              {func(n int) any { return &outer{Key: make([]byte, n)} }, most, "Key"},
		"named as an Any's":  {func(n int) any { return &outer{Value: make([]byte, n)} }, most, "Value"},
		"one of texts":       {func(n int) any { return &outer{Texts: []string{"", strings.Repeat("a", n)}} }, most, "Texts[1]"},
		"one of keys":        {func(n int) any { return &outer{Keys: [][]byte{make([]byte, n)}} }, most, "Keys[0]"},
		"within":             {func(n int) any { return &outer{Within: inner{Name: strings.Repeat("a", n)}} }, most, "Within.Name"},
		"behind a pointer":   {func(n int) any { return &outer{Ref: &inner{Name: strings.Repeat("a", n)}} }, most, "Ref.Name"},
		"in a list":          {func(n int) any { return &outer{List: []inner{{}, {Name: strings.Repeat("a", n)}}} }, most, "List[1].Name"},
		"a payload":          {func(n int) any { return &outer{Within: inner{Payload: make([]byte, n)}} }, data, "Within.Payload"},
		"a message":          {func(n int) any { return &outer{Any: &codectypes.Any{Value: make([]byte, n)}} }, data, "Any.value"},
		"another store's":    {func(n int) any { return &WatchedKey{Key: make([]byte, n)} }, data, "Key"},
		"a message's type":   {func(n int) any { return &outer{Any: &codectypes.Any{TypeUrl: strings.Repeat("a", n)}} }, most, "Any.type_url"},
		"not by a pointer":   {func(n int) any { return outer{Text: strings.Repeat("a", n)} }, most, "text"},
		"behind a long data": {func(n int) any { return []inner{{Payload: make([]byte, data)}, {Name: strings.Repeat("a", n)}} }, most, "[1].Name"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, types.CheckText(errWrong, c.at(c.most)))
			err := types.CheckText(errWrong, c.at(c.most+1))
			require.ErrorIs(t, err, errWrong)
			require.ErrorContains(t, err, c.path+" is ")
			require.NotContains(t, err.Error(), "aaa")
		})
	}
	require.EqualError(t, types.CheckText(errWrong, &outer{Key: make([]byte, 2_000)}), "Key is 2000 bytes long, want at most 1024: wrong")
	for _, none := range []any{nil, (*outer)(nil), &outer{}, &outer{Within: inner{hidden: strings.Repeat("a", 2_000), Numbers: make([]uint64, 5_000)}}} {
		require.NoError(t, types.CheckText(errWrong, none))
	}
}

// TestText_TakesNoMemory: every message and query is checked.
func TestText_TakesNoMemory(t *testing.T) {
	msg := &outer{Text: "a", Keys: [][]byte{{1}}, List: make([]inner, 9), Within: inner{Payload: bytes.Repeat([]byte{1}, types.MaxDataBytes)}}
	require.Less(t, testing.AllocsPerRun(100, func() {
		if err := types.CheckText(errWrong, msg); err != nil {
			panic(err)
		}
	}), 4.0)
}
