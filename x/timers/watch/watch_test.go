package watch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// rig is a store, once as it is and once wrapped, and what is watched of it.
type rig struct {
	tb      testing.TB
	ctx     sdk.Context
	watcher *watch.Watcher
	counts  watch.Counts
	plain   store.KVStoreService
	wrapped store.KVStoreService
	// timers is the timers' store.
	timers store.KVStoreService
	// index counts what the wrapper does in the timers' store.
	index *storecount.Counts
}

// half is a form whose prefixes are the first two bytes of keys that have more.
var half = watch.Form{
	Name: "half", Arguments: []string{"LETTERS"}, Watches: "keys that begin with two letters",
	Length: func(key []byte) int {
		if len(key) < 2 {
			return 0
		}
		return 2
	},
	Build: func(arguments []string) ([]byte, error) {
		if len(arguments[0]) != 2 {
			return nil, errors.New("want two letters")
		}
		return []byte(arguments[0]), nil
	},
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	keys := storetypes.NewKVStoreKeys("timers", "subject")
	r := &rig{tb: tb}
	r.ctx = testutil.DefaultContextWithKeys(keys, nil, nil).WithBlockHeight(1)
	var indexStore store.KVStoreService
	r.timers = watch.Ungassed(keys["timers"])
	indexStore, r.index = storecount.Wrap(r.timers)
	r.watcher = watch.NewFrom(indexStore)
	r.plain = runtime.NewKVStoreService(keys["subject"])
	r.wrapped = r.watcher.Service(r.plain, watch.Store{Name: "subject", Forms: []watch.Form{half}})
	sb := collections.NewSchemaBuilder(watch.Ungassed(keys["timers"]))
	r.counts = watch.NewCounts(codec.NewProtoCodec(nil), sb)
	_, err := sb.Build()
	require.NoError(tb, err)
	return r
}

// watch counts watches as the keeper does.
func (r *rig) watch(prefixes ...string) {
	for _, prefix := range append(prefixes, "") {
		require.NoError(r.tb, r.counts.Set(r.ctx, collections.Join("subject", []byte(prefix)), types.WatchCount{Plain: 1}))
	}
	r.index.Reset()
}

func (r *rig) set(key, value string) {
	require.NoError(r.tb, r.wrapped.OpenKVStore(r.ctx).Set([]byte(key), []byte(value)))
}

func (r *rig) remove(key string) {
	require.NoError(r.tb, r.wrapped.OpenKVStore(r.ctx).Delete([]byte(key)))
}

// changed takes the notes as prefix → keys.
func (r *rig) changed(maxKeys int) map[string][]string {
	taken, more, err := r.watcher.Take(r.ctx, nil, 99, maxKeys)
	require.NoError(r.tb, err)
	require.False(r.tb, more)
	all := map[string][]string{}
	for _, c := range taken {
		require.Equal(r.tb, "subject", c.Key.Store)
		for _, key := range c.Keys {
			all[string(c.Key.Prefix)] = append(all[string(c.Key.Prefix)], string(key.Key))
		}
	}
	return all
}

