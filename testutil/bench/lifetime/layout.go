package lifetime

import (
	"bytes"
	"encoding/binary"
	"fmt"

	dbm "github.com/cosmos/cosmos-db"

	"cosmossdk.io/log"
	"cosmossdk.io/store"
	"cosmossdk.io/store/dbadapter"
	"cosmossdk.io/store/metrics"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Layout is how another module stores what is due. It keeps the module's own records, so that layouts differ in their
// keys alone, and does nothing else: no quota, no prices, no fairness, no receipts.
type Layout struct {
	// Name ends with modules that keep their jobs so, by their published sources.
	Name           string
	insert, remove func(kv storetypes.KVStore, t entry)
	// fire removes what is due and returns how many there were.
	fire func(kv storetypes.KVStore, height uint64) int
}

// entry is a timer of a layout.
type entry struct {
	id, owner, record []byte
	due               uint64
}

// The regions of a layout's store.
const (
	byID = iota + 1
	byHeight
	byOwner
)

func idKey(id []byte) []byte { return append([]byte{byID}, id...) }

func heightKey(due uint64, id []byte) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{byHeight}, due), id...)
}

func ownerKey(t entry) []byte {
	return bytes.Join([][]byte{{byOwner, byte(len(t.owner))}, t.owner, t.id}, nil)
}

// Layouts are those that the module is compared with.
var Layouts = []Layout{oneKey, lists, indexes, scan}

var oneKey = Layout{
	Name:   "one key by height and id (Coreum x/delay, Archway x/callback)",
	insert: func(kv storetypes.KVStore, t entry) { kv.Set(heightKey(t.due, t.id), t.record) },
	remove: func(kv storetypes.KVStore, t entry) { kv.Delete(heightKey(t.due, t.id)) },
	fire: func(kv storetypes.KVStore, height uint64) int {
		due := keysUntil(kv, height)
		for _, key := range due {
			kv.Delete(key)
		}
		return len(due)
	},
}

var lists = Layout{
	Name: "a record by id and a list for each height",
	insert: func(kv storetypes.KVStore, t entry) {
		kv.Set(idKey(t.id), t.record)
		kv.Set(heightKey(t.due, nil), append(bytes.Clone(kv.Get(heightKey(t.due, nil))), t.id...))
	},
	remove: func(kv storetypes.KVStore, t entry) {
		kv.Delete(idKey(t.id))
		list := kv.Get(heightKey(t.due, nil))
		at := bytes.Index(list, t.id)
		kv.Set(heightKey(t.due, nil), append(bytes.Clone(list[:at]), list[at+len(t.id):]...))
	},
	fire: func(kv storetypes.KVStore, height uint64) int {
		fired := 0
		for _, key := range keysUntil(kv, height) {
			for list := kv.Get(key); len(list) > 0; list = list[idBytes:] {
				kv.Get(idKey(list[:idBytes]))
				kv.Delete(idKey(list[:idBytes]))
				fired++
			}
			kv.Delete(key)
		}
		return fired
	},
}

var indexes = Layout{
	Name: "a record by id, an index by height and one by owner",
	insert: func(kv storetypes.KVStore, t entry) {
		kv.Set(idKey(t.id), t.record)
		kv.Set(heightKey(t.due, t.id), []byte{1})
		kv.Set(ownerKey(t), []byte{1})
	},
	remove: func(kv storetypes.KVStore, t entry) {
		kv.Delete(idKey(t.id))
		kv.Delete(heightKey(t.due, t.id))
		kv.Delete(ownerKey(t))
	},
	fire: func(kv storetypes.KVStore, height uint64) int {
		due := keysUntil(kv, height)
		for _, key := range due {
			id := key[1+8:]
			var t types.Timer
			if err := t.Unmarshal(kv.Get(idKey(id))); err != nil {
				panic(err)
			}
			kv.Delete(idKey(id))
			kv.Delete(key)
			kv.Delete(ownerKey(entry{id: id, owner: t.Actor}))
		}
		return len(due)
	},
}

var scan = Layout{
	Name:   "a record by id, and a scan of all in every block (Neutron x/cron)",
	insert: func(kv storetypes.KVStore, t entry) { kv.Set(idKey(t.id), t.record) },
	remove: func(kv storetypes.KVStore, t entry) { kv.Delete(idKey(t.id)) },
	fire: func(kv storetypes.KVStore, height uint64) int {
		all := kv.Iterator([]byte{byID}, []byte{byID + 1})
		var due [][]byte
		for ; all.Valid(); all.Next() {
			var t types.Timer
			if err := t.Unmarshal(all.Value()); err != nil {
				panic(err)
			}
			if t.Due <= height {
				due = append(due, bytes.Clone(all.Key()))
			}
		}
		_ = all.Close()
		for _, key := range due {
			kv.Delete(key)
		}
		return len(due)
	},
}

