package keeper

import (
	"context"
	"errors"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds the messages that only the authority may send: opcodes 48, 49 and 50, and the release of a
// quarantined timer.

func (k *Keeper) checkAuthority(ctx context.Context, signer string) error {
	if authority := k.Authority(ctx); signer != authority {
		return types.ErrUnauthorized.Wrapf("%.120q; it is %.120s", signer, authority)
	}
	return nil
}

// beginSys is begin, and reads which timer the authority means.
func (m msgServer) beginSys(ctx context.Context, msg named, signer string) (sdk.AccAddress, []byte, error) {
	if err := begin(ctx, msg); err != nil {
		return nil, nil, err
	}
	if err := m.checkAuthority(ctx, signer); err != nil {
		return nil, nil, err
	}
	return m.engine.Addresses.ParseName("actor", msg.GetActor(), msg.GetId())
}

// SysCancelTimer implements types.MsgServer: opcode 48. It succeeds if the timer no longer exists. Otherwise a proposal
// that comes too late would also undo its other messages.
func (m msgServer) SysCancelTimer(ctx context.Context, msg *types.MsgSysCancelTimer) (*types.MsgSysCancelTimerResponse, error) {
	actor, id, err := m.beginSys(ctx, msg, msg.Authority)
	if err != nil {
		return nil, err
	}
	config, err := m.Config(ctx)
	if err != nil {
		return nil, err
	}
	timer, err := m.cancel(ctx, &config, own(actor, id), func(*types.Timer) error { return nil })
	if errors.Is(err, types.ErrTimerNotFound) {
		return &types.MsgSysCancelTimerResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	event := &types.TimerCancelledByGovernance{
		Id: timer.IDHex(), Actor: msg.Actor, Opcode: types.OpcodeSysCancelTimer, Name: timer.Spec.Name,
	}
	return &types.MsgSysCancelTimerResponse{Cancelled: true}, report.Emit(ctx, event)
}

// UpdateTimerConfig implements types.MsgServer: opcode 49. What the message changes must be what it was made from, a change
// that was accepted in the same block included. The whole config is checked now and is in force from the next block on. Timers
// that it makes unrunnable are put on hold when they are due, and released when a config can run them.
func (m msgServer) UpdateTimerConfig(
	ctx context.Context, msg *types.MsgUpdateTimerConfig,
) (*types.MsgUpdateTimerConfigResponse, error) {
	if err := begin(ctx, msg); err != nil {
		return nil, err
	}
	if err := m.checkAuthority(ctx, msg.Authority); err != nil {
		return nil, err
	}
	if err := msg.ValidateBasic(); err != nil {
		return nil, err
	}
	config, err := m.latestConfig(ctx)
	if err != nil {
		return nil, err
	}
	next, err := msg.Apply(&config)
	if err != nil {
		return nil, err
	}
	if err := config.ValidateChange(&next); err != nil {
		return nil, err
	}
	if err := m.engine.CheckConfig(&next); err != nil {
		return nil, err
	}
	next = m.engine.Policies.Complete(next)
	if err := m.engine.Configs.SetNext(ctx, next); err != nil {
		return nil, err
	}
	if err := m.engine.NotePause(ctx, &next); err != nil {
		return nil, err
	}
	event := &types.TimerConfigUpdatedByGovernance{Config: next, Opcode: types.OpcodeSysUpdateTimerConfig}
	return &types.MsgUpdateTimerConfigResponse{Height: types.HeightOf(ctx) + 1}, report.Emit(ctx, event)
}

// ReplaceConfig is the authority's message that replaces the config by the next one, whole, if it is sent before another
// change. Policies of which it states no parameters keep theirs.
func (k *Keeper) ReplaceConfig(ctx context.Context, next types.TimerConfig) (*types.MsgUpdateTimerConfig, error) {
	latest, err := k.latestConfig(ctx)
	if err != nil {
		return nil, err
	}
	latest.CopyMissing(&next)
	return types.ChangeConfig(k.Authority(ctx), &latest, &next, nil)
}

// SysExtendTimer implements types.MsgServer: opcode 50.
func (m msgServer) SysExtendTimer(ctx context.Context, msg *types.MsgSysExtendTimer) (*types.MsgSysExtendTimerResponse, error) {
	actor, id, err := m.beginSys(ctx, msg, msg.Authority)
	if err != nil {
		return nil, err
	}
	timer, change, err := m.extend(ctx, func() (types.Timer, error) { return m.liveTimer(ctx, own(actor, id)) }, End{msg.ExpiresAt, msg.ExpiresTime}, false)
	if err != nil {
		return nil, err
	}
	event := &types.TimerExtendedByGovernance{
		Id: timer.IDHex(), Actor: msg.Actor, Opcode: types.OpcodeSysExtendTimer,
		ExpiresAt: change.To.Height, PreviousExpiresAt: change.From.Height,
		ExpiresTime: change.To.Time, PreviousExpiresTime: change.From.Time,
	}
	return &types.MsgSysExtendTimerResponse{
		ExpiresAt: change.To.Height, PreviousExpiresAt: change.From.Height,
		ExpiresTime: change.To.Time, PreviousExpiresTime: change.From.Time,
	}, report.Emit(ctx, event)
}

// SysReleaseTimer implements types.MsgServer.
func (m msgServer) SysReleaseTimer(ctx context.Context, msg *types.MsgSysReleaseTimer) (*types.MsgSysReleaseTimerResponse, error) {
	actor, id, err := m.beginSys(ctx, msg, msg.Authority)
	if err != nil {
		return nil, err
	}
	timer, err := m.liveTimer(ctx, own(actor, id))
	if err != nil {
		return nil, err
	}
	if timer.HoldReason != types.Quarantined {
		return nil, types.ErrNotQuarantined.Wrapf("timer %s of %s", timer.IDHex(), msg.Actor)
	}
	return &types.MsgSysReleaseTimerResponse{}, m.engine.Resume(sdk.UnwrapSDKContext(ctx), &timer, types.ResumeNow)
}

// latestConfig is what a change of the config changes: the one that follows, else the one in force, with the parameters of every
// policy of the chain.
func (k *Keeper) latestConfig(ctx context.Context) (types.TimerConfig, error) {
	config, err := k.engine.Configs.Latest(ctx)
	return k.engine.Policies.Complete(config), err
}
