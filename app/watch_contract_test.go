package app_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"runtime"
	"testing"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// written is how a key of a contract's storage is written.
func written(contract sdk.AccAddress, key string) string {
	return "wasm:key:" + contract.String() + ":" + key
}

// toldOf returns which of a contract's keys the fires of the last block were told of, by owner.
func toldOf(t *testing.T, c *appchain.Chain, contract sdk.AccAddress) map[string][]string {
	t.Helper()
	told := map[string][]string{}
	receipts, err := timerskeeper.NewQueryServer(c.App.Timers).Receipts(c.Ctx(), &types.QueryReceiptsRequest{Height: uint64(c.App.LastBlockHeight())})
	require.NoError(t, err)
	for _, receipt := range receipts.Receipts {
		owner := receipt.Actor
		told[owner] = []string{}
		for _, match := range receipt.Matched {
			if key, ok := bytes.CutPrefix(match.Key, wasmtypes.GetContractStorePrefix(contract)); ok && match.Store == wasmtypes.StoreKey {
				told[owner] = append(told[owner], string(key))
			}
		}
	}
	return told
}

// TestFormsNameWhatXWasmStores: the module imports none of x/wasm, so its forms are held to x/wasm's own keys.
func TestFormsNameWhatXWasmStores(t *testing.T) {
	c := appchain.New(t, "alice")
	parse := func(text string) (types.WatchKey, error) {
		response, err := timerskeeper.NewQueryServer(c.App.Timers).WatchKey(c.Ctx(), &types.QueryWatchKeyRequest{Text: text})
		if err != nil {
			return types.WatchKey{}, err
		}
		return response.Key, nil
	}
	contract := sdk.AccAddress(bytes.Repeat([]byte{7}, wasmtypes.ContractAddrLen))
	storage := string(wasmtypes.GetContractStorePrefix(contract))
	for text, want := range map[string]string{
		"wasm:contract:" + contract.String():                                   storage,
		written(contract, "count"):                                             storage + "count",
		written(contract, "a:b"):                                               storage + "a:b",
		written(contract, "0x0005count"):                                       "",
		written(contract, "0x0003616263"):                                      storage + "\x00\x03abc",
		written(contract, "0x"):                                                "",
		written(contract, ""):                                                  "",
		"wasm:info:" + contract.String():                                       string(wasmtypes.GetContractAddressKey(contract)),
		"wasm:contract:" + address("alice"):                                    "",
		"wasm:key:" + address("alice") + ":count":                              "",
		fmt.Sprintf("wasm:%x", storage+"count"):                                storage + "count",
		fmt.Sprintf("wasm:%x", storage):                                        storage,
		fmt.Sprintf("wasm:%x", storage[:20]):                                   "",
		fmt.Sprintf("wasm:%x", wasmtypes.GetContractAddressKey(contract)[:32]): "",
		fmt.Sprintf("wasm:%x", wasmtypes.GetCodeKey(3)):                        string(wasmtypes.GetCodeKey(3)),
		// The ante handler writes it, beside the keeper.
		fmt.Sprintf("wasm:%x", wasmtypes.TXCounterPrefix): "",
	} {
		key, err := parse(text)
		require.Equal(t, want == "", err != nil, "%s: %v", text, err)
		require.Equal(t, want, string(key.Prefix), text)
	}

	listed, err := timerskeeper.NewQueryServer(c.App.Timers).Watchable(c.Ctx(), &types.QueryWatchableRequest{})
	require.NoError(t, err)
	forms := map[string][]string{}
	for _, store := range listed.Stores {
		for _, form := range store.Forms {
			forms[store.Store] = append(forms[store.Store], form.Usage)
		}
	}
	require.Equal(t, []string{"wasm:contract:ADDRESS", "wasm:key:ADDRESS:KEY", "wasm:info:ADDRESS"}, forms[wasmtypes.StoreKey])
}

// quarry is a chain whose contract's storage is watched: by alice some keys, by bob all, by carol who the contract is.
type quarry struct {
	*appchain.Chain
	t       *testing.T
	hostile sdk.AccAddress
}

func newQuarry(t *testing.T) *quarry {
	t.Helper()
	q := &quarry{Chain: appchain.NewUnder(t, inOrder, "alice", "bob", "carol", "mallory", "sink"), t: t}
	q.hostile = q.InstantiateWithAdmin("mallory", q.StoreCode("mallory", contracts.Hostile), `{}`, 1_000_000, address("mallory"))
	q.Deliver("alice", watch(t, q.Chain, "alice", 0, written(q.hostile, "mark"), written(q.hostile, "0x626c6f62"), written(q.hostile, "flood0")))
	q.Deliver("bob", watch(t, q.Chain, "bob", 0, "wasm:contract:"+q.hostile.String()))
	q.Deliver("carol", watch(t, q.Chain, "carol", 0, "wasm:info:"+q.hostile.String()))
	return q
}

