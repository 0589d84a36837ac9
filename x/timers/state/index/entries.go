package index

import (
	"context"
	"encoding/binary"
	"math/big"
	"slices"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The entries lie in a log-structured map. Thousands of timers with different bids may be admitted in a block, each of which
// would be written at random keys, and removed from there when it fires.

const (
	// listBytes is the length of a list's name in a key, weightBytes that of its weight.
	listBytes, weightBytes = 4, 2
	// changeCycles is what a transaction or a handler pays for changing the entries of a timer: what a change of the owner
	// index costs.
	changeCycles = 5_000
	// pageCycles are for each page that a query reads of a list, entryCycles for each entry of it. The end of a block has no
	// limit.
	pageCycles, entryCycles = 4_000, 200
)

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
func listKey(list merge.List) []byte {
	return binary.BigEndian.AppendUint32(make([]byte, 0, listBytes+merge.WideBytes+16+1), uint32(list))
}

// keyOf is list, complement of the price, due and seq: entries of a list are stored by price descending, then by age.
func keyOf(e merge.Entry) []byte {
	key := listKey(e.List)
	price := key[listBytes : listBytes+e.List.PriceBytes()]
	complement(e.Price.BigIntMut().FillBytes(price))
	key = binary.BigEndian.AppendUint64(key[:listBytes+len(price)], e.Due)
	return binary.BigEndian.AppendUint64(key, e.Seq)
}

func valueOf(e merge.Entry) []byte { return e.Other.BigIntMut().Bytes() }

// nameOf is an entry with all that it says.
func nameOf(e merge.Entry) string { return string(keyOf(e)) + string(valueOf(e)) }

// complement turns a price into bytes whose order is descending, and back.
func complement(bz []byte) {
	for i := range bz {
		bz[i] = ^bz[i]
	}
}

func parseEntry(found logmap.Entry) (merge.Entry, error) {
	key := found.Key
	if len(key) < listBytes || len(key) != listBytes+merge.List(binary.BigEndian.Uint32(key)).PriceBytes()+16 {
		return merge.Entry{}, types.ErrInternal.Wrapf("malformed entry %x of the ready index", key)
	}
	list, place := merge.List(binary.BigEndian.Uint32(key)), key[len(key)-16:]
	price := slices.Clone(key[listBytes : len(key)-16])
	complement(price)
	return merge.Entry{
		List: list, Price: decimalOf(price), Other: decimalOf(found.Value),
		Due: binary.BigEndian.Uint64(place), Seq: binary.BigEndian.Uint64(place[8:]),
	}, nil
}

func decimalOf(digits []byte) math.LegacyDec {
	return math.LegacyNewDecFromBigIntWithPrec(new(big.Int).SetBytes(digits), math.LegacyPrecision)
}

// After implements merge.Store.
func (x *Index) After(ctx context.Context, entry merge.Entry, n int) ([]merge.Entry, error) {
	return x.read(ctx, append(keyOf(entry), 0), listKey(entry.List+1), n, admissionsOf(ctx).after(entry))
}

// From reads at most n entries of the named list and those after it.
func (x *Index) From(ctx context.Context, list merge.List, n int) ([]merge.Entry, error) {
	return x.read(ctx, listKey(list), nil, n, admissionsOf(ctx).from(list))
}

// Before reads at most n entries of the lists before the named one.
func (x *Index) Before(ctx context.Context, list merge.List, n int) ([]merge.Entry, error) {
	return x.read(ctx, nil, listKey(list), n, admissionsOf(ctx).upTo(list))
}

// read reads an interval of the store without what the block has removed, and of what the block has admitted.
func (x *Index) read(ctx context.Context, from, to []byte, n int, admitted []merge.Entry) ([]merge.Entry, error) {
	c := changesOf(ctx)
	if c == nil {
		c = &Changes{}
	}
	stored := make([]merge.Entry, 0, n)
	for len(stored) < n {
		missing := n - len(stored)
		found, err := x.page(ctx, c, from, to, missing)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if _, gone := c.gone[string(f.Key)]; gone {
				continue
			}
			entry, err := parseEntry(f)
			if err != nil {
				return nil, err
			}
			stored = append(stored, entry)
		}
		if len(found) < missing {
			break
		}
		from = append(slices.Clone(found[len(found)-1].Key), 0)
	}
	return mergeEntries(stored, admitted, n), nil
}

// page reads at most n entries of an interval of the store, and charges for them.
func (x *Index) page(ctx context.Context, c *Changes, from, to []byte, n int) ([]logmap.Entry, error) {
	if c.reader == nil {
		c.reader = x.ready.Reader(types.Unmetered(ctx))
	}
	found, err := c.reader.Page(from, to, n)
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(pageCycles+entryCycles*uint64(len(found)), "ready index")
	return found, err
}

// all are the entries in the store.
func (x *Index) all(ctx context.Context) ([]merge.Entry, error) {
	if err := x.ready.Check(ctx); err != nil {
		return nil, err
	}
	found, err := x.ready.Page(ctx, nil, nil, 1<<30)
	if err != nil {
		return nil, err
	}
	all := make([]merge.Entry, len(found))
	for i := range found {
		if all[i], err = parseEntry(found[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// apply changes the entries of a timer. What is added stays in state, and is charged by its length.
func (x *Index) apply(ctx context.Context, changes []logmap.Change) error {
	if c := collecting(ctx); c != nil {
		c.changes = append(c.changes, changes...)
		return nil
	}
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	sdkCtx.GasMeter().ConsumeGas(changeCycles, "ready index")
	for _, change := range changes {
		sdkCtx.GasMeter().ConsumeGas(sdkCtx.KVGasConfig().WriteCostPerByte*uint64(change.Adds()), storetypes.GasWritePerByteDesc)
	}
	logAlone, err := x.ready.Append(types.Unmetered(ctx), changes...)
	if c := changesOf(ctx); c != nil && c.reader != nil {
		if c.reader.ForgetLog(); !logAlone {
			c.reader = nil
		}
	}
	return err
}
