package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	sdkmath "cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	timersauthz "github.com/cosmos-timers/timers/x/timers/authz"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// loot is nearly all that an account has: 999,000 of a million TMR.
const loot = 999_000_000_000

var scheduleURL = sdk.MsgTypeURL(&types.MsgScheduleTimer{})

// delegation is a chain on which mallory holds grants of alice's.
type delegation struct {
	*appchain.Chain
	t *testing.T
}

func newDelegation(t *testing.T) *delegation {
	t.Helper()
	return &delegation{appchain.New(t, "validator", "alice", "mallory"), t}
}

func (d *delegation) grant(authorization authz.Authorization) *authz.MsgGrant {
	d.t.Helper()
	msg, err := authz.NewMsgGrant(appchain.AccountOf("alice").Address, appchain.AccountOf("mallory").Address, authorization, nil)
	require.NoError(d.t, err)
	return msg
}

// hold stores a grant as a chain has it from before it had the guard.
func (d *delegation) hold(authorization authz.Authorization) {
	d.t.Helper()
	require.NoError(d.t, d.App.Authz.SaveGrant(d.Ctx(), appchain.AccountOf("mallory").Address, appchain.AccountOf("alice").Address, authorization, nil))
}

// revoke takes back what alice granted for a type of message.
func (d *delegation) revoke(url string) *authz.MsgRevoke {
	return &authz.MsgRevoke{Granter: address("alice"), Grantee: address("mallory"), MsgTypeUrl: url}
}

// theft is a timer of alice's that gives mallory nearly all she has.
func (d *delegation) theft(changes ...func(*types.MsgScheduleTimer)) *types.MsgScheduleTimer {
	d.t.Helper()
	height := uint64(d.App.LastBlockHeight()) + 10
	msg := schedule(d.t, d.Chain, "alice", height, send("alice", "mallory", loot))
	msg.Spec.ExpiresAt = height
	for _, change := range changes {
		change(msg)
	}
	return msg
}

// by is an execution of messages in the name of an account.
func by(name string, msgs ...sdk.Msg) *authz.MsgExec {
	exec := authz.NewMsgExec(appchain.AccountOf(name).Address, msgs)
	return &exec
}

// refused sends a transaction of mallory's, which fails for want of rights and with these words.
func (d *delegation) refused(words string, msg sdk.Msg) {
	d.t.Helper()
	d.refusedBy("mallory", words, msg)
}

func (d *delegation) refusedBy(name, words string, msg sdk.Msg) {
	d.t.Helper()
	result := d.NextBlock(d.Sign(name, msg)).TxResults[0]
	require.Equal(d.t, [2]any{"sdk", uint32(4)}, [2]any{result.Codespace, result.Code}, result.Log)
	require.Contains(d.t, result.Log, words)
}

// stolen is what mallory has gained since the start, fees paid, after so many more blocks.
func (d *delegation) stolen(blocks int) sdkmath.Int {
	d.t.Helper()
	for range blocks {
		d.NextBlock()
	}
	return sdkmath.MaxInt(sdkmath.ZeroInt(), d.Balance(appchain.AccountOf("mallory").Address).Sub(appchain.Funds))
}

// TestNobodyGrantsTimersWithoutBounds: what outlives its revocation needs an authorization with bounds.
func TestNobodyGrantsTimersWithoutBounds(t *testing.T) {
	d := newDelegation(t)
	for _, msg := range []sdk.Msg{
		&types.MsgScheduleTimer{}, &types.MsgUpdateTimer{}, &types.MsgExtendTimer{}, &types.MsgResumeTimer{}, &types.MsgSetAgent{},
	} {
		grant := d.grant(authz.NewGenericAuthorization(sdk.MsgTypeURL(msg)))
		d.refusedBy("alice", "it has no bounds and timers outlive its revocation; want a timers.authz.v1.TimerAuthorization", grant)
		d.refusedBy("alice", "it has no bounds", by("alice", grant))
	}
	for _, msg := range []sdk.Msg{&types.MsgCancelTimer{}, &types.MsgPauseTimer{}} {
		d.Deliver("alice", d.grant(authz.NewGenericAuthorization(sdk.MsgTypeURL(msg))))
	}
	d.Replay()
}