// idBytes is the length of a timer's id.
const idBytes = 32

// keysUntil are the keys by height up to this one.
func keysUntil(kv storetypes.KVStore, height uint64) (keys [][]byte) {
	due := kv.Iterator([]byte{byHeight}, heightKey(height+1, nil))
	defer due.Close()
	for ; due.Valid(); due.Next() {
		keys = append(keys, bytes.Clone(due.Key()))
	}
	return keys
}

// laidOut are timers in a layout, on a store of their own.
type laidOut struct {
	layout Layout
	multi  storetypes.CommitMultiStore
	key    *storetypes.KVStoreKey
	height uint64
	next   uint64

	// filled: what was loaded is in the store. Before that kv is in memory.
	filled bool
	branch storetypes.CacheMultiStore
	kv     storetypes.KVStore
	counts storecount.Counts
	count  *storecount.Multi
}

var _ subject = (*laidOut)(nil)

func newLaidOut(layout Layout, genesis *types.GenesisState, db dbm.DB) (*laidOut, error) {
	l := &laidOut{layout: layout, key: storetypes.NewKVStoreKey(types.StoreKey), next: genesis.NextSeq}
	l.multi = store.NewCommitMultiStore(db, log.NewNopLogger(), metrics.NewNoOpMetrics())
	// Pruning in the background never ends, and would keep the store in memory.
	l.multi.SetIAVLSyncPruning(true)
	l.multi.SetIAVLCacheSize(cachedNodes)
	l.multi.MountStoreWithDB(l.key, storetypes.StoreTypeIAVL, nil)
	if err := l.multi.LoadLatestVersion(); err != nil {
		return nil, err
	}
	l.kv = dbadapter.Store{DB: dbm.NewMemDB()}
	return l, l.insert(genesis.Timers)
}

func (l *laidOut) insert(timers []types.Timer) error {
	for i := range timers {
		e, err := entryOf(&timers[i])
		if err != nil {
			return err
		}
		l.layout.insert(l.kv, e)
	}
	return nil
}

func (l *laidOut) load(timers []types.Timer) error {
	l.height++
	l.next += uint64(len(timers))
	return l.insert(timers)
}

// fill writes what was loaded to the store in the order of its keys, in chunks: at random keys a million take minutes.
func (l *laidOut) fill() {
	loaded := l.kv.Iterator(nil, nil)
	defer loaded.Close()
	for loaded.Valid() {
		l.open()
		for n := 0; n < loadChunk && loaded.Valid(); n++ {
			l.kv.Set(bytes.Clone(loaded.Key()), bytes.Clone(loaded.Value()))
			loaded.Next()
		}
		l.commit()
	}
	l.filled = true
}

func entryOf(t *types.Timer) (entry, error) {
	record, err := t.Marshal()
	return entry{id: t.Id, owner: t.Actor, due: t.Due, record: record}, err
}

func (l *laidOut) open() {
	l.branch = l.multi.CacheMultiStore()
	var counting storetypes.MultiStore
	counting, l.count = storecount.WrapMulti(l.branch, nil)
	l.kv = counting.GetKVStore(l.key)
}

func (l *laidOut) commit() {
	l.counts.Add(l.count.All())
	l.branch.Write()
	l.multi.Commit()
}

func (l *laidOut) begin() error {
	if !l.filled {
		l.fill()
	}
	l.height++
	l.open()
	return nil
}

func (l *laidOut) schedule(owner sdk.AccAddress, due uint64, payload []byte) ([]byte, error) {
	genesis := types.GenesisState{NextSeq: l.next, Config: types.DefaultTimerConfig("x")}
	e, err := entryOf(addTimer(&genesis, owner, due, payload))
	if err != nil {
		return nil, err
	}
	l.next++
	l.layout.insert(l.kv, e)
	return e.id, nil
}

func (l *laidOut) cancel(of place) error {
	l.layout.remove(l.kv, entry{id: of.id[:], owner: workload.Owner(of.owner), due: of.due})
	return nil
}

func (l *laidOut) end() (int, error) {
	fired := l.layout.fire(l.kv, l.height)
	l.commit()
	return fired, nil
}

func (l *laidOut) operations() storecount.Counts { return l.counts }

// check implements subject: nothing that was due is left.
func (l *laidOut) check() error {
	l.open()
	if left := l.layout.fire(l.kv, l.height); left > 0 {
		return fmt.Errorf("%s: %d timers are left behind", l.layout.Name, left)
	}
	return nil
}
