package app_test

import (
	"fmt"
	"math/rand"
	"runtime"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	sdkmath "cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func address(name string) string { return appchain.AccountOf(name).Address.String() }

func send(from, to string, amount int64) sdk.Msg {
	return banktypes.NewMsgSend(appchain.AccountOf(from).Address, appchain.AccountOf(to).Address,
		sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, amount)))
}

func schedule(tb testing.TB, c *appchain.Chain, owner string, height uint64, msgs ...sdk.Msg) *types.MsgScheduleTimer {
	tb.Helper()
	payload, err := types.NewAccountPayload(msgs...)
	require.NoError(tb, err)
	bz, err := c.App.AppCodec().Marshal(payload)
	require.NoError(tb, err)
	return &types.MsgScheduleTimer{Sender: address(owner), Spec: types.TimerSpec{Trigger: types.Trigger{Height: height}, Call: types.TimerCall{Payload: bz}, GasLimit: 100_000}}
}

// Rule: 5-after-transactions
func TestTimerFiresThroughTheWholeApplication(t *testing.T) {
	c := appchain.New(t, "alice", "bob")
	c.Deliver("alice", schedule(t, c, "alice", 4, send("alice", "bob", 77)))
	require.Empty(t, appchain.Events(c.NextBlock(), "timers.v1.TimerFired"), "not due before height 4")
	before := c.Balance(appchain.AccountOf("bob").Address)
	fired := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "true", fired[0]["success"])
	require.Equal(t, before.AddRaw(77), c.Balance(appchain.AccountOf("bob").Address))
}

func TestReplayOnASecondApplicationGivesTheSameState(t *testing.T) {
	c := appchain.New(t, "alice", "bob", "carol")
	names := []string{"alice", "bob", "carol"}
	random := rand.New(rand.NewSource(1))
	var responses []*abci.ResponseFinalizeBlock
	for range 40 {
		var txs [][]byte
		for range random.Intn(4) {
			owner, other := names[random.Intn(3)], names[random.Intn(3)]
			due := uint64(c.App.LastBlockHeight()) + 2 + uint64(random.Intn(5))
			amount := int64(random.Intn(100) + 1)
			if random.Intn(5) == 0 {
				amount = 1 << 60 // fails when it fires
			}
			txs = append(txs, c.Sign(owner, schedule(t, c, owner, due, send(owner, other, amount))))
		}
		responses = append(responses, c.NextBlock(txs...))
	}
	fired := 0
	for _, response := range responses {
		fired += len(appchain.Events(response, "timers.v1.TimerFired"))
	}
	require.Greater(t, fired, 20, "the workload must fire timers")

	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	c.Replay()
}

func TestExportImportGoesOnAsIfNothingHadHappened(t *testing.T) {
	c := appchain.New(t, "alice", "bob")
	long := make([]sdk.Msg, 8) // a payload above 512 bytes, which lies apart
	for i := range long {
		long[i] = send("alice", "bob", int64(i+1))
	}
	var txs [][]byte
	for i := range 12 {
		txs = append(txs, c.Sign("alice", schedule(t, c, "alice", uint64(6+i%5), send("alice", "bob", int64(i+1)))))
	}
	txs = append(txs, c.Sign("bob", schedule(t, c, "bob", 8, send("bob", "alice", 1<<60))))
	txs = append(txs, c.Sign("alice", schedule(t, c, "alice", 9, long...)))
	c.NextBlock(txs...)
	c.NextBlock()
	c.NextBlock()
	c.NextBlock()
	c.NextBlock() // height 6: some have fired, and left receipts

	restarted := c.Restart()
	for range 6 {
		want, got := c.NextBlock(), restarted.NextBlock()
		for _, name := range []string{"timers.v1.TimerFired", "timers.v1.TimerLaneSummary"} {
			wantEvents, gotEvents := appchain.Events(want, name), appchain.Events(got, name)
			for _, events := range [][]map[string]string{wantEvents, gotEvents} {
				for _, event := range events {
					delete(event, "deliver_id") // it names the parent state, which an export renews
				}
			}
			require.Equal(t, wantEvents, gotEvents, "height %d", c.App.LastBlockHeight())
		}
		for _, name := range []string{"alice", "bob"} {
			require.Equal(t, c.Balance(appchain.AccountOf(name).Address), restarted.Balance(appchain.AccountOf(name).Address))
		}
	}
	want, err := c.App.Timers.ExportGenesis(c.Ctx())
	require.NoError(t, err)
	got, err := restarted.App.Timers.ExportGenesis(restarted.Ctx())
	require.NoError(t, err)
	for _, genesis := range []*types.GenesisState{want, got} {
		for i := range genesis.Receipts {
			for j := range genesis.Receipts[i].Receipts {
				genesis.Receipts[i].Receipts[j].DeliverId = nil
			}
		}
	}
	cdc := c.App.AppCodec()
	require.JSONEq(t, string(cdc.MustMarshalJSON(want)), string(cdc.MustMarshalJSON(got)))
}

