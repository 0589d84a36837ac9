package state

import (
	"context"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Lane holds the state that one block passes to the next: prices, use, totals and the cursors of bounded work. It is
// one value, written at most once a block. For that reason the policies keep their few numbers in it.
type Lane struct {
	collections.Item[types.LaneState]
}

var _ Component = (*Lane)(nil)

// NewLane adds the component's collection to the schema.
func NewLane(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) *Lane {
	return &Lane{collections.NewItem(sb, types.PrefixLane, "lane", codec.CollValue[types.LaneState](cdc))}
}

// InitGenesis implements Component. What sums up the fairness window is derived from it afterwards.
func (l *Lane) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	// Cursors ahead of the first block would stop admission until the chain reaches them, or pass over receipts for good.
	admit, receipts, latest := genesis.Lane.AdmitCursor.Due, genesis.Lane.ReceiptsFrom, types.HeightOf(ctx)+1
	if admit > latest || receipts > latest {
		return types.ErrInvalidGenesis.Wrapf("lane.admit_cursor.due is %d and receipts_from %d, want at most %d", admit, receipts, latest)
	}
	return l.Set(ctx, genesis.Lane)
}

// ExportGenesis implements Component.
func (l *Lane) ExportGenesis(ctx context.Context, genesis *types.GenesisState) (err error) {
	genesis.Lane, err = l.Get(ctx)
	return err
}

// CheckInvariants implements Component: the value is there. What its parts must agree with is checked by those who keep
// them.
func (l *Lane) CheckInvariants(ctx context.Context) error {
	_, err := l.Get(ctx)
	return err
}

// KeyOf is a place in the queue.
func KeyOf(due, seq uint64) schedule.Key { return schedule.Key{Due: due, Seq: seq} }

// CalendarKey is a stored cursor as a key of the queue.
func CalendarKey(q types.QueueKey) schedule.Key { return schedule.Key{Due: q.Due, Seq: q.Seq} }

// QueueKey is a place in the queue as a cursor stores it.
func QueueKey(c schedule.Key) types.QueueKey { return types.QueueKey{Due: c.Due, Seq: c.Seq} }
