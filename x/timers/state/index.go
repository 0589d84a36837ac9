package state

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Index is the ready index: the timers that compete under overload, in lists that their policies order. The policies define
// what its lists mean, and register with Own. Blocks read and change it in an IndexView.
//
// It is lazy. An entry counts if and only if the record of its timer is still in the queue at the entry's (due, seq), may
// compete, and yields that very entry. So a timer that leaves the queue or changes writes nothing here, and whoever meets an
// entry asks the record. Only the end of a block writes the index, once: what it admitted, and what it used up or found stale.
//
// Invariant: for each place there are the entries that the owner of its list makes of the one that it names, and there are no
// others. If `bounds` is complete, it has every list that is not empty, with a place at or before its entries, and with a price
// at or above theirs where its owner wants one. Nothing holds an entry to a record.
type Index struct {
	// ready: (list, complement of the price, due, seq) → the other stated price, the entries; and (0, due, seq) → the first
	// entry of the timer there, the places.
	ready *LogMap
	// bounds: page of lists → of each list what no entry is before, and a price that none is above. Incomplete without the
	// entry of allPages.
	bounds collections.Map[uint32, []byte]

	owners []ListOwner
}

var (
	_ Component          = (*Index)(nil)
	_ market.ListSummary = (*IndexView)(nil)
)

// ListOwner is a policy that keeps timers in the index.
type ListOwner interface {
	// Owns reports whether lists of this weight are the owner's. No two owners share a weight, and none has 0.
	Owns(weight uint32) bool
	// Summarized reports whether the index keeps a bound on the prices of a list.
	Summarized(list market.List) bool
	// Entries are all entries of the timer that has this one. The first stands for them.
	Entries(of market.ListEntry) []market.ListEntry
}

// NewIndex adds the component's collections to the schema.
func NewIndex(sb *collections.SchemaBuilder, service store.KVStoreService) *Index {
	return &Index{
		ready:  NewLogMap(sb, service, types.PrefixReady, "ready", readyOptions),
		bounds: collections.NewMap(sb, types.PrefixBounds, "bounds", collections.Uint32Key, collections.BytesValue),
	}
}

// Own registers a policy that keeps timers in the index.
func (x *Index) Own(owner ListOwner) { x.owners = append(x.owners, owner) }

// ownerOf returns the owner of a list. One without an owner can only come from a genesis file.
func (x *Index) ownerOf(list market.List) (ListOwner, error) {
	for _, owner := range x.owners {
		if owner.Owns(list.Weight()) {
			return owner, nil
		}
	}
	return nil, types.ErrInternal.Wrapf("list %d of the ready index belongs to no policy of this chain", list)
}

// entries are all entries of the timer that has this one.
func (x *Index) entries(of market.ListEntry) ([]market.ListEntry, error) {
	owner, err := x.ownerOf(of.List)
	if err != nil {
		return nil, err
	}
	return owner.Entries(of), nil
}

// insertions put a timer into the index that has no place in it.
func (x *Index) insertions(first market.ListEntry) ([]logmap.Change, error) {
	entries, err := x.entries(first)
	if err != nil {
		return nil, err
	}
	changes := []logmap.Change{logmap.Inserted(indexKey(KeyOf(first.Due, first.Seq)), placeValue(first))}
	for _, entry := range entries {
		changes = append(changes, logmap.Inserted(keyOf(entry), valueOf(entry)))
	}
	return changes, nil
}

// removals take a timer out of the index.
func (x *Index) removals(first market.ListEntry) ([]logmap.Change, error) {
	entries, err := x.entries(first)
	if err != nil {
		return nil, err
	}
	changes := []logmap.Change{logmap.Deleted(indexKey(KeyOf(first.Due, first.Seq)))}
	for _, entry := range entries {
		changes = append(changes, logmap.Deleted(keyOf(entry)))
	}
	return changes, nil
}

// Admitted is how many timers the index holds between blocks, those included that have left the queue and were not met since.
func (x *Index) Admitted(ctx context.Context) (uint64, error) {
	view, err := x.Open(ctx)
	if err != nil {
		return 0, err
	}
	return view.Size(), nil
}

// InitGenesis implements state.Component. Each timer has its first entry, and is due.
func (x *Index) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for i := range genesis.Ready {
		first, now := entryOf(&genesis.Ready[i]), types.HeightOf(ctx)
		if first.Due > now {
			return types.ErrInvalidGenesis.Wrapf("ready %d is due at %d, now is %d", i, first.Due, now)
		}
		entries, err := x.entries(first)
		if err != nil {
			return types.ErrInvalidGenesis.Wrapf("ready %d: %s", i, err)
		}
		if !entries[0].Same(first) {
			return types.ErrInvalidGenesis.Wrapf("ready %d is no first entry of a timer: %v", i, first)
		}
		changes, err := x.insertions(first)
		if err == nil {
			err = x.ready.Apply(types.Unmetered(ctx), changes...)
		}
		if err != nil {
			return err
		}
	}
	return x.ready.Settle(types.Unmetered(ctx))
}

func entryOf(of *types.ReadyEntry) market.ListEntry {
	return market.ListEntry{List: market.List(of.List), Price: of.Price, Other: of.Other, Due: of.Due, Seq: of.Seq}
}

// ExportGenesis implements state.Component. Entries that are stale are exported too: so the chain that imports them continues as
// this one does.
func (x *Index) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	view := x.view(types.Unmetered(ctx))
	all, err := view.places(schedule.Key{}, schedule.Key{Due: ^uint64(0)}, 1<<30)
	for i := range all {
		e := &all[i]
		genesis.Ready = append(genesis.Ready, types.ReadyEntry{Due: e.Due, Seq: e.Seq, List: uint32(e.List), Price: e.Price, Other: e.Other})
	}
	return err
}