// Rule: 1.10-no-change-no-fire
func TestWhatIsNoted(t *testing.T) {
	none := map[string][]string{}
	for name, c := range map[string]struct {
		do   func(*rig)
		want map[string][]string
	}{
		"a new key":                 {func(r *rig) { r.set("ab", "1") }, map[string][]string{"ab": {"ab"}}},
		"another value":             {func(r *rig) { r.set("abold", "2") }, map[string][]string{"ab": {"abold"}}},
		"the same value":            {func(r *rig) { r.set("abold", "1") }, none},
		"there and back":            {func(r *rig) { r.set("abold", "2"); r.set("abold", "1") }, map[string][]string{"ab": {"abold"}}},
		"no value for an empty one": {func(r *rig) { r.remove("abempty") }, map[string][]string{"ab": {"abempty"}}},
		"an empty value for none":   {func(r *rig) { r.set("abx", "") }, map[string][]string{"ab": {"abx"}}},
		"an empty value again":      {func(r *rig) { r.set("abempty", "") }, none},
		"a removal":                 {func(r *rig) { r.remove("abold") }, map[string][]string{"ab": {"abold"}}},
		"the removal of nothing":    {func(r *rig) { r.remove("abx") }, none},
		"what no one watches":       {func(r *rig) { r.set("b", "1"); r.set("a", "1"); r.set("bcd", "1") }, none},
		"a whole key":               {func(r *rig) { r.set("whole", "1"); r.set("wholes", "1") }, map[string][]string{"whole": {"whole"}}},
		"both ways": {
			func(r *rig) { r.set("abcd", "1"); r.set("ab", "1") },
			map[string][]string{"ab": {"ab", "abcd"}, "abcd": {"abcd"}},
		},
		"a key too long to be watched": {
			func(r *rig) { r.set("ab"+string(make([]byte, 300)), "1") },
			map[string][]string{"ab": {"ab" + string(make([]byte, 300))}},
		},
		"a branch that is kept": {func(r *rig) {
			branch, commit := r.ctx.CacheContext()
			require.NoError(t, r.wrapped.OpenKVStore(branch).Set([]byte("ab"), []byte("1")))
			commit()
		}, map[string][]string{"ab": {"ab"}}},
		"a branch that is dropped": {func(r *rig) {
			branch, _ := r.ctx.CacheContext()
			require.NoError(t, r.wrapped.OpenKVStore(branch).Set([]byte("ab"), []byte("1")))
		}, none},
		"muted": {func(r *rig) {
			muted := watch.Muted(r.ctx)
			require.NoError(t, r.wrapped.OpenKVStore(muted).Set([]byte("ab"), []byte("1")))
			require.NoError(t, r.wrapped.OpenKVStore(muted).Delete([]byte("abold")))
			require.NoError(t, r.wrapped.OpenKVStore(context.WithValue(muted, someKey{}, 1)).Set([]byte("abold"), []byte("1")))
		}, none},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.set("abold", "1")
			r.set("abempty", "")
			r.watch("ab", "whole", "abcd")
			require.Empty(t, r.changed(9), "what was written before anybody watched")
			c.do(r)
			require.Equal(t, c.want, r.changed(9))
			require.Empty(t, r.changed(9), "taken once")
		})
	}
}

// TestFeesAreNotedForConditionsOnly: what the module moves itself leaves a note if the key has a condition.
//
// Rule: 1.10-own-transfers
func TestFeesAreNotedForConditionsOnly(t *testing.T) {
	r := newRig(t)
	r.index.Reset()
	require.NoError(t, r.wrapped.OpenKVStore(watch.Muted(r.ctx)).Set([]byte("ab"), []byte("0")))
	require.Equal(t, storecount.Counts{Gets: 1}, r.index.Take(), "one lookup while the store has no watch")
	r.watch("ab", "cd")
	require.NoError(t, r.counts.Set(r.ctx, collections.Join("subject", []byte("cd")), types.WatchCount{Plain: 1, Conditional: 1}))
	r.index.Reset()
	muted := r.wrapped.OpenKVStore(watch.Muted(r.ctx))
	for _, key := range []string{"ab", "cd", "ef", "cd"} {
		require.NoError(t, muted.Set([]byte(key), []byte("1")))
	}
	require.NoError(t, muted.Delete([]byte("cd")))
	require.NoError(t, muted.Set(make([]byte, 300), []byte("1")))
	require.Equal(t, storecount.Counts{Gets: 10, Sets: 3}, r.index.Take(), "two lookups for each write to a key that can be watched")
	require.Equal(t, []string{"cd"}, r.written(9))
	require.Empty(t, r.written(9), "taken once")
	require.Empty(t, r.changed(9))
}

// written takes the notes of keys with conditions, at most limit at a time and going on where that ended.
func (r *rig) written(limit int) (all []string) {
	var from types.WatchKey
	for {
		keys, next, err := r.watcher.TakeConditions(r.ctx, from, limit)
		require.NoError(r.tb, err)
		require.LessOrEqual(r.tb, len(keys), limit)
		for _, key := range keys {
			all = append(all, string(key.Prefix))
		}
		if next.Store == "" {
			return all
		}
		from = next
	}
}

