package prices

import (
	"context"
	"errors"
	"fmt"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/x/feegrant"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// events are the typed events of one kind.
func events[E proto.Message](ctx sdk.Context, kind E) ([]E, error) {
	var found []E
	name := proto.MessageName(kind)
	for _, event := range ctx.EventManager().ABCIEvents() {
		if event.Type != name {
			continue
		}
		parsed, err := sdk.ParseTypedEvent(event)
		if err != nil {
			return nil, err
		}
		e, ok := parsed.(E)
		if !ok {
			return nil, fmt.Errorf("%T is no %s", parsed, name)
		}
		found = append(found, e)
	}
	return found, nil
}

// fires says what the block's fires were billed. There must be n of them, all of which succeeded or all of which failed.
func fires(n int, success bool) func(sdk.Context) (work, error) {
	return func(ctx sdk.Context) (work, error) {
		fired, err := events(ctx, &types.TimerFired{})
		if err != nil || len(fired) != n {
			return work{}, fmt.Errorf("%d of %d timers fired: %w", len(fired), n, err)
		}
		did := work{n: n}
		for _, f := range fired {
			if f.Success != success {
				return work{}, fmt.Errorf("a fire succeeded: %t (%s/%d)", f.Success, f.Codespace, f.Code)
			}
			did.gas += f.Cycles + cellGas*f.Cells
		}
		return did, nil
	}
}

// wide lets all timers of a measured block fire, and pays them.
func wide(genesis *types.GenesisState) {
	config := workload.WideGenesis().Config
	genesis.Config.LaneTimerCycles, genesis.Config.LaneTimerCells = config.LaneTimerCycles, config.LaneTimerCells
}

// firing is a kind of fire, of n timers that setUp schedules.
func firing(name string, n int, success bool, setUp func(*realapp.Chain, sdk.Context) error) kind {
	options := usual(setUp)
	options.Timers = wide
	return kind{name: "fire: " + name, unit: "fire", options: options, floor: sends, subject: endOfBlock(fires(n, success))}
}

// each schedules a timer of each account.
func each(n int, msg func(i int) (*types.MsgScheduleTimer, error)) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		for i := range n {
			m, err := msg(i)
			if err != nil {
				return err
			}
			if err := c.Run(ctx, m, &types.MsgScheduleTimerResponse{}); err != nil {
				return err
			}
		}
		return nil
	}
}

// due schedules a payload for the measured block.
func due(payload func(i int) ([]byte, error), gas, cells uint64) func(int) (*types.MsgScheduleTimer, error) {
	return func(i int) (*types.MsgScheduleTimer, error) {
		bz, err := payload(i)
		msg := schedule(i, types.Trigger{Height: realapp.Height}, bz)
		msg.Spec.GasLimit, msg.Spec.CellLimit = gas, cells
		return msg, err
	}
}

// tooMuch is a send of more than the account has.
func tooMuch(i int) ([]byte, error) {
	to := realapp.KeyedAccount(i + 1).Address
	return workload.SendPayload(banktypes.NewMsgSend(realapp.KeyedAccount(i).Address, to, coin(2*workload.OwnerFunds)))
}

// outputs is a payload that sends a coin to each of so many accounts.
func outputs(n int) func(int) ([]byte, error) {
	return func(i int) ([]byte, error) {
		msg := &banktypes.MsgMultiSend{
			Inputs: []banktypes.Input{{Address: realapp.KeyedAccount(i).Address.String(), Coins: coin(int64(n))}},
		}
		for j := range n {
			msg.Outputs = append(msg.Outputs, banktypes.Output{Address: realapp.KeyedAccount(j % units).Address.String(), Coins: coin(1)})
		}
		return workload.SendPayload(msg)
	}
}

