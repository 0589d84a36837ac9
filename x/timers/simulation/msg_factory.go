// Package simulation makes random messages for the SDK's simulator: valid ones, of every kind that the module has. The owners
// are the simulator's accounts. A contract, its admin and an interchain account are not among them, since the module requires
// neither x/wasm nor IBC: timerd's random histories (testutil/campaign) have them as owners.
package simulation

import (
	"context"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxDistance is how many blocks ahead a simulated timer is due at most: near, so that a short run fires many.
const maxDistance = 20

// factory makes messages from what the chain knows.
type factory struct {
	cdc    codec.Codec
	keeper *keeper.Keeper
}

// RegisterMsgs registers a factory for every message that accounts send.
func RegisterMsgs(cdc codec.Codec, k *keeper.Keeper, weights simsx.WeightSource, reg simsx.Registry) {
	f := factory{cdc, k}
	reg.Add(weights.Get("timers_schedule", 100), simsx.SimMsgFactoryFn[*types.MsgScheduleTimer](f.schedule))
	reg.Add(weights.Get("timers_update", 20), simsx.SimMsgFactoryFn[*types.MsgUpdateTimer](f.update))
	reg.Add(weights.Get("timers_extend", 20), simsx.SimMsgFactoryFn[*types.MsgExtendTimer](f.extend))
	reg.Add(weights.Get("timers_pause", 20), simsx.SimMsgFactoryFn[*types.MsgPauseTimer](f.pause))
	reg.Add(weights.Get("timers_resume", 20), simsx.SimMsgFactoryFn[*types.MsgResumeTimer](f.resume))
	reg.Add(weights.Get("timers_set_agent", 5), simsx.SimMsgFactoryFn[*types.MsgSetAgent](f.setAgent))
	reg.Add(weights.Get("timers_skip", 10), simsx.SimMsgFactoryFn[*types.MsgSkipTimer](f.skip))
	reg.Add(weights.Get("timers_run", 10), simsx.SimMsgFactoryFn[*types.MsgRunTimer](f.run))
	reg.Add(weights.Get("timers_cancel", 20), simsx.SimMsgFactoryFn[*types.MsgCancelTimer](f.cancel))
}

// RegisterProposals registers a factory for every message that only governance sends.
func RegisterProposals(cdc codec.Codec, k *keeper.Keeper, weights simsx.WeightSource, reg simsx.Registry) {
	f := factory{cdc, k}
	reg.Add(weights.Get("timers_sys_cancel", 50), simsx.SimMsgFactoryFn[*types.MsgSysCancelTimer](f.sysCancel))
	reg.Add(weights.Get("timers_sys_extend", 50), simsx.SimMsgFactoryFn[*types.MsgSysExtendTimer](f.sysExtend))
	reg.Add(weights.Get("timers_update_config", 50), simsx.SimMsgFactoryFn[*types.MsgUpdateTimerConfig](f.updateConfig))
	reg.Add(weights.Get("timers_sys_release", 10), simsx.SimMsgFactoryFn[*types.MsgSysReleaseTimer](f.sysRelease))
}

func (f factory) schedule(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgScheduleTimer) {
	owner := data.AnyAccount(reporter, simsx.WithSpendableBalance())
	messages := f.messages(data, reporter, owner)
	config, err := f.keeper.Config(ctx)
	if err != nil {
		reporter.Fail(err)
		return nil, nil
	}
	if reporter.IsSkipped() {
		return nil, nil
	}
	if timers, err := f.keeper.TimersOf(ctx, owner.Address); err != nil || len(timers) >= int(config.MaxTimersPerActor) {
		reporter.Skip("the actor has as many timers as it may")
		return nil, nil
	}
	msg := &types.MsgScheduleTimer{
		Sender: owner.AddressBech32,
		Spec: types.TimerSpec{
			Trigger:  types.Trigger{Height: height(ctx) + data.Rand().Uint64InRange(1, maxDistance)},
			GasLimit: data.Rand().Uint64InRange(config.MinGasLimit, f.keeper.Engine().Policies.GasCap(&config, height(ctx))+1),
		},
	}
	if data.Rand().Bool() {
		msg.Spec.Call.Messages = messages
	} else {
		msg.Spec.Call.Payload = f.payload(reporter, messages)
	}
	drawRecurrence(data, &config, types.MomentOf(ctx).Time, msg)
	f.drawOnlyIf(data, reporter, msg)
	f.drawWatch(ctx, data, reporter, &config, msg)
	switch data.Rand().Intn(4) {
	case 0:
		msg.Spec.Bid = &types.Bid{Tier: types.TierFast}
	case 2:
		msg.Spec.Bid = price(data, owner)
	case 1:
		// Far above any basefee of a run, so that it is accepted; the tip is clamped to what it leaves.
		tip := math.LegacyNewDecWithPrec(int64(data.Rand().IntInRange(0, 2_000)), 6)
		msg.Spec.Bid = &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyNewDec(1_000)), MaxPriorityFeePerCycle: decimal.Of(tip)}}
	}
	if data.Rand().Bool() {
		// The block that takes the message may be the next one.
		trigger := &msg.Spec.Trigger
		due := types.Timer{Due: max(trigger.Height, trigger.Interval.GetFirst(), height(ctx)+trigger.After), Spec: types.TimerSpec{Trigger: *trigger}}
		if trigger.Time != nil {
			due.DueTime = trigger.Time.Unix()
		}
		msg.Spec.ExpiresAt, msg.Spec.ExpiresTime = laterThan(ctx, data, &due)
	}
	return []simsx.SimAccount{owner}, msg
}

