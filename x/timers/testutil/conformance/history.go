package conformance

import (
	"context"
	"encoding/hex"
	"flag"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// draw is where a history's choices come from: a number from low to high.
type draw func(what string, low, high int) int

// byRapid draws what rapid wants, so that it can shrink a history that fails.
func byRapid(t *rapid.T) draw {
	return func(what string, low, high int) int { return rapid.IntRange(low, high).Draw(t, what) }
}

// bySeed draws the same history for the same seed.
func bySeed(seed uint64) draw {
	n := int(seed) << 32
	return func(_ string, low, high int) int {
		n++
		return rapid.IntRange(low, high).Example(n)
	}
}

func pick[T any](d draw, what string, list ...T) T { return list[d(what, 0, len(list)-1)] }

// deed is one thing that was done to a chain, so that it can be done to another.
type deed struct {
	// msg is a message; refuse sets whether the robot can be charged; otherwise the block ended with that hash.
	msg    sdk.Msg
	refuse *bool
	hash   []byte
}

// history is a chain under timers of all kinds at once. It has no model: what it holds is true of every history.
type history struct {
	*chain
	draw   draw
	opts   func() lab.ChainOptions
	actors []sdk.AccAddress
	ids    []string
	owners map[string]sdk.AccAddress
	// delivered are the names of all deliveries so far.
	delivered map[string]bool
	refused   bool
	deeds     []deed
	// seen counts what came about in all histories.
	seen map[string]int
}

// bounds are so small that a few timers are a backlog.
func bounds(c *types.TimerConfig) {
	c.LaneTimerCycles, c.MaxCyclesPerFire = 300_000, 200_000
	c.CandidateWindow, c.MaxTtlBlocks, c.ReceiptRetentionBlocks, c.FairnessWindowBlocks = 4, 40, 5, 6
	lab.SetRemovals(c, 3)
	lab.SetOverhead(c, market.Admit, 4)
}

func newHistory(t testingT, d draw, seen map[string]int, opts func() lab.ChainOptions) *history {
	h := &history{
		draw: d, opts: opts, actors: []sdk.AccAddress{robot, robot2, poor, pauper},
		owners: map[string]sdk.AccAddress{}, delivered: map[string]bool{}, seen: seen,
	}
	h.chain = start(t, opts())
	timers := h.export().Timers
	for i := range timers {
		h.own(timers[i].IDHex(), timers[i].Actor)
	}
	return h
}

func (h *history) own(id string, owner sdk.AccAddress) {
	h.ids, h.owners[id] = append(h.ids, id), owner
}

// try sends a message, which may be refused.
func (h *history) try(msg sdk.Msg) []*sdk.Result {
	h.deeds = append(h.deeds, deed{msg: msg})
	results, _, _ := h.Tx(msg)
	return results
}

// refuse has the bank refuse to charge the robot, whose timers are quarantined then.
func (c *chain) refuse(on bool) {
	c.Bank.ClearSendRestriction()
	if !on {
		return
	}
	module := authtypes.NewModuleAddress(types.ModuleName)
	c.Bank.AppendSendRestriction(func(_ context.Context, from, to sdk.AccAddress, _ sdk.Coins) (sdk.AccAddress, error) {
		if from.Equals(robot) && to.Equals(module) {
			return to, types.ErrInternal.Wrap("refused")
		}
		return to, nil
	})
}

func dec(text string) math.LegacyDec { return math.LegacyMustNewDecFromStr(text) }

// bids are one of each kind, and some that can't pay.
func bids() []*types.Bid {
	static := func(fee, tip string) *types.Bid {
		return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(dec(fee)), MaxPriorityFeePerCycle: decimal.Of(dec(tip))}}
	}
	return []*types.Bid{
		nil, nil,
		{Price: "0"},
		{Price: "300"},
		{Price: "2000"},
		{Tier: types.TierEconomy},
		{Tier: types.TierUrgent},
		static("0.01", "0.002"), static("0.003", "0.0001"), static("0.0001", "0"),
		{Agent: agent.String()},
	}
}

