package prices

import (
	"fmt"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// pendingTimers wait for a later block, readyTimers compete for a lane that stands still.
	pendingTimers, readyTimers = 20_000, 6_000
	// manyMessages are those of one transaction.
	manyMessages = 150
)

// crowded is a chain on which a timer is looked up among very many.
type crowded struct {
	name    string
	options realapp.Options
	// ids of each keyed account's timers. The first account has as many as a transaction has messages, the others one.
	ids [units][]string
}

// own is how many timers a keyed account has.
func own(i int) int {
	if i == 0 {
		return manyMessages
	}
	return 1
}

// amidPending is a chain that has just scheduled 20,000 timers, so that most of them are in no merged run yet.
func amidPending() *crowded { return amid(pendingTimers) }

// amid is one that has just scheduled so many timers, and those of the keyed accounts.
func amid(pending int) *crowded {
	c := &crowded{name: fmt.Sprintf(", amid %d pending timers", pending)}
	c.options = usual(func(chain *realapp.Chain, ctx sdk.Context) error {
		c.ids = [units][]string{}
		add := func(owner sdk.AccAddress, j int) (string, error) {
			payload, err := workload.SendPayload(banktypes.NewMsgSend(owner, realapp.KeyedAccount(0).Address, coin(1)))
			if err != nil {
				return "", err
			}
			var response types.MsgScheduleTimerResponse
			err = chain.Run(ctx, &types.MsgScheduleTimer{
				Sender: owner.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: far + uint64(j%50)}, Call: types.TimerCall{Payload: payload}, GasLimit: 100_000},
			}, &response)
			return response.Id, err
		}
		for j := range pending {
			owner := workload.Owner(j % (pending / 100))
			if j < pending/100 {
				chain.App.Accounts.SetAccount(ctx, chain.App.Accounts.NewAccountWithAddress(ctx, owner))
			}
			if _, err := add(owner, j); err != nil {
				return err
			}
		}
		for i := range units {
			for j := range own(i) {
				id, err := add(realapp.KeyedAccount(i).Address, j)
				if err != nil {
					return err
				}
				c.ids[i] = append(c.ids[i], id)
			}
		}
		return chain.App.Timers.EndBlock(ctx)
	})
	return c
}

// amidReady is a chain with a storm of 6,000 ready timers, some of which have been admitted.
func amidReady() *crowded {
	c := &crowded{name: fmt.Sprintf(", in a storm of %d ready timers", readyTimers)}
	c.options = usual(func(chain *realapp.Chain, ctx sdk.Context) error { return chain.App.Timers.EndBlock(ctx) })
	c.options.Timers = paused(func(genesis *types.GenesisState) {
		c.ids = [units][]string{}
		for j := range readyTimers {
			workload.AddTimer(genesis, workload.Owner(j/100), 1, nil, 100_000)
		}
		for i := range units {
			for range own(i) {
				timer := workload.AddTimer(genesis, realapp.KeyedAccount(i).Address, 1, nil, 100_000)
				c.ids[i] = append(c.ids[i], timer.IDHex())
			}
		}
	})
	return c
}

// change is a message on a timer.
type change struct {
	name string
	msg  func(sender, id string) sdk.Msg
	// fails: there is no such timer.
	fails bool
}

// changes are all messages that look up a timer.
var changes = []change{
	{name: "extend", msg: func(sender, id string) sdk.Msg {
		return &types.MsgExtendTimer{Sender: sender, Id: id, ExpiresAt: 2 * far}
	}},
	{name: "update the gas limit", msg: func(sender, id string) sdk.Msg {
		return &types.MsgUpdateTimer{Sender: sender, Id: id, Spec: types.TimerSpec{GasLimit: 90_000}, Fields: []string{"gas_limit"}}
	}},
	{name: "cancel", msg: func(sender, id string) sdk.Msg { return &types.MsgCancelTimer{Sender: sender, Id: id} }},
	{name: "pause", msg: func(sender, id string) sdk.Msg { return &types.MsgPauseTimer{Sender: sender, Id: id} }},
	{name: "resume what waits", fails: true, msg: func(sender, id string) sdk.Msg {
		return &types.MsgResumeTimer{Sender: sender, Id: id}
	}},
	{name: "cancel what does not exist", fails: true, msg: func(sender, id string) sdk.Msg {
		return &types.MsgCancelTimer{Sender: sender, Id: id[32:] + id[:32]}
	}},
}

