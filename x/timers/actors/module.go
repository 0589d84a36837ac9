package actors

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// ModuleHandler is a handler of a Go module. It runs as the module's address, at the end of a block. What it writes
// through ctx is dropped if it returns an error, panics or uses more than the timer's gas limit leaves it.
type ModuleHandler func(ctx context.Context, delivery types.Delivery) error

// ModuleRuntime serves Go modules: a handler is registered under the module's name and a name of its own. Modules
// schedule through the host API of package keeper. Handlers are code: all nodes register the same ones before the app
// loads its state.
type ModuleRuntime struct {
	handlers map[string]map[string]ModuleHandler
	// quoters are the bidding agents among the modules.
	quoters map[string]ModuleQuoter
}

var _ types.Runtime = (*ModuleRuntime)(nil)

// NewModuleRuntime returns the runtime of Go modules, with none registered.
func NewModuleRuntime() *ModuleRuntime {
	return &ModuleRuntime{handlers: map[string]map[string]ModuleHandler{}, quoters: map[string]ModuleQuoter{}}
}

// Register adds a handler of a module while a chain is wired. The handler of timers that name none is
// types.DefaultHandler. It panics if the module has a handler of that name. Timers outlive upgrades, so that a name
// once used is kept.
func (r *ModuleRuntime) Register(module, handler string, fn ModuleHandler) {
	address := string(authtypes.NewModuleAddress(module))
	if r.handlers[address] == nil {
		r.handlers[address] = map[string]ModuleHandler{}
	}
	if _, taken := r.handlers[address][handler]; taken {
		panic(fmt.Errorf("x/timers: module %s has a handler %q already", module, handler))
	}
	r.handlers[address][handler] = fn
}

// Name of the runtime in metrics.
func (*ModuleRuntime) Name() string { return "module" }

// Serves implements types.Runtime: whether the address is that of a module with a handler or a quoter.
func (r *ModuleRuntime) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	_, registered := r.handlers[string(actor)]
	return registered || r.Quotes(ctx, actor)
}

// Validate implements types.Runtime. The error is types.ErrInvalidHandler; a payload is the module's own business.
func (r *ModuleRuntime) Validate(_ context.Context, _ *types.TimerConfig, call types.Call) error {
	_, err := r.find(call)
	return err
}

// Deliver implements types.Runtime: it calls the handler, whose error it returns.
func (r *ModuleRuntime) Deliver(ctx context.Context, _ *types.TimerConfig, delivery types.Delivery) error {
	handler, err := r.find(delivery.Call)
	if err != nil {
		return err
	}
	return handler(ctx, delivery)
}

func (r *ModuleRuntime) find(call types.Call) (ModuleHandler, error) {
	handler, ok := r.handlers[string(call.Actor)][call.Handler]
	if !ok {
		return nil, types.ErrInvalidHandler.Wrapf("module %s has no handler %.80q", call.Actor, call.Handler)
	}
	return handler, nil
}

// Deployer implements types.Runtime: the module itself, since modules are not deployed.
func (*ModuleRuntime) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

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

// MaxQuoteBytes bounds an agent's answer in JSON. An honest one is 200 bytes long.
const MaxQuoteBytes = 4_096

// priceText is a price as agents write it: no sign, no exponent, at most 18 places.
var priceText = regexp.MustCompile(`^[0-9]{1,20}(\.[0-9]{1,18})?$`)

// ParseQuote reads an agent's answer: a JSON object with exactly the string members max_fee_per_cycle,
// max_priority_fee_per_cycle and max_fee_per_cell, each a decimal with at most 18 places, in fee denom.
func ParseQuote(answer []byte) (types.AgentQuote, error) {
	var quote types.AgentQuote
	if len(answer) > MaxQuoteBytes {
		return quote, types.ErrInvalidQuote.Wrapf("%d bytes, want at most %d", len(answer), MaxQuoteBytes)
	}
	if !utf8.Valid(answer) {
		return quote, types.ErrInvalidQuote.Wrap("not UTF-8")
	}
	// It reads tokens and does not unmarshal, because unmarshalling folds case and accepts a member twice.
	dec := json.NewDecoder(bytes.NewReader(answer))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return quote, types.ErrInvalidQuote.Wrap("want a JSON object")
	}
	prices := map[string]*math.LegacyDec{
		"max_fee_per_cycle": &quote.MaxFeePerCycle, "max_priority_fee_per_cycle": &quote.MaxPriorityFeePerCycle,
		"max_fee_per_cell": &quote.MaxFeePerCell,
	}
	for range len(prices) {
		name, ok := stringToken(dec)
		price, known := prices[name]
		if !ok || !known || !price.IsNil() {
			return types.AgentQuote{}, types.ErrInvalidQuote.Wrapf("want max_fee_per_cycle, max_priority_fee_per_cycle and max_fee_per_cell once each, not %.80q", name)
		}
		text, ok := stringToken(dec)
		if !ok || !priceText.MatchString(text) {
			return types.AgentQuote{}, types.ErrInvalidQuote.Wrapf(`%s: want a decimal in a string, such as "0.002", with at most 18 places, not %.80q`, name, text)
		}
		value, err := math.LegacyNewDecFromStr(text)
		if err != nil {
			return types.AgentQuote{}, types.ErrInvalidQuote.Wrapf("%s: %.80q is no decimal", name, text)
		}
		*price = value
	}
	if tok, err := dec.Token(); err != nil || tok != json.Delim('}') {
		return types.AgentQuote{}, types.ErrInvalidQuote.Wrap("want three members and no more")
	}
	if _, err := dec.Token(); err != io.EOF {
		return types.AgentQuote{}, types.ErrInvalidQuote.Wrap("want one JSON object and nothing behind it")
	}
	return quote, quote.Validate()
}

func stringToken(dec *json.Decoder) (string, bool) {
	token, err := dec.Token()
	if err != nil {
		return "", false
	}
	text, ok := token.(string)
	return text, ok
}
