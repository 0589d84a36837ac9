package cli_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// government answers for proposals and the least deposit.
type government struct {
	govv1.UnimplementedQueryServer
	proposals map[uint64]sdk.Msg
}

func (g *government) Proposal(_ context.Context, request *govv1.QueryProposalRequest) (*govv1.QueryProposalResponse, error) {
	msg, found := g.proposals[request.ProposalId]
	if !found {
		return nil, errors.New("not found")
	}
	proposal := &govv1.Proposal{Id: request.ProposalId}
	submit := &govv1.MsgSubmitProposal{}
	err := submit.SetMsgs([]sdk.Msg{msg})
	proposal.Messages = submit.Messages
	return &govv1.QueryProposalResponse{Proposal: proposal}, err
}

func (g *government) Proposals(ctx context.Context, request *govv1.QueryProposalsRequest) (*govv1.QueryProposalsResponse, error) {
	response := &govv1.QueryProposalsResponse{}
	for id := uint64(0); id < 10 && request.ProposalStatus == govv1.StatusVotingPeriod; id++ {
		if found, err := g.Proposal(ctx, &govv1.QueryProposalRequest{ProposalId: id}); err == nil {
			response.Proposals = append(response.Proposals, found.Proposal)
		}
	}
	return response, nil
}

func (*government) Params(context.Context, *govv1.QueryParamsRequest) (*govv1.QueryParamsResponse, error) {
	return &govv1.QueryParamsResponse{Params: &govv1.Params{MinDeposit: sdk.NewCoins(sdk.NewInt64Coin("stake", 77))}}, nil
}

func TestConfigIsProposedByItsParameters(t *testing.T) {
	r := newRig(t)
	gov := authtypes.NewModuleAddress("gov").String()
	want := types.DefaultTimerConfig(r.Chain.FeeDenom)
	want.LaneTimerCycles, want.Eip1559.Target, want.LanePaused = 3_000_000, decimal.Of(math.LegacyNewDecWithPrec(6, 1)), true
	set := []string{"update-timer-config", "--set", "lane_timer_cycles=3000000", "--set", "eip1559.target=0.6", "--set", "lane_paused=true"}
	current := types.DefaultTimerConfig(r.Chain.FeeDenom)
	change, err := types.ChangeConfig(gov, &current, &want, []string{"lane_timer_cycles", "eip1559.target", "lane_paused"})
	require.NoError(t, err)
	require.JSONEq(t, r.JSON(change), r.JSON(r.proposed(set...)))
	msg, notes := r.Printed(append(set, "--title", "t", "--summary", "s")...)
	require.Equal(t, "eip1559.target: 0.5 -> 0.6\nlane_paused: false -> true\nlane_timer_cycles: 2000000 -> 3000000\n"+
		"eip1559.target: use of the lane at which the basefee stays\nlane_paused: stops firing\nlane_timer_cycles: execution budget of a block\n"+
		"it would put on hold 0 of 0 waiting timers\n", notes)
	require.Empty(t, msg.(*govv1.MsgSubmitProposal).InitialDeposit, "this node says nothing of deposits")

	for reason, setting := range map[string]string{
		`there is no parameter "cycles_of_lane": want one of `:                        "cycles_of_lane=1",
		"there is no parameter \"lane_timer_cycle\": did you mean lane_timer_cycles?": "lane_timer_cycle=1",
		`there is no parameter "targt": did you mean target?`:                         "eip1559.targt=0.5",
		"eip1559.target: 7 is out of range: 0.01 to 0.99":                             "eip1559.target=7",
		"want KEY=VALUE":                                        "lane_timer_cycles",
		"eip1559 holds parameters: want one ":                   "eip1559=1",
		"lane_timer_cycles holds no paramete":                   "lane_timer_cycles.x=1",
		`there is no parameter "x"`:                             "eip1559.x=1",
		"lane_paused is written as false":                       "lane_paused=yes",
		"nothing would change":                                  "lane_timer_cycles=2000000",
		"fee_denom is fixed at genesis":                         "fee_denom=other",
		"max_ttl_blocks: 0 is out of range: 1 to ":              "max_ttl_blocks=0",
		`--set "eip1559.target=abc": "abc" is no plain decimal`: "eip1559.target=abc",
		`--set "lane_timer_cycles=abc": `:                       "lane_timer_cycles=abc",
		`--set "policy=abc": `:                                  "policy=abc",
	} {
		require.ErrorContains(t, r.Refused("update-timer-config", "--set", setting), reason, setting)
	}
	// What x/gov would refuse.
	require.EqualError(t, r.Refused(append(set, "--summary", "s")...), "--title is missing: x/gov wants a title and a summary of each proposal")
	require.EqualError(t, r.Refused(append(set, "--title", "t")...), "--summary is missing: x/gov wants a title and a summary of each proposal")
	require.ErrorContains(t, r.Refused("update-timer-config"), "the config is missing: want a file, or --set KEY=VALUE")
	require.ErrorContains(t, r.Refused("update-timer-config", "x.json", "--set", "lane_paused=true"), "is stated beside --set")

	stale := *change
	stale.Expected = make([]byte, 32)
	other, err := types.ChangeConfig(gov, &current, &want, []string{"eip1559.target", "candidate_window"})
	require.NoError(t, err)
	proposals := map[uint64]sdk.Msg{5: other, 6: &stale, 7: change, 8: &types.MsgSysCancelTimer{Authority: gov}}
	r.Queries(func(router *baseapp.GRPCQueryRouter) {
		govv1.RegisterQueryServer(router, &government{proposals: proposals})
	})
	out, _, err := r.Run("query", "timers", "config-diff", "7")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(notes, out), notes)
	_, _, err = r.Run("query", "timers", "config-diff", "8")
	require.ErrorContains(t, err, "proposal 8 does not change the config")
	_, _, err = r.Run("query", "timers", "config-diff", "9")
	require.ErrorContains(t, err, "proposal 9: not found")
	_, _, err = r.Run("query", "timers", "config-diff", "x")
	require.ErrorContains(t, err, `"x" is no number of a proposal`)

	out, late, err := r.Run("query", "timers", "config-diff", "6")
	require.NoError(t, err)
	require.Contains(t, late, "it would fail if it passed now: the hash of lane_timer_cycles, eip1559.target, lane_paused is ")
	require.True(t, strings.HasPrefix(notes, out), notes)

	// Open proposals that change the same are shown.
	_, notes = r.Printed("update-timer-config", "--set", "candidate_window=9", "--title", "t", "--summary", "s")
	require.Contains(t, notes, "proposal 5 changes candidate_window too: whichever passes first, the other one fails then\n")
	require.NotContains(t, notes, "proposal 7")

	// Without a deposit it is the least with which the vote begins.
	msg, notes = r.Printed(append(set, "--title", "t", "--summary", "s")...)
	require.Equal(t, sdk.NewCoins(sdk.NewInt64Coin("stake", 77)), msg.(*govv1.MsgSubmitProposal).InitialDeposit)
	require.Contains(t, notes, "deposits 77stake, with which the vote begins\n")
}

