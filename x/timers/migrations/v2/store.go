// Package v2 migrates the module's state from version 1 to version 2 (x/timers/README.md, "2.5 Migrations").
package v2

import (
	"context"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// pages is the region in which version 1 kept a page for each actor: (actor, number) → page. Of a page, the default
	// agent is kept; the actor's timers and recent fires are derived from the records.
	pages = 6
	// pageAgent is the field of a page that names the agent.
	pageAgent = 4
	// batch is how many pairs are read before they are written, so that no iterator is open meanwhile.
	batch = 1_000
)

// watchesCodec encodes (store, prefix, owner, seq).
var watchesCodec = collections.QuadKeyCodec(collections.StringKey, collections.BytesKey, collections.BytesKey, collections.Uint64Key)

// Packed is what version 1 stored singly, and version 2 packs.
type Packed struct {
	// SetAside are the timers that are set aside, TipWeights the weights of policy tip.
	SetAside   []types.Timer
	TipWeights []types.ActorTipWeight
}

// MigrateStore rewrites what version 1 stored otherwise: configs, the lane, the records of timers, their watches and rounds
// of these, and the pages of actors. The owner index and the counts of recent fires, which version 1 did not have, are left
// to the keeper. So are the ready index and what it returns, whose entries it removes. It reads and writes each timer once.
func MigrateStore(ctx context.Context, service store.KVStoreService) (*Packed, error) {
	m := &migration{store: service.OpenKVStore(ctx)}
	for _, step := range []func() error{m.configs, m.lane, m.watches, m.timers, m.setAside, m.rounds, m.actors, m.ready, m.tipWeights, m.tipEpochs} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &m.packed, nil
}

type migration struct {
	store store.KVStore
	// cells is what a fire could write under the config in force: version 1 had no limits of timers.
	cells  uint64
	packed Packed
}

func (m *migration) configs() error {
	for _, key := range [][]byte{types.PrefixConfig.Bytes(), types.PrefixNextConfig.Bytes()} {
		stored, err := m.store.Get(key)
		switch {
		case err != nil:
			return err
		case stored == nil && m.cells == 0:
			return types.ErrInternal.Wrap("version 1: there is no config")
		case stored == nil:
			return nil // none waits for the next block
		}
		config, err := configOf(stored)
		if err != nil {
			return err
		}
		if m.cells == 0 {
			m.cells = config.MaxCellsPerFire
		}
		value, err := config.Marshal()
		if err != nil {
			return err
		}
		if err := m.store.Set(key, value); err != nil {
			return err
		}
	}
	return nil
}

// lane starts the count of what is burned as the lane's fee.
func (m *migration) lane() error {
	return m.each(types.PrefixLane, func(key, value []byte) error {
		var lane types.LaneState
		if err := lane.Unmarshal(value); err != nil {
			return err
		}
		lane.LaneBurned = math.ZeroInt()
		return m.set(key, &lane)
	})
}

// watches removes them: they are written again from the timers, under keys that begin with the owner.
func (m *migration) watches() error {
	return m.each(types.PrefixWatches, func(key, _ []byte) error { return m.store.Delete(key) })
}

// ready removes the entries of the ready index, which version 1 kept singly.
func (m *migration) ready() error {
	return m.each(types.PrefixReady, func(key, _ []byte) error { return m.store.Delete(key) })
}

func (m *migration) timers() error {
	for _, region := range []collections.Prefix{types.PrefixQueue, types.PrefixSetAside, types.PrefixWatching} {
		if err := m.each(region, m.timer); err != nil {
			return err
		}
	}
	return nil
}

// setAside removes the timers that are set aside, which were rewritten before.
func (m *migration) setAside() error {
	return m.each(types.PrefixSetAside, func(key, value []byte) error {
		var timer types.Timer
		if err := timer.Unmarshal(value); err != nil {
			return err
		}
		m.packed.SetAside = append(m.packed.SetAside, timer)
		return m.store.Delete(key)
	})
}

func (m *migration) timer(key, value []byte) error {
	var timer types.Timer
	if err := timer.Unmarshal(value); err != nil {
		return err
	}
	timer.CellLimit = m.cells
	plainBid(timer.Bid)
	if err := m.payload(&timer); err != nil {
		return err
	}
	for _, watched := range timer.WatchKeys() {
		at, err := collections.EncodeKeyWithPrefix(types.PrefixWatches.Bytes(), watchesCodec,
			collections.Join4(watched.Store, watched.Prefix, timer.Actor, timer.Seq))
		if err != nil {
			return err
		}
		if err := m.store.Set(at, []byte{}); err != nil {
			return err
		}
	}
	return m.set(key, &timer)
}