// TestWatcher_ConditionsTakeTurns: a key that is written again waits for the others that were written.
func TestWatcher_ConditionsTakeTurns(t *testing.T) {
	r := newRig(t)
	r.watch()
	for _, key := range []string{"a", "b", "c"} {
		require.NoError(t, r.counts.Set(r.ctx, collections.Join("subject", []byte(key)), types.WatchCount{Conditional: 1}))
		r.set(key, "1")
	}
	keys, next, err := r.watcher.TakeConditions(r.ctx, types.WatchKey{}, 1)
	require.NoError(t, err)
	require.Equal(t, []types.WatchKey{{Store: "subject", Prefix: []byte("a")}}, keys)
	require.Equal(t, types.WatchKey{Store: "subject", Prefix: []byte("b")}, next)
	r.set("a", "2")
	noted, err := r.watcher.TakeConditionsOf(r.ctx, []types.WatchKey{{Store: "subject", Prefix: []byte("c")}, {Store: "subject", Prefix: []byte("d")}})
	require.NoError(t, err)
	require.Equal(t, []types.WatchKey{{Store: "subject", Prefix: []byte("c")}}, noted)
	keys, next, err = r.watcher.TakeConditions(r.ctx, next, 9)
	require.NoError(t, err)
	require.Equal(t, []types.WatchKey{{Store: "subject", Prefix: []byte("b")}, {Store: "subject", Prefix: []byte("a")}}, keys)
	require.Empty(t, next.Store)
}

// TestTakeIsInOrderAndBounded: prefixes that were taken longest ago are first, and what does not fit stays noted with the height
// of its first change.
//
// Rule: 1.10-notes-stay
func TestTakeIsInOrderAndBounded(t *testing.T) {
	r := newRig(t)
	r.ctx = r.ctx.WithBlockHeight(7)
	r.watch("ab", "yy", "zz")
	for _, key := range []string{"zz2", "ab3", "ab1", "zz1", "ab2", "ab4"} {
		r.set(key, "1")
	}
	taken := func(limit int, wantMore bool) []watch.Changed {
		all, more, err := r.watcher.Take(r.ctx, nil, limit, 3)
		require.NoError(t, err)
		require.Equal(t, wantMore, more)
		return all
	}
	changed := func(prefix string, since, height uint64, keys ...string) watch.Changed {
		c := watch.Changed{Key: types.WatchKey{Store: "subject", Prefix: []byte(prefix)}, Since: since, Height: height}
		for _, key := range keys {
			c.Keys = append(c.Keys, types.WatchChange{Key: []byte(key), Height: height})
		}
		return c
	}
	require.Equal(t, []watch.Changed{changed("ab", 7, 7, "ab1", "ab2", "ab3")}, taken(1, true))
	r.ctx = r.ctx.WithBlockHeight(8)
	for _, key := range []string{"ab1", "yy1", "zz1", "zz2"} {
		r.set(key, "2")
	}
	require.Equal(t, []watch.Changed{changed("yy", 8, 8, "yy1"), changed("zz", 7, 8, "zz1", "zz2")}, taken(2, true), "ab was taken")
	require.Equal(t, []watch.Changed{changed("ab", 8, 8, "ab1")}, taken(2, false))
	require.Empty(t, taken(9, false))
}

// TestWatcher_OwnersPassOverWhatSeveralOwn: to find who has notes alone takes no longer for the notes of prefixes that several own.
func TestWatcher_OwnersPassOverWhatSeveralOwn(t *testing.T) {
	r := newRig(t)
	owner := sdk.AccAddress("owner_______________")
	for i := range 200 {
		key := fmt.Sprintf("several%d", i)
		r.watch(key)
		r.set(key, "1")
	}
	alone := collections.Join("subject", []byte("alone"))
	require.NoError(t, r.counts.Set(r.ctx, alone, types.WatchCount{Plain: 1, Owner: owner, Served: 1}))
	r.set("alone", "1")
	r.index.Reset()
	var found []sdk.AccAddress
	require.NoError(t, r.watcher.Owners(r.ctx, nil, false, func(owner []byte) bool {
		found = append(found, owner)
		return false
	}))
	require.Equal(t, []sdk.AccAddress{owner}, found)
	require.LessOrEqual(t, r.index.Nexts, 2)
}

