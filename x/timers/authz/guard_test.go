package authz

import (
	"context"
	"testing"
	"time"

	"github.com/cosmos/gogoproto/grpc"
	"github.com/stretchr/testify/require"
	googlegrpc "google.golang.org/grpc"

	"github.com/cosmos/cosmos-sdk/codec/address"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/x/authz"
	authzmodule "github.com/cosmos/cosmos-sdk/x/authz/module"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	alice, bob, carol = sdk.AccAddress("alice_______________"), sdk.AccAddress("bob_________________"), sdk.AccAddress("carol_______________")
	scheduled         = sdk.MsgTypeURL(&types.MsgScheduleTimer{})
)

// grants is the keeper of x/authz: it holds authorizations by grantee, granter and type, and counts what reaches it.
type grants struct {
	held    map[[3]string]authz.Authorization
	reached int
}

func (g *grants) Grant(context.Context, *authz.MsgGrant) (*authz.MsgGrantResponse, error) {
	g.reached++
	return &authz.MsgGrantResponse{}, nil
}

func (g *grants) Exec(context.Context, *authz.MsgExec) (*authz.MsgExecResponse, error) {
	g.reached++
	return &authz.MsgExecResponse{}, nil
}

func (g *grants) Revoke(context.Context, *authz.MsgRevoke) (*authz.MsgRevokeResponse, error) {
	g.reached++
	return &authz.MsgRevokeResponse{}, nil
}

func (g *grants) GetAuthorization(_ context.Context, grantee, granter sdk.AccAddress, url string) (authz.Authorization, *time.Time) {
	return g.held[[3]string{grantee.String(), granter.String(), url}], nil
}

func guarding(g *grants) msgServer {
	return msgServer{g, address.NewBech32Codec(sdk.GetConfig().GetBech32AccountAddrPrefix())}
}

func exec(grantee sdk.AccAddress, msgs ...sdk.Msg) *authz.MsgExec {
	msg := authz.NewMsgExec(grantee, msgs)
	return &msg
}

func give(granter, grantee sdk.AccAddress, authorization authz.Authorization) *authz.MsgGrant {
	msg, err := authz.NewMsgGrant(granter, grantee, authorization, nil)
	if err != nil {
		panic(err)
	}
	return msg
}

func timerOf(owner sdk.AccAddress) *types.MsgScheduleTimer {
	return &types.MsgScheduleTimer{Sender: owner.String()}
}

// TestWhatAnExecutionMayHold: carol executes; alice has granted carol, or bob, what the case says.
//
// Rule: 3.8-exec-of-old-grants, 3.8-nested-grants, 3.8-generic-cancel-pause
func TestWhatAnExecutionMayHold(t *testing.T) {
	bounded := &TimerAuthorization{MsgTypeUrl: scheduled}
	generic := authz.NewGenericAuthorization
	giveURL := sdk.MsgTypeURL(&authz.MsgGrant{})
	for name, tc := range map[string]struct {
		authorization authz.Authorization
		msgs          []sdk.Msg
		words         string
	}{
		"no grant":                  {nil, []sdk.Msg{timerOf(alice)}, ""},
		"one's own timer":           {nil, []sdk.Msg{timerOf(carol)}, ""},
		"bounded":                   {bounded, []sdk.Msg{timerOf(alice)}, ""},
		"generic":                   {generic(scheduled), []sdk.Msg{timerOf(alice)}, "it has no bounds"},
		"generic, second":           {generic(scheduled), []sdk.Msg{timerOf(carol), timerOf(alice)}, "it has no bounds"},
		"generic update":            {generic(sdk.MsgTypeURL(&types.MsgUpdateTimer{})), []sdk.Msg{&types.MsgUpdateTimer{Sender: alice.String()}}, "it has no bounds"},
		"generic extension":         {generic(sdk.MsgTypeURL(&types.MsgExtendTimer{})), []sdk.Msg{&types.MsgExtendTimer{Sender: alice.String()}}, "it has no bounds"},
		"generic resumption":        {generic(sdk.MsgTypeURL(&types.MsgResumeTimer{})), []sdk.Msg{&types.MsgResumeTimer{Sender: alice.String()}}, "it has no bounds"},
		"generic agent":             {generic(sdk.MsgTypeURL(&types.MsgSetAgent{})), []sdk.Msg{&types.MsgSetAgent{Sender: alice.String()}}, "it has no bounds"},
		"generic cancellation":      {generic(sdk.MsgTypeURL(&types.MsgCancelTimer{})), []sdk.Msg{&types.MsgCancelTimer{Sender: alice.String()}}, ""},
		"generic send":              {generic("/cosmos.bank.v1beta1.MsgSend"), []sdk.Msg{&banktypes.MsgSend{FromAddress: alice.String()}}, ""},
		"a grant of timers":         {generic(giveURL), []sdk.Msg{give(alice, carol, bounded)}, "MsgGrant under a cosmos.authz.v1beta1.GenericAuthorization"},
		"a grant of sends":          {generic(giveURL), []sdk.Msg{give(alice, carol, generic("/cosmos.bank.v1beta1.MsgSend"))}, ""},
		"one's own grant":           {nil, []sdk.Msg{give(carol, bob, bounded)}, ""},
		"in one's own name":         {nil, []sdk.Msg{exec(carol, timerOf(alice))}, ""},
		"in alice's name":           {nil, []sdk.Msg{exec(alice, timerOf(alice))}, "an execution that is itself in the name of"},
		"in bob's name":             {nil, []sdk.Msg{exec(bob, timerOf(alice))}, "an execution that is itself in the name of"},
		"one's own, in bob's name":  {nil, []sdk.Msg{exec(bob, timerOf(carol))}, "an execution that is itself in the name of"},
		"in bob's, in alice's name": {nil, []sdk.Msg{exec(bob, exec(alice, timerOf(alice)))}, "an execution that is itself in the name of"},
		"in bob's, in one's own":    {nil, []sdk.Msg{exec(bob, exec(carol, timerOf(alice)))}, ""},
		"a send in alice's name":    {nil, []sdk.Msg{exec(alice, &banktypes.MsgSend{})}, ""},
		"a grant in alice's name":   {nil, []sdk.Msg{exec(alice, give(alice, carol, bounded))}, "an execution that is itself in the name of"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &grants{held: map[[3]string]authz.Authorization{}}
			if tc.authorization != nil {
				url := tc.authorization.MsgTypeURL()
				g.held[[3]string{carol.String(), alice.String(), url}] = tc.authorization
			}
			_, err := guarding(g).Exec(context.Background(), exec(carol, tc.msgs...))
			if tc.words == "" {
				require.NoError(t, err)
				require.Equal(t, 1, g.reached)
				return
			}
			require.ErrorIs(t, err, sdkerrors.ErrUnauthorized)
			require.ErrorContains(t, err, tc.words)
			require.Zero(t, g.reached)
		})
	}
}