// ofModule schedules n timers of the governance module, whose handler does nothing but emit events, with payloads of so
// many bytes.
func ofModule(n, bytes, emitted int) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		c.App.TimerModules.Register(govtypes.ModuleName, types.DefaultHandler, func(ctx context.Context, _ types.Delivery) error {
			manager := sdk.UnwrapSDKContext(ctx).EventManager()
			for range emitted {
				manager.EmitEvent(sdk.NewEvent("work", sdk.NewAttribute("done", "1")))
			}
			return nil
		})
		actor := authtypes.NewModuleAddress(govtypes.ModuleName)
		if err := c.App.Bank.SendCoins(ctx, realapp.KeyedAccount(0).Address, actor, coin(workload.OwnerFunds/2)); err != nil {
			return err
		}
		for range n {
			if _, err := c.App.Timers.Schedule(ctx, keeper.ScheduleRequest{
				Actor: actor, Spec: types.TimerSpec{
					Trigger: types.Trigger{Height: realapp.Height}, Call: types.TimerCall{Payload: make([]byte, bytes)},
					GasLimit: 40_000 + 3*uint64(bytes) + 200*uint64(emitted),
				},
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

// deployed is contracts of one code, made by the keyed accounts.
func deployed(c *realapp.Chain, ctx sdk.Context, code []byte, n int, init string, pinned bool) ([]sdk.AccAddress, error) {
	var stored wasmtypes.MsgStoreCodeResponse
	creator := realapp.KeyedAccount(0).Address.String()
	if err := c.Run(ctx, &wasmtypes.MsgStoreCode{Sender: creator, WASMByteCode: code}, &stored); err != nil {
		return nil, err
	}
	if pinned {
		pin := &wasmtypes.MsgPinCodes{Authority: c.App.Wasm.GetAuthority(), CodeIDs: []uint64{stored.CodeID}}
		if err := c.Run(ctx, pin, &wasmtypes.MsgPinCodesResponse{}); err != nil {
			return nil, err
		}
	}
	all := make([]sdk.AccAddress, n)
	for i := range all {
		var made wasmtypes.MsgInstantiateContractResponse
		if err := c.Run(ctx, &wasmtypes.MsgInstantiateContract{
			Sender: realapp.KeyedAccount(i).Address.String(), Admin: realapp.KeyedAccount(i).Address.String(), CodeID: stored.CodeID,
			Label: "contract", Msg: []byte(init), Funds: coin(workload.OwnerFunds / 4),
		}, &made); err != nil {
			return nil, err
		}
		var err error
		if all[i], err = sdk.AccAddressFromBech32(made.Address); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// hostile are contracts whose timers call a handler of theirs.
func hostile(n int, handler, payload string, gas, cells uint64) func(*realapp.Chain, sdk.Context) error {
	return calling(n, &types.MsgScheduleTimer{Spec: types.TimerSpec{Call: types.TimerCall{Handler: handler, Payload: []byte(payload)}, GasLimit: gas, CellLimit: cells}},
		func(_ int, contract sdk.AccAddress, m *types.MsgScheduleTimer) { m.Sender = contract.String() })
}

// byAdmins are calls of contracts that their admins scheduled, and pay for.
func byAdmins(n int, handler, payload string) func(*realapp.Chain, sdk.Context) error {
	return calling(n, &types.MsgScheduleTimer{Spec: types.TimerSpec{Call: types.TimerCall{Handler: handler, Payload: []byte(payload)}, GasLimit: 250_000}},
		func(i int, contract sdk.AccAddress, m *types.MsgScheduleTimer) {
			m.Sender, m.Actor = realapp.KeyedAccount(i).Address.String(), contract.String()
		})
}

// calling are timers that call contracts; stated sets who schedules each.
func calling(
	n int, call *types.MsgScheduleTimer, stated func(i int, contract sdk.AccAddress, m *types.MsgScheduleTimer),
) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		all, err := deployed(c, ctx, contracts.Hostile, n, `{}`, false)
		if err != nil {
			return err
		}
		for i, contract := range all {
			msg := *call
			msg.Spec.Trigger = types.Trigger{Height: realapp.Height}
			stated(i, contract, &msg)
			if err := c.Run(ctx, &msg, &types.MsgScheduleTimerResponse{}); err != nil {
				return err
			}
		}
		return nil
	}
}

// runMessages are contracts whose timers run a send as the contract.
func runMessages(n int) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		all, err := deployed(c, ctx, contracts.Listener, n, `{}`, false)
		if err != nil {
			return err
		}
		for i, contract := range all {
			packed, err := codectypes.NewAnyWithValue(banktypes.NewMsgSend(contract, realapp.KeyedAccount(i).Address, coin(1)))
			if err != nil {
				return err
			}
			if err := c.Run(ctx, &types.MsgScheduleTimer{
				Sender: contract.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: realapp.Height}, Call: types.TimerCall{Messages: []*codectypes.Any{packed}}},
			}, &types.MsgScheduleTimerResponse{}); err != nil {
				return err
			}
		}
		return nil
	}
}

// beating are heartbeats whose first beat is in the measured block.
func beating(n int, pinned bool) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		_, err := deployed(c, ctx, contracts.Heartbeat, n, `{"every":1,"start":true}`, pinned)
		return err
	}
}

// granted lets each account's timers be paid by the last one.
func granted(c *realapp.Chain, ctx sdk.Context, urls int) error {
	payer := realapp.KeyedAccount(firstPlain + units).Address
	names := []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})}
	for i := range urls {
		names = append(names, fmt.Sprintf("/cosmos.bank.v1beta1.Msg%05d", i))
	}
	for i := range units {
		allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{SpendLimit: coin(workload.OwnerFunds)}, names)
		if err != nil {
			return err
		}
		if err := c.App.Feegrant.GrantAllowance(ctx, payer, realapp.KeyedAccount(i).Address, allowance); err != nil {
			return err
		}
	}
	return each(units, func(i int) (*types.MsgScheduleTimer, error) {
		msg, err := due(oneSend, 240_000, 0)(i)
		msg.Spec.FeePayer = payer.String()
		return msg, err
	})(c, ctx)
}

