package v2

import (
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
// are converted too. It reports whether msg was changed, and fails for a message that version 1 could not decode either.
func Message(msg *codectypes.Any) (changed bool, err error) { return convert(msg, maxNesting) }

func convert(msg *codectypes.Any, nesting int) (changed bool, err error) {
	switch msg.TypeUrl {
	case sdk.MsgTypeURL(&types.MsgUpdateTimerConfig{}):
		msg.Value, err = configMessage(msg.Value)
		return err == nil, err
	case sdk.MsgTypeURL(&types.MsgScheduleTimer{}):
		var schedule types.MsgScheduleTimer
		return rewrite(msg, &schedule, func() (bool, error) { return plainBid(schedule.Bid), nil })
	case sdk.MsgTypeURL(&types.MsgUpdateTimer{}):
		var update types.MsgUpdateTimer
		return rewrite(msg, &update, func() (bool, error) { return plainBid(update.Bid), nil })
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
