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

// conditionModel is what conditions do, said in the plainest way: it evaluates every condition of every timer at every
// block.
type conditionModel struct {
	height   uint64
	balances map[string]int64
	timers   []*modelConditions
}

type modelConditions struct {
	id         string
	seq        uint64
	conditions []modelCondition
	// since is the first block whose changes count, look that in which it is looked at, 0 for none.
	since, look, due uint64
	// level: it is looked at again after each fire.
	level     bool
	remaining uint64
	cooldown  uint64
	expiresAt uint64
	paused    bool
	// pays: its handler moves a coin from the robot to this account.
	pays string
	told map[string]bool
}

type modelCondition struct {
	account string
	op      types.ConditionOp
	value   int64
	held    bool
}

func (c *modelCondition) holds(balance int64) bool {
	switch c.op {
	case types.ConditionExists:
		return balance != 0
	case types.ConditionAbsent:
		return balance == 0
	case types.ConditionEqual:
		return balance == c.value
	case types.ConditionLess:
		return balance < c.value
	case types.ConditionLessOrEqual:
		return balance <= c.value
	case types.ConditionGreater:
		return balance > c.value
	default:
		return balance >= c.value
	}
}

// collect returns which of the timers became due.
func (m *conditionModel) collect() (became []*modelConditions) {
	for _, t := range m.timers {
		looked := t.look > 0 && m.height >= t.look
		if looked {
			t.look = 0
		}
		for i := range t.conditions {
			c := &t.conditions[i]
			now := c.holds(m.balances[c.account])
			edge := now && (!c.held || looked)
			c.held = now
			if !edge || t.paused || m.height < t.since || m.height > t.expiresAt {
				continue
			}
			if t.due == 0 {
				became = append(became, t)
			}
			if t.due == 0 || t.due == m.height {
				t.due = m.height
				t.told[c.account] = true
			}
		}
	}
	return became
}

// fire is what a fire of a timer does.
func (m *conditionModel) fire(t *modelConditions) {
	if t.pays != "" {
		m.balances[string(robot)]--
		m.balances[t.pays]++
	}
	t.due, t.since, t.told = 0, m.height+max(1, t.cooldown), map[string]bool{}
	if t.level {
		t.look = t.since
	}
	last := t.remaining == 1 || m.height+max(1, t.cooldown) > t.expiresAt
	if last {
		m.remove(t)
	} else if t.remaining > 0 {
		t.remaining--
	}
}

func (m *conditionModel) remove(t *modelConditions) {
	m.timers = slices.DeleteFunc(m.timers, func(other *modelConditions) bool { return other == t })
}

// endBlock returns the timers that fire, in order, with what they are told.
func (m *conditionModel) endBlock() (fired []string, told []map[string]bool) {
	m.collect()
	m.timers = slices.DeleteFunc(m.timers, func(t *modelConditions) bool { return m.height > t.expiresAt })
	var ready []*modelConditions
	for _, t := range m.timers {
		if t.due != 0 && !t.paused {
			ready = append(ready, t)
		}
	}
	slices.SortFunc(ready, func(a, b *modelConditions) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq)) })
	for _, t := range ready {
		fired, told = append(fired, t.id), append(told, t.told)
		m.fire(t)
	}
	m.height++
	return fired, told
}

// conditionRun is a chain beside the model.
type conditionRun struct {
	*fixture
	t        *rapid.T
	model    conditionModel
	accounts []sdk.AccAddress
	payloads map[string][]byte
	next     uint64
}

func newConditionRun(t *rapid.T, change func(*types.TimerConfig)) *conditionRun {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.CycleBasefee, c.CellBasefee, c.LaneTimerCycles = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec()), 50_000_000
		change(c)
	}))
	r := &conditionRun{
		fixture: f, t: t, accounts: []sdk.AccAddress{sdk.AccAddress("purse_a_____________"), sdk.AccAddress("purse_b_____________")},
		payloads: map[string][]byte{"": f.noop()}, next: 1,
		model: conditionModel{height: 1, balances: map[string]int64{string(robot): rich}},
	}
	for _, to := range r.accounts {
		f.fund(to, 10)
		r.model.balances[string(to)] = 10
		r.payloads[string(to)] = f.script(func(ctx sdk.Context, _ types.Delivery) error {
			return f.Bank.SendCoins(ctx, robot, to, f.coins(1))
		})
	}
	return r
}

