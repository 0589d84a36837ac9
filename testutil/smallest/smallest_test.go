package smallest_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/testutil/smallest"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestOrder: no timer is tried before one of a smaller size, or before an older one with the same; all are tried; and
// how they are handed in does not matter.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		candidates := policytest.DrawCandidates(t)
		order := func(candidates []market.Candidate) (ordered []market.Candidate) {
			for _, i := range (smallest.Rules{}).Order(market.Prices{}, candidates) {
				ordered = append(ordered, candidates[i])
			}
			return ordered
		}
		ordered := order(candidates)
		require.ElementsMatch(t, candidates, ordered)
		for i := 1; i < len(ordered); i++ {
			a, b := ordered[i-1], ordered[i]
			require.LessOrEqual(t, a.Size, b.Size)
			if a.Size == b.Size {
				require.Negative(t, cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq)))
			}
		}
		require.Equal(t, ordered, order(rapid.Permutation(candidates).Draw(t, "handed in as")))
	})
}

var owner = authtypes.NewModuleAddress("owner")

// newChain is a lab chain with the policy in force, on which a block is open.
func newChain(t *testing.T, change func(*types.TimerConfig)) *lab.Chain {
	t.Helper()
	genesis := types.NewGenesis("stake")
	genesis.Config.Policy = smallest.ID
	change(&genesis.Config)
	chain, err := lab.NewChain(lab.ChainOptions{
		Genesis: genesis, Keeper: []keeper.Option{keeper.WithPolicy(smallest.New)},
		Balances: []lab.Balance{{Address: owner, Amount: math.NewInt(1_000_000)}},
	})
	require.NoError(t, err)
	chain.Modules.Register("owner", types.DefaultHandler, func(context.Context, types.Delivery) error { return nil })
	require.NoError(t, chain.BeginBlock())
	return chain
}

func schedule(t *testing.T, chain *lab.Chain, due, gasLimit uint64) {
	t.Helper()
	_, err := chain.Timers.Schedule(chain.Ctx(), keeper.ScheduleRequest{
		Actor: owner, Spec: types.TimerSpec{
			FeePayer: owner.String(), Trigger: types.Trigger{Height: due}, GasLimit: gasLimit,
			Call: types.TimerCall{Payload: []byte{byte(gasLimit / 10_000)}},
		},
	})
	require.NoError(t, err)
}

// fires ends the open block and returns which timers fired, by gas limit in tens of thousands.
func fires(t *testing.T, chain *lab.Chain, fired map[string]byte) (limits []byte) {
	t.Helper()
	timers, err := chain.Timers.TimersOf(chain.Ctx(), owner)
	require.NoError(t, err)
	for i := range timers {
		fired[timers[i].IDHex()] = timers[i].Spec.Call.Payload[0]
	}
	events, err := chain.EndBlock()
	require.NoError(t, err)
	require.NoError(t, chain.Check())
	require.NoError(t, chain.BeginBlock())
	for _, event := range events {
		if event.Type != "timers.v1.TimerFired" {
			continue
		}
		parsed, err := sdk.ParseTypedEvent(abci.Event(event))
		require.NoError(t, err)
		e := parsed.(*types.TimerFired)
		require.Equal(t, "21", e.Paid, "20,003 cycles at the chain's basefee of a thousandth: three for the byte of payload")
		require.Equal(t, "0", e.Tip)
		limits = append(limits, fired[e.Id])
	}
	return limits
}

// TestTheSmallestFireFirst: in a lane that is too small for all, and age decides among equals.
func TestTheSmallestFireFirst(t *testing.T) {
	chain := newChain(t, func(c *types.TimerConfig) { c.MaxFiresPerBlock = 2 })
	for _, gasLimit := range []uint64{90_000, 40_000, 70_000, 40_000, 50_000} {
		schedule(t, chain, 2, gasLimit)
	}
	known := map[string]byte{}
	require.Empty(t, fires(t, chain, known))
	require.Equal(t, []byte{4, 4}, fires(t, chain, known))
	require.Equal(t, []byte{5, 7}, fires(t, chain, known))
	require.Equal(t, []byte{9}, fires(t, chain, known))
}

// TestALargeTimerWaitsForSmallOnes: the window holds the oldest timers, so that large ones fire once they fill it; the last
// one waits while enough small ones keep coming.
func TestALargeTimerWaitsForSmallOnes(t *testing.T) {
	chain := newChain(t, func(c *types.TimerConfig) { c.MaxFiresPerBlock, c.CandidateWindow = 2, 3 })
	for range 4 {
		schedule(t, chain, 2, 90_000)
	}
	known := map[string]byte{}
	large := func(blocks, small int) (n int) {
		for range blocks {
			for range small {
				schedule(t, chain, chain.Height()+1, 40_000)
			}
			n += len(slices.DeleteFunc(fires(t, chain, known), func(limit byte) bool { return limit != 9 }))
		}
		return n
	}
	require.Equal(t, 3, large(20, 3))
	require.Equal(t, 1, large(30, 0))
}

