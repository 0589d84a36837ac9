// Package wasmbinding lets CosmWasm contracts speak to x/timers in JSON, and ask it. It is for chains with x/wasm, and
// apart from the module, which knows nothing of wasmd: a chain passes Options to wasmd's keeper (x/timers/docs/extend/options.md).
// What contracts can say is described in x/timers/docs/use/contracts.md.
//
// A contract needs none of this to own timers: it may return the same messages as protobuf.
package wasmbinding

import (
	"encoding/json"
	"fmt"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Capability is what a contract requires (by exporting requires_timers) if it can't do without a chain that has timers.
const Capability = "timers"

// Options tells wasmd's keeper of timers: JSON messages and queries, the protobuf queries that contracts may make, and
// how bytes are metered that a submessage with a gas limit of its own writes in a fire. A chain with custom messages of
// its own calls Messages and Queries from those instead, and decorates its handler with ChargeMessages.
func Options(cdc codec.Codec, router wasmkeeper.GRPCQueryRouter) []wasmkeeper.Option {
	return []wasmkeeper.Option{
		wasmkeeper.WithMessageEncoders(&wasmkeeper.MessageEncoders{Custom: Messages(cdc)}),
		wasmkeeper.WithQueryPlugins(&wasmkeeper.QueryPlugins{
			Custom:   Queries(cdc, router),
			Stargate: StargateQuerier(wasmkeeper.AcceptListStargateQuerier(AcceptedQueries(), router, cdc)),
			Grpc:     GrpcQuerier(wasmkeeper.AcceptListGrpcQuerier(AcceptedQueries(), router, cdc)),
		}),
		wasmkeeper.WithMessageHandlerDecorator(ChargeMessages),
		wasmkeeper.WithMessageHandlerDecorator(meterSubmessages),
	}
}

// Messages turns {"timers": {"schedule"|"update"|"extend"|"cancel"|"pause"|"resume"|"set_agent": {…}}} into the module's messages. What stands inside
// is the message as protobuf writes it in JSON, without the sender: that is the contract.
func Messages(cdc codec.Codec) wasmkeeper.CustomEncoder {
	return func(contract sdk.AccAddress, custom json.RawMessage) ([]sdk.Msg, error) {
		if err := checkSize(custom, MaxMessageBytes, wasmtypes.ErrUnknownMsg); err != nil {
			return nil, err
		}
		name, body, err := unwrap(custom, wasmtypes.ErrUnknownMsg)
		if err != nil {
			return nil, err
		}
		var msg sdk.Msg
		var sender *string
		switch name {
		case "schedule":
			m := &types.MsgScheduleTimer{}
			msg, sender = m, &m.Sender
		case "update":
			m := &types.MsgUpdateTimer{}
			msg, sender = m, &m.Sender
		case "extend":
			m := &types.MsgExtendTimer{}
			msg, sender = m, &m.Sender
		case "cancel":
			m := &types.MsgCancelTimer{}
			msg, sender = m, &m.Sender
		case "pause":
			m := &types.MsgPauseTimer{}
			msg, sender = m, &m.Sender
		case "resume":
			m := &types.MsgResumeTimer{}
			msg, sender = m, &m.Sender
		case "skip":
			m := &types.MsgSkipTimer{}
			msg, sender = m, &m.Sender
		case "run":
			m := &types.MsgRunTimer{}
			msg, sender = m, &m.Sender
		case "set_agent":
			m := &types.MsgSetAgent{}
			msg, sender = m, &m.Sender
		default:
			return nil, wasmtypes.ErrUnknownMsg.Wrapf("timers: want schedule, update, extend, cancel, pause, resume, skip, run or set_agent, not %.80q", name)
		}
		if err := cdc.UnmarshalJSON(body, msg); err != nil {
			return nil, wasmtypes.ErrInvalidMsg.Wrapf("timers: %s: want the JSON of its message", name)
		}
		if *sender != "" {
			return nil, wasmtypes.ErrInvalidMsg.Wrapf("timers: %s: the sender is the contract, don't state one", name)
		}
		*sender = contract.String()
		return []sdk.Msg{msg}, nil
	}
}

// query is one that contracts may make.
type query struct {
	path     string
	request  func() proto.Message
	response func() proto.Message
}

// queries are the ones that contracts may make, by their names in JSON: those whose work is bounded by a page or by what a
// block reads, and is charged as gas of the contract. The estimate runs the next block's steps, and charges for each timer
// that competes. Lists of what others own are not among them: a contract has no need of them that is worth their gas.
var queries = map[string]query{
	"params": {
		"/timers.v1.Query/Params",
		func() proto.Message { return &types.QueryParamsRequest{} },
		func() proto.Message { return &types.QueryParamsResponse{} },
	},
	"timer": {
		"/timers.v1.Query/Timer",
		func() proto.Message { return &types.QueryTimerRequest{} },
		func() proto.Message { return &types.QueryTimerResponse{} },
	},
	"timers_by_actor": {
		"/timers.v1.Query/TimersByActor",
		func() proto.Message { return &types.QueryTimersByActorRequest{} },
		func() proto.Message { return &types.QueryTimersByActorResponse{} },
	},
	"deliveries": {
		"/timers.v1.Query/Deliveries",
		func() proto.Message { return &types.QueryDeliveriesRequest{} },
		func() proto.Message { return &types.QueryDeliveriesResponse{} },
	},
	"agent": {
		"/timers.v1.Query/Agent",
		func() proto.Message { return &types.QueryAgentRequest{} },
		func() proto.Message { return &types.QueryAgentResponse{} },
	},
	"lane": {
		"/timers.v1.Query/Lane",
		func() proto.Message { return &types.QueryLaneRequest{} },
		func() proto.Message { return &types.QueryLaneResponse{} },
	},
	"estimate": {
		"/timers.v1.Query/Estimate",
		func() proto.Message { return &types.QueryEstimateRequest{} },
		func() proto.Message { return &types.QueryEstimateResponse{} },
	},
	"occurrences": {
		"/timers.v1.Query/Occurrences",
		func() proto.Message { return &types.QueryOccurrencesRequest{} },
		func() proto.Message { return &types.QueryOccurrencesResponse{} },
	},
}

// AcceptedQueries are the paths that contracts may ask by protobuf.
func AcceptedQueries() wasmkeeper.AcceptedQueries {
	accepted := make(wasmkeeper.AcceptedQueries, len(queries))
	for _, q := range queries {
		accepted[q.path] = q.response
	}
	return accepted
}

// Queries answers {"timers": {"timer"|"timers_by_actor"|"deliveries"|"agent"|"lane"|"estimate"|"occurrences"|"params":
// {…}}}: requests and responses as protobuf writes them in JSON, in which 64-bit numbers are strings. The contract pays
// for each byte and object of the request before it is read, for what is read for it, and for each byte of the answer.
func Queries(cdc codec.Codec, router wasmkeeper.GRPCQueryRouter) wasmkeeper.CustomQuerier {
	grpc := wasmkeeper.AcceptListGrpcQuerier(AcceptedQueries(), router, cdc)
	return func(ctx sdk.Context, custom json.RawMessage) ([]byte, error) {
		if err := chargeJSON(ctx, custom, MaxQueryBytes, wasmtypes.ErrQueryFailed); err != nil {
			return nil, err
		}
		name, body, err := unwrap(custom, wasmtypes.ErrQueryFailed)
		if err != nil {
			return nil, err
		}
		q, found := queries[name]
		if !found {
			return nil, wasmtypes.ErrQueryFailed.Wrapf("timers: want timer, timers_by_actor, deliveries, agent, lane, estimate, occurrences or params, not %.80q", name)
		}
		request := q.request()
		if err := cdc.UnmarshalJSON(body, request); err != nil {
			return nil, wasmtypes.ErrQueryFailed.Wrapf("timers: %s: want the JSON of its message", name)
		}
		data, err := proto.Marshal(request)
		if err != nil {
			return nil, err
		}
		response, err := grpc(ctx, &wasmvmtypes.GrpcQuery{Path: q.path, Data: data})
		if err != nil {
			return nil, err
		}
		return cdc.MarshalJSON(response)
	}
}

// unwrap takes {"timers": {"<name>": <body>}} apart. What has another shape is unknown.
func unwrap(custom json.RawMessage, unknown refusal) (name string, body json.RawMessage, err error) {
	if err := checkNesting(custom); err != nil {
		return "", nil, unknown.Wrapf("timers: %s", err)
	}
	outer, inner, err := onlyMember(custom)
	if err != nil || outer != "timers" {
		return "", nil, unknown.Wrapf(`want {"timers": {…}}`)
	}
	if name, body, err = onlyMember(inner); err != nil {
		return "", nil, unknown.Wrapf("timers: %s", err)
	}
	return name, body, nil
}

const (
	// maxLevels bounds the levels of JSON: those of a message within messages within messages, and of what is in it.
	maxLevels = 20
	// flatLevels is what a message of the module has that states no other messages, or a query. Deeper ones are of at most
	// nestedBytes.
	flatLevels, nestedBytes = 10, 64 << 10
)

// checkNesting refuses JSON that is too deep, before anything decodes it: a message within a message is copied at each
// level, and no gas is charged for that. Deeper messages can be stated as a payload, which is protobuf.
func checkNesting(custom []byte) error {
	deepest, _ := nesting(custom)
	if deepest > maxLevels {
		return fmt.Errorf("%d levels of JSON, want at most %d", deepest, maxLevels)
	}
	if deepest > flatLevels && len(custom) > nestedBytes {
		return fmt.Errorf("%d bytes of JSON with %d levels, want at most %d bytes with more than %d levels",
			len(custom), deepest, nestedBytes, flatLevels)
	}
	return nil
}

// nesting is how deep JSON is, and how many objects and lists it has.
func nesting(custom []byte) (deepest, objects int) {
	level, quoted := 0, false
	for i := 0; i < len(custom); i++ {
		switch c := custom[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			objects++
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest, objects
}

// onlyMember returns the name and the value of an object's only member.
func onlyMember(object json.RawMessage) (string, json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil || len(members) != 1 {
		return "", nil, fmt.Errorf("want an object with one member, not %.80q", object)
	}
	for name, value := range members {
		return name, value, nil
	}
	return "", nil, nil
}