// watch schedules a timer with conditions on balances.
func (r *conditionRun) watch() *modelConditions {
	w := &modelConditions{
		told: map[string]bool{}, since: r.Height() + 1, look: r.Height() + 1, remaining: rapid.Uint64Range(0, 3).Draw(r.t, "remaining"),
		expiresAt: r.Height() + rapid.Uint64Range(1, 25).Draw(r.t, "ttl"), seq: r.next, cooldown: rapid.SampledFrom([]uint64{0, 0, 1, 2, 5}).Draw(r.t, "cooldown"),
	}
	r.next++
	var keys []types.WatchKey
	for _, account := range r.accounts {
		if len(keys) > 0 && rapid.Bool().Draw(r.t, "one") {
			continue
		}
		c := modelCondition{account: string(account), op: types.ConditionOp(rapid.Int32Range(1, 7).Draw(r.t, "op"))}
		key := r.balanceOf(account)
		key.When = &types.WatchCondition{Op: c.op}
		if c.op > types.ConditionAbsent {
			c.value = rapid.Int64Range(0, 20).Draw(r.t, "value")
			key.When.Value = fmt.Sprint(c.value)
		}
		c.held = c.holds(r.model.balances[c.account])
		keys, w.conditions = append(keys, key), append(w.conditions, c)
	}
	if rapid.IntRange(0, 3).Draw(r.t, "acts") == 0 {
		w.pays = string(rapid.SampledFrom(r.accounts).Draw(r.t, "pays"))
	}
	w.level = w.cooldown > 0 && rapid.Bool().Draw(r.t, "level")
	w.id = r.schedule(robot, 0, r.payloads[w.pays], watching(keys...), times(w.remaining), expiring(w.expiresAt), cooling(w.cooldown), level(w.level))
	r.model.timers = append(r.model.timers, w)
	return w
}

// transfer moves coins, or tries to.
func (r *conditionRun) transfer() {
	from, to := rapid.SampledFrom(r.accounts).Draw(r.t, "from"), rapid.SampledFrom(append(r.accounts, carol)).Draw(r.t, "to")
	amount := rapid.Int64Range(1, 12).Draw(r.t, "amount")
	if rapid.Bool().Draw(r.t, "in") {
		from = alice
	}
	msgs := []sdk.Msg{r.send(from, to, amount)}
	if r.model.balances[string(from)] < amount && !from.Equals(alice) {
		_, _, err := r.Tx(msgs...)
		require.Error(r.t, err)
		return
	}
	if rapid.IntRange(0, 4).Draw(r.t, "fails") == 0 {
		_, _, err := r.Tx(append(msgs, r.send(alice, bob, 2*rich))...)
		require.Error(r.t, err)
		return
	}
	r.run(msgs...)
	r.model.balances[string(from)] -= amount
	r.model.balances[string(to)] += amount
}

// change cancels, updates, extends, pauses or resumes a timer that can still fire.
func (r *conditionRun) change() {
	live := slices.DeleteFunc(slices.Clone(r.model.timers), func(t *modelConditions) bool { return r.Height() > t.expiresAt })
	if len(live) == 0 {
		return
	}
	w := rapid.SampledFrom(live).Draw(r.t, "timer")
	switch rapid.IntRange(0, 4).Draw(r.t, "change") {
	case 0:
		r.run(&types.MsgCancelTimer{Sender: robot.String(), Id: w.id})
		r.model.remove(w)
	case 1:
		r.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: w.id, Spec: types.TimerSpec{GasLimit: rapid.Uint64Range(60_000, gas).Draw(r.t, "gas")}, Fields: []string{"gas_limit"}})
		w.seq = r.next
		r.next++
	case 2:
		if w.paused {
			r.run(&types.MsgResumeTimer{Sender: robot.String(), Id: w.id})
			w.paused, w.since = false, max(w.since, r.Height()+1)
			if w.due == 0 {
				w.look = w.since
			}
			return
		}
		r.run(&types.MsgPauseTimer{Sender: robot.String(), Id: w.id})
		w.paused, w.look = true, 0
	case 3:
		if w.cooldown == 0 {
			return
		}
		trigger := r.timer(robot, w.id).Spec.Trigger
		trigger.Watch.Level = !w.level
		r.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: w.id, Spec: types.TimerSpec{Trigger: trigger}, Fields: []string{"trigger"}})
		w.level = !w.level
		w.seq = r.next
		r.next++
		if w.due == 0 && !w.paused {
			w.since = max(w.since, r.Height()+1)
			w.look = w.since
		}
	default:
		w.expiresAt = max(r.Height()+1, w.due, w.since) + rapid.Uint64Range(0, 9).Draw(r.t, "extension")
		r.run(&types.MsgExtendTimer{Sender: robot.String(), Id: w.id, ExpiresAt: w.expiresAt})
	}
}

