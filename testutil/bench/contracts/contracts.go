// Package contracts measures calls of contracts, beside a bank send through the same application.
package contracts

import (
	"encoding/json"
	"fmt"
	"time"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Contracts are what calls of a contract cost beside a bank send through the message router, all on timerd's own
// application: fires of the heartbeat, which reads, writes and schedules its next beat, and the query by which it bids.
type Contracts struct {
	Calls  int            `json:"calls"`
	Rounds int            `json:"rounds"`
	Rows   []ContractCall `json:"rows"`
}

// ContractCall is one kind of call.
type ContractCall struct {
	What string `json:"what"`
	// Cycles and Cells of one call, and its gas: cells count 30 each, as the store prices bytes.
	Cycles float64 `json:"cycles"`
	Cells  float64 `json:"cells"`
	Gas    float64 `json:"gas"`
	// Module are operations on the timers store of one call, All those on every store.
	Module float64 `json:"module_ops"`
	All    float64 `json:"all_ops"`
	// Micros is the median over the rounds; Ratio the median of the rounds' own ratios to the send.
	Micros float64 `json:"us"`
	Ratio  float64 `json:"ratio"`
}

const (
	// contractsDue is when all timers are due; chains are set up in the block before.
	contractsDue = realapp.Height
	// cellGas is what the store charges for a byte.
	cellGas = 30
)

// contractChain is timerd's application, with so many heartbeats due at contractsDue, or as many accounts' sends. Its state
// stays as it is: what is measured runs on branches that are dropped.
type contractChain struct {
	*realapp.Chain
	calls   int
	beating []sdk.AccAddress
	// sends are messages, and what the accounts' timers are to run.
	sends []sdk.Msg
}

// newContractChain makes a chain, on a node with so many MiB of memory for code that is not pinned, and sets it up.
func newContractChain(calls int, cache uint32, setUp func(*contractChain, sdk.Context) error) (*contractChain, error) {
	c := &contractChain{calls: calls}
	accounts := make([]*authtypes.BaseAccount, calls)
	for i := range accounts {
		accounts[i] = authtypes.NewBaseAccount(workload.Owner(i), nil, uint64(i), 0)
	}
	var err error
	c.Chain, err = realapp.New(realapp.Options{
		Accounts: accounts, Funds: sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, workload.OwnerFunds)), CacheMiB: cache,
		Timers: func(genesis *types.GenesisState) {
			wide := workload.WideGenesis().Config
			genesis.Config.LaneTimerCycles, genesis.Config.LaneTimerCells = wide.LaneTimerCycles, wide.LaneTimerCells
		},
		SetUp: func(chain *realapp.Chain, ctx sdk.Context) error {
			c.Chain = chain
			return setUp(c, ctx)
		},
	})
	return c, err
}

// deployPinned is deploy of a code that is pinned, by the message that governance pins with.
func (c *contractChain) deployPinned(ctx sdk.Context) error {
	if err := c.deploy(ctx); err != nil {
		return err
	}
	return c.Run(ctx, &wasmtypes.MsgPinCodes{Authority: c.App.Wasm.GetAuthority(), CodeIDs: []uint64{1}}, &wasmtypes.MsgPinCodesResponse{})
}

// deploy stores the heartbeat's code, as the first of the chain, and makes contracts whose first beat is at contractsDue.
func (c *contractChain) deploy(ctx sdk.Context) error {
	var stored wasmtypes.MsgStoreCodeResponse
	if err := c.Run(ctx, &wasmtypes.MsgStoreCode{Sender: workload.Owner(0).String(), WASMByteCode: contracts.Heartbeat}, &stored); err != nil {
		return err
	}
	for i := range c.calls {
		var made wasmtypes.MsgInstantiateContractResponse
		if err := c.Run(ctx, &wasmtypes.MsgInstantiateContract{
			Sender: workload.Owner(i).String(), CodeID: stored.CodeID, Label: "heartbeat", Msg: []byte(`{"every":1,"start":true}`),
			Funds: sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, workload.OwnerFunds/2)),
		}, &made); err != nil {
			return err
		}
		address, err := sdk.AccAddressFromBech32(made.Address)
		if err != nil {
			return err
		}
		c.beating = append(c.beating, address)
	}
	return nil
}

