package actors

import (
	"context"
	"fmt"

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
