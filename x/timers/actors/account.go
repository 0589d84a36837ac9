package actors

import (
	"context"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Accounts reports whether an account exists; the keeper of x/auth is one.
type Accounts interface {
	HasAccount(ctx context.Context, addr sdk.AccAddress) bool
}

// AccountRuntime serves accounts (x/timers/README.md, "1.3 Actor"). The payload is messages (Messages). The only handler
// is types.DefaultHandler.
type AccountRuntime struct {
	accounts Accounts
	messages *Messages
}

var _ types.MessageRuntime = (*AccountRuntime)(nil)

// NewAccountRuntime returns the runtime of accounts. Register it last: contracts and modules are accounts too.
func NewAccountRuntime(cdc codec.Codec, accounts Accounts, messages MessageRouter) *AccountRuntime {
	return &AccountRuntime{accounts, NewMessages(cdc, messages)}
}

// Name of the runtime in metrics.
func (*AccountRuntime) Name() string { return "account" }

// Serves implements types.Runtime: whether the account exists.
func (r *AccountRuntime) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	return r.accounts.HasAccount(ctx, actor)
}

// RunsMessages implements types.MessageRuntime: accounts run nothing else.
func (*AccountRuntime) RunsMessages(types.Call) bool { return true }

// MessageBytes implements types.MessageRuntime.
func (r *AccountRuntime) MessageBytes(call types.Call) (uint64, error) { return r.messages.Bytes(call) }

// Validate implements types.Runtime. Errors are those of Messages.Validate.
func (r *AccountRuntime) Validate(_ context.Context, config *types.TimerConfig, call types.Call) error {
	return r.messages.Validate(config, call)
}

// Deliver implements types.Runtime. Errors are those of Messages.Run.
func (r *AccountRuntime) Deliver(ctx context.Context, config *types.TimerConfig, delivery types.Delivery) error {
	return r.messages.Run(ctx, config, delivery.Call)
}

// Deployer implements types.Runtime: the account itself, since accounts are not deployed.
func (*AccountRuntime) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }
