package prices

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// free is work that no one is billed for, of timers that a genesis holds; most is how much of it one block does.
func free(name, unit, remark string, most int, timers func(*types.GenesisState), read func(sdk.Context) (int, error)) kind {
	options := usual(nil)
	options.Timers, options.Accounts = timers, realapp.KeyedAccounts(firstPlain+laneSends+1)
	return kind{
		name: name, unit: unit, remark: remark, free: most, options: options, floor: fullLane,
		subject: endOfBlock(func(ctx sdk.Context) (work, error) {
			n, err := read(ctx)
			if err != nil {
				return work{}, err
			}
			return metered(ctx, n)
		}),
	}
}

// metered is n units of work, and what the meter of the block counted.
func metered(ctx sdk.Context, n int) (work, error) {
	summaries, err := events(ctx, &types.TimerLaneSummary{})
	if err != nil || len(summaries) != 1 {
		return work{}, fmt.Errorf("%d summaries of a block: %w", len(summaries), err)
	}
	return work{n: n, overhead: summaries[0].OverheadCycles}, nil
}

// crowd is n timers of as many actors as that makes hundred, due in the measured block.
func crowd(n int, change func(i int, t *types.Timer)) func(*types.GenesisState) {
	return func(genesis *types.GenesisState) {
		for i := range n {
			t := workload.AddTimer(genesis, workload.Owner(i/100), realapp.Height, nil, 100_000)
			change(i, t)
		}
	}
}

// tombstones are timers that have left, and whose watches of 8 keys each with a condition are still there.
func tombstones(n int) func(*types.GenesisState) {
	return func(genesis *types.GenesisState) {
		for i := range n {
			tombstone := types.WatchTombstone{Seq: genesis.NextSeq, Owner: workload.Owner(i / 100), Since: 1, Waited: true}
			for k := range 8 {
				key := balanceKey(workload.Owner(workload.FirstRecipient + 8*i + k))
				key.When = &types.WatchCondition{Op: types.ConditionLess, Value: "1"}
				tombstone.Keys = append(tombstone.Keys, key)
			}
			genesis.WatchTombstones = append(genesis.WatchTombstones, tombstone)
			genesis.NextSeq++
		}
	}
}

// counted counts events, of which there must be some.
func counted[E interface {
	Reset()
	String() string
	ProtoMessage()
}](kind E) func(sdk.Context) (int, error) {
	return func(ctx sdk.Context) (int, error) {
		found, err := events(ctx, kind)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("there is no %T", kind)
		}
		return len(found), err
	}
}

// block is what a block does for a crowd at most. Nothing fires, so that no one is billed.
func block(name, remark string, timers func(*types.GenesisState)) kind {
	k := free(name, "block", remark, 1, timers, func(ctx sdk.Context) (int, error) {
		fired, err := events(ctx, &types.TimerFired{})
		if err == nil && len(fired) > 0 {
			err = fmt.Errorf("%d timers fired", len(fired))
		}
		return 1, err
	})
	return k
}

// paused stops firing, and nothing else.
func paused(timers func(*types.GenesisState)) func(*types.GenesisState) {
	return func(genesis *types.GenesisState) {
		genesis.Config.LanePaused = true
		timers(genesis)
	}
}

// under selects a policy.
func under(policy types.Policy, timers func(*types.GenesisState)) func(*types.GenesisState) {
	return func(genesis *types.GenesisState) {
		genesis.Config.Policy = policy
		timers(genesis)
	}
}