// TestWatcher_APrefixHasABoundedNumberOfNotes: who writes below a watched prefix leaves no more work than a fire can deliver.
func TestWatcher_APrefixHasABoundedNumberOfNotes(t *testing.T) {
	r := newRig(t)
	r.watch("ab")
	for i := range 3 * int(market.MaxMatchedKeys) {
		r.set(fmt.Sprintf("ab%05d", i), "1")
	}
	require.Len(t, r.changed(10 * int(market.MaxMatchedKeys))["ab"], int(market.MaxMatchedKeys))
	require.Empty(t, r.changed(9))
}

// TestWrappedStoreMatchesThePlainStore: under any operations and watches, a wrapped store returns, charges and stores
// the same as a plain one.
func TestWrappedStoreMatchesThePlainStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, other := newRig(&panicking{t: t}), newRig(&panicking{t: t})
		text := rapid.StringMatching(`[ab]{1,4}`)
		if rapid.Bool().Draw(t, "watched") {
			r.watch(rapid.SliceOfN(text, 0, 6).Draw(t, "prefixes")...)
		}
		for range rapid.IntRange(0, 40).Draw(t, "ops") {
			ours := r.ctx.WithGasMeter(storetypes.NewGasMeter(10_000))
			theirs := other.ctx.WithGasMeter(storetypes.NewGasMeter(10_000))
			key, value := []byte(text.Draw(t, "key")), []byte(rapid.StringN(0, 400, -1).Draw(t, "value"))
			op := rapid.IntRange(0, 5).Draw(t, "op")
			got := attempt(op, r.wrapped.OpenKVStore(ours), key, value)
			want := attempt(op, other.plain.OpenKVStore(theirs), key, value)
			require.Equal(t, want, got)
			require.Equal(t, theirs.GasMeter().GasConsumed(), ours.GasMeter().GasConsumed())
		}
		require.Equal(t, attempt(4, other.plain.OpenKVStore(other.ctx), nil, nil), attempt(4, r.plain.OpenKVStore(r.ctx), nil, nil))
	})
}

// someKey is that of a value that others keep in a context.
type someKey struct{}

// panicking lets a rig be made within a property.
type panicking struct {
	testing.TB
	t *rapid.T
}

func (p *panicking) Helper()                      {}
func (p *panicking) Errorf(f string, args ...any) { p.t.Errorf(f, args...) }
func (p *panicking) FailNow()                     { p.t.FailNow() }

// attempt does one operation and returns what came of it, a panic for want of gas included.
func attempt(op int, s store.KVStore, key, value []byte) (result []any) {
	defer func() {
		if r := recover(); r != nil {
			result = append(result, r)
		}
	}()
	switch op {
	case 0, 1:
		return append(result, s.Set(key, value))
	case 2:
		return append(result, s.Delete(key))
	case 3:
		got, err := s.Get(key)
		has, hasErr := s.Has(key)
		return append(result, got, err, has, hasErr)
	default:
		open := s.Iterator
		if op == 5 {
			open = s.ReverseIterator
		}
		iterator, err := open(key, nil)
		result = append(result, err)
		defer iterator.Close()
		for ; iterator.Valid(); iterator.Next() {
			result = append(result, slices.Clone(iterator.Key()), slices.Clone(iterator.Value()))
		}
		return result
	}
}

// TestWhatAWriteCosts is in store operations: one lookup while the store has no watch, one more for each prefix of the
// key that can be watched. For each that is, its note is read and written, and one of the key if that has more.
func TestWhatAWriteCosts(t *testing.T) {
	for name, c := range map[string]struct {
		watched []string
		write   func(*rig)
		index   storecount.Counts
	}{
		"no one watches the store":        {nil, func(r *rig) { r.set("abcd", "1") }, storecount.Counts{Gets: 1}},
		"nor when removing":               {nil, func(r *rig) { r.remove("abcd") }, storecount.Counts{Gets: 1}},
		"no one watches the key":          {[]string{"zz"}, func(r *rig) { r.set("abcd", "1") }, storecount.Counts{Gets: 3}},
		"no one watches a key of no form": {[]string{"zz"}, func(r *rig) { r.set("a", "1") }, storecount.Counts{Gets: 2}},
		"its prefix is watched":           {[]string{"ab"}, func(r *rig) { r.set("abcd", "1") }, storecount.Counts{Gets: 5, Sets: 2}},
		"it is watched itself":            {[]string{"abcd"}, func(r *rig) { r.set("abcd", "1") }, storecount.Counts{Gets: 4, Sets: 1}},
		"it is watched in two ways":       {[]string{"ab", "abcd"}, func(r *rig) { r.set("abcd", "1") }, storecount.Counts{Gets: 6, Sets: 3}},
		"nothing changes":                 {[]string{"ab"}, func(r *rig) { r.remove("abcd") }, storecount.Counts{Gets: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if c.watched != nil {
				r.watch(c.watched...)
			}
			c.write(r)
			require.Equal(t, c.index, r.index.Take())
			_, err := r.wrapped.OpenKVStore(r.ctx).Get([]byte("abcd"))
			require.NoError(t, err)
			require.Zero(t, *r.index, "reading looks nothing up")
		})
	}
}

