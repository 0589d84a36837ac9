package genesis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The largest number of cycles, and the largest distance in blocks.
const (
	maxUnits  = uint64(1) << 50
	maxBlocks = uint64(1) << 40
)

func staticBid(maxFee, maxPriority math.LegacyDec) *types.Bid {
	return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(maxFee), MaxPriorityFeePerCycle: decimal.Of(maxPriority)}}
}

// testTimer is a timer in the queue, as a genesis file has it.
func testTimer(due, seq uint64) types.Timer {
	actor := bytes.Repeat([]byte{byte(seq)}, 20)
	return types.Timer{
		Id: types.TimerID(actor, due, nil, seq), Actor: actor, GasLimit: 40_000,
		ExpiresAt: due + 100, ScheduleHeight: 1, Seq: seq, Due: due,
		Spec: types.TimerSpec{Trigger: types.Trigger{Height: due}},
	}
}

// testWatchTimer is one that watches a balance.
func testWatchTimer(due, seq uint64) types.Timer {
	timer := testTimer(due, seq)
	timer.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{
		Keys: []types.WatchKey{{Store: "bank", Prefix: append([]byte{2, 20}, timer.Actor...)}},
	}}
	timer.Spec.Repeat = &types.Repeat{Remaining: 3}
	return timer
}

// fullGenesis sets every field that a genesis state can have.
func fullGenesis() *types.GenesisState {
	g := types.NewGenesis("stake")
	next := types.DefaultTimerConfig("stake")
	next.DeniedMessages = []string{"/cosmos.authz.v1beta1.MsgExec"}
	g.NextConfig = &next
	g.NextSeq = 10
	full := testTimer(7, 2)
	full.FeePayer = bytes.Repeat([]byte{9}, 32)
	full.Spec.FeePayer = "payer"
	full.Spec.Call.Handler, full.Spec.Call.Payload, full.FireSeq = `<tick> & "\{[,:]}`, []byte{1, 2, 3}, 3
	full.UnfundedSince = 1
	full.Spec.Bid = staticBid(math.LegacyOneDec(), math.LegacySmallestDec())
	tier, onHold, unrunnable := testTimer(8, 3), testTimer(2, 4), testTimer(9, 5)
	tier.Spec.Bid = &types.Bid{Tier: types.TierFast}
	onHold.HoldReason, unrunnable.HoldReason = types.Quarantined, types.Unrunnable
	hit, waiting := testWatchTimer(7, 6), testWatchTimer(7, 7)
	waiting.HoldReason = types.Watching
	conditional := types.WatchKey{Store: "bank", Prefix: []byte{9, 9}, When: &types.WatchCondition{Op: types.ConditionLess, Value: "100"}}
	waiting.Spec.Trigger.Watch = &types.WatchTrigger{Keys: append(waiting.Spec.Trigger.Watch.Keys, conditional), Cooldown: 3}
	g.Timers = []types.Timer{testTimer(6, 1), full, tier, hit, onHold, unrunnable, waiting}
	key := waiting.Spec.Trigger.Watch.Keys[0]
	matched := types.WatchedKey{Store: key.Store, Key: key.Prefix}
	g.WatchHits = []types.SeqWatchHit{{Seq: 6, Hit: types.WatchHit{Since: 2, Matched: []types.WatchedKey{matched}}}}
	change := types.WatchChange{Key: key.Prefix, Height: 5}
	g.WatchPending = []types.KeyWatchPending{{Key: key, Pending: types.WatchPending{
		Round: types.WatchRound{Since: 4, Height: 5, FromOwner: waiting.Actor, Changes: []types.WatchChange{change}},
		Next:  &types.WatchRound{Since: 6, Height: 6},
	}}}
	g.WatchRounds = []types.KeyWatchPending{{Owner: waiting.Actor, Key: key, Pending: types.WatchPending{
		Round: types.WatchRound{Since: 5, Height: 5, From: 7, Changes: []types.WatchChange{change}}, Next: &types.WatchRound{Since: 6, Height: 6},
	}}}
	g.WatchCursors = types.WatchCursors{Turn: key, Owner: waiting.Actor}
	another := types.WatchKey{Store: "bank", Prefix: conditional.Prefix, When: &types.WatchCondition{Op: types.ConditionExists}}
	g.WatchTombstones = []types.WatchTombstone{{Seq: 9, Owner: waiting.Actor, Since: 3, Waited: true, Keys: []types.WatchKey{key, another}}}
	g.WatchCursors.TombstonesLeft = true
	conditional.When = nil
	g.WatchValues = []types.KeyWatchValue{{Key: conditional, Value: types.WatchValue{Exists: true, Number: "12.5", Bytes: []byte("12.5")}}}
	g.WatchSegments = []types.KeyWatchSegment{
		{Key: conditional, Height: 5, Segment: types.WatchSegment{From: []byte{4, 2, 1}, To: []byte{5}}},
		{Key: conditional, Height: 5, Segment: types.WatchSegment{From: []byte{5, 2, 1}, To: []byte{5, 2, 2}}},
		{Key: conditional, Height: 6, Segment: types.WatchSegment{From: []byte{4, 2, 1}, To: []byte{4, 3}}},
	}
	g.WatchChanged = []types.WatchKey{conditional}
	g.WatchCounts = []types.KeyWatchCount{{Key: key, Owner: waiting.Actor, Served: 3}}
	below := types.WatchChange{Key: append(bytes.Clone(key.Prefix), 1), Height: 5}
	g.WatchNotes = []types.KeyWatchNote{
		{Key: key, Served: 2, Note: types.WatchNote{Since: 3, Height: 3, Itself: 3}},
		{Key: key, Owner: waiting.Actor, Served: 3, Note: types.WatchNote{Since: 4, Height: 6, Keys: 1}, Changes: []types.WatchChange{below}},
	}
	g.WatchCursors.Condition, g.WatchCursors.ConditionsLeft = conditional, true
	basefee := math.LegacyNewDecWithPrec(2, 3)
	g.Ready = []types.ReadyEntry{
		{Due: 6, Seq: 1, List: 32 << 16, Price: math.LegacyZeroDec(), Other: math.LegacyZeroDec()},
		{Due: 6, Seq: 8, List: 1 << 31, Price: math.LegacyNewDec(1 << 60), Other: math.LegacyZeroDec()},
	}
	g.Lane = types.LaneState{
		Cycles: 1, Cells: 2, HeadCursor: types.QueueKey{Due: 6, Seq: 1}, LiveCursor: types.QueueKey{Due: 6, Seq: 1},
		SweepCursor: types.QueueKey{Due: 7}, HoldCursor: types.QueueKey{Due: 4}, ReceiptsFrom: 1, Burned: math.NewInt(5), LaneBurned: math.NewInt(2), Tips: math.NewInt(6),
		LaneBasefee: &basefee, P50: math.LegacySmallestDec(), MarketSince: 2,
		AdmitCursor: types.QueueKey{Due: 6, Seq: 1},
		Fairness:    types.FairnessState{From: 1, Units: 2, Median: 1, Below: 0, Smoothed: math.LegacyOneDec()},
	}
	g.Fairness = []types.HeightFires{
		{Height: 1, Unit: full.Actor, Fires: 2}, {Height: 3, Unit: tier.Actor, Fires: 1}, {Height: 3, Unit: full.FeePayer, Fires: 1},
	}
	receipt := types.Receipt{
		TimerId: full.Id, DeliverId: full.Id, Actor: full.Actor, Codespace: "sdk", Code: 5, Cycles: 1, Cells: 1,
		Paid: math.NewInt(9), Tip: math.ZeroInt(), Matched: []types.WatchedKey{matched},
	}
	addGuests(g, full.Actor)
	g.Receipts = []types.HeightReceipts{{Height: 1, Receipts: []types.Receipt{receipt, receipt}}, {Height: 3, Receipts: []types.Receipt{receipt}}}
	return g
}