// watchCrowd is a block in which a balance fell that n timers of as many owners as that makes hundred watch.
func watchCrowd(name string, n int, when *types.WatchCondition) kind {
	key := balanceKey(realapp.KeyedAccount(firstPlain).Address)
	key.When = when
	k := block(name, "overhead, watches", paused(func(genesis *types.GenesisState) {
		for i := range n {
			t := workload.AddTimer(genesis, workload.Owner(i/100), 1, nil, 100_000)
			t.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}}}
			t.Spec.Repeat = &types.Repeat{Remaining: 1}
			t.HoldReason = types.Watching
		}
	}))
	k.subject = func(c *realapp.Chain) (round, error) {
		ctx, err := c.Block()
		if err != nil {
			return round{}, err
		}
		// The change belongs to a transaction, which pays for it.
		msg := sendOf(firstPlain)
		if _, err := c.App.MsgServiceRouter().Handler(msg)(ctx, msg); err != nil {
			return round{}, err
		}
		return round{
			ctx:  ctx,
			run:  func() error { return c.App.Timers.EndBlock(ctx) },
			done: func() (work, error) { return metered(ctx, 1) },
		}, nil
	}
	return k
}

// fallenWeights is a block that meets as many admitted timers as it can under weights that have fallen, because a timer of each
// actor fired in the block before. As few fire in it.
func fallenWeights() kind {
	const actors, n = 20, 2_000
	timers := under(types.PolicyEIP1559, func(genesis *types.GenesisState) {
		genesis.Config.MaxFiresPerBlock = actors
		// More are ready than compete.
		for i := range n + 4*actors {
			t := workload.AddTimer(genesis, realapp.KeyedAccount(i%actors).Address, 1, nil, 100_000)
			if one := decimal.Of(math.LegacyOneDec()); i < actors {
				t.Spec.Bid = &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: one, MaxPriorityFeePerCycle: one}}
			}
		}
	})
	return free("a block of timers whose weights fell, under eip1559", "block", "overhead, tries", 1, timers,
		func(ctx sdk.Context) (int, error) {
			fired, err := events(ctx, &types.TimerFired{})
			if err == nil && len(fired) > actors {
				err = fmt.Errorf("%d timers fired", len(fired))
			}
			return 1, err
		})
}

// unfunded is a block of timers whose payers can't cover a fire, since each has but so many coins. The payers have accounts,
// as who has scheduled a timer.
func unfunded(policy types.Policy, each int, coins int64) kind {
	const timers = 4_000
	name := fmt.Sprintf("%d unfunded timers, %d a payer who has %d, under %s", timers, each, coins, plain.PolicyName(policy))
	k := block(name, "overhead, contest and tries", under(policy, func(genesis *types.GenesisState) {
		for i := range timers {
			workload.AddTimer(genesis, workload.Owner(i/each), realapp.Height, nil, 100_000)
		}
	}))
	k.options.SetUp = func(c *realapp.Chain, ctx sdk.Context) error {
		from := realapp.KeyedAccount(0).Address
		for i := range timers / each {
			owner := workload.Owner(i)
			c.App.Accounts.SetAccount(ctx, c.App.Accounts.NewAccountWithAddress(ctx, owner))
			if coins == 0 {
				continue
			}
			if err := c.App.Bank.SendCoins(ctx, from, owner, coin(coins)); err != nil {
				return err
			}
		}
		return nil
	}
	return k
}

// looking is a watch of four balances that is looked at in the next block; none of its conditions holds.
func looking(i int, t *types.Timer) {
	t.HoldReason, t.Look = types.Watching, true
	t.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{}}
	t.Spec.Repeat = &types.Repeat{Remaining: 1}
	for k := range 4 {
		key := balanceKey(workload.Owner(workload.FirstRecipient + 4*i + k))
		key.When = &types.WatchCondition{Op: types.ConditionLess, Value: "0"}
		t.Spec.Trigger.Watch.Keys = append(t.Spec.Trigger.Watch.Keys, key)
	}
}

// timed waits for a time that has come.
func timed(_ int, t *types.Timer) {
	at := time.Unix(1, 0).UTC()
	t.Spec.Trigger = types.Trigger{Time: &at}
	t.HoldReason, t.DueTime = types.Timed, 1
	t.ExpiresAt, t.ExpiresTime = 0, types.MaxTime
}