func TestWiringMistakesPanic(t *testing.T) {
	r := newRig(t)
	require.Panics(t, func() { r.watcher.Service(r.plain, watch.Store{}) })
	require.Panics(t, func() { r.watcher.Service(r.plain, watch.Store{Name: "a\x00b"}) })
	require.Panics(t, func() { r.watcher.Service(r.plain, watch.Store{Name: "subject"}) }, "wrapped twice")
}

func TestParse(t *testing.T) {
	r := newRig(t)
	whole := watch.Form{
		Name: "pair", Arguments: []string{"A", "B"}, Watches: "one key",
		Build: func(arguments []string) ([]byte, error) { return []byte(arguments[0] + "/" + arguments[1]), nil },
	}
	r.watcher.Service(r.plain, watch.Store{Name: "other", Forms: []watch.Form{whole}, Whole: func(key []byte) bool { return key[0] != 'x' }})
	for text, want := range map[string]types.WatchKey{
		"subject:half:ab":   {Store: "subject", Prefix: []byte("ab")},
		"subject:6162":      {Store: "subject", Prefix: []byte("ab")},
		"subject:FFfe00":    {Store: "subject", Prefix: []byte{0xff, 0xfe, 0}},
		"other:pair:a:b":    {Store: "other", Prefix: []byte("a/b")},
		"other:pair:a:b:c:": {Store: "other", Prefix: []byte("a/b:c:")},
	} {
		key, err := r.watcher.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, key, text)
	}
	for text, c := range map[string]struct {
		want error
		says string
	}{
		"":                 {types.ErrNotWatchable, "watchable: subject, other"},
		"bank":             {types.ErrNotWatchable, `store "bank"; watchable: subject, other`},
		"subject":          {types.ErrInvalidWatch, "want subject:half:LETTERS, subject:HEX"},
		"subject:":         {types.ErrInvalidWatch, "subject:HEX"},
		"subject:half":     {types.ErrInvalidWatch, "want subject:half:LETTERS"},
		"subject:half:abc": {types.ErrInvalidWatch, "want two letters"},
		"subject:xyz":      {types.ErrInvalidWatch, "subject:HEX"},
		"subject:6162:63":  {types.ErrInvalidWatch, "subject:HEX"},
		"other:pair:a":     {types.ErrInvalidWatch, "want other:pair:A:B"},
		"other:78":         {types.ErrNotWatchable, "78 is neither a key of store other nor a prefix of a form: want other:pair:A:B"},
	} {
		_, err := r.watcher.Parse(text)
		require.ErrorIs(t, err, c.want, text)
		require.ErrorContains(t, err, c.says, text)
	}
	require.Equal(t, []types.WatchableStore{
		{Store: "subject", Forms: []types.WatchForm{{Usage: "subject:half:LETTERS", Watches: "keys that begin with two letters"}}},
		{Store: "other", Forms: []types.WatchForm{{Usage: "other:pair:A:B", Watches: "one key"}}},
	}, r.watcher.Watchable())

	var none *watch.Watcher
	require.Empty(t, none.Watchable())
	_, err := none.Parse("bank:00")
	require.ErrorIs(t, err, types.ErrNotWatchable)
}

