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
	_ codectypes.UnpackInterfacesMessage = (*TimerConfig)(nil)
	_ codectypes.UnpackInterfacesMessage = (*GenesisState)(nil)
	_ codectypes.UnpackInterfacesMessage = (*LaneState)(nil)
	_ codectypes.UnpackInterfacesMessage = (*MsgUpdateTimerConfig)(nil)
	_ codectypes.UnpackInterfacesMessage = (*TimerConfigUpdatedByGovernance)(nil)
	_ codectypes.UnpackInterfacesMessage = (*QueryParamsResponse)(nil)
	_ codectypes.UnpackInterfacesMessage = (*QueryLaneResponse)(nil)
	_ codectypes.UnpackInterfacesMessage = (*QueryFairnessResponse)(nil)
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
	RegisterPolicyInterfaces(registry)
}

// RegisterPolicyInterfaces registers what the messages of policies implement.
func RegisterPolicyInterfaces(registry codectypes.InterfaceRegistry) {
	registry.RegisterInterface(PolicyParamsName, (*PolicyParams)(nil))
	registry.RegisterInterface(PolicyStateName, (*PolicyState)(nil))
	registry.RegisterInterface("timers.v1.PolicyStanding", (*PolicyStanding)(nil))
}

// Names under which a registry lists the messages of policies.
const (
	PolicyParamsName = "timers.v1.PolicyParams"
	PolicyStateName  = "timers.v1.PolicyState"
)

// UnpackInterfaces resolves the messages that the timer will run.
func (s *TimerSpec) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return tx.UnpackInterfaces(unpacker, s.Call.Messages)
}

// UnpackInterfaces resolves the messages that the timer will run.
func (m *MsgScheduleTimer) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return m.Spec.UnpackInterfaces(unpacker)
}

// UnpackInterfaces resolves the messages that the timer will run.
func (m *MsgUpdateTimer) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return m.Spec.UnpackInterfaces(unpacker)
}

// UnpackInterfaces resolves the messages shown with the timer.
func (t *TimerInfo) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return t.Spec.UnpackInterfaces(unpacker)
}

// UnpackInterfaces resolves the parameters of the policies that the chain has registered.
func (c *TimerConfig) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	if c != nil {
		unpack[PolicyParams](unpacker, c.PolicyParams)
	}
	return nil
}

// UnpackInterfaces resolves the parameters of policies in the config.
func (m *MsgUpdateTimerConfig) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return m.Config.UnpackInterfaces(unpacker)
}

// UnpackInterfaces resolves the parameters of policies in the config.
func (e *TimerConfigUpdatedByGovernance) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return e.Config.UnpackInterfaces(unpacker)
}

// UnpackInterfaces resolves the parameters of policies in both configs.
func (r *QueryParamsResponse) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	_ = r.NextConfig.UnpackInterfaces(unpacker)
	return r.Config.UnpackInterfaces(unpacker)
}

// UnpackInterfaces resolves the parameters of policies in both configs, and what the policies keep.
func (g *GenesisState) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	unpack[PolicyState](unpacker, g.Policies)
	_ = g.Lane.UnpackInterfaces(unpacker)
	_ = g.NextConfig.UnpackInterfaces(unpacker)
	return g.Config.UnpackInterfaces(unpacker)
}

// UnpackInterfaces resolves what the policy in force adds.
func (r *QueryLaneResponse) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	unpack[PolicyStanding](unpacker, []*codectypes.Any{r.OfPolicy})
	return nil
}

// UnpackInterfaces resolves what the policy in force adds.
func (r *QueryFairnessResponse) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	unpack[PolicyStanding](unpacker, []*codectypes.Any{r.OfPolicy})
	return nil
}
