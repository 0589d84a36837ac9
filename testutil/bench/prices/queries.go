package prices

import (
	"encoding/json"
	"fmt"
	"strings"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"

	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// asking is a query in JSON as a contract makes it.
func asking(name string, n int, setUp func(*realapp.Chain, sdk.Context) error, question func() string) kind {
	return stating("query of a contract: "+name, "query", n, setUp, func(c *realapp.Chain) func(sdk.Context) error {
		ask := wasmbinding.Queries(c.App.AppCodec(), c.App.GRPCQueryRouter())
		return func(ctx sdk.Context) error {
			answer, err := ask(ctx, json.RawMessage(question()))
			if err == nil && len(answer) == 0 {
				err = fmt.Errorf("no answer")
			}
			return err
		}
	})
}

// refused is a query that is read and refused, with as many members as fit.
func refused(name string, n int, question string) kind {
	return stating("query of a contract, refused: "+name, "query", n, nil, func(c *realapp.Chain) func(sdk.Context) error {
		ask := wasmbinding.Queries(c.App.AppCodec(), c.App.GRPCQueryRouter())
		return func(ctx sdk.Context) error {
			if _, err := ask(ctx, json.RawMessage(question)); err == nil {
				return fmt.Errorf("not refused")
			}
			return nil
		}
	})
}

// refusedMessage is a message that a contract returns in JSON, which is read and refused.
func refusedMessage(name string, n int, text string) kind {
	return stating("message of a contract, refused: "+name, "message", n, nil, func(c *realapp.Chain) func(sdk.Context) error {
		encode := wasmbinding.Messages(c.App.AppCodec())
		handler := wasmbinding.ChargeMessages(wasmkeeper.MessageHandlerFunc(func(
			_ sdk.Context, contract sdk.AccAddress, _ string, msg wasmvmtypes.CosmosMsg,
		) ([]sdk.Event, [][]byte, [][]*codectypes.Any, error) {
			_, err := encode(contract, msg.Custom)
			return nil, nil, nil, err
		}))
		msg := wasmvmtypes.CosmosMsg{Custom: []byte(text)}
		return func(ctx sdk.Context) error {
			if _, _, _, err := handler.DispatchMsg(ctx, realapp.KeyedAccount(0).Address, "", msg); err == nil {
				return fmt.Errorf("not refused")
			}
			return nil
		}
	})
}

// stating is what a contract states, n times.
func stating(
	name, unit string, n int, setUp func(*realapp.Chain, sdk.Context) error, states func(*realapp.Chain) func(sdk.Context) error,
) kind {
	return kind{
		name: name, unit: unit, options: usual(setUp), floor: sends,
		subject: func(c *realapp.Chain) (round, error) {
			ctx, err := c.Block()
			if err != nil {
				return round{}, err
			}
			state := states(c)
			did := work{n: n}
			return round{
				ctx: ctx,
				run: func() error {
					for range n {
						meter := storetypes.NewGasMeter(realapp.TxGas)
						if err := state(ctx.WithGasMeter(meter)); err != nil {
							return err
						}
						did.gas += meter.GasConsumed()
					}
					return nil
				},
				done: func() (work, error) { return did, nil },
			}, nil
		},
	}
}

// members are those of an object of about so many bytes that no message has.
func members(size int) string {
	var text strings.Builder
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, `"%d":1,`, i)
	}
	return text.String() + `"last":1`
}

// withTimers is a first account with n timers of one payload, and its first one's id.
func withTimers(id *string, n int, payload func(i int) ([]byte, error)) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		bz, err := payload(0)
		if err != nil {
			return err
		}
		for j := range n {
			msg := schedule(0, types.Trigger{Height: far}, bz)
			msg.Spec.GasLimit = 240_000
			var response types.MsgScheduleTimerResponse
			if err := c.Run(ctx, msg, &response); err != nil {
				return err
			}
			if j == 0 {
				*id = response.Id
			}
		}
		return nil
	}
}

func queryKinds() []kind {
	first := realapp.KeyedAccount(0).Address.String()
	var one, long, of100 string
	timer := func(id *string) func() string {
		return func() string { return fmt.Sprintf(`{"timers":{"timer":{"actor":%q,"id":%q}}}`, first, *id) }
	}
	estimate := func() string { return `{"timers":{"estimate":{"gas_limit":"60000"}}}` }
	amid := asking("an estimate amid 1,000 timers", 4, nil, estimate)
	amid.options.Timers = crowd(1_000, func(int, *types.Timer) {})
	var owner, waits string
	ready := asking("a ready timer amid 1,000", 4, nil, func() string {
		return fmt.Sprintf(`{"timers":{"timer":{"actor":%q,"id":%q}}}`, owner, waits)
	})
	ready.options.Timers = crowd(1_000, func(_ int, t *types.Timer) { owner, waits = sdk.AccAddress(t.Actor).String(), t.IDHex() })
	return []kind{
		asking("an estimate", units, nil, estimate),
		amid, ready,
		refused("8 kB of members", units, `{"timers":{"estimate":{`+members(8_000)+`}}}`),
		refused("8 kB of empty lists", units, `{"timers":{"estimate":{"bid":[`+strings.Repeat("[],", 2_650)+`1]}}}`),
		refused("8 kB of digits", units, `{"timers":{"estimate":{"max_charge":"`+strings.Repeat("9", 8_000)+`"}}}`),
		refused("a field of the parameters that is none", units, `{"timers":{"params":{"fields":["none"]}}}`),
		refused("64 kB, which is too long", units, `{"timers":{"estimate":{`+members(64_000)+`}}}`),
		refusedMessage("64 kB of members", 4, `{"timers":{"schedule":{`+members(64_000)+`}}}`),
		refusedMessage("64 kB of empty keys", 4, `{"timers":{"schedule":{"trigger":{"watch":{"keys":[`+strings.Repeat("{},", 21_000)+`{}]}},"none":1}}}`),
		asking("params", units, nil, func() string { return `{"timers":{"params":{}}}` }),
		asking("lane", units, nil, func() string { return `{"timers":{"lane":{}}}` }),
		asking("agent", units, nil, func() string { return fmt.Sprintf(`{"timers":{"agent":{"actor":%q}}}`, first) }),
		asking("a timer that sends", units, withTimers(&one, 1, oneSend), timer(&one)),
		asking("one of 100 timers", units, withTimers(&of100, 100, oneSend), timer(&of100)),
		asking("a timer of 1,000 empty outputs", 4, withTimers(&long, 1, hollows(1_000)), timer(&long)),
		asking("a list of 100", 4, withTimers(&of100, 100, oneSend), func() string {
			return fmt.Sprintf(`{"timers":{"timers_by_actor":{"actor":%q}}}`, first)
		}),
		asking("deliveries of none", units, nil, func() string { return fmt.Sprintf(`{"timers":{"deliveries":{"actor":%q}}}`, first) }),
		asking("a list of none", units, nil, func() string {
			return fmt.Sprintf(`{"timers":{"timers_by_actor":{"actor":%q}}}`, first)
		}),
	}
}
