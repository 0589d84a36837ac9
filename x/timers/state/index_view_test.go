package state

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/collections"
	corestore "cosmossdk.io/core/store"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// paired is an owner of all weights, whose timers have two entries where their kind is even: with the prices exchanged.
type paired struct{}

func (paired) Owns(uint32) bool                 { return true }
func (paired) Summarized(list market.List) bool { return list.Kind()%2 == 0 }

func (paired) Entries(of market.ListEntry) []market.ListEntry {
	if of.List.Kind() == 9 {
		return []market.ListEntry{of}
	}
	other := of
	other.List, other.Price, other.Other = of.List^1, of.Other, of.Price
	if of.List.Kind()%2 == 1 {
		return []market.ListEntry{other, of}
	}
	return []market.ListEntry{of, other}
}

// indexed is an index beside the places that it should have.
type indexed struct {
	*Index
	service corestore.KVStoreService
	ctx     sdk.Context
	model   map[schedule.Key]market.ListEntry
}

func newIndexed(t require.TestingT) *indexed {
	key := storetypes.NewKVStoreKey(types.StoreKey)
	service := runtime.NewKVStoreService(key)
	sb := collections.NewSchemaBuilder(service)
	x := &indexed{Index: NewIndex(sb, service), service: service, model: map[schedule.Key]market.ListEntry{}}
	x.ctx = testutil.DefaultContext(key, storetypes.NewTransientStoreKey("transient")).WithBlockHeight(9)
	x.Own(paired{})
	_, err := sb.Build()
	require.NoError(t, err)
	return x
}

func drawFirst(t *rapid.T, at schedule.Key) market.ListEntry {
	entry := market.ListEntry{
		List:  market.MakeList(rapid.Uint32Range(1, 3).Draw(t, "weight"), rapid.SampledFrom([]uint32{0, 2, 9}).Draw(t, "kind")),
		Price: math.LegacyNewDec(rapid.Int64Range(0, 3).Draw(t, "price")), Other: math.LegacyNewDec(rapid.Int64Range(0, 3).Draw(t, "other")),
		Due: at.Due, Seq: at.Seq,
	}
	return entry
}

// entries are those that the model has in a list, in order.
func (x *indexed) entries(list market.List) (all []market.ListEntry) {
	for _, first := range x.model {
		for _, entry := range (paired{}).Entries(first) {
			if entry.List == list {
				all = append(all, entry)
			}
		}
	}
	slices.SortFunc(all, compareEntries)
	return all
}

// TestView_IsWhatItsBlocksFileAndRemove: block after block, what a view reads is what was filed last and not removed, whatever was
// merged; of what a view that is dropped has done nothing is left; an export and an import change nothing; in the end nothing is left.
//
// Rule: 2.2-ready-index, 2.2-complete-bounds, 2.3-ready-lazy
func TestView_IsWhatItsBlocksFileAndRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newIndexed(t)
		for range rapid.IntRange(1, 12).Draw(t, "blocks") {
			before := map[schedule.Key]market.ListEntry{}
			for key, first := range x.model {
				before[key] = first
			}
			v, err := x.Open(x.ctx)
			require.NoError(t, err)
			for range rapid.IntRange(0, 20).Draw(t, "changes") {
				x.change(t, v)
			}
			if rapid.IntRange(0, 3).Draw(t, "is dropped") == 0 {
				x.model = before
			} else {
				require.NoError(t, v.Close())
			}
			require.NoError(t, x.CheckInvariants(x.ctx))
			admitted, err := x.Admitted(x.ctx)
			require.NoError(t, err)
			require.Equal(t, uint64(len(x.model)), admitted)
			x.ctx = x.ctx.WithBlockHeight(x.ctx.BlockHeight() + 1)
		}
		var exported, again types.GenesisState
		require.NoError(t, x.ExportGenesis(x.ctx, &exported))
		require.Len(t, exported.Ready, len(x.model))
		imported := newIndexed(t)
		require.NoError(t, imported.InitGenesis(imported.ctx, &exported))
		require.NoError(t, imported.CheckInvariants(imported.ctx))
		require.NoError(t, imported.ExportGenesis(imported.ctx, &again))
		require.Equal(t, exported, again)
		x.drain(t)
	})
}

