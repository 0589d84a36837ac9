package evmapp

import (
	"math/big"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// callsPerBlock fit into the lane.
const callsPerBlock = 30

// processorTime is what the process has used so far.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkCall compares a call that adds one to a counter: by a signed transaction, and by a fire of an account's
// timer, in turns. Both are measured in processor time with the block, its commit included, and given for one call.
// What it takes to sign and to schedule is not counted.
func BenchmarkCall(b *testing.B) {
	c := chain(b)
	d := booker(c)
	data, err := d.ABI.Pack("ping")
	require.NoError(b, err)
	payload, err := evmbinding.EncodeCall(d.Address, new(big.Int), data)
	require.NoError(b, err)
	var signed, fires time.Duration
	for b.Loop() {
		txs := make([][]byte, callsPerBlock)
		for i := range txs {
			txs[i] = d.Tx(alice, uint64(i), "ping")
		}
		before := processorTime(b)
		block := c.Block(txs...)
		signed += processorTime(b) - before
		for _, result := range block.TxResults {
			require.Empty(b, c.Result(result).VmError)
		}
		c.Do(func(ctx sdk.Context) error {
			for range callsPerBlock {
				if _, err := c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
					Actor: alice.Address.Bytes(), Spec: timerstypes.TimerSpec{
						Trigger: timerstypes.Trigger{After: 1}, Call: timerstypes.TimerCall{Handler: evmbinding.HandlerCall, Payload: payload},
						GasLimit: 60_000, CellLimit: 1_000,
					},
				}); err != nil {
					return err
				}
			}
			return nil
		})
		before = processorTime(b)
		block = c.Block()
		fires += processorTime(b) - before
		require.Len(b, Events[*timerstypes.TimerFired](b, block), callsPerBlock)
	}
	calls := float64(b.N * callsPerBlock)
	b.ReportMetric(float64(signed.Microseconds())/calls, "µs/transaction")
	b.ReportMetric(float64(fires.Microseconds())/calls, "µs/fire")
	b.ReportMetric(float64(fires)/float64(signed), "fire/transaction")
}
