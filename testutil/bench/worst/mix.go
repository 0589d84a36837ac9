// Package worst looks for the most expensive block that somebody with normal funds can force, at the default config and at one
// with narrow bounds, under each policy, and keeps what it found.
package worst

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	sdkmath "cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/bench/storm"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Mix is what an attacker has prepared for one height. Its numbers are the genes of the search.
type Mix [genes]int

// The genes, by what they count.
const (
	// ready timers send a coin, ofEach of them belong to one owner, and bids says how they bid.
	ready = iota
	ofEach
	bids
	// payload bytes are added to their handler's payload; failing of a hundred send more than there is.
	payload
	failing
	// every is whether they are due again in the next block.
	every
	// unfunded timers have payers without funds, lackEach of them one payer.
	unfunded
	lackEach
	// expired timers, and timers that are on hold for lack of funds.
	expired
	onHold
	// watchers of one key that changes, each of keys in all; conditional is whether the others state conditions.
	watchers
	keys
	conditional
	// hollow messages are short to store and long to decode.
	hollow
	// lapsed watchers expired before the key changed.
	lapsed
	// timed timers wait for a time that comes, passing ones are ready and repeat by a calendar whose occurrence has passed. Both
	// belong to the owners of ready ones.
	timed
	passing
	// guards are the conditions of each ready timer. The last one does not hold.
	guards
	// skipping is whether what has no funds repeats, and lets that repetition pass.
	skipping
	// changed keys change in every block. Each is watched by a timer that counts no change yet.
	changed
	// admins are ready timers whose scheduler is the admin no more, paused ones wait for their owners.
	admins
	paused
	// meddling of a hundred ready timers schedule another one.
	meddling
	genes
)

// most are the largest values of the genes: what a block can't look at in one go, or what a timer may be.
var most = Mix{
	ready: 6_000, ofEach: 100, bids: 4, payload: 20_000, failing: 100, every: 1, unfunded: 4_000, lackEach: 100,
	expired: 1_500, onHold: 1_500, watchers: 1_500, keys: 8, conditional: 1, hollow: 30, lapsed: 1_500,
	timed: 3_000, passing: 3_000, guards: 2, skipping: 1,
	changed: 8_000, admins: 6_000, paused: 20_000, meddling: 100,
}

// draw draws a mix. A gene is often 0 or the most, since that is where the worst lies.
func draw(r *rand.Rand) Mix {
	var m Mix
	for g := range m {
		m.redraw(r, g)
	}
	return m
}

func (m *Mix) redraw(r *rand.Rand, gene int) {
	switch r.IntN(4) {
	case 0:
		m[gene] = 0
	case 1:
		m[gene] = most[gene]
	default:
		m[gene] = r.IntN(most[gene] + 1)
	}
}

// mutated is the mix with one to three genes drawn again.
func (m Mix) mutated(r *rand.Rand) Mix {
	for range 1 + r.IntN(3) {
		m.redraw(r, r.IntN(genes))
	}
	return m
}

// String is how a mix is kept.
func (m Mix) String() string {
	text := make([]string, genes)
	for g := range m {
		text[g] = strconv.Itoa(m[g])
	}
	return strings.Join(text, " ")
}

// ParseMix reads one that was kept.
func ParseMix(text string) (Mix, error) {
	var m Mix
	fields := strings.Fields(text)
	if len(fields) != genes {
		return m, fmt.Errorf("a mix of %d numbers, want %d: %q", len(fields), int(genes), text)
	}
	for g := range m {
		n, err := strconv.Atoi(fields[g])
		if err != nil || n < 0 || n > most[g] {
			return m, fmt.Errorf("%q is no number from 0 to %d", fields[g], most[g])
		}
		m[g] = n
	}
	return m, nil
}

const (
	// due is when the mix is due.
	due = 1
	// kinds of owners have addresses of their own.
	kindOwners = 1 << 18
)

// ownerOf is the i-th owner of a kind.
func ownerOf(kind, i int) sdk.AccAddress { return workload.Owner((kind+1)*kindOwners + i) }

// payer is whose balance changes and is watched.
var payer = workload.Owner(0)

// Config is one under which blocks are looked for.
type Config struct {
	Name string
	// change makes it of the default one.
	change func(*types.TimerConfig)
}

// Configs are all of them: the default one, and one for a chain whose blocks must be short, with a third of the overhead. The
// module's page on attacks says what that does to others.
var Configs = []Config{
	{"default", func(*types.TimerConfig) {}},
	{"narrow", func(c *types.TimerConfig) {
		c.GcCyclesPerBlock, c.OverheadCyclesPerBlock = 100_000, 1_000_000
	}},
}