// scheduleSends schedules a send of each account for contractsDue.
func (c *contractChain) scheduleSends(ctx sdk.Context) error {
	for i := range c.calls {
		to := workload.Owner(workload.FirstRecipient + i)
		coin := sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1))
		// A first send makes the account.
		if err := c.App.Bank.SendCoins(ctx, workload.Owner(i), to, coin); err != nil {
			return err
		}
		msg := banktypes.NewMsgSend(workload.Owner(i), to, coin)
		payload, err := workload.SendPayload(msg)
		if err != nil {
			return err
		}
		if err := c.Run(ctx, &types.MsgScheduleTimer{
			Sender: workload.Owner(i).String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: contractsDue}, Call: types.TimerCall{Payload: payload}, GasLimit: workload.SendGasLimit},
		}, &types.MsgScheduleTimerResponse{}); err != nil {
			return err
		}
		c.sends = append(c.sends, msg)
	}
	return nil
}

// fire runs the end of a block in which exactly the timers that are meant are due.
func (c *contractChain) fire(ctx sdk.Context) (cycles, cells uint64, err error) {
	if err := c.App.Timers.EndBlock(ctx); err != nil {
		return 0, 0, err
	}
	fired := 0
	for _, event := range ctx.EventManager().ABCIEvents() {
		if event.Type != "timers.v1.TimerFired" {
			continue
		}
		typed, err := sdk.ParseTypedEvent(event)
		if err != nil {
			return 0, 0, err
		}
		fire, ok := typed.(*types.TimerFired)
		if !ok || !fire.Success {
			return 0, 0, fmt.Errorf("a fire failed: %v", typed)
		}
		fired++
		cycles, cells = cycles+fire.Cycles, cells+fire.Cells
	}
	if fired != c.calls {
		return 0, 0, fmt.Errorf("%d of %d timers fired", fired, c.calls)
	}
	return cycles, cells, nil
}

// send runs the accounts' messages through the router, each in a branch of its own as a transaction's are.
func (c *contractChain) send(ctx sdk.Context) (cycles, cells uint64, err error) {
	for _, msg := range c.sends {
		branch, commit := ctx.CacheContext()
		meter := storetypes.NewGasMeter(workload.SendGasLimit)
		if _, err := c.App.MsgServiceRouter().Handler(msg)(branch.WithGasMeter(meter), msg); err != nil {
			return 0, 0, err
		}
		commit()
		cycles += meter.GasConsumed()
	}
	return cycles, 0, nil
}

// ask asks each contract what it bids, as its agent.
func (c *contractChain) ask(ctx sdk.Context) (cycles, cells uint64, err error) {
	question := fmt.Appendf(nil, `{"get_gas_bid":{"timer_id":"%064d","owner_actor":"owner","trigger_block_height":%d,`+
		`"current_block_height":%d,"basefee_cycle":"0.001","basefee_cell":"0.03","basefee_lane_timer":"0.001","previous_block_p50_priority_tip_per_cycle":"0.0001",`+
		`"last_block_cycle_usage":1000000,"owner_actor_balance":"1000000"}}`, 1, contractsDue, contractsDue+2)
	for _, contract := range c.beating {
		meter := storetypes.NewGasMeter(workload.SendGasLimit * 10)
		answer, err := c.App.Wasm.QuerySmart(ctx.WithGasMeter(meter), contract, question)
		if err != nil {
			return 0, 0, err
		}
		var bid struct {
			Fee math.LegacyDec `json:"max_fee_per_cycle"`
		}
		if err := json.Unmarshal(answer, &bid); err != nil {
			return 0, 0, err
		}
		cycles += meter.GasConsumed()
	}
	return cycles, 0, nil
}

// measured is one row while it is measured.
type measured struct {
	row   ContractCall
	chain *contractChain
	calls func(*contractChain, sdk.Context) (cycles, cells uint64, err error)
	times []float64
}

// count runs the calls once, and counts what they do to stores.
func (m *measured) count() error {
	ctx, err := m.chain.Block()
	if err != nil {
		return err
	}
	multi, counts := storecount.WrapMulti(ctx.MultiStore(), nil)
	cycles, cells, err := m.calls(m.chain, ctx.WithMultiStore(multi))
	if err != nil {
		return err
	}
	each := func(n int) float64 { return float64(n) / float64(m.chain.calls) }
	m.row.Cycles, m.row.Cells, m.row.Gas = each(int(cycles)), each(int(cells)), each(int(cycles+cells*cellGas))
	m.row.Module, m.row.All = each(workload.Operations(counts.Store(types.StoreKey))), each(workload.Operations(counts.All()))
	return nil
}

