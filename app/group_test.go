package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	"github.com/cosmos/cosmos-sdk/x/group"

	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// committee is a group of alice and bob of which one member decides for its policy account, which has coins.
type committee struct {
	*appchain.Chain
	t      *testing.T
	id     uint64
	policy sdk.AccAddress
}

func newGroup(t *testing.T, c *appchain.Chain) *committee {
	t.Helper()
	msg := &group.MsgCreateGroupWithPolicy{Admin: address("alice"), Members: []group.MemberRequest{
		{Address: address("alice"), Weight: "1"}, {Address: address("bob"), Weight: "1"},
	}}
	require.NoError(t, msg.SetDecisionPolicy(group.NewThresholdDecisionPolicy("1", time.Hour, 0)))
	var made group.MsgCreateGroupWithPolicyResponse
	c.Response(c.Deliver("alice", msg).TxResults[0], &made)
	policy, err := sdk.AccAddressFromBech32(made.GroupPolicyAddress)
	require.NoError(t, err)
	c.Deliver("alice", banktypes.NewMsgSend(appchain.AccountOf("alice").Address, policy, utmr(1_000_000)))
	return &committee{c, t, made.GroupId, policy}
}

// propose is a proposal of a member, which its vote passes at once.
func (g *committee) propose(member string, exec group.Exec, msgs ...sdk.Msg) *group.MsgSubmitProposal {
	g.t.Helper()
	msg, err := group.NewMsgSubmitProposal(g.policy.String(), []string{address(member)}, msgs, "", exec, "title", "summary")
	require.NoError(g.t, err)
	return msg
}

func (g *committee) pay(amount int64) sdk.Msg {
	return banktypes.NewMsgSend(g.policy, appchain.AccountOf("bob").Address, utmr(amount))
}

// executions are the results of the proposals that a block executed.
func executions(events []map[string]string) []string {
	var results []string
	for _, event := range events {
		results = append(results, event["result"])
	}
	return results
}

// TestAGroupOwnsTimers: a proposal of a group schedules a timer of its policy account, and another one cancels it.
func TestAGroupOwnsTimers(t *testing.T) {
	g := newGroup(t, appchain.New(t, "alice", "bob"))
	g.Deliver("bob", g.propose("bob", group.Exec_EXEC_TRY, &types.MsgScheduleTimer{
		Sender: g.policy.String(), Spec: types.TimerSpec{
			Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 2, First: uint64(g.App.LastBlockHeight()) + 3}},
			Call:    types.TimerCall{Messages: packed(t, g.pay(70))}, GasLimit: 100_000,
		},
	}))
	timers := timersOf(t, g.Chain, g.policy)
	require.Len(t, timers, 1)
	g.NextBlock()
	had := g.Balance(g.policy)
	fired := appchain.Events(g.NextBlock(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, [2]string{g.policy.String(), "true"}, [2]string{fired[0]["actor"], fired[0]["success"]})
	require.Equal(t, had.SubRaw(70+number(t, fired[0]["paid"])), g.Balance(g.policy))
	again := g.Restart()
	require.Zero(t, fires(again.NextBlock()))
	require.Equal(t, 1, fires(again.NextBlock()), "a chain that starts from the export goes on")

	g.Deliver("alice", g.propose("alice", group.Exec_EXEC_TRY, &types.MsgCancelTimer{Sender: g.policy.String(), Id: timers[0].Id}))
	require.Empty(t, timersOf(t, g.Chain, g.policy))
	g.Replay()
}

