package lab_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestQueries_RunBesideBlocks asks for everything that process memory has a part in (configs, addresses, verdicts on payloads,
// layouts of events), from several goroutines, while blocks schedule and fire. Under -race it finds memory that they share;
// without, that each answer is that of the block it was asked of.
func TestQueries_RunBesideBlocks(t *testing.T) {
	alice, bob := asker, sdk.AccAddress("bob_________________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{alice, math.NewInt(1_000_000_000)}, {bob, math.NewInt(1)}}})
	require.NoError(t, err)
	server := keeper.NewQueryServer(chain.Timers)
	payload, err := types.NewAccountPayload(banktypes.NewMsgSend(alice, bob, sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, 1))))
	require.NoError(t, err)
	bz, err := chain.Codec.Marshal(payload)
	require.NoError(t, err)
	var group sync.WaitGroup
	failures := make(chan error, 1_000)
	for range 15 {
		require.NoError(t, chain.BeginBlock())
		for range 3 {
			_, _, err := chain.Tx(&types.MsgScheduleTimer{
				Sender: alice.String(), Spec: types.TimerSpec{
					Call: types.TimerCall{Payload: bz}, GasLimit: 100_000,
					Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 2, First: chain.Height() + 1}},
				},
			})
			require.NoError(t, err)
		}
		config, err := chain.Timers.Config(chain.Ctx())
		require.NoError(t, err)
		config.MaxFiresPerActor++
		msg, err := chain.Timers.ReplaceConfig(chain.Ctx(), config)
		require.NoError(t, err)
		_, _, err = chain.Tx(msg)
		require.NoError(t, err)
		// The end of the block runs beside queries once, on a branch that is dropped. The commit waits for them: it changes memory
		// of the store's that queries read, whatever a module does.
		branch, _ := chain.Ctx().CacheContext()
		require.NoError(t, chain.Timers.EndBlock(branch))
		group.Wait()
		_, err = chain.EndBlock()
		require.NoError(t, err)
		for range 4 {
			ctx, err := chain.Committed()
			require.NoError(t, err)
			group.Add(1)
			go func() {
				defer group.Done()
				for range 3 {
					if err := ask(ctx, server, config.MaxFiresPerActor-1); err != nil {
						failures <- err
					}
				}
			}()
		}
	}
	group.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
}

var asker = sdk.AccAddress("alice_______________")

// ask asks of a committed block, in which the cap was in force.
func ask(ctx context.Context, server types.QueryServer, capped uint32) error {
	params, err := server.Params(ctx, &types.QueryParamsRequest{})
	if err != nil {
		return err
	}
	if got := params.Config.MaxFiresPerActor; got != capped {
		return fmt.Errorf("the config of the block allows %d fires of an actor, not %d", got, capped)
	}
	list, err := server.TimersByActor(ctx, &types.QueryTimersByActorRequest{Actor: asker.String()})
	if err != nil {
		return err
	}
	for i := range list.Timers {
		if _, err := server.Timer(ctx, &types.QueryTimerRequest{Actor: asker.String(), Id: list.Timers[i].Id}); err != nil {
			return err
		}
	}
	if _, err := server.Estimate(ctx, &types.QueryEstimateRequest{}); err != nil {
		return err
	}
	if _, err := server.Ready(ctx, &types.QueryReadyRequest{}); err != nil {
		return err
	}
	_, err = server.Lane(ctx, &types.QueryLaneRequest{})
	return err
}