func TestGenesisThatIsValid(t *testing.T) {
	require.NoError(t, genesis.Validate(types.DefaultGenesis()))
	require.NoError(t, genesis.Validate(types.NewGenesis("other")))
	require.NoError(t, genesis.Validate(fullGenesis()))

	g := fullGenesis()
	g.Config.MaxPayloadBytes, g.Config.MinGasLimit, g.NextConfig = 1, 200_000, nil
	require.NoError(t, genesis.Validate(g), "what was scheduled under another config lives on")
}

func twice(t *types.Timer) {
	t.Spec.Trigger.Watch.Keys = append(t.Spec.Trigger.Watch.Keys, t.Spec.Trigger.Watch.Keys[0])
}

// timed is a timer of a calendar, ready since its time.
func timed(t types.Timer) types.Timer {
	t.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 60, Anchor: 1}}}
	t.DueTime, t.ExpiresAt, t.ExpiresTime, t.Recurrence = 61, 0, 1_000, &types.Recurrence{After: 1}
	return t
}

func TestGenesisRefusesEveryContradiction(t *testing.T) {
	timer := func(change func(*types.Timer)) func(*types.GenesisState) {
		return func(g *types.GenesisState) { change(&g.Timers[1]) }
	}
	repeating := func(change func(*types.TimerSpec)) func(*types.GenesisState) {
		return timer(func(t *types.Timer) {
			t.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}
			change(&t.Spec)
		})
	}
	for name, c := range map[string]struct {
		change func(*types.GenesisState)
		want   string
	}{
		"an invalid config":        {func(g *types.GenesisState) { g.Config.OverheadCyclesPerBlock = 0 }, "overhead_cycles_per_block"},
		"an invalid next config":   {func(g *types.GenesisState) { g.NextConfig.OverheadCyclesPerBlock = 0 }, "overhead_cycles_per_block"},
		"another fee denom":        {func(g *types.GenesisState) { g.NextConfig.FeeDenom = "other" }, "fee_denom is fixed"},
		"no next seq":              {func(g *types.GenesisState) { g.NextSeq = 0 }, "next_seq is 0"},
		"no burned":                {func(g *types.GenesisState) { g.Lane.Burned = math.Int{} }, "lane.burned"},
		"negative burned":          {func(g *types.GenesisState) { g.Lane.Burned = math.NewInt(-1) }, "lane.burned"},
		"no tips":                  {func(g *types.GenesisState) { g.Lane.Tips = math.Int{} }, "lane.tips"},
		"negative tips":            {func(g *types.GenesisState) { g.Lane.Tips = math.NewInt(-1) }, "lane.tips"},
		"a seq to come":            {func(g *types.GenesisState) { g.NextSeq, g.WatchTombstones, g.Ready = 7, nil, nil }, "timer 6: seq 7 is not below next_seq 7"},
		"a timer before the head":  {func(g *types.GenesisState) { g.Lane.HeadCursor.Seq = 2 }, "timer 0 is before the head"},
		"a seq twice":              {func(g *types.GenesisState) { g.Timers[2].Seq = 2 }, "timer 2: seq 2 stands twice"},
		"a seq twice, one on hold": {func(g *types.GenesisState) { g.Timers[4].Seq = 2 }, "timer 4: seq 2 stands twice"},
		"an id twice":              {func(g *types.GenesisState) { g.Timers[2].Id = g.Timers[1].Id }, "stands twice"},
		"no id":                    {timer(func(t *types.Timer) { t.Id = nil }), "timer 1: 0 bytes, want 32"},
		"a short id":               {timer(func(t *types.Timer) { t.Id = t.Id[:31] }), "timer 1: 31 bytes, want 32"},
		"no seq":                   {timer(func(t *types.Timer) { t.Seq = 0 }), "must not be 0"},
		"never due":                {timer(func(t *types.Timer) { t.Due = 0 }), "must not be 0"},
		"a payload apart":          {timer(func(t *types.Timer) { t.PayloadSeq = 2 }), "payload_seq must be 0"},
		"too long a payload":       {timer(func(t *types.Timer) { t.Spec.Call.Payload = make([]byte, 1<<20+1) }), "payload too long"},
		"too long a handler":       {timer(func(t *types.Timer) { t.Spec.Call.Handler = strings.Repeat("h", 257) }), "handler name too long"},
		"no gas limit":             {timer(func(t *types.Timer) { t.GasLimit = 0 }), "gas limit out of bounds"},
		"too much gas":             {timer(func(t *types.Timer) { t.GasLimit = maxUnits + 1 }), "gas limit out of bounds"},
		"no trigger":               {timer(func(t *types.Timer) { t.Spec.Trigger = types.Trigger{} }), "want a height, after, an interval, a time, a calendar or a watch"},
		"two triggers":             {timer(func(t *types.Timer) { t.Spec.Trigger.Interval = &types.IntervalTrigger{Every: 1} }), "2 triggers are stated: state one"},
		"an endless interval":      {repeating(func(s *types.TimerSpec) { s.Trigger.Interval.Every = 0 }), "every is 0, want 1 to "},
		"too long an interval":     {repeating(func(s *types.TimerSpec) { s.Trigger.Interval.Every = maxBlocks + 1 }), "every is 1099511627777, want 1 to "},
		"an unknown on_failure":    {repeating(func(s *types.TimerSpec) { s.Repeat = &types.Repeat{OnFailure: 4} }), "on_failure 4 is unknown"},
		"no retries":               {timer(func(t *types.Timer) { t.Spec.Retry = &types.Retry{After: 1} }), "max is 0, want 1 to"},
		"too many retries":         {timer(func(t *types.Timer) { t.Spec.Retry = &types.Retry{Max: 1<<16 + 1, After: 1} }), "max is 65537, want 1 to"},
		"retries at once":          {timer(func(t *types.Timer) { t.Spec.Retry = &types.Retry{Max: 1} }), "after is 0, want 1 to"},
		"retries too far":          {timer(func(t *types.Timer) { t.Spec.Retry = &types.Retry{Max: 1, After: maxBlocks + 1} }), "after is 1099511627777"},
		"retries of no retry":      {timer(func(t *types.Timer) { t.Retries = 1 }), "1 retries are used"},
		"more retries than are":    {timer(func(t *types.Timer) { t.Spec.Retry, t.Retries = &types.Retry{Max: 1, After: 1}, 2 }), "2 retries are used"},
		"an unknown on_unfunded":   {timer(func(t *types.Timer) { t.Spec.OnUnfunded = 4 }), "4 is unknown, want destroy, suspend or skip"},
		"an outcome without paid":  {timer(func(t *types.Timer) { t.LastOutcome = &types.Outcome{} }), "last_outcome: paid is missing"},
		"an outcome that earned":   {timer(func(t *types.Timer) { t.LastOutcome = &types.Outcome{Paid: math.NewInt(-1)} }), "last_outcome: paid is missing"},
		"a watch":                  {timer(func(t *types.Timer) { t.Spec.Trigger.Watch = &types.WatchTrigger{} }), "2 triggers are stated: state one"},
		"a time":                   {timer(func(t *types.Timer) { t.Spec.Trigger = types.Trigger{Time: &time.Time{}} }), "want a whole second from 1 to"},
		"no end":                   {timer(func(t *types.Timer) { t.ExpiresAt = 0 }), "expires_at is 0 and expires_time 0: want one of them"},
		"a time before 1970":       {timer(func(t *types.Timer) { t.ExpiresTime = -1 }), "expires_time -1: want one of them"},
		"a due time of a height":   {timer(func(t *types.Timer) { t.DueTime = 5 }), "due_time is 5, want 1 to 253402300799 for a time"},
		"a height without end":     {timer(func(t *types.Timer) { t.ExpiresAt, t.ExpiresTime = 0, 5 }), "the trigger counts heights: state expires_at"},
		"a retry of nothing":       {timer(func(t *types.Timer) { *t = timed(*t); t.Spec.Retry, t.Retries = &types.Retry{Max: 1, After: 1}, 1 }), "1 retries are used, want at most"},
		"trying without a retry":   {timer(func(t *types.Timer) { *t = timed(*t); t.Recurrence.Trying = 1 }), "trying is 1 and tried false, want the occurrence that was tried"},
		"tried and not delivered":  {timer(func(t *types.Timer) { t.Tried = true }), "deliveries is 0, tried true and fire_seq "},
		"deliveries without fires": {timer(func(t *types.Timer) { t.Deliveries = 1 << 20 }), "deliveries is 1048576, tried false and fire_seq "},
		"due since later":          {timer(func(t *types.Timer) { t.Since = t.Due + 1 }), ", after the due height "},
		"no due time":              {timer(func(t *types.Timer) { *t = timed(*t); t.DueTime = 0 }), "due_time is 0, want 1 to 253402300799 for a time"},
		"waits for no time":        {timer(func(t *types.Timer) { t.HoldReason = types.Timed }), "it waits for a time and its trigger is none"},
		"no recurrence":            {timer(func(t *types.Timer) { *t = timed(*t); t.Recurrence = nil }), "recurrence is stated, or missing"},
		"recurrence of a height":   {timer(func(t *types.Timer) { t.Recurrence = &types.Recurrence{} }), "recurrence is stated, or missing"},
		"an occurrence too far":    {timer(func(t *types.Timer) { *t = timed(*t); t.Recurrence.After = 1 << 60 }), "recurrence: after 1152921504606846976"},
		"a calendar without rule":  {timer(func(t *types.Timer) { *t = timed(*t); t.Spec.Trigger.Calendar.Every = nil }), "state one rule: every or cron"},
		"a jitter too long": {timer(func(t *types.Timer) {
			*t = timed(*t)
			t.Spec.Repeat = &types.Repeat{Jitter: 86_401}
		}), "jitter is 86401, want at most 86400"},
		"a window of fires":                  {repeating(func(s *types.TimerSpec) { s.Repeat = &types.Repeat{Window: 5} }), "or an interval from schedule"},
		"repetitions of one":                 {timer(func(t *types.Timer) { t.Spec.Repeat = &types.Repeat{Remaining: 2} }), "repeat is stated for a timer that fires once"},
		"counted without fires":              {timer(func(t *types.Timer) { t.Counted = 1 }), "counted is 1 of 0 deliveries, tried false"},
		"the one in hand counted":            {timer(func(t *types.Timer) { t.Tried, t.Deliveries, t.Counted = true, 1, 1 }), "counted is 1 of 1 deliveries, tried true"},
		"an open interval":                   {repeating(func(*types.TimerSpec) {}), "start is 0, and the trigger leaves it open"},
		"a tip that is capped without a bid": {timer(func(t *types.Timer) { t.TipCap = "0.1" }), "tip_cap is \"0.1\": want a decimal below the max tip of a static bid"},
		"a life that is not given":           {timer(func(t *types.Timer) { t.Renewal = &types.Renewal{Blocks: 5} }), "want at most 1099511627776 and 3162240000, of a timer that repeats"},
		"times behind before 1970":           {func(g *types.GenesisState) { g.Lane.TimesBehind = -1 }, "lane.times_behind is -1"},
		"an unknown reason":                  {timer(func(t *types.Timer) { t.HoldReason = 9 }), "hold_reason 9 is unknown"},
		"a negative reason":                  {timer(func(t *types.Timer) { t.HoldReason = -1 }), "hold_reason -1 is unknown"},
		"a watch of nothing":                 {func(g *types.GenesisState) { g.Timers[3].Spec.Trigger.Watch.Keys = nil }, "timer 3: 0 keys, want 1 to 8"},
		"a watch of a key twice":             {func(g *types.GenesisState) { twice(&g.Timers[3]) }, "is stated twice"},
		"waiting for nothing":                {timer(func(t *types.Timer) { t.HoldReason = types.Watching }), "waits for a change and watches nothing"},
		"a hit of one that waits":            {func(g *types.GenesisState) { g.Timers[3].HoldReason = types.Watching }, "timer 3 does not wait for what watch_hits has"},
		"a hit of no watch":                  {func(g *types.GenesisState) { g.WatchHits[0].Seq = 1 }, "timer 0 does not wait for what watch_hits has"},
		"a hit of nobody":                    {func(g *types.GenesisState) { g.WatchHits = append(g.WatchHits, types.SeqWatchHit{Seq: 9}) }, "watch_hits has 1 seqs that no timer has"},
		"hits out of order":                  {func(g *types.GenesisState) { g.WatchHits = append(g.WatchHits, g.WatchHits[0]) }, "watch_hits 1: seq 6 is not above 6"},
		"too many keys in a hit":             {func(g *types.GenesisState) { g.WatchHits[0].Hit.Matched = make([]types.WatchedKey, 257) }, "watch_hits 0: 257 keys"},
		"due and not hit":                    {func(g *types.GenesisState) { g.WatchHits = nil }, "watch_hits has nothing for its seq 6"},
		"pending in no store":                {func(g *types.GenesisState) { g.WatchPending[0].Key.Store = "" }, "watch_pending 0: "},
		"pending below everything":           {func(g *types.GenesisState) { g.WatchPending[0].Key.Prefix = nil }, "watch_pending 0: a prefix of 0 bytes"},
		"pending twice":                      {func(g *types.GenesisState) { g.WatchPending = append(g.WatchPending, g.WatchPending[0]) }, "watch_pending 1: keys must ascend"},
		"pending at no height":               {func(g *types.GenesisState) { g.WatchPending[0].Pending.Next.Height = 0 }, "watch_pending 0: height 0"},
		"too many changes":                   {func(g *types.GenesisState) { g.WatchPending[0].Pending.Round.Changes = make([]types.WatchChange, 257) }, "watch_pending 0: height 5"},
		"pending of an owner":                {func(g *types.GenesisState) { g.WatchPending[0].Owner = []byte{1} }, "watch_pending 0: owner 01, want none"},
		"pending since later":                {func(g *types.GenesisState) { g.WatchPending[0].Pending.Round.Since = 6 }, "watch_pending 0: since 6, want 1 to the height 5"},
		"pending since never":                {func(g *types.GenesisState) { g.WatchPending[0].Pending.Next.Since = 0 }, "watch_pending 0: since 0, want 1 to the height 6"},
		"pending from too long":              {func(g *types.GenesisState) { g.WatchPending[0].Pending.Round.FromOwner = make([]byte, 256) }, "from_owner of 256 bytes"},
		"counts twice":                       {func(g *types.GenesisState) { g.WatchCounts = append(g.WatchCounts, g.WatchCounts[0]) }, "watch_counts 1: keys must ascend"},
		"counts of no store":                 {func(g *types.GenesisState) { g.WatchCounts[0].Key.Store = "" }, "watch_counts 0: "},
		"a count never served":               {func(g *types.GenesisState) { g.WatchCounts[0].Served = 0 }, "watch_counts 0: served 0, want at least 1"},
		"a count of a long owner":            {func(g *types.GenesisState) { g.WatchCounts[0].Owner = make([]byte, 256) }, "watch_counts 0: served 3, want at least 1, and owner of 256"},
		"a count of no watch":                {func(g *types.GenesisState) { g.WatchCounts[0].Key.Prefix = []byte{8} }, "watch_counts has 1 keys that no timer watches"},
		"notes in no store":                  {func(g *types.GenesisState) { g.WatchNotes[1].Key.Store = "" }, "watch_notes 1: "},
		"notes out of order":                 {func(g *types.GenesisState) { slices.Reverse(g.WatchNotes) }, "watch_notes 1: owners, heights and keys must ascend"},
		"a note of a long owner":             {func(g *types.GenesisState) { g.WatchNotes[1].Owner = make([]byte, 256) }, "watch_notes 1: owner of 256 bytes"},
		"a note since never":                 {func(g *types.GenesisState) { g.WatchNotes[0].Note.Since = 0 }, "watch_notes 0: since 0, want 1 to the height 3"},
		"a note since later":                 {func(g *types.GenesisState) { g.WatchNotes[0].Note.Since = 4 }, "watch_notes 0: since 4, want 1 to the height 3"},
		"a note of a later change":           {func(g *types.GenesisState) { g.WatchNotes[0].Note.Itself = 4 }, "and itself 4 at most that"},
		"a note of other keys":               {func(g *types.GenesisState) { g.WatchNotes[1].Note.Keys = 2 }, "watch_notes 1: 1 changes, want as many as keys, 2"},
		"a note of too many keys": {func(g *types.GenesisState) {
			g.WatchNotes[1].Note.Keys, g.WatchNotes[1].Changes = 257, make([]types.WatchChange, 257)
		}, "watch_notes 1: 257 changes"},
		"a note of a key elsewhere": {func(g *types.GenesisState) { g.WatchNotes[1].Changes[0].Key = []byte{1} }, "change 0: key 01, want one that begins with"},
		"a note of the prefix":      {func(g *types.GenesisState) { g.WatchNotes[1].Changes[0].Key = g.WatchNotes[1].Key.Prefix }, "change 0: key "},
		"a note of a key later":     {func(g *types.GenesisState) { g.WatchNotes[1].Changes[0].Height = 7 }, "change 0: height 7, want 1 to the height 6"},
		"a note of a key never":     {func(g *types.GenesisState) { g.WatchNotes[1].Changes[0].Height = 0 }, "change 0: height 0, want 1 to"},
		"values twice":              {func(g *types.GenesisState) { g.WatchValues = append(g.WatchValues, g.WatchValues[0]) }, "watch_values 1: keys must ascend"},
		"a value of no store":       {func(g *types.GenesisState) { g.WatchValues[0].Key.Store = "" }, "watch_values 0: "},
		"a value that states a condition": {func(g *types.GenesisState) {
			g.WatchValues[0].Key.When = &types.WatchCondition{Op: types.ConditionExists}
		}, "watch_values 0: the key states a condition"},
		"a value that is no number":    {func(g *types.GenesisState) { g.WatchValues[0].Value.Number = "1e5" }, `watch_values 0: number "1e5"`},
		"a number in a long form":      {func(g *types.GenesisState) { g.WatchValues[0].Value.Number = "1.50" }, `watch_values 0: number "1.50"`},
		"a value that is too long":     {func(g *types.GenesisState) { g.WatchValues[0].Value.Bytes = make([]byte, 66) }, "watch_values 0: 66 bytes"},
		"a value of what is not there": {func(g *types.GenesisState) { g.WatchValues[0].Value.Exists = false }, "watch_values 0: 4 bytes"},
		"a value with counts":          {func(g *types.GenesisState) { g.WatchValues[0].Value.Conditions = []uint64{1} }, "watch_values 0: conditions are counted anew"},
		"a value without a condition":  {func(g *types.GenesisState) { g.WatchValues[0].Key.Prefix = []byte{8} }, "watch_values has 1 keys that no timer"},
		"a segment of no list":         {func(g *types.GenesisState) { g.WatchSegments[0].Segment.From = []byte{0} }, "watch_segments 0: from 00 to 05 at height 5 is no range"},
		"a segment of an unknown list": {func(g *types.GenesisState) {
			g.WatchSegments[0].Segment = types.WatchSegment{From: []byte{9}, To: []byte{10}}
		}, "watch_segments 0: "},
		"a segment of nothing":                {func(g *types.GenesisState) { g.WatchSegments[0].Segment.From = nil }, "watch_segments 0: "},
		"a segment of two lists":              {func(g *types.GenesisState) { g.WatchSegments[0].Segment.To = []byte{6} }, "watch_segments 0: "},
		"a segment that ends first":           {func(g *types.GenesisState) { g.WatchSegments[0].Segment.To = []byte{4, 1} }, "watch_segments 0: "},
		"a segment that is too long":          {func(g *types.GenesisState) { g.WatchSegments[0].Segment.From = append([]byte{4}, make([]byte, 140)...) }, "watch_segments 0: "},
		"a segment of no height":              {func(g *types.GenesisState) { g.WatchSegments[0].Height = 0 }, "watch_segments 0: "},
		"segments out of order":               {func(g *types.GenesisState) { g.WatchSegments[2].Height = 4 }, "watch_segments 2: not above"},
		"a changed key twice":                 {func(g *types.GenesisState) { g.WatchChanged = append(g.WatchChanged, g.WatchChanged[0]) }, "watch_changed 1: keys must ascend"},
		"a changed key of no store":           {func(g *types.GenesisState) { g.WatchChanged[0].Store = "" }, "watch_changed 0: "},
		"a turn of no store among conditions": {func(g *types.GenesisState) { g.WatchCursors.Condition.Store = "" }, "watch_cursors.condition 0: "},
		"a malformed condition":               {func(g *types.GenesisState) { g.Timers[6].Spec.Trigger.Watch.Keys[1].When.Value = "" }, "timer 6: condition: "},
		"a cooldown beyond all heights":       {func(g *types.GenesisState) { g.Timers[6].Spec.Trigger.Watch.Cooldown = types.MaxBlocks + 1 }, "timer 6: cooldown "},
		"a tombstone that is live":            {func(g *types.GenesisState) { g.WatchTombstones[0].Seq = 7 }, "timer 6: seq 7 stands twice"},
		"a tombstone of a seq to come":        {func(g *types.GenesisState) { g.WatchTombstones[0].Seq = g.NextSeq }, "watch_tombstones 0: seq 10, want above 0 and below next_seq 10"},
		"a tombstone twice":                   {func(g *types.GenesisState) { g.WatchTombstones = append(g.WatchTombstones, g.WatchTombstones[0]) }, "watch_tombstones 1: seq 9"},
		"a tombstone of nobody":               {func(g *types.GenesisState) { g.WatchTombstones[0].Owner = nil }, "watch_tombstones 0: owner: "},
		"a tombstone of no height":            {func(g *types.GenesisState) { g.WatchTombstones[0].Since = 0 }, "watch_tombstones 0: since is 0"},
		"a tombstone that watched nothing":    {func(g *types.GenesisState) { g.WatchTombstones[0].Keys = nil }, "watch_tombstones 0: 0 keys"},
		"a round of nobody":                   {func(g *types.GenesisState) { g.WatchRounds[0].Owner = nil }, "watch_rounds 0: owner of 0 bytes, want 1 to 255"},
		"a round twice":                       {func(g *types.GenesisState) { g.WatchRounds = append(g.WatchRounds, g.WatchRounds[0]) }, "watch_rounds 1: owners and their keys must ascend"},
		"a round of no store":                 {func(g *types.GenesisState) { g.WatchRounds[0].Key.Store = "" }, "watch_rounds 0: "},
		"a round without changes":             {func(g *types.GenesisState) { g.WatchRounds[0].Pending.Round.Height = 0 }, "watch_rounds 0: height 0"},
		"an owner too long":                   {func(g *types.GenesisState) { g.WatchCursors.Owner = make([]byte, 256) }, "watch_cursors.owner: 256 bytes"},
		"a turn of no store":                  {func(g *types.GenesisState) { g.WatchCursors.Turn.Store = "" }, "watch_cursors.turn: "},
		"no actor":                            {timer(func(t *types.Timer) { t.Actor = nil }), "actor: "},
		"too long an actor":                   {timer(func(t *types.Timer) { t.Actor = make([]byte, 256) }), "actor: "},
		"too long a payer":                    {timer(func(t *types.Timer) { t.FeePayer = make([]byte, 256) }), "fee_payer: "},
		"two bids":                            {timer(func(t *types.Timer) { t.Spec.Bid.Tier = types.TierFast }), "state one of"},
		"a bid without prices":                {timer(func(t *types.Timer) { t.Spec.Bid.Static = &types.StaticBid{} }), "max_fee_per_cycle is missing"},
		"an agent and a tier":                 {timer(func(t *types.Timer) { t.Spec.Bid = &types.Bid{Agent: "a", Tier: types.TierFast} }), "state one of"},
		"an answer without prices":            {timer(func(t *types.Timer) { t.LastAnswer = &types.AgentQuote{} }), "max_fee_per_cycle is missing"},
		"ready out of order":                  {func(g *types.GenesisState) { g.Ready[1] = g.Ready[0] }, "ready 1 at (6, 1) is out of order"},
		"ready of no seq":                     {func(g *types.GenesisState) { g.Ready[0].Seq = 0 }, "ready 0 has seq 0"},
		"ready of a seq to come":              {func(g *types.GenesisState) { g.Ready[1].Seq = 10 }, "ready 1 has seq 10"},
		"ready among the places":              {func(g *types.GenesisState) { g.Ready[0].List = 1<<16 - 1 }, "ready 0 is in list 65535"},
		"ready between the lists":             {func(g *types.GenesisState) { g.Ready[0].List = 129 << 16 }, "ready 0 is in list 8454144"},
		"ready without a price":               {func(g *types.GenesisState) { g.Ready[0].Price = math.LegacyDec{} }, "ready 0 has the prices"},
		"ready below zero":                    {func(g *types.GenesisState) { g.Ready[0].Other = math.LegacyNewDec(-1) }, "ready 0 has the prices"},
		"ready above its list": {func(g *types.GenesisState) {
			g.Ready[0].Price = math.LegacyNewDecFromBigIntWithPrec(new(big.Int).Lsh(big.NewInt(1), 128), math.LegacyPrecision)
		}, "ready 0 has the prices"},
		"receipts of no height":     {func(g *types.GenesisState) { g.Receipts[0].Height = 0 }, "receipts 0: height 0 is not above 0"},
		"receipts out of order":     {func(g *types.GenesisState) { g.Receipts[1].Height = 1 }, "receipts 1: height 1 is not above 1"},
		"receipts before the first": {func(g *types.GenesisState) { g.Lane.ReceiptsFrom = 2 }, "receipts 0: height 1 is before receipts_from 2"},
		"a receipt without paid":    {func(g *types.GenesisState) { g.Receipts[0].Receipts[1].Paid = math.Int{} }, "receipts 0: receipt 1: paid or tip is missing or negative"},
		"a receipt without a tip":   {func(g *types.GenesisState) { g.Receipts[1].Receipts[0].Tip = math.Int{} }, "receipts 1: receipt 0: paid or tip is missing or negative"},
	} {
		t.Run(name, func(t *testing.T) {
			g := fullGenesis()
			c.change(g)
			err := genesis.Validate(g)
			require.ErrorContains(t, err, c.want)
			if !strings.Contains(name, "config") && !strings.Contains(name, "denom") {
				require.ErrorIs(t, err, types.ErrInvalidGenesis)
			}
		})
	}
}

