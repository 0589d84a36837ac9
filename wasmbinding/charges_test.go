package wasmbinding_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// junk are members of a request that take long to read, of about so many bytes.
func junk(size int) map[string]string {
	var members strings.Builder
	for i := 0; members.Len() < size; i++ {
		fmt.Fprintf(&members, `"%d":1,`, i)
	}
	return map[string]string{
		"a long text":   `"bid":"` + strings.Repeat("9", size) + `"`,
		"a long id":     `"actor":"` + strings.Repeat("a", size) + `"`,
		"many members":  members.String() + `"gas_limit":"1"`,
		"a list":        `"bid":[` + strings.Repeat("1,", size/2) + `1]`,
		"empty lists":   `"bid":[` + strings.Repeat("[],", size/3) + `1]`,
		"empty objects": `"bid":[` + strings.Repeat("{},", size/3) + `1]`,
		"escapes":       `"bid":"` + strings.Repeat(`\u0041`, size/6) + `"`,
		"spaces":        `"bid":` + strings.Repeat(" ", size) + `1`,
		"a long name":   `"` + strings.Repeat("n", size) + `":1`,
	}
}

// gasOf is what a function consumes.
func gasOf(ctx sdk.Context, fn func(sdk.Context)) uint64 {
	meter := storetypes.NewInfiniteGasMeter()
	fn(ctx.WithGasMeter(meter))
	return meter.GasConsumed()
}

// TestCharges_QueriesPayBeforeTheyAreRead: refused ones took 2.4 ms of 64,000 bytes for no gas. What is too long is charged
// and not read.
func TestCharges_QueriesPayBeforeTheyAreRead(t *testing.T) {
	chain, router := newChain(t)
	ask := wasmbinding.Queries(chain.Codec, router)
	for _, size := range []int{7_000, 64_000} {
		for name, body := range junk(size) {
			for _, query := range []string{`{"timers":{"estimate":{` + body + `}}}`, `{"timers":{` + body + `}}`, `{` + body + `}`, body} {
				var err error
				gas := gasOf(chain.Ctx(), func(ctx sdk.Context) { _, err = ask(ctx, []byte(query)) })
				require.Error(t, err, name)
				require.Less(t, len(err.Error()), 2_000, name)
				want := wasmbinding.GasPerByte * len(query)
				if len(query) <= wasmbinding.MaxQueryBytes {
					want += wasmbinding.GasPerObject * objects(query)
					require.GreaterOrEqual(t, gas, uint64(want), name)
					continue
				}
				require.Equal(t, uint64(want), gas, name)
				require.ErrorIs(t, err, wasmtypes.ErrQueryFailed, name)
				require.ErrorContains(t, err, "bytes, want at most 8192", name)
				require.Less(t, testing.AllocsPerRun(3, func() { _, _ = ask(chain.Ctx(), []byte(query)) }), 50.0, name)
			}
		}
	}
	poor := storetypes.NewGasMeter(1_000)
	require.Panics(t, func() { _, _ = ask(chain.Ctx().WithGasMeter(poor), []byte(strings.Repeat("[", 200))) })
}

// objects are those and the lists of JSON without brackets in its texts.
func objects(text string) int { return strings.Count(text, "{") + strings.Count(text, "[") }

// TestCharges_QueriesInProtobufPay: by the bytes, before they are decoded, and no more than may be.
func TestCharges_QueriesInProtobufPay(t *testing.T) {
	chain, router := newChain(t)
	accepted := wasmbinding.AcceptedQueries()
	stargate := wasmbinding.StargateQuerier(wasmkeeper.AcceptListStargateQuerier(accepted, router, chain.Codec))
	grpc := wasmbinding.GrpcQuerier(wasmkeeper.AcceptListGrpcQuerier(accepted, router, chain.Codec))
	for name, ask := range map[string]func(sdk.Context, []byte) error{
		"stargate": func(ctx sdk.Context, data []byte) error {
			_, err := stargate(ctx, &wasmvmtypes.StargateQuery{Path: "/timers.v1.Query/Estimate", Data: data})
			return err
		},
		"grpc": func(ctx sdk.Context, data []byte) error {
			_, err := grpc(ctx, &wasmvmtypes.GrpcQuery{Path: "/timers.v1.Query/Estimate", Data: data})
			return err
		},
	} {
		for _, size := range []int{8_000, 64_000} {
			data := []byte(strings.Repeat("\x10\x01", size/2) + "\xff")
			var err error
			gas := gasOf(chain.Ctx(), func(ctx sdk.Context) { err = ask(ctx, data) })
			require.Error(t, err, name)
			require.Equal(t, uint64(wasmbinding.GasPerByte*len(data)), gas, name)
			if size > wasmbinding.MaxQueryBytes {
				require.ErrorContains(t, err, "bytes, want at most 8192", name)
			}
		}
		require.NoError(t, ask(chain.Ctx(), nil), name)
	}
}