// TestAnUnboundedGrantNoLongerMovesFunds: alice revokes a grant from before the guard, and mallory's timers fire after
// that. Without the guard mallory gains 999,000 TMR by the first of these ways.
//
// Rule: 3.8-exec-of-old-grants
func TestAnUnboundedGrantNoLongerMovesFunds(t *testing.T) {
	exec, give := sdk.MsgTypeURL(&authz.MsgExec{}), sdk.MsgTypeURL(&authz.MsgGrant{})
	for name, tc := range map[string]struct {
		granted, words string
		way            func(*delegation) sdk.Msg
	}{
		"directly": {scheduleURL, "it has no bounds", func(d *delegation) sdk.Msg {
			return by("mallory", d.theft())
		}},
		"in an execution of one's own": {scheduleURL, "it has no bounds", func(d *delegation) sdk.Msg {
			return by("mallory", by("mallory", d.theft()))
		}},
		"by an execution in alice's name": {exec, "in an execution that is itself in the name of", func(d *delegation) sdk.Msg {
			return by("mallory", by("alice", d.theft()))
		}},
		"by two of them": {exec, "in an execution that is itself in the name of", func(d *delegation) sdk.Msg {
			return by("mallory", by("alice", by("alice", d.theft())))
		}},
		"by a grant in alice's name": {give, "MsgGrant under a cosmos.authz.v1beta1.GenericAuthorization: it has no bounds", func(d *delegation) sdk.Msg {
			return by("mallory", d.grant(bounds(uint64(d.App.LastBlockHeight())+100, send("alice", "mallory", 1))))
		}},
		"by a grant in an execution in alice's name": {exec, "in an execution that is itself in the name of", func(d *delegation) sdk.Msg {
			return by("mallory", by("alice", d.grant(bounds(uint64(d.App.LastBlockHeight())+100, send("alice", "mallory", 1)))))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDelegation(t)
			d.hold(authz.NewGenericAuthorization(tc.granted))
			d.refused(tc.words, tc.way(d))
			d.Deliver("alice", d.revoke(tc.granted))
			require.Zero(t, d.stolen(15).Int64())
		})
	}
}

// TestTheGuardReachesBeyondTransactions: what timers and proposals run passes no ante handler, and is guarded too.
//
// Rule: 3.8-guard-reach
func TestTheGuardReachesBeyondTransactions(t *testing.T) {
	d := newDelegation(t)
	d.hold(authz.NewGenericAuthorization(scheduleURL))
	due := uint64(d.App.LastBlockHeight()) + 3
	d.Deliver("mallory", schedule(t, d.Chain, "mallory", due, by("mallory", d.theft())))
	var fired []map[string]string
	for len(fired) == 0 {
		fired = appchain.Events(d.NextBlock(), "timers.v1.TimerFired")
	}
	require.Equal(t, [3]string{"false", "sdk", "4"}, [3]string{fired[0]["success"], fired[0]["codespace"], fired[0]["code"]})
	require.Zero(t, d.stolen(15).Int64())

	gov := d.App.Gov.GetAuthority()
	grant := d.grant(authz.NewGenericAuthorization(scheduleURL))
	grant.Granter = gov
	proposal, err := govv1.NewMsgSubmitProposal([]sdk.Msg{grant}, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 10)),
		address("validator"), "", "title", "summary", false)
	require.NoError(t, err)
	d.Deliver("validator", proposal, govv1.NewMsgVote(appchain.AccountOf("validator").Address, 1, govv1.OptionYes, ""))
	for range 5 {
		d.NextBlock()
	}
	passed, err := d.App.Gov.Proposals.Get(d.Ctx(), 1)
	require.NoError(t, err)
	require.Equal(t, govv1.StatusFailed, passed.Status)
	require.Contains(t, passed.FailedReason, "it has no bounds")
}