// TestGenesisMindsItsEdges: what is on hold has no place in the queue, and bounds are bounds to the last unit.
func TestGenesisMindsItsEdges(t *testing.T) {
	g := fullGenesis()
	g.Timers[4].Due = 1 // on hold, so not before the head of the queue
	g.Timers[1].Spec.Call.Payload, g.Timers[1].Spec.Call.Handler = make([]byte, 1<<20), strings.Repeat("h", 256)
	g.Timers[1].GasLimit, g.Timers[1].Actor = maxUnits, make([]byte, 255)
	g.WatchTombstones, g.Ready, g.NextSeq = nil, nil, 8
	require.NoError(t, genesis.Validate(g))
}

func testCodec() codec.Codec {
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{})
	registerGuests(encoding.InterfaceRegistry)
	return encoding.Codec
}

// readGenesisJSON validates a genesis file as a node does. Whatever the file says, validation must not panic, and what is
// read record by record is what the codec makes of the whole.
func readGenesisJSON(t *testing.T, cdc codec.Codec, raw []byte) (*types.GenesisState, error) {
	t.Helper()
	whole := &types.GenesisState{}
	wholeErr := cdc.UnmarshalJSON(raw, whole)
	source, err := genesis.FromJSON(cdc, raw)
	var collected *types.GenesisState
	if err == nil {
		collected, err = source.Collect()
	}
	if err != nil {
		require.ErrorIs(t, err, types.ErrInvalidGenesis)
		// The codec takes null, for the whole and for a message in a list, and whatever follows an object.
		require.True(t, wholeErr != nil || slices.Contains(whole.Policies, nil) || !json.Valid(raw) || strings.TrimSpace(string(raw)) == "null", "%v: %s", err, raw)
	} else {
		require.NoError(t, wholeErr, "%s", raw)
		require.Equal(t, string(cdc.MustMarshalJSON(whole)), string(cdc.MustMarshalJSON(collected)), "%s", raw)
	}
	if err := (timers.AppModule{}).ValidateGenesis(cdc, nil, raw); err != nil {
		return nil, err
	}
	return whole, nil
}