// lapsing is a block of ready timers whose occurrences have passed, and whose payers pay for that.
func lapsing() kind {
	const timers, each = 1_000, 100
	k := block("occurrences that lapse", "overhead, tries", under(types.PolicyFIFO, crowd(timers, func(_ int, t *types.Timer) {
		t.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{
			Cron: &types.CronRule{Minutes: 1, Hours: 1, Days: 1 << 29, Months: 1 << 2, Weekdays: 127},
		}}
		t.Spec.Repeat = &types.Repeat{Window: 1}
		t.DueTime, t.Recurrence = 61, &types.Recurrence{After: 1}
		t.ExpiresAt, t.ExpiresTime = 0, types.MaxTime
	})))
	k.options.SetUp = func(c *realapp.Chain, ctx sdk.Context) error {
		for i := range timers / each {
			owner := workload.Owner(i)
			c.App.Accounts.SetAccount(ctx, c.App.Accounts.NewAccountWithAddress(ctx, owner))
			if err := c.App.Bank.SendCoins(ctx, realapp.KeyedAccount(0).Address, owner, coin(1_000_000)); err != nil {
				return err
			}
		}
		return nil
	}
	return k
}

func freeKinds() []kind {
	config := types.DefaultTimerConfig(app.FeeDenom)
	removals := int(config.GcCyclesPerBlock / market.RemovalCycles)
	expired := func(_ int, t *types.Timer) { t.ExpiresAt, t.Due = realapp.Height-1, realapp.Height-1 }
	same := func(int, *types.Timer) {}
	kinds := []kind{
		free("expiry", "timer", "gc_cycles_per_block", removals, crowd(1_000, expired), counted(&types.TimerExpired{})),
		block("a block of expired timers", "gc_cycles_per_block", crowd(1_000, expired)),
		block("a block of expired watches of 8 keys", "gc_cycles_per_block", crowd(300, func(i int, t *types.Timer) {
			t.HoldReason, t.ExpiresAt, t.Due = types.Watching, realapp.Height-1, realapp.Height-1
			t.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{}}
			t.Spec.Repeat = &types.Repeat{Remaining: 1}
			for k := range 8 {
				t.Spec.Trigger.Watch.Keys = append(t.Spec.Trigger.Watch.Keys, balanceKey(workload.Owner(workload.FirstRecipient+8*i+k)))
			}
		})),
		block("removing watches of 8 keys of timers that left", "overhead, watches", tombstones(100)),
		block("a block of expired timers with locked bids", "gc_cycles_per_block", under(types.PolicyAuction, crowd(1_000, func(i int, t *types.Timer) {
			expired(i, t)
			t.SetLocked(math.NewInt(1_000))
		}))),
		block("timers whose time has come", "overhead, times", paused(crowd(1_000, timed))),
		lapsing(),
		block("a scan of the timers on hold", "overhead, on hold", crowd(1_000, func(_ int, t *types.Timer) { t.HoldReason = types.Unfunded })),
		watchCrowd("a change that 1000 timers watch", 1_000, nil),
		block("looks at 4,000 conditions", "overhead, watches", paused(crowd(1_000, looking))),
		watchCrowd("a change that makes 1000 conditions true", 1_000,
			&types.WatchCondition{Op: types.ConditionLess, Value: strconv.Itoa(workload.OwnerFunds)}),
		watchCrowd("a change that leaves 1000 conditions untrue", 1_000, &types.WatchCondition{Op: types.ConditionLess, Value: "1"}),
	}
	for _, policy := range workload.Policies {
		kinds = append(kinds, block("reading 6,000 ready timers, under "+plain.PolicyName(policy), "overhead, contest",
			under(policy, paused(crowd(6_000, same)))))
	}
	kinds = append(kinds, fallenWeights())
	for _, policy := range workload.Policies {
		for _, each := range []int{1, 100} {
			kinds = append(kinds, unfunded(policy, each, 1))
		}
		kinds = append(kinds, unfunded(policy, 1, 0))
	}
	return kinds
}

func kinds() []kind {
	return slices.Concat(transactionKinds(), lookupKinds(), fireKinds(), packetKinds(), queryKinds(), freeKinds())
}
