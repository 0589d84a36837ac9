package keeper

import (
	"context"

	errorsmod "cosmossdk.io/errors"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// msgServer turns messages into calls of the host API; the checks are there.
type msgServer struct{ *Keeper }

// NewMsgServer returns the module's message server.
func NewMsgServer(k *Keeper) types.MsgServer { return msgServer{k} }

var _ types.MsgServer = msgServer{}

// ScheduleTimer implements types.MsgServer.
func (m msgServer) ScheduleTimer(
	ctx context.Context, msg *types.MsgScheduleTimer,
) (*types.MsgScheduleTimerResponse, error) {
	actor, err := m.parseAddress("sender", msg.Sender)
	if err != nil {
		return nil, err
	}
	payer := actor
	if msg.FeePayer != "" {
		if payer, err = m.parseAddress("fee_payer", msg.FeePayer); err != nil {
			return nil, err
		}
	}
	timer, err := m.Schedule(ctx, ScheduleRequest{
		Actor: actor, Trigger: msg.Trigger, Handler: msg.Handler, Payload: msg.Payload, FeePayer: payer,
		GasLimit: msg.GasLimit, ExpiresAt: msg.ExpiresAt, Bid: msg.Bid, Retry: msg.Retry, OnUnfunded: msg.OnUnfunded,
	})
	if err != nil {
		return nil, err
	}
	return &types.MsgScheduleTimerResponse{Id: timer.IDHex()}, nil
}

// UpdateTimer implements types.MsgServer.
func (m msgServer) UpdateTimer(ctx context.Context, msg *types.MsgUpdateTimer) (*types.MsgUpdateTimerResponse, error) {
	actor, id, err := m.parseName("sender", msg.Sender, msg.Id)
	if err != nil {
		return nil, err
	}
	timer, err := m.Update(ctx, UpdateRequest{Actor: actor, ID: id, Call: msg.Call, GasLimit: msg.GasLimit, Bid: msg.Bid})
	if err != nil {
		return nil, err
	}
	return &types.MsgUpdateTimerResponse{Seq: timer.Seq}, nil
}

// ExtendTimer implements types.MsgServer.
func (m msgServer) ExtendTimer(ctx context.Context, msg *types.MsgExtendTimer) (*types.MsgExtendTimerResponse, error) {
	actor, id, err := m.parseName("sender", msg.Sender, msg.Id)
	if err != nil {
		return nil, err
	}
	expiresAt, err := m.Extend(ctx, actor, id, msg.ExpiresAt)
	if err != nil {
		return nil, err
	}
	return &types.MsgExtendTimerResponse{ExpiresAt: expiresAt}, nil
}

// PauseTimer implements types.MsgServer.
func (m msgServer) PauseTimer(ctx context.Context, msg *types.MsgPauseTimer) (*types.MsgPauseTimerResponse, error) {
	actor, id, err := m.parseName("sender", msg.Sender, msg.Id)
	if err != nil {
		return nil, err
	}
	if err := m.Pause(ctx, actor, id); err != nil {
		return nil, err
	}
	return &types.MsgPauseTimerResponse{}, nil
}

// ResumeTimer implements types.MsgServer.
func (m msgServer) ResumeTimer(ctx context.Context, msg *types.MsgResumeTimer) (*types.MsgResumeTimerResponse, error) {
	actor, id, err := m.parseName("sender", msg.Sender, msg.Id)
	if err != nil {
		return nil, err
	}
	due, err := m.Resume(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	return &types.MsgResumeTimerResponse{Due: due}, nil
}

// CancelTimer implements types.MsgServer.
func (m msgServer) CancelTimer(ctx context.Context, msg *types.MsgCancelTimer) (*types.MsgCancelTimerResponse, error) {
	actor, id, err := m.parseName("sender", msg.Sender, msg.Id)
	if err != nil {
		return nil, err
	}
	if err := m.Cancel(ctx, actor, id); err != nil {
		return nil, err
	}
	return &types.MsgCancelTimerResponse{}, nil
}

// parseName reads how messages name a timer: its actor and its whole id.
func (k *Keeper) parseName(field, actor, id string) (sdk.AccAddress, []byte, error) {
	addr, err := k.parseAddress(field, actor)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := types.ParseTimerID(id)
	return addr, parsed, err
}

func (k *Keeper) parseAddress(field, text string) (sdk.AccAddress, error) {
	addr, err := k.addresses.StringToBytes(text)
	if err != nil {
		return nil, errorsmod.Wrapf(sdkerrors.ErrInvalidAddress, "%s %.120q: %v", field, text, err)
	}
	return addr, nil
}
