package replay

import (
	"cmp"
	"encoding/hex"

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
		Sender: scenario.AccountAddress(op.By).String(), Trigger: op.Trigger,
		GasLimit: op.GasLimit, CellLimit: op.CellLimit, ExpiresAt: op.ExpiresAt, ExpiresTime: op.ExpiresTime, Bid: op.Bid,
		Retry: m.scenario.InClock(op.Retry, op.Trigger.ByTime()), OnUnfunded: op.OnUnfunded, Renew: op.Renew, OnlyIf: op.OnlyIf,
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

// updateMessage states what the op does, and what else a message states with it as it stands.
func (m *messages) updateMessage(ctx sdk.Context, op *scenario.Op, by, id string) *types.MsgUpdateTimer {
	msg := &types.MsgUpdateTimer{Sender: by, Id: id, GasLimit: op.GasLimit, CellLimit: op.CellLimit, Bid: op.Bid, MaxCharge: op.MaxCharge}
	if op.Do != nil {
		msg.Call = &types.TimerCall{Handler: op.Do.Name}
	}
	before := m.timer(ctx, op)
	if trigger := before.Trigger; op.Replaces || op.States("remaining", "missed", "window", "jitter", "on_failure", "max_failures") {
		if op.Replaces {
			trigger = op.Trigger
		}
		trigger = withTerms(trigger, termsOf(before.Trigger), termsOf(trigger), op)
		msg.Trigger = &trigger
	}
	if !op.States("retry", "on_unfunded", "renew", "only_if") {
		return msg
	}
	msg.Options = &types.TimerOptions{Retry: before.Retry, OnUnfunded: before.OnUnfunded, Renew: before.Renewal != nil, OnlyIf: before.OnlyIf}
	if op.States("retry") {
		byTime := before.Trigger.ByTime()
		if msg.Trigger != nil {
			byTime = msg.Trigger.ByTime()
		}
		msg.Options.Retry = m.scenario.InClock(op.Retry, byTime)
	}
	if op.States("on_unfunded") {
		msg.Options.OnUnfunded = op.OnUnfunded
	}
	if op.States("renew") {
		msg.Options.Renew = op.Renew
	}
	if op.States("only_if") {
		msg.Options.OnlyIf = op.OnlyIf
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

// termsOf are those of a trigger that repeats.
func termsOf(t types.Trigger) types.CalendarTrigger {
	terms := types.CalendarTrigger{Remaining: t.Repetitions(), OnFailure: t.OnFailure(), MaxFailures: t.MaxFailures()}
	if terms.OnFailure != types.OnFailureSuspend {
		terms.MaxFailures = 0
	}
	stated := t.OccurrenceTerms()
	terms.Occurrences = &stated
	return terms
}

// withTerms is a trigger with the terms that an op states, and for the rest with those that there were. A watch states no other than
// how often it fires.
func withTerms(t types.Trigger, before, within types.CalendarTrigger, op *scenario.Op) types.Trigger {
	terms, stated := before, op.Repeat
	if op.Replaces && t.Calendar != nil { // The JSON of a calendar may state them too.
		terms.Remaining = cmp.Or(within.Remaining, terms.Remaining)
		if within.OnFailure != types.OnFailureUnspecified {
			terms.OnFailure, terms.MaxFailures = within.OnFailure, within.MaxFailures
		}
		if *within.Occurrences != (types.OccurrenceTerms{}) {
			terms.Occurrences = within.Occurrences
		}
	}
	if op.States("remaining") {
		terms.Remaining = stated.Remaining
	}
	if op.States("on_failure") {
		terms.OnFailure, terms.MaxFailures = stated.OnFailure, stated.MaxFailures
	}
	if op.States("max_failures") {
		terms.MaxFailures = stated.MaxFailures
	}
	if occurrences := *terms.Occurrences; stated.Occurrences != nil {
		if op.States("missed") {
			occurrences.Missed = stated.Occurrences.Missed
		}
		if op.States("window") {
			occurrences.Window = stated.Occurrences.Window
		}
		if op.States("jitter") {
			occurrences.Jitter = stated.Occurrences.Jitter
		}
		terms.Occurrences = &occurrences
	}
	if *terms.Occurrences == (types.OccurrenceTerms{}) {
		terms.Occurrences = nil
	}
	switch {
	case t.Calendar != nil:
		calendar := *t.Calendar
		calendar.Remaining, calendar.OnFailure, calendar.MaxFailures, calendar.Occurrences = terms.Remaining, terms.OnFailure, terms.MaxFailures, terms.Occurrences
		t.Calendar = &calendar
	case t.Interval != nil:
		interval := *t.Interval
		interval.Remaining, interval.OnFailure, interval.MaxFailures, interval.Occurrences = terms.Remaining, terms.OnFailure, terms.MaxFailures, terms.Occurrences
		t.Interval = &interval
	case t.Watch != nil && before.Remaining > 0:
		watch := *t.Watch
		watch.Remaining = terms.Remaining
		t.Watch = &watch
	}
	return t
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