// message is a kind of message through the router, in a branch of its own, without an ante handler.
func (c *crowded) message(of change) kind {
	return kind{
		name: "message: " + of.name + c.name, unit: "message", options: c.options, floor: sends,
		subject: func(chain *realapp.Chain) (round, error) {
			ctx, err := chain.Block()
			if err != nil {
				return round{}, err
			}
			did := work{n: units}
			return round{
				ctx: ctx,
				run: func() error {
					for i := range units {
						msg := of.msg(realapp.KeyedAccount(i).Address.String(), c.ids[i][0])
						branch, commit := ctx.CacheContext()
						meter := storetypes.NewGasMeter(realapp.TxGas)
						_, err := chain.App.MsgServiceRouter().Handler(msg)(branch.WithGasMeter(meter), msg)
						if (err != nil) != of.fails {
							return fmt.Errorf("%s: %w", of.name, err)
						}
						if err == nil {
							commit()
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

// together is a transaction of many messages, compared with one of as many sends.
func (c *crowded) together(of change) kind {
	return kind{
		name: fmt.Sprintf("%d messages in a transaction: %s%s", manyMessages, of.name, c.name), unit: "transaction", options: c.options,
		floor: transactions(firstPlain, 1, func(i int) ([]sdk.Msg, error) {
			msgs := make([]sdk.Msg, manyMessages)
			for j := range msgs {
				msgs[j] = sendOf(i)
			}
			return msgs, nil
		}),
		subject: transactions(0, 1, func(i int) ([]sdk.Msg, error) {
			msgs := make([]sdk.Msg, manyMessages)
			for j := range msgs {
				msgs[j] = of.msg(realapp.KeyedAccount(i).Address.String(), c.ids[i][j])
			}
			return msgs, nil
		}),
	}
}

// asked is a contract's query of one of the timers, by so many digits of its id.
func (c *crowded) asked(digits int) kind {
	k := asking(fmt.Sprintf("a timer by %d digits%s", digits, c.name), units, nil, func() string {
		return fmt.Sprintf(`{"timers":{"timer":{"actor":%q,"id":%q}}}`, realapp.KeyedAccount(1).Address.String(), c.ids[1][0][:digits])
	})
	k.options = c.options
	return k
}

// asks are a contract's other look-ups among very many timers.
func (c *crowded) asks() (kinds []kind) {
	byActor := func(actor string) func() string {
		return func() string { return fmt.Sprintf(`{"timers":{"timers_by_actor":{"actor":%q}}}`, actor) }
	}
	for _, of := range []struct {
		name     string
		question func() string
	}{
		{"the timers of an address without any", byActor(workload.Owner(1 << 20).String())},
		{"the timers of an address", byActor(realapp.KeyedAccount(1).Address.String())},
		{"the verdict on a timer", func() string {
			return fmt.Sprintf(`{"timers":{"timer":{"actor":%q,"id":%q,"verdict":true}}}`, realapp.KeyedAccount(1).Address.String(), c.ids[1][0])
		}},
		{"an estimate", func() string { return `{"timers":{"estimate":{"gas_limit":"60000"}}}` }},
	} {
		k := asking(of.name+c.name, units, nil, of.question)
		k.options = c.options
		kinds = append(kinds, k)
	}
	return kinds
}

func lookupKinds() (kinds []kind) {
	for _, c := range []*crowded{amidPending(), amidReady()} {
		for _, of := range changes {
			kinds = append(kinds, c.message(of))
			if !of.fails {
				kinds = append(kinds, c.together(of))
			}
		}
		kinds = append(kinds, c.asked(2*types.IDBytes), c.asked(4))
		kinds = append(kinds, c.asks()...)
	}
	return kinds
}