// CheckInvariants implements state.Component: the entries are those of the places, and their bounds hold.
func (x *Index) CheckInvariants(ctx context.Context) error {
	if err := x.ready.Stored().Check(ctx); err != nil {
		return err
	}
	stored, err := x.ready.Stored().Page(ctx, nil, nil, 1<<30)
	if err != nil {
		return err
	}
	want := map[string]bool{}
	var all []market.ListEntry
	for _, found := range stored {
		if isPlace(found.Key) {
			first, err := parseIndexKey(found)
			if err != nil {
				return err
			}
			entries, err := x.entries(first)
			if err != nil {
				return err
			}
			for _, entry := range entries {
				want[nameOf(entry)] = true
			}
			continue
		}
		// Places come first.
		entry, err := parseIndexEntry(found)
		if err != nil {
			return err
		}
		if !want[nameOf(entry)] {
			return fmt.Errorf("the ready index has an entry (%d, %d) of no place", entry.Due, entry.Seq)
		}
		delete(want, nameOf(entry))
		all = append(all, entry)
	}
	if len(want) > 0 {
		return fmt.Errorf("the ready index lacks %d entries", len(want))
	}
	return x.checkSummary(ctx, all)
}

// The entries lie in a log-structured map. Thousands of timers with different bids may be admitted in a block, each of which
// would be written at random keys, and removed from there when it fires.

const (
	// listBytes is the length of a list's name in a key, weightBytes that of its weight.
	listBytes, weightBytes = 4, 2
	// pageCycles are for each page that a query reads of a list, entryCycles for each entry of it. The end of a block has no
	// limit.
	pageCycles, entryCycles = 4_000, 200
)

// placeList has the places: no weight of a policy is 0.
const placeList = market.List(0)

// firstList is the first that a policy may own.
const firstList = placeList + 1<<(8*weightBytes)

// readyOptions shape the map: its ranges are the weights. A list is read in each run, and over what was removed of it: so a
// level has few runs, and they move down and into the bottom sooner than in the owner index.
var readyOptions = logmap.Options{Range: weightOf, Runs: 2, Split: 8, Ratio: 8}

func weightOf(key []byte) uint64 {
	if len(key) < weightBytes {
		return 0
	}
	return uint64(binary.BigEndian.Uint16(key))
}

// listKey is the beginning of the keys of a list.
func listKey(list market.List) []byte {
	return binary.BigEndian.AppendUint32(make([]byte, 0, listBytes+market.WideBytes+16+1), uint32(list))
}

// keyOf is list, complement of the price, due and seq: entries of a list are stored by price descending, then by age.
func keyOf(e market.ListEntry) []byte {
	key := listKey(e.List)
	price := key[listBytes : listBytes+e.List.PriceBytes()]
	complement(e.Price.BigIntMut().FillBytes(price))
	key = binary.BigEndian.AppendUint64(key[:listBytes+len(price)], e.Due)
	return binary.BigEndian.AppendUint64(key, e.Seq)
}

func valueOf(e market.ListEntry) []byte { return e.Other.BigIntMut().Bytes() }

// nameOf is an entry with all that it says.
func nameOf(e market.ListEntry) string { return string(keyOf(e)) + string(valueOf(e)) }

// complement turns a price into bytes whose order is descending, and back.
func complement(bz []byte) {
	for i := range bz {
		bz[i] = ^bz[i]
	}
}

func parseIndexEntry(found logmap.Entry) (market.ListEntry, error) {
	key := found.Key
	if len(key) < listBytes || len(key) != listBytes+market.List(binary.BigEndian.Uint32(key)).PriceBytes()+16 {
		return market.ListEntry{}, types.ErrInternal.Wrapf("malformed entry %x of the ready index", key)
	}
	list, place := market.List(binary.BigEndian.Uint32(key)), key[len(key)-16:]
	price := slices.Clone(key[listBytes : len(key)-16])
	complement(price)
	return market.ListEntry{
		List: list, Price: decimalOf(price), Other: decimalOf(found.Value),
		Due: binary.BigEndian.Uint64(place), Seq: binary.BigEndian.Uint64(place[8:]),
	}, nil
}

func decimalOf(digits []byte) math.LegacyDec {
	return math.LegacyNewDecFromBigIntWithPrec(new(big.Int).SetBytes(digits), math.LegacyPrecision)
}

// compareEntries is the order of the store: by list, price descending, due and seq.
func compareEntries(a, b market.ListEntry) int {
	return cmp.Or(
		cmp.Compare(a.List, b.List), b.Price.BigIntMut().Cmp(a.Price.BigIntMut()), cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq),
	)
}

// indexKey is the key of a place in the queue.
func indexKey(at schedule.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(listKey(placeList), at.Due), at.Seq)
}

func isPlace(key []byte) bool { return len(key) == listBytes+16 && weightOf(key) == 0 }

// placeValue is an entry without its place.
func placeValue(first market.ListEntry) []byte {
	key := keyOf(first)
	return append(key[:len(key)-16], valueOf(first)...)
}

func parseIndexKey(found logmap.Entry) (market.ListEntry, error) {
	if len(found.Value) < listBytes {
		return market.ListEntry{}, types.ErrInternal.Wrapf("malformed place %x of the ready index", found.Key)
	}
	end := listBytes + market.List(binary.BigEndian.Uint32(found.Value)).PriceBytes()
	if !isPlace(found.Key) || len(found.Value) < end {
		return market.ListEntry{}, types.ErrInternal.Wrapf("malformed place %x of the ready index", found.Key)
	}
	key := append(slices.Clone(found.Value[:end]), found.Key[listBytes:]...)
	return parseIndexEntry(logmap.Entry{Key: key, Value: found.Value[end:]})
}