// time runs the calls once more, and returns microseconds of one.
func (m *measured) time() (float64, error) {
	ctx, err := m.chain.Block()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	_, _, err = m.calls(m.chain, ctx)
	return float64(time.Since(start).Nanoseconds()) / 1_000 / float64(m.chain.calls), err
}

// MeasureContracts counts each kind of call, then times rounds of them in turn, so that what else the machine does falls on
// all of them.
func MeasureContracts(calls, rounds int) (_ Contracts, err error) {
	var chains []*contractChain
	defer func() {
		for _, chain := range chains {
			if closed := chain.Close(); err == nil {
				err = closed
			}
		}
	}()
	var fires, queries []*measured
	for _, o := range []struct {
		name  string
		cache uint32
		setUp func(*contractChain, sdk.Context) error
	}{
		{"a bank send", realapp.UsualCache, (*contractChain).scheduleSends},
		{"a contract, pinned", realapp.UsualCache, (*contractChain).deployPinned},
		{"a contract, not pinned", realapp.UsualCache, (*contractChain).deploy},
		{"a contract, not pinned, from disk", 0, (*contractChain).deploy},
	} {
		chain, err := newContractChain(calls, o.cache, o.setUp)
		if err != nil {
			return Contracts{}, err
		}
		chains = append(chains, chain)
		fires = append(fires, &measured{row: ContractCall{What: "fire of " + o.name}, chain: chain, calls: (*contractChain).fire})
		queries = append(queries, &measured{row: ContractCall{What: "bid query of " + o.name}, chain: chain, calls: (*contractChain).ask})
	}
	floor := &measured{row: ContractCall{What: "a bank send through the router"}, chain: chains[0], calls: (*contractChain).send}
	rows := append(append([]*measured{floor}, fires...), queries[1:]...)
	return timeRows(rows, calls, rounds)
}

// timeRows measures rows; the first of them is the floor.
func timeRows(rows []*measured, calls, rounds int) (Contracts, error) {
	for _, row := range rows {
		if err := row.count(); err != nil {
			return Contracts{}, fmt.Errorf("%s: %w", row.row.What, err)
		}
	}
	ratios := make([][]float64, len(rows))
	for range rounds {
		floor := 0.0
		for i, row := range rows {
			took, err := row.time()
			if err != nil {
				return Contracts{}, fmt.Errorf("%s: %w", row.row.What, err)
			}
			if i == 0 {
				floor = took
			}
			row.times, ratios[i] = append(row.times, took), append(ratios[i], took/floor)
		}
	}
	result := Contracts{Calls: calls, Rounds: rounds}
	for i, row := range rows {
		row.row.Micros, row.row.Ratio = workload.Median(row.times), workload.Median(ratios[i])
		result.Rows = append(result.Rows, row.row)
	}
	return result, nil
}

// Measure measures all kinds of calls.
func Measure(opts figure.Options) (*Contracts, error) {
	calls, rounds := 100, 15
	if opts.Quick {
		calls, rounds = 50, 9
	}
	measured, err := MeasureContracts(calls, rounds)
	return &measured, err
}

// Table prints them.
func (c *Contracts) Table() *figure.Table {
	t := &figure.Table{
		Title:   "A call of a contract, beside a bank send through the message router",
		Columns: []string{"call", "cycles", "cells", "gas", "ops timers store", "ops all stores", "us", "ratio"},
	}
	if c == nil {
		return t
	}
	for _, call := range c.Rows {
		t.Row(call.What, int(call.Cycles), int(call.Cells), int(call.Gas), call.Module, call.All, call.Micros, call.Ratio)
	}
	t.Notes = []string{
		fmt.Sprintf("%d calls a block, the block's own work shared out among them; medians of %d rounds that take turns, without commit.",
			c.Calls, c.Rounds),
		"The contract is clients/rust/fixtures/heartbeat: a fire reads, writes and schedules the next with a reply. Fires pay pre-charge",
		"and refund, and include FIRE_BASE_CYCLES. Gas counts 30 a cell. From disk is a node whose cache is off, or too small for its contracts.",
	}
	return t
}
