package replay

import (
	errorsmod "cosmossdk.io/errors"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// messages makes ops into messages of the chain.
type messages struct {
	chain *lab.Chain
	store *store
	// owners of timers by the timer's name.
	owners map[string]string
}

// of returns the op as a message.
func (m *messages) of(ctx sdk.Context, op *scenario.Op) (sdk.Msg, error) {
	by := scenario.AccountAddress(op.By).String()
	switch op.Kind {
	case scenario.OpSchedule:
		return scheduleMessage(op), nil
	case scenario.OpSend:
		return &banktypes.MsgSend{
			FromAddress: by, ToAddress: scenario.AccountAddress(op.To).String(),
			Amount: sdk.Coins{{Denom: m.chain.FeeDenom, Amount: op.Amount}},
		}, nil
	case scenario.OpConfig:
		return m.configMessage(ctx, op)
	}
	id, err := m.store.idOf(ctx, op.Timer)
	owner := scenario.AccountAddress(m.owners[op.Timer]).String()
	switch op.Kind {
	case scenario.OpCancel:
		return &types.MsgCancelTimer{Sender: by, Id: id}, err
	case scenario.OpExtend:
		return &types.MsgExtendTimer{Sender: by, Id: id, ExpiresAt: op.ExpiresAt, ExpiresTime: op.ExpiresTime}, err
	case scenario.OpUpdate:
		msg := &types.MsgUpdateTimer{Sender: by, Id: id, GasLimit: op.GasLimit, CellLimit: op.CellLimit, Bid: op.Bid, MaxCharge: op.MaxCharge}
		if op.Do != nil {
			msg.Call = &types.TimerCall{Handler: op.Do.Name}
		}
		if op.Replaces {
			msg.Trigger = &op.Trigger
		}
		if op.Options {
			msg.Options = &types.TimerOptions{Retry: op.Retry, OnUnfunded: op.OnUnfunded, Renew: op.Renew, OnlyIf: op.OnlyIf}
		}
		return msg, err
	case scenario.OpPause:
		return &types.MsgPauseTimer{Sender: by, Id: id}, err
	case scenario.OpResume:
		return &types.MsgResumeTimer{Sender: by, Id: id, At: op.ResumeAt}, err
	case scenario.OpSkip:
		return &types.MsgSkipTimer{Sender: by, Id: id, Count: op.Count}, err
	case scenario.OpRun:
		return &types.MsgRunTimer{Sender: by, Id: id}, err
	case scenario.OpSysCancel:
		return &types.MsgSysCancelTimer{Authority: m.chain.Authority, Actor: owner, Id: id}, err
	case scenario.OpSysExtend:
		return &types.MsgSysExtendTimer{Authority: m.chain.Authority, Actor: owner, Id: id, ExpiresAt: op.ExpiresAt, ExpiresTime: op.ExpiresTime}, err
	default:
		return nil, errorsmod.Wrapf(lab.ErrNoHandler, "op %s", op.Kind)
	}
}

func scheduleMessage(op *scenario.Op) *types.MsgScheduleTimer {
	msg := &types.MsgScheduleTimer{
		Sender: scenario.AccountAddress(op.By).String(), Trigger: op.Trigger,
		GasLimit: op.GasLimit, CellLimit: op.CellLimit, ExpiresAt: op.ExpiresAt, ExpiresTime: op.ExpiresTime, Bid: op.Bid, Retry: op.Retry, OnUnfunded: op.OnUnfunded, Renew: op.Renew, OnlyIf: op.OnlyIf,
		MaxCharge: op.MaxCharge, Label: op.Label,
	}
	if op.Do != nil {
		msg.Handler = op.Do.Name
	}
	if op.FeePayer != "" {
		msg.FeePayer = scenario.AccountAddress(op.FeePayer).String()
	}
	return msg
}

// configMessage applies the change to the config of the next block, so that changes of one block add up.
func (m *messages) configMessage(ctx sdk.Context, op *scenario.Op) (sdk.Msg, error) {
	config, err := m.chain.Timers.Engine().Configs.Latest(ctx)
	if err != nil {
		return nil, err
	}
	if err := op.Set.Apply(&config); err != nil {
		return nil, err
	}
	return m.chain.Timers.ReplaceConfig(ctx, config)
}
