package contracts

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cometbft/cometbft/crypto/ed25519"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	cmttypes "github.com/cometbft/cometbft/types"
	dbm "github.com/cosmos/cosmos-db"

	"cosmossdk.io/log"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client/flags"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/bench/figure"
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
	contractsDue = 2
	// cellGas is what the store charges for a byte.
	cellGas = 30
	// benchChainID and the memory cache that a node has by default, in MiB.
	benchChainID, usualCache = "bench", 100
)

// contractChain is timerd's application, with so many heartbeats due at contractsDue, or as many accounts' sends. Its state
// stays as it is: what is measured runs on branches that are dropped.
type contractChain struct {
	app      *app.App
	home     string
	proposer []byte
	calls    int
	beating  []sdk.AccAddress
	// sends are messages, and what the accounts' timers are to run.
	sends []sdk.Msg
}

// newContractChain makes a chain, on a node with so many MiB of memory for code that is not pinned, and sets it up.
func newContractChain(calls int, cache uint32, setUp func(*contractChain, sdk.Context) error) (_ *contractChain, err error) {
	home, err := os.MkdirTemp("", "timersbench-")
	if err != nil {
		return nil, err
	}
	c := &contractChain{home: home, calls: calls}
	defer func() {
		if err != nil {
			_ = c.close()
		}
	}()
	c.app = app.New(log.NewNopLogger(), dbm.NewMemDB(), nil, true,
		simtestutil.AppOptionsMap{flags.FlagHome: home, "wasm.memory_cache_size": cache}, baseapp.SetChainID(benchChainID), baseapp.SetIAVLSyncPruning(true))
	if err := c.initChain(); err != nil {
		return nil, err
	}
	if err := setUp(c, c.at(contractsDue-1)); err != nil {
		return nil, err
	}
	c.app.CommitMultiStore().Commit()
	return c, nil
}

func (c *contractChain) close() error {
	var err error
	if c.app != nil {
		err = c.app.Close()
	}
	if removed := os.RemoveAll(c.home); err == nil {
		err = removed
	}
	return err
}

// initChain starts the chain from a genesis with a validator, a wide lane and accounts with funds.
func (c *contractChain) initChain() error {
	key := ed25519.GenPrivKeyFromSecret([]byte("timers/bench/validator")).PubKey()
	validator := cmttypes.NewValidator(key, 1)
	c.proposer = validator.Address
	accounts := make([]authtypes.GenesisAccount, c.calls)
	funds := make([]banktypes.Balance, c.calls)
	for i := range accounts {
		accounts[i] = authtypes.NewBaseAccount(workload.Owner(i), nil, uint64(i), 0)
		funds[i] = banktypes.Balance{Address: workload.Owner(i).String(), Coins: sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, workload.OwnerFunds))}
	}
	state, err := simtestutil.GenesisStateWithValSet(c.app.AppCodec(), c.app.DefaultGenesis(),
		cmttypes.NewValidatorSet([]*cmttypes.Validator{validator}), accounts, funds...)
	if err != nil {
		return err
	}
	timers := types.NewGenesis(app.FeeDenom)
	timers.Config.LaneTimerCycles, timers.Config.LaneTimerCells = workload.WideGenesis().Config.LaneTimerCycles, workload.WideGenesis().Config.LaneTimerCells
	if state[types.ModuleName], err = c.app.AppCodec().MarshalJSON(timers); err != nil {
		return err
	}
	raw, err := json.Marshal(state)
	if err != nil {
		return err
	}
	genesisTime := time.Unix(1_700_000_000, 0).UTC()
	if _, err := c.app.InitChain(&abci.RequestInitChain{
		ChainId: benchChainID, Time: genesisTime, InitialHeight: 1, ConsensusParams: simtestutil.DefaultConsensusParams, AppStateBytes: raw,
	}); err != nil {
		return err
	}
	if _, err := c.app.FinalizeBlock(&abci.RequestFinalizeBlock{Height: 1, Time: genesisTime, ProposerAddress: c.proposer}); err != nil {
		return err
	}
	_, err = c.app.Commit()
	return err
}

// at is a context of the committed state in a block of this height.
func (c *contractChain) at(height int64) sdk.Context {
	return c.app.NewUncachedContext(false, cmtproto.Header{
		ChainID: benchChainID, Height: height, Time: time.Unix(1_700_000_000+height, 0).UTC(), ProposerAddress: c.proposer,
	})
}

