package engine_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/x/timers/engine"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	alice = sdk.AccAddress("alice_______________")
	bob   = sdk.AccAddress("bob_________________")
)

// newChain starts a chain on which alice has n timers that are due at height 2, each of which sends a coin to bob.
func newChain(t *testing.T, n int, config func(*types.TimerConfig), opts ...keeper.Option) *lab.Chain {
	t.Helper()
	genesis := types.DefaultGenesis()
	config(&genesis.Config)
	chain, err := lab.NewChain(lab.ChainOptions{
		Genesis: genesis, Keeper: opts, Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(1_000_000_000)}},
	})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())
	for range n {
		schedule(t, chain, 1, keeper.ScheduleRequest{Actor: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 2}, GasLimit: 100_000}})
	}
	endBlock(t, chain)
	return chain
}

func endBlock(t *testing.T, chain *lab.Chain) sdk.Events {
	t.Helper()
	events, err := chain.EndBlock()
	require.NoError(t, err)
	require.NoError(t, chain.Check())
	return events
}

// overloaded makes more than three ready timers too many, in a lane that fires two a block.
func overloaded(c *types.TimerConfig) {
	c.CandidateWindow, c.MaxFiresPerBlock = 3, 2
}

// Rule: 5.1-ten-steps
func TestThereAreTenSteps(t *testing.T) {
	untilSelection, all := engine.Steps()
	// Two of the ten, what each candidate bids and the order, are one question to the policy.
	require.Equal(t, 4, untilSelection)
	require.Equal(t, 9, all)
}

// TestAPreviewRunsTheStepsOfTheBlock: queries have no list of steps of their own, which could lack one.
//
// Rule: 9.2-no-trace
func TestAPreviewRunsTheStepsOfTheBlock(t *testing.T) {
	chain := newChain(t, 1, func(*types.TimerConfig) {})
	var steps []int
	t.Cleanup(engine.Probe(func(step int) { steps = append(steps, step) }))

	_, err := keeper.NewQueryServer(chain.Timers).Estimate(chain.Ctx(), &types.QueryEstimateRequest{})
	require.NoError(t, err)
	previewed := steps
	steps = nil
	require.NoError(t, chain.BeginBlock())
	endBlock(t, chain)
	require.Equal(t, []int{0, 1, 2, 3}, previewed)
	require.Equal(t, steps, previewed)
}

// countedBasefees is a fee market whose prices rise each time that it is asked.
type countedBasefees struct{ asked *int64 }

func (c countedBasefees) Basefees(context.Context, *types.TimerConfig) (cycle, cell math.LegacyDec, err error) {
	*c.asked++
	return math.LegacyNewDec(*c.asked), math.LegacyZeroDec(), nil
}

// TestTheFeeMarketIsAskedOnceABlock: under overload as without, agents are told the prices that the fires pay.
//
// Rule: 5.1-prices-fixed, 5.1-agents-at-admission, 5.2-market-asked-once
func TestTheFeeMarketIsAskedOnceABlock(t *testing.T) {
	lab.SkipWithoutAgents(t)
	agent := authtypes.NewModuleAddress(govtypes.ModuleName)
	for name, n := range map[string]int{"few": 2, "overload": 9} {
		t.Run(name, func(t *testing.T) {
			asked := int64(0)
			chain := newChain(t, n, func(c *types.TimerConfig) {
				overloaded(c)
			}, keeper.WithBasefeeSource(countedBasefees{&asked}))
			var told []string
			chain.Modules.RegisterQuoter(govtypes.ModuleName, func(_ context.Context, about types.BidContext) (types.AgentQuote, error) {
				told = append(told, about.Prices.Cycle.TruncateInt().String())
				price := math.LegacyNewDec(1_000)
				return types.AgentQuote{MaxFeePerCycle: price, MaxPriorityFeePerCycle: math.LegacyZeroDec(), MaxFeePerCell: price}, nil
			})
			before := asked
			require.NoError(t, chain.BeginBlock())
			require.NoError(t, chain.Timers.SetAgent(chain.Ctx(), alice, agent))
			endBlock(t, chain)
			require.Equal(t, before+1, asked, "how often the fee market is asked in a block")
			require.NotEmpty(t, told)
			for _, cycle := range told {
				require.Equal(t, strconv.FormatInt(asked, 10), cycle)
			}
		})
	}
}

func TestRecord_ReportsReadyTimersUnderOverloadToo(t *testing.T) {
	for name, n := range map[string]int{"few": 3, "overload": 9} {
		t.Run(name, func(t *testing.T) {
			chain := newChain(t, n, overloaded)
			read := measured(chain)
			for ready := n; ready > 0; ready -= 2 {
				require.NoError(t, chain.BeginBlock())
				endBlock(t, chain)
				values := read(t)
				require.Equal(t, float64(ready), values["timers_competing"], "at height %d", chain.Height())
				require.Equal(t, float64(max(ready-2, 0)), values["timers_ready"], "at height %d", chain.Height())
				require.Equal(t, n > 3 && ready > 3, values["timers_storm"] == 1, "at height %d", chain.Height())
			}
		})
	}
}

// closedMarket is a fee market without prices.
type closedMarket struct{}

func (closedMarket) Basefees(context.Context, *types.TimerConfig) (cycle, cell math.LegacyDec, err error) {
	return cycle, cell, types.ErrInternal
}

func TestBlocksWithoutPricesAreCounted(t *testing.T) {
	chain := newChain(t, 0, func(*types.TimerConfig) {}, keeper.WithBasefeeSource(closedMarket{}))
	read := measured(chain)
	for range 4 {
		require.NoError(t, chain.BeginBlock())
		endBlock(t, chain)
	}
	require.Equal(t, 4.0, read(t)[`timers_failures_total{kind=basefee_source}`])
}
