package prices

import (
	"encoding/json"
	"fmt"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// asking is a query in JSON as a contract makes it.
func asking(name string, n int, setUp func(*realapp.Chain, sdk.Context) error, question func() string) kind {
	return kind{
		name: "query of a contract: " + name, unit: "query", options: usual(setUp), floor: sends,
		subject: func(c *realapp.Chain) (round, error) {
			ctx, err := c.Block()
			if err != nil {
				return round{}, err
			}
			ask := wasmbinding.Queries(c.App.AppCodec(), c.App.GRPCQueryRouter())
			did := work{n: n}
			return round{
				ctx: ctx,
				run: func() error {
					for range n {
						meter := storetypes.NewGasMeter(realapp.TxGas)
						answer, err := ask(ctx.WithGasMeter(meter), json.RawMessage(question()))
						if err != nil {
							return err
						}
						if len(answer) == 0 {
							return fmt.Errorf("no answer")
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

// withTimers is a first account with n timers of one payload, and its first one's id.
func withTimers(id *string, n int, payload func(i int) ([]byte, error)) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		bz, err := payload(0)
		if err != nil {
			return err
		}
		for j := range n {
			msg := schedule(0, types.Trigger{Height: far}, bz)
			msg.GasLimit = 240_000
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
	return []kind{
		asking("an estimate", units, nil, estimate),
		amid,
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
