package prices

import (
	"fmt"
	"strconv"

	sdk "github.com/cosmos/cosmos-sdk/types"
	vesting "github.com/cosmos/cosmos-sdk/x/auth/vesting/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// far is a height at which nothing of the measured block is due.
const far = 1_000

// usual is a chain with keyed accounts.
func usual(setUp func(*realapp.Chain, sdk.Context) error) realapp.Options {
	return realapp.Options{
		Accounts: realapp.KeyedAccounts(2*units + 2), Funds: coin(workload.OwnerFunds), CacheMiB: realapp.UsualCache, SetUp: setUp,
	}
}

// transaction is a kind of signed transaction.
func transaction(name string, n int, setUp func(*realapp.Chain, sdk.Context) error, msgs func(i int) ([]sdk.Msg, error)) kind {
	return kind{
		name: name, unit: "transaction", options: usual(setUp), floor: transactions(firstPlain, units, plainSend), subject: transactions(0, n, msgs),
	}
}

// firstPlain is the first of the accounts that no kind of work changes or watches.
const firstPlain = units + 1

// plainSend is a send between two of them.
func plainSend(i int) ([]sdk.Msg, error) { return []sdk.Msg{sendOf(i)}, nil }

func schedule(i int, trigger types.Trigger, payload []byte) *types.MsgScheduleTimer {
	msg := &types.MsgScheduleTimer{
		Sender: realapp.KeyedAccount(i).Address.String(), Spec: types.TimerSpec{Trigger: trigger, Call: types.TimerCall{Payload: payload}},
	}
	if trigger.Watch != nil {
		msg.Spec.Repeat = &types.Repeat{Remaining: 1}
	}
	return msg
}

// sendPayload is a payload of so many sends.
func sendPayload(i, n int) ([]byte, error) {
	msgs := make([]sdk.Msg, n)
	for j := range msgs {
		msgs[j] = sendOf(i)
	}
	return workload.SendPayload(msgs...)
}

// hollow is a payload that is short to store and long to decode: a MultiSend with so many empty outputs.
func hollow(i, outputs int) ([]byte, error) {
	return workload.SendPayload(&banktypes.MsgMultiSend{
		Inputs:  []banktypes.Input{{Address: realapp.KeyedAccount(i).Address.String(), Coins: coin(1)}},
		Outputs: make([]banktypes.Output, outputs),
	})
}

// scheduling is a transaction that schedules a timer with this payload.
func scheduling(name string, n int, trigger types.Trigger, payload func(i int) ([]byte, error), gas uint64) kind {
	return transaction(name, n, nil, func(i int) ([]sdk.Msg, error) {
		bz, err := payload(i)
		msg := schedule(i, trigger, bz)
		msg.Spec.GasLimit = gas
		return []sdk.Msg{msg}, err
	})
}

// scheduledBy schedules n timers of each account before the measured block, and returns the first one's id.
func scheduledBy(ids map[int]string, n int, trigger types.Trigger) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		for i := range units {
			payload, err := sendPayload(i, 1)
			if err != nil {
				return err
			}
			for j := range n {
				var response types.MsgScheduleTimerResponse
				if err := c.Run(ctx, schedule(i, trigger, payload), &response); err != nil {
					return err
				}
				if j == 0 {
					ids[i] = response.Id
				}
			}
		}
		return nil
	}
}