// then makes two preparations.
func then(first, second func(*realapp.Chain, sdk.Context) error) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error { return errors.Join(first(c, ctx), second(c, ctx)) }
}

func fireKinds() []kind {
	recurring := func(change func(*types.MsgScheduleTimer)) func(int) (*types.MsgScheduleTimer, error) {
		return func(i int) (*types.MsgScheduleTimer, error) {
			msg, err := due(oneSend, 100_000, 0)(i)
			change(msg)
			return msg, err
		}
	}
	interval := recurring(func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1, First: realapp.Height}}
	})
	retried := func(i int) (*types.MsgScheduleTimer, error) {
		msg, err := due(tooMuch, 100_000, 0)(i)
		msg.Spec.Retry = &types.Retry{Max: 3, After: 1}
		return msg, err
	}
	kinds := []kind{
		firing("a module, no payload", units, true, ofModule(units, 0, 0)),
		firing("a module, 10 kB", units, true, ofModule(units, 10_000, 0)),
		firing("a module, 60 kB", 4, true, ofModule(4, 60_000, 0)),
		firing("a module, 1,000 events", 4, true, ofModule(4, 0, 1_000)),
		firing("an account that sends", units, true, each(units, due(oneSend, 100_000, 0))),
		firing("8 sends", 8, true, each(8, due(func(i int) ([]byte, error) { return sendPayload(i, 8) }, 240_000, 0))),
		firing("an interval that sends", units, true, each(units, interval)),
		firing("a send that fails", units, false, each(units, due(tooMuch, 100_000, 0))),
		firing("a send that fails and is tried again", units, false, each(units, retried)),
		firing("1,000 empty outputs (2 kB)", 8, false, each(8, due(hollows(1_000), 240_000, 0))),
		firing("a MultiSend to 12 (events)", 8, true, each(8, due(outputs(12), 249_000, 0))),
		firing("a send, paid by a vesting account of 75 denoms", units, true,
			then(vests(75), each(units, due(oneSend, 249_000, 0)))),
		firing("a send, paid by a vesting account of 40 denoms", units, true,
			then(vests(40), each(units, due(oneSend, 249_000, 0)))),
		firing("a send, paid by a short allowance", units, true, func(c *realapp.Chain, ctx sdk.Context) error { return granted(c, ctx, 0) }),
		firing("a send, paid by an allowance of 1.7 kB", units, true, func(c *realapp.Chain, ctx sdk.Context) error { return granted(c, ctx, 50) }),
		firing("a contract, pinned", units, true, beating(units, true)),
		firing("a contract, not pinned", units, true, beating(units, false)),
		firing("a contract's messages that send", units, true, runMessages(units)),
		firing("a contract's call that does nothing", units, true, hostile(units, "nothing", `{}`, 250_000, 0)),
		firing("the same call by its admin", units, true, byAdmins(units, "nothing", `{}`)),
		firing("a contract that loops to its limit", 4, false, hostile(4, "loop", `{}`, 250_000, 0)).remarked(lanesWasm),
		firing("a contract that panics", 8, false, hostile(8, "panic", `{}`, 250_000, 0)),
		firing("a contract that recurses", 4, false, hostile(4, "recurse", `{}`, 250_000, 0)).remarked(lanesWasm),
		firing("a contract that takes memory", 4, false, hostile(4, "hog", `{}`, 250_000, 0)).remarked(lanesWasm),
		firing("a contract that floods", 4, false, hostile(4, "flood", `{"bytes":1}`, 250_000, 550_000)),
		firing("a contract that writes 50 kB", 4, true, hostile(4, "write", `{"bytes":50000}`, 250_000, 100_000)),
	}
	kinds = append(kinds, guardKinds()...)
	return append(kinds, watchFire(),
		agentCalls("an answer", "").remarked(agentsWasm), agentCalls("a loop", "loop").remarked(agentsWasm))
}

// guarded are sends whose condition does not hold, in so many cycles.
func guarded(n int, gas uint64, key func(c *realapp.Chain, ctx sdk.Context) types.WatchKey) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		first := key(c, ctx)
		return each(n, func(i int) (*types.MsgScheduleTimer, error) {
			msg, err := due(oneSend, gas, 0)(i)
			msg.Spec.OnlyIf = []types.WatchKey{first}
			return msg, err
		})(c, ctx)
	}
}

