package keeper_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	distributiontypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// newTipping is a fixture under a policy that charges tips: 0.5 a cycle for the chain, 1 for the lane, nothing for
// cells.
func newTipping(t *testing.T, changes ...func(*lab.ChainOptions)) *fixture {
	t.Helper()
	return newFixture(t, append(changes, withConfig(inMarket), withConfig(func(c *types.TimerConfig) {
		c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyNewDecWithPrec(5, 1)), decimal.Of(math.LegacyZeroDec())
		c.Eip1559.MinLaneBasefee = decimal.Of(math.LegacyOneDec())
	}))...)
}

// fireTipped fires one of the robot's timers that uses 10,001 cycles beyond its intrinsic ones, at 1.5 a cycle and a
// tip of 0.3 a cycle.
func (f *fixture) fireTipped() (receipt types.ReceiptInfo, refunded string) {
	f.t.Helper()
	bid := &types.Bid{Static: &types.StaticBid{
		MaxFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(13, 1)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(3, 1)),
	}}
	f.schedule(robot, 3, f.burner(10_001), limited(100_000), bidding(bid))
	fired := eventsOf[*types.TimerFired](f, f.blocksUntil(3))
	require.Len(f.t, fired, 1)
	receipts, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: 3})
	require.NoError(f.t, err)
	require.Len(f.t, receipts.Receipts, 1)
	return receipts.Receipts[0], fired[0].Refunded
}

// Rule: 1.1-charge-rounded-up, 5.2-tips-fallback
func TestTipsGoToTheFeeCollectorByDefault(t *testing.T) {
	f := newTipping(t)
	receipt, refunded := f.fireTipped()
	require.Equal(t, uint64(30_001), receipt.Cycles)
	// ceil(30,001 × 1.8) is charged, floor(30,001 × 0.3) is the tip, and the rest is burned, its rounding included.
	require.Equal(t, "54002", receipt.Paid)
	require.Equal(t, "9000", receipt.Tip)
	require.Equal(t, strconv.Itoa(180_000-54_002), refunded)

	require.Equal(t, int64(rich-54_002), f.balance(robot))
	require.Equal(t, int64(9_000), f.balance(authtypes.NewModuleAddress(authtypes.FeeCollectorName)))
	require.Equal(t, int64(9_000), f.lane().Tips.Int64())
	require.Equal(t, int64(45_002), f.lane().Burned.Int64())
}

// neighbours stand for x/staking and x/distribution, which know one proposer, and for a bank in which the latter has an
// account.
type neighbours struct {
	types.BankKeeper
	known     sdk.ConsAddress
	allocated sdk.DecCoins
}

func (n *neighbours) GetValidatorByConsAddr(_ context.Context, cons sdk.ConsAddress) (stakingtypes.Validator, error) {
	if n.known == nil || !n.known.Equals(cons) {
		return stakingtypes.Validator{}, stakingtypes.ErrNoValidatorFound
	}
	return stakingtypes.Validator{OperatorAddress: "the proposer"}, nil
}

func (n *neighbours) AllocateTokensToValidator(_ context.Context, v stakingtypes.ValidatorI, tokens sdk.DecCoins) error {
	if v.GetOperator() == "the proposer" {
		n.allocated = n.allocated.Add(tokens...)
	}
	return nil
}

func (n *neighbours) SendCoinsFromModuleToModule(ctx context.Context, from, to string, amount sdk.Coins) error {
	return n.SendCoins(ctx, authtypes.NewModuleAddress(from), authtypes.NewModuleAddress(to), amount)
}

// withProposer wires the collector of proposers' tips.
func withProposer(t *testing.T, known sdk.ConsAddress) (*fixture, *neighbours) {
	t.Helper()
	n := &neighbours{known: known}
	f := newTipping(t, func(opts *lab.ChainOptions) {
		opts.Keeper = append(opts.Keeper, keeper.WithTipCollector(fees.NewProposerTips(n, n, n)))
	})
	n.BankKeeper = f.Bank
	return f, n
}

// Rule: 5.2-tips-to-proposer
func TestTipsGoToTheProposerThroughDistribution(t *testing.T) {
	// The lab's blocks have no proposer: its address is empty.
	f, n := withProposer(t, sdk.ConsAddress{})
	f.fireTipped()
	require.Equal(t, int64(9_000), f.balance(authtypes.NewModuleAddress(distributiontypes.ModuleName)))
	require.Equal(t, sdk.NewDecCoinsFromCoins(f.coins(9_000)...), n.allocated)
	require.Zero(t, f.balance(authtypes.NewModuleAddress(authtypes.FeeCollectorName)))
}

// Rule: 5.2-tips-fallback
func TestTipsGoToTheFeeCollectorIfTheProposerIsUnknown(t *testing.T) {
	f, n := withProposer(t, sdk.ConsAddress("somebody else"))
	f.fireTipped()
	require.Empty(t, n.allocated)
	require.Zero(t, f.balance(authtypes.NewModuleAddress(distributiontypes.ModuleName)))
	require.Equal(t, int64(9_000), f.balance(authtypes.NewModuleAddress(authtypes.FeeCollectorName)))
}

// greedy is a chain's tip collector that takes the coins and then fails in its own way.
type greedy struct {
	*neighbours
	fail func() error
}

func (g greedy) PayTips(ctx context.Context, from string, tips sdk.Coins) error {
	if err := g.SendCoinsFromModuleToModule(ctx, from, distributiontypes.ModuleName, tips); err != nil {
		return err
	}
	return g.fail()
}

// Rule: 5.2-tips-fallback
func TestACollectorThatFailsNeitherUndoesFiresNorKeepsTips(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return types.ErrInternal },
		"panic": func() error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			n := &neighbours{}
			f := newTipping(t, func(opts *lab.ChainOptions) {
				opts.Keeper = append(opts.Keeper, keeper.WithTipCollector(greedy{n, fail}))
			})
			n.BankKeeper = f.Bank
			f.fireTipped()
			require.Zero(t, f.balance(authtypes.NewModuleAddress(distributiontypes.ModuleName)))
			require.Equal(t, int64(9_000), f.balance(authtypes.NewModuleAddress(authtypes.FeeCollectorName)))
		})
	}
}
