package keeper_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// watchModel is what watches do, said in the plainest way: it looks at every timer for every change.
type watchModel struct {
	height uint64
	paused bool
	timers []*modelWatch
	// changed are the balances that this block's transactions changed, and before them those that handlers of the block
	// before changed.
	changed map[string]bool
}

type modelWatch struct {
	id        string
	seq       uint64
	owners    []string // whose balances it watches
	since     uint64   // first block whose changes count
	due       uint64   // since when it is to fire; 0 while it waits
	told      map[string]bool
	remaining uint64
	expiresAt uint64
	// pays: its handler moves a coin from the robot to this account.
	pays string
	seqs uint32
}

// endBlock returns the timers that fire, in order, with what they are told.
func (m *watchModel) endBlock() (fired []*modelWatch, told []map[string]bool) {
	for _, t := range m.timers {
		for _, owner := range t.owners {
			if !m.changed[owner] || m.height < t.since || m.height > t.expiresAt {
				continue
			}
			if t.due == 0 {
				t.due = m.height
			}
			t.told[owner] = true
		}
	}
	m.changed = map[string]bool{}
	m.timers = slices.DeleteFunc(m.timers, func(t *modelWatch) bool { return m.height > t.expiresAt })
	var ready []*modelWatch
	for _, t := range m.timers {
		if t.due != 0 && t.due <= m.height && !m.paused {
			ready = append(ready, t)
		}
	}
	slices.SortFunc(ready, func(a, b *modelWatch) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq)) })
	for _, t := range ready {
		fired, told = append(fired, t), append(told, t.told)
		if t.pays != "" {
			m.changed[string(robot)], m.changed[t.pays] = true, true
		}
		t.due, t.told, t.since = 0, map[string]bool{}, m.height+1
		t.seqs++
		// Without a block in which it may fire again it leaves with this fire.
		if t.remaining == 1 || m.height >= t.expiresAt {
			m.timers = slices.DeleteFunc(m.timers, func(other *modelWatch) bool { return other == t })
		} else if t.remaining > 0 {
			t.remaining--
		}
	}
	m.height++
	return fired, told
}

// watchRun is a chain beside the model.
type watchRun struct {
	*fixture
	t        *rapid.T
	model    watchModel
	accounts []sdk.AccAddress
	payloads map[string][]byte
	next     uint64
}

func newWatchRun(t *rapid.T, change func(*types.TimerConfig)) *watchRun {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.CycleBasefee, c.CellBasefee, c.LaneTimerCycles = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec()), 50_000_000
		change(c)
	}))
	r := &watchRun{
		fixture: f, t: t, accounts: []sdk.AccAddress{alice, bob, carol, robot}, payloads: map[string][]byte{"": f.noop()}, next: 1,
		model: watchModel{height: 1, changed: map[string]bool{}},
	}
	for _, to := range r.accounts[:3] {
		r.payloads[string(to)] = f.script(func(ctx sdk.Context, _ types.Delivery) error {
			return f.Bank.SendCoins(ctx, robot, to, f.coins(1))
		})
	}
	return r
}

func (r *watchRun) account(label string) sdk.AccAddress {
	return rapid.SampledFrom(r.accounts).Draw(r.t, label)
}

// watch schedules a timer; a balance is watched by its key or by the prefix of its owner.
func (r *watchRun) watch() {
	w := &modelWatch{
		told: map[string]bool{}, since: r.Height() + 1, remaining: rapid.Uint64Range(0, 3).Draw(r.t, "remaining"),
		expiresAt: r.Height() + rapid.Uint64Range(1, 25).Draw(r.t, "ttl"), seq: r.next,
	}
	r.next++
	var keys []types.WatchKey
	for range rapid.IntRange(1, 3).Draw(r.t, "keys") {
		owner := r.account("owner")
		key := r.balanceOf(owner)
		if rapid.Bool().Draw(r.t, "prefix") {
			key = r.key("bank:balances:" + owner.String())
		}
		if slices.ContainsFunc(keys, func(k types.WatchKey) bool { return k.Compare(key) == 0 }) {
			continue
		}
		keys, w.owners = append(keys, key), append(w.owners, string(owner))
	}
	if rapid.IntRange(0, 3).Draw(r.t, "acts") == 0 {
		w.pays = string(rapid.SampledFrom(r.accounts[:3]).Draw(r.t, "pays"))
	}
	w.id = r.schedule(robot, 0, r.payloads[w.pays], watching(keys...), times(w.remaining), expiring(w.expiresAt))
	r.model.timers = append(r.model.timers, w)
}

func (r *watchRun) transfer() {
	from, to := r.account("from"), r.account("to")
	msgs := []sdk.Msg{r.send(from, to, 1)}
	if rapid.IntRange(0, 3).Draw(r.t, "fails") == 0 {
		_, _, err := r.Tx(append(msgs, r.send(from, to, 2*rich))...)
		require.Error(r.t, err)
		return
	}
	r.run(msgs...)
	r.model.changed[string(from)], r.model.changed[string(to)] = true, true
}