// TestCharges_MessagesPayBeforeTheyAreRead: the handler charges, since the encoder has no meter.
func TestCharges_MessagesPayBeforeTheyAreRead(t *testing.T) {
	chain, _ := newChain(t)
	encode := wasmbinding.Messages(chain.Codec)
	encoded := 0
	handler := wasmbinding.ChargeMessages(wasmkeeper.MessageHandlerFunc(func(
		_ sdk.Context, from sdk.AccAddress, _ string, msg wasmvmtypes.CosmosMsg,
	) ([]sdk.Event, [][]byte, [][]*codectypes.Any, error) {
		if msg.Custom == nil {
			return nil, nil, nil, nil
		}
		encoded++
		_, err := encode(from, msg.Custom)
		return nil, nil, nil, err
	}))
	dispatch := func(msg wasmvmtypes.CosmosMsg) (gas uint64, err error) {
		gas = gasOf(chain.Ctx(), func(ctx sdk.Context) { _, _, _, err = handler.DispatchMsg(ctx, contract, "", msg) })
		return gas, err
	}
	for name, body := range junk(64_000) {
		custom := `{"timers":{"schedule":{` + body + `}}}`
		gas, err := dispatch(wasmvmtypes.CosmosMsg{Custom: []byte(custom)})
		if name != "a long id" { // It is decoded, and refused by the module.
			require.Error(t, err, name)
			require.Less(t, len(err.Error()), 2_000, name)
		}
		require.Equal(t, uint64(wasmbinding.GasPerByte*len(custom)+wasmbinding.GasPerObject*objects(custom)), gas, name)
	}
	require.Equal(t, len(junk(1)), encoded)
	long := []byte(`{"timers":{"schedule":{"spec":{"call":{"payload":"` + strings.Repeat("A", wasmbinding.MaxMessageBytes) + `"}}}}}`)
	gas, err := dispatch(wasmvmtypes.CosmosMsg{Custom: long})
	require.ErrorIs(t, err, wasmtypes.ErrInvalidMsg)
	require.ErrorContains(t, err, "want at most 1572864")
	require.Equal(t, uint64(wasmbinding.GasPerByte*len(long)), gas)
	require.Equal(t, len(junk(1)), encoded, "what is too long is not read")
	_, err = encode(contract, long)
	require.ErrorIs(t, err, wasmtypes.ErrUnknownMsg)

	largest := []byte(`{"timers":{"schedule":{"spec":{"call":{"payload":"` + strings.Repeat("AAAA", 1<<20/3+1) + `"}}}}}`)
	_, err = dispatch(wasmvmtypes.CosmosMsg{Custom: largest})
	require.NoError(t, err, "a payload of 1 MiB can be stated")
	gas, err = dispatch(wasmvmtypes.CosmosMsg{})
	require.NoError(t, err)
	require.Zero(t, gas, "other messages are not charged")
}

// TestCharges_ThePageStatesWhatAQueryCosts: the table of contracts.md, to a tenth.
func TestCharges_ThePageStatesWhatAQueryCosts(t *testing.T) {
	chain, router := newChain(t)
	ask := wasmbinding.Queries(chain.Codec, router)
	page, err := os.ReadFile("../x/timers/docs/use/contracts.md")
	require.NoError(t, err)
	// stated is the n-th figure in the row of a query.
	stated := func(query string, n int) float64 {
		_, row, found := strings.Cut(string(page), "\n| `"+query+"` | ")
		require.True(t, found, query)
		row, _, _ = strings.Cut(row, "\n")
		figure, err := strconv.ParseFloat(strings.ReplaceAll(regexp.MustCompile(`[0-9][0-9,]*`).FindAllString(row, -1)[n], ",", ""), 64)
		require.NoError(t, err)
		return figure
	}
	cost := func(query, body string) float64 {
		var err error
		gas := gasOf(chain.Ctx(), func(ctx sdk.Context) { _, err = ask(ctx, []byte(`{"timers":{"`+query+`":{`+body+`}}}`)) })
		require.NoError(t, err, query)
		return float64(gas)
	}
	actor := `"actor":"` + alice.String() + `"`
	for query, body := range map[string]string{"lane": "", "params": "", "estimate": `"gas_limit":100000`, "deliveries": actor, "timers_by_actor": actor} {
		require.InEpsilon(t, cost(query, body), stated(query, 0), 0.1, query)
	}

	payload, err := types.NewAccountPayload(&banktypes.MsgSend{
		FromAddress: alice.String(), ToAddress: alice.String(), Amount: sdk.NewCoins(sdk.NewInt64Coin(sdk.DefaultBondDenom, 5)),
	})
	require.NoError(t, err)
	bytes, err := payload.Marshal()
	require.NoError(t, err)
	msg := &types.MsgScheduleTimer{
		Sender: alice.String(), Spec: types.TimerSpec{
			Trigger: types.Trigger{Height: chain.Height() + 50}, Call: types.TimerCall{Payload: bytes}, GasLimit: 100_000, ExpiresAt: chain.Height() + 60,
		},
	}
	var listed [2]float64
	var scheduled types.MsgScheduleTimerResponse
	for i := range listed {
		results, _, err := chain.Tx(msg)
		require.NoError(t, err)
		require.NoError(t, scheduled.Unmarshal(results[0].MsgResponses[0].Value))
		listed[i] = cost("timers_by_actor", actor)
	}
	require.InEpsilon(t, listed[1]-listed[0], stated("timers_by_actor", 1), 0.1)
	require.InEpsilon(t, cost("timer", actor+`,"id":"`+scheduled.Id+`"`), stated("timer", 0), 0.1)
}
