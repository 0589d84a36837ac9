package sandbox_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/log"
	"cosmossdk.io/store"
	"cosmossdk.io/store/cachemulti"
	"cosmossdk.io/store/metrics"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
)

// keys of a multistore with stores of the kinds that chains mount.
func keys() []storetypes.StoreKey {
	return []storetypes.StoreKey{
		storetypes.NewKVStoreKey("bank"), storetypes.NewKVStoreKey("wasm"), storetypes.NewKVStoreKey("unused"),
		storetypes.NewTransientStoreKey("notes"), storetypes.NewMemoryStoreKey("memory"),
	}
}

// newRoot is a multistore that has been committed with a few entries.
func newRoot(keys []storetypes.StoreKey) storetypes.CommitMultiStore {
	root := store.NewCommitMultiStore(dbm.NewMemDB(), log.NewNopLogger(), metrics.NewNoOpMetrics())
	root.SetIAVLSyncPruning(true)
	for _, key := range keys {
		kind := storetypes.StoreTypeIAVL
		switch key.(type) {
		case *storetypes.TransientStoreKey:
			kind = storetypes.StoreTypeTransient
		case *storetypes.MemoryStoreKey:
			kind = storetypes.StoreTypeMemory
		}
		root.MountStoreWithDB(key, kind, nil)
	}
	if err := root.LoadLatestVersion(); err != nil {
		panic(err)
	}
	for i := byte(0); i < 20; i += 2 {
		root.GetKVStore(keys[0]).Set([]byte{i}, []byte{100, i})
		root.GetKVStore(keys[1]).Set([]byte{i, i}, []byte{101, i})
	}
	root.Commit()
	return root
}

// pair is the same branch twice: the SDK's, and one of the package.
type pair struct {
	sdk, own storetypes.MultiStore
	// branched: it has branches. left: it has one, which New made, and is left alone while that is used.
	branched, left bool
}

// machine does the same to the SDK's branches and to those of the package, and compares what they answer.
type machine struct {
	keys  []storetypes.StoreKey
	pairs []*pair
	// open iterators, the SDK's and the package's.
	iterators [][2]storetypes.Iterator
}

func newMachine() *machine {
	m := &machine{keys: keys()}
	sdk := newRoot(m.keys).CacheMultiStore()
	own := newRoot(m.keys).CacheMultiStore()
	base := &pair{sdk: sdk, own: own, left: true}
	first := &pair{sdk: sdk.CacheMultiStore(), own: sandbox.NewBranch(own)}
	m.pairs = []*pair{base, first}
	return m
}

func (m *machine) pair(t *rapid.T) *pair { return rapid.SampledFrom(m.pairs).Draw(t, "branch") }

// changeable is a branch that is not left alone. There always is one: the last.
func (m *machine) changeable(t *rapid.T) *pair {
	return rapid.SampledFrom(slices.DeleteFunc(slices.Clone(m.pairs), func(p *pair) bool { return p.left })).Draw(t, "branch")
}

func (m *machine) stores(t *rapid.T, p *pair) (sdk, own storetypes.KVStore) {
	key := rapid.SampledFrom(m.keys).Draw(t, "store")
	return p.sdk.GetKVStore(key), p.own.GetKVStore(key)
}

// key draws one of more keys than a branch keeps in its slice.
func key(t *rapid.T) []byte { return rapid.SliceOfN(rapid.ByteMax(24), 1, 2).Draw(t, "key") }

