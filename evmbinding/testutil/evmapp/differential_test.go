package evmapp

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// storageOf is all of a contract's storage.
func storageOf(c *Chain, contract common.Address) map[string]string {
	c.tb.Helper()
	prefix, all := evmtypes.AddressStoragePrefix(contract), map[string]string{}
	iterator := storetypes.KVStorePrefixIterator(c.Ctx().MultiStore().GetKVStore(c.key(evmtypes.StoreKey)), prefix)
	defer func() { _ = iterator.Close() }()
	for ; iterator.Valid(); iterator.Next() {
		all[string(iterator.Key()[len(prefix):])] = string(bytes.Clone(iterator.Value()))
	}
	return all
}

// baseOf is what a fire takes before the EVM, in cycles: 20,000, and 1,000 and 3 for each byte to read its payload.
func baseOf(t *testing.T, to common.Address, value *big.Int, data []byte) uint64 {
	t.Helper()
	payload, err := evmbinding.EncodeCall(to, value, data)
	require.NoError(t, err)
	return 20_000 + 1_000 + 3*uint64(len(payload))
}

// eventCycles is what the events take that the one fire of a block emitted: 200 for each above 16. The bank emits several for
// a balance that changes.
func eventCycles(block *abci.ResponseFinalizeBlock) uint64 {
	// What it is charged has one event, of which it does not pay.
	emitted := -1
	for _, event := range block.Events {
		tagged := slices.ContainsFunc(event.Attributes, func(a abci.EventAttribute) bool { return a.Key == "deliver_id" })
		if tagged && !strings.HasPrefix(event.Type, "timers.v1.") {
			emitted++
		}
	}
	return 200 * uint64(max(emitted, 16)-16)
}

// twin is one of two contracts with one code, whose receiver of coins and whose callers are its own.
type twin struct {
	*Deployed
	receiver common.Address
}

// drawCall draws a call of a Ledger, which may revert or run out of gas.
func drawCall(r *rapid.T) func(to twin) (data []byte, value *big.Int) {
	key := big.NewInt(rapid.Int64Range(0, 9).Draw(r, "key"))
	number := big.NewInt(rapid.SampledFrom([]int64{0, 1, 2, 1_000, 1 << 40}).Draw(r, "number"))
	text := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(r, "text")
	value := big.NewInt(rapid.SampledFrom([]int64{0, 0, 1, 12_345}).Draw(r, "value"))
	nothing := new(big.Int)
	calls := []func(to twin) ([]byte, *big.Int){
		func(to twin) ([]byte, *big.Int) { return to.dataOf("set", key, number), value },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("clear", nothing, key), nothing },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("note", key, text), nothing },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("store", text), nothing },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("send", to.receiver, number), value },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("deny", key), nothing },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("tryToDeny", key), nothing },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("spend", big.NewInt(key.Int64()*300)), nothing },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("create", number), value },
		func(to twin) ([]byte, *big.Int) { return to.dataOf("tell"), nothing },
		func(to twin) ([]byte, *big.Int) { return text, value },                                                   // most likely reverts, or is received
		func(to twin) ([]byte, *big.Int) { return nil, value },                                                    // is received
		func(to twin) ([]byte, *big.Int) { return to.dataOf("set", key, number), new(big.Int).Mul(Ether, Ether) }, // has no such sum
	}
	return calls[rapid.IntRange(0, len(calls)-1).Draw(r, "call")]
}

