package keeper

import (
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// statedCall is what a timer of the actor does, stated as handler and payload or as messages. Messages are what an
// encoded AccountPayload of them is: they are stored, paid for and checked as its bytes. Nothing of them is decoded here.
func statedCall(actor sdk.AccAddress, stated types.TimerCall) (types.Call, error) {
	call := types.Call{Actor: actor, Handler: stated.Handler, Payload: stated.Payload}
	if len(stated.Messages) == 0 {
		return call, nil
	}
	if stated.Handler != "" || len(stated.Payload) > 0 {
		return call, types.ErrAmbiguousCall.Wrap("messages are stated together with a handler or a payload: state one")
	}
	for i, packed := range stated.Messages {
		if packed == nil {
			return call, types.ErrInvalidPayload.Wrapf("message %d is missing", i)
		}
	}
	payload := types.AccountPayload{Messages: stated.Messages}
	bz, err := payload.Marshal()
	call.Payload, call.Messages = bz, true
	return call, err
}

// NewMessages packs messages for a request.
func NewMessages(msgs ...sdk.Msg) ([]*codectypes.Any, error) {
	payload, err := types.NewAccountPayload(msgs...)
	if err != nil {
		return nil, err
	}
	return payload.Messages, nil
}
