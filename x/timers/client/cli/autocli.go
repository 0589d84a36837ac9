package cli

import (
	"slices"

	autocliv1 "cosmossdk.io/api/cosmos/autocli/v1"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
)

// The services, by their full names.
const (
	queryService = "timers.v1.Query"
	msgService   = "timers.v1.Msg"
)

// AutoCLIOptions are the commands that AutoCLI makes. It adds its commands to the module's own, and skips those
// that the module brings.
func AutoCLIOptions() *autocliv1.ModuleOptions {
	return &autocliv1.ModuleOptions{
		Query: &autocliv1.ServiceCommandDescriptor{
			Service: queryService, EnhanceCustomCommand: true, RpcCommandOptions: slices.Concat(
				queryCommands(), receiptCommands(), agentCommands(), watchCommands()),
		},
		Tx: &autocliv1.ServiceCommandDescriptor{
			Service: msgService, EnhanceCustomCommand: true, RpcCommandOptions: msgCommands(),
		},
	}
}

func queryCommands() []*autocliv1.RpcCommandOptions {
	example := func(args string) string { return plain.App() + " query timers " + args }
	return []*autocliv1.RpcCommandOptions{
		{RpcMethod: "Timer", Skip: true}, // NewQueryCmd brings it
		{
			RpcMethod: "Params",
			Use:       "params",
			Short:     "Show the config in force, and the one accepted for the next block",
			Example:   example("params --output json"),
			FlagOptions: map[string]*autocliv1.FlagOptions{
				"fields": {Usage: "parameters that a change is to set, for its expected hash: lane_timer_cycles,eip1559.target"},
			},
		},
		{RpcMethod: "TimersByActor", Skip: true}, // NewQueryCmd brings it
		{RpcMethod: "Due", Skip: true},           // NewQueryCmd brings it
		{RpcMethod: "Ready", Skip: true},         // NewQueryCmd brings it
		{RpcMethod: "Lane", Skip: true},          // NewQueryCmd brings it
		{
			RpcMethod:      "Fairness",
			Use:            "fairness [actor]",
			Short:          "Show the fairness weight of an actor, and what it is computed from",
			Long:           "Show the weight with which the timers of an actor, an address or the name of a key, compete in the next block. The more recent fires the actor has, compared with the median of all actors with any, the lower its weight. While policy tip is in force, the field tip shows the actor's weight under that policy, which is computed from its fires in earlier epochs.",
			Example:        example("fairness alice"),
			PositionalArgs: positional("actor"),
		},
		{RpcMethod: "Estimate", Skip: true},    // NewQueryCmd brings it
		{RpcMethod: "Occurrences", Skip: true}, // NewQueryCmd brings it
		{RpcMethod: "OnHold", Skip: true},      // NewQueryCmd brings it
	}
}

// receiptCommands are the queries about what was delivered.
func receiptCommands() []*autocliv1.RpcCommandOptions {
	return []*autocliv1.RpcCommandOptions{
		{RpcMethod: "Receipts", Skip: true},   // NewQueryCmd brings it
		{RpcMethod: "Deliveries", Skip: true}, // NewQueryCmd brings it
	}
}

// agentCommands are the queries about bidding agents.
func agentCommands() []*autocliv1.RpcCommandOptions {
	return []*autocliv1.RpcCommandOptions{{
		RpcMethod:      "Agent",
		Use:            "agent [actor]",
		Short:          "Show the bidding agent of an actor",
		Long:           "Show the contract or module that prices those timers of an actor, an address or the name of a key, that state no bid; empty if the actor has none.",
		Example:        plain.App() + " query timers agent alice",
		PositionalArgs: positional("actor"),
	}}
}

// watchCommands are the queries about watches.
func watchCommands() []*autocliv1.RpcCommandOptions {
	return []*autocliv1.RpcCommandOptions{
		{RpcMethod: "Watchable", Skip: true}, // NewQueryCmd brings it
		{RpcMethod: "WatchKey", Skip: true},  // NewQueryCmd brings it
		{RpcMethod: "Watches", Skip: true},   // NewQueryCmd brings it
	}
}

// msgCommands are none: NewTxCmd brings them all. The authority's messages become proposals there; AutoCLI would read
// decimals in a JSON argument as if they were scaled integers, and resolve no short ids.
func msgCommands() []*autocliv1.RpcCommandOptions {
	return []*autocliv1.RpcCommandOptions{
		{RpcMethod: "ScheduleTimer", Skip: true},
		{RpcMethod: "UpdateTimer", Skip: true},
		{RpcMethod: "ExtendTimer", Skip: true},
		{RpcMethod: "CancelTimer", Skip: true},
		{RpcMethod: "PauseTimer", Skip: true},
		{RpcMethod: "ResumeTimer", Skip: true},
		{RpcMethod: "SkipTimer", Skip: true},
		{RpcMethod: "RunTimer", Skip: true},
		{RpcMethod: "SetAgent", Skip: true},
		{RpcMethod: "UpdateTimerConfig", Skip: true},
		{RpcMethod: "SysCancelTimer", Skip: true},
		{RpcMethod: "SysExtendTimer", Skip: true},
		{RpcMethod: "SysReleaseTimer", Skip: true},
	}
}

func positional(fields ...string) []*autocliv1.PositionalArgDescriptor {
	args := make([]*autocliv1.PositionalArgDescriptor, len(fields))
	for i, field := range fields {
		args[i] = &autocliv1.PositionalArgDescriptor{ProtoField: field}
	}
	return args
}