// options of the chain on which a mix is due.
func (m Mix) options(config Config, policy types.Policy) (lab.ChainOptions, error) {
	genesis := types.NewGenesis(denom)
	genesis.Config.Policy = policy
	config.change(&genesis.Config)
	// Payers are looked at and debited as in timerd.
	opts := lab.ChainOptions{Genesis: genesis, Balances: floorBalances(), PayerStores: true, StartTime: started}
	r := workload.NewRand(1)
	rich := map[string]bool{}
	fund := func(owner sdk.AccAddress, amount int64) {
		if !rich[string(owner)] {
			rich[string(owner)] = true
			opts.Balances = append(opts.Balances, lab.Balance{Address: owner, Amount: sdkmath.NewInt(amount)})
		}
	}
	if err := m.addReady(genesis, r, fund); err != nil {
		return opts, err
	}
	for i := range m[unfunded] {
		owner := ownerOf(unfunded, i/max(1, m[lackEach]))
		// An account that exists: its funds are looked up.
		fund(owner, 1)
		t := workload.AddTimer(genesis, owner, due, nil, 100_000)
		m.bid(policy, r, t)
		if m[skipping] == 1 {
			t.Spec.Trigger, t.Spec.OnUnfunded = types.Trigger{Interval: &types.IntervalTrigger{Every: 1, First: due}}, types.OnUnfundedSkip
		}
	}
	for i := range m[admins] {
		owner := ownerOf(admins, i/100)
		fund(owner, workload.OwnerFunds)
		t := workload.AddTimer(genesis, owner, due, nil, 100_000)
		t.Scheduler = ownerOf(admins, kindOwners-1)
		m.bid(policy, r, t)
	}
	for i := range m[paused] {
		workload.AddTimer(genesis, ownerOf(paused, i/100), due, nil, 100_000).HoldReason = types.Paused
	}
	for i := range m[changed] {
		t := workload.AddTimer(genesis, ownerOf(changed, i/100), due+1_000, nil, 100_000)
		key := balanceOf(ownerOf(changed, i))
		if m[conditional] == 1 {
			key.When = &types.WatchCondition{Op: types.ConditionGreater, Value: "1000000000000"}
		}
		t.HoldReason, t.Spec.Trigger = types.Watching, types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}}}
	}
	for i := range m[expired] {
		owner := ownerOf(expired, i/100)
		ended(workload.AddTimer(genesis, owner, due, nil, 100_000))
	}
	for i := range m[onHold] {
		owner := ownerOf(onHold, i/100)
		workload.AddTimer(genesis, owner, due, nil, 100_000).HoldReason = types.Unfunded
	}
	watching := func(i int, owner sdk.AccAddress) *types.Timer {
		t := workload.AddTimer(genesis, owner, due, nil, 100_000)
		t.HoldReason, t.Spec.Trigger, t.Spec.Repeat = types.Watching, m.watch(i), &types.Repeat{Remaining: 1}
		return t
	}
	for i := range m[watchers] {
		owner := ownerOf(watchers, i/100)
		fund(owner, workload.OwnerFunds)
		watching(i, owner)
	}
	for i := range m[lapsed] {
		ended(watching(m[watchers]+i, ownerOf(lapsed, i/100)))
	}
	return opts, m.addTimes(genesis, fund)
}

// started is the time before the first block.
const started = 1_700_000_000

// addTimes adds the timers by time.
func (m Mix) addTimes(genesis *types.GenesisState, fund func(sdk.AccAddress, int64)) error {
	for i := range m[timed] + m[passing] {
		owner := ownerOf(ready, i/max(1, m[ofEach]))
		fund(owner, workload.OwnerFunds)
		payload, err := workload.SendPayload(banktypes.NewMsgSend(owner, payer, sdk.NewCoins(sdk.NewInt64Coin(denom, 1))))
		if err != nil {
			return err
		}
		t := workload.AddTimer(genesis, owner, due, payload, 250_000)
		t.ExpiresAt, t.ExpiresTime, t.DueTime = 0, started+1_000_000, started+1
		if i < m[timed] {
			at := time.Unix(t.DueTime, 0).UTC()
			t.HoldReason, t.Spec.Trigger = types.Timed, types.Trigger{Time: &at}
			continue
		}
		t.DueTime = started - 60
		t.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{
			Every: &types.EveryRule{Seconds: 86_400, Anchor: t.DueTime},
		}}
		t.Spec.Repeat = &types.Repeat{Window: 1}
		t.Recurrence = &types.Recurrence{After: uint64(t.DueTime) - 1}
	}
	return nil
}

