package keeper

import (
	"cmp"
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// msgServer translates messages to calls of the host API, which makes the checks.
type msgServer struct{ *Keeper }

// NewMsgServer returns the module's message server (x/timers/README.md, "3. Messages").
func NewMsgServer(k *Keeper) types.MsgServer { return msgServer{k} }

var _ types.MsgServer = msgServer{}

// begin checks the lengths of all that a message states, before anything reads it. It also says whose the message is: the
// SDK would take the second part of its name for the module, v1.
func begin(ctx context.Context, msg sdk.Msg) error {
	sdk.UnwrapSDKContext(ctx).EventManager().EmitEvent(
		sdk.NewEvent(sdk.EventTypeMessage, sdk.NewAttribute(sdk.AttributeKeyModule, types.ModuleName)))
	return types.CheckText(sdkerrors.ErrInvalidRequest, msg)
}

// ScheduleTimer implements types.MsgServer.
func (m msgServer) ScheduleTimer(ctx context.Context, msg *types.MsgScheduleTimer) (*types.MsgScheduleTimerResponse, error) {
	if err := begin(ctx, msg); err != nil {
		return nil, err
	}
	sender, err := m.engine.Addresses.Parse("sender", msg.Sender)
	if err != nil {
		return nil, err
	}
	actor := sender
	if msg.Actor != "" {
		if actor, err = m.engine.Addresses.Parse("actor", msg.Actor); err != nil {
			return nil, err
		}
	}
	timer, err := m.Schedule(ctx, ScheduleRequest{Actor: actor, Scheduler: sender, Spec: msg.Spec})
	if err != nil {
		return nil, err
	}
	return &types.MsgScheduleTimerResponse{Id: timer.IDHex()}, nil
}

// UpdateTimer implements types.MsgServer.
func (m msgServer) UpdateTimer(ctx context.Context, msg *types.MsgUpdateTimer) (*types.MsgUpdateTimerResponse, error) {
	by, err := m.beginChange(ctx, msg)
	if err != nil {
		return nil, err
	}
	timer, err := m.Update(ctx, UpdateRequest{
		Actor: by.actor, Scheduler: by.sender, ID: by.id, Name: by.name, Spec: msg.Spec, Fields: msg.Fields, IfSeq: msg.IfSeq,
	})
	if err != nil {
		return nil, err
	}
	return &types.MsgUpdateTimerResponse{Seq: timer.Seq, Due: timer.Due, DueTime: timer.WaitsUntil()}, nil
}

// ExtendTimer implements types.MsgServer.
func (m msgServer) ExtendTimer(ctx context.Context, msg *types.MsgExtendTimer) (*types.MsgExtendTimerResponse, error) {
	by, err := m.beginChange(ctx, msg)
	if err != nil {
		return nil, err
	}
	change, err := m.extendBy(ctx, by, End{msg.ExpiresAt, msg.ExpiresTime})
	if err != nil {
		return nil, err
	}
	return &types.MsgExtendTimerResponse{
		ExpiresAt: change.To.Height, PreviousExpiresAt: change.From.Height,
		ExpiresTime: change.To.Time, PreviousExpiresTime: change.From.Time,
	}, nil
}

// PauseTimer implements types.MsgServer.
func (m msgServer) PauseTimer(ctx context.Context, msg *types.MsgPauseTimer) (*types.MsgPauseTimerResponse, error) {
	by, err := m.beginChange(ctx, msg)
	if err != nil {
		return nil, err
	}
	return &types.MsgPauseTimerResponse{}, m.pauseBy(ctx, by)
}

// ResumeTimer implements types.MsgServer.
func (m msgServer) ResumeTimer(ctx context.Context, msg *types.MsgResumeTimer) (*types.MsgResumeTimerResponse, error) {
	by, err := m.beginChange(ctx, msg)
	if err != nil {
		return nil, err
	}
	timer, err := m.resumeBy(ctx, by, msg.At)
	if err != nil {
		return nil, err
	}
	return &types.MsgResumeTimerResponse{Due: timer.Due, DueTime: timer.WaitsUntil()}, nil
}

// SkipTimer implements types.MsgServer.
func (m msgServer) SkipTimer(ctx context.Context, msg *types.MsgSkipTimer) (*types.MsgSkipTimerResponse, error) {
	by, err := m.beginChange(ctx, msg)
	if err != nil {
		return nil, err
	}
	timer, err := m.skipBy(ctx, by, msg.Count, msg.From)
	if err != nil {
		return nil, err
	}
	return &types.MsgSkipTimerResponse{Due: timer.Due, DueTime: timer.WaitsUntil()}, nil
}

// RunTimer implements types.MsgServer.
func (m msgServer) RunTimer(ctx context.Context, msg *types.MsgRunTimer) (*types.MsgRunTimerResponse, error) {
	by, err := m.beginChange(ctx, msg)
	if err != nil {
		return nil, err
	}
	timer, err := m.runBy(ctx, by)
	if err != nil {
		return nil, err
	}
	return &types.MsgRunTimerResponse{Due: timer.Due}, nil
}

// CancelTimer implements types.MsgServer.
func (m msgServer) CancelTimer(ctx context.Context, msg *types.MsgCancelTimer) (*types.MsgCancelTimerResponse, error) {
	by, err := m.beginChange(ctx, msg)
	if err != nil {
		return nil, err
	}
	return &types.MsgCancelTimerResponse{}, m.cancelBy(ctx, by)
}

// SetAgent implements types.MsgServer.
func (m msgServer) SetAgent(ctx context.Context, msg *types.MsgSetAgent) (*types.MsgSetAgentResponse, error) {
	if err := begin(ctx, msg); err != nil {
		return nil, err
	}
	actor, err := m.engine.Addresses.Parse("sender", msg.Sender)
	if err != nil {
		return nil, err
	}
	var agent sdk.AccAddress
	if msg.Agent != "" {
		if agent, err = m.engine.Policies.ParseAgent("agent", msg.Agent); err != nil {
			return nil, err
		}
	}
	return &types.MsgSetAgentResponse{}, m.Keeper.SetAgent(ctx, actor, agent)
}

// named is a message that names a timer.
type named interface {
	sdk.Msg
	GetActor() string
	GetId() string
}

// change is one about a timer of its sender's.
type change interface {
	named
	GetSender() string
	GetName() string
}

// beginChange is begin, and reads who changes which timer: by its id, by its name, or by both. No actor is the sender.
func (m msgServer) beginChange(ctx context.Context, msg change) (by changeBy, err error) {
	if err := begin(ctx, msg); err != nil {
		return by, err
	}
	if by.sender, err = m.engine.Addresses.Parse("sender", msg.GetSender()); err != nil {
		return by, err
	}
	if by.actor, err = m.engine.Addresses.Parse("actor", cmp.Or(msg.GetActor(), msg.GetSender())); err != nil {
		return by, err
	}
	if by.name = msg.GetName(); by.name == "" || msg.GetId() != "" {
		by.id, err = types.ParseID(msg.GetId())
	}
	return by, err
}
