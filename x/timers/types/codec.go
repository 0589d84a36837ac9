package types

import (
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/msgservice"
	"github.com/cosmos/cosmos-sdk/types/tx"
)

var (
	_ codectypes.UnpackInterfacesMessage = (*AccountPayload)(nil)
	_ codectypes.UnpackInterfacesMessage = (*TimerInfo)(nil)
	_ codectypes.UnpackInterfacesMessage = (*MsgScheduleTimer)(nil)
	_ codectypes.UnpackInterfacesMessage = (*MsgUpdateTimer)(nil)
)

// RegisterInterfaces registers the module's messages.
func RegisterInterfaces(registry codectypes.InterfaceRegistry) {
	registry.RegisterImplementations((*sdk.Msg)(nil),
		&MsgScheduleTimer{}, &MsgUpdateTimer{}, &MsgExtendTimer{}, &MsgCancelTimer{}, &MsgPauseTimer{}, &MsgResumeTimer{},
		&MsgSkipTimer{}, &MsgRunTimer{},
		&MsgSetAgent{},
		&MsgSysCancelTimer{}, &MsgUpdateTimerConfig{}, &MsgSysExtendTimer{}, &MsgSysReleaseTimer{},
	)
	msgservice.RegisterMsgServiceDesc(registry, &_Msg_serviceDesc)
}

// NewAccountPayload is the payload of an account's timer that runs these messages.
func NewAccountPayload(msgs ...sdk.Msg) (*AccountPayload, error) {
	anys, err := tx.SetMsgs(msgs)
	if err != nil {
		return nil, err
	}
	return &AccountPayload{Messages: anys}, nil
}

// UnpackInterfaces resolves the messages of the payload.
func (p *AccountPayload) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return tx.UnpackInterfaces(unpacker, p.Messages)
}

// UnpackInterfaces resolves the messages that the timer will run.
func (m *MsgScheduleTimer) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return tx.UnpackInterfaces(unpacker, m.Messages)
}

// UnpackInterfaces resolves the messages that the timer will run.
func (m *MsgUpdateTimer) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return tx.UnpackInterfaces(unpacker, m.GetCall().GetMessages())
}

// UnpackInterfaces resolves the messages shown with the timer.
func (t *TimerInfo) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return tx.UnpackInterfaces(unpacker, t.Messages)
}