// run runs a message through the router and reads its response.
func (c *contractChain) run(ctx sdk.Context, msg sdk.Msg, response interface{ Unmarshal([]byte) error }) error {
	result, err := c.app.MsgServiceRouter().Handler(msg)(ctx, msg)
	if err != nil {
		return fmt.Errorf("%s: %w", sdk.MsgTypeURL(msg), err)
	}
	return response.Unmarshal(result.MsgResponses[0].Value)
}

// deployPinned is deploy of a code that is pinned, by the message that governance pins with.
func (c *contractChain) deployPinned(ctx sdk.Context) error {
	if err := c.deploy(ctx); err != nil {
		return err
	}
	return c.run(ctx, &wasmtypes.MsgPinCodes{Authority: c.app.Wasm.GetAuthority(), CodeIDs: []uint64{1}}, &wasmtypes.MsgPinCodesResponse{})
}

// deploy stores the heartbeat's code, as the first of the chain, and makes contracts whose first beat is at contractsDue.
func (c *contractChain) deploy(ctx sdk.Context) error {
	var stored wasmtypes.MsgStoreCodeResponse
	if err := c.run(ctx, &wasmtypes.MsgStoreCode{Sender: workload.Owner(0).String(), WASMByteCode: contracts.Heartbeat}, &stored); err != nil {
		return err
	}
	for i := range c.calls {
		var made wasmtypes.MsgInstantiateContractResponse
		if err := c.run(ctx, &wasmtypes.MsgInstantiateContract{
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
		if err := c.app.Bank.SendCoins(ctx, workload.Owner(i), to, coin); err != nil {
			return err
		}
		msg := banktypes.NewMsgSend(workload.Owner(i), to, coin)
		payload, err := workload.SendPayload(msg)
		if err != nil {
			return err
		}
		if err := c.run(ctx, &types.MsgScheduleTimer{
			Sender: workload.Owner(i).String(), Trigger: types.Trigger{Height: contractsDue}, Payload: payload, GasLimit: workload.SendGasLimit,
		}, &types.MsgScheduleTimerResponse{}); err != nil {
			return err
		}
		c.sends = append(c.sends, msg)
	}
	return nil
}

// block is a branch of the state that is dropped, in the block of contractsDue, which has begun.
func (c *contractChain) block() (sdk.Context, error) {
	branch, _ := c.at(contractsDue).CacheContext()
	return branch, c.app.Timers.BeginBlock(branch)
}

// fire runs the end of a block in which exactly the timers that are meant are due.
func (c *contractChain) fire(ctx sdk.Context) (cycles, cells uint64, err error) {
	if err := c.app.Timers.EndBlock(ctx); err != nil {
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
		if _, err := c.app.MsgServiceRouter().Handler(msg)(branch.WithGasMeter(meter), msg); err != nil {
			return 0, 0, err
		}
		commit()
		cycles += meter.GasConsumed()
	}
	return cycles, 0, nil
}

// ask asks each contract what it bids, as its agent.
func (c *contractChain) ask(ctx sdk.Context) (cycles, cells uint64, err error) {
	question := fmt.Appendf(nil, `{"get_gas_bid":{"timer_id":"%064d","trigger_block_height":%d,"current_block_height":%d,"basefee_cycle":"0.001",`+
		`"basefee_cell":"0.03","basefee_lane_timer":"0.001","previous_block_p50_priority_tip_per_cycle":"0.0001",`+
		`"last_block_cycle_usage":1000000,"owner_actor_balance":"1000000"}}`, 1, contractsDue, contractsDue+2)
	for _, contract := range c.beating {
		meter := storetypes.NewGasMeter(workload.SendGasLimit * 10)
		answer, err := c.app.Wasm.QuerySmart(ctx.WithGasMeter(meter), contract, question)
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
	ctx, err := m.chain.block()
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
	ctx, err := m.chain.block()
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
			if closed := chain.close(); err == nil {
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
		{"a bank send", usualCache, (*contractChain).scheduleSends},
		{"a contract, pinned", usualCache, (*contractChain).deployPinned},
		{"a contract, not pinned", usualCache, (*contractChain).deploy},
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
		"The contract is testutil/contracts/src/heartbeat.rs: a fire reads, writes and schedules the next with a reply. Fires pay pre-charge",
		"and refund, and include FIRE_BASE_CYCLES. Gas counts 30 a cell. From disk is a node whose cache is off, or too small for its contracts.",
	}
	return t
}
