package keeper_test

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	corestore "cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/lab"
	"github.com/cosmos-timers/timers/x/timers/policy/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// mix is a chain under timers of all kinds at once. It has no model: what it holds is true of every history.
type mix struct {
	*fixture
	t        *rapid.T
	service  corestore.KVStoreService
	actors   []sdk.AccAddress
	payloads [][]byte
	ids      []string
	owners   map[string]sdk.AccAddress
	// delivered are the names of all deliveries so far.
	delivered map[string]bool
	faulty    bool
	// seen counts what came about in all histories.
	seen map[string]int
}

func newMix(t *rapid.T, seen map[string]int) *mix {
	m := &mix{t: t, owners: map[string]sdk.AccAddress{}, delivered: map[string]bool{}, seen: seen}
	m.fixture = newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.LaneTimerCycles, c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 300_000, 200_000, 200_000
		c.MaxWatchHitsPerBlock, c.CandidateWindow, c.AdmissionsPerBlock, c.SweepPerBlock = 3, 4, 4, 4
		c.GcCyclesPerBlock, c.MaxTtlBlocks, c.ReceiptRetentionBlocks, c.FairnessWindowBlocks, c.Tip.EpochBlocks = 30_000, 40, 5, 6, 1
	}), func(opts *lab.ChainOptions) {
		opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService { m.service = s; return s }
	})
	m.actors = []sdk.AccAddress{robot, robot2, sdk.AccAddress("robot_and_poor______")}
	m.fund(m.actors[2], 40_000)
	pays := func(ctx sdk.Context, d types.Delivery) error { return m.Bank.SendCoins(ctx, d.Actor, bob, m.coins(1)) }
	m.payloads = [][]byte{
		m.noop(), m.script(pays), make([]byte, 700),
		m.script(func(ctx sdk.Context, d types.Delivery) error { return errors.Join(pays(ctx, d), errors.New("fails")) }),
	}
	return m
}

func (m *mix) actor() sdk.AccAddress { return rapid.SampledFrom(m.actors).Draw(m.t, "actor") }

// any tries a message, which may be refused.
func (m *mix) any(msg sdk.Msg) (results []*sdk.Result) {
	results, _, _ = m.Tx(msg)
	return results
}

func (m *mix) scheduleAny() {
	now, actor := m.Height(), m.actor()
	msg := scheduleMsg(actor, 0, rapid.SampledFrom(m.payloads).Draw(m.t, "payload"), limited(rapid.Uint64Range(40_000, 210_000).Draw(m.t, "gas")),
		expiring(now+rapid.Uint64Range(1, 40).Draw(m.t, "ttl")))
	due := now + rapid.Uint64Range(1, 8).Draw(m.t, "due")
	remaining := rapid.Uint64Range(0, 4).Draw(m.t, "remaining")
	switch rapid.IntRange(0, 2).Draw(m.t, "trigger") {
	case 0:
		msg.Trigger.Height = due
	case 1:
		msg.Trigger.Interval = &types.IntervalTrigger{
			Every: rapid.Uint64Range(1, 6).Draw(m.t, "every"), First: due, Remaining: remaining,
			OnFailure: types.OnFailure(rapid.IntRange(1, 2).Draw(m.t, "on failure")),
		}
	default:
		keys := []types.WatchKey{m.balanceOf(bob), m.key("bank:balances:" + alice.String()), m.balanceOf(carol)}
		msg.Trigger.Watch = &types.WatchTrigger{Keys: keys[:rapid.IntRange(1, 3).Draw(m.t, "keys")], Remaining: remaining}
	}
	if rapid.Bool().Draw(m.t, "retries") {
		msg.Retry = &types.Retry{Max: rapid.Uint32Range(1, 3).Draw(m.t, "max"), After: rapid.Uint64Range(1, 4).Draw(m.t, "after")}
	}
	msg.Bid = rapid.SampledFrom([]*types.Bid{
		nil, nil, price("0"), price("300"), price("2000"),
		{Tier: types.TierFast},
		{Static: &types.StaticBid{MaxFeePerCycle: dec("0.01"), MaxPriorityFeePerCycle: dec("0.002")}},
	}).Draw(m.t, "bid")
	if rapid.Bool().Draw(m.t, "suspends") {
		msg.OnUnfunded = types.OnUnfundedSuspend
	}
	if results := m.any(msg); len(results) == 1 {
		response, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
		require.True(m.t, ok)
		m.ids, m.owners[response.Id] = append(m.ids, response.Id), actor
	}
}

