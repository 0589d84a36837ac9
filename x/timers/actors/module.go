package actors

import (
	"context"
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// ModuleHandler is a handler of a Go module. What it writes through ctx is dropped if it returns an error or panics;
// its gas is the timer's.
type ModuleHandler func(ctx context.Context, delivery types.Delivery) error

// ModuleRuntime serves Go modules: a handler is registered under a module's name and a handler's name, and runs as the
// module's address. Modules schedule through the keeper.
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

// Register adds a handler while a chain is wired. It panics on a name that is taken.
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

// Serves implements types.Runtime.
func (r *ModuleRuntime) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	_, registered := r.handlers[string(actor)]
	return registered || r.Quotes(ctx, actor)
}

// Validate implements types.Runtime.
func (r *ModuleRuntime) Validate(_ context.Context, _ *types.TimerConfig, call types.Call) error {
	_, err := r.find(call)
	return err
}

// Deliver implements types.Runtime.
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

// Deployer implements types.Runtime: a module is its own deployer.
func (*ModuleRuntime) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }
