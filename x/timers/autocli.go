package timers

import (
	autocliv1 "cosmossdk.io/api/cosmos/autocli/v1"
)

// AutoCLIOptions implements autocli.HasAutoCLIConfig.
func (AppModule) AutoCLIOptions() *autocliv1.ModuleOptions {
	return &autocliv1.ModuleOptions{
		Query: &autocliv1.ServiceCommandDescriptor{
			Service: "timers.v1.Query",
			RpcCommandOptions: []*autocliv1.RpcCommandOptions{
				{RpcMethod: "Due", Use: "due HEIGHT", PositionalArgs: []*autocliv1.PositionalArgDescriptor{{ProtoField: "height"}}},
				{RpcMethod: "Receipts", Use: "receipts HEIGHT", PositionalArgs: []*autocliv1.PositionalArgDescriptor{{ProtoField: "height"}}},
				{RpcMethod: "Timer", Use: "timer ACTOR ID", PositionalArgs: []*autocliv1.PositionalArgDescriptor{{ProtoField: "actor"}, {ProtoField: "id"}}},
				{RpcMethod: "TimersByActor", Use: "list ACTOR", PositionalArgs: []*autocliv1.PositionalArgDescriptor{{ProtoField: "actor"}}},
			},
		},
		Tx: &autocliv1.ServiceCommandDescriptor{Service: "timers.v1.Msg", RpcCommandOptions: []*autocliv1.RpcCommandOptions{{RpcMethod: "ScheduleTimer", Skip: true}}},
	}
}
