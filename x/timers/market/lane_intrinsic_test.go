package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// Rule: 1.1-intrinsic-counted
func TestFireWork_CountsItsBytes(t *testing.T) {
	require.Equal(t, uint64(20_000), market.FireWork{}.Cycles())
	require.Equal(t, uint64(23_000), market.FireWork{PayloadBytes: 1_000}.Cycles())
	require.Equal(t, uint64(33_007), market.FireWork{PayloadBytes: 1_000, MessageBytes: 1_000, PayerCycles: 7}.Cycles())
}

func TestFireWork_OfTheLargestDoesNotOverflow(t *testing.T) {
	work := market.FireWork{PayloadBytes: 1 << 20, MessageBytes: 1 << 24, PayerCycles: 1 << 40}
	require.Equal(t, uint64(20_000+3<<20+10<<24+1<<40), work.Cycles())
}

// TestAffordablePayload_IsTheLongest that leaves the handler a cycle.
//
// Rule: 1.1-handler-budget
func TestAffordablePayload_IsTheLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gasLimit, payer := rapid.Uint64Range(0, 25_000).Draw(t, "gas limit"), rapid.Uint64Range(0, 3_000).Draw(t, "payer")
		bytes, ok := market.AffordablePayload(gasLimit, payer)
		work := market.FireWork{PayerCycles: payer}
		require.Equal(t, work.Cycles() < gasLimit, ok)
		if !ok {
			return
		}
		work.PayloadBytes = bytes
		require.Less(t, work.Cycles(), gasLimit)
		work.PayloadBytes++
		require.GreaterOrEqual(t, work.Cycles(), gasLimit)
	})
}