func (m *mix) op() {
	if len(m.ids) == 0 || rapid.IntRange(0, 2).Draw(m.t, "schedules") == 0 {
		m.scheduleAny()
		return
	}
	id := rapid.SampledFrom(m.ids).Draw(m.t, "id")
	owner := m.owners[id].String()
	last := m.Height() + rapid.Uint64Range(1, 40).Draw(m.t, "last")
	switch rapid.IntRange(0, 10).Draw(m.t, "op") {
	case 0:
		m.any(&types.MsgPauseTimer{Sender: owner, Id: id})
	case 1:
		m.any(&types.MsgResumeTimer{Sender: owner, Id: id})
	case 2:
		m.any(&types.MsgCancelTimer{Sender: owner, Id: id})
	case 3:
		m.any(&types.MsgUpdateTimer{Sender: owner, Id: id, GasLimit: rapid.Uint64Range(40_000, 210_000).Draw(m.t, "gas")})
	case 4:
		m.any(&types.MsgExtendTimer{Sender: owner, Id: id, ExpiresAt: last})
	case 5:
		m.any(&types.MsgSysReleaseTimer{Authority: m.Authority, Actor: owner, Id: id})
	case 6:
		m.any(&types.MsgSysExtendTimer{Authority: m.Authority, Actor: owner, Id: id, ExpiresAt: last})
	case 7:
		m.setConfig(func(c *types.TimerConfig) {
			c.Policy = rapid.SampledFrom([]types.Policy{types.PolicyFIFO, types.PolicyEIP1559, types.PolicyAuction, types.PolicyScore, types.PolicyTip}).Draw(m.t, "policy")
			c.LanePaused = rapid.IntRange(0, 5).Draw(m.t, "paused") == 0
			c.MaxCyclesPerFire = rapid.SampledFrom([]uint64{100_000, 200_000}).Draw(m.t, "cap")
			c.Eip1559.MaxCyclesPerFireAuction = c.MaxCyclesPerFire
		})
	case 8:
		m.Bank.ClearSendRestriction()
		if m.faulty = !m.faulty; m.faulty {
			m.quarantine()
		}
	case 9:
		to := rapid.SampledFrom([]sdk.AccAddress{bob, carol, m.actors[2]}).Draw(m.t, "to")
		m.any(banktypes.NewMsgSend(alice, to, m.coins(rapid.SampledFrom([]int64{1, 20_000}).Draw(m.t, "amount"))))
	default:
		m.any(banktypes.NewMsgSend(m.actors[2], carol, m.coins(rapid.SampledFrom([]int64{1, 15_000, 30_000}).Draw(m.t, "amount"))))
	}
}

// live are the timers by id.
func (m *mix) live() map[string]types.Timer {
	all := map[string]types.Timer{}
	for _, timer := range m.export().Timers {
		all[hex.EncodeToString(timer.Id)] = timer
	}
	return all
}

// kindOf is what makes a timer fire.
func kindOf(t *types.Timer) string {
	switch {
	case t.Trigger.Interval != nil:
		return "interval"
	case t.Trigger.Watch != nil:
		return "watch"
	default:
		return "height"
	}
}

