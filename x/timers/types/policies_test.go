//go:build !noguests

package types_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// withGuests is a config with the parameters of two policies.
func withGuests() types.TimerConfig {
	config := types.DefaultTimerConfig("stake")
	types.ChangeParams(&config, func(p *tip.Params) { p.EpochBlocks = 7 })
	types.ChangeParams(&config, func(p *auction.Params) { p.AuctionWindowBlocks = 9 })
	return config
}

func TestPolicyName_IsOfThePackage(t *testing.T) {
	for url, want := range map[string]string{
		"/timers.auction.v1.Params": "auction", "/mychain.smallest.Params": "smallest", "/smallest.v2beta1.Params": "smallest", "/v1.Params": "v1",
		"/Params": "", "": "", "/": "", ".": "",
	} {
		require.Equal(t, want, types.PolicyName(url), "%q", url)
	}
}

// TestPolicyParams_Refused: an entry of no policy that is known, one out of order or twice, too many, and what its policy refuses.
func TestPolicyParams_Refused(t *testing.T) {
	for want, change := range map[string]func(*types.TimerConfig){
		"policy_params 1: null": func(c *types.TimerConfig) { c.PolicyParams[1] = nil },
		`policy_params 2: "/x.y.Params" is of no policy of this chain`: func(c *types.TimerConfig) {
			c.PolicyParams = append(c.PolicyParams, &codectypes.Any{TypeUrl: "/x.y.Params"})
		},
		"policy_params 2: /timers.auction.v1.Params is not above the one": func(c *types.TimerConfig) { c.PolicyParams = append(c.PolicyParams, c.PolicyParams[0]) },
		"policy_params 1: /timers.auction.v1.Params is not above the one": func(c *types.TimerConfig) { c.PolicyParams[1] = c.PolicyParams[0] },
		"policy_params has 33 entries, want at most 32":                   func(c *types.TimerConfig) { c.PolicyParams = make([]*codectypes.Any, 33) },
		"auction.auction_window_blocks is 0, want 1 to": func(c *types.TimerConfig) {
			types.ChangeParams(c, func(p *auction.Params) { p.AuctionWindowBlocks = 0 })
		},
		"tip.weight_min is 0.100000000000000000, want 0.001000000000000000 to": func(c *types.TimerConfig) {
			types.ChangeParams(c, func(p *tip.Params) { p.WeightMax = decimal.Of(math.LegacyNewDecWithPrec(5, 2)) })
		},
	} {
		config := withGuests()
		require.NoError(t, config.Validate())
		change(&config)
		require.ErrorIs(t, config.Validate(), types.ErrInvalidConfig, want)
		require.ErrorContains(t, config.Validate(), want)
	}
}

// TestPolicyParams_AreSetByTheirNames, as the config's own are.
//
// Rule: 7-policy-params
func TestPolicyParams_AreSetByTheirNames(t *testing.T) {
	current := withGuests()
	next := current
	next.LanePaused = true
	types.ChangeParams(&next, func(p *auction.Params) { p.LambdaStep = decimal.Of(math.LegacyZeroDec()) })
	types.ChangeParams(&next, func(p *tip.Params) { p.EpochBlocks, p.LateBlocks = 8, 8 })
	msg, err := types.ChangeConfig("gov", &current, &next, []string{"tip.epoch_blocks", "auction.lambda_step", "lane_paused"})
	require.NoError(t, err)
	require.NoError(t, msg.ValidateBasic())
	raw, err := msg.Marshal()
	require.NoError(t, err)
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{})
	guests.RegisterInterfaces(encoding.InterfaceRegistry)
	var read types.MsgUpdateTimerConfig
	require.NoError(t, encoding.Codec.Unmarshal(raw, &read))
	require.NoError(t, read.ValidateBasic())

	types.ChangeParams(&current, func(p *tip.Params) { p.LateBlocks = 5 })
	got, err := read.Apply(&current)
	require.NoError(t, err, "another field of the policy may have changed")
	require.True(t, got.LanePaused)
	require.Equal(t, uint64(8), types.ParamsOf[tip.Params](&got).EpochBlocks)
	require.Equal(t, uint64(5), types.ParamsOf[tip.Params](&got).LateBlocks)
	require.Equal(t, "0.000000000000000000", types.ParamsOf[auction.Params](&got).LambdaStep.String())
	require.Equal(t, uint64(9), types.ParamsOf[auction.Params](&got).AuctionWindowBlocks)
	require.Equal(t, uint64(7), types.ParamsOf[tip.Params](&current).EpochBlocks, "the current config stays")
	_, err = read.Apply(&got)
	require.ErrorIs(t, err, types.ErrConfigChanged)

	for want, change := range map[string]func(*types.MsgUpdateTimerConfig){
		"fields: auction holds fields: name those, such as auction.payment_rule": func(m *types.MsgUpdateTimerConfig) { m.Fields[1] = "auction" },
		`fields: of auction: there is no "lambda"`:                               func(m *types.MsgUpdateTimerConfig) { m.Fields[1] = "auction.lambda" },
		"fields: of tip: epoch_blocks is stated twice":                           func(m *types.MsgUpdateTimerConfig) { m.Fields[1] = "tip.epoch_blocks" },
		`fields: there is no "score.w_age"`:                                      func(m *types.MsgUpdateTimerConfig) { m.Fields[1] = "score.w_age" },
		"config states policy_params of /timers.auction.v1.Params, which is":     func(m *types.MsgUpdateTimerConfig) { m.Fields = []string{"tip.epoch_blocks", "lane_paused"} },
		"config states lane_paused, which is not among":                          func(m *types.MsgUpdateTimerConfig) { m.Fields = m.Fields[:2] },
		"config states tip.late_blocks, which is not among": func(m *types.MsgUpdateTimerConfig) {
			types.ChangeParams(&m.Config, func(p *tip.Params) { p.LateBlocks = 5 })
		},
	} {
		wrong, err := types.ChangeConfig("gov", &current, &next, []string{"tip.epoch_blocks", "auction.lambda_step", "lane_paused"})
		require.NoError(t, err)
		change(wrong)
		require.ErrorIs(t, wrong.ValidateBasic(), types.ErrInvalidConfig, want)
		require.ErrorContains(t, wrong.ValidateBasic(), want)
	}
	whole, err := types.ChangeConfig("gov", &current, &next, nil)
	require.NoError(t, err)
	whole.Config.PolicyParams = whole.Config.PolicyParams[1:]
	require.NoError(t, whole.ValidateBasic())
	_, err = whole.Apply(&current)
	require.ErrorContains(t, err, "config states no parameters of auction: one that replaces the config states all")
	whole.Config.PolicyParams = []*codectypes.Any{nil}
	require.ErrorContains(t, whole.ValidateBasic(), "policy_params 0: null")
	whole = &types.MsgUpdateTimerConfig{Expected: whole.Expected, Fields: []string{"lane_paused"}}
	whole.Config.PolicyParams = []*codectypes.Any{nil}
	require.ErrorContains(t, whole.ValidateBasic(), "config states policy_params of , which is not among the fields")
	whole.Config.PolicyParams = make([]*codectypes.Any, 33)
	require.ErrorContains(t, whole.ValidateBasic(), "policy_params has 33 entries, want at most 32")
	bare := types.DefaultTimerConfig("stake")
	_, err = read.Apply(&bare)
	require.ErrorContains(t, err, `there is no "`, "a chain without these policies")
}