// bound draws an end of a range.
func bound(t *rapid.T, name string) []byte {
	if rapid.Bool().Draw(t, "no "+name) {
		return nil
	}
	return rapid.SliceOfN(rapid.ByteMax(24), 1, 2).Draw(t, name)
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"get": func(t *rapid.T) {
			sdk, own := m.stores(t, m.pair(t))
			k := key(t)
			require.Equal(t, sdk.Get(k), own.Get(k))
			require.Equal(t, sdk.Has(k), own.Has(k))
		},
		"set": func(t *rapid.T) {
			sdk, own := m.stores(t, m.changeable(t))
			k, value := key(t), rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "value")
			sdk.Set(bytes.Clone(k), value)
			own.Set(bytes.Clone(k), value)
		},
		"delete": func(t *rapid.T) {
			sdk, own := m.stores(t, m.changeable(t))
			k := key(t)
			sdk.Delete(bytes.Clone(k))
			own.Delete(bytes.Clone(k))
		},
		"scan": func(t *rapid.T) {
			sdk, own := m.scan(t)
			require.Equal(t, entries(sdk), entries(own))
		},
		"open a scan": func(t *rapid.T) {
			sdk, own := m.scan(t)
			m.iterators = append(m.iterators, [2]storetypes.Iterator{sdk, own})
		},
		"go on scanning": func(t *rapid.T) {
			if len(m.iterators) == 0 {
				return
			}
			both := rapid.SampledFrom(m.iterators).Draw(t, "scan")
			require.Equal(t, step(both[0]), step(both[1]))
		},
		"branch": func(t *rapid.T) {
			if len(m.pairs) > 6 {
				return
			}
			p := m.changeable(t)
			p.branched = true
			m.pairs = append(m.pairs, &pair{sdk: p.sdk.CacheMultiStore(), own: p.own.CacheMultiStore()})
		},
		"branch what is left alone": func(t *rapid.T) {
			if p := m.changeable(t); len(m.pairs) <= 6 && !p.branched {
				p.left = true
				m.pairs = append(m.pairs, &pair{sdk: p.sdk.CacheMultiStore(), own: sandbox.NewBranch(p.own)})
			}
		},
		"write back": func(t *rapid.T) { m.write(m.changeable(t)) },
	}
}

func (m *machine) scan(t *rapid.T) (sdk, own storetypes.Iterator) {
	sdkStore, ownStore := m.stores(t, m.pair(t))
	start, end := bound(t, "start"), bound(t, "end")
	if rapid.Bool().Draw(t, "descending") {
		return sdkStore.ReverseIterator(start, end), ownStore.ReverseIterator(start, end)
	}
	return sdkStore.Iterator(start, end), ownStore.Iterator(start, end)
}

func (m *machine) write(p *pair) {
	p.sdk.(storetypes.CacheMultiStore).Write()
	p.own.(storetypes.CacheMultiStore).Write()
}

// step is what a scan shows next.
func step(iterator storetypes.Iterator) string {
	if !iterator.Valid() {
		return "end"
	}
	shown := fmt.Sprintf("%X=%X", iterator.Key(), iterator.Value())
	iterator.Next()
	return shown
}

func entries(iterator storetypes.Iterator) (all []string) {
	defer func() { _ = iterator.Close() }()
	for iterator.Valid() {
		all = append(all, step(iterator))
	}
	return all
}

// finish writes all branches back, and compares what they leave below.
func (m *machine) finish(t *rapid.T) {
	for _, both := range m.iterators {
		require.NoError(t, both[0].Close())
		require.NoError(t, both[1].Close())
	}
	for i := len(m.pairs) - 1; i > 0; i-- {
		m.write(m.pairs[i])
	}
	for _, key := range m.keys {
		sdk, own := m.pairs[0].sdk.GetKVStore(key), m.pairs[0].own.GetKVStore(key)
		require.Equal(t, entries(sdk.Iterator(nil, nil)), entries(own.Iterator(nil, nil)), key.Name())
	}
}

func equalToTheSDKs(t *rapid.T) {
	m := newMachine()
	t.Repeat(m.actions())
	m.finish(t)
}

func TestABranchIsEqualToTheSDKs(t *testing.T) { rapid.Check(t, equalToTheSDKs) }

func FuzzABranchIsEqualToTheSDKs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(equalToTheSDKs)) }

// TestABranchIsMadeOfTheSDKsAlone: a multistore that this package does not know branches by itself.
func TestABranchIsMadeOfTheSDKsAlone(t *testing.T) {
	root := newRoot(keys())
	require.IsType(t, cachemulti.Store{}, sandbox.NewBranch(root), "a root")
	sdk := root.CacheMultiStore()
	require.NotEqual(t, "cachemulti.Store", fmt.Sprintf("%T", sandbox.NewBranch(sdk)))
}

