package state

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Unlimited is a number of timers that no actor reaches.
const Unlimited = ^uint32(0)

const (
	// ownerBytes of the hash of an owner's address stand for the owner in keys. Two owners that somebody made to have them in
	// common share the limit of timers per actor, and nothing else: the records name their owners.
	ownerBytes = HashBytes
	// IDStartBytes is how much of a timer's id its entry states.
	IDStartBytes = 4
)

// IDStart is the beginning of a timer's id; zeros where the id is not known any more.
func IDStart(t *types.Timer) []byte {
	if len(t.Id) < IDStartBytes {
		return make([]byte, IDStartBytes)
	}
	return t.Id[:IDStartBytes:IDStartBytes]
}

// Entry names a timer of an actor and where its record is.
type Entry struct {
	// ID is the beginning of the timer's id.
	ID uint32
	// Key is that of its record.
	schedule.Key
}

// IsQueued reports whether the timer has a due height, which is then that of its key.
func (e Entry) IsQueued() bool { return classOf(e.Key) == ClassQueued }

// compare puts those that are on hold or wait for a change first, by their seqs, and those that wait for a time or a look last.
func (e Entry) compare(other Entry) int {
	order := func(e Entry) schedule.Key {
		if classOf(e.Key) > ClassLooked {
			return schedule.Key{Seq: e.Seq}
		}
		return e.Key
	}
	return order(e).Compare(order(other))
}

// EntryOf is the entry of a timer.
func EntryOf(t *types.Timer) Entry { return Entry{binary.BigEndian.Uint32(t.Id), RecordKey(t)} }

// Owners is the owner index: the timers of each actor, in a log-structured map. An owner's entries would lie at a random
// key for every timer; so changes are collected, and merged in bulk.
//
// Invariant: every timer has one entry, and every entry has its timer.
type Owners struct {
	// entries: hash of the owner, beginning of the id, seq → class and order of the record's key.
	entries *LogMap
}

// NewOwners adds the component's collection to the schema.
func NewOwners(sb *collections.SchemaBuilder, service store.KVStoreService) *Owners {
	return &Owners{NewLogMap(sb, service, types.PrefixOwners, "owners", logmap.Options{Range: HashRange})}
}

// after is the first key above all that begin with the prefix; nil if there is none.
func after(prefix []byte) []byte {
	next := slices.Clone(prefix)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			return next[:i+1]
		}
	}
	return nil
}

func (e Entry) key(owner sdk.AccAddress) []byte {
	return AppendNumber(binary.BigEndian.AppendUint32(HashOf(owner), e.ID), e.Seq)
}

// value is the due height, or the class and its order.
func (e Entry) value() []byte { return AppendNumber(nil, e.Due) }

// EntryBytes is the length of a timer's entry, key and value.
func EntryBytes(t *types.Timer) int {
	entry := EntryOf(t)
	return len(entry.key(t.Owner())) + len(entry.value())
}

func parseEntry(found logmap.Entry) (Entry, error) {
	if len(found.Key) <= ownerBytes+IDStartBytes || len(found.Key) > ownerBytes+IDStartBytes+8 || len(found.Value) > 8 {
		return Entry{}, types.ErrInternal.Wrapf("malformed entry %x of the owner index", found.Key)
	}
	id, seq := found.Key[ownerBytes:ownerBytes+IDStartBytes], found.Key[ownerBytes+IDStartBytes:]
	return Entry{binary.BigEndian.Uint32(id), schedule.Key{Due: ParseNumber(found.Value), Seq: ParseNumber(seq)}}, nil
}

// Of returns all entries of the actor: those on hold and those that wait for a change, by seq; those in the queue by (due, seq); and
// those that wait for a time or a look, by that. The config bounds their number. An entry of another actor whose hash begins alike
// may be among them.
func (o *Owners) Of(ctx context.Context, actor sdk.AccAddress) ([]Entry, error) {
	hash := HashOf(actor)
	return o.inOrder(ctx, hash, after(hash))
}

// Named is Of for those whose timers' ids begin with hexadecimal digits, as far as an entry states the id. It reads them alone.
func (o *Owners) Named(ctx context.Context, actor sdk.AccAddress, digits string) ([]Entry, error) {
	digits = digits[:min(len(digits), 2*IDStartBytes)]
	first, err := hex.DecodeString(digits + strings.Repeat("0", 2*IDStartBytes-len(digits)))
	if err != nil {
		return nil, types.ErrInvalidTimerID.Wrapf("%q: want hexadecimal digits", digits)
	}
	last, err := hex.DecodeString(digits + strings.Repeat("f", 2*IDStartBytes-len(digits)))
	if err != nil {
		return nil, err
	}
	hash := HashOf(actor)
	return o.inOrder(ctx, slices.Concat(hash, first), after(slices.Concat(hash, last)))
}