// maxCharges are none, some about what a fire costs, and one that nothing can be fired for.
var maxCharges = []string{"", "", "0", "5", "700", "800", "900", "3000"}

// conditions are on balances that grow from transfers.
var conditions = []*types.WatchCondition{
	{Op: types.ConditionExists},
	{Op: types.ConditionGreater, Value: "20000"},
	{Op: types.ConditionGreaterOrEqual, Value: "40001"},
	{Op: types.ConditionLess, Value: "1000000000"},
	{Op: types.ConditionEqual, Value: "1"},
}

func (h *history) key(text string) types.WatchKey {
	key, err := h.Watcher.Parse(text)
	require.NoError(h.t, err)
	return key
}

func (h *history) trigger() (trigger types.Trigger, repeat *types.Repeat) {
	due := h.Height() + uint64(h.draw("due", 1, 8))
	remaining := uint64(h.draw("remaining", 0, 4))
	switch h.draw("trigger", 0, 2) {
	case 0:
		trigger.Height = due
	case 1:
		trigger.Interval = &types.IntervalTrigger{
			Every: uint64(h.draw("every", 1, 6)), First: due,
		}
		repeat = &types.Repeat{Remaining: remaining, OnFailure: pick(h.draw, "on failure", types.OnFailureRoll, types.OnFailureStop)}
	default:
		keys := []types.WatchKey{
			h.key("bank:balance:" + bob.String() + ":" + h.FeeDenom), h.key("bank:balances:" + alice.String()),
			h.key("bank:balance:" + carol.String() + ":" + h.FeeDenom),
		}
		for _, i := range []int{0, 2} {
			if h.draw("condition", 0, 1) == 1 {
				keys[i].When = pick(h.draw, "when", conditions...)
			}
		}
		trigger.Watch = &types.WatchTrigger{
			Keys: keys[:h.draw("keys", 1, 3)], Cooldown: pick[uint64](h.draw, "cooldown", 0, 0, 1, 4),
		}
		repeat = &types.Repeat{Remaining: remaining}
	}
	return trigger, repeat
}

func (h *history) schedule() {
	actor := pick(h.draw, "actor", h.actors...)
	trigger, repeat := h.trigger()
	msg := &types.MsgScheduleTimer{
		Sender: actor.String(), Spec: types.TimerSpec{
			Trigger: trigger, Repeat: repeat, GasLimit: uint64(h.draw("gas", 40_000, 210_000)),
			Call:      types.TimerCall{Payload: pick(h.draw, "payload", []byte("noop"), []byte("pays"), make([]byte, 700), []byte("fails"))},
			ExpiresAt: h.Height() + uint64(h.draw("ttl", 1, 40)), Bid: pick(h.draw, "bid", bids()...),
			OnUnfunded: pick(h.draw, "on unfunded", types.OnUnfundedDestroy, types.OnUnfundedSuspend),
			MaxCharge:  pick(h.draw, "max charge", maxCharges...),
		},
	}
	if h.draw("retries", 0, 1) == 1 {
		msg.Spec.Retry = &types.Retry{Max: uint32(h.draw("max", 1, 3)), After: uint64(h.draw("after", 1, 4))}
	}
	if results := h.try(msg); len(results) == 1 {
		response, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
		require.True(h.t, ok)
		h.own(response.Id, actor)
	}
}