// TestATimerActsInAGroup: a member's timer makes a proposal that passes at once, and one that executes a proposal which passed
// before.
func TestATimerActsInAGroup(t *testing.T) {
	g := newGroup(t, appchain.New(t, "alice", "bob"))
	fire := func(msgs ...sdk.Msg) []string {
		t.Helper()
		msg := schedule(t, g.Chain, "alice", uint64(g.App.LastBlockHeight())+2, msgs...)
		msg.Spec.GasLimit = 240_000
		g.Deliver("alice", msg)
		block := g.NextBlock()
		fired := appchain.Events(block, "timers.v1.TimerFired")
		require.Len(t, fired, 1)
		require.Equal(t, "true", fired[0]["success"], fired[0])
		return executions(appchain.Events(block, "cosmos.group.v1.EventExec"))
	}
	had := g.Balance(g.policy)
	require.Equal(t, []string{"PROPOSAL_EXECUTOR_RESULT_SUCCESS"}, fire(g.propose("alice", group.Exec_EXEC_TRY, g.pay(70))))
	require.Equal(t, had.SubRaw(70), g.Balance(g.policy))

	var proposed group.MsgSubmitProposalResponse
	g.Response(g.Deliver("bob", g.propose("bob", group.Exec_EXEC_UNSPECIFIED, g.pay(7))).TxResults[0], &proposed)
	g.Deliver("bob", &group.MsgVote{ProposalId: proposed.ProposalId, Voter: address("bob"), Option: group.VOTE_OPTION_YES})
	require.Equal(t, []string{"PROPOSAL_EXECUTOR_RESULT_SUCCESS"}, fire(&group.MsgExec{ProposalId: proposed.ProposalId, Executor: address("alice")}))
	require.Equal(t, had.SubRaw(77), g.Balance(g.policy))

	// A proposal whose messages fail is no failure of the fire: x/group says it in its own event.
	require.Equal(t, []string{"PROPOSAL_EXECUTOR_RESULT_FAILURE"}, fire(g.propose("alice", group.Exec_EXEC_TRY, g.pay(1_000_000_000))))
	require.Equal(t, had.SubRaw(77), g.Balance(g.policy))
}

// TestAGroupsProposalIsCheckedAsItsMessagesAre: what a timer proposes is under the same lists as what it does.
func TestAGroupsProposalIsCheckedAsItsMessagesAre(t *testing.T) {
	c := appchain.NewUnder(t, func(config *types.TimerConfig) {
		config.DeniedMessages = []string{sdk.MsgTypeURL(&banktypes.MsgSend{})}
	}, "alice", "bob")
	g := newGroup(t, c)
	refuse := func(msg sdk.Msg, words string) {
		t.Helper()
		result := g.NextBlock(g.Sign("alice", schedule(t, c, "alice", uint64(c.App.LastBlockHeight())+9, msg))).TxResults[0]
		require.Contains(t, result.Log, words)
	}
	refuse(g.propose("alice", group.Exec_EXEC_TRY, g.pay(1)), types.ErrMessageNotAllowed.Error())
	exec := authz.NewMsgExec(appchain.AccountOf("alice").Address, []sdk.Msg{g.propose("alice", group.Exec_EXEC_TRY, g.pay(1))})
	refuse(&exec, types.ErrMessageNotAllowed.Error())
	var deep sdk.Msg = &group.MsgLeaveGroup{Address: g.policy.String(), GroupId: g.id}
	for range 4 {
		deep = g.propose("alice", group.Exec_EXEC_TRY, deep)
	}
	refuse(deep, "deep")

	// What a transaction proposed is known to x/group alone. A chain that denies a message denies MsgExec and MsgVote too.
	var proposed group.MsgSubmitProposalResponse
	g.Response(g.Deliver("bob", g.propose("bob", group.Exec_EXEC_UNSPECIFIED, g.pay(7))).TxResults[0], &proposed)
	g.Deliver("bob", &group.MsgVote{ProposalId: proposed.ProposalId, Voter: address("bob"), Option: group.VOTE_OPTION_YES})
	msg := schedule(t, c, "alice", uint64(c.App.LastBlockHeight())+2, &group.MsgExec{ProposalId: proposed.ProposalId, Executor: address("alice")})
	msg.Spec.GasLimit = 240_000
	g.Deliver("alice", msg)
	require.Equal(t, []string{"PROPOSAL_EXECUTOR_RESULT_SUCCESS"}, executions(appchain.Events(g.NextBlock(), "cosmos.group.v1.EventExec")))
}