func TestExportForHeightZeroIsRefused(t *testing.T) {
	c := appchain.New(t, "alice")
	_, err := c.App.ExportAppStateAndValidators(true, nil, nil)
	require.ErrorIs(t, err, app.ErrZeroHeight)
}

// Rule: 5.2-tips-to-proposer
func TestTipsGoToTheProposersRewards(t *testing.T) {
	c := appchain.New(t, "alice")
	ctx := c.Ctx()
	validators, err := c.App.Staking.GetAllValidators(ctx)
	require.NoError(t, err)
	cons, err := validators[0].GetConsAddr()
	require.NoError(t, err)
	operator, err := c.App.Staking.ValidatorAddressCodec().StringToBytes(validators[0].OperatorAddress)
	require.NoError(t, err)
	tips := sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1_000))
	fund := func() {
		require.NoError(t, c.App.Bank.MintCoins(ctx, minttypes.ModuleName, tips))
		require.NoError(t, c.App.Bank.SendCoinsFromModuleToModule(ctx, minttypes.ModuleName, types.ModuleName, tips))
	}
	collector := fees.NewProposerTips(c.App.Bank, c.App.Staking, c.App.Distribution)

	fund()
	before, err := c.App.Distribution.GetValidatorOutstandingRewards(ctx, operator)
	require.NoError(t, err)
	header := ctx.BlockHeader()
	header.ProposerAddress = cons
	require.NoError(t, collector.PayTips(ctx.WithBlockHeader(header), types.ModuleName, tips))
	after, err := c.App.Distribution.GetValidatorOutstandingRewards(ctx, operator)
	require.NoError(t, err)
	require.Equal(t, before.Rewards.Add(sdk.NewDecCoinsFromCoins(tips...)...), after.Rewards)

	fund()
	collectorAddress := c.App.Accounts.GetModuleAddress(authtypes.FeeCollectorName)
	held := c.App.Bank.GetBalance(ctx, collectorAddress, app.FeeDenom).Amount
	header.ProposerAddress = []byte("no one that is known")
	require.NoError(t, collector.PayTips(ctx.WithBlockHeader(header), types.ModuleName, tips))
	require.Equal(t, held.AddRaw(1_000), c.App.Bank.GetBalance(ctx, collectorAddress, app.FeeDenom).Amount)
	require.True(t, c.App.Bank.GetBalance(ctx, c.App.Accounts.GetModuleAddress(types.ModuleName), app.FeeDenom).IsZero())
}

// TestGovernance_ChangesOfTheConfigUndoNoOther: of two proposals that set the same parameter the second fails with the reason,
// and one of another parameter passes in the same block.
func TestGovernance_ChangesOfTheConfigUndoNoOther(t *testing.T) {
	c := appchain.New(t, "validator", "alice")
	gov := authtypes.NewModuleAddress(govtypes.ModuleName).String()
	current, err := c.App.Timers.Config(c.Ctx())
	require.NoError(t, err)
	submit := func(id uint64, field string, change func(*types.TimerConfig)) {
		next := current
		change(&next)
		msg, err := types.ChangeConfig(gov, &current, &next, []string{field})
		require.NoError(t, err)
		proposal, err := govv1.NewMsgSubmitProposal([]sdk.Msg{msg}, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1)),
			address("validator"), "", "timers", "tune", false)
		require.NoError(t, err)
		c.Deliver("validator", proposal, govv1.NewMsgVote(appchain.AccountOf("validator").Address, id, govv1.OptionYes, ""))
	}
	submit(1, "lane_timer_cycles", func(c *types.TimerConfig) { c.LaneTimerCycles = 3_000_000 })
	submit(2, "lane_timer_cycles", func(c *types.TimerConfig) { c.LaneTimerCycles = 4_000_000 })
	submit(3, "max_unfunded_skips", func(c *types.TimerConfig) { c.MaxUnfundedSkips = 3 })
	for range 6 {
		c.NextBlock()
	}
	config, err := c.App.Timers.Config(c.Ctx())
	require.NoError(t, err)
	require.EqualValues(t, 3_000_000, config.LaneTimerCycles)
	require.EqualValues(t, 3, config.MaxUnfundedSkips)
	for id, status := range map[uint64]govv1.ProposalStatus{1: govv1.StatusPassed, 2: govv1.StatusFailed, 3: govv1.StatusPassed} {
		proposal, err := c.App.Gov.Proposals.Get(c.Ctx(), id)
		require.NoError(t, err)
		require.Equal(t, status, proposal.Status, id)
		if id == 2 {
			require.Contains(t, proposal.FailedReason, "the hash of lane_timer_cycles is ")
		}
	}
}