// changing is a transaction on a timer that exists.
func changing(name string, paused bool, change func(sender, id string) sdk.Msg) kind {
	ids := map[int]string{}
	setUp := scheduledBy(ids, 1, types.Trigger{Height: far})
	if paused {
		scheduled := setUp
		setUp = func(c *realapp.Chain, ctx sdk.Context) error {
			if err := scheduled(c, ctx); err != nil {
				return err
			}
			for i := range units {
				pause := &types.MsgPauseTimer{Sender: realapp.KeyedAccount(i).Address.String(), Id: ids[i]}
				if err := c.Run(ctx, pause, &types.MsgPauseTimerResponse{}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return transaction(name, units, setUp, func(i int) ([]sdk.Msg, error) {
		return []sdk.Msg{change(realapp.KeyedAccount(i).Address.String(), ids[i])}, nil
	})
}

// balanceKey is what a watch of an account's balance names.
func balanceKey(address sdk.AccAddress) types.WatchKey {
	key := append([]byte{2, byte(len(address))}, address...)
	return types.WatchKey{Store: banktypes.StoreKey, Prefix: append(key, app.FeeDenom...)}
}

func watching(addresses ...sdk.AccAddress) types.Trigger {
	keys := make([]types.WatchKey, len(addresses))
	for i := range keys {
		keys[i] = balanceKey(addresses[i])
	}
	return types.Trigger{Watch: &types.WatchTrigger{Keys: keys}}
}

// conditioned is a watch of a balance that falls below an amount.
func conditioned(address sdk.AccAddress, amount int) types.Trigger {
	trigger := watching(address)
	trigger.Watch.Keys[0].When = &types.WatchCondition{Op: types.ConditionLess, Value: strconv.Itoa(amount)}
	return trigger
}

func settingAgent() kind {
	var agents []sdk.AccAddress
	return transaction("set an agent", units, func(c *realapp.Chain, ctx sdk.Context) (err error) {
		agents, err = deployed(c, ctx, contracts.Hostile, 1, `{}`, false)
		return err
	}, func(i int) ([]sdk.Msg, error) {
		return []sdk.Msg{&types.MsgSetAgent{Sender: realapp.KeyedAccount(i).Address.String(), Agent: agents[0].String()}}, nil
	})
}

// byAdmin is the scheduling of a call by the contract's admin: whose admin it is, and whether the code has the entry point,
// is looked up.
func byAdmin() kind {
	var all []sdk.AccAddress
	return transaction("schedule a contract's call, by its admin", units, func(c *realapp.Chain, ctx sdk.Context) (err error) {
		all, err = deployed(c, ctx, contracts.Listener, units, `{}`, false)
		return err
	}, func(i int) ([]sdk.Msg, error) {
		msg := schedule(i, types.Trigger{Height: far}, []byte(`{}`))
		msg.Actor, msg.Spec.Call.Handler = all[i].String(), "clock_end_block"
		return []sdk.Msg{msg}, nil
	})
}

// vests makes the keyed accounts vesting ones, of as many denoms as fit MAX_PAYER_RECORD_BYTES, which they own.
func vests(denoms int) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		var coins sdk.Coins
		for i := range denoms {
			coins = coins.Add(sdk.NewInt64Coin(fmt.Sprintf("vested%03d", i), 1))
		}
		if err := c.App.Bank.MintCoins(ctx, "mint", scaled(coins, units)); err != nil {
			return err
		}
		for i := range units {
			known := c.App.Accounts.GetAccount(ctx, realapp.KeyedAccount(i).Address)
			if err := c.App.Bank.SendCoinsFromModuleToAccount(ctx, "mint", known.GetAddress(), coins); err != nil {
				return err
			}
			base := realapp.KeyedAccounts(i + 1)[i]
			if err := base.SetAccountNumber(known.GetAccountNumber()); err != nil {
				return err
			}
			// Half of it has vested, so that what is locked is computed.
			account, err := vesting.NewContinuousVestingAccount(base, coins, ctx.BlockTime().Unix()-1_000, ctx.BlockTime().Unix()+1_000)
			if err != nil {
				return err
			}
			c.App.Accounts.SetAccount(ctx, account)
		}
		return nil
	}
}

func scaled(coins sdk.Coins, by int64) sdk.Coins {
	all := make(sdk.Coins, len(coins))
	for i, c := range coins {
		all[i] = sdk.NewCoin(c.Denom, c.Amount.MulRaw(by))
	}
	return all
}

// pausingByName looks the timer up by its name.
func pausingByName() kind {
	name := func(c *realapp.Chain, ctx sdk.Context) error {
		for i := range units {
			payload, err := oneSend(i)
			if err != nil {
				return err
			}
			msg := schedule(i, types.Trigger{Height: far}, payload)
			msg.Spec.Name = "rent"
			if err := c.Run(ctx, msg, &types.MsgScheduleTimerResponse{}); err != nil {
				return err
			}
		}
		return nil
	}
	return transaction("pause by name", units, name, func(i int) ([]sdk.Msg, error) {
		return []sdk.Msg{&types.MsgPauseTimer{Sender: realapp.KeyedAccount(i).Address.String(), Name: "rent"}}, nil
	})
}

func oneSend(i int) ([]byte, error) { return sendPayload(i, 1) }

func hollows(outputs int) func(int) ([]byte, error) {
	return func(i int) ([]byte, error) { return hollow(i, outputs) }
}

func transactionKinds() []kind {
	at := types.Trigger{Height: far}
	eight := make([]sdk.AccAddress, 8)
	for i := range eight {
		eight[i] = workload.Owner(i)
	}
	kinds := []kind{
		scheduling("schedule a send", units, at, oneSend, 0),
		transaction("schedule a send with a name", units, nil, func(i int) ([]sdk.Msg, error) {
			payload, err := oneSend(i)
			msg := schedule(i, at, payload)
			msg.Spec.Name = "rent"
			return []sdk.Msg{msg}, err
		}),
		scheduling("schedule 40 sends (6 kB)", 8, at, func(i int) ([]byte, error) { return sendPayload(i, 40) }, 250_000),
		scheduling("schedule 1,000 empty outputs (2 kB)", units, at, hollows(1_000), 0),
		scheduling("schedule a watch of one key", units, watching(eight[0]), oneSend, 0),
		scheduling("schedule a watch of 8 keys", units, watching(eight...), oneSend, 0),
		scheduling("schedule a watch with a condition", units, conditioned(eight[0], 5), oneSend, 0),
		scheduling("schedule an interval", units, types.Trigger{Interval: &types.IntervalTrigger{Every: 1, First: far}}, oneSend, 0),
		changing("extend", false, func(sender, id string) sdk.Msg {
			return &types.MsgExtendTimer{Sender: sender, Id: id, ExpiresAt: far + 10}
		}),
		changing("update the gas limit", false, func(sender, id string) sdk.Msg {
			return &types.MsgUpdateTimer{Sender: sender, Id: id, Spec: types.TimerSpec{GasLimit: 90_000}, Fields: []string{"gas_limit"}}
		}),
		changing("cancel", false, func(sender, id string) sdk.Msg { return &types.MsgCancelTimer{Sender: sender, Id: id} }),
		changing("pause", false, func(sender, id string) sdk.Msg { return &types.MsgPauseTimer{Sender: sender, Id: id} }),
		pausingByName(),
		changing("resume", true, func(sender, id string) sdk.Msg { return &types.MsgResumeTimer{Sender: sender, Id: id} }),
	}
	kinds = append(kinds, settingAgent(), byAdmin())
	ids := map[int]string{}
	kinds = append(kinds, transaction("schedule a send, the 101st timer", units, scheduledBy(ids, 100, at), func(i int) ([]sdk.Msg, error) {
		payload, err := oneSend(i)
		return []sdk.Msg{schedule(i, at, payload)}, err
	}))
	vested := transaction("schedule a send, paid by a vesting account of 75 denoms", units, vests(75), func(i int) ([]sdk.Msg, error) {
		payload, err := oneSend(i)
		msg := schedule(i, at, payload)
		return []sdk.Msg{msg}, err
	})
	sends := transaction("a send of such an account, without timers", units, vests(75), func(i int) ([]sdk.Msg, error) {
		return []sdk.Msg{sendOf(i)}, nil
	}).remarked("the chain's own price of such an account")
	watched := transaction("a send whose two balances others watch", units, func(c *realapp.Chain, ctx sdk.Context) error {
		for i := range units {
			payload, err := oneSend(i)
			if err != nil {
				return err
			}
			msg := schedule(i, watching(realapp.KeyedAccount(i).Address, realapp.KeyedAccount(i+1).Address), payload)
			if err := c.Run(ctx, msg, &types.MsgScheduleTimerResponse{}); err != nil {
				return err
			}
		}
		return nil
	}, func(i int) ([]sdk.Msg, error) { return []sdk.Msg{sendOf(i)}, nil })
	return append(kinds, vested, sends, watched)
}