// act does one thing.
func (h *history) act() {
	if len(h.ids) == 0 || h.draw("schedules", 0, 2) == 0 {
		h.schedule()
		return
	}
	id := pick(h.draw, "id", h.ids...)
	owner := h.owners[id].String()
	last := h.Height() + uint64(h.draw("last", 1, 40))
	switch h.draw("act", 0, 10) {
	case 0:
		h.try(&types.MsgPauseTimer{Sender: owner, Id: id})
	case 1:
		h.try(&types.MsgResumeTimer{Sender: owner, Id: id})
	case 2:
		h.try(&types.MsgCancelTimer{Sender: owner, Id: id})
	case 3:
		gas, bid := uint64(h.draw("gas", 40_000, 210_000)), pick(h.draw, "bid", bids()...)
		h.try(&types.MsgUpdateTimer{Sender: owner, Id: id, Spec: types.TimerSpec{GasLimit: gas, Bid: bid, MaxCharge: pick(h.draw, "max charge", maxCharges...)}, Fields: []string{"gas_limit", "bid", "max_charge"}})
	case 4:
		h.try(&types.MsgExtendTimer{Sender: owner, Id: id, ExpiresAt: last})
	case 5:
		h.try(&types.MsgSysReleaseTimer{Authority: h.Authority, Actor: owner, Id: id})
	case 6:
		h.try(&types.MsgSysExtendTimer{Authority: h.Authority, Actor: owner, Id: id, ExpiresAt: last})
	case 7:
		h.reconfigure(pick(h.draw, "policy", h.policies()...))
	case 8:
		h.refused = !h.refused
		on := h.refused
		h.deeds = append(h.deeds, deed{refuse: &on})
		h.refuse(on)
	case 9:
		to := pick(h.draw, "to", bob, carol, poor)
		h.try(banktypes.NewMsgSend(alice, to, sdk.NewCoins(sdk.NewInt64Coin(h.FeeDenom, pick[int64](h.draw, "amount", 1, 20_000)))))
	default:
		spent := pick[int64](h.draw, "amount", 1, 15_000, 30_000)
		h.try(banktypes.NewMsgSend(poor, carol, sdk.NewCoins(sdk.NewInt64Coin(h.FeeDenom, spent))))
	}
}

// reconfigure changes the policy, pauses the lane at times, and moves the cap on gas limits.
func (h *history) reconfigure(to types.Policy) {
	config := h.config()
	config.Policy, config.LanePaused = to, h.draw("paused", 0, 5) == 0
	config.MaxCyclesPerFire = pick[uint64](h.draw, "cap", 100_000, 200_000)
	require.Len(h.t, h.try(h.replaces(config)), 1)
}

// goBroke has a timer whose payer has nothing become due under the first policy that removes it. What is drawn shows that in one
// history of ten: the pauper's timer must become due, offer enough, and meet a policy that does not let it wait.
func (h *history) goBroke() {
	config := h.config()
	config.LanePaused = false
	for _, p := range slices.Backward(h.Timers.Engine().Policies.All()) {
		if !p.Traits(&config).DefersUnfunded {
			config.Policy = p.ID()
		}
	}
	require.Len(h.t, h.try(h.replaces(config)), 1)
	h.block()
	msg := &types.MsgScheduleTimer{
		Sender: pauper.String(), Spec: types.TimerSpec{
			Trigger: types.Trigger{Height: h.Height() + 1}, Call: types.TimerCall{Payload: []byte("noop")},
			GasLimit: 40_000, ExpiresAt: h.Height() + 20,
		},
	}
	results := h.try(msg)
	require.Len(h.t, results, 1)
	response, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	require.True(h.t, ok)
	h.own(response.Id, pauper)
	for before := h.seen["unfunded"]; h.seen["unfunded"] == before && h.Height() < msg.Spec.ExpiresAt; {
		h.block()
	}
}

// live are the timers by id.
func (h *history) live() map[string]types.Timer {
	all := map[string]types.Timer{}
	for _, timer := range h.export().Timers {
		all[hex.EncodeToString(timer.Id)] = timer
	}
	return all
}

// kindOf is what makes a timer fire.
func kindOf(t *types.Timer) string {
	switch {
	case t.Spec.Trigger.Interval != nil:
		return "interval"
	case t.Spec.Trigger.Watch != nil:
		return "watch"
	default:
		return "height"
	}
}