// block ends the block and holds what it did to what there was at its end.
func (m *mix) block() {
	before, height := m.live(), m.Height()
	events := m.NextBlock() // which checks the invariants, and that no money is lost
	after := m.live()
	left := map[string]int{}
	fired := map[string]bool{}
	for _, event := range eventsOf[*types.TimerFired](m.fixture, events) {
		was, known := before[event.Id]
		require.True(m.t, known, "%s fired and was not there", event.Id)
		require.False(m.t, fired[event.Id], "%s fired twice", event.Id)
		fired[event.Id] = true
		require.Contains(m.t, []types.SetAsideReason{types.NotSetAside, types.Watching}, was.SetAside, event.Id)
		if was.SetAside == types.Watching {
			require.NotEmpty(m.t, event.Matched, "%s: nothing changed", event.Id)
		}
		require.LessOrEqual(m.t, was.Due, height, "%s fired before its time", event.Id)
		require.GreaterOrEqual(m.t, was.ExpiresAt, height, "%s fired after its TTL", event.Id)
		require.Equal(m.t, was.FireSeq, event.FireSeq, event.Id)
		require.False(m.t, m.delivered[event.DeliverId], "delivered twice")
		m.delivered[event.DeliverId] = true
		m.seen[kindOf(&was)]++
		if event.Retries > 0 {
			m.seen["retried"]++
		}
		if event.NextDue == 0 {
			left[event.Id]++
		}
	}
	for _, event := range eventsOf[*types.TimerExpired](m.fixture, events) {
		m.seen["expired"]++
		require.Less(m.t, before[event.Id].ExpiresAt, height, event.Id)
		left[event.Id]++
	}
	for _, event := range eventsOf[*types.TimerCancelledInsufficientFunds](m.fixture, events) {
		m.seen["unfunded"]++
		left[event.Id]++
	}
	for id, was := range before {
		now, stays := after[id]
		require.Equal(m.t, !stays, left[id] == 1, "%s: stays or leaves in one way", id)
		aside := was.SetAside != types.NotSetAside && was.SetAside != types.Watching && was.SetAside != types.Unrunnable
		if aside && stays {
			m.seen[was.SetAside.String()]++
			require.Equal(m.t, was, now, "%s is set aside, and was touched", id)
		}
		delete(after, id)
	}
	require.Empty(m.t, after, "handlers here schedule nothing")
}

// TestAllKindsAtOnce: under any history, nothing is lost, fires before its time or twice, and what is set aside is not
// touched; and when all timers are gone, so is what was kept for them.
func TestAllKindsAtOnce(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		m := newMix(t, seen)
		for range rapid.IntRange(3, 25).Draw(t, "blocks") {
			for range rapid.IntRange(0, 6).Draw(t, "ops") {
				m.op()
			}
			m.block()
		}
		m.Bank.ClearSendRestriction()
		m.setConfig(func(c *types.TimerConfig) { c.Policy, c.LanePaused = types.PolicyFIFO, false })
		for _, id := range m.ids {
			m.any(&types.MsgCancelTimer{Sender: m.owners[id].String(), Id: id})
		}
		// Weights of policy tip are the last to be forgotten.
		for range tip.ForgottenAfter + 6 {
			m.block()
		}
		entries, err := m.service.OpenKVStore(m.Ctx()).Iterator(nil, nil)
		require.NoError(t, err)
		kept := map[byte]bool{}
		for ; entries.Valid(); entries.Next() {
			kept[entries.Key()[0]] = true
		}
		require.NoError(t, entries.Close())
		for _, prefix := range [][]byte{
			types.PrefixConfig.Bytes(), types.PrefixSeq.Bytes(), types.PrefixLane.Bytes(), types.PrefixWatchCursors.Bytes(),
		} {
			delete(kept, prefix[0])
		}
		require.Empty(t, kept, "regions of state that are not empty")
	})
	for _, what := range []string{
		"height", "interval", "watch", "retried", "expired", "unfunded",
		types.Paused.String(), types.Suspended.String(), types.Quarantined.String(),
	} {
		require.Positive(t, seen[what], "no history shows %s", what)
	}
	t.Log(seen)
}