// BenchmarkWrite reports what a write to a wrapped store costs, as a multiple of one to the store as it is: ×1 is
// nothing. Both are writes of a block on a branch, as a transaction makes them.
func BenchmarkWrite(b *testing.B) {
	write := func(b *testing.B, service func(*rig) store.KVStoreService, prefixes ...string) float64 {
		b.Helper()
		r := newRig(b)
		if len(prefixes) > 0 {
			r.watch(prefixes...)
		}
		s, keys := service(r), make([][]byte, 1024)
		for i := range keys {
			keys[i] = []byte{'a' + byte(i%3), 'b', byte(i), byte(i >> 8)}
		}
		ctx, _ := r.ctx.CacheContext()
		value := make([]byte, 32)
		b.ResetTimer()
		for i := range b.N {
			value[0], value[1] = byte(i), byte(i>>8)
			if err := s.OpenKVStore(ctx).Set(keys[i%len(keys)], value); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		return float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	}
	plain := func(r *rig) store.KVStoreService { return r.plain }
	wrapped := func(r *rig) store.KVStoreService { return r.wrapped }
	base := 0.0
	for _, c := range []struct {
		name    string
		service func(*rig) store.KVStoreService
		watched []string
	}{
		{"plain", plain, nil},
		{"store_without_watches", wrapped, nil},
		{"key_that_nobody_watches", wrapped, []string{"zz"}},
		{"watched_key", wrapped, []string{"ab", "bb", "cb"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			each := write(b, c.service, c.watched...)
			if c.name == "plain" {
				base = each
			}
			b.ReportMetric(each/base, "×plain")
		})
	}
}

// TestWatcher_ForgetsAllNotes: nothing is left of what a block has noted.
func TestWatcher_ForgetsAllNotes(t *testing.T) {
	r := newRig(t)
	r.watch("ab")
	r.set("ab", "1")
	require.NoError(t, r.watcher.Forget(r.ctx))
	require.Empty(t, r.changed(9))
}

// TestWatcher_GenesisKeepsNotes: an imported chain takes the same changes in the same order. What heights that moved back made
// one place is one change.
func TestWatcher_GenesisKeepsNotes(t *testing.T) {
	r, other := newRig(t), newRig(t)
	r.watch("ab", "yyy", "zz")
	owner := sdk.AccAddress("owner_______________")
	count := types.WatchCount{Plain: 1, Conditional: 1, Owner: owner, Served: 3}
	require.NoError(t, r.counts.Set(r.ctx, collections.Join("subject", []byte("mine")), count))
	for i, key := range []string{"zz2", "yyy", "mine", "ab3", "mine1", "ab1", "zz2"} {
		r.ctx = r.ctx.WithBlockHeight(int64(4 + i))
		r.set(key, "1")
	}
	var exported, again types.GenesisState
	require.NoError(t, r.watcher.ExportGenesis(r.ctx, &exported))
	require.Len(t, exported.WatchNotes, 4)
	require.Len(t, exported.WatchChanged, 1)
	require.NoError(t, other.watcher.InitGenesis(other.ctx, &exported))
	require.NoError(t, other.watcher.ExportGenesis(other.ctx, &again))
	require.Equal(t, exported, again)
	for _, of := range [][]byte{nil, owner} {
		want, _, err := r.watcher.Take(r.ctx, of, 9, 9)
		require.NoError(t, err)
		require.NotEmpty(t, want)
		got, _, err := other.watcher.Take(other.ctx, of, 9, 9)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	third := newRig(t)
	key := types.WatchKey{Store: "subject", Prefix: []byte("ab")}
	change := func(key string, height uint64) []types.WatchChange {
		return []types.WatchChange{{Key: []byte(key), Height: height}}
	}
	require.NoError(t, third.watcher.InitGenesis(third.ctx, &types.GenesisState{WatchNotes: []types.KeyWatchNote{
		{Key: key, Served: 1, Note: types.WatchNote{Since: 2, Height: 3, Keys: 1}, Changes: change("ab1", 3)},
		{Key: key, Served: 1, Note: types.WatchNote{Since: 1, Height: 4, Keys: 1}, Changes: change("ab2", 4)},
	}}))
	got, _, err := third.watcher.Take(third.ctx, nil, 9, 9)
	require.NoError(t, err)
	require.Equal(t, []watch.Changed{{Key: key, Since: 1, Height: 4, Keys: append(change("ab1", 3), change("ab2", 4)...)}}, got)
}
