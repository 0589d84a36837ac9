package replay

import (
	"context"

	errorsmod "cosmossdk.io/errors"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// errFailed shares the codespace of the lab's own errors, which are 2 and 3.
var errFailed = errorsmod.Register("lab", 4, "handler failed, as its scenario says")

// script is the runtime of a scenario's accounts and agents. Its handlers spend exactly what the scenario says.
type script struct {
	store    *store
	messages *messages
	// names of the accounts by address.
	names map[string]string
	// agents are the bidding agents by address, handlers what timers do by name.
	agents   map[string]scenario.Agent
	handlers map[string]*scenario.Handler
}

var (
	_ types.Runtime = (*script)(nil)
	_ types.Quoter  = (*script)(nil)
)

func newScript(s *scenario.Scenario, store *store, messages *messages) *script {
	out := &script{
		store: store, messages: messages, names: map[string]string{}, agents: s.Agents, handlers: s.Handlers,
	}
	for _, account := range s.Accounts {
		out.names[string(scenario.AccountAddress(account.Name))] = account.Name
	}
	return out
}

// Serves implements types.Runtime.
func (s *script) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	_, known := s.names[string(actor)]
	return known || s.Quotes(ctx, actor)
}

// Deployer implements types.Runtime: a scenario's accounts are their own.
func (*script) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

// Validate implements types.Runtime.
func (s *script) Validate(_ context.Context, _ *types.TimerConfig, call types.Call) error {
	_, err := s.handler(call)
	return err
}

func (s *script) handler(call types.Call) (*scenario.Handler, error) {
	if call.Handler == types.DefaultHandler {
		return &scenario.Handler{}, nil
	}
	h, known := s.handlers[call.Handler]
	if !known {
		return nil, types.ErrInvalidHandler.Wrapf("the scenario has no handler %.80q", call.Handler)
	}
	return h, nil
}

// Deliver implements types.Runtime. Finding the handler is free, so that what is spent is what the scenario says.
func (s *script) Deliver(goCtx context.Context, _ *types.TimerConfig, delivery types.Delivery) error {
	h, err := s.handler(delivery.Call)
	if err != nil {
		return err
	}
	ctx := sdk.UnwrapSDKContext(goCtx)
	meter := ctx.GasMeter()
	meter.ConsumeGas(h.Cycles, "scenario")
	if err := s.store.writeCells(ctx, delivery, h.Cells); err != nil {
		return err
	}
	switch {
	case h.Fail:
		return errFailed
	case h.Panic:
		panic("the scenario says so")
	case h.SpendAll:
		meter.ConsumeGas(meter.GasRemaining()+1, "scenario")
	}
	for i := range h.Ops {
		if err := s.act(ctx, &h.Ops[i]); err != nil {
			return err
		}
	}
	return nil
}

// act runs an op of a handler, as part of the fire and under its gas meter.
func (s *script) act(ctx sdk.Context, op *scenario.Op) error {
	if op.Kind == scenario.OpSet {
		return s.store.set(ctx, op)
	}
	msg, err := s.messages.of(ctx, op)
	if err != nil {
		return err
	}
	result, err := s.messages.chain.Messages.Handler(msg)(ctx, msg)
	if err != nil {
		return err
	}
	for _, event := range result.GetEvents() {
		ctx.EventManager().EmitEvent(event)
	}
	return s.store.bind(ctx, op, result)
}

// Quotes implements types.Quoter.
func (s *script) Quotes(_ context.Context, actor sdk.AccAddress) bool {
	_, known := s.agents[string(actor)]
	return known
}

// Quote implements types.Quoter.
func (s *script) Quote(ctx context.Context, actor sdk.AccAddress, _ types.BidContext) (types.AgentQuote, error) {
	a := s.agents[string(actor)]
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(a.Cycles, "scenario")
	return a.Answer, nil
}
