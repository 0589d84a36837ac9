package evmbinding

import (
	"context"
	"encoding/binary"

	"cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// StoreKey is the name of the store of Seconds. No other store's name begins it, nor it another's.
const StoreKey = "hip1215"

// Seconds count what HIP-1215's functions have accepted for each second, in cycles: in all, and for each owner. They
// follow from the live timers with HandlerBooked, of which they hear whenever one comes, changes or leaves, for
// whatever reason, an import of genesis included.
type Seconds struct {
	state.NoHook
	service store.KVStoreService
	// hrc1215 is the precompile of HIP-1215 once Wire has made it, for Facades.
	hrc1215 *Precompile
}

// NewSeconds keeps the counts in a store of their own.
func NewSeconds(key *storetypes.KVStoreKey) *Seconds { return &Seconds{service: watch.Ungassed(key)} }

// booking is what one timer counts.
type booking struct {
	second uint64
	owner  string
	cycles uint64
}

// bookingOf a timer, zero if it has none.
func bookingOf(t *types.Timer) booking {
	if t.Spec.Call.Handler != HandlerBooked || t.Spec.Trigger.Time == nil {
		return booking{}
	}
	return booking{uint64(max(t.Spec.Trigger.Time.Unix(), 0)), string(t.Actor), t.GasLimit}
}

// Inserted implements state.Hook.
func (s *Seconds) Inserted(ctx context.Context, t *types.Timer) error {
	return s.add(ctx, bookingOf(t))
}

// Deleted implements state.Hook.
func (s *Seconds) Deleted(ctx context.Context, t *types.Timer) error {
	return s.remove(ctx, bookingOf(t))
}

// Moved implements state.Hook. A booking may become less, and not more or another: that was not asked for here.
func (s *Seconds) Moved(ctx context.Context, before, t *types.Timer) error {
	was, is := bookingOf(before), bookingOf(t)
	switch {
	case was == is:
		return nil
	case is.cycles > was.cycles, is.cycles != 0 && is.second != was.second:
		return types.ErrUnsupportedTimerType.Wrap("it was accepted for its second and gas limit: delete it and schedule it again")
	}
	if err := s.remove(ctx, was); err != nil {
		return err
	}
	return s.add(ctx, is)
}

// keys of a booking's counts: its second, in order of time, and that followed by the owner.
func (b booking) keys() (all, own []byte) {
	all = binary.BigEndian.AppendUint64(nil, b.second)
	return all, append(all[:len(all):len(all)], b.owner...)
}

// booked is what is accepted for a second, in all and of an owner.
func (s *Seconds) booked(ctx context.Context, second uint64, owner string) (all, own uint64, err error) {
	allKey, ownKey := booking{second: second, owner: owner}.keys()
	if all, err = s.get(ctx, allKey); err == nil {
		own, err = s.get(ctx, ownKey)
	}
	return all, own, err
}

func (s *Seconds) get(ctx context.Context, key []byte) (uint64, error) {
	bz, err := s.service.OpenKVStore(ctx).Get(key)
	if err != nil || bz == nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(bz), nil
}

// set writes a count; one of 0 has no entry.
func (s *Seconds) set(ctx context.Context, key []byte, count uint64) error {
	kv := s.service.OpenKVStore(ctx)
	if count == 0 {
		return kv.Delete(key)
	}
	return kv.Set(key, binary.BigEndian.AppendUint64(nil, count))
}

func (s *Seconds) add(ctx context.Context, b booking) error {
	return s.change(ctx, b, func(count uint64) (uint64, error) { return count + b.cycles, nil })
}

func (s *Seconds) remove(ctx context.Context, b booking) error {
	return s.change(ctx, b, func(count uint64) (uint64, error) {
		if count < b.cycles {
			return 0, types.ErrInternal.Wrapf("second %d has %d cycles, and %d leave it", b.second, count, b.cycles)
		}
		return count - b.cycles, nil
	})
}

func (s *Seconds) change(ctx context.Context, b booking, to func(uint64) (uint64, error)) error {
	if b.cycles == 0 {
		return nil
	}
	all, own := b.keys()
	for _, key := range [][]byte{all, own} {
		count, err := s.get(ctx, key)
		if err != nil {
			return err
		}
		if count, err = to(count); err != nil {
			return err
		}
		if err := s.set(ctx, key, count); err != nil {
			return err
		}
	}
	return nil
}