// requireRewritten requires that a valid genesis state survives being written and read.
func requireRewritten(t *testing.T, cdc codec.Codec, g *types.GenesisState) {
	t.Helper()
	var again types.GenesisState
	written, err := cdc.MarshalJSON(g)
	require.NoError(t, err, "%v", g)
	require.NoError(t, cdc.UnmarshalJSON(written, &again), "%s", written)
	require.NoError(t, genesis.Validate(&again), "%s", written)
	rewritten, err := cdc.MarshalJSON(&again)
	require.NoError(t, err)
	require.Equal(t, string(written), string(rewritten))
	var streamed bytes.Buffer
	require.NoError(t, genesis.Write(&streamed, cdc, genesis.FromState(g)))
	require.Equal(t, string(written), streamed.String())
}

func FuzzGenesisJSON(f *testing.F) {
	cdc := testCodec()
	for _, g := range []*types.GenesisState{types.DefaultGenesis(), fullGenesis()} {
		f.Add(cdc.MustMarshalJSON(g))
	}
	for _, raw := range []string{``, `null`, `{}`, `[]`, `{"config":null}`, `{"timers":[null]}`, `{"lane":{"burned":"-1"}}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if g, err := readGenesisJSON(t, cdc, raw); err == nil {
			requireRewritten(t, cdc, g)
		}
	})
}

// largestInt is the largest that a math.Int holds.
func largestInt() *big.Int {
	one := big.NewInt(1)
	return new(big.Int).Sub(new(big.Int).Lsh(one, math.MaxBitLen), one)
}

// oddValues are put in the place of every node of a genesis file.
func oddValues() []any {
	odd := []any{
		nil, true, "", "x", "0", "1", "-1", "1.5", "18446744073709551615", "18446744073709551616", "4294967296", "\u0000",
		"NaN", "1e9", "AAAA", "9223372036854775808", math.NewIntFromBigInt(largestInt()).String(), strings.Repeat("9", 60), strings.Repeat("9", 400), "HOLD_REASON_UNRUNNABLE",
		[]any{},
		[]any{nil},
		[]any{""},
		map[string]any{},
		map[string]any{"a": 1},
	}
	for _, number := range []string{"0", "-1", "1.5", "1e400", "18446744073709551616", "2147483648"} {
		odd = append(odd, json.Number(number))
	}
	return odd
}

// stride thins out the replacements: of those in turn, node by node, each stride-th is tried. Nodes that are gone or there
// twice are always tried. `make test-long` tries every replacement.
var stride = flag.Int("stride", 23, "try one of so many replacements of a node in a genesis file")

// mutate calls fn once for each odd value in the place of each node of a JSON tree, and once without each node.
func mutate(node any, put func(any), fn func(what string)) {
	tried := 0
	mutateFrom(node, put, fn, &tried)
}

func mutateFrom(node any, put func(any), fn func(what string), tried *int) {
	for _, value := range oddValues() {
		if *tried++; *tried%*stride != 0 {
			continue
		}
		put(value)
		fn(fmt.Sprintf("%.20v", value))
	}
	put(node)
	switch n := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(n)) {
			child := n[name]
			below := func(what string) { fn(name + "/" + what) }
			delete(n, name)
			below("gone")
			n[name] = child
			mutateFrom(child, func(v any) { n[name] = v }, below, tried)
		}
	case []any:
		for i, child := range n {
			below := func(what string) { fn(fmt.Sprintf("%d/%s", i, what)) }
			put(append(n[:len(n):len(n)], child))
			below("twice")
			put(append(n[:i:i], n[i+1:]...))
			below("gone")
			put(n)
			mutateFrom(child, func(v any) { n[i] = v }, below, tried)
		}
	}
}

// TestGenesisWithAnyNodeReplaced: a genesis file with any one of its nodes gone, twice or replaced by something odd is
// refused, or a chain starts from it, continues, and holds the module's invariants. Nothing panics.
func TestGenesisWithAnyNodeReplaced(t *testing.T) {
	require.True(t, *stride == 1 || len(oddValues())%*stride != 0, "every node must meet some odd values, and each of them many nodes")
	cdc := testCodec()
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(cdc.MustMarshalJSON(fullGenesis())))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&tree))
	refused, accepted, started := 0, 0, map[string]bool{}
	mutate(tree, func(v any) { tree = v }, func(what string) {
		raw, err := json.Marshal(tree)
		require.NoError(t, err)
		g, err := readGenesisJSON(t, cdc, raw)
		if err != nil {
			refused++
			return
		}
		accepted++
		// Many replacements come to the same state, such as those that leave a field out.
		state, err := g.Marshal()
		require.NoError(t, err)
		if started[string(state)] {
			return
		}
		started[string(state)] = true
		requireRewritten(t, cdc, g)
		startsAndGoesOn(t, g, what)
	})
	t.Logf("%d refused, %d accepted, %d chains started", refused, accepted, len(started))
	require.Greater(t, refused, 1_000)
	require.Greater(t, len(started), 50)
}

func startsAndGoesOn(t *testing.T, g *types.GenesisState, what string) {
	t.Helper()
	chain, err := lab.NewChain(lab.ChainOptions{Genesis: g})
	if err != nil {
		require.ErrorIs(t, err, types.ErrInvalidGenesis, "%s", what)
		return
	}
	goesOn(t, chain, what)
}

// goesOn runs three blocks, in which the lane may not fail, and returns how many timers fired.
func goesOn(t *testing.T, chain *lab.Chain, what string) (fired int) {
	t.Helper()
	for range 3 {
		require.NoError(t, chain.Check(), "%s at height %d", what, chain.Height())
		require.NoError(t, chain.BeginBlock(), "%s", what)
		events, err := chain.EndBlock()
		require.NoError(t, err, "%s", what)
		for _, event := range events {
			require.NotEqual(t, "timers.v1.TimerLaneFailed", event.Type, "%s at height %d", what, chain.Height())
			if event.Type == "timers.v1.TimerFired" {
				fired++
			}
		}
	}
	return fired
}

// dueGenesis is one whose timers fire in the first blocks, and whose lane has been in use.
func dueGenesis(policy types.Policy) *types.GenesisState {
	g, full := types.NewGenesis("stake"), fullGenesis()
	g.Config.Policy = policy
	g.NextSeq, g.Lane = 20, full.Lane
	g.Lane.HeadCursor, g.Lane.LiveCursor, g.Lane.AdmitCursor = types.QueueKey{}, types.QueueKey{}, types.QueueKey{}
	price := math.LegacyNewDecWithPrec(1, 3)
	g.Lane.CycleBasefee, g.Lane.CellBasefee = &price, &price
	for seq := uint64(1); seq <= 6; seq++ {
		g.Timers = append(g.Timers, testTimer(8+seq/2, seq))
	}
	repeats := testTimer(9, 7)
	repeats.Spec.Trigger, repeats.Start, repeats.FireSeq = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}, 9, 2
	repeats.LastOutcome = &types.Outcome{Success: true, Height: 8, Paid: math.OneInt()}
	g.Timers = append(g.Timers, repeats)
	return g
}

// numbersOf calls fn for each number in a JSON tree, also those written as text, with its path and what puts another value
// in its place.
func numbersOf(node any, path string, put func(any), fn func(path string, put func(any))) {
	switch n := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(n)) {
			numbersOf(n[name], path+"."+name, func(v any) { n[name] = v }, fn)
		}
	case []any:
		for i := range n {
			numbersOf(n[i], fmt.Sprintf("%s[%d]", path, i), func(v any) { n[i] = v }, fn)
		}
	case json.Number:
		fn(path, put)
		put(n)
	case string:
		if strings.Trim(n, "0123456789.") == "" && n != "" {
			fn(path, put)
			put(n)
		}
	}
}

// extremes are the numbers at the ends of what fields hold, and around the bounds of totals and counters.
func extremes() []string {
	power := func(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }
	var all []string
	for _, bits := range []uint{0, 31, 32, 40, 50, 62, 63, 64, 96, 192, 255, 256} {
		all = append(all, power(bits).String(), new(big.Int).Sub(power(bits), big.NewInt(1)).String())
	}
	return append(all, "-1", "0.000000000000000001", "1000000000000000000.000000000000000000",
		"1"+strings.Repeat("0", 58)+".000000000000000000")
}

// TestGenesis_ExtremesAreRefusedOrTheChainGoesOn: each number of the lane's state, of next_seq and of a timer that repeats is
// replaced by the ends of what it can hold. The import refuses it and says what is wrong, or the lane works for three blocks
// in which timers fire, and the module's invariants hold. Totals of 2^256 - 1 failed the lane in the first block.
func TestGenesis_ExtremesAreRefusedOrTheChainGoesOn(t *testing.T) {
	cdc := testCodec()
	refused, accepted, turn := 0, 0, 0
	policies := lab.Policies()
	for at, policy := range policies {
		turn = 0
		var tree map[string]any
		decoder := json.NewDecoder(bytes.NewReader(cdc.MustMarshalJSON(dueGenesis(policy))))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&tree))
		try := func(what string) {
			raw, err := json.Marshal(tree)
			require.NoError(t, err)
			g, err := readGenesisJSON(t, cdc, raw)
			if err == nil {
				err = firesAndGoesOn(t, g, what)
			}
			if err != nil {
				refused++
				require.Less(t, len(err.Error()), 2_000, what)
				return
			}
			accepted++
		}
		try("as it is")
		require.Zero(t, refused, "the state before it is changed is valid under %s", policy)
		timers := tree["timers"].([]any)
		extreme := func(path string, put func(any)) {
			for _, value := range extremes() {
				// Each value is tried under one policy, in turns, in the short form.
				if turn++; *stride != 1 && turn%len(policies) != at {
					continue
				}
				put(value)
				try(fmt.Sprintf("%s = %s under %s", path, value, policy))
			}
		}
		for _, name := range []string{"lane", "next_seq"} {
			numbersOf(tree[name], name, func(v any) { tree[name] = v }, extreme)
		}
		last := len(timers) - 1
		numbersOf(timers[last], "timer", func(v any) { timers[last] = v }, extreme)
		refused = 0
	}
	require.Greater(t, accepted, 300)
}

// TestGenesis_LongNumbersAreNotDecoded: no text of a genesis file takes more than a few copies of it to be read or refused,
// in whichever field. A total of 262,144 digits took 150 MB, and time in the square of that.
func TestGenesis_LongNumbersAreNotDecoded(t *testing.T) {
	const long = 1 << 18
	cdc, text := testCodec(), strings.Repeat("9", long)
	var tree any
	require.NoError(t, json.Unmarshal(cdc.MustMarshalJSON(fullGenesis()), &tree))
	read := func(what string) {
		raw, err := json.Marshal(tree)
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		source, err := genesis.FromJSON(cdc, raw)
		if err == nil {
			err = source.Validate()
		}
		runtime.ReadMemStats(&after)
		// A payload and a key of another store may be as long.
		if !strings.Contains(what, "payload") && !strings.HasSuffix(what, "].key") {
			require.Error(t, err, what)
		}
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32*long), what)
		if err != nil {
			require.Less(t, len(err.Error()), 2_000, what)
		}
	}
	replaced := 0
	var replace func(node any, path string, put func(any))
	replace = func(node any, path string, put func(any)) {
		switch n := node.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(n)) {
				replace(n[name], path+"."+name, func(v any) { n[name] = v })
			}
		case []any:
			if len(n) > 0 { // The others are alike.
				replace(n[0], path+"[0]", func(v any) { n[0] = v })
			}
		case string:
			replaced++
			put(text)
			read(path)
			put(n)
		}
	}
	replace(tree, "", func(v any) { tree = v })
	require.Greater(t, replaced, 100)
	for _, raw := range []string{`{"lane":{"burned":"` + text + `"}}`, `{"lane":{"\u0062urned" : "` + text + `"}}`, `{"lane":{"laneBurned":"-` + text + `"}}`} {
		_, err := genesis.FromJSON(cdc, []byte(raw))
		require.ErrorIs(t, err, types.ErrInvalidGenesis)
		require.ErrorContains(t, err, "bytes long, want at most 1024")
	}
}

// firesAndGoesOn starts a chain at height 8, whose timers can be paid. The error is the import's.
func firesAndGoesOn(t *testing.T, g *types.GenesisState, what string) error {
	t.Helper()
	opts := lab.ChainOptions{Genesis: g, Height: 8}
	for i := range g.Timers {
		if len(g.Timers[i].Actor) == 20 {
			opts.Balances = append(opts.Balances, lab.Balance{Address: g.Timers[i].Owner(), Amount: math.NewInt(1_000_000_000)})
		}
	}
	chain, err := lab.NewChain(opts)
	if err != nil {
		require.True(t, errors.Is(err, types.ErrInvalidGenesis) || errors.Is(err, types.ErrInvalidConfig), "%s: %v", what, err)
		return err
	}
	fired := goesOn(t, chain, what)
	require.True(t, fired > 0 || strings.Contains(what, "basefee"), "%s: nothing fired", what)
	return nil
}