// TestBranch_SeesWhatItsParentIsGiven: of keys that were not read through it, whether it was opened before, or has written others.
func TestBranch_SeesWhatItsParentIsGiven(t *testing.T) {
	mounted := keys()
	parent := newRoot(mounted).CacheMultiStore()
	own := sandbox.NewBranch(parent)
	stored, read := parent.GetKVStore(mounted[0]), own.GetKVStore(mounted[0])
	read.Set([]byte{101}, []byte{10})
	require.Nil(t, read.Get([]byte{109}))
	stored.Set([]byte{102}, []byte{20})
	stored.Set([]byte{103}, []byte{30})
	stored.Delete([]byte{103})
	require.Equal(t, []byte{20}, read.Get([]byte{102}))
	require.Equal(t, []byte{10}, read.Get([]byte{101}))
	require.Nil(t, read.Get([]byte{103}))
	iterator := read.Iterator([]byte{100}, []byte{110})
	defer func() { require.NoError(t, iterator.Close()) }()
	var found []byte
	for ; iterator.Valid(); iterator.Next() {
		found = append(found, iterator.Key()...)
	}
	require.Equal(t, []byte{101, 102}, found)
	own.Write()
	require.Equal(t, []byte{10}, stored.Get([]byte{101}))
	require.Equal(t, []byte{20}, stored.Get([]byte{102}))
}

func TestABranchPanicsAsTheSDKs(t *testing.T) {
	mounted := keys()
	sdk := newRoot(mounted).CacheMultiStore()
	own := sandbox.NewBranch(sdk)
	reference := sdk.CacheMultiStore()
	for name, fn := range map[string]func(storetypes.CacheMultiStore){
		"no key":             func(m storetypes.CacheMultiStore) { m.GetKVStore(nil) },
		"no such store":      func(m storetypes.CacheMultiStore) { m.GetStore(storetypes.NewKVStoreKey("strange")) },
		"an empty key":       func(m storetypes.CacheMultiStore) { m.GetKVStore(mounted[0]).Get(nil) },
		"an empty key set":   func(m storetypes.CacheMultiStore) { m.GetKVStore(mounted[0]).Set(nil, []byte{1}) },
		"no value":           func(m storetypes.CacheMultiStore) { m.GetKVStore(mounted[0]).Set([]byte{1}, nil) },
		"an empty key gone":  func(m storetypes.CacheMultiStore) { m.GetKVStore(mounted[0]).Delete([]byte{}) },
		"an earlier version": func(m storetypes.CacheMultiStore) { _, _ = m.CacheMultiStoreWithVersion(1) },
		"its version":        func(m storetypes.CacheMultiStore) { m.LatestVersion() },
	} {
		want := panicOf(func() { fn(reference) })
		require.NotNil(t, want, name)
		if name == "no such store" {
			// The text holds the address of the key.
			require.IsType(t, want, panicOf(func() { fn(own) }), name)
			continue
		}
		require.Equal(t, want, panicOf(func() { fn(own) }), name)
	}
	// A panic leaves no lock behind.
	own.GetKVStore(mounted[0]).Set([]byte{1}, []byte{2})
	require.Equal(t, []byte{2}, own.GetKVStore(mounted[0]).Get([]byte{1}))
	require.Equal(t, reference.GetStoreType(), own.GetStoreType())
	require.Equal(t, reference.GetKVStore(mounted[3]).GetStoreType(), own.GetKVStore(mounted[3]).GetStoreType())
}

func panicOf(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}

// TestABranchOpensWhatIsUsed: a store that no one uses costs nothing, and one that is read costs no map.
func TestABranchOpensWhatIsUsed(t *testing.T) {
	mounted := keys()
	sdk := newRoot(mounted).CacheMultiStore()
	sdk.GetKVStore(mounted[0]).Get([]byte{2})
	unused := testing.AllocsPerRun(100, func() { sandbox.NewBranch(sdk) })
	require.LessOrEqual(t, unused, 1.0)
	read := testing.AllocsPerRun(100, func() { sandbox.NewBranch(sdk).GetKVStore(mounted[0]).Get([]byte{2}) })
	require.LessOrEqual(t, read, 5.0, "the key among them")
}

// TestABranchIsSafeForReadersAtOnce, as the SDK's is.
func TestABranchIsSafeForReadersAtOnce(t *testing.T) {
	mounted := keys()
	own := sandbox.NewBranch(newRoot(mounted).CacheMultiStore())
	var readers sync.WaitGroup
	for i := range byte(8) {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for n := range byte(40) {
				own.GetKVStore(mounted[n%2]).Get([]byte{n})
				own.GetKVStore(mounted[3]).Set([]byte{i, n}, []byte{n})
			}
		}()
	}
	readers.Wait()
	for i := range byte(8) {
		require.Equal(t, []byte{39}, own.GetKVStore(mounted[3]).Get([]byte{i, 39}))
	}
}
