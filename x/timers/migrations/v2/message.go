package v2

import (
	"google.golang.org/protobuf/encoding/protowire"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxNesting bounds how deep messages within messages are followed. The SDK decodes 10 levels. What lies deeper is
// left as it is: an upgrade must not fail for it.
const maxNesting = 16

// carriers are the messages that hold messages, by the number of their field. Their modules are not imported for it.
var carriers = map[string]protowire.Number{
	"/cosmos.authz.v1beta1.MsgExec":      2,
	"/cosmos.gov.v1.MsgSubmitProposal":   1,
	"/cosmos.group.v1.MsgSubmitProposal": 4,
}

// payloadMessages is the field of a types.AccountPayload that holds its messages.
const payloadMessages protowire.Number = 1

// Message converts a message of version 1 that another module has stored, such as those of proposals, if its encoding
// has changed: a MsgUpdateTimerConfig, or a MsgScheduleTimer or MsgUpdateTimer that states prices. Those within a MsgExec,
// a proposal of x/gov or x/group, or in what a timer is to do are converted too. Prices that no timer can have, such
// as negative ones, are left out, as version 1 stored them and the types of version 2 can't read them. It reports whether msg
// was changed, and fails for a message that version 1 could not decode either.
func Message(msg *codectypes.Any) (changed bool, err error) { return convert(msg, maxNesting) }

func convert(msg *codectypes.Any, nesting int) (changed bool, err error) {
	switch msg.TypeUrl {
	case sdk.MsgTypeURL(&types.MsgUpdateTimerConfig{}):
		msg.Value, err = configMessage(msg.Value)
		return err == nil, err
	case sdk.MsgTypeURL(&types.MsgScheduleTimer{}):
		var schedule types.MsgScheduleTimer
		return prices(msg, &schedule, bidOfSchedule, func() bool {
			states := plainBid(schedule.Bid)
			return call(&schedule.Payload, schedule.Messages, nesting) || states
		})
	case sdk.MsgTypeURL(&types.MsgUpdateTimer{}):
		var update types.MsgUpdateTimer
		return prices(msg, &update, bidOfUpdate, func() bool {
			states := plainBid(update.Bid)
			return update.Call != nil && call(&update.Call.Payload, update.Call.Messages, nesting) || states
		})
	}
	if number, carries := carriers[msg.TypeUrl]; carries {
		value, changed, err := within(msg.Value, number, nesting)
		if changed {
			msg.Value = value
		}
		return changed, err
	}
	return false, nil
}

// call converts the messages of what a timer is to do, in its payload or stated beside it, and reports whether it changed any.
func call(payload *[]byte, messages []*codectypes.Any, nesting int) (changed bool) {
	if converted, converts := accountPayload(*payload, nesting); converts {
		*payload, changed = converted, true
	}
	for _, msg := range messages {
		if nesting == 0 {
			break
		}
		one, err := convert(msg, nesting-1)
		changed = changed || one && err == nil
	}
	return changed
}

// accountPayload converts the messages of a payload, if it is one of messages and holds any whose encoding has changed. What
// can't be converted stays: contracts and Go modules put into their payloads what they like.
func accountPayload(payload []byte, nesting int) (converted []byte, changed bool) {
	converted, changed, err := within(payload, payloadMessages, nesting)
	return converted, changed && err == nil
}

// within converts the messages in a field of an encoded message. All else stays as it is.
func within(message []byte, holds protowire.Number, nesting int) (converted []byte, changed bool, err error) {
	if nesting == 0 {
		return nil, false, nil
	}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			return nil, false, types.ErrInternal.Wrapf("version 1: %v", protowire.ParseError(n))
		}
		field := message[:n]
		message = message[n:]
		if number != holds || kind != protowire.BytesType {
			converted = append(converted, field...)
			continue
		}
		_, _, tag := protowire.ConsumeTag(field)
		value, _ := protowire.ConsumeBytes(field[tag:])
		var inner codectypes.Any
		if err := inner.Unmarshal(value); err != nil {
			return nil, false, err
		}
		one, err := convert(&inner, nesting-1)
		if err != nil {
			return nil, false, err
		}
		if one {
			if value, err = inner.Marshal(); err != nil {
				return nil, false, err
			}
		}
		changed = changed || one
		converted = protowire.AppendBytes(append(converted, field[:tag]...), value)
	}
	return converted, changed, nil
}

// encoded is a message in its binary form.
type encoded interface {
	Reset()
	Unmarshal(bz []byte) error
	Marshal() ([]byte, error)
}

// The numbers of the bid in the messages that state one.
const bidOfSchedule, bidOfUpdate protowire.Number = 8, 5

// prices converts a message with a bid by edit, after value has become its decoded form. Where prices that no timer can have
// keep it from being decoded, it is left without a bid.
func prices(msg *codectypes.Any, value encoded, number protowire.Number, edit func() (changed bool)) (changed bool, err error) {
	if value.Unmarshal(msg.Value) != nil {
		if msg.Value, err = without(msg.Value, number); err != nil {
			return false, err
		}
		value.Reset()
		if value.Unmarshal(msg.Value) != nil {
			return true, nil //nolint:nilerr // It was no message before, and fails when it fires.
		}
		changed = true
	}
	if !edit() {
		return changed, nil
	}
	msg.Value, err = value.Marshal()
	return err == nil, err
}

// without is an encoded message without a field.
func without(message []byte, left protowire.Number) (kept []byte, err error) {
	for len(message) > 0 {
		number, _, n := protowire.ConsumeField(message)
		if n < 0 {
			return nil, types.ErrInternal.Wrapf("version 1: %v", protowire.ParseError(n))
		}
		if number != left {
			kept = append(kept, message[:n]...)
		}
		message = message[n:]
	}
	return kept, nil
}

// plainBid converts the prices that a bid of version 1 states, and reports whether it states any.
func plainBid(bid *types.Bid) bool {
	if bid == nil || bid.Static == nil {
		return false
	}
	for _, price := range []*decimal.Dec{&bid.Static.MaxFeePerCycle, &bid.Static.MaxPriorityFeePerCycle} {
		*price = plain(*price)
	}
	return true
}
