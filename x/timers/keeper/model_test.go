package keeper_test

import (
	"cmp"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// model is a naive second implementation of the lane by x/timers/README.md, "3. Messages", "5. End Block" and "1.7
// Policy": one slice of timers, read whole for every operation. It has no index, no cursors, no pages and no
// windows.
type model struct {
	height   uint64
	nextSeq  uint64
	config   types.TimerConfig
	next     *types.TimerConfig
	timers   []*modelTimer
	balances map[string]int64
}

type modelTimer struct {
	id, actor, payload  string
	due, seq, gas, last uint64
	// since it is due, where its place in the queue is a later one.
	since  uint64
	onHold bool
	modelRecurrence
}

// modelBlock is what a block did, in order.
type modelBlock struct {
	fired                              []modelFire
	expired, unfunded, onHold, release []string
}

type modelFire struct {
	id      string
	success bool
	paid    int64
	modelNext
}

// handlers of the model, by payload: how many cycles each uses and whether it fails afterwards.
var modelHandlers = map[string]struct {
	cycles uint64
	fails  bool
}{
	"idle": {0, false}, "works": {30_000, false}, "toils": {70_000, false}, "fails": {10_000, true}, "respawns": {5_000, false},
	// What these do to their own timers is undone if they fail.
	"cancels itself": {1_000, false}, "pauses itself": {1_000, false}, "updates itself": {1_000, false},
	"cancels itself and fails": {1_000, true}, "pauses itself and fails": {1_000, true}, "updates itself and fails": {1_000, true},
}

const removalsPerBlock = 2

func (m *model) find(actor sdk.AccAddress, id string) *modelTimer {
	for _, timer := range m.timers {
		if timer.id == id && timer.actor == string(actor) {
			return timer
		}
	}
	return nil
}

func (m *model) owned(actor string) (n uint32) {
	for _, timer := range m.timers {
		if timer.actor == actor {
			n++
		}
	}
	return n
}

// live returns the timer, or the error that a message about it gets.
func (m *model) live(actor sdk.AccAddress, id string) (*modelTimer, error) {
	timer := m.find(actor, id)
	switch {
	case timer == nil:
		return nil, types.ErrTimerNotFound
	case m.height > timer.last:
		return nil, types.ErrTimerExpired
	default:
		return timer, nil
	}
}

func (m *model) gasAllowed(gasLimit uint64) error {
	if gasLimit < m.config.MinGasLimit || gasLimit > m.config.MaxCyclesPerFire {
		return types.ErrGasLimitOutOfBounds
	}
	return nil
}

// schedule predicts what scheduling does; the id is filled in by who knows it.
func (m *model) schedule(actor sdk.AccAddress, payload string, due, last, gasLimit uint64) (*modelTimer, error) {
	longest := m.height + m.config.MaxTtlBlocks
	if last == 0 {
		last = longest
	}
	switch {
	case due <= m.height:
		return nil, types.ErrHeightNotInFuture
	case due > longest || last > longest:
		return nil, types.ErrTTLTooLong
	case last < due:
		return nil, types.ErrExpiresTooSoon
	case m.gasAllowed(gasLimit) != nil:
		return nil, types.ErrGasLimitOutOfBounds
	case m.owned(string(actor)) >= m.config.MaxTimersPerActor:
		return nil, types.ErrTooManyTimers
	}
	timer := &modelTimer{actor: string(actor), payload: payload, due: due, seq: m.nextSeq, gas: gasLimit, last: last}
	m.nextSeq++
	m.timers = append(m.timers, timer)
	return timer, nil
}

func (m *model) update(actor sdk.AccAddress, id string, gasLimit uint64) error {
	timer, err := m.live(actor, id)
	if err != nil {
		return err
	}
	if err := m.gasAllowed(gasLimit); err != nil {
		return err
	}
	if timer.gas == gasLimit {
		return nil
	}
	timer.gas, timer.seq = gasLimit, m.nextSeq
	m.nextSeq++
	if timer.reason == types.Unfunded || timer.reason == types.Unrunnable {
		timer.onHold, timer.reason = false, types.NotOnHold
	}
	if !timer.onHold && timer.due < m.height {
		timer.placeAt(m.height + 1)
	}
	return nil
}

// dueSince is when it became due.
func (t *modelTimer) dueSince() uint64 {
	if t.since > 0 {
		return t.since
	}
	return t.due
}

// placeAt gives it a later place in the queue.
func (t *modelTimer) placeAt(due uint64) {
	if due > t.due {
		t.since, t.due = t.dueSince(), due
	}
}

func (m *model) extend(actor sdk.AccAddress, id string, last uint64) error {
	timer, err := m.live(actor, id)
	if err != nil {
		return err
	}
	last = min(last, m.height+m.config.MaxTtlBlocks)
	if last <= m.height || last < timer.due {
		return types.ErrExpiresTooSoon
	}
	timer.last = last
	return nil
}

func (m *model) cancel(actor sdk.AccAddress, id string) error {
	timer := m.find(actor, id)
	if timer == nil {
		return types.ErrTimerNotFound
	}
	m.remove(timer)
	return nil
}

func (m *model) remove(timer *modelTimer) {
	m.timers = slices.DeleteFunc(m.timers, func(other *modelTimer) bool { return other == timer })
}

// inOrder returns the timers that fit: those of the queue by (due, seq), then those on hold by seq.
func (m *model) inOrder(fits func(*modelTimer) bool) []*modelTimer {
	var found []*modelTimer
	for _, timer := range m.timers {
		if fits(timer) {
			found = append(found, timer)
		}
	}
	slices.SortFunc(found, func(a, b *modelTimer) int {
		switch {
		case a.onHold != b.onHold && a.onHold:
			return 1
		case a.onHold != b.onHold:
			return -1
		case a.onHold:
			return cmp.Compare(a.seq, b.seq)
		default:
			return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
		}
	})
	return found
}

func (m *model) beginBlock() {
	m.height++
	if m.next != nil {
		m.config, m.next = *m.next, nil
	}
}

func (m *model) endBlock() (b modelBlock) {
	runnable := func(t *modelTimer) bool { return t.gas > market.FireBaseCycles && t.gas <= m.config.MaxCyclesPerFire }
	expired := m.inOrder(func(t *modelTimer) bool { return m.height > t.last && (t.onHold || t.due <= m.height) })
	for _, timer := range m.inOrder(func(t *modelTimer) bool { return t.reason == types.Unrunnable && m.height <= t.last && runnable(t) }) {
		m.release(timer, m.height)
		b.release = append(b.release, timer.id)
	}
	unfunded := m.sweepUnfunded(&b)
	removals := removalsPerBlock
	for _, timer := range m.inOrder(func(t *modelTimer) bool { return slices.Contains(expired, t) || slices.Contains(unfunded, t) }) {
		if removals == 0 {
			break
		}
		removals--
		if slices.Contains(unfunded, timer) {
			m.starve(timer, &b)
			continue
		}
		m.remove(timer)
		b.expired = append(b.expired, timer.id)
	}
	ready := m.inOrder(func(t *modelTimer) bool { return !t.onHold && t.due <= m.height && m.height <= t.last })
	for _, timer := range ready {
		if !runnable(timer) {
			m.putOnHold(timer, types.Unrunnable)
			b.onHold = append(b.onHold, timer.id)
		}
	}
	slices.SortFunc(ready, func(a, b *modelTimer) int {
		return cmp.Or(cmp.Compare(a.dueSince(), b.dueSince()), cmp.Compare(a.seq, b.seq))
	})
	if !m.config.LanePaused {
		m.fill(ready, removals, &b)
	}
	return b
}

// sweepUnfunded returns to the queue what was on hold for lack of funds and can be paid now, one after the other as far
// as its payer's funds go. It returns what can't be paid at all.
func (m *model) sweepUnfunded(b *modelBlock) (unfunded []*modelTimer) {
	promised := map[string]int64{}
	price := m.config.CycleBasefee.TruncateInt64()
	for _, timer := range m.inOrder(func(t *modelTimer) bool {
		return t.reason == types.Unfunded && m.height <= t.last && !m.config.LanePaused
	}) {
		cost, has := int64(timer.gas)*price, m.balances[timer.actor]
		switch {
		case promised[timer.actor]+cost <= has:
			promised[timer.actor] += cost
			m.release(timer, m.height)
			b.release = append(b.release, timer.id)
		case cost > has:
			unfunded = append(unfunded, timer)
		}
	}
	return unfunded
}

// fill fires what fits, in order.
func (m *model) fill(ready []*modelTimer, removals int, b *modelBlock) {
	lane := uint64(0)
	fires := map[string]uint32{}
	price := m.config.CycleBasefee.TruncateInt64()
	for _, timer := range ready {
		switch {
		case timer.onHold:
			continue
		case lane+timer.gas > m.config.LaneTimerCycles:
			continue
		case m.config.MaxFiresPerBlock > 0 && len(b.fired) >= int(m.config.MaxFiresPerBlock):
			continue
		case m.config.MaxFiresPerActor > 0 && fires[timer.actor] >= m.config.MaxFiresPerActor:
			continue
		case m.balances[timer.actor] < int64(timer.gas)*price:
			if removals > 0 {
				removals--
				m.starve(timer, b)
				continue
			}
			m.putOnHold(timer, types.Unfunded)
			b.onHold = append(b.onHold, timer.id)
			continue
		}
		handler := modelHandlers[timer.payload]
		cycles := market.FireWork{PayloadBytes: uint64(len(timer.payload))}.Cycles() + handler.cycles
		used := min(timer.gas, cycles)
		success := !handler.fails && cycles <= timer.gas
		paid := int64(used) * price
		m.balances[timer.actor] -= paid
		lane += used
		fires[timer.actor]++
		next := m.rollOrRetry(timer, modelOutcome{success, m.height, used, paid})
		b.fired = append(b.fired, modelFire{timer.id, success, paid, next})
		if success && timer.payload == "respawns" {
			// Its id is learned from the chain.
			m.respawn(timer)
		}
	}
}

// respawn is what the handler of that name does: it schedules another for two blocks later.
func (m *model) respawn(timer *modelTimer) {
	_, _ = m.schedule(sdk.AccAddress(timer.actor), "idle", m.height+2, 0, 40_000)
}
