package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// Rule: 1.1-intrinsic-counted
func TestIntrinsicCycles(t *testing.T) {
	intrinsic := market.Intrinsic{Base: 20_000, PerPayloadByte: 3, PerMessageByte: 10}
	require.Equal(t, uint64(20_000), intrinsic.Cycles(market.FireWork{}))
	require.Equal(t, uint64(23_000), intrinsic.Cycles(market.FireWork{PayloadBytes: 1_000}))
	require.Equal(t, uint64(33_007), intrinsic.Cycles(market.FireWork{PayloadBytes: 1_000, MessageBytes: 1_000, PayerCycles: 7}))
}

func TestIntrinsicCyclesOfTheLargestWorkDoNotOverflow(t *testing.T) {
	largest := market.Intrinsic{Base: 1 << 50, PerPayloadByte: 1 << 20, PerMessageByte: 1 << 20}
	work := market.FireWork{PayloadBytes: 1 << 20, MessageBytes: 1 << 24, PayerCycles: 1 << 40}
	require.Equal(t, uint64(1<<50+1<<40+1<<44+1<<40), largest.Cycles(work))
}

// TestAffordablePayload: it is the longest that leaves the handler a cycle.
//
// Rule: 1.1-handler-budget
func TestAffordablePayload(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		intrinsic := market.Intrinsic{
			Base: rapid.Uint64Range(1, 1_000).Draw(t, "base"), PerPayloadByte: rapid.Uint64Range(0, 20).Draw(t, "per byte"),
		}
		gasLimit, payer := rapid.Uint64Range(0, 3_000).Draw(t, "gas limit"), rapid.Uint64Range(0, 1_000).Draw(t, "payer")
		bytes, ok := intrinsic.Affordable(gasLimit, payer)
		work := market.FireWork{PayerCycles: payer}
		require.Equal(t, intrinsic.Cycles(work) < gasLimit, ok)
		if !ok || intrinsic.PerPayloadByte == 0 {
			return
		}
		work.PayloadBytes = bytes
		require.Less(t, intrinsic.Cycles(work), gasLimit)
		work.PayloadBytes++
		require.GreaterOrEqual(t, intrinsic.Cycles(work), gasLimit)
	})
}