// bounds let mallory schedule one timer of 100,000 gas that runs messages of these types once.
func bounds(expiresAt uint64, msgs ...sdk.Msg) *timersauthz.TimerAuthorization {
	a := &timersauthz.TimerAuthorization{MsgTypeUrl: scheduleURL, ExpiresAt: expiresAt, ExpiresTime: types.MaxTime, UsesLeft: 1, MaxFires: 1, GasLimit: 100_000}
	for _, msg := range msgs {
		a.AllowedMessages = append(a.AllowedMessages, sdk.MsgTypeURL(msg))
	}
	return a
}

// TestABoundedGrantKeepsToItsBounds: of the messages, of the time, and of the number.
//
// Rule: 3.8-height-and-time
func TestABoundedGrantKeepsToItsBounds(t *testing.T) {
	d := newDelegation(t)
	end := uint64(d.App.LastBlockHeight()) + 30
	vote := govv1.NewMsgVote(appchain.AccountOf("alice").Address, 1, govv1.OptionYes, "")
	authorization := bounds(end, vote)
	authorization.UsesLeft = 2
	d.Deliver("alice", d.grant(authorization))
	d.refused("is \"/cosmos.bank.v1beta1.MsgSend\", which allowed_messages does not list", by("mallory", d.theft()))

	voting := func(height, expiresAt uint64) *types.MsgScheduleTimer {
		msg := schedule(t, d.Chain, "alice", height, vote)
		msg.Spec.ExpiresAt = expiresAt
		return msg
	}
	d.refused("the end is missing: state expires_at up to", by("mallory", voting(end, 0)))
	d.refused("want at most", by("mallory", voting(end, end+1)))
	d.Deliver("mallory", by("mallory", voting(end, end)))
	d.Deliver("mallory", by("mallory", voting(end, end)))
	result := d.NextBlock(d.Sign("mallory", by("mallory", voting(end, end)))).TxResults[0]
	require.Equal(t, [2]any{"authz", uint32(2)}, [2]any{result.Codespace, result.Code}, "the grant is gone: %s", result.Log)
	require.Len(t, d.timersOf("alice"), 2)
	require.Zero(t, d.stolen(40).Int64())
	require.Empty(t, d.timersOf("alice"), "nothing outlives the authorization")
	d.Replay()
}

func (d *delegation) timersOf(name string) []types.TimerInfo {
	d.t.Helper()
	listed, err := keeper.NewQueryServer(d.App.Timers).TimersByActor(d.Ctx(), &types.QueryTimersByActorRequest{Actor: address(name)})
	require.NoError(d.t, err)
	return listed.Timers
}

// TestRevokeThenCancel: what was scheduled within the bounds stays after the revocation, until it is cancelled. Both go
// into one transaction.
//
// Rule: 3.8-revoke-then-cancel
func TestRevokeThenCancel(t *testing.T) {
	for _, cancels := range []bool{false, true} {
		d := newDelegation(t)
		authorization := bounds(uint64(d.App.LastBlockHeight())+30, send("alice", "mallory", 1))
		authorization.UsesLeft = 2
		d.Deliver("alice", d.grant(authorization))
		d.Deliver("mallory", by("mallory", d.theft()))
		made := d.timersOf("alice")
		require.Len(t, made, 1)
		msgs := []sdk.Msg{d.revoke(scheduleURL)}
		if cancels {
			msgs = append(msgs, &types.MsgCancelTimer{Sender: address("alice"), Id: made[0].Id})
		}
		d.Deliver("alice", msgs...)
		stolen := d.stolen(15)
		if cancels {
			require.Zero(t, stolen.Int64())
		} else {
			require.Equal(t, loot-appchain.TxFee[0].Amount.Int64(), stolen.Int64(), "a listed type is allowed with any content")
		}
	}
}