// payload converts the messages of a timer's payload, which is in its record or at a key of its own.
func (m *migration) payload(timer *types.Timer) error {
	seq := timer.PayloadSeq
	payload := timer.Payload
	if seq == 0 {
		seq = timer.Seq
	}
	key, err := collections.EncodeKeyWithPrefix(types.PrefixPayloads.Bytes(), collections.Uint64Key, seq)
	if err != nil {
		return err
	}
	if timer.PayloadSeq != 0 {
		if payload, err = m.store.Get(key); err != nil {
			return err
		}
	}
	payload, changed := accountPayload(payload, maxNesting)
	switch {
	case !changed:
		return nil
	case timer.PayloadSeq == 0 && len(payload) <= types.InlinePayloadBytes:
		timer.Payload = payload
		return nil
	}
	timer.Payload, timer.PayloadSeq, timer.PayloadBytes = nil, seq, uint64(len(payload))
	return m.store.Set(key, payload)
}

func (m *migration) tipWeights() error {
	return m.each(types.PrefixTipWeights, func(key, value []byte) error {
		weight := types.ActorTipWeight{Actor: key[len(types.PrefixTipWeights.Bytes()):]}
		if err := weight.Weight.Unmarshal(value); err != nil {
			return err
		}
		m.packed.TipWeights = append(m.packed.TipWeights, weight)
		return m.store.Delete(key)
	})
}

// tipEpochs removes the lists of actors by epoch, which follow from the weights.
func (m *migration) tipEpochs() error {
	return m.each(types.PrefixTipEpochs, func(key, _ []byte) error { return m.store.Delete(key) })
}

// plain converts a stored decimal, which reads as one that is 10^18 times as large.
func plain(read decimal.Dec) decimal.Dec {
	if read.IsNil() {
		return read
	}
	return decimal.Of(math.LegacyNewDecFromIntWithPrec(read.TruncateInt(), math.LegacyPrecision))
}

// rounds starts each unfinished round again. Who has been notified by it is not made due a second time, since the changes
// no longer count for that timer.
func (m *migration) rounds() error {
	return m.each(types.PrefixWatchPending, func(key, value []byte) error {
		var pending types.WatchPending
		if err := pending.Unmarshal(value); err != nil {
			return err
		}
		for _, round := range []*types.WatchRound{&pending.Round, pending.Next} {
			if round == nil {
				continue
			}
			round.From, round.Since = 0, round.Height
			for _, change := range round.Changes {
				round.Since = min(round.Since, change.Height)
			}
		}
		return m.set(key, &pending)
	})
}

func (m *migration) actors() error {
	codec := collections.PairKeyCodec(sdk.AccAddressKey, collections.Uint16Key)
	return m.each(collections.NewPrefix(pages), func(key, value []byte) error {
		page, err := read(value)
		if err != nil {
			return err
		}
		if agent := page.last(pageAgent); agent != nil {
			_, at, err := codec.Decode(key[1:])
			if err != nil {
				return err
			}
			if err := m.store.Set(append(types.PrefixAgents.Bytes(), at.K1()...), agent); err != nil {
				return err
			}
		}
		return m.store.Delete(key)
	})
}

func (m *migration) set(key []byte, record interface{ Marshal() ([]byte, error) }) error {
	value, err := record.Marshal()
	if err != nil {
		return err
	}
	return m.store.Set(key, value)
}

// each passes the pairs of a region to fn, which may write or remove their keys, and nothing else in the region.
func (m *migration) each(region collections.Prefix, fn func(key, value []byte) error) error {
	from, end := region.Bytes(), storetypes.PrefixEndBytes(region.Bytes())
	for {
		keys, values, err := m.next(from, end)
		if err != nil {
			return err
		}
		for i := range keys {
			if err := fn(keys[i], values[i]); err != nil {
				return types.ErrInternal.Wrapf("version 1: key %x: %v", keys[i], err)
			}
		}
		if len(keys) < batch {
			return nil
		}
		from = append(keys[len(keys)-1], 0)
	}
}

func (m *migration) next(from, end []byte) (keys, values [][]byte, err error) {
	entries, err := m.store.Iterator(from, end)
	if err != nil {
		return nil, nil, err
	}
	for ; entries.Valid() && len(keys) < batch; entries.Next() {
		keys, values = append(keys, entries.Key()), append(values, entries.Value())
	}
	return keys, values, entries.Close()
}
