package replay

import (
	"encoding/hex"
	"strings"

	errorsmod "cosmossdk.io/errors"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// messages makes ops into messages of the chain.
type messages struct {
	scenario *scenario.Scenario
	chain    *lab.Chain
	store    *store
	// owners of timers by the timer's name.
	owners map[string]string
}

// of returns the op as a message.
func (m *messages) of(ctx sdk.Context, op *scenario.Op) (sdk.Msg, error) {
	by := scenario.AccountAddress(op.By).String()
	switch op.Kind {
	case scenario.OpSchedule:
		return m.scheduleMessage(op), nil
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
		return m.updateMessage(ctx, op, by, id), err
	case scenario.OpPause:
		return &types.MsgPauseTimer{Sender: by, Id: id}, err
	case scenario.OpResume:
		return &types.MsgResumeTimer{Sender: by, Id: id, At: op.ResumeAt}, err
	case scenario.OpSkip:
		return &types.MsgSkipTimer{Sender: by, Id: id, Count: op.Count, From: op.From}, err
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

func (m *messages) scheduleMessage(op *scenario.Op) *types.MsgScheduleTimer {
	msg := &types.MsgScheduleTimer{
		Sender: scenario.AccountAddress(op.By).String(), Spec: types.TimerSpec{
			Trigger: op.Trigger, Repeat: op.Repeat, GasLimit: op.GasLimit, CellLimit: op.CellLimit, ExpiresAt: op.ExpiresAt, ExpiresTime: op.ExpiresTime, Bid: op.Bid,
			Retry: m.scenario.InClock(op.Retry, op.Trigger.ByTime()), OnUnfunded: op.OnUnfunded, OnlyIf: op.OnlyIf,
			MaxCharge: op.MaxCharge, Name: m.nameOf(op),
		},
	}
	if op.Do != nil {
		msg.Spec.Call.Handler = op.Do.Name
	}
	if op.FeePayer != "" {
		msg.Spec.FeePayer = scenario.AccountAddress(op.FeePayer).String()
	}
	return msg
}

// nameOf is the name that a message states. A label of an older file is one if it can be, and no other op states the same: there it
// was a word, which several timers could have. One that was refused for its length or its characters still is.
func (m *messages) nameOf(op *scenario.Op) string {
	refused := len(op.Label) > types.MaxNameBytes || strings.ContainsFunc(op.Label, func(c rune) bool { return c < ' ' || c > '~' })
	if refused || m.scenario.Labels[op.Label] == 1 && types.CheckName(op.Label) == nil {
		return op.Label
	}
	return op.Name
}

// updateMessage names what the op states.
func (m *messages) updateMessage(ctx sdk.Context, op *scenario.Op, by, id string) *types.MsgUpdateTimer {
	msg := &types.MsgUpdateTimer{
		Sender: by, Id: id, Fields: op.Fields, Spec: types.TimerSpec{
			Trigger: op.Trigger, Repeat: op.Repeat, GasLimit: op.GasLimit, CellLimit: op.CellLimit, Bid: op.Bid, MaxCharge: op.MaxCharge,
			OnUnfunded: op.OnUnfunded, OnlyIf: op.OnlyIf, Name: op.Name,
		},
	}
	if op.Do != nil {
		msg.Spec.Call.Handler = op.Do.Name
	}
	if op.Retry != nil {
		trigger := op.Trigger
		if !op.States("trigger") {
			trigger = m.timer(ctx, op).Spec.Trigger
		}
		msg.Spec.Retry = m.scenario.InClock(op.Retry, trigger.ByTime())
	}
	return msg
}

// timer is the one that an op changes; an empty one if it is gone, which the module says then.
func (m *messages) timer(ctx sdk.Context, op *scenario.Op) types.Timer {
	id, err := m.store.idOf(ctx, op.Timer)
	if err != nil {
		return types.Timer{}
	}
	bz, err := hex.DecodeString(id)
	if err != nil {
		return types.Timer{}
	}
	owner := scenario.AccountAddress(m.owners[op.Timer])
	timer, err := m.chain.Timers.Engine().Records.Lookup(types.Unmetered(ctx), owner, bz)
	if err != nil {
		return types.Timer{}
	}
	return timer
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
