package wasmbinding_test

import (
	"encoding/json"
	"runtime"
	"testing"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
)

// texts are what contracts may say, in which the fuzz target begins.
var texts = []string{
	`{"timers":{"schedule":{"spec":{"trigger":{"height":12},"call":{"payload":"YmVhdA=="},"gas_limit":"200000","expires_at":99}}}}`,
	`{"timers":{"schedule":{"spec":{"trigger":{"watch":{"keys":[{"store":"bank","prefix":"YWI=",` +
		`"when":{"op":"CONDITION_OP_LESS","value":"5"}}]}},` +
		`"bid":{"tier":"PRIORITY_TIER_FAST","price":"5"},"max_charge":"9000","name":"x"}}}}`,
	`{"timers":{"schedule":{"spec":{"trigger":{"after":"9"},"call":{"messages":[{"@type":"/cosmos.bank.v1beta1.MsgSend",` +
		`"from_address":"","to_address":"","amount":[{"denom":"utmr","amount":"1"}]}]}}}}}`,
	`{"timers":{"update":{"id":"ab","spec":{"call":{"handler":"tick","payload":"e30="}},"fields":["call"]}}}`,
	`{"timers":{"extend":{"id":"ab","expires_at":7}}}`,
	`{"timers":{"cancel":{"id":"ab"}}}`,
	`{"timers":{"set_agent":{}}}`,
	`{"timers":{"params":{}}}`,
	`{"timers":{"timers_by_actor":{"actor":"` + contract.String() + `","pagination":{"limit":"5","reverse":true}}}}`,
	`{"timers":{"estimate":{"gas_limit":"100000"}}}`,
	`{"timers":{"deliveries":{"actor":"` + contract.String() + `"}}}`,
	`{"timers":{"lane":{}}}`,
}

// TestTheTextsAreTaken: so that what grows from them goes deep.
func TestTheTextsAreTaken(t *testing.T) {
	chain, router := newChain(t)
	for _, text := range texts {
		took := messageIn(t, wasmbinding.Messages(chain.Codec), json.RawMessage(text))
		answer := answerTo(t, chain, wasmbinding.Queries(chain.Codec, router), json.RawMessage(text))
		require.NotEmpty(t, took+answer, text)
	}
}

// FuzzJSONOfContracts: whatever a contract returns or asks, nothing panics, a message that is taken is the contract's own,
// the same text is answered alike twice, and memory stays within a bound that grows with the text.
func FuzzJSONOfContracts(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	chain, router := newChain(f)
	encode, ask := wasmbinding.Messages(chain.Codec), wasmbinding.Queries(chain.Codec, router)
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		took, answer := messageIn(t, encode, text), answerTo(t, chain, ask, text)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20+1_000*len(text)), "bytes allocated")
		require.Equal(t, took, messageIn(t, encode, text))
		require.Equal(t, answer, answerTo(t, chain, ask, text))
	})
}

// messageIn is the message that the text states, as protobuf; nothing if it is refused.
func messageIn(t *testing.T, encode wasmkeeper.CustomEncoder, text json.RawMessage) string {
	t.Helper()
	msgs, err := encode(contract, text)
	if err != nil {
		return ""
	}
	require.Len(t, msgs, 1)
	sent, is := msgs[0].(interface{ GetSender() string })
	require.True(t, is, "%T", msgs[0])
	require.Equal(t, contract.String(), sent.GetSender())
	bz, err := proto.Marshal(msgs[0])
	require.NoError(t, err)
	return sdk.MsgTypeURL(msgs[0]) + string(bz)
}

// answerTo is the answer to a query within a block's gas; nothing if it is refused.
func answerTo(t *testing.T, chain *lab.Chain, ask wasmkeeper.CustomQuerier, text json.RawMessage) (answer string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			require.IsType(t, storetypes.ErrorOutOfGas{}, r)
		}
	}()
	ctx, _ := chain.Ctx().CacheContext()
	bz, err := ask(ctx.WithGasMeter(storetypes.NewGasMeter(30_000_000)), text)
	if err != nil {
		return ""
	}
	require.True(t, json.Valid(bz), "%s", bz)
	return string(bz)
}