// block ends the block, holds what it did to what there was at its end, opens the next one, and returns the events.
func (h *history) block() sdk.Events {
	before, height := h.live(), h.Height()
	if height%4 == 0 {
		h.checkPrices(before)
	}
	events := h.end()
	h.deeds = append(h.deeds, deed{hash: h.AppHash()})
	require.NoError(h.t, h.Check(), "height %d", height)
	after := h.live()
	left := map[string]int{}
	h.checkFires(before, events, left)
	for _, event := range eventsOf[*types.TimerExpired](h.t, events) {
		h.seen["expired"]++
		require.Less(h.t, before[event.Id].ExpiresAt, height, event.Id)
		left[event.Id]++
	}
	for _, event := range eventsOf[*types.TimerCancelledInsufficientFunds](h.t, events) {
		h.seen["unfunded"]++
		left[event.Id]++
	}
	for id, was := range before {
		now, stays := after[id]
		require.Equal(h.t, !stays, left[id] == 1, "%s: stays or leaves in one way", id)
		// What is unrunnable, unfunded or priced out returns by itself.
		returns := was.HoldReason == types.Unrunnable || was.HoldReason == types.Unfunded || was.HoldReason == types.PricedOut
		onHold := was.HoldReason != types.NotOnHold && was.HoldReason != types.Watching && !returns
		if onHold && stays {
			h.seen[was.HoldReason.String()]++
			require.Equal(h.t, was, now, "%s is on hold, and was touched", id)
		}
		delete(after, id)
	}
	require.Empty(h.t, after, "handlers here schedule nothing")
	require.NoError(h.t, h.BeginBlock())
	return events
}

// checkPrices checks that a timer's price follows from what it offers: the rules say the same of all that the contest knows of
// the timer, its weight included.
func (h *history) checkPrices(timers map[string]types.Timer) {
	ctx, next, err := h.Timers.Engine().Preview(h.Ctx())
	require.NoError(h.t, err)
	for id, timer := range timers {
		want, willing := next.Rules.Price(next.Prices, next.Contest.Candidate(ctx, &timer))
		got, same := next.Contest.Price(&timer)
		require.Equal(h.t, willing, same, id)
		require.Equal(h.t, want, got, id)
	}
}

// checkFires holds each fire to its timer as it was, and notes in left which timers left with it.
func (h *history) checkFires(before map[string]types.Timer, events sdk.Events, left map[string]int) {
	height, fired, released := h.Height(), map[string]bool{}, map[string]bool{}
	for _, event := range eventsOf[*types.TimerReleased](h.t, events) {
		released[event.Id] = true
	}
	for _, event := range eventsOf[*types.TimerFired](h.t, events) {
		was, known := before[event.Id]
		require.True(h.t, known, "%s fired and was not there", event.Id)
		require.False(h.t, fired[event.Id], "%s fired twice", event.Id)
		fired[event.Id] = true
		// What was on hold fires in the block that returns it.
		if !released[event.Id] {
			require.Contains(h.t, []types.HoldReason{types.NotOnHold, types.Watching}, was.HoldReason, event.Id)
		}
		if was.HoldReason == types.Watching {
			require.NotEmpty(h.t, event.Matched, "%s: nothing changed", event.Id)
		}
		require.LessOrEqual(h.t, was.Due, height, "%s fired before its time", event.Id)
		require.GreaterOrEqual(h.t, was.ExpiresAt, height, "%s fired after its TTL", event.Id)
		require.Equal(h.t, was.FireSeq, event.FireSeq, event.Id)
		require.False(h.t, h.delivered[event.DeliverId], "delivered twice")
		require.False(h.t, amount(h.t, event.Refunded).IsNegative(), event.Id)
		h.delivered[event.DeliverId] = true
		if was.Spec.MaxCharge != "" {
			h.seen["max charge"]++
			precharge := amount(h.t, event.Paid).Add(amount(h.t, event.Refunded))
			require.LessOrEqual(h.t, precharge.Uint64(), amount(h.t, was.Spec.MaxCharge).Uint64(), event.Id)
		}
		h.seen[kindOf(&was)]++
		if event.Retries > 0 {
			h.seen["retried"]++
		}
		if event.NextDue == 0 {
			left[event.Id]++
		}
	}
}

