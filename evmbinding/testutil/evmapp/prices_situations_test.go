package evmapp

import (
	"encoding/binary"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/cosmos/evm/x/vm/statedb"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// refusal is a call of a function that its last check refuses.
type refusal struct {
	to   common.Address
	data []byte
	// answers: the function answers why, and does not revert.
	answers bool
	// why there is none.
	why string
}

// refusedLast are one of each function, by its name.
func refusedLast(t *testing.T, c *Chain, o *owned) map[string]refusal {
	t.Helper()
	const little, gas = uint64(40_000), uint64(100_000)
	height, second := c.Height()+1_000, c.Now()+3_600
	// A fire of so long a payload counts more than the least gas limit before its handler runs.
	much, unknown, plain := make([]byte, 8_000), [32]byte{1}, func(s *Spec) { s.Trigger.Height = height }
	past := func(s *Spec) { s.Trigger.Height = 1 }
	at := func(name string, args ...any) refusal {
		return refusal{to: evmbinding.Address, data: pack(t, name, args...)}
	}
	booking := func(name string, args ...any) refusal {
		data, err := evmbinding.HRC1215.Pack(name, args...)
		require.NoError(t, err)
		return refusal{to: evmbinding.HRC1215Address, data: data, answers: true}
	}
	answering := func(r refusal) refusal { r.answers = true; return r }
	expiry, limit, stranger := new(big.Int).SetUint64(second), new(big.Int).SetUint64(little), AccountOf("dave").Address
	return map[string]refusal{
		"schedule":          at("schedule", spec(little, much, plain)),
		"scheduleAt":        at("scheduleAt", height, little, much),
		"scheduleAfter":     at("scheduleAfter", uint64(9), little, much),
		"scheduleAtTime":    at("scheduleAtTime", second, little, much),
		"scheduleEvery":     at("scheduleEvery", uint64(9), uint64(3), little, much),
		"scheduleCalendar":  at("scheduleCalendar", Calendar{Every: evmbinding.EveryRule{Period: 3_600}}, uint64(0), little, much),
		"scheduleAtHeights": at("scheduleAtHeights", []uint64{height, height, height, 1}, gas, []byte{1}),
		"scheduleAtTimes":   at("scheduleAtTimes", []uint64{second, second, second, 1}, gas, []byte{1}),
		"scheduleBatch":     at("scheduleBatch", append(slices.Repeat([]Spec{spec(gas, nil, plain)}, 3), spec(gas, nil, past))),
		"update":            at("update", o.far, spec(little, much), []string{"call", "gas_limit"}, uint64(0)),
		"extend":            at("extend", o.far, uint64(1), uint64(0)),
		"pause":             at("pause", unknown), // What is on hold is paused too.
		"resume":            at("resume", o.far),
		"skip":              at("skip", o.far, uint32(100)),
		"run":               at("run", o.held),
		"cancel":            at("cancel", unknown),
		"cancelEach":        at("cancelEach", append(slices.Clone(o.many[:3]), unknown)),
		"cancelAll":         {why: "it cancels what there is"},
		"sponsor":           at("sponsor", alice.Address, big.NewInt(1_000), uint64(0)),
		"unsponsor":         at("unsponsor", stranger),
		"timer":             at("timer", o.account.Address, unknown),
		"updateNamed":       at("updateNamed", "held", spec(little, much), []string{"call", "gas_limit"}, uint64(0)),
		"extendNamed":       at("extendNamed", "held", uint64(1), uint64(0)),
		"pauseNamed":        at("pauseNamed", "no name"),
		"resumeNamed":       at("resumeNamed", "beat"),
		"skipNamed":         at("skipNamed", "held", uint32(100)),
		"runNamed":          at("runNamed", "held"),
		"cancelNamed":       at("cancelNamed", "no name"),
		"idOf":              {why: "it answers 0 for no timer"},
		"specOf":            at("specOf", o.account.Address, unknown),
		"timersOf":          {why: "a page beyond the last is empty"},
		"estimate":          at("estimate", uint64(1), uint64(0), new(big.Int), new(big.Int), uint8(0)),
		"lane":              {why: "it states nothing that a check could refuse"},
		"capacity":          answering(at("capacity", big.NewInt(1))),
		"occurrences":       at("occurrences", spec(0, nil, past), uint32(100)),
		"occurrencesOf":     at("occurrencesOf", o.account.Address, unknown, uint32(100)),

		"scheduleCall":                booking("scheduleCall", bob.Address, expiry, limit, uint64(0), much),
		"scheduleCallWithPayer":       booking("scheduleCallWithPayer", bob.Address, stranger, expiry, big.NewInt(100_000), uint64(0), []byte{}),
		"executeCallOnPayerSignature": booking("executeCallOnPayerSignature", bob.Address, stranger, expiry, big.NewInt(100_000), uint64(0), []byte{}),
		"deleteSchedule":              booking("deleteSchedule", scheduleOf(unknown[:])),
		"hasScheduleCapacity":         booking("hasScheduleCapacity", expiry, big.NewInt(2_000_000)),
	}
}

// crowded is a branch of the last block's state with 20,000 pending timers of 200 accounts, or 6,000 that are ready while the
// lane is paused. The branch is dropped.
func (c *Chain) crowded(ready bool) sdk.Context {
	c.tb.Helper()
	ctx := c.dropped()
	timers, due := 20_000, c.Height()+1_000
	if ready {
		timers, due = 6_000, c.Height()+2
		config, err := c.Timers.Keeper.Config(ctx)
		require.NoError(c.tb, err)
		config.LanePaused = true
		require.NoError(c.tb, c.Timers.Keeper.Engine().Configs.SetNext(ctx, config))
	}
	free := ctx.WithGasMeter(storetypes.NewInfiniteGasMeter())
	call, err := evmbinding.EncodeCall(bob.Address, new(big.Int), nil)
	require.NoError(c.tb, err)
	for i := range timers {
		owner := make(sdk.AccAddress, common.AddressLength)
		binary.BigEndian.PutUint64(owner, uint64(i/100)+1)
		if i%100 == 0 {
			c.Accounts.SetAccount(ctx, c.Accounts.NewAccountWithAddress(ctx, owner))
		}
		_, err := c.Timers.Keeper.Schedule(free, timerskeeper.ScheduleRequest{
			Actor: owner, Spec: timerstypes.TimerSpec{
				Trigger: timerstypes.Trigger{Height: due}, Call: timerstypes.TimerCall{Handler: evmbinding.HandlerCall, Payload: call},
				GasLimit: 100_000,
			},
		})
		require.NoError(c.tb, err)
	}
	for range 2 {
		ctx = ctx.WithBlockHeight(ctx.BlockHeight() + 1)
		require.NoError(c.tb, c.Timers.Keeper.BeginBlock(ctx))
		require.NoError(c.tb, c.Timers.Keeper.EndBlock(ctx))
	}
	if ready {
		lane, err := timerskeeper.NewQueryServer(c.Timers.Keeper).Lane(ctx, &timerstypes.QueryLaneRequest{})
		require.NoError(c.tb, err)
		require.True(c.tb, lane.Paused)
		require.Positive(c.tb, lane.Admitted)
	}
	return ctx
}

// TestPrices_InEachSituation: no function of the precompiles does more than three times as many store operations for its gas as a
// bank send does: accepted; refused by its last check; in a call that reverts afterwards; amid 20,000 pending timers; in a storm
// of 6,000. A contract calls it, and what it takes to call nothing is left out of both. In a call that reverts a function takes
// as much as in one that does not. A read counts once in a call, a write where it is kept: of lists whose last member is
// refused TestAttack_RefusedAtTheLastMember holds the gas. What fails at the commit is below.
func TestPrices_InEachSituation(t *testing.T) {
	const limit, writeWeight = 3, 8
	c := chain(t)
	d := puppet(c)
	o := newOwnedBy(t, c, Account{Address: d.Address})
	defer o.drop(c)
	type spending struct{ gas, weight float64 }
	weight := func(counts *storecount.Multi) float64 {
		did := counts.All()
		return float64(did.Reads() + writeWeight*did.Writes())
	}
	apply := func(on sdk.Context, steps ...Step) (spending, []outcome) {
		branch, _ := on.CacheContext()
		multi, counts := storecount.WrapMulti(branch.MultiStore(), nil)
		kept, to := sandbox.BranchOf(multi), d.Address
		ctx := branch.WithMultiStore(kept)
		response, err := c.EVM.ApplyMessage(ctx, statedb.New(ctx, c.EVM, statedb.NewEmptyTxConfig()), core.Message{
			From: alice.Address, To: &to, Value: new(big.Int), Data: d.dataOf("run", steps), GasLimit: 25_000_000,
			Nonce: c.EVM.GetNonce(ctx, alice.Address), GasPrice: new(big.Int), GasFeeCap: new(big.Int), GasTipCap: new(big.Int),
		}, nil, true, false, false)
		require.NoError(t, err)
		require.Empty(t, response.VmError, Reason(response.Ret))
		kept.Write()
		return spending{float64(response.MaxUsedGas), weight(counts)}, d.outcomes(response)
	}
	calls, refused := priced(t, c, o), refusedLast(t, c, o)
	// x/vm makes accounts at the addresses that the first calls are of.
	first := []Step{step(AccountOf("nothing at all").Address, nil)}
	for _, name := range []string{"lane", "hasScheduleCapacity"} {
		first = append(first, step(calls[name][0].to, calls[name][0].data, must))
	}
	d.Call(alice, "run", first)
	require.ElementsMatch(t, slices.Collect(maps.Keys(calls)), slices.Collect(maps.Keys(refused)))
	for _, situation := range []struct {
		name string
		ctx  sdk.Context
	}{{"quiet", c.dropped()}, {"20,000 pending", c.crowded(false)}, {"a storm", c.crowded(true)}} {
		t.Run(situation.name, func(t *testing.T) {
			branch, _ := situation.ctx.CacheContext()
			multi, counts := storecount.WrapMulti(branch.MultiStore(), nil)
			meter := storetypes.NewInfiniteGasMeter()
			coins := sdk.NewCoins(sdk.NewInt64Coin(Denom, 1))
			require.NoError(t, c.sent(banktypes.NewMsgSend(alice.Address.Bytes(), bob.Address.Bytes(), coins))(branch.WithMultiStore(multi).WithGasMeter(meter)))
			send := weight(counts) / float64(meter.GasConsumed())
			// What the contract takes that calls an address where there is nothing.
			of := func(data []byte, change ...func(*Step)) spending {
				none, _ := apply(situation.ctx, step(AccountOf("nothing at all").Address, data, change...))
				return none
			}
			hold := func(name string, did, none spending) {
				ratio := (did.weight - none.weight) / (did.gas - none.gas) / send
				t.Logf("%-28s %8.0f gas, %5.0f operations, ratio %.2f", name, did.gas-none.gas, did.weight-none.weight, ratio)
				require.LessOrEqual(t, ratio, float64(limit), "%s, %s", name, situation.name)
			}
			for _, name := range slices.Sorted(maps.Keys(calls)) {
				call := calls[name][0]
				accepted, _ := apply(situation.ctx, step(call.to, call.data, must))
				hold(name, accepted, of(call.data))
				reverts := d.dataOf("run", []Step{step(call.to, call.data, must), step(evmbinding.Address, []byte{1, 2, 3, 4}, must)})
				dropped, did := apply(situation.ctx, step(d.Address, reverts))
				require.Contains(t, string(did[0].Answer), "a step failed", name)
				require.GreaterOrEqual(t, dropped.gas, accepted.gas, "%s, in a call that reverts", name)
				hold(name+", reverted", dropped, of(reverts))
				r := refused[name]
				if r.why != "" {
					continue
				}
				fails, did := apply(situation.ctx, step(r.to, r.data))
				require.Equal(t, r.answers, did[0].Ok, "%s: %s", name, did[0].Answer)
				hold(name+", refused", fails, of(r.data))
			}
		})
	}
}

// TestPrices_OfATransactionThatFailsAtTheCommit: a transaction whose calls of the precompile succeed, and which the bank refuses
// when the EVM commits, is charged its whole limit, as one without gas, and leaves nothing.
func TestPrices_OfATransactionThatFailsAtTheCommit(t *testing.T) {
	c := chain(t)
	d := puppet(c)
	module := common.BytesToAddress(authtypes.NewModuleAddress("feemarket"))
	heights := make([]uint64, 20)
	for i := range heights {
		heights[i] = c.Height() + 5_000
	}
	const gas = 2_000_000
	schedules := step(evmbinding.Address, pack(t, "scheduleAtHeights", heights, uint64(100_000), []byte{}), must)
	before := c.Balance(alice.Address)
	tx := c.Sign(alice, 0, &d.Address, nil, gas, d.dataOf("run", []Step{schedules, step(module, nil, worth(1), must)}))
	price := new(big.Int).Add(new(big.Int).Mul(big.NewInt(2), c.BaseFee()), big.NewInt(1))
	result := c.Block(tx).TxResults[0]
	require.NotZero(t, result.Code, result.Log)
	require.Empty(t, c.TimersOf(d.Address))
	paid := new(big.Int).Sub(before, c.Balance(alice.Address))
	t.Logf("%d gas used of %d, %s paid at up to %s", result.GasUsed, gas, paid, price)
	require.GreaterOrEqual(t, result.GasUsed, int64(gas))
}
