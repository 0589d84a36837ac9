package wasmbinding

import (
	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	"github.com/cosmos/gogoproto/proto"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// What contracts state is paid for before it is read, whatever comes of it: x/wasm charges nothing for it.
const (
	// GasPerByte is charged for each byte of a query, and of a message in JSON: a byte takes up to 40 ns to read.
	GasPerByte = 10
	// GasPerObject is charged for each object and each list of JSON in addition: it takes up to 500 ns.
	GasPerObject = 500
	// MaxQueryBytes bounds a query. The longest that can be meant, in which every text is as long as may be, is shorter.
	MaxQueryBytes = 8 << 10
	// MaxMessageBytes bounds a message in JSON: a payload of 1 MiB takes 1.4 MB in base64.
	MaxMessageBytes = 3 << 19
)

// charge consumes the gas of reading bytes that a contract states, and refuses more than most.
func charge(ctx sdk.Context, stated []byte, most int, refused refusal) error {
	ctx.GasMeter().ConsumeGas(GasPerByte*uint64(len(stated)), "timers: bytes of a contract")
	return checkSize(stated, most, refused)
}

// chargeJSON is charge for JSON.
func chargeJSON(ctx sdk.Context, stated []byte, most int, refused refusal) error {
	if err := charge(ctx, stated, most, refused); err != nil {
		return err
	}
	_, objects := nesting(stated)
	ctx.GasMeter().ConsumeGas(GasPerObject*uint64(objects), "timers: objects of a contract")
	return nil
}

func checkSize(stated []byte, most int, refused refusal) error {
	if len(stated) > most {
		return refused.Wrapf("timers: %d bytes, want at most %d", len(stated), most)
	}
	return nil
}

// refusal is an error that tells what is wrong.
type refusal interface {
	Wrapf(string, ...any) error
}

// ChargeMessages is a decorator of wasmd's message handler that charges for messages in JSON before they are decoded: the
// encoder that decodes them has no meter. Options has it; a chain that calls Messages from an encoder of its own adds it.
func ChargeMessages(next wasmkeeper.Messenger) wasmkeeper.Messenger {
	return wasmkeeper.MessageHandlerFunc(func(
		ctx sdk.Context, contract sdk.AccAddress, port string, msg wasmvmtypes.CosmosMsg,
	) ([]sdk.Event, [][]byte, [][]*codectypes.Any, error) {
		if len(msg.Custom) > 0 {
			if err := chargeJSON(ctx, msg.Custom, MaxMessageBytes, wasmtypes.ErrInvalidMsg); err != nil {
				return nil, nil, nil, err
			}
		}
		return next.DispatchMsg(ctx, contract, port, msg)
	})
}

// StargateQuerier answers the accepted queries in protobuf, with answers in JSON, and charges for their bytes.
func StargateQuerier(accepted func(sdk.Context, *wasmvmtypes.StargateQuery) ([]byte, error)) func(sdk.Context, *wasmvmtypes.StargateQuery) ([]byte, error) {
	return func(ctx sdk.Context, request *wasmvmtypes.StargateQuery) ([]byte, error) {
		if err := charge(ctx, request.Data, MaxQueryBytes, wasmtypes.ErrQueryFailed); err != nil {
			return nil, err
		}
		return accepted(ctx, request)
	}
}

// GrpcQuerier is StargateQuerier with answers in protobuf.
func GrpcQuerier(accepted func(sdk.Context, *wasmvmtypes.GrpcQuery) (proto.Message, error)) func(sdk.Context, *wasmvmtypes.GrpcQuery) (proto.Message, error) {
	return func(ctx sdk.Context, request *wasmvmtypes.GrpcQuery) (proto.Message, error) {
		if err := charge(ctx, request.Data, MaxQueryBytes, wasmtypes.ErrQueryFailed); err != nil {
			return nil, err
		}
		return accepted(ctx, request)
	}
}