// TestPolicyParams_UnknownOnesAreReadAndRefused: a binary that no longer has a policy reads a config of one that had it, and accepts
// no new one with its parameters.
func TestPolicyParams_UnknownOnesAreReadAndRefused(t *testing.T) {
	config := withGuests()
	raw, err := config.Marshal()
	require.NoError(t, err)
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{})
	var read types.TimerConfig
	require.NoError(t, encoding.Codec.Unmarshal(raw, &read))
	require.True(t, config.Equal(&read))
	require.Equal(t, uint64(7), types.ParamsOf[tip.Params](&read).EpochBlocks, "who knows the type decodes it")
	require.ErrorContains(t, read.Validate(), fmt.Sprintf("policy_params 0: %q is of no policy of this chain", "/timers.auction.v1.Params"))
}

// TestPolicyState_MovesBack with the chain, and what a genesis has of no known policy is refused.
func TestPolicyState_MovesBack(t *testing.T) {
	g := types.NewGenesis("stake")
	g.Lane.SetPolicy(&tip.State{Epoch: 3, Start: 800, EpochBlocks: 100, Oldest: 2})
	g.AddPolicy(&tip.Weights{Weights: []tip.ActorWeight{{Weight: tip.Weight{LastFire: 990}}, {Weight: tip.Weight{LastFire: 3}}, {}}})
	before := g.Lane.Policies[0]
	g.MovePolicies(1000, 101)
	require.Equal(t, &tip.State{Epoch: 5, Start: 101, EpochBlocks: 100, Oldest: 2}, types.MessageOf[tip.State](g.Lane.Policies))
	moved := tip.WeightsIn(g)
	require.Equal(t, []uint64{90, 1, 0}, []uint64{moved[0].Weight.LastFire, moved[1].Weight.LastFire, moved[2].Weight.LastFire})
	require.NotEqual(t, before, g.Lane.Policies[0], "what was there stays as it was")
	require.ErrorContains(t, g.ValidatePolicies(), "tip.Weights 0: actor")
	g.Policies, g.Lane.Policies = []*codectypes.Any{{TypeUrl: "/x.y.State"}}, append(g.Lane.Policies, nil)
	g.MovePolicies(100, 1)
	require.ErrorIs(t, g.ValidatePolicies(), types.ErrInvalidGenesis)
	require.ErrorContains(t, g.ValidatePolicies(), "lane.policies 1: null")
	g.Lane.Policies = g.Lane.Policies[:1]
	require.ErrorContains(t, g.ValidatePolicies(), `policies 0: "/x.y.State" is of no policy of this chain`)
	g.Lane.RemovePolicy(&tip.State{})
	require.Empty(t, g.Lane.Policies)
}