// messages send coins from the owner to any account. That may fail when it fires, which is a case worth testing too.
func (f factory) messages(data *simsx.ChainDataSource, reporter simsx.SimulationReporter, owner simsx.SimAccount) []*codectypes.Any {
	to := data.AnyAccount(reporter, simsx.ExcludeAccounts(owner))
	coin := sdk.NewInt64Coin(sdk.DefaultBondDenom, int64(data.Rand().IntInRange(1, 1_000_000)))
	packed, err := keeper.NewMessages(banktypes.NewMsgSend(owner.Address, to.Address, sdk.NewCoins(coin)))
	if err != nil {
		reporter.Fail(err)
	}
	return packed
}

// payload is the other form of the same.
func (f factory) payload(reporter simsx.SimulationReporter, messages []*codectypes.Any) []byte {
	bz, err := f.cdc.Marshal(&types.AccountPayload{Messages: messages})
	if err != nil {
		reporter.Fail(err)
	}
	return bz
}

// timer picks a timer that its owner can still change.
func (f factory) timer(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) (simsx.SimAccount, *types.Timer) {
	return f.timerThat(ctx, data, reporter, func(*types.Timer) bool { return true })
}

// timerThat picks one of them that satisfies the condition.
func (f factory) timerThat(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter, fits func(*types.Timer) bool,
) (simsx.SimAccount, *types.Timer) {
	owner := data.AnyAccount(reporter, simsx.WithSpendableBalance())
	if reporter.IsSkipped() {
		return owner, nil
	}
	timers, err := f.keeper.TimersOf(ctx, owner.Address)
	if err != nil {
		reporter.Fail(err)
		return owner, nil
	}
	for _, i := range data.Rand().Perm(len(timers)) {
		if !timers[i].ExpiredAt(types.MomentOf(ctx)) && fits(&timers[i]) {
			return owner, &timers[i]
		}
	}
	reporter.Skip("the actor has no live timer of the wanted kind")
	return owner, nil
}

// which names a timer by its id, by its name, or by both.
func which(data *simsx.ChainDataSource, timer *types.Timer) (id, name string) {
	id, name = timer.IDHex(), timer.Spec.Name
	if name != "" && data.Rand().Bool() {
		id = ""
	}
	if id != "" && data.Rand().Bool() {
		name = ""
	}
	return id, name
}

func (f factory) update(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgUpdateTimer) {
	owner, timer := f.timer(ctx, data, reporter)
	if timer == nil {
		return nil, nil
	}
	id, name := which(data, timer)
	msg := &types.MsgUpdateTimer{Sender: owner.AddressBech32, Id: id, Name: name, Spec: types.TimerSpec{Bid: &types.Bid{Tier: types.TierEconomy}}, Fields: []string{"bid"}}
	if data.Rand().Bool() {
		msg.Spec.Bid = price(data, owner)
	}
	if data.Rand().Bool() {
		msg.Spec.Call, msg.Fields = types.TimerCall{Messages: f.messages(data, reporter, owner)}, append(msg.Fields, "call")
	}
	return []simsx.SimAccount{owner}, msg
}

func (f factory) extend(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgExtendTimer) {
	owner, timer := f.timer(ctx, data, reporter)
	if timer == nil {
		return nil, nil
	}
	id, name := which(data, timer)
	msg := &types.MsgExtendTimer{Sender: owner.AddressBech32, Id: id, Name: name}
	msg.ExpiresAt, msg.ExpiresTime = laterThan(ctx, data, timer)
	return []simsx.SimAccount{owner}, msg
}