// change cancels or updates a timer that can still fire.
func (r *watchRun) change() {
	live := slices.DeleteFunc(slices.Clone(r.model.timers), func(t *modelWatch) bool { return r.Height() > t.expiresAt })
	if len(live) == 0 {
		return
	}
	w := rapid.SampledFrom(live).Draw(r.t, "timer")
	switch rapid.IntRange(0, 2).Draw(r.t, "change") {
	case 0:
		r.run(&types.MsgCancelTimer{Sender: robot.String(), Id: w.id})
		r.model.timers = slices.DeleteFunc(r.model.timers, func(other *modelWatch) bool { return other == w })
	case 1:
		r.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: w.id, Spec: types.TimerSpec{GasLimit: rapid.Uint64Range(60_000, gas).Draw(r.t, "gas")}, Fields: []string{"gas_limit"}})
		w.seq = r.next
		r.next++
		if w.due != 0 && w.due < r.Height() {
			w.due = r.Height() + 1
		}
	default:
		w.expiresAt = max(r.Height()+1, w.due) + rapid.Uint64Range(0, 9).Draw(r.t, "extension")
		r.run(&types.MsgExtendTimer{Sender: robot.String(), Id: w.id, ExpiresAt: w.expiresAt})
	}
}

func (r *watchRun) act() {
	switch rapid.IntRange(0, 5).Draw(r.t, "op") {
	case 0, 1:
		r.watch()
	case 2, 3:
		r.transfer()
	case 4:
		r.change()
	default: // nothing
	}
}

// TestWatchesMatchTheModel: while hits are within their bound, the same timers fire in the same blocks and order, with
// the same matched keys.
//
// Rule: 1.10-after-a-fire, 2.2-hits-and-turns, 5.1-collect
func TestWatchesMatchTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Some leave the entries of their keys to later blocks.
		r := newWatchRun(t, func(c *types.TimerConfig) {
			lab.SetOverhead(c, market.RemoveKey, rapid.IntRange(16, 20).Draw(t, "keys"))
		})
		for range rapid.IntRange(1, 25).Draw(t, "blocks") {
			for range rapid.IntRange(0, 4).Draw(t, "ops") {
				r.act()
			}
			pause := rapid.IntRange(0, 3).Draw(t, "pause") == 0
			r.setConfig(func(c *types.TimerConfig) { c.LanePaused = pause })
			want, told := r.model.endBlock()
			events := eventsOf[*types.TimerFired](r.fixture, r.NextBlock())
			r.model.paused = pause
			require.Len(t, events, len(want), "height %d", r.Height()-1)
			for i, event := range events {
				require.Equal(t, want[i].id, event.Id)
				require.True(t, event.Success, "%s/%d", event.Codespace, event.Code)
				require.Len(t, event.Matched, len(told[i]))
				for _, key := range event.Matched {
					owner := string(key.Key[2:22])
					require.True(t, told[i][owner], fmt.Sprintf("%s was told of %x", event.Id, owner))
				}
			}
			require.EqualValues(t, len(r.model.timers), r.total(robot))
		}
	})
}

// TestEveryWatchIsNotifiedUnderASmallBound: with a bound far too small, every change reaches every timer that waited
// for it, and none fires without one.
//
// Rule: 1.10-rest-is-late, 2.2-hits-and-turns
func TestEveryWatchIsNotifiedUnderASmallBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newWatchRun(t, func(c *types.TimerConfig) {
			notifies(c, rapid.IntRange(1, 4).Draw(t, "bound"))
		})
		type wait struct {
			owners       []string
			since, owing uint64 // owing: the last change that it has not fired for, 0 if none
		}
		waits := map[string]*wait{}
		settle := func(changed map[string]bool) {
			height := r.Height()
			for _, w := range waits {
				for _, owner := range w.owners {
					if changed[owner] && height >= w.since {
						w.owing = height
					}
				}
			}
			for _, event := range eventsOf[*types.TimerFired](r.fixture, r.NextBlock()) {
				w := waits[event.Id]
				require.NotZero(t, w.owing, "it fires for nothing")
				w.since, w.owing = height+1, 0
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "blocks") {
			changed := map[string]bool{}
			for range rapid.IntRange(0, 5).Draw(t, "watches") {
				owner := r.account("owner")
				id := r.schedule(robot, 0, r.payloads[""], watching(r.balanceOf(owner)), times(0))
				waits[id] = &wait{owners: []string{string(owner)}, since: r.Height() + 1}
			}
			for range rapid.IntRange(0, 2).Draw(t, "transfers") {
				from, to := r.account("from"), r.account("to")
				r.run(r.send(from, to, 1))
				changed[string(from)], changed[string(to)] = true, true
			}
			settle(changed)
		}
		for range 2*len(waits) + 8 {
			settle(nil)
		}
		for id, w := range waits {
			require.Zero(t, w.owing, "timer %s was never told of a change at height %d", id, w.owing)
		}
		require.Empty(t, r.export().WatchPending)
		require.Empty(t, r.export().WatchRounds)
	})
}