func TestAuthorityMessagesTakeShortIds(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	gov := authtypes.NewModuleAddress("gov").String()
	require.Equal(t, &types.MsgSysCancelTimer{Authority: gov, Actor: r.Alice, Id: id}, r.proposed("sys-cancel-timer", "alice", id[:8]))
	require.Equal(t, &types.MsgSysExtendTimer{Authority: gov, Actor: r.Alice, Id: id, ExpiresAt: 900}, r.proposed("sys-extend-timer", "alice", id[:8], "900"))
	msg, _ := r.Printed("sys-release-timer", r.Alice, id[:8], "--no-proposal")
	require.Equal(t, &types.MsgSysReleaseTimer{Authority: r.Alice, Actor: r.Alice, Id: id}, msg)

	require.ErrorContains(t, r.Refused("sys-cancel-timer", "bob", id[:8]), "has no live timer")
	require.ErrorContains(t, r.Refused("sys-cancel-timer", "carol", id), `actor: "carol" is neither`)
	require.ErrorContains(t, r.Refused("sys-cancel-timer", "alice", "alice/"+id), "want the id or the name alone")
	require.ErrorContains(t, r.Refused("sys-extend-timer", "alice", id, "soon"), `"soon" is no height`)
	for _, past := range []string{"5", "11"} {
		err := r.Refused("sys-extend-timer", "alice", id, past, "--title", "t", "--summary", "s")
		require.EqualError(t, err, "height "+past+" is past: want one after the latest, 11")
	}
}

// A parameter that the policy in force does not read changes nothing, and a proposal of it passes: who makes it, checks it or votes
// on it is told, and what each parameter does.
func TestParameters_WithoutEffectAreTold(t *testing.T) {
	r := newRig(t)
	const told = "max_cycles_per_fire: largest gas limit, and the default one\n" +
		"warning: max_cycles_per_fire has no effect under policy eip1559: eip1559.max_cycles_per_fire_auction is in force instead\n"
	_, notes, err := r.Run("query", "timers", "check-config", "--set", "max_cycles_per_fire=400000")
	require.NoError(t, err)
	require.Contains(t, notes, told)
	_, notes = r.Printed("update-timer-config", "--set", "max_cycles_per_fire=400000", "--set", "eip1559.target=0.4", "--title", "t", "--summary", "s")
	require.Contains(t, notes, told)
	require.Contains(t, notes, "eip1559.target: use of the lane at which the basefee stays\n")
	require.NotContains(t, notes, "eip1559.target has no effect")

	params := types.DefaultTimerConfig(r.Chain.FeeDenom)
	want := params
	want.MaxCyclesPerFire = 400_000
	change, err := types.ChangeConfig(r.Alice, &params, &want, []string{"max_cycles_per_fire"})
	require.NoError(t, err)
	r.Queries(func(router *baseapp.GRPCQueryRouter) {
		govv1.RegisterQueryServer(router, &government{proposals: map[uint64]sdk.Msg{7: change}})
	})
	_, notes, err = r.Run("query", "timers", "config-diff", "7")
	require.NoError(t, err)
	require.Contains(t, notes, told)
	// It has passed, and is in force.
	r.Configure(func(c *types.TimerConfig) { c.MaxCyclesPerFire = 400_000 })
	out, notes, err := r.Run("query", "timers", "config-diff", "7")
	require.NoError(t, err)
	require.Contains(t, notes, told)
	require.Contains(t, out, "it is the config in force: nothing would change")

	_, notes, err = r.Run("query", "timers", "check-config", "--set", "max_cycles_per_fire=400001", "--set", "policy=POLICY_FIFO")
	require.NoError(t, err)
	require.NotContains(t, notes, "has no effect")
}
