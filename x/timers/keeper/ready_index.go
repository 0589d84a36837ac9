package keeper

import (
	"context"
	"math/big"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/policy/eip1559"
	"github.com/cosmos-timers/timers/x/timers/policy/score"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The ready index holds the timers that were admitted to the competition in a storm (SPEC §6, candidates). A record says
// with which weight it lies there, so that whatever moves or removes a timer finds its entries.
//
// Invariant: an admitted timer has exactly the entries that its bid or its agent's quote, its weight and its place make, or
// under policy score its list and its score; nobody else has any, and `admitted` counts them.

// readyKey is (list, complement of the price, due, seq): entries of a list lie by price descending, then by age.
type readyKey = collections.Quad[uint32, []byte, uint64, uint64]

var readyKeyCodec = collections.QuadKeyCodec(collections.Uint32Key, collections.BytesKey, collections.Uint64Key, collections.Uint64Key)

// complement turns a price into bytes whose order is descending, and back.
func complement(bz []byte) []byte {
	for i := range bz {
		bz[i] = ^bz[i]
	}
	return bz
}

func readyKeyOf(e merge.Entry) readyKey {
	price := complement(e.Price.BigInt().FillBytes(make([]byte, e.List.PriceBytes())))
	return collections.Join4(uint32(e.List), price, e.Due, e.Seq)
}

func readyEntry(key readyKey, other math.LegacyDec) merge.Entry {
	price := new(big.Int).SetBytes(complement(append([]byte(nil), key.K2()...)))
	return merge.Entry{
		List: merge.List(key.K1()), Price: math.LegacyNewDecFromBigIntWithPrec(price, math.LegacyPrecision), Other: other,
		Due: key.K3(), Seq: key.K4(),
	}
}

// readyStore is the index as package merge reads it.
type readyStore struct {
	entries collections.Map[readyKey, math.LegacyDec]
}

var _ merge.Store = readyStore{}

// First implements merge.Store.
func (s readyStore) First(ctx context.Context, from merge.List) (merge.Entry, bool, error) {
	ranger := new(collections.Range[readyKey]).StartInclusive(collections.QuadPrefix[uint32, []byte, uint64, uint64](uint32(from)))
	entries, err := s.read(ctx, ranger, 1)
	if err != nil || len(entries) == 0 {
		return merge.Entry{}, false, err
	}
	return entries[0], true, nil
}

// After implements merge.Store.
func (s readyStore) After(ctx context.Context, entry merge.Entry, n int) ([]merge.Entry, error) {
	ranger := new(collections.Range[readyKey]).StartExclusive(readyKeyOf(entry)).
		EndExclusive(collections.QuadPrefix[uint32, []byte, uint64, uint64](uint32(entry.List) + 1))
	return s.read(ctx, ranger, n)
}

func (s readyStore) read(ctx context.Context, ranger *collections.Range[readyKey], n int) (entries []merge.Entry, err error) {
	err = s.entries.Walk(ctx, ranger, func(key readyKey, other math.LegacyDec) (bool, error) {
		entries = append(entries, readyEntry(key, other))
		return len(entries) == n, nil
	})
	return entries, err
}

// entriesOf are the entries of an admitted timer.
func entriesOf(t *types.Timer) []merge.Entry {
	if list := merge.ListOfWeight(t.AdmittedWeight); list.Wide() {
		return []merge.Entry{score.EntryOf(list, t.AdmittedScore, t.Due, t.Seq)}
	}
	return eip1559.EntriesOf(t.RecordedAsk(), t.AdmittedWeight, t.Due, t.Seq)
}

// addEntries adds a timer that is in the queue to the index. The record must be written and the timer counted afterwards.
func (k *Keeper) addEntries(ctx context.Context, t *types.Timer, at filing) error {
	t.AdmittedWeight, t.AdmittedScore, t.Quote = at.weight, at.score, at.quote
	for _, entry := range entriesOf(t) {
		if err := k.state.ready.Set(ctx, readyKeyOf(entry), entry.Other); err != nil {
			return err
		}
	}
	return nil
}

// removeEntries takes an admitted timer out of the index. The record must be written or removed, and the timer no longer
// counted, afterwards.
func (k *Keeper) removeEntries(ctx context.Context, t *types.Timer) error {
	for _, entry := range entriesOf(t) {
		if err := k.state.ready.Remove(ctx, readyKeyOf(entry)); err != nil {
			return err
		}
	}
	t.AdmittedWeight, t.AdmittedScore, t.Quote = 0, nil, nil
	return nil
}

// file adds one timer and counts it.
func (k *Keeper) file(ctx context.Context, t *types.Timer, at filing) error {
	if err := k.addEntries(ctx, t, at); err != nil {
		return err
	}
	return k.countAdmitted(ctx, 1)
}

// unfile takes a timer out of the index, if it is there. The record must be written or removed afterwards.
func (k *Keeper) unfile(ctx context.Context, t *types.Timer) error {
	if t.AdmittedWeight == 0 {
		return nil
	}
	if err := k.removeEntries(ctx, t); err != nil {
		return err
	}
	return k.countAdmitted(ctx, -1)
}

// refile gives an admitted timer another place.
func (k *Keeper) refile(ctx context.Context, t *types.Timer, at filing) error {
	if err := k.removeEntries(ctx, t); err != nil {
		return err
	}
	if err := k.addEntries(ctx, t, at); err != nil {
		return err
	}
	return k.put(ctx, t)
}

// countAdmitted changes the number of timers in the index. What a block's own steps change is summed up and written once;
// what transactions and handlers change may be undone with them, and is written at once.
func (k *Keeper) countAdmitted(ctx context.Context, change int64) error {
	if b := blockOf(ctx); b != nil && !isWithinFire(ctx) {
		b.admitted += change
		return nil
	}
	return k.changeAdmitted(ctx, change)
}

func (k *Keeper) changeAdmitted(ctx context.Context, change int64) error {
	if change == 0 {
		return nil
	}
	admitted, _, err := findItem(ctx, k.state.admitted)
	if err != nil {
		return err
	}
	if admitted += uint64(change); admitted == 0 {
		return k.state.admitted.Remove(ctx)
	}
	return k.state.admitted.Set(ctx, admitted)
}

// blockKey marks the context of a block's own steps.
type blockKey struct{}

// withBlock marks the context of the steps of b.
func withBlock(ctx sdk.Context, b *block) sdk.Context { return ctx.WithValue(blockKey{}, b) }

// blockOf returns the block whose step ctx belongs to, nil outside of one.
func blockOf(ctx context.Context) *block {
	b, _ := ctx.Value(blockKey{}).(*block)
	return b
}