// replay does the same to another chain, which must come to the same state after each block.
func (h *history) replay() {
	again := start(h.t, h.opts())
	for _, d := range h.deeds {
		switch {
		case d.msg != nil:
			_, _, _ = again.Tx(d.msg)
		case d.refuse != nil:
			again.refuse(*d.refuse)
		default:
			again.end()
			require.Equal(h.t, d.hash, again.AppHash(), "height %d", again.Height())
			require.NoError(h.t, again.BeginBlock())
		}
	}
}

// testHistories runs random histories that begin under the policy. Nothing is lost, fires before its time or twice; what is
// on hold is not touched; the same blocks give the same state; an import continues as the chain that was exported; and when
// all timers are gone, so is what was kept for them.
func (s Subject) testHistories(t *testing.T) {
	seen := map[string]int{}
	opts := func() lab.ChainOptions {
		opts := s.options()
		bounds(&opts.Genesis.Config)
		return opts
	}
	history := func(t *rapid.T) {
		h := newHistory(t, byRapid(t), seen, opts)
		blocks := h.draw("blocks", 3, 15)
		exported := h.draw("exported after", 0, 3*blocks)
		for n := range blocks {
			for range h.draw("acts", 0, 6) {
				h.act()
			}
			h.block()
			if n == exported {
				h.roundTrip(4)
			}
		}
		h.goBroke()
		if h.draw("replayed", 0, 3) == 0 {
			h.replay()
		}
		h.clear()
	}
	checkUntilSeen(t, history, seen,
		"height", "interval", "watch", "retried", "expired", "unfunded", "max charge",
		types.Paused.String(), types.Suspended.String(), types.Quarantined.String(),
	)
	t.Log(seen)
}

// checkUntilSeen draws histories, and more of them while one of the things that they must show was not seen: what is rare may
// need more histories than one draw has.
func checkUntilSeen(t *testing.T, history func(*rapid.T), seen map[string]int, things ...string) {
	rapid.Check(t, history)
	seed := flag.Lookup("rapid.seed").Value
	stated, err := strconv.Atoi(seed.String())
	require.NoError(t, err)
	defer func() { require.NoError(t, seed.Set(strconv.Itoa(stated))) }()
	next := stated
	for _, what := range things {
		for draws := 1; seen[what] == 0; draws++ {
			require.Less(t, draws, 10, "no history shows %s", what)
			if stated != 0 { // with the same seed it would draw the same
				next++
				require.NoError(t, seed.Set(strconv.Itoa(next)))
			}
			rapid.Check(t, history)
		}
	}
}

// clear cancels all timers. Once the windows have passed, nothing may be left of them in state.
func (h *history) clear() {
	h.refuse(false)
	for _, id := range h.ids {
		h.try(&types.MsgCancelTimer{Sender: h.owners[id].String(), Id: id})
	}
	require.Empty(h.t, h.export().Timers)
	for range max(h.config().FairnessWindowBlocks, h.config().ReceiptRetentionBlocks) + 2 {
		h.next()
	}
	entries, err := h.service.OpenKVStore(h.Ctx()).Iterator(nil, nil)
	require.NoError(h.t, err)
	kept := map[byte]bool{}
	for ; entries.Valid(); entries.Next() {
		kept[entries.Key()[0]] = true
	}
	require.NoError(h.t, entries.Close())
	for _, prefix := range [][]byte{
		types.PrefixConfig.Bytes(), types.PrefixSeq.Bytes(), types.PrefixLane.Bytes(), types.PrefixWatchCursors.Bytes(),
		// Log-structured maps keep the logs of what they forgot until these are merged. Policies without a ready index do not
		// merge what others left of one.
		types.PrefixOwners.Bytes(), types.PrefixRecents.Bytes(), types.PrefixReady.Bytes(),
		// Bounds of lists that were emptied stay until the lists are opened.
		types.PrefixBounds.Bytes(),
	} {
		delete(kept, prefix[0])
	}
	// A guest keeps what it knows of an actor for a time of its own.
	maps.DeleteFunc(kept, func(prefix byte, _ bool) bool { return prefix >= types.FirstPolicyPrefix })
	require.Empty(h.t, kept, "regions of state that are not empty")
	require.NoError(h.t, h.Check(), "what is kept is of no timer")
}
