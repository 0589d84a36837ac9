package state

import (
	"bytes"
	"cmp"
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
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Unlimited is a number of timers that no actor reaches.
const Unlimited = ^uint32(0)

const (
	// ownerBytes of the hash of an owner's address stand for the owner in keys. Two owners that somebody made to have them in
	// common share the limit of timers per actor, and nothing else: the records name their owners.
	ownerBytes = HashBytes
	// idBytes is how much of a timer's id its entry states.
	idBytes = 4
)

// Entry names a timer of an actor and where its record is.
type Entry struct {
	// ID is the beginning of the timer's id.
	ID uint32
	// Due is the height part of its queue key; 0 while it is on hold or waits for a change or a time.
	Due uint64
	// Time is that for which it waits, in seconds since 1970, or its place among those on hold or to be looked at; 0 if it waits for none.
	Time int64
	// Seq is its insertion number.
	Seq uint64
}

// waits is the time for which it waits; 0 if it waits for none.
func (e Entry) waits() int64 {
	if uint64(e.Time) >= placeAwake {
		return 0
	}
	return e.Time
}

// EntryOf is the entry of a timer.
func EntryOf(t *types.Timer) Entry {
	entry := Entry{ID: binary.BigEndian.Uint32(t.Id), Due: t.Due, Seq: t.Seq}
	if t.HoldReason != types.NotOnHold {
		entry.Due = 0
		if !t.AwaitsChange() {
			entry.Time = int64(QueueKeyOf(t).Due)
		}
	}
	return entry
}

// Owners is the owner index: the timers of each actor, in a log-structured map. An owner's entries would lie at a random
// key for every timer; so changes are collected, and merged in bulk.
//
// Invariant: every timer has one entry, and every entry has its timer.
type Owners struct {
	// entries: hash of the owner, beginning of the id, seq → due.
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

// value is the due height, or the time after a 0, with which no height begins.
func (e Entry) value() []byte {
	if e.Time > 0 {
		return AppendNumber([]byte{0}, uint64(e.Time))
	}
	return AppendNumber(nil, e.Due)
}

// EntryBytes is the length of a timer's entry, key and value.
func EntryBytes(t *types.Timer) int {
	entry := EntryOf(t)
	return len(entry.key(t.Owner())) + len(entry.value())
}

func parseEntry(found logmap.Entry) (Entry, error) {
	if len(found.Key) <= ownerBytes+idBytes || len(found.Key) > ownerBytes+idBytes+8 || len(found.Value) > 9 {
		return Entry{}, types.ErrInternal.Wrapf("malformed entry %x of the owner index", found.Key)
	}
	id, seq := found.Key[ownerBytes:ownerBytes+idBytes], found.Key[ownerBytes+idBytes:]
	entry := Entry{ID: binary.BigEndian.Uint32(id), Seq: ParseNumber(seq)}
	if len(found.Value) > 0 && found.Value[0] == 0 {
		entry.Time = int64(ParseNumber(found.Value[1:]))
	} else {
		entry.Due = ParseNumber(found.Value)
	}
	return entry, nil
}

// Of returns all entries of the actor by (due, seq), those on hold first, and those that wait for a time last, by (time, seq). The config bounds their number. An entry of
// another actor whose hash begins alike may be among them.
func (o *Owners) Of(ctx context.Context, actor sdk.AccAddress) ([]Entry, error) {
	hash := HashOf(actor)
	return o.inOrder(ctx, hash, after(hash))
}

// Named is Of for those whose timers' ids begin with hexadecimal digits, as far as an entry states the id. It reads them alone.
func (o *Owners) Named(ctx context.Context, actor sdk.AccAddress, digits string) ([]Entry, error) {
	digits = digits[:min(len(digits), 2*idBytes)]
	first, err := hex.DecodeString(digits + strings.Repeat("0", 2*idBytes-len(digits)))
	if err != nil {
		return nil, types.ErrInvalidTimerID.Wrapf("%q: want hexadecimal digits", digits)
	}
	last, err := hex.DecodeString(digits + strings.Repeat("f", 2*idBytes-len(digits)))
	if err != nil {
		return nil, err
	}
	hash := HashOf(actor)
	return o.inOrder(ctx, slices.Concat(hash, first), after(slices.Concat(hash, last)))
}

func (o *Owners) inOrder(ctx context.Context, from, to []byte) ([]Entry, error) {
	all, err := o.page(ctx, from, to)
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.waits(), b.waits()), cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq))
	})
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

// candidates returns the entries of the actor whose timers may have the id.
func (o *Owners) candidates(ctx context.Context, actor sdk.AccAddress, id []byte) ([]Entry, error) {
	if len(id) < idBytes {
		return nil, nil
	}
	prefix := append(HashOf(actor), id[:idBytes]...)
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
