package evmapp

import (
	"math/big"
	"testing"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// watchSlots schedules callbacks of each owner's, so many, each of which watches some slots of a contract.
func watchSlots(c *Chain, owners []*Deployed, each int, contract common.Address, slots func(i int) []common.Hash) {
	c.tb.Helper()
	c.Do(func(ctx sdk.Context) error {
		for _, d := range owners {
			for i := range each {
				watch := &timerstypes.WatchTrigger{}
				for _, slot := range slots(i) {
					key := append(evmtypes.AddressStoragePrefix(contract), slot.Bytes()...)
					watch.Keys = append(watch.Keys, timerstypes.WatchKey{Store: evmtypes.StoreKey, Prefix: key})
				}
				if _, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
					Actor: d.Address.Bytes(), Spec: timerstypes.TimerSpec{
						Call: timerstypes.TimerCall{Handler: evmbinding.HandlerCallback}, GasLimit: 100_000,
						Trigger: timerstypes.Trigger{Watch: watch}, Repeat: &timerstypes.Repeat{Remaining: 1},
					},
				}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// TestAttack_WatchesOneSlotByTheHundred: what a change of one slot sets off is bounded in each block by the lane, and
// continues in the following ones. The owners of the watches pay; others' timers of the block fire.
func TestAttack_WatchesOneSlotByTheHundred(t *testing.T) {
	c := chain(t)
	a := newAttack(c)
	target := alarm(c)
	owners := []*Deployed{puppet(c), puppet(c), puppet(c)}
	const each = 100
	slot := []common.Hash{common.BigToHash(common.Big1)}
	watchSlots(c, owners, each, target.Address, func(int) []common.Hash { return slot })
	at := func(s *Spec) { s.Trigger.AfterBlocks = 1 }
	var txs [][]byte
	for i, d := range a.others {
		stated := spec(250_000, nil, at)
		if i%2 == 0 {
			stated.Bid.StaticBid = evmbinding.StaticBid{MaxPriorityFeePerGas: big.NewInt(1), MaxFeePerGas: Ether}
		}
		txs = append(txs, d.Tx(alice, uint64(i), "schedule", stated))
	}
	c.Block(txs...)
	balances := []*big.Int{}
	for _, d := range owners {
		balances = append(balances, c.Balance(d.Address))
	}
	paid := map[string]*big.Int{}
	lateness := map[string]int{}
	block := target.Call(alice, "set", big.NewInt(5))
	for n := range 9 {
		cycles := uint64(0)
		for _, fire := range Events[*timerstypes.TimerFired](t, block) {
			require.True(t, fire.Success)
			require.Equal(t, fire.Actor, fire.Payer)
			cycles += fire.Cycles
			lateness[fire.Actor] = n
			price, ok := new(big.Int).SetString(fire.Paid, 10)
			require.True(t, ok)
			if paid[fire.Payer] == nil {
				paid[fire.Payer] = new(big.Int)
			}
			paid[fire.Payer].Add(paid[fire.Payer], price)
		}
		t.Logf("block %d: %d fires, %d cycles", n, len(Events[*timerstypes.TimerFired](t, block)), cycles)
		require.LessOrEqual(t, cycles, uint64(2_000_000))
		block = c.Block()
	}
	for i, d := range a.others {
		require.Equal(t, uint64(1), d.number("rings"))
		late := lateness[sdk.AccAddress(d.Address.Bytes()).String()]
		t.Logf("timer %d of others is %d blocks late", i, late)
		if i%2 == 0 {
			require.Zero(t, late)
		}
		require.LessOrEqual(t, late, 3)
	}
	for i, d := range owners {
		require.Equal(t, uint64(each), d.number("fires"))
		actor := sdk.AccAddress(d.Address.Bytes()).String()
		require.Equal(t, new(big.Int).Sub(balances[i], paid[actor]), c.Balance(d.Address))
	}
}

// TestAttack_WatchesByTheThousand: three owners' 3,000 watches of one slot, or of eight out of 250 slots each, that
// one block changes. Lane and overhead hold in each block, and no watch is lost. Another's timer without a tip waits
// for a block for each owner that has fired no more than it, and one that is due later does not wait at all.
func TestAttack_WatchesByTheThousand(t *testing.T) {
	const owned, blocks, changed = 1_000, 10, 250
	c := chain(t)
	ledger := c.Deploy(alice, "Ledger", nil)
	entry := func(i int) common.Hash {
		return crypto.Keccak256Hash(common.BigToHash(big.NewInt(int64(i))).Bytes(), make([]byte, 32))
	}
	for name, try := range map[string]struct {
		slots   func(i int) []common.Hash
		changes int
	}{
		"one slot": {func(int) []common.Hash { return []common.Hash{entry(0)} }, 1},
		"250 slots": {func(i int) (all []common.Hash) {
			for n := range 8 {
				all = append(all, entry((8*i+n)%changed))
			}
			return all
		}, changed},
	} {
		owners := []*Deployed{puppet(c), puppet(c), puppet(c)}
		watchSlots(c, owners, owned, ledger.Address, try.slots)
		var others []*Deployed
		var txs [][]byte
		for range blocks {
			others = append(others, alarm(c))
		}
		start := c.Height() + 2
		for i, d := range others {
			at := func(s *Spec) { s.Trigger.Height = start + uint64(i) }
			txs = append(txs, d.Tx(alice, uint64(i), "schedule", spec(250_000, nil, at)))
		}
		c.Block(txs...)
		txs = nil
		for i := range try.changes {
			txs = append(txs, ledger.Tx(alice, uint64(i), "set", big.NewInt(int64(i)), big.NewInt(int64(start))))
		}
		fires, late := 0, make([]int, blocks)
		for n := range blocks + len(owners) {
			block := c.Block(txs...)
			txs = nil
			for _, fire := range Events[*timerstypes.TimerFired](t, block) {
				require.True(t, fire.Success)
				fires++
				for i, d := range others {
					if fire.Actor == sdk.AccAddress(d.Address.Bytes()).String() {
						late[i] = n - i
					}
				}
			}
			for _, lane := range Events[*timerstypes.TimerLaneSummary](t, block) {
				require.LessOrEqual(t, lane.Cycles, uint64(2_000_000))
				require.LessOrEqual(t, lane.OverheadCycles, uint64(3_000_000))
				if n < 4 {
					t.Logf("%s, block %d: %d fires, %d deferred, %d cycles of overhead",
						name, n, lane.Fired, lane.Deferred, lane.OverheadCycles)
				}
			}
		}
		t.Logf("%s: %d fires, others are late by %v blocks", name, fires, late)
		left := 0
		for _, d := range owners {
			left += len(c.TimersOf(d.Address))
		}
		require.Equal(t, len(owners)*owned+blocks, fires+left)
		for i, d := range others {
			require.Equal(t, uint64(1), d.number("rings"))
			require.LessOrEqual(t, late[i], max(len(owners)-i, 0), "timer %d of others", i)
		}
		cancelAll(c, owners...)
	}
}