func TestMalformedMessagesAreRefused(t *testing.T) {
	g := &grants{}
	s := guarding(g)
	for _, msg := range []*authz.MsgExec{
		{Grantee: "nobody"}, exec(carol, &types.MsgSetAgent{Sender: "nobody"}), exec(carol, &authz.MsgExec{Grantee: "nobody"}),
	} {
		_, err := s.Exec(context.Background(), msg)
		require.ErrorIs(t, err, sdkerrors.ErrInvalidAddress)
	}
	_, err := s.Grant(context.Background(), &authz.MsgGrant{})
	require.ErrorContains(t, err, "authorization is nil")
	require.Zero(t, g.reached)
}

// Rule: 3.8-guarded, 3.8-generic-cancel-pause
func TestWhatMayBeGranted(t *testing.T) {
	g := &grants{}
	s := guarding(g)
	for _, url := range guarded {
		_, err := s.Grant(context.Background(), give(alice, bob, authz.NewGenericAuthorization(url)))
		require.ErrorIs(t, err, sdkerrors.ErrUnauthorized)
	}
	require.Zero(t, g.reached)
	for _, authorization := range []authz.Authorization{
		&TimerAuthorization{MsgTypeUrl: scheduled}, authz.NewGenericAuthorization("/cosmos.bank.v1beta1.MsgSend"),
		authz.NewGenericAuthorization(sdk.MsgTypeURL(&types.MsgPauseTimer{})), authz.NewGenericAuthorization(sdk.MsgTypeURL(&types.MsgCancelTimer{})),
	} {
		_, err := s.Grant(context.Background(), give(alice, bob, authorization))
		require.NoError(t, err)
	}
	_, err := s.Revoke(context.Background(), &authz.MsgRevoke{})
	require.NoError(t, err)
	require.Equal(t, 5, g.reached)
}

// TestEveryOwnersMessageIsDecidedOn: a new message of an owner's is either guarded, or known to end with the grant.
//
// Rule: 3.8-guarded
func TestEveryOwnersMessageIsDecidedOn(t *testing.T) {
	harmless := []string{
		sdk.MsgTypeURL(&types.MsgCancelTimer{}), sdk.MsgTypeURL(&types.MsgPauseTimer{}),
		sdk.MsgTypeURL(&types.MsgSkipTimer{}), sdk.MsgTypeURL(&types.MsgRunTimer{}),
	}
	registered := &services{}
	types.RegisterMsgServer(registered, &types.UnimplementedMsgServer{})
	var owners []string
	for _, method := range registered.methods {
		if name := "/timers.v1.Msg" + method; method != "UpdateTimerConfig" && method[:3] != "Sys" {
			owners = append(owners, name)
		}
	}
	require.ElementsMatch(t, append(harmless, guarded...), owners)
}

// services notes the methods of what is registered.
type services struct {
	methods []string
	server  any
}

func (s *services) RegisterService(desc *googlegrpc.ServiceDesc, server any) {
	s.server = server
	for _, method := range desc.Methods {
		s.methods = append(s.methods, method.MethodName)
	}
}

// wiring is a configurator of a chain.
type wiring struct {
	module.Configurator
	messages, queries services
}

func (w *wiring) MsgServer() grpc.Server                                        { return &w.messages }
func (w *wiring) QueryServer() grpc.Server                                      { return &w.queries }
func (*wiring) RegisterMigration(string, uint64, module.MigrationHandler) error { return nil }

// TestTheModuleRegistersTheGuard: in the place of the message server alone.
//
// Rule: 3.8-guard-place
func TestTheModuleRegistersTheGuard(t *testing.T) {
	w := &wiring{}
	NewAppModule(authzmodule.AppModule{}, address.NewBech32Codec("cosmos")).RegisterServices(w)
	require.ElementsMatch(t, []string{"Grant", "Exec", "Revoke"}, w.messages.methods)
	require.IsType(t, msgServer{}, w.messages.server)
	require.NotEmpty(t, w.queries.methods)
	require.PanicsWithError(t, "guard: the server of x is a string, want the keeper of x/authz", func() {
		registrar{&services{}, nil}.RegisterService(&googlegrpc.ServiceDesc{ServiceName: "x"}, "nothing")
	})
}