// call has the contract do something in a transaction of the next block, and returns what fires were told.
func (q *quarry) call(succeeds bool, msg string) map[string][]string {
	q.t.Helper()
	result := q.Execute("mallory", q.hostile, msg)
	require.Equal(q.t, succeeds, result.Code == 0, result.Log)
	return toldOf(q.t, q.Chain, q.hostile)
}

// both of alice and bob were told of these keys.
func both(keys ...string) map[string][]string {
	return map[string][]string{address("alice"): keys, address("bob"): keys}
}

func TestContractStorageCanBeWatched(t *testing.T) {
	q := newQuarry(t)
	none := map[string][]string{}
	require.Equal(t, none, q.call(false, `{"refuse":{}}`), "it wrote its mark, and undid it")
	require.Equal(t, none, q.call(false, `{"loop":{}}`), "out of gas")
	require.Equal(t, both("mark"), q.call(true, `{"nothing":{}}`))
	require.Equal(t, none, q.call(true, `{"nothing":{}}`), "written again, it stays what it was")
	require.Equal(t, both("blob"), q.call(true, `{"write":{"bytes":5}}`))

	// A submessage that succeeds counts; of one that fails and is caught, only what came of it in the caller does.
	require.Equal(t, map[string][]string{address("alice"): {"blob"}, address("bob"): {"blob", "reply"}},
		q.call(true, `{"catch":{"msg":{"write":{"bytes":6}}}}`))
	require.Equal(t, map[string][]string{address("bob"): {"reply"}},
		q.call(true, `{"catch":{"gas":200000,"msg":{"flood":{"bytes":1}}}}`))

	// Neither a query nor a check leaves a note.
	tx := q.Sign("mallory", q.ExecuteMsg("mallory", q.hostile, `{"write":{"bytes":7}}`))
	_, _, err := q.App.Simulate(tx)
	require.NoError(t, err)
	require.Zero(t, fires(q.NextBlock()))

	migrate := func(code uint64) map[string][]string {
		q.Deliver("mallory", &wasmtypes.MsgMigrateContract{Sender: address("mallory"), Contract: q.hostile.String(), CodeID: code, Msg: []byte(`{}`)})
		return toldOf(t, q.Chain, q.hostile)
	}
	require.Equal(t, none, migrate(1), "it has that code already")
	require.Equal(t, map[string][]string{address("carol"): {}}, migrate(q.StoreCode("mallory", contracts.Heartbeat)))
	q.Replay()
}

// TestWhatAContractsHandlerWritesCountsForTheNextBlock: and what a failing one wrote, for none.
func TestWhatAContractsHandlerWritesCountsForTheNextBlock(t *testing.T) {
	q := newQuarry(t)
	due := q.App.LastBlockHeight() + 3
	book := func(after int64, handler string) []byte {
		return q.Sign("mallory", q.ExecuteMsg("mallory", q.hostile, fmt.Sprintf(
			`{"schedule":{"height":%d,"handler":%q,"gas_limit":250000,"payload":{"bytes":9}}}`, due+after, handler)))
	}
	for _, result := range q.NextBlock(book(0, "refuse"), book(3, "write")).TxResults {
		require.Zero(t, result.Code, result.Log)
	}
	q.NextBlock()
	for range 3 {
		response := q.NextBlock()
		if q.App.LastBlockHeight() == due {
			require.Equal(t, "false", appchain.Events(response, "timers.v1.TimerFired")[0]["success"])
			require.Equal(t, 1, fires(response))
			continue
		}
		require.Zero(t, fires(response), "the failed one left no trace")
	}
	response := q.NextBlock()
	require.Equal(t, 1, fires(response))
	require.Equal(t, "true", appchain.Events(response, "timers.v1.TimerFired")[0]["success"])
	require.Equal(t, map[string][]string{q.hostile.String(): {}}, toldOf(t, q.Chain, q.hostile), "it writes at the end of its block")
	q.NextBlock()
	require.Equal(t, both("blob", "mark"), toldOf(t, q.Chain, q.hostile))
	require.Zero(t, fires(q.NextBlock()))
	q.Replay()
}

// TestAContractWatchesAnother: a contract's timer is told what changed, and calls of it are its own.
func TestAContractWatchesAnother(t *testing.T) {
	q := newQuarry(t)
	heartbeat := q.Instantiate("alice", q.StoreCode("alice", contracts.Heartbeat), `{"every":1000}`, 1_000_000)
	key, err := timerskeeper.NewQueryServer(q.App.Timers).WatchKey(q.Ctx(), &types.QueryWatchKeyRequest{Text: written(q.hostile, "blob")})
	require.NoError(t, err)
	_, err = q.App.Timers.Schedule(q.Ctx(), timerskeeper.ScheduleRequest{
		Actor: heartbeat, Spec: types.TimerSpec{
			GasLimit: 250_000, Call: types.TimerCall{Payload: []byte("beat")},
			Trigger: types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key.Key}}}, Repeat: &types.Repeat{Remaining: 2},
		},
	})
	require.NoError(t, err)
	q.NextBlock()
	for i := 1; i <= 3; i++ {
		q.call(true, fmt.Sprintf(`{"write":{"bytes":%d}}`, i))
		var at struct {
			Count int `json:"count"`
			Last  struct {
				FireSeq int `json:"fire_seq"`
				Matched []struct {
					Store string `json:"store"`
					Key   []byte `json:"key"`
				} `json:"matched"`
			} `json:"last"`
		}
		q.QueryContract(heartbeat, `{"beats":{}}`, &at)
		require.Equal(t, min(i, 2), at.Count)
		require.Equal(t, min(i, 2)-1, at.Last.FireSeq)
		require.Len(t, at.Last.Matched, 1)
		require.Equal(t, "wasm", at.Last.Matched[0].Store)
		require.Equal(t, key.Key.Prefix, at.Last.Matched[0].Key)
	}
}

