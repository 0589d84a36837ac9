package evmapp

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// usePolicy puts a policy in force.
func usePolicy(c *Chain, policy timerstypes.Policy) {
	c.tb.Helper()
	c.Do(func(ctx sdk.Context) error {
		config, err := c.Timers.Keeper.Config(ctx)
		if err != nil {
			return err
		}
		config.Policy = policy
		return c.Timers.Keeper.Engine().Configs.SetNext(ctx, config)
	})
	c.Block()
}

// fireAtOnce lets contracts fire, each so many times in one block.
func fireAtOnce(c *Chain, times int, all ...*Deployed) {
	c.tb.Helper()
	c.Do(func(ctx sdk.Context) error {
		for _, d := range all {
			for range times {
				if _, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
					Actor: d.Address.Bytes(), Spec: timerstypes.TimerSpec{
						Call: timerstypes.TimerCall{Handler: evmbinding.HandlerCallback}, GasLimit: 100_000,
						Trigger: timerstypes.Trigger{After: 1},
					},
				}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	block := c.Block()
	require.Len(c.tb, Events[*timerstypes.TimerFired](c.tb, block), times*len(all))
}

// TestAttack_WaitBehindWatches: three owners' 3,000 watches of one slot, which one block changes. It measures how many
// blocks timers of others wait which are scheduled later, by policy, by when they are due, and by what they bid and
// have fired before.
func TestAttack_WaitBehindWatches(t *testing.T) {
	const each = 1_000
	c := chain(t)
	ledger := c.Deploy(alice, "Ledger", nil)
	total := []common.Hash{common.BigToHash(common.Big1)}
	// Who waits, and how many blocks after the change it is due.
	due := map[string]uint64{"equal": 0, "tips": 0, "busy": 0, "1 later": 1, "5 later": 5, "20 later": 20}
	names := []string{"equal", "tips", "busy", "1 later", "5 later", "20 later"}
	for _, try := range []struct {
		policy timerstypes.Policy
		// fired is how often each owner of watches has fired lately.
		fired int
		// most are the blocks that each of names waits at most.
		most []int
	}{
		// By turn alone: three times as many watches are notified in a block as fire in it, and who is due later waits
		// behind all of them.
		{timerstypes.PolicyFIFO, 0, []int{3, 3, 3, 5, 13, 42}},
		{timerstypes.PolicyFIFO, 4, []int{3, 3, 3, 5, 13, 42}},
		// A block for each owner that has fired no more.
		{timerstypes.PolicyEIP1559, 0, []int{3, 0, 3, 2, 0, 0}},
		{timerstypes.PolicyEIP1559, 4, []int{0, 0, 3, 0, 0, 0}},
	} {
		usePolicy(c, try.policy)
		owners := []*Deployed{puppet(c), puppet(c), puppet(c)}
		if try.fired > 0 {
			fireAtOnce(c, try.fired, owners...)
		}
		others := map[string]*Deployed{}
		for _, name := range names {
			others[name] = alarm(c)
		}
		fireAtOnce(c, 4, others["busy"])
		start := c.Height() + 3
		watchSlots(c, owners, each, ledger.Address, func(int) []common.Hash { return total })
		var txs [][]byte
		for i, name := range names {
			at := func(s *Spec) { s.Trigger.Height = start + due[name] }
			stated := spec(250_000, nil, at)
			if name == "tips" {
				stated.Bid.StaticBid = evmbinding.StaticBid{MaxPriorityFeePerGas: big.NewInt(1), MaxFeePerGas: Ether}
			}
			txs = append(txs, others[name].Tx(alice, uint64(i), "schedule", stated))
		}
		c.Block(txs...)
		late, fires := map[string]int{}, 0
		block := ledger.Call(alice, "set", big.NewInt(1), new(big.Int).SetUint64(start))
		require.Equal(t, start, c.Height())
		for n := 0; len(late) < len(names); n++ {
			require.Less(t, n, 100, "%v", late)
			for _, fire := range Events[*timerstypes.TimerFired](t, block) {
				require.True(t, fire.Success)
				fires++
				for _, name := range names {
					if fire.Actor == sdk.AccAddress(others[name].Address.Bytes()).String() {
						late[name] = n - int(due[name])
					}
				}
			}
			block = c.Block()
		}
		t.Logf("%s, owners have fired %d times: late by %v blocks, %d fires", try.policy, try.fired, late, fires)
		for i, name := range names {
			require.LessOrEqual(t, late[name], try.most[i], "%s %d, %s", try.policy, try.fired, name)
		}
		cancelAll(c, owners...)
	}
	usePolicy(c, timerstypes.PolicyEIP1559)
}
