package v2

import (
	"google.golang.org/protobuf/encoding/protowire"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxNesting bounds how deep messages within messages are followed. The SDK decodes 10 levels. What lies deeper is
// left as it is: an upgrade must not fail for it.
const maxNesting = 16

// Message converts a message of version 1 that another module has stored, such as those of proposals, if its encoding
// has changed: a MsgUpdateTimerConfig, or a MsgScheduleTimer or MsgUpdateTimer that states prices. Those within a MsgExec
// are converted too. Prices that no timer can have, such as negative ones, are left out, as version 1 stored them and the
// types of version 2 can't read them. It reports whether msg was changed, and fails for a message that version 1 could not
// decode either.
func Message(msg *codectypes.Any) (changed bool, err error) { return convert(msg, maxNesting) }

func convert(msg *codectypes.Any, nesting int) (changed bool, err error) {
	switch msg.TypeUrl {
	case sdk.MsgTypeURL(&types.MsgUpdateTimerConfig{}):
		msg.Value, err = configMessage(msg.Value)
		return err == nil, err
	case sdk.MsgTypeURL(&types.MsgScheduleTimer{}):
		var schedule types.MsgScheduleTimer
		return prices(msg, &schedule, bidOfSchedule, func() *types.Bid { return schedule.Bid })
	case sdk.MsgTypeURL(&types.MsgUpdateTimer{}):
		var update types.MsgUpdateTimer
		return prices(msg, &update, bidOfUpdate, func() *types.Bid { return update.Bid })
	case sdk.MsgTypeURL(&authz.MsgExec{}):
		var exec authz.MsgExec
		return rewrite(msg, &exec, func() (changed bool, err error) {
			if nesting == 0 {
				return false, nil
			}
			for _, inner := range exec.Msgs {
				one, err := convert(inner, nesting-1)
				if err != nil {
					return false, err
				}
				changed = changed || one
			}
			return changed, nil
		})
	}
	return false, nil
}

// encoded is a message in its binary form.
type encoded interface {
	Unmarshal(bz []byte) error
	Marshal() ([]byte, error)
}

// The numbers of the bid in the messages that state one.
const bidOfSchedule, bidOfUpdate protowire.Number = 8, 5

// prices converts those of a message with a bid, of which value becomes the decoded form.
func prices(msg *codectypes.Any, value encoded, number protowire.Number, bid func() *types.Bid) (changed bool, err error) {
	if value.Unmarshal(msg.Value) != nil {
		msg.Value, err = without(msg.Value, number)
		return err == nil, err
	}
	return rewrite(msg, value, func() (bool, error) { return plainBid(bid()), nil })
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

// rewrite decodes msg into value, and encodes it again if edit changes it.
func rewrite(msg *codectypes.Any, value encoded, edit func() (changed bool, err error)) (changed bool, err error) {
	if err := value.Unmarshal(msg.Value); err != nil {
		return false, err
	}
	if changed, err = edit(); err != nil || !changed {
		return false, err
	}
	msg.Value, err = value.Marshal()
	return err == nil, err
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