func (f factory) cancel(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgCancelTimer) {
	owner, timer := f.timer(ctx, data, reporter)
	if timer == nil {
		return nil, nil
	}
	id, name := which(data, timer)
	return []simsx.SimAccount{owner}, &types.MsgCancelTimer{Sender: owner.AddressBech32, Id: id, Name: name}
}

func (f factory) sysCancel(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgSysCancelTimer) {
	owner, timer := f.timer(ctx, data, reporter)
	if timer == nil {
		return nil, nil
	}
	return nil, &types.MsgSysCancelTimer{
		Authority: data.ModuleAccountAddress(reporter, govtypes.ModuleName), Actor: owner.AddressBech32, Id: timer.IDHex(),
	}
}

func (f factory) sysExtend(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgSysExtendTimer) {
	owner, timer := f.timer(ctx, data, reporter)
	if timer == nil {
		return nil, nil
	}
	msg := &types.MsgSysExtendTimer{
		Authority: data.ModuleAccountAddress(reporter, govtypes.ModuleName), Actor: owner.AddressBech32, Id: timer.IDHex(),
	}
	msg.ExpiresAt, msg.ExpiresTime = laterThan(ctx, data, timer)
	return nil, msg
}

// sysRelease names a timer that need not be quarantined: a proposal that fails when it passes is a case too.
func (f factory) sysRelease(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgSysReleaseTimer) {
	owner, timer := f.timer(ctx, data, reporter)
	if timer == nil {
		return nil, nil
	}
	return nil, &types.MsgSysReleaseTimer{
		Authority: data.ModuleAccountAddress(reporter, govtypes.ModuleName), Actor: owner.AddressBech32, Id: timer.IDHex(),
	}
}

// Drawn are parameters of a guest of which a simulation draws others: those under which little is enough to change what the policy
// does. intn returns a number from 0 to below n.
type Drawn interface {
	Drawn(intn func(n int) int) types.PolicyParams
}

// updateConfig shrinks and grows what timers may use, so that some become unrunnable and come back; it changes the
// policy, and makes the window so small that a few ready timers are a storm.
func (f factory) updateConfig(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgUpdateTimerConfig) {
	config, err := f.keeper.Config(ctx)
	if err != nil {
		reporter.Fail(err)
		return nil, nil
	}
	r := data.Rand()
	config.MaxCyclesPerFire = r.Uint64InRange(100_000, 550_000)
	config.LaneTimerCycles = config.MaxCyclesPerFire * r.Uint64InRange(3, 8)
	drawMarket(data, &config)
	policies := f.keeper.Engine().Policies.All()
	config.Policy = policies[r.Intn(len(policies))].ID()
	for _, p := range policies {
		if params, draws := p.Messages().Params.(Drawn); draws {
			config.SetParams(params.Drawn(r.Intn))
		}
	}
	config.CandidateWindow = r.Uint32InRange(1, 30)
	config.OverheadCyclesPerBlock = config.GcCyclesPerBlock + uint64(r.Intn(3_000_000))
	config.FairnessWindowBlocks = r.Uint64InRange(1, 20)
	config.MaxFiresPerActor = r.Uint32InRange(0, 4)
	config.LanePaused = r.Intn(5) == 0
	config.ReceiptRetentionBlocks = r.Uint64InRange(0, 20)
	if err := config.Validate(); err != nil {
		reporter.Skip("x/gov refuses the proposal: " + err.Error())
		return nil, nil
	}
	msg, err := f.keeper.ReplaceConfig(ctx, config)
	if err != nil {
		reporter.Fail(err)
		return nil, nil
	}
	msg.Authority = data.ModuleAccountAddress(reporter, govtypes.ModuleName)
	return nil, msg
}

// laterThan is an end of a timer after it is due, in its clock.
func laterThan(ctx context.Context, data *simsx.ChainDataSource, timer *types.Timer) (height uint64, seconds int64) {
	now, distance := types.MomentOf(ctx), data.Rand().Uint64InRange(1, maxDistance)
	if timer.Spec.Trigger.ByTime() {
		return 0, max(timer.DueTime, now.Time) + 100_000 + int64(distance)
	}
	return max(timer.Due, now.Height) + distance, 0
}

func height(ctx context.Context) uint64 {
	return uint64(sdk.UnwrapSDKContext(ctx).BlockHeight())
}