// TestAContractsGasDoesNotDependOnWhoWatches: to the unit, whether its calls succeed or fail.
//
// Rule: 1.10-gas-independent
func TestAContractsGasDoesNotDependOnWhoWatches(t *testing.T) {
	use := func(watching int) (used []int64) {
		c := appchain.NewUnder(t, func(config *types.TimerConfig) { config.LanePaused = true }, "alice", "mallory", "sink")
		hostile := c.Instantiate("mallory", c.StoreCode("mallory", contracts.Hostile), `{}`, 0)
		texts := []string{"wasm:contract:" + hostile.String(), written(hostile, "mark"), written(hostile, "blob"), written(hostile, "flood0")}
		for i := range 12 {
			// As many transactions on each chain, so that those that are compared are the same.
			msg := watch(t, c, "alice", 0, texts[i%4])
			if i >= watching {
				msg.Spec.Trigger = types.Trigger{Height: 1_000}
			}
			c.Deliver("alice", msg)
		}
		for _, call := range []string{
			`{"nothing":{}}`, `{"nothing":{}}`, `{"refuse":{}}`, `{"write":{"bytes":500}}`, `{"write":{"bytes":1}}`,
			`{"catch":{"msg":{"write":{"bytes":6}}}}`, `{"catch":{"gas":300000,"msg":{"flood":{"bytes":1}}}}`, `{"flood":{"bytes":100}}`,
		} {
			used = append(used, c.Execute("mallory", hostile, call).GasUsed)
		}
		return used
	}
	want := use(0)
	require.Equal(t, want, use(1))
	require.Equal(t, want, use(12))
}

// TestContractWatchesReplayAndSurviveAnExport: a random workload, under another number of processors, and started again.
func TestContractWatchesReplayAndSurviveAnExport(t *testing.T) {
	q := newQuarry(t)
	heartbeat := q.Instantiate("alice", q.StoreCode("alice", contracts.Heartbeat), `{"every":2,"start":true}`, 900_000_000)
	random := rand.New(rand.NewSource(11))
	calls := []string{`{"refuse":{}}`, `{"nothing":{}}`, `{"catch":{"msg":{"write":{"bytes":3}}}}`, `{"catch":{"gas":200000,"msg":{"flood":{"bytes":1}}}}`}
	texts := []string{
		"wasm:contract:" + heartbeat.String(), written(heartbeat, "count"), written(heartbeat, "timer"), written(q.hostile, "blob"),
		"bank:balances:" + heartbeat.String(),
	}
	total := 0
	for range 25 {
		var txs [][]byte
		for range random.Intn(3) {
			call := fmt.Sprintf(`{"write":{"bytes":%d}}`, random.Intn(5)+1)
			if random.Intn(2) == 0 {
				call = calls[random.Intn(len(calls))]
			}
			txs = append(txs, q.Sign("mallory", q.ExecuteMsg("mallory", q.hostile, call)))
		}
		if random.Intn(3) == 0 {
			txs = append(txs, q.Sign("bob", watch(t, q.Chain, "bob", uint64(random.Intn(4)), texts[random.Intn(5)])))
		}
		total += fires(q.NextBlock(txs...))
	}
	require.Greater(t, total, 50, "the workload must fire watches")
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	q.Replay()

	restarted := q.Restart()
	require.Equal(t, fires(q.NextBlock()), fires(restarted.NextBlock()))
	for range 8 {
		want := q.NextBlock(q.Sign("mallory", q.ExecuteMsg("mallory", q.hostile, `{"write":{"bytes":8}}`)))
		got := restarted.NextBlock(restarted.Sign("mallory", restarted.ExecuteMsg("mallory", q.hostile, `{"write":{"bytes":8}}`)))
		require.Equal(t, want.TxResults[0].Code, got.TxResults[0].Code)
		require.Equal(t, fires(want), fires(got))
		require.Equal(t, toldOf(t, q.Chain, q.hostile)[address("alice")], toldOf(t, restarted, q.hostile)[address("alice")])
	}
	require.Equal(t, q.Balance(appchain.AccountOf("sink").Address), restarted.Balance(appchain.AccountOf("sink").Address))
}
