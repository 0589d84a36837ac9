package authz

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cosmos/gogoproto/grpc"
	"github.com/cosmos/gogoproto/proto"
	googlegrpc "google.golang.org/grpc"

	"cosmossdk.io/core/address"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/x/authz"
	authzmodule "github.com/cosmos/cosmos-sdk/x/authz/module"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// AppModule is the module of x/authz with a guarded message server. Messages reach that server from everywhere: from
// transactions, contracts, proposals, timers, and from other executions.
type AppModule struct {
	authzmodule.AppModule
	addresses address.Codec
}

// NewAppModule guards the module of x/authz.
func NewAppModule(inner authzmodule.AppModule, addresses address.Codec) AppModule {
	return AppModule{inner, addresses}
}

// RegisterServices implements module.HasServices.
func (m AppModule) RegisterServices(cfg module.Configurator) {
	m.AppModule.RegisterServices(configurator{cfg, m.addresses})
}

// configurator hands out a registrar of messages that puts the guard before the server of x/authz.
type configurator struct {
	module.Configurator
	addresses address.Codec
}

// MsgServer implements module.Configurator.
func (c configurator) MsgServer() grpc.Server {
	return registrar{c.Configurator.MsgServer(), c.addresses}
}

type registrar struct {
	grpc.Server
	addresses address.Codec
}

// RegisterService implements grpc.Server. It panics if it is given anything but the keeper of x/authz: the chain would
// run without the guard that it asked for.
func (r registrar) RegisterService(desc *googlegrpc.ServiceDesc, server any) {
	inner, ok := server.(keeper)
	if !ok {
		panic(fmt.Errorf("guard: the server of %s is a %T, want the keeper of x/authz", desc.ServiceName, server))
	}
	r.Server.RegisterService(desc, msgServer{inner, r.addresses})
}

// keeper is that of x/authz.
type keeper interface {
	authz.MsgServer
	GetAuthorization(ctx context.Context, grantee, granter sdk.AccAddress, msgType string) (authz.Authorization, *time.Time)
}

// msgServer is the message server of x/authz behind the guard.
type msgServer struct {
	keeper
	addresses address.Codec
}

// Grant implements authz.MsgServer. For a guarded type of message, it accepts no authorization but TimerAuthorization.
func (s msgServer) Grant(ctx context.Context, msg *authz.MsgGrant) (*authz.MsgGrantResponse, error) {
	authorization, err := msg.GetAuthorization()
	if err != nil {
		return nil, err
	}
	if url := authorization.MsgTypeURL(); slices.Contains(guarded, url) && !bounded(authorization) {
		return nil, unbounded(url, authorization)
	}
	return s.keeper.Grant(ctx, msg)
}

// Exec implements authz.MsgServer. It refuses guarded messages under a grant that Grant would refuse: one from genesis,
// or from before the chain had the guard.
func (s msgServer) Exec(ctx context.Context, msg *authz.MsgExec) (*authz.MsgExecResponse, error) {
	grantee, err := s.addresses.StringToBytes(msg.Grantee)
	if err != nil {
		return nil, sdkerrors.ErrInvalidAddress.Wrapf("grantee %.120q is no address of this chain", msg.Grantee)
	}
	msgs, err := msg.GetMessages()
	if err != nil {
		return nil, err
	}
	for _, inner := range msgs {
		if err := s.check(ctx, grantee, inner); err != nil {
			return nil, err
		}
	}
	return s.keeper.Exec(ctx, msg)
}

// check refuses a message of another account that its grantee could send without bounds.
func (s msgServer) check(ctx context.Context, grantee sdk.AccAddress, msg sdk.Msg) error {
	if exec, ok := msg.(*authz.MsgExec); ok {
		return s.checkNested(grantee, exec)
	}
	name, found := ownerOf(msg)
	if !found {
		return nil
	}
	owner, err := s.addresses.StringToBytes(name)
	if err != nil {
		return sdkerrors.ErrInvalidAddress.Wrapf("%s: %.120q is no address of this chain", sdk.MsgTypeURL(msg), name)
	}
	if bytes.Equal(owner, grantee) {
		return nil
	}
	// Without a grant there is nothing to check: x/authz refuses the message.
	url := sdk.MsgTypeURL(msg)
	authorization, _ := s.GetAuthorization(ctx, grantee, owner, url)
	if authorization == nil || bounded(authorization) {
		return nil
	}
	return unbounded(url, authorization)
}

// checkNested refuses guarded messages within an execution in another account's name. x/authz does not ask for a grant
// of what that account would send for itself.
func (s msgServer) checkNested(grantee sdk.AccAddress, exec *authz.MsgExec) error {
	name, err := s.addresses.StringToBytes(exec.Grantee)
	if err != nil {
		return sdkerrors.ErrInvalidAddress.Wrapf("grantee %.120q is no address of this chain", exec.Grantee)
	}
	if bytes.Equal(name, grantee) {
		return nil // checked when it runs
	}
	msgs, err := exec.GetMessages()
	if err != nil {
		return err
	}
	for _, msg := range msgs {
		if _, found := ownerOf(msg); found {
			return sdkerrors.ErrUnauthorized.Wrapf("%s in an execution that is itself in the name of %s: its sender must "+
				"grant it to who executes it", sdk.MsgTypeURL(msg), exec.Grantee)
		}
		if inner, ok := msg.(*authz.MsgExec); ok {
			if err := s.checkNested(grantee, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// guarded are the messages whose effect can outlast a revocation. Those that cancel, pause and skip are not among them, nor that
// which runs the next occurrence: its fire comes with the next block.
var guarded = []string{
	sdk.MsgTypeURL(&types.MsgScheduleTimer{}), sdk.MsgTypeURL(&types.MsgUpdateTimer{}), sdk.MsgTypeURL(&types.MsgExtendTimer{}),
	sdk.MsgTypeURL(&types.MsgResumeTimer{}), sdk.MsgTypeURL(&types.MsgSetAgent{}),
}

// ownerOf returns in whose name a guarded message is; false if it is not guarded. Granting a guarded one is guarded too:
// otherwise a grant for grants would do.
func ownerOf(msg sdk.Msg) (string, bool) {
	switch msg := msg.(type) {
	case *types.MsgScheduleTimer:
		return msg.Sender, true
	case *types.MsgUpdateTimer:
		return msg.Sender, true
	case *types.MsgExtendTimer:
		return msg.Sender, true
	case *types.MsgResumeTimer:
		return msg.Sender, true
	case *types.MsgSetAgent:
		return msg.Sender, true
	case *authz.MsgGrant:
		authorization, err := msg.GetAuthorization()
		return msg.Granter, err == nil && slices.Contains(guarded, authorization.MsgTypeURL())
	}
	return "", false
}

func bounded(authorization authz.Authorization) bool {
	_, ok := authorization.(*TimerAuthorization)
	return ok
}

func unbounded(url string, authorization authz.Authorization) error {
	return sdkerrors.ErrUnauthorized.Wrapf("%s under a %s: it has no bounds and timers outlive its revocation; want a %s",
		url, proto.MessageName(authorization), proto.MessageName(&TimerAuthorization{}))
}