// change files or removes a timer, and compares what is read.
func (x *indexed) change(t *rapid.T, v *IndexView) {
	at := schedule.Key{Due: rapid.Uint64Range(1, 3).Draw(t, "due"), Seq: rapid.Uint64Range(1, 6).Draw(t, "seq")}
	switch rapid.IntRange(0, 3).Draw(t, "how") {
	case 0:
		require.NoError(t, v.Remove(at))
		delete(x.model, at)
	case 1, 2:
		first := drawFirst(t, at)
		require.NoError(t, v.File(first))
		x.model[at] = first
	}
	require.Equal(t, uint64(len(x.model)), v.Size())
	first, found, err := v.At(at)
	require.NoError(t, err)
	want, there := x.model[at]
	require.Equal(t, there, found)
	require.True(t, !there || want.Same(first))

	list := market.MakeList(rapid.Uint32Range(1, 3).Draw(t, "of weight"), rapid.SampledFrom([]uint32{0, 1, 2, 3, 9}).Draw(t, "of kind"))
	entries := x.entries(list)
	if rapid.Bool().Draw(t, "bounds") {
		bounds := map[market.List]math.LegacyDec{}
		require.NoError(t, v.Bounds(x.ctx, func(list market.List, price math.LegacyDec) { bounds[list] = price }))
		if (paired{}).Summarized(list) && len(entries) > 0 {
			require.True(t, bounds[list].GTE(entries[0].Price))
		}
	}
	head, found, err := v.First(x.ctx, list)
	require.NoError(t, err)
	require.Equal(t, len(entries) > 0, found)
	if !found {
		return
	}
	require.True(t, head.Same(entries[0]))
	after, err := v.After(x.ctx, head, 4)
	require.NoError(t, err)
	rest := entries[1:min(5, len(entries))]
	require.Len(t, after, len(rest))
	for i := range rest {
		require.True(t, rest[i].Same(after[i]))
	}
}

// drain removes everything, after which nothing is left in state.
func (x *indexed) drain(t *rapid.T) {
	v, err := x.Open(x.ctx)
	require.NoError(t, err)
	places, err := v.Places(schedule.Key{}, schedule.Key{Due: 100}, 100)
	require.NoError(t, err)
	require.Len(t, places, len(x.model))
	for _, place := range places {
		require.NoError(t, v.Remove(place))
	}
	require.NoError(t, v.Close())
	for range 20 {
		x.ctx = x.ctx.WithBlockHeight(x.ctx.BlockHeight() + 1)
		v, err := x.Open(x.ctx)
		require.NoError(t, err)
		require.NoError(t, v.Close())
	}
	entries, err := x.service.OpenKVStore(x.ctx).Iterator(nil, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, entries.Close()) }()
	require.False(t, entries.Valid(), "nothing is left in state")
}

// TestIndex_CheckFindsWhatIsWrong: an entry of no place, and a place without its entries.
//
// Rule: 2.2-ready-index
func TestIndex_CheckFindsWhatIsWrong(t *testing.T) {
	first := market.ListEntry{List: market.MakeList(1, 2), Price: math.LegacyOneDec(), Other: math.LegacyZeroDec(), Due: 1, Seq: 1}
	for _, c := range []struct{ drop, want string }{
		{string(indexKey(KeyOf(1, 1))), "has an entry (1, 1) of no place"},
		{string(keyOf(first)), "lacks 1 entries"},
		{"bounds", "before it begins"},
	} {
		x := newIndexed(t)
		v, err := x.Open(x.ctx)
		require.NoError(t, err)
		require.NoError(t, v.Bounds(x.ctx, func(market.List, math.LegacyDec) {}))
		require.NoError(t, v.File(first))
		require.NoError(t, v.Close())
		require.NoError(t, x.CheckInvariants(x.ctx))
		if c.drop == "bounds" {
			require.NoError(t, x.bounds.Remove(x.ctx, pageOf(first.List)))
		} else {
			require.NoError(t, x.ready.Apply(x.ctx, logmap.Deleted([]byte(c.drop))))
		}
		require.ErrorContains(t, x.CheckInvariants(x.ctx), c.want)
	}
}