// postpone makes of a mix one of which nothing happens in the blocks that are looked at.
func postpone(genesis *types.GenesisState) {
	for i := range genesis.Timers {
		t := &genesis.Timers[i]
		t.Due += blocks + 1
		if t.HoldReason == types.Unfunded {
			t.HoldReason = types.NotOnHold
		}
		if t.Spec.Trigger.ByTime() {
			t.HoldReason, t.DueTime = types.Timed, t.DueTime+10_000
			continue
		}
		t.ExpiresAt, t.ExpiresTime = due+genesis.Config.MaxTtlBlocks, 0
	}
}

// addReady adds the timers that can fire.
func (m Mix) addReady(genesis *types.GenesisState, r *rand.Rand, fund func(sdk.AccAddress, int64)) error {
	for i := range m[ready] + m[hollow] {
		owner := ownerOf(ready, i/max(1, m[ofEach]))
		fund(owner, workload.OwnerFunds)
		amount := int64(1)
		if r.IntN(100) < m[failing] {
			amount = 2 * workload.OwnerFunds
		}
		var msg sdk.Msg = banktypes.NewMsgSend(owner, payer, sdk.NewCoins(sdk.NewInt64Coin(denom, amount)))
		switch {
		case i < m[ready] && r.IntN(100) < m[meddling]:
			msg = &types.MsgScheduleTimer{Sender: owner.String(), Spec: types.TimerSpec{Trigger: types.Trigger{After: 1_000}, GasLimit: 100_000}}
		case i >= m[ready]:
			msg = &banktypes.MsgMultiSend{
				Inputs:  []banktypes.Input{{Address: owner.String(), Coins: sdk.NewCoins(sdk.NewInt64Coin(denom, 1))}},
				Outputs: make([]banktypes.Output, 1_000),
			}
		}
		msgs := []sdk.Msg{msg}
		// Further messages make the payload long.
		for size := 150; size < m[payload] && len(msgs) < 100 && i < m[ready]; size += 150 {
			msgs = append(msgs, msg)
		}
		bz, err := workload.SendPayload(msgs...)
		if err != nil {
			return err
		}
		t := workload.AddTimer(genesis, owner, due, bz, 250_000)
		m.bid(genesis.Config.Policy, r, t)
		for k := range m[guards] {
			t.Spec.OnlyIf = append(t.Spec.OnlyIf, m.guard(k))
		}
		if m[every] == 1 {
			t.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1, First: due}}
		}
	}
	return nil
}

// guard is the k-th condition of a ready timer.
func (m Mix) guard(k int) types.WatchKey {
	key := balanceOf(payer)
	key.When = &types.WatchCondition{Op: types.ConditionExists}
	if k == m[guards]-1 {
		key.When.Op = types.ConditionAbsent
	}
	return key
}

// balanceOf is the key of a balance.
func balanceOf(address sdk.AccAddress) types.WatchKey {
	key := append([]byte{2, byte(len(address))}, address...)
	return types.WatchKey{Store: "bank", Prefix: append(key, denom...)}
}

// bid gives a timer a bid of the mix, where the policy has such bids.
func (m Mix) bid(policy types.Policy, r *rand.Rand, t *types.Timer) {
	if m[bids] == 0 || policy != types.PolicyEIP1559 && policy != types.PolicyTip {
		return
	}
	t.Spec.Bid = storm.AllBids[m[bids]].Draw(r)
}

// watch is the i-th watch of the payer's balance, and of others that do not change and no one else watches. No balance has what
// their conditions say.
func (m Mix) watch(i int) types.Trigger {
	trigger := &types.WatchTrigger{}
	for k := range max(1, m[keys]) {
		address := payer
		if k > 0 {
			address = ownerOf(keys, i*most[keys]+k)
		}
		watched := balanceOf(address)
		if k > 0 && m[conditional] == 1 {
			watched.When = &types.WatchCondition{Op: types.ConditionGreater, Value: "1000000000000"}
		}
		trigger.Keys = append(trigger.Keys, watched)
	}
	return types.Trigger{Watch: trigger}
}

// ended makes a timer one whose life has ended: by time, since there may be no height before the first block.
func ended(t *types.Timer) { t.ExpiresAt, t.ExpiresTime = 0, 1 }