// guardKinds are fires that run no handler, since what they read does not hold: a balance, a validator, which takes long to
// decode, and long values of a contract, the last of which takes more than the gas limit.
func guardKinds() []kind {
	of := func(text string, when types.WatchCondition) func(c *realapp.Chain, _ sdk.Context) types.WatchKey {
		return func(c *realapp.Chain, _ sdk.Context) types.WatchKey {
			key, err := c.App.Timers.Engine().Watches.Watcher().Parse(text)
			if err != nil {
				panic(err)
			}
			key.When = &when
			return key
		}
	}
	long := func(bytes int) func(*realapp.Chain, sdk.Context) types.WatchKey {
		return func(c *realapp.Chain, ctx sdk.Context) types.WatchKey {
			contract := make(sdk.AccAddress, 32)
			key := of("wasm:key:"+contract.String()+":k", types.WatchCondition{Op: types.ConditionEqual, Value: "open"})(c, ctx)
			ctx.KVStore(c.App.StoreKey(wasmtypes.StoreKey)).Set(key.Prefix, make([]byte, bytes))
			return key
		}
	}
	poor := types.WatchCondition{Op: types.ConditionLess, Value: "0"}
	balance := "bank:balance:" + realapp.KeyedAccount(0).Address.String() + ":" + app.FeeDenom
	return []kind{
		firing("a guard on a balance", units, false, guarded(units, 100_000, of(balance, poor))),
		firing("a guard on a validator", units, false, guarded(units, 100_000, func(c *realapp.Chain, ctx sdk.Context) types.WatchKey {
			validators, err := c.App.Staking.GetAllValidators(ctx)
			if err != nil {
				panic(err)
			}
			return of("staking:validator:"+validators[0].OperatorAddress, poor)(c, ctx)
		})),
		firing("a guard on 50 kB of a contract", 8, false, guarded(8, 249_000, long(50_000))),
		firing("a guard on 1 MB of a contract", 8, false, guarded(8, 41_000, long(1_000_000))),
	}
}

// What x/wasm prices, and bounds it here.
const (
	lanesWasm  = "x/wasm's own price; the lane bounds it"
	agentsWasm = "x/wasm's own price; agent.cycles_per_block bounds it"
)

// watchFire are watches whose key changes in the measured block. Each sends a coin of its own.
func watchFire() kind {
	k := firing("a watch that sends", units, true, each(units, func(i int) (*types.MsgScheduleTimer, error) {
		payload, err := oneSend(i)
		return schedule(i, watching(workload.Owner(i)), payload), err
	}))
	read := k.subject
	k.subject = func(c *realapp.Chain) (round, error) {
		r, err := read(c)
		if err != nil {
			return r, err
		}
		// The change belongs to a transaction, which pays for it.
		ctx, err := c.Block()
		if err != nil {
			return r, err
		}
		for i := range units {
			if err := c.App.Bank.SendCoins(ctx, realapp.KeyedAccount(firstPlain).Address, workload.Owner(i), coin(1)); err != nil {
				return r, err
			}
		}
		return round{
			ctx:  ctx,
			run:  func() error { return c.App.Timers.EndBlock(ctx) },
			done: func() (work, error) { return fires(units, true)(ctx) },
		}, nil
	}
	return k
}

// agentCalls are calls of an agent that no fire follows: the bids are below the lane basefee.
func agentCalls(name, does string) kind {
	n := 8
	options := usual(func(c *realapp.Chain, ctx sdk.Context) error {
		agents, err := deployed(c, ctx, contracts.Hostile, 1, `{}`, true)
		if err != nil {
			return err
		}
		answer := `{\"max_fee_per_cycle\":\"0.0000001\",\"max_priority_fee_per_cycle\":\"0\",\"max_fee_per_cell\":\"1\"}`
		bid := fmt.Sprintf(`{"bid":{"do":%q,"answer":"%s"}}`, does, answer)
		if err := c.Run(ctx, &wasmtypes.MsgExecuteContract{
			Sender: realapp.KeyedAccount(0).Address.String(), Contract: agents[0].String(), Msg: []byte(bid),
		}, &wasmtypes.MsgExecuteContractResponse{}); err != nil {
			return err
		}
		return each(n, func(i int) (*types.MsgScheduleTimer, error) {
			msg, err := due(oneSend, 250_000, 0)(i)
			msg.Spec.Bid = &types.Bid{Agent: agents[0].String()}
			return msg, err
		})(c, ctx)
	})
	return kind{
		name: "call of a bidding agent: " + name, unit: "call", options: options, floor: sends,
		subject: endOfBlock(func(ctx sdk.Context) (work, error) {
			summary, err := events(ctx, &types.TimerLaneSummary{})
			if err != nil || len(summary) != 1 {
				return work{}, fmt.Errorf("%d summaries: %w", len(summary), err)
			}
			// The call is billed in cycles, of which each pays CYCLE_BASEFEE.
			return work{n: n, gas: summary[0].AgentCycles}, nil
		}),
	}
}