func TestGovernanceCancelsExtendsAndTunes(t *testing.T) {
	c := appchain.New(t, "validator", "alice")
	c.Deliver("alice", schedule(t, c, "alice", 100, send("alice", "validator", 1)),
		schedule(t, c, "alice", 200, send("alice", "validator", 2)))
	listed, err := keeper.NewQueryServer(c.App.Timers).TimersByActor(c.Ctx(), &types.QueryTimersByActorRequest{Actor: address("alice")})
	require.NoError(t, err)
	require.Len(t, listed.Timers, 2)

	gov := authtypes.NewModuleAddress(govtypes.ModuleName).String()
	config, err := c.App.Timers.Config(c.Ctx())
	require.NoError(t, err)
	config.LaneTimerCycles = 3_000_000
	tune, err := c.App.Timers.ReplaceConfig(c.Ctx(), config)
	require.NoError(t, err)
	proposal, err := govv1.NewMsgSubmitProposal([]sdk.Msg{
		&types.MsgSysCancelTimer{Authority: gov, Actor: address("alice"), Id: listed.Timers[0].Id},
		&types.MsgSysExtendTimer{Authority: gov, Actor: address("alice"), Id: listed.Timers[1].Id, ExpiresAt: 300},
		tune,
	}, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1)), address("validator"), "", "timers", "cancel, extend, tune", false)
	require.NoError(t, err)
	c.Deliver("validator", proposal)
	c.Deliver("validator", govv1.NewMsgVote(appchain.AccountOf("validator").Address, 1, govv1.OptionYes, ""))
	var events []abci.Event
	for range 4 {
		events = append(events, c.NextBlock().Events...)
	}
	all := &abci.ResponseFinalizeBlock{Events: events}
	for name, opcode := range map[string]uint32{
		"timers.v1.TimerCancelledByGovernance":     types.OpcodeSysCancelTimer,
		"timers.v1.TimerExtendedByGovernance":      types.OpcodeSysExtendTimer,
		"timers.v1.TimerConfigUpdatedByGovernance": types.OpcodeSysUpdateTimerConfig,
	} {
		found := appchain.Events(all, name)
		require.Len(t, found, 1, name)
		require.Equal(t, fmt.Sprint(opcode), found[0]["opcode"])
	}
	listed, err = keeper.NewQueryServer(c.App.Timers).TimersByActor(c.Ctx(), &types.QueryTimersByActorRequest{Actor: address("alice")})
	require.NoError(t, err)
	require.Len(t, listed.Timers, 1)
	require.Equal(t, uint64(300), listed.Timers[0].Status.ExpiresAt)
	config, err = c.App.Timers.Config(c.Ctx())
	require.NoError(t, err)
	require.Equal(t, uint64(3_000_000), config.LaneTimerCycles)
}

func TestModuleAccountsAreBlockedAndTimersMayBurn(t *testing.T) {
	c := appchain.New(t, "alice")
	blocked := app.BlockedAddresses()
	require.True(t, blocked[authtypes.NewModuleAddress(types.ModuleName).String()])
	require.False(t, blocked[authtypes.NewModuleAddress(govtypes.ModuleName).String()])
	account := c.App.Accounts.GetModuleAccount(c.Ctx(), types.ModuleName)
	require.True(t, account.HasPermission(authtypes.Burner))
	require.False(t, account.HasPermission(authtypes.Minter))
	require.True(t, c.Balance(account.GetAddress()).Equal(sdkmath.ZeroInt()))
}
