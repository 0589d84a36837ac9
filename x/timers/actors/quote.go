package actors

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Contracts and modules can be bidding agents (x/timers/README.md, "1.9 Fairness and agents"); accounts have no code
// that could answer.
var (
	_ types.Quoter = (*WasmRuntime)(nil)
	_ types.Quoter = (*ModuleRuntime)(nil)
)

// gasBidContext is what a contract is asked about. Its fields and their order are part of the protocol: a contract's
// gas depends on them. Prices are decimals with 18 places, in fee denom.
type gasBidContext struct {
	// TimerID in lower-case hexadecimal.
	TimerID            string `json:"timer_id"`
	OwnerActor         string `json:"owner_actor"`
	OwnerActorBalance  string `json:"owner_actor_balance"`
	TriggerBlockHeight uint64 `json:"trigger_block_height"`
	CurrentBlockHeight uint64 `json:"current_block_height"`
	BasefeeCycle       string `json:"basefee_cycle"`
	BasefeeCell        string `json:"basefee_cell"`
	BasefeeLaneTimer   string `json:"basefee_lane_timer"`
	// LastBlockCycleUsage is that of the lane.
	LastBlockCycleUsage uint64 `json:"last_block_cycle_usage"`
	PreviousBlockP50    string `json:"previous_block_p50_priority_tip_per_cycle"`
}

// Quotes implements types.Quoter. It does not check that the contract answers, since the contract may be migrated
// before it is called.
func (r *WasmRuntime) Quotes(ctx context.Context, agent sdk.AccAddress) bool {
	return r.Serves(ctx, agent)
}

// Quote implements types.Quoter: the smart query {"get_gas_bid": {…}}, in which the contract can't write.
func (r *WasmRuntime) Quote(ctx context.Context, agent sdk.AccAddress, about types.BidContext) (types.AgentQuote, error) {
	request, err := gasBidRequest(about)
	if err != nil {
		return types.AgentQuote{}, err
	}
	answer, err := r.view.QuerySmart(ctx, agent, request)
	if err != nil {
		return types.AgentQuote{}, err
	}
	return ParseQuote(answer)
}

func gasBidRequest(about types.BidContext) ([]byte, error) {
	prices := about.Prices
	return json.Marshal(map[string]gasBidContext{"get_gas_bid": {
		TimerID:            hex.EncodeToString(about.TimerID),
		OwnerActor:         about.Actor.String(),
		OwnerActorBalance:  about.Balance.String(),
		TriggerBlockHeight: about.Due, CurrentBlockHeight: about.Height,
		BasefeeCycle: prices.Cycle.String(), BasefeeCell: prices.Cell.String(), BasefeeLaneTimer: prices.Lane.String(),
		LastBlockCycleUsage: about.LastCycles, PreviousBlockP50: prices.P50.String(),
	}})
}

// ModuleQuoter is the bidding agent of a Go module (x/timers/README.md, "1.9 Fairness and agents"). It is told about a
// timer and the prices of the block, and answers what that timer bids, in fee denom per cycle and per cell. It may use
// agent.cycles_per_call, and must not write. An error, a panic, exhausted gas or an attempt to write yields the default
// bid.
type ModuleQuoter func(ctx context.Context, about types.BidContext) (types.AgentQuote, error)

// RegisterQuoter makes a module a bidding agent while a chain is wired. It panics if the module is one already.
func (r *ModuleRuntime) RegisterQuoter(module string, fn ModuleQuoter) {
	address := string(authtypes.NewModuleAddress(module))
	if _, taken := r.quoters[address]; taken {
		panic(fmt.Errorf("x/timers: module %s is a bidding agent already", module))
	}
	r.quoters[address] = fn
}

// Quotes implements types.Quoter: whether the address is that of a module with a quoter.
func (r *ModuleRuntime) Quotes(_ context.Context, agent sdk.AccAddress) bool {
	_, registered := r.quoters[string(agent)]
	return registered
}

// Quote implements types.Quoter: it calls the quoter. The error is types.ErrInvalidAgent if there is none.
func (r *ModuleRuntime) Quote(ctx context.Context, agent sdk.AccAddress, about types.BidContext) (types.AgentQuote, error) {
	fn, registered := r.quoters[string(agent)]
	if !registered {
		return types.AgentQuote{}, types.ErrInvalidAgent.Wrapf("module %s is no bidding agent", agent)
	}
	return fn(ctx, about)
}