func (r *conditionRun) act() {
	switch rapid.IntRange(0, 6).Draw(r.t, "op") {
	case 0, 1:
		r.watch()
	case 2, 3, 4:
		r.transfer()
	case 5:
		r.change()
	default: // nothing
	}
}

// TestConditionsMatchTheModel: while hits are within their bound, the same timers fire in the same blocks and order, with
// the same matched keys, and an export and import in between changes nothing.
//
// Rule: 1.10-several-conditions, 2.2-conditions-placed
func TestConditionsMatchTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Some leave the entries of their keys to later blocks.
		r := newConditionRun(t, func(c *types.TimerConfig) {
			lab.SetOverhead(c, market.RemoveKey, rapid.IntRange(10, 14).Draw(t, "keys"))
		})
		for range rapid.IntRange(1, 25).Draw(t, "blocks") {
			for range rapid.IntRange(0, 5).Draw(t, "ops") {
				r.act()
			}
			want, told := r.model.endBlock()
			events := eventsOf[*types.TimerFired](r.fixture, r.NextBlock())
			var fired []string
			for _, event := range events {
				fired = append(fired, event.Id)
			}
			require.Equal(t, want, fired, "height %d", r.Height()-1)
			for i, event := range events {
				require.True(t, event.Success, "%s/%d", event.Codespace, event.Code)
				require.Len(t, event.Matched, len(told[i]), "height %d", r.Height()-1)
				for _, key := range event.Matched {
					require.True(t, told[i][string(key.Key[2:22])])
				}
			}
			require.EqualValues(t, len(r.model.timers), r.total(robot))
		}
	})
}

// TestEveryConditionIsNotifiedUnderASmallBound: with a bound far too small, every change reaches every timer whose condition
// it made true, and no timer fires for another.
//
// Rule: 1.10-condition-rest
func TestEveryConditionIsNotifiedUnderASmallBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newConditionRun(t, func(c *types.TimerConfig) {
			notifies(c, rapid.IntRange(1, 3).Draw(t, "bound"))
		})
		owing := map[string]bool{}
		settle := func() {
			height := r.model.height
			for _, w := range r.model.collect() {
				owing[w.id] = true
			}
			r.model.height++
			for _, event := range eventsOf[*types.TimerFired](r.fixture, r.NextBlock()) {
				require.True(t, owing[event.Id], "it fires for nothing at height %d", height)
				delete(owing, event.Id)
				at := slices.IndexFunc(r.model.timers, func(w *modelConditions) bool { return w.id == event.Id })
				w := r.model.timers[at]
				require.Equal(t, height-w.due, event.Late, "late from the change on")
				w.due, w.since, w.told = 0, height+1, map[string]bool{}
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "blocks") {
			for range rapid.IntRange(0, 5).Draw(t, "watches") {
				w := &modelConditions{told: map[string]bool{}, since: r.Height() + 1, look: r.Height() + 1, expiresAt: largest}
				c := modelCondition{account: string(r.accounts[0]), op: types.ConditionOp(rapid.Int32Range(3, 7).Draw(t, "op")), value: rapid.Int64Range(0, 20).Draw(t, "value")}
				c.held = c.holds(r.model.balances[c.account])
				key := r.balanceOf(r.accounts[0])
				key.When = &types.WatchCondition{Op: c.op, Value: fmt.Sprint(c.value)}
				w.conditions = []modelCondition{c}
				w.id = r.schedule(rapid.SampledFrom([]sdk.AccAddress{robot, robot2}).Draw(t, "owner"), 0, r.payloads[""], watching(key), times(0))
				r.model.timers = append(r.model.timers, w)
			}
			// What is looked at late is judged by the value of then.
			for slices.ContainsFunc(r.export().Timers, func(t types.Timer) bool { return t.Look }) {
				settle()
			}
			for range rapid.IntRange(0, 2).Draw(t, "transfers") {
				r.transfer()
			}
			settle()
		}
		for range 3*len(r.model.timers) + 8 {
			settle()
		}
		require.Empty(t, owing, "never told")
		require.Empty(t, r.export().WatchSegments)
	})
}
