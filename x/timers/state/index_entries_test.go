package state

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
)

// drawEntry draws any entry that a policy may make, often from few values.
func drawEntry(t *rapid.T) market.ListEntry {
	weight := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32Range(market.WideWeight-1, market.WideWeight+2)).Draw(t, "weight")
	list := market.MakeList(weight, rapid.Uint32Range(0, 3).Draw(t, "kind"))
	price := func(label string, bytes int) math.LegacyDec {
		return decimalOf(rapid.OneOf(
			rapid.Just([]byte{}), rapid.SliceOfN(rapid.Byte(), 1, 1), rapid.SliceOfN(rapid.Byte(), bytes, bytes),
		).Draw(t, label))
	}
	return market.ListEntry{
		List: list, Price: price("price", list.PriceBytes()), Other: price("other", market.NarrowBytes),
		Due: rapid.Uint64().Draw(t, "due"), Seq: rapid.Uint64().Draw(t, "seq"),
	}
}

// TestKeysOrderAsEntriesDo: an entry is what its key and its value say, and keys order as a list does: by price descending,
// then by age. Ranges do not fall as keys rise.
//
// Rule: 2.3-ready-keys
func TestKeysOrderAsEntriesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawEntry(t), drawEntry(t)
		same, err := parseIndexEntry(logmap.Entry{Key: keyOf(a), Value: valueOf(a)})
		require.NoError(t, err)
		require.Zero(t, compareEntries(a, same))
		require.True(t, a.Other.Equal(same.Other))
		order := bytes.Compare(keyOf(a), keyOf(b))
		require.Equal(t, compareEntries(a, b), order)
		if weightOf(keyOf(a)) != weightOf(keyOf(b)) {
			require.Equal(t, cmp.Compare(weightOf(keyOf(a)), weightOf(keyOf(b))), order)
		}
		require.Equal(t, uint64(a.List.Weight()), weightOf(keyOf(a)))
		require.Positive(t, bytes.Compare(keyOf(a), listKey(a.List)))
		require.Negative(t, bytes.Compare(keyOf(a), listKey(a.List+1)))
	})
}

// FuzzParseEntry: what is no entry is an error, and what is one has the key that it was read from.
func FuzzParseEntry(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add(keyOf(market.ListEntry{List: 1, Price: math.LegacyOneDec()}), []byte{1})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		entry, err := parseIndexEntry(logmap.Entry{Key: key, Value: value})
		if err == nil {
			require.Equal(t, key, keyOf(entry))
		}
	})
}

// FuzzDecodePage: what is no page of bounds is an error, and a page is what it was read from.
func FuzzDecodePage(f *testing.F) {
	p := page{number: 1}
	p.add(market.ListEntry{List: market.MakeList(0, 1<<pageBits|3), Price: math.LegacyOneDec(), Due: 300, Seq: 7}, true)
	p.add(market.ListEntry{List: market.MakeList(0, 1<<pageBits|4), Price: math.LegacyOneDec(), Due: 3, Seq: 8}, false)
	f.Add(p.encode())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, bz []byte) {
		p, err := decodePage(1, bz)
		if err != nil {
			return
		}
		again, err := decodePage(1, p.encode())
		require.NoError(t, err)
		require.Equal(t, len(p.bounds), len(again.bounds))
		for i := range p.bounds {
			require.Equal(t, p.bounds[i].list, again.bounds[i].list)
			require.Zero(t, compareEntries(p.bounds[i].begin, again.bounds[i].begin))
			require.Equal(t, p.bounds[i].price.IsNil(), again.bounds[i].price.IsNil())
			require.True(t, p.bounds[i].price.IsNil() || p.bounds[i].price.Equal(again.bounds[i].price))
		}
	})
}
