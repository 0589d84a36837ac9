package state

import (
	"cmp"
	"encoding/binary"
	"math/big"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

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
