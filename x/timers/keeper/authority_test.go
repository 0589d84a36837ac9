package keeper_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// namedBy lets a variable say which authority consensus params name.
func namedBy(name *string) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) {
		opts.Keeper = append(opts.Keeper, keeper.WithAuthority(func(sdk.Context) string { return *name }))
	}
}

// TestAuthority_OfConsensusParams: the one that they name has the rights and the one that was wired has none, until they name
// none again. If what they name is no address of this chain, nobody has them, and blocks go on.
//
// Rule: 3.7-authority
func TestAuthority_OfConsensusParams(t *testing.T) {
	var named string
	f := newFixture(t, namedBy(&named))
	wired := f.Authority
	messages := func(authority string) []sdk.Msg {
		id := f.schedule(robot, f.Height()+50, f.noop())
		config := f.replaces(f.config())
		config.Authority = authority
		return []sdk.Msg{
			&types.MsgSysExtendTimer{Authority: authority, Actor: robot.String(), Id: id, ExpiresAt: f.Height() + 400},
			&types.MsgSysCancelTimer{Authority: authority, Actor: robot.String(), Id: id}, config,
		}
	}
	for _, now := range []struct{ named, has, lacks string }{
		{"", wired, robot2.String()},
		{robot2.String(), robot2.String(), wired},
		{"cosmos1nobody", "", wired},
		{"", wired, robot2.String()},
	} {
		named = now.named
		for _, msg := range messages(now.lacks) {
			f.refused(types.ErrUnauthorized, msg)
		}
		if now.has != "" {
			for _, msg := range messages(now.has) {
				f.run(msg)
			}
			params, err := f.query().Params(f.Ctx(), &types.QueryParamsRequest{})
			require.NoError(t, err)
			require.Equal(t, now.has, params.Authority)
			require.Equal(t, now.has, f.Timers.Authority(f.Ctx()))
		}
		due := f.Height() + 1
		id := f.schedule(robot, due, f.noop())
		require.Equal(t, []string{id}, f.firedIDs(f.blocksUntil(due)))
	}
}

// TestAuthority_OfConsensusParamsIsReserved where the config names no reserved actors: its timer comes before a crowd, and not
// once it is replaced.
//
// Rule: 1.6-reserved-share
func TestAuthority_OfConsensusParamsIsReserved(t *testing.T) {
	wait := func(named string) (blocks int) {
		f := besieged(t, types.PolicyFIFO, 2_048, func(c *types.TimerConfig) {
			c.ReservedActors, c.ReservedShare = nil, decimal.Of(dec("0.1"))
		}, namedBy(&named))
		f.endBlock()
		id := f.schedule(robot2, f.Height()+1, f.noop())
		f.endBlock()
		for blocks = range 100 {
			if slices.Contains(f.firedIDs(f.endBlock()), id) {
				break
			}
		}
		return blocks
	}
	require.Zero(t, wait(robot2.String()))
	require.Positive(t, wait(""))
}