func (o *Owners) inOrder(ctx context.Context, from, to []byte) ([]Entry, error) {
	all, err := o.page(ctx, from, to)
	slices.SortFunc(all, Entry.compare)
	return all, err
}

// page reads the entries of an interval, and charges for each.
func (o *Owners) page(ctx context.Context, from, to []byte) ([]Entry, error) {
	charge(ctx, ownerLookupCycles)
	found, err := o.entries.Page(ctx, from, to, 1<<30)
	if err != nil {
		return nil, err
	}
	charge(ctx, ownerEntryCycles*uint64(len(found)))
	entries := make([]Entry, len(found))
	for i := range found {
		if entries[i], err = parseEntry(found[i]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// Add records a new timer of the actor, of which it may have maxTimers.
func (o *Owners) Add(ctx context.Context, actor sdk.AccAddress, entry Entry, maxTimers uint32) error {
	key := entry.key(actor)
	charge(ctx, ownerAddCycles)
	chargeCells(ctx, len(key)+len(entry.value()))
	if maxTimers != Unlimited {
		hash := key[:ownerBytes]
		timers, err := o.entries.Count(ctx, hash, after(hash))
		if err != nil {
			return err
		}
		if timers >= uint64(maxTimers) {
			return types.ErrTooManyTimers.Wrapf("the actor has %d live timers, the most allowed is %d", timers, maxTimers)
		}
	}
	return o.entries.Apply(ctx, logmap.Inserted(key, entry.value()))
}

// move records a timer's new place.
func (o *Owners) move(ctx context.Context, actor sdk.AccAddress, from, to Entry) error {
	charge(ctx, ownerChangeCycles)
	before, after := from.key(actor), to.key(actor)
	if bytes.Equal(before, after) {
		return o.entries.Apply(ctx, logmap.Replaced(after, to.value()))
	}
	return o.entries.Apply(ctx, logmap.Deleted(before), logmap.Inserted(after, to.value()))
}

// remove drops a timer's entry.
func (o *Owners) remove(ctx context.Context, actor sdk.AccAddress, entry Entry) error {
	charge(ctx, ownerChangeCycles)
	return o.entries.Apply(ctx, logmap.Deleted(entry.key(actor)))
}

// keyOf returns the key of the record of an owner's timer, by its seq and the beginning of its id; false if there is none.
func (o *Owners) keyOf(ctx context.Context, owner sdk.AccAddress, id []byte, seq uint64) (key schedule.Key, found bool, err error) {
	if len(id) < IDStartBytes {
		return key, false, nil
	}
	at := Entry{binary.BigEndian.Uint32(id), schedule.Key{Seq: seq}}.key(owner)
	value, found, err := o.entries.Get(ctx, at)
	if err != nil || !found {
		return key, false, err
	}
	entry, err := parseEntry(logmap.Entry{Key: at, Value: value})
	return entry.Key, true, err
}

// candidates returns the entries of the actor whose timers may have the id.
func (o *Owners) candidates(ctx context.Context, actor sdk.AccAddress, id []byte) ([]Entry, error) {
	if len(id) < IDStartBytes {
		return nil, nil
	}
	prefix := append(HashOf(actor), id[:IDStartBytes]...)
	return o.page(ctx, prefix, after(prefix))
}

// Total counts the timers of all actors. It may read much: no block does it.
func (o *Owners) Total(ctx context.Context) (uint64, error) { return o.entries.Count(ctx, nil, nil) }

// What a change of the owner index costs, in cycles. It is an estimate of what the change takes on average, merges
// included, at the rate of a transfer of coins. It does not depend on what the change happened to read.
const (
	ownerAddCycles    = 10_000
	ownerChangeCycles = 5_000
	ownerLookupCycles = 8_000
	// ownerEntryCycles are for each entry of a list.
	ownerEntryCycles = 50
)

func charge(ctx context.Context, cycles uint64) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(cycles, "owner index")
}

// chargeCells charges bytes that stay in state.
func chargeCells(ctx context.Context, n int) {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	sdkCtx.GasMeter().ConsumeGas(sdkCtx.KVGasConfig().WriteCostPerByte*uint64(n), storetypes.GasWritePerByteDesc)
}
