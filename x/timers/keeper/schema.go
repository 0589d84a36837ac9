package keeper

import (
	"context"
	"errors"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// state is everything that the module stores (ARCHITECTURE of the store: x/timers/README.md, "State"). No value in it
// grows with the number of timers.
type state struct {
	schema collections.Schema

	// config in force in this block. Written by beginBlock and genesis.
	config collections.Item[types.TimerConfig]
	// nextConfig is in force from the next block. Written by the authority, removed by beginBlock.
	nextConfig collections.Item[types.TimerConfig]
	// seq is the next insertion number, from 1. Written by schedule and update: one node a block.
	seq collections.Sequence
	// lane is what one block leaves to the next. Written once a block, if it changed.
	lane collections.Item[types.LaneState]
	// queue: (due, seq) → timer. The record is the queue entry, so that collecting is one contiguous scan.
	queue collections.Map[collections.Pair[uint64, uint64], types.Timer]
	// actors: (owner, page) → page. One random key holds all that a block needs to know of an actor.
	actors collections.Map[collections.Pair[sdk.AccAddress, uint16], types.ActorPage]
	// payloads: seq → payload longer than InlinePayloadBytes. Written once, removed with its timer.
	payloads collections.Map[uint64, []byte]
	// setAside: seq → timer that is neither in the queue nor gone.
	setAside collections.Map[uint64, types.Timer]
	// receipts: (height, position of the first) → a segment of the receipts of a block. Sequential; pruned by a bounded sweep.
	receipts collections.Map[receiptPlace, types.HeightReceipts]
	// fires: height → fires by unit within the fairness window. One value a block; they leave as the window moves.
	fires collections.Map[uint64, types.BlockFires]
	// fireCounts: number of fires → number of units that had as many in the window. Few keys.
	fireCounts collections.Map[uint64, uint64]
	// ready: (list, price descending, due, seq) → the other stated price. Timers that wait in a storm.
	ready collections.Map[readyKey, math.LegacyDec]
	// admitted is the number of timers in ready; absent for none.
	admitted collections.Item[uint64]

	watchState
	tipState
}

func newState(cdc codec.BinaryCodec, service store.KVStoreService) (*state, error) {
	sb := collections.NewSchemaBuilder(service)
	heightSeq := collections.PairKeyCodec(collections.Uint64Key, collections.Uint64Key)
	s := &state{
		config:     collections.NewItem(sb, types.PrefixConfig, "config", codec.CollValue[types.TimerConfig](cdc)),
		nextConfig: collections.NewItem(sb, types.PrefixNextConfig, "next_config", codec.CollValue[types.TimerConfig](cdc)),
		seq:        collections.NewSequence(sb, types.PrefixSeq, "seq"),
		lane:       collections.NewItem(sb, types.PrefixLane, "lane", codec.CollValue[types.LaneState](cdc)),
		queue:      collections.NewMap(sb, types.PrefixQueue, "queue", heightSeq, codec.CollValue[types.Timer](cdc)),
		actors: collections.NewMap(sb, types.PrefixActors, "actors",
			collections.PairKeyCodec(sdk.AccAddressKey, collections.Uint16Key), codec.CollValue[types.ActorPage](cdc)),
		payloads:   collections.NewMap(sb, types.PrefixPayloads, "payloads", collections.Uint64Key, collections.BytesValue),
		setAside:   collections.NewMap(sb, types.PrefixSetAside, "set_aside", collections.Uint64Key, codec.CollValue[types.Timer](cdc)),
		receipts:   collections.NewMap(sb, types.PrefixReceipts, "receipts", heightSeq, codec.CollValue[types.HeightReceipts](cdc)),
		fires:      collections.NewMap(sb, types.PrefixFires, "fires", collections.Uint64Key, codec.CollValue[types.BlockFires](cdc)),
		fireCounts: collections.NewMap(sb, types.PrefixFireCounts, "fire_counts", collections.Uint64Key, collections.Uint64Value),
		ready:      collections.NewMap(sb, types.PrefixReady, "ready", readyKeyCodec, sdk.LegacyDecValue),
		admitted:   collections.NewItem(sb, types.PrefixAdmitted, "admitted", collections.Uint64Value),

		watchState: newWatchState(cdc, sb),
		tipState:   newTipState(cdc, sb),
	}
	schema, err := sb.Build()
	s.schema = schema
	return s, err
}

// queueStore is the queue as the calendar's store.
type queueStore struct {
	queue collections.Map[collections.Pair[uint64, uint64], types.Timer]
}

var _ calendar.Store[types.Timer] = queueStore{}

func (q queueStore) Set(ctx context.Context, key calendar.Key, timer types.Timer) error {
	return q.queue.Set(ctx, collections.Join(key.Due, key.Seq), timer)
}

func (q queueStore) Get(ctx context.Context, key calendar.Key) (types.Timer, bool, error) {
	return find(ctx, q.queue, collections.Join(key.Due, key.Seq))
}

func (q queueStore) Remove(ctx context.Context, key calendar.Key) error {
	return q.queue.Remove(ctx, collections.Join(key.Due, key.Seq))
}

func (q queueStore) Scan(
	ctx context.Context, from calendar.Key, fn func(calendar.Entry[types.Timer]) bool,
) error {
	ranger := new(collections.Range[collections.Pair[uint64, uint64]]).StartInclusive(collections.Join(from.Due, from.Seq))
	return q.queue.Walk(ctx, ranger, func(key collections.Pair[uint64, uint64], timer types.Timer) (bool, error) {
		entry := calendar.Entry[types.Timer]{Key: calendar.Key{Due: key.K1(), Seq: key.K2()}, Value: timer}
		return !fn(entry), nil
	})
}

// find reads a map entry that may be absent.
func find[K, V any](ctx context.Context, m collections.Map[K, V], key K) (V, bool, error) {
	value, err := m.Get(ctx, key)
	if errors.Is(err, collections.ErrNotFound) {
		return value, false, nil
	}
	return value, err == nil, err
}

// findItem reads an item that may be absent.
func findItem[V any](ctx context.Context, item collections.Item[V]) (V, bool, error) {
	value, err := item.Get(ctx)
	if errors.Is(err, collections.ErrNotFound) {
		return value, false, nil
	}
	return value, err == nil, err
}
