package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// overloaded is a chain on which 400 timers become ready in three blocks and 100 compete, and how many values its backlog has.
func overloaded(t *testing.T, policy types.Policy, more ...func(*lab.ChainOptions)) (f *fixture, backlog func() int) {
	t.Helper()
	var service corestore.KVStoreService
	options := []func(*lab.ChainOptions){
		withConfig(func(c *types.TimerConfig) {
			c.Policy, c.CandidateWindow, c.MaxFiresPerBlock = policy, 100, 7
		}),
		func(opts *lab.ChainOptions) {
			opts.WrapStore = func(s corestore.KVStoreService) corestore.KVStoreService {
				service = s
				return s
			}
		},
	}
	f = crowded(t, 400, func(timer *types.Timer) {
		timer.Due, timer.ExpiresAt = 2+timer.Seq%3, 20+timer.Seq%200
	}, append(options, more...)...)
	return f, func() int { return len(keysOf(t, f, service)[types.PrefixBacklog]) }
}

// TestABacklogIsNotExported: a chain that was exported in a storm and imported packs anew, and fires the same.
//
// Rule: 2.4-backlog-genesis
func TestABacklogIsNotExported(t *testing.T) {
	for _, policy := range []types.Policy{types.PolicyAuction, types.PolicyTip} {
		t.Run(policy.String(), func(t *testing.T) {
			f, backlog := overloaded(t, policy)
			f.blocksUntil(12)
			require.Positive(t, backlog())
			genesis := f.export()
			again := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis, opts.Height = genesis, int64(f.Height())-1 })
			again.robots.scripts["noop"] = f.robots.scripts["noop"]
			require.Equal(t, genesis, again.export())
			for range 30 {
				require.Equal(t, f.firedIDs(f.NextBlock()), again.firedIDs(again.NextBlock()))
			}
		})
	}
}

// TestABacklogCostsNoGas: who changes a timer that is packed pays as if it were not.
//
// Rule: 2.4-backlog-gas
func TestABacklogCostsNoGas(t *testing.T) {
	packed, backlog := overloaded(t, types.PolicyAuction)
	plain, none := overloaded(t, types.PolicyFIFO)
	for _, f := range []*fixture{packed, plain} {
		f.blocksUntil(8)
	}
	require.Positive(t, backlog())
	require.Zero(t, none())
	gas := func(f *fixture, t types.Timer) (used []uint64) {
		for _, msg := range []sdk.Msg{
			&types.MsgExtendTimer{Sender: t.Owner().String(), Id: t.IDHex(), ExpiresAt: 300},
			&types.MsgPauseTimer{Sender: t.Owner().String(), Id: t.IDHex()},
			&types.MsgResumeTimer{Sender: t.Owner().String(), Id: t.IDHex()},
			&types.MsgCancelTimer{Sender: t.Owner().String(), Id: t.IDHex()},
		} {
			_, one, err := f.Tx(msg)
			require.NoError(f.t, err)
			used = append(used, one)
		}
		return used
	}
	waits := packed.export().Timers[20]
	require.Equal(t, gas(plain, waits), gas(packed, waits))
	require.NoError(t, packed.Check())
}