// TestAChainWithoutThePolicyRefusesIt: a config or a genesis that names it.
func TestAChainWithoutThePolicyRefusesIt(t *testing.T) {
	genesis := types.NewGenesis("stake")
	genesis.Config.Policy = smallest.ID
	_, err := lab.NewChain(lab.ChainOptions{Genesis: genesis})
	require.ErrorIs(t, err, types.ErrInvalidConfig)
	wire := func(more ...policies.Constructor) func() {
		return func() { _, _ = lab.NewChain(lab.ChainOptions{Keeper: []keeper.Option{keeper.WithPolicy(more...)}}) }
	}
	require.PanicsWithError(t, "x/timers: two policies have the id 1000", wire(smallest.New, smallest.New))
	other := func(parts *policies.Parts) policies.Policy { return &another{Policy: smallest.New(parts)} }
	require.PanicsWithError(t, `x/timers: the name "smallest" of the parameters /smallest.v1.Params is taken`,
		wire(smallest.New, other))
}

// another is a policy with the parameters of this one.
type another struct{ policies.Policy }

func (*another) ID() types.Policy { return smallest.ID + 1 }

// TestOrder_TheImpatientComeFirst, in the order in which they became due, whatever their sizes.
func TestOrder_TheImpatientComeFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := smallest.Rules{Patience: rapid.Uint64Range(0, 8).Draw(t, "patience")}
		candidates := policytest.DrawCandidates(t)
		height := uint64(0)
		for _, c := range candidates {
			height = max(height, c.Due)
		}
		height += min(rapid.Uint64Range(0, 4).Draw(t, "later"), ^height)
		var ordered []market.Candidate
		for _, i := range rules.Order(market.Prices{Height: height}, candidates) {
			ordered = append(ordered, candidates[i])
		}
		require.ElementsMatch(t, candidates, ordered)
		waited := func(c market.Candidate) bool { return rules.Patience > 0 && height-c.Due >= rules.Patience }
		for i := 1; i < len(ordered); i++ {
			a, b := ordered[i-1], ordered[i]
			require.False(t, waited(b) && !waited(a), "%v before %v", a, b)
			if waited(a) && waited(b) {
				require.Negative(t, cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq)))
			}
		}
	})
}

// TestPatience_IsSetShownAndKept: by its name, in the query of the lane, and through a genesis file.
//
// Rule: 7-policy-params, 1.7-guest-state
func TestPatience_IsSetShownAndKept(t *testing.T) {
	chain := newChain(t, func(c *types.TimerConfig) { c.MaxFiresPerBlock = 1 })
	known := map[string]byte{}
	standing := func(chain *lab.Chain) *smallest.Standing {
		lane, err := keeper.NewQueryServer(chain.Timers).Lane(chain.Ctx(), &types.QueryLaneRequest{})
		require.NoError(t, err)
		return lane.OfPolicy.GetCachedValue().(*smallest.Standing)
	}
	require.Equal(t, &smallest.Standing{PatienceBlocks: 100}, standing(chain))
	params, err := keeper.NewQueryServer(chain.Timers).Params(chain.Ctx(), &types.QueryParamsRequest{Fields: []string{"smallest.patience_blocks"}})
	require.NoError(t, err)
	next := params.Config
	types.ChangeParams(&next, func(p *smallest.Params) { p.PatienceBlocks = 3 })
	change, err := types.ChangeConfig(chain.Timers.Authority(chain.Ctx()), &params.Config, &next, []string{"smallest.patience_blocks"})
	require.NoError(t, err)
	require.Equal(t, params.Expected, change.Expected)
	_, _, err = chain.Tx(change)
	require.NoError(t, err)

	schedule(t, chain, 2, 90_000)
	for range 9 {
		schedule(t, chain, 2, 40_000)
	}
	var fired []byte
	for range 6 {
		fired = append(fired, fires(t, chain, known)...)
	}
	require.Equal(t, []byte{4, 4, 4, 9, 4}, fired, "the large one is impatient in its fourth block, and older than the small ones")
	require.Equal(t, &smallest.Standing{PatienceBlocks: 3, Impatient: 2}, standing(chain))

	_, err = chain.EndBlock()
	require.NoError(t, err)
	exported, err := chain.Timers.ExportGenesis(chain.Ctx())
	require.NoError(t, err)
	var read types.GenesisState
	chain.Codec.MustUnmarshalJSON(chain.Codec.MustMarshalJSON(exported), &read)
	again, err := lab.NewChain(lab.ChainOptions{
		Genesis: &read, Height: chain.Ctx().BlockHeight(), Keeper: []keeper.Option{keeper.WithPolicy(smallest.New)},
		Balances: []lab.Balance{{Address: owner, Amount: math.NewInt(1_000_000)}},
	})
	require.NoError(t, err)
	require.NoError(t, again.BeginBlock())
	require.Equal(t, &smallest.Standing{PatienceBlocks: 3, Impatient: 3}, standing(again))

	for want, change := range map[string]func(*types.GenesisState){
		"smallest.patience_blocks is 1099511627777, want 0 to 1099511627776": func(g *types.GenesisState) {
			types.ChangeParams(&g.Config, func(p *smallest.Params) { p.PatienceBlocks = types.MaxBlocks + 1 })
		},
		"smallest.State: impatient is 1099511627777, want at most": func(g *types.GenesisState) {
			g.Lane.SetPolicy(&smallest.State{Impatient: types.MaxBlocks + 1})
		},
	} {
		broken := read
		change(&broken)
		require.ErrorContains(t, chain.Timers.ValidateGenesis(&broken), want)
	}
	_, err = lab.NewChain(lab.ChainOptions{Genesis: &read, Height: chain.Ctx().BlockHeight()})
	require.ErrorContains(t, err, "this chain has registered nothing with the parameters /smallest.v1.Params")
}
