package evmapp

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

func seedSelector() []byte { return crypto.Keccak256([]byte("getPseudorandomSeed()"))[:4] }

// asksTwice is a contract that asks for a seed twice in each call. Slot 0 counts the seeds, which are in the slots from 1 on.
func asksTwice() []byte {
	// MSTORE(0, selector << 224)
	code := append([]byte{0x63}, seedSelector()...)
	code = append(code, 0x60, 0xe0, 0x1b, 0x5f, 0x52)
	for range 2 {
		// CALL(gas, 0x169, 0, 0, 4, 32, 32)
		code = append(code, 0x60, 0x20, 0x60, 0x20, 0x60, 0x04, 0x5f, 0x5f, 0x61, 0x01, 0x69, 0x5a, 0xf1, 0x50)
		// n = SLOAD(0) + 1; SSTORE(0, n); SSTORE(n, MLOAD(32))
		code = append(code, 0x5f, 0x54, 0x60, 0x01, 0x01, 0x80, 0x5f, 0x55, 0x60, 0x20, 0x51, 0x90, 0x55)
	}
	// The constructor returns the code, which follows it.
	return append([]byte{0x60, byte(len(code)), 0x80, 0x60, 0x09, 0x5f, 0x39, 0x5f, 0xf3}, code...)
}

// TestPRNG_EachCallHasASeedOfItsOwn: calls of one transaction, the same transaction again, and fires of one block that differ in
// nothing but their timers. What is asked otherwise is refused.
func TestPRNG_EachCallHasASeedOfItsOwn(t *testing.T) {
	c := chain(t)
	address := crypto.CreateAddress(alice.Address, c.EVM.GetNonce(c.Ctx(), alice.Address))
	require.Empty(t, c.Result(c.Block(c.Sign(alice, 0, nil, new(big.Int), txGas, asksTwice())).TxResults[0]).VmError)
	for range 2 {
		require.Empty(t, c.Result(c.Block(c.Sign(alice, 0, &address, new(big.Int), txGas, nil)).TxResults[0]).VmError)
	}
	payload, err := evmbinding.EncodeCall(address, new(big.Int), nil)
	require.NoError(t, err)
	c.Do(func(ctx sdk.Context) error {
		for range 2 {
			if _, err := c.Timers.Keeper.Schedule(ctx, keeper.ScheduleRequest{
				Actor: alice.Address.Bytes(), Spec: timerstypes.TimerSpec{
					Trigger: timerstypes.Trigger{After: 1}, Call: timerstypes.TimerCall{Handler: evmbinding.HandlerCall, Payload: payload},
					GasLimit: 250_000,
				},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	fires := Events[*timerstypes.TimerFired](t, c.Block())
	require.Len(t, fires, 2)
	require.True(t, fires[0].Success && fires[1].Success)

	slot := func(n int64) common.Hash { return c.EVM.GetState(c.Ctx(), address, common.BigToHash(big.NewInt(n))) }
	require.Equal(t, common.BigToHash(big.NewInt(8)), slot(0))
	seen := map[common.Hash]bool{{}: true}
	for n := int64(1); n <= 8; n++ {
		require.False(t, seen[slot(n)], "seed %d", n)
		seen[slot(n)] = true
	}

	require.Len(t, c.AskAs(alice.Address, evmbinding.PRNGAddress, seedSelector()), 32)
	for _, input := range [][]byte{nil, {1}, {1, 2, 3, 4}, append(seedSelector(), 0)} {
		result := c.Result(c.Block(c.Sign(alice, 0, &evmbinding.PRNGAddress, new(big.Int), txGas, input)).TxResults[0])
		require.NotEmpty(t, result.VmError, "%x", input)
	}
	valued := c.Sign(alice, 0, &evmbinding.PRNGAddress, big.NewInt(1), txGas, seedSelector())
	require.NotEmpty(t, c.Result(c.Block(valued).TxResults[0]).VmError)
}