// TestFire_DoesWhatATransactionDoes: one call after another is made as a fire of an account to one contract, and as a signed
// transaction of another account, with the same EVM gas, to its twin. After each, both have the same storage, balance, nonce
// and code, and logged the same; both calls succeeded or failed by the same error, and took the same gas before refunds.
// Of the fire that is its EVM gas, which with its base and its events are its cycles. No account pays but for fees and value.
func TestFire_DoesWhatATransactionDoes(t *testing.T) {
	c := chain(t)
	byFire, byTx := AccountOf("carol"), AccountOf("dave")
	failed, succeeded, calls := map[string]int{}, 0, 0
	rapid.Check(t, func(r *rapid.T) {
		fires := twin{c.Deploy(alice, "Ledger", nil), AccountOf("receiver of fires").Address}
		txs := twin{c.Deploy(alice, "Ledger", nil), AccountOf("receiver of txs").Address}
		for range rapid.IntRange(1, 6).Draw(r, "length") {
			draw := drawCall(r)
			gas := rapid.SampledFrom([]uint64{50_000, 70_000, 150_000, 400_000}).Draw(r, "gas")
			calls++
			before := [2]*big.Int{c.Balance(fires.receiver), c.Balance(txs.receiver)}
			nonce := c.EVM.GetNonce(c.Ctx(), byFire.Address)

			// The fire.
			data, value := draw(fires)
			schedule := pack(t, "schedule", spec(gas, nil, func(s *Spec) { s.Trigger.AfterBlocks = 1 }, callTo(fires.Address, value, data)))
			scheduled := c.Block(c.Sign(byFire, 0, &evmbinding.Address, nil, 500_000, schedule))
			require.Empty(r, c.Result(scheduled.TxResults[0]).VmError)
			own := c.Balance(byFire.Address)
			block := c.Block()
			all := Events[*timerstypes.TimerFired](t, block)
			require.Len(r, all, 1)
			fire := all[0]
			name, tx, result := fireOf(c, block, fire.Id)
			require.Equal(r, fire.Success, name == evmbinding.EventFire)
			base := baseOf(t, fires.Address, value, data)
			require.Equal(r, gas-base, tx.Gas())
			if fire.Success {
				base += eventCycles(block)
			}
			require.Equal(r, nonce+1, c.EVM.GetNonce(c.Ctx(), byFire.Address))
			paid, ok := new(big.Int).SetString(fire.Paid, 10)
			require.True(r, ok)
			spent := paid
			if fire.Success {
				spent = new(big.Int).Add(paid, value)
			}
			require.Equal(r, new(big.Int).Sub(own, spent), c.Balance(byFire.Address))

			// The transaction. One that can't be paid for is none, and neither is one with too little gas to begin.
			data, value = draw(txs)
			intrinsic, err := core.IntrinsicGas(data, nil, nil, false, true, true, true)
			require.NoError(r, err)
			if value.Cmp(Ether) > 0 || intrinsic > tx.Gas() {
				require.False(r, fire.Success)
				failed["not begun"]++
			} else {
				block := c.Block(c.Sign(byTx, 0, &txs.Address, value, tx.Gas(), data))
				got := c.Result(block.TxResults[0])
				require.Equal(r, got.VmError == "", fire.Success, "%s: %s", got.VmError, fire)
				require.Equal(r, got.VmError, result.VmError)
				ranOut := fire.Codespace == timerstypes.ModuleName && fire.Code == timerstypes.ErrOutOfCycles.ABCICode()
				require.Equal(r, strings.HasPrefix(got.VmError, "out of gas"), ranOut, "%s: %s", got.VmError, fire)
				most := result.MaxUsedGas
				if !fire.Success {
					most = result.GasUsed // A call that failed has no refund, and its event the gas alone.
				}
				require.Equal(r, got.MaxUsedGas, most)
				require.LessOrEqual(r, result.GasUsed, most)
				require.Equal(r, base+result.GasUsed, fire.Cycles)
				// A transaction pays for half of its limit at least.
				require.Equal(r, got.GasUsed, max(result.GasUsed, tx.Gas()/2))
				if fire.Success {
					succeeded++
				} else {
					failed[got.VmError]++
				}
				require.Len(r, result.Logs, len(got.Logs))
				for i, log := range result.Logs {
					swapped := func(data []byte) []byte { return twinned(data, txs, fires, byTx, byFire) }
					for j, topic := range got.Logs[i].Topics {
						require.Equal(r, common.BytesToHash(swapped(common.HexToHash(topic).Bytes())).Hex(), log.Topics[j])
					}
					require.Equal(r, swapped(got.Logs[i].Data), log.Data)
					require.Equal(r, txs.Address.Hex(), got.Logs[i].Address)
					require.Equal(r, fires.Address.Hex(), log.Address)
				}
			}
			same(c, r, fires, txs, before)
		}
	})
	t.Logf("%d calls: %d succeeded, failed: %v", calls, succeeded, failed)
	require.Greater(t, succeeded, 20)
	for _, kind := range []string{"execution reverted", "out of gas", "not begun"} {
		require.Positive(t, failed[kind], "%v", failed)
	}
}

// twinned is data of the transaction's side with the addresses of the fire's side.
func twinned(data []byte, txs, fires twin, byTx, byFire Account) []byte {
	data = bytes.ReplaceAll(data, txs.Address.Bytes(), fires.Address.Bytes())
	return bytes.ReplaceAll(data, byTx.Address.Bytes(), byFire.Address.Bytes())
}

// same compares two contracts, their children, and what their receivers got.
func same(c *Chain, r *rapid.T, fires, txs twin, before [2]*big.Int) {
	require.Equal(r, c.Balance(txs.Address), c.Balance(fires.Address))
	require.Equal(r, c.EVM.GetNonce(c.Ctx(), txs.Address), c.EVM.GetNonce(c.Ctx(), fires.Address))
	require.Equal(r, c.EVM.GetCodeHash(c.Ctx(), txs.Address), c.EVM.GetCodeHash(c.Ctx(), fires.Address))
	require.Equal(r, new(big.Int).Sub(c.Balance(txs.receiver), before[1]), new(big.Int).Sub(c.Balance(fires.receiver), before[0]))
	got, want := storageOf(c, fires.Address), storageOf(c, txs.Address)
	require.Len(r, got, len(want))
	for key, value := range want {
		if ours := got[key]; ours != value {
			// A child of the contract: both have one there, alike.
			gotChild, wantChild := common.BytesToAddress([]byte(ours)), common.BytesToAddress([]byte(value))
			require.Equal(r, storageOf(c, wantChild), storageOf(c, gotChild), "slot %x is %x and %x", key, ours, value)
			require.Equal(r, c.Balance(wantChild), c.Balance(gotChild))
			require.NotEqual(r, common.BytesToHash(evmtypes.EmptyCodeHash), c.EVM.GetCodeHash(c.Ctx(), gotChild))
			require.Equal(r, c.EVM.GetCodeHash(c.Ctx(), wantChild), c.EVM.GetCodeHash(c.Ctx(), gotChild))
		}
	}
}
